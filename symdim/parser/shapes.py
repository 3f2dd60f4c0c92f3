"""Sizes as they are given, and the text of a shape, `[N, 2*N + 1]`, read as dimensions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.texts.written import Written
from symdim.algebra.variable import Var
from symdim.errors import ParseError
from symdim.parser.tokens import is_name, lexicon
from symdim.parsing import part_of, read_dim_param

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim


T = TypeVar("T")


def sizes_of(given: Iterable[Dim | str | None]) -> tuple[Dim, ...]:
    """Sizes of any kind as dimensions: texts by `read_dim_param`, with the names among them as declared names.

    None is a new variable.
    """
    sizes = tuple(items_of(given))
    names = frozenset(size for size in sizes if isinstance(size, str) and is_name(size))
    return tuple([read_dim_param(size, names) if isinstance(size, str) else _dim(size) for size in sizes])


def _dim(size: Dim | None) -> Dim:
    return Var.fresh("?", origin="not given") if size is None else checked(size)


def items_of(sizes: Iterable[T]) -> Iterable[T]:
    """The sizes. Raises TypeError for one text, whose characters would be taken for sizes.

    >>> items_of("N, 3")
    Traceback (most recent call last):
    ...
    TypeError: sizes are a sequence, not the text 'N, 3': write ['N', '3'], or Shape.parse('[N, 3]')
    """
    if not isinstance(sizes, str):
        return sizes
    items = [item.strip() for item in sizes[:60].strip("[]() ").split(",")]
    cure = f"write {items}, or Shape.parse('[{', '.join(items)}]')"
    raise TypeError(f"sizes are a sequence, not the text {sizes!r:.60}: {cure}")


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
