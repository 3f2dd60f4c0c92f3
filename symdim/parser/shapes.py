"""The text of a shape, `[N, 2*N + 1]`, read as its dimensions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from symdim.algebra.texts.written import Written
from symdim.errors import ParseError
from symdim.parser.tokens import lexicon
from symdim.parsing import part_of

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var


def dims_of(text: str, names: Collection[str] | Mapping[str, Var] = ()) -> list[Dim]:
    """The dimensions in a text `"[" [sum {"," sum}] "]"`. Raises ParseError.

    >>> dims_of("[N, max(N, 3), 4]")
    [N, max(N, 3), 4]
    """
    start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
    if text[start : start + 1] != "[" or text[stop - 1 : stop] != "]":
        raise ParseError(text, start, "a shape is written [...]")
    dims: list[Dim] = []
    written = Written()
    for first, last in spans_between_commas(text, start + 1, stop - 1, frozenset(names)):
        try:
            dims.append(part_of(written, text[first:last].strip(), names))
        except ParseError as error:
            blanks = len(text[first:last]) - len(text[first:last].lstrip())
            raise ParseError(text, first + blanks + error.position, error.message) from None
    return dims


def spans_between_commas(text: str, start: int, stop: int, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The spans of text[start:stop] between commas outside of parentheses and quotes; no spans if it is blank."""
    depth, first = 0, start
    for match in lexicon(names).pattern.finditer(text, start, stop):
        lexeme = match[1]
        depth += (lexeme == "(") - (lexeme == ")")
        if lexeme == "," and depth == 0:
            yield first, match.start(1)
            first = match.end(1)
    if first > start or text[start:stop].strip():
        yield first, stop
