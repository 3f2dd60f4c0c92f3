"""The grammar of dimension texts.

    sum     = product {("+" | "-") product}
    product = unary {("*" | "/" | "//" | "%") unary}
    unary   = {"+" | "-"} power
    power   = primary [("**" | "^") unary]               2**3**2 = 2**(3**2), -N**2 = -(N**2), N^2 = N*N
    primary = number | name | quoted | call | "(" sum ")"
    call    = function "(" sum {"," sum} ")"             a function of `symdim.functions`, in any case

The lexemes are those of `symdim.tokens`. A function's name that no "(" follows is an ordinary name.

Within floor(), ceil(), trunc() and round() "/" is exact. Elsewhere it rounds down (RFC 7661; sizes are not
negative) unless the dialect says otherwise. A constant fraction there, such as 1/2, betrays a producer whose
"/" was exact, so it is refused; so is a result that need not be an integer.

The time is linear in the length of the text: runs of + and of * are applied at once, nested ones are limited
by `MAX_WORK`, and no function recurses on the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NoReturn, TypeAlias

from symdim.errors import ParseError, SymdimError
from symdim.expr import Expr
from symdim.functions import FUNCTIONS, Function
from symdim.rational import (
    MAX_BITS,
    Rational,
    Value,
    bits,
    divide,
    exact_integer,
    power,
    product_of,
    sum_of,
    trunc,
)
from symdim.tokens import Lexicon, is_name, is_number, unquote

MAX_LENGTH = 1 << 20
MAX_WORK = 1 << 22
_SHORT = 1 << 12
_MAX_DIGITS = 4000

Dialect: TypeAlias = Literal["exact", "floor", "trunc"]

_LEVEL = {"(": 0, "+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "negate": 3, "**": 4, "^": 4}
_BINARY = frozenset(_LEVEL) - {"(", "negate"}


class Reader:
    """Operator-precedence parser of one text.

    `values` are the operands read so far, `operators` what waits to be applied to them, `places` the indices
    of these operators' lexemes, `parentheses` the function and the first operand of each open parenthesis.
    """

    __slots__ = (
        "declared",
        "dialect",
        "exact",
        "lexemes",
        "operators",
        "parentheses",
        "places",
        "text",
        "values",
        "variable",
        "work",
    )

    def __init__(self, text: str, declared: Lexicon, variable: Callable[[str], Expr], dialect: Dialect | None) -> None:
        if len(text) > MAX_LENGTH:
            raise ParseError(text, MAX_LENGTH, f"longer than {MAX_LENGTH} characters")
        self.text = text
        self.declared = declared
        self.variable = variable
        self.dialect = dialect
        self.lexemes = declared.split(text)
        self.values: list[Value] = []
        self.operators: list[str] = []
        self.places: list[int] = []
        self.parentheses: list[tuple[Function | None, int]] = []
        self.exact = 0
        self.work = 0

    def read(self) -> int | Expr:
        """sum"""
        try:
            self._scan()
            self._reduce(0)
            if self.operators:
                self._refuse(self.places[-1], 'this "(" is never closed')
            return exact_integer(self.values[0])
        except ParseError:
            raise
        except (SymdimError, ZeroDivisionError) as error:
            raise self._error(self.places[-1] if self.places else 0, str(error)) from None

    def _scan(self) -> None:
        """Operands and operators in turn; prefixes and "(" come before an operand, ")" and "," after one."""
        operand_next, function = True, None
        for place, lexeme in enumerate(self.lexemes):
            if not operand_next:
                operand_next = self._after_operand(lexeme, place)
            elif lexeme == "(":
                self._open(function, place)
                function = None
            elif lexeme == "-":
                self._push("negate", place)
            elif lexeme in _BINARY or lexeme == ")" or lexeme == ",":
                if lexeme != "+":
                    self._refuse(place, f'an operand is missing before "{lexeme}"')
            elif self.lexemes[place + 1 : place + 2] == ["("]:
                function = self._function(lexeme, place)
            else:
                self.values.append(self._operand(lexeme, place))
                operand_next = False
        if operand_next:
            self._refuse(len(self.lexemes), "an operand is missing at the end")

    def _after_operand(self, lexeme: str, place: int) -> bool:
        """Whether an operand comes next, after a lexeme that follows an operand."""
        if lexeme in _BINARY:
            level = _LEVEL[lexeme]
            if level < 4:  # powers group to the right
                self._reduce(level)
                if level == 2 and self.operators and not lexeme == "*" == self.operators[-1]:
                    self._reduce(1)
            self._push(lexeme, place)
            return True
        if lexeme != ")" and lexeme != ",":
            self._refuse(place, f'an operator is missing before "{lexeme}"')
        self._reduce(0)
        if lexeme == ")":
            self._close(place)
        elif not self.parentheses or self.parentheses[-1][0] is None:
            self._refuse(place, "a comma that separates no arguments")
        return lexeme == ","

    def _operand(self, lexeme: str, place: int) -> Value:
        """number | name | quoted"""
        if lexeme.isidentifier():
            return self.variable(lexeme)
        if len(lexeme) > 1 and lexeme[0] in '`"':
            return self.variable(unquote(lexeme))
        if is_number(lexeme):
            return _number(lexeme) if len(lexeme) <= _MAX_DIGITS else self._refuse(place, "too many digits")
        if lexeme in self.declared.names or is_name(lexeme):
            return self.variable(lexeme)
        self._refuse(place, f'"{lexeme}" is neither a number nor a declared name')

    def _function(self, name: str, place: int) -> Function:
        function = FUNCTIONS.get(name.lower())
        return self._refuse(place, f'unknown function "{name}"') if function is None else function

    def _push(self, operator: str, place: int) -> None:
        self.operators.append(operator)
        self.places.append(place)

    def _open(self, function: Function | None, place: int) -> None:
        self._push("(", place)
        self.parentheses.append((function, len(self.values)))
        if function is not None and function.exact:
            self.exact += 1

    def _close(self, place: int) -> None:
        """ ")": a function's arguments are complete."""
        if not self.parentheses:
            self._refuse(place, 'no "(" for this ")"')
        function, start = self.parentheses.pop()
        if function is not None:
            arguments = self.values[start:]
            if not function.fewest <= len(arguments) <= (function.most or len(arguments)):
                self._refuse(self.places[-1] - 1, f"this function does not take {len(arguments)} arguments")
            self.values[start:] = [self._limited(function.apply(*arguments))]
            self.exact -= function.exact
        self.operators.pop()
        self.places.pop()

    def _reduce(self, level: int) -> None:
        """Apply the operators on top of the stack that bind tighter than `level`, a run of + or * at once."""
        operators, values = self.operators, self.values
        while operators and _LEVEL[operators[-1]] > level:
            run = "+-" if operators[-1] in "+-" else "*" if operators[-1] == "*" else ""
            count = 1
            while len(operators) > count and operators[-1 - count] in run and run:
                count += 1
            operands = count + (operators[-1] != "negate")
            result = self._limited(self._apply(operators[-count:], values[-operands:]))
            del operators[-count:], self.places[-count:], values[-operands:]
            values.append(result)

    def _apply(self, run: list[str], operands: list[Value]) -> Value:
        operator = run[-1]
        if operator == "+" or operator == "-":
            terms = (x if sign == "+" else -x for sign, x in zip(run, operands[1:], strict=True))
            return sum_of([operands[0], *terms])
        if operator == "*":
            return product_of(operands)
        if operator == "negate":
            return -operands[0]
        x, y = operands
        if operator == "/":
            return self._divide(x, y)
        if operator == "//":
            return x // y
        return x % y if operator == "%" else power(x, y)

    def _divide(self, x: Value, y: Value) -> Value:
        """x / y as the function around it, a fraction among the two, or else the dialect decides."""
        if self.exact or self.dialect == "exact" or isinstance(x, Rational) or isinstance(y, Rational):
            return divide(x, y)
        if self.dialect == "trunc":
            return trunc(divide(x, y))
        if self.dialect is None and isinstance(x, int) and isinstance(y, int) and x % y:
            raise SymdimError(f"{x}/{y} outside of floor(): write //, or say by the dialect what / means")
        return x // y

    def _limited(self, value: Value) -> Value:
        """`value`, unless it is too long a number, or the values in a long text have too many terms in all."""
        if isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                raise SymdimError("the number is too large")
        elif len(self.text) > _SHORT:
            self.work += _size(value)
            if self.work > MAX_WORK:
                raise SymdimError(f"more than {MAX_WORK} terms in all")
        return value

    def _error(self, place: int, message: str) -> ParseError:
        starts = self.declared.starts(self.text)
        return ParseError(self.text, starts[place] if place < len(starts) else len(self.text), message)

    def _refuse(self, place: int, message: str) -> NoReturn:
        raise self._error(place, message)


def _number(lexeme: str) -> Value:
    """A decimal number, exactly: 0.5 is 1/2, 1e3 is 1000."""
    if lexeme.isdecimal():
        return int(lexeme)
    mantissa, _, exponent = lexeme.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    scale = int(exponent or 0) - len(fraction)
    if abs(scale) > _MAX_DIGITS:
        raise SymdimError("the exponent of a number is too large")
    return divide(int(whole + fraction) * 10 ** max(scale, 0), 10 ** max(-scale, 0))


def _size(value: Value) -> int:
    """How many terms, factors or arguments a value has at its top, or 1, and words its numbers take."""
    if isinstance(value, Rational):
        return _size(value.numerator) + _size(value.denominator)
    parts = None if isinstance(value, int) else value.parts if value.terms is None else value.terms
    return (len(parts) if isinstance(parts, dict | tuple) else 1) + (bits(value) >> 6)
