"""The statements of an emitted function, and what the texts of all languages share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim import __version__
from symdim.dialects.straight_code import StraightCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.results.emission.content import Content, Symbol
    from symdim.dialects.languages import Language

_LINE = 110

INT64_MAX = (1 << 63) - 1
SMALLEST = 2 - INT64_MAX
"""The smallest size in C, where smaller integers stand for sizes without a value."""


class Statements:
    """The statements that compute the sizes and guards of a content in a language.

    `names`: the names of the symbols in the code. `sizes`: the texts of the distinct sizes. `guards`: the texts of the
    conditions.
    """

    def __init__(self, content: Content, language: Language) -> None:
        self.content, self.language = content, language
        self.symbols = content.symbols
        optional = [symbol.variable for symbol in self.symbols if symbol.optional]
        code = StraightCode(language, [symbol.variable for symbol in self.symbols], optional)
        self.names = code.names
        self.sizes = list(map(code.operand, content.sizes))
        self.guards = [f"{g.relation}({self.sizes[g.lhs]}, {self.sizes[g.rhs]})" for g in content.guards]
        self.lines = code.statements

    @property
    def heading(self) -> str:
        """The first lines of the file."""
        mark = self.language.comment
        lines = [
            f"{mark} The sizes of all values of a model, and its guards, as functions of its symbols.",
            f"{mark} Written by onnx-infer {__version__}; do not edit. It needs nothing but the language itself.",
        ]
        return "\n".join(lines)

    def limits(self, symbol: Symbol) -> tuple[int, int]:
        """The bounds of a symbol, in 64 bits."""
        low, high = symbol.variable.bounds()
        return _clamped(SMALLEST if low is None else low), _clamped(INT64_MAX if high is None else high)

    def quoted(self, text: str) -> str:
        """A string literal."""
        return self.language.quoted(text)

    def indented(self, lines: Iterable[str], width: int = 2) -> str:
        """Lines under an indent; each ends with a line break."""
        return "".join([f"{' ' * width}{line}\n" for line in lines])


def wrapped(items: Iterable[str], indent: int) -> str:
    """Items with commas between them, in lines of some width.

    >>> wrapped(["t1", "t2"], 4)
    '    t1, t2,\\n'
    """
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= _LINE:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{' ' * indent}{item},")
    return "".join(f"{line}\n" for line in lines)


def _clamped(bound: int) -> int:
    return max(SMALLEST, min(bound, INT64_MAX))
