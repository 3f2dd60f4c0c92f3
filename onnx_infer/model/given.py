"""Assumptions about the symbols of a model, as they are given before the walk. `engine/assumptions.py` uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Bounds = Mapping[str, tuple[int, int | None]]


Interval: TypeAlias = "tuple[int, int | None]"
"""Both ends are inclusive; None is no upper end."""


_ELEMENT: Interval = (0, None)
"""What an element counts or measures, if an assumption relates it to sizes, unless another interval is given."""


class Given(NamedTuple):
    """Assumptions about the symbols of a model: intervals by the caller and by the model's metadata, and relations.

    `bound` maps a symbol to what stands for it: a number, a name, or an expression of names. `named` are names that
    the caller gives besides those of the model. `elements` maps a name such as `k[0]` to the input and the index.
    """

    bounds: Mapping[str, Interval] = {}
    declared: Mapping[str, Interval] = {}
    relations: tuple[str, ...] = ()
    bound: Mapping[str, int | str] = {}
    named: tuple[str, ...] = ()
    elements: Mapping[str, tuple[str, int]] = {}

    def __bool__(self) -> bool:
        return any(self)

    def names(self) -> tuple[str, ...]:
        """The names that are symbols beside those of the model."""
        return (*self.named, *self.elements)

    def intervals(self) -> dict[str, Interval]:
        """The intervals. The caller's intervals replace those of the model."""
        return {**dict.fromkeys(self.elements, _ELEMENT), **self.declared, **self.bounds}

    def with_least(self, symbols: Iterable[str], least: int) -> Given:
        """The same, with a least size of symbols for which no interval is given."""
        return self._replace(declared={**dict.fromkeys(symbols, (least, None)), **self.declared})

    def parts(self) -> Iterator[tuple[str, Given]]:
        """Each assumption alone, with its text."""
        alone = Given(named=self.named, elements=self.elements)
        for name, (low, high) in {**self.declared, **self.bounds}.items():
            yield interval_text(Var.fresh(name, low, high)), alone._replace(bounds={name: (low, high)})
        for name, size in self.bound.items():
            yield f"{name} == {size}", alone._replace(bound={name: size})
        for text in self.relations:
            yield text, alone._replace(relations=(text,))


class Narrowed(NamedTuple):
    """What assumptions say of symbols before the walk.

    `same` maps the name of a symbol to the first name of those that it equals, `bound` to an expression that stands for
    it. `related` are the names in relations that say more than this and the intervals.
    """

    bounds: dict[str, Interval]
    same: Mapping[str, str] = {}
    bound: Mapping[str, int | str] = {}
    related: frozenset[str] = frozenset()

    def fixed(self) -> dict[str, int | str]:
        """What stands for a symbol that needs no name: a number, the name of an equal symbol, or an expression."""
        numbers = {name: low for name, (low, high) in self.bounds.items() if low == high}
        return {**{name: numbers.get(first, first) for name, first in self.same.items()}, **numbers, **self.bound}


def interval_text(symbol: Var) -> str:
    """The bounds of a symbol as a condition.

    >>> interval_text(Var("N")), interval_text(Var.fresh("M", 2, 8))
    ('N >= 1', '2 <= M <= 8')
    """
    low, high = symbol.bounds()
    return f"{symbol} >= {low}" if high is None else f"{low} <= {symbol} <= {high}"


KEY = "symdim.bounds"


def declared_bounds(entries: Iterable[str]) -> tuple[dict[str, tuple[int, int | None]], list[str]]:
    """The intervals by symbol, and what is wrong with the entries. If several entries bound a symbol, the first counts.

    >>> declared_bounds(['{"seq": [1, 2048], "batch": [4, 2]}'])
    ({'seq': (1, 2048)}, ["metadata symdim.bounds: [4, 2] are not bounds of 'batch'"])
    """
    found: dict[str, tuple[int, int | None]] = {}
    wrong: list[str] = []
    for entry in entries:
        _read(entry, found, wrong)
    return found, wrong


def _read(text: str, found: dict[str, tuple[int, int | None]], wrong: list[str]) -> None:
    import json

    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        wrong.append(f"metadata {KEY}: no JSON: {error}")
        return
    if not isinstance(entries, dict):
        wrong.append(f"metadata {KEY}: no JSON object of symbols: {text[:60]}")
        return
    for symbol, ends in entries.items():
        if _is_interval(ends):
            found.setdefault(symbol, (ends[0], ends[1]))
        else:
            wrong.append(f"metadata {KEY}: {ends} are not bounds of {symbol!r}")


def _is_interval(ends: Any) -> bool:
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    low, high = ends
    return type(low) is int and low >= 0 and (high is None or (type(high) is int and high >= low))
