r"""The grammar of dimension texts.

    sum     = product {("+" | "-") product}
    product = unary {("*" | "/" | "//" | "%") unary}
    unary   = {"+" | "-"} power
    power   = primary [("**" | "^") unary]               2**3**2 = 2**(3**2), -N**2 = -(N**2), N^2 = N*N
    primary = number | name | quoted | call | "(" sum ")"
    call    = name "(" sum {"," sum} ")"                 a name of `symdim.parser.functions`, in any case, or any other

The lexemes are those of `symdim.parser.lexemes`.

In functions that round and in unknown ones, "/" is exact. Elsewhere it rounds down (RFC 7661; sizes are not negative)
unless the dialect says otherwise. A constant fraction there, such as 1/2, is refused, because it shows that the
producer's "/" was exact. A result that need not be an integer is refused too.

In the dialect of onnx-light, "^" is a maximum and "&" a minimum. Both bind less than sums, and "&" binds more than "^".
"/:" is the quotient of a multiple by its divisor: it is read as "//", which has the same value there.

A run of + or of * is applied at once, and no function recurses on the text. What a text is read as is limited: no
value in it may have more than `MAX_GROWTH` names for each lexeme (and `_ROOM`), and the work of building all values is
at most `MAX_WORK`. Both depend on the text alone, not on what is remembered from others. In a text of at most `_SHORT`
characters nothing is counted until values are nested `_DEEP`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import add, floordiv, mod, mul, sub
from typing import NoReturn, TypeVar

from symdim.algebra.application import Application
from symdim.algebra.evaluate import has_open_function
from symdim.algebra.expr import Expr
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.written import Written
from symdim.errors import ParseError, SymdimError
from symdim.parser.functions import FUNCTIONS, Meaning, meaning_of
from symdim.parser.lexemes import Dialect, Lexicon, is_function, is_name, is_number, unquote
from symdim.parser.rational import (
    MAX_BITS,
    MAX_DIGITS,
    Rational,
    Value,
    decimal,
    divide,
    maximum,
    minimum,
    parts_of,
    power,
    product_of,
    sum_of,
    trunc,
    work_of_power,
    work_of_product,
)

V = TypeVar("V", bound="Value")

MAX_LENGTH = 1 << 17
MAX_WORK = 1 << 19
MAX_GROWTH = 8
_ROOM = 1 << 12
_SHORT = 128
_DEEP = 3
_END = ""

_makes_long_numbers = re.compile(r"\*\*|\^|pow|shift|[0-9.]e", re.IGNORECASE).search

_MAXIMUM, _MINIMUM, _SUM, _PRODUCT, _NEGATION, _POWER = range(1, 7)


class Operators(NamedTuple):
    """The binary operators of a dialect.

    `level` says how tightly each binds, and `waiting` the same for all that may wait for its operand. `apply` is what
    each computes, except "/", whose meaning depends on its place. `runs` are the operators that are applied at once.
    """

    level: dict[str, int]
    waiting: dict[str, int]
    apply: dict[str, Callable[..., Value]]
    runs: dict[str, tuple[str, ...]]


_LEVEL = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "**": _POWER, "^": _POWER}
_PYTHON = Operators(
    level=_LEVEL,
    waiting={**_LEVEL, "negate": _NEGATION, "(": 0, _END: -1},
    apply={"+": add, "-": sub, "*": mul, "//": floordiv, "%": mod, "**": power, "^": power},
    runs={"+": ("+", "-"), "-": ("+", "-"), "*": ("*",)},
)
_LIGHT_LEVEL = {"^": _MAXIMUM, "&": _MINIMUM, "/:": _PRODUCT}
_ONNX_LIGHT = Operators(
    level=_PYTHON.level | _LIGHT_LEVEL,
    waiting=_PYTHON.waiting | _LIGHT_LEVEL,
    apply=_PYTHON.apply | {"^": maximum, "&": minimum, "/:": floordiv},
    runs=_PYTHON.runs | {"^": ("^",), "&": ("&",)},
)


class Reader:
    """An operator-precedence parser of one text. `declared` is the lexicon of its dialect.

    `values` are the operands read so far. `operators` are those still to be applied, and `places` the indices of their
    lexemes. `calls` has for each open parenthesis its function, if any, and the place where its arguments begin.
    `written` counts the work; the parts of a text that are read one by one share it. A `cautious` reader rounds no
    function of which no value is known.
    """

    def __init__(
        self,
        text: str,
        declared: Lexicon,
        variable: Callable[[str], Expr],
        dialect: Dialect | None,
        written: Written | None = None,
        functions: Mapping[str, Meaning] = FUNCTIONS,
        cautious: bool = False,
    ) -> None:
        if len(text) > MAX_LENGTH:
            raise ParseError(text, MAX_LENGTH, f"longer than {MAX_LENGTH} characters")
        self.text = text
        self.declared = declared
        self.variable = variable
        self.dialect = dialect
        self.known = _ONNX_LIGHT if dialect == "onnx-light" else _PYTHON
        self.functions, self.cautious = functions, cautious
        self.lexemes = [*declared.split(text), _END]
        self.values: list[Value] = []
        self.operators = [_END]
        self.places = [0]
        self.calls: list[tuple[Meaning | None, int]] = []
        self.exact = 0
        self.written = written
        self.is_short = len(text) <= _SHORT and not _makes_long_numbers(text)

    def read(self, accepted: Callable[[Value], V]) -> V:
        """sum, as a value that is accepted: `exact_integer` refuses fractions"""
        try:
            self._scan()
            if self.calls:
                self._refuse(self.places[-1], 'this "(" is never closed')
            value = accepted(self.values[0])
            self._limited(value)
            return value
        except ParseError:
            raise
        except (SymdimError, ZeroDivisionError) as error:
            raise self._error(self.places[-1], str(error)) from None

    def _scan(self) -> None:
        """Operands and operators in turn; prefixes and "(" come before an operand, ")" and "," after one."""
        values, operators, places, lexemes = self.values, self.operators, self.places, self.lexemes
        levels, waiting = self.known.level, self.known.waiting
        operand_next, meaning = True, None
        for place, lexeme in enumerate(lexemes):
            if operand_next:
                if lexeme == "(":
                    operators.append(lexeme)
                    places.append(place)
                    self.calls.append((meaning, len(values)))
                    meaning = None
                elif lexeme.isidentifier() and lexemes[place + 1] != "(":
                    values.append(self.variable(lexeme))
                    operand_next = False
                elif lexeme == "-":
                    operators.append("negate")
                    places.append(place)
                elif lexeme and lexemes[place + 1] == "(" and is_function(lexeme):
                    meaning = meaning_of(lexeme, self.functions)
                    self.exact += meaning.exact
                elif lexeme != "+":
                    values.append(self._operand(lexeme, place))
                    operand_next = False
            elif (level := levels.get(lexeme)) is not None:
                # Powers group to the right; runs of + and -, of *, of maxima and of minima wait until they end.
                if level < _POWER and waiting[operators[-1]] >= level:
                    self._reduce(level)
                    if level == _PRODUCT == waiting[operators[-1]] and not lexeme == "*" == operators[-1]:
                        self._reduce(_SUM)
                operators.append(lexeme)
                places.append(place)
                operand_next = True
            else:
                operand_next = self._after_sum(lexeme, place)

    def _operand(self, lexeme: str, place: int) -> Value:
        """number | quoted | name that is no identifier"""
        if is_number(lexeme):
            return decimal(lexeme) if len(lexeme) <= MAX_DIGITS else self._refuse(place, "too many digits")
        if len(lexeme) > 1 and lexeme[0] in '`"':
            return self.variable(unquote(lexeme))
        if lexeme in self.declared.names or is_name(lexeme):
            return self.variable(lexeme)
        if lexeme == _END:
            self._refuse(place, "unexpected end: expected an operand")
        if lexeme == "...":
            self._refuse(place, "the text is cut: ... stands for what is left out")
        if lexeme in self.known.level or lexeme in "),":
            self._refuse(place, f'expected an operand before "{lexeme}"')
        self._refuse(place, f'"{lexeme:.40}" is neither a number nor a declared name')

    def _after_sum(self, lexeme: str, place: int) -> bool:
        """Read ")", "," or the end; return whether an operand comes next."""
        if lexeme not in (")", ",", _END):
            self._refuse(place, f'an operator is missing before "{lexeme:.40}"')
        if self.known.waiting[self.operators[-1]] > 0:
            self._reduce(0)
        if lexeme == ")":
            if not self.calls:
                self._refuse(place, 'no "(" for this ")"')
            meaning, start = self.calls.pop()
            if meaning is not None:
                self._call(meaning, start)
            self.operators.pop()
            self.places.pop()
            made = self.values[-1]
            is_size = not isinstance(made, Application) or made.function.is_size
            if not is_size and not self._is_operand_of_floats(place):
                self._refuse(place, "a float is not a size; it may only be in functions of floats, such as floor[f32]")
        elif lexeme == "," and (not self.calls or self.calls[-1][0] is None):
            self._refuse(place, "a comma outside of a function's arguments")
        return lexeme == ","

    def _is_operand_of_floats(self, place: int) -> bool:
        """Whether what ends here is a whole argument of a function of floats."""
        around = self.calls[-1][0] if self.calls else None
        is_whole = self.operators[-1] == "(" and self.lexemes[place + 1] in (",", ")")
        return is_whole and bool(self.calls) and (around is None or around.floats)

    def _call(self, meaning: Meaning, start: int) -> None:
        arguments = self.values[start:]
        if not meaning.fewest <= len(arguments) <= (meaning.most or len(arguments)):
            self._refuse(self.places[-1] - 1, f"this function does not take {len(arguments)} arguments")
        self.values[start:] = [self._applied(meaning.apply or self._divide, *arguments, rounds=not meaning.polynomial)]
        self.exact -= meaning.exact

    def _reduce(self, level: int) -> None:
        """Apply the operators on top of the stack that bind tighter than `level`; a run of + or * at once."""
        operators, values, known = self.operators, self.values, self.known
        while known.waiting[operators[-1]] > level:
            operator = operators[-1]
            if operator == "negate":
                values[-1] = -values[-1]
            elif operators[-2] in known.runs.get(operator, ()):
                self._apply_run(known.runs[operator])
            else:
                apply = known.apply.get(operator, self._divide)
                right = values.pop()
                values[-1] = self._applied(apply, values[-1], right, rounds=operator in ("//", "/:", "%"))
            operators.pop()
            self.places.pop()

    def _apply_run(self, run: tuple[str, ...]) -> None:
        """Apply the run on top to all its operands at once, and leave one of its operators on the stack."""
        operators, values = self.operators, self.values
        count = 1
        while operators[-1 - count] in run:
            count += 1
        operands = values[-1 - count :]
        if operators[-1] == "*":
            self._spend(work_of_product(operands))
            result = product_of(operands)
        elif "+" not in run:
            result = self.known.apply[operators[-1]](*operands)
        else:
            signed = zip(operators[-count:], operands[1:], strict=True)
            result = sum_of([operands[0], *(-x if sign == "-" else x for sign, x in signed)])
        values[-1 - count :] = [self._limited(result)]
        del operators[1 - count :], self.places[1 - count :]

    def _divide(self, x: Value, y: Value) -> Value:
        """x / y. The function around it decides its meaning; else a fraction among the two; else the dialect."""
        if self.exact or self.dialect == "exact" or isinstance(x, Rational) or isinstance(y, Rational):
            return divide(x, y)
        self._demand_integers((x, y))
        if self.dialect == "trunc":
            return trunc(divide(x, y))
        if self.dialect != "floor" and isinstance(x, int) and isinstance(y, int) and x % y:
            raise SymdimError(f"{x!r}/{y!r} outside of floor(): write //, or choose a dialect that defines /")
        return x // y

    def _demand_integers(self, operands: tuple[Value, ...]) -> None:
        """Refuse to round what need not be an integer to who wrote the text."""
        if self.cautious and has_open_function(part for x in operands for part in parts_of(x)):
            self._refuse(self.places[-1], "a function that need not be an integer is rounded")

    def _applied(self, apply: Callable[..., Value], *operands: Value, rounds: bool) -> Value:
        """The result of an operator or function, in the limits of `_limited`."""
        if rounds:
            self._demand_integers(operands)
        if apply is power:
            self._spend(work_of_power(*operands))
        return self._limited(apply(*operands))

    def _limited(self, value: Value) -> Value:
        """The value itself; raises SymdimError if it is too long, or if all values together were too much work."""
        if self.is_short and isinstance(value, Expr) and value._height < _DEEP:
            return value
        parts = parts_of(value)
        for part in parts:
            if isinstance(part, int) and part.bit_length() > MAX_BITS:
                raise SymdimError("the number is too large")
        if isinstance(value, int):
            return value
        self.written = self.written or Written()
        length, most = sum(map(self.written.length, parts)), MAX_GROWTH * len(self.lexemes) + _ROOM
        if length > most:
            raise SymdimError(f"written out this has {length} names, more than {most}: give a part of it a name")
        if self.written.longest_number > MAX_BITS:
            raise SymdimError("the number is too large")
        self._spend(0)
        return value

    def _spend(self, work: int) -> None:
        """Count work that is about to be done; raises SymdimError if it is too much."""
        self.written = self.written or Written()
        self.written.work += work
        if self.written.work > MAX_WORK:
            raise SymdimError(f"reading this takes more than {MAX_WORK} steps: give a part of it a name")

    def _error(self, place: int, message: str) -> ParseError:
        starts = self.declared.starts(self.text)
        return ParseError(self.text, starts[place] if place < len(starts) else len(self.text), message)

    def _refuse(self, place: int, message: str) -> NoReturn:
        raise self._error(place, message)
