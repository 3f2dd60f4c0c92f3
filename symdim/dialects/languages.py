"""How C, JavaScript and Python write arithmetic on sizes.

C has integers of 64 bits. Every operation there is a call that checks its result, because a product of sizes may leave
this range. JavaScript and Python have exact integers and use their own operators. In JavaScript these are BigInts: its
numbers are exact only up to 2**53, which the multiply-adds of large models exceed, and onnxruntime takes int64 tensors
as BigInts too.

A size has no value if a divisor in it is 0, a symbol is not given, or a step leaves 64 bits. Then it is a number of
its own in C and `null` in JavaScript. The calls of C pass it on. In JavaScript a statement asks first whether its
operands have a value, unless it is certain that they do. Python is for `compile_shape`, where an error ends the call.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import reduce
from typing import TYPE_CHECKING, Literal, TypeAlias

from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.texts.tree import Operator

LanguageName: TypeAlias = Literal["c", "js"]

_NAMES: dict[Operator, str] = {"//": "floordiv", "%": "mod"}
_SIGNS = {"add": " + ", "sub": " - ", "mul": "*", "div": "/"}
_FUNCTIONS = {
    "floor": "rounded_down",
    "ceil": "rounded_up",
    "trunc": "rounded_zero",
    "round": "rounded_even",
    "min": "least",
    "max": "greatest",
}
"""What operations on floats are called that have no sign."""
_DIGITS = 10**18
_INT64 = 1 << 63
_EXPONENT = 1 << 62


class Language(ABC):
    """The parts of statements, made of the texts of their operands. `suffix` is that of its files.

    `has_gaps`: a size may have no value, so operands are asked for one. `nothing` is the text of no value in a language
    whose integers grow without end; a size that may have huge numbers has no value there. Sums and products are written
    with operators, where the language has exact ones.
    """

    suffix: str
    has_gaps = True
    nothing = ""
    comment = "//"
    prefix = ""
    """What the names of the functions begin with that statements call."""

    @abstractmethod
    def number(self, value: int) -> str:
        """An integer as an operand."""

    @abstractmethod
    def quoted(self, text: str) -> str:
        """A string literal in ASCII. It ends neither a comment nor, in JavaScript, a script in a page."""

    @abstractmethod
    def assignment(self, name: str, text: str, doubtful: Sequence[str], is_float: bool) -> str:
        """The statement that gives a value a name. The `doubtful` operands in the text may have no value.

        A float always has a value: it may be no number.
        """

    def note(self, text: str) -> str:
        """A comment at the end of a line; the text cannot end it."""
        return f"  {self.comment} {self.quoted(text)}"

    def total(self, terms: Sequence[tuple[bool, str]]) -> str:
        """The sum of terms, some of them subtracted."""
        (negative, first), *rest = terms
        return ("-" if negative else "") + first + "".join([f" {'-' if m else '+'} {text}" for m, text in rest])

    def product(self, factors: Sequence[tuple[str, int]]) -> str:
        """The product of powers of names."""
        return "*".join([name if k == 1 else f"{name}**{self.number(k)}" for name, k in factors])

    def call(self, operator: Operator, operands: Sequence[str]) -> str:
        """A quotient, remainder, maximum or minimum."""
        return f"{_NAMES.get(operator, operator)}({', '.join(operands)})"

    def of_floats(self, kind: str, operation: str, operands: Sequence[str]) -> str:
        """An operation on floats of the type `kind`, rounded to it, or to an integer."""
        if operation in _FUNCTIONS:
            return f"{self.prefix}{_FUNCTIONS[operation]}({', '.join(operands)})"
        return f"{self.prefix}{kind}({_SIGNS.get(operation, '').join(operands)})"

    def arithmetic(self) -> str:
        """The functions that statements call."""
        return _file(f"arithmetic.{self.suffix}")


class C(Language):
    """C99: every operation is a call. The three smallest integers stand for sizes without a value.

    All names of functions begin with the `prefix`, and those of macros with the same in capitals.
    """

    suffix = "c"

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    def declarations(self) -> str:
        """The numbers that stand for sizes without a value, and the function that tells them apart."""
        return self._prefixed(_file("arithmetic.h"))

    def arithmetic(self) -> str:
        return self._prefixed(super().arithmetic())

    def _prefixed(self, text: str) -> str:
        names = re.findall(r"^(?:#define|static inline \w+) (\w+)", "".join(map(_file, _FILES_OF_C)), re.MULTILINE)
        return re.sub(rf"\b(?:{'|'.join(names)})\b", lambda match: self._own(match[0]), text)

    def _own(self, name: str) -> str:
        return (self.prefix.upper() if name.isupper() else self.prefix) + name

    def total(self, terms: Sequence[tuple[bool, str]]) -> str:
        (negative, first), *rest = terms
        head = f"{self.prefix}sub({self.number(0)}, {first})" if negative else first
        return reduce(lambda text, term: f"{self.prefix}{'sub' if term[0] else 'add'}({text}, {term[1]})", rest, head)

    def product(self, factors: Sequence[tuple[str, int]]) -> str:
        texts = [name if k == 1 else f"{self.prefix}power({name}, {_exponent(k)})" for name, k in factors]
        return reduce(lambda text, factor: f"{self.prefix}mul({text}, {factor})", texts)

    def call(self, operator: Operator, operands: Sequence[str]) -> str:
        name = self.prefix + _NAMES.get(operator, operator)
        return reduce(lambda text, operand: f"{name}({text}, {operand})", operands)

    def number(self, value: int) -> str:
        if abs(value) < 1 << 31:
            return str(value)
        return f"INT64_C({value})" if 3 - _INT64 <= value < _INT64 else self._own("SIZE_OVERFLOW")

    def quoted(self, text: str) -> str:
        """The bytes of the text in UTF-8, and those of a name that is no UTF-8. No "?", so no trigraphs."""
        try:
            code = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            code = _scalars(text).encode()
        return '"' + "".join([chr(byte) if chr(byte) in _PLAIN else f"\\{byte:03o}" for byte in code]) + '"'

    def assignment(self, name: str, text: str, doubtful: Sequence[str], is_float: bool) -> str:
        return f"const {'double' if is_float else 'int64_t'} {name} = {text};"


class JavaScript(Language):
    """JavaScript of 2020, which has BigInt."""

    suffix = "js"
    nothing = "null"

    def number(self, value: int) -> str:
        return f"{literal(value)}n" if value >= 0 else f"(-{literal(-value)}n)"

    def quoted(self, text: str) -> str:
        import json

        return printable(json.dumps(text)).replace("<", "\\u003c")

    def assignment(self, name: str, text: str, doubtful: Sequence[str], is_float: bool) -> str:
        test = " || ".join([f"{operand} === null" for operand in doubtful])
        return f"const {name} = {test} ? null : {text};" if doubtful else f"const {name} = {text};"


class Python(Language):
    """Python 3, for functions in which every size has a value: a division by 0 raises ZeroDivisionError."""

    suffix = "py"
    has_gaps = False
    nothing = "None"
    comment = "#"

    def number(self, value: int) -> str:
        return literal(value)

    def quoted(self, text: str) -> str:
        return ascii(text)

    def call(self, operator: Operator, operands: Sequence[str]) -> str:
        return operator.join(operands) if operator == "//" or operator == "%" else super().call(operator, operands)

    def assignment(self, name: str, text: str, doubtful: Sequence[str], is_float: bool) -> str:
        return f"{name} = {text}"


LANGUAGES: dict[LanguageName, Language] = {"c": C(), "js": JavaScript()}
"""The languages of emitted code."""

_PLAIN = frozenset(map(chr, range(32, 127))) - set('"\\?')


_FILES_OF_C = "arithmetic.h", "arithmetic.c"


def _file(name: str) -> str:
    from importlib.resources import files  # slow to import, and few calls need it

    return files(__name__.rpartition(".")[0]).joinpath(name).read_text("utf-8")


def literal(value: int) -> str:
    """A number as source: in parentheses if negative; in hexadecimal if long, because Python limits decimal literals.

    >>> literal(12), literal(-3), literal(10**18)
    ('12', '(-3)', '0xde0b6b3a7640000')
    """
    text = str(value) if abs(value) < _DIGITS else f"{value:#x}"
    return text if value >= 0 else f"({text})"


def _scalars(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates, which UTF-8 does not have."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _exponent(k: int) -> int:
    """The exponent in 64 bits. A large one keeps its parity, so no power that fits into 64 bits changes."""
    return k if k < _EXPONENT else _EXPONENT + k % 2
