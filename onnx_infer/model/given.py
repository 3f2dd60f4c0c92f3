"""Assumptions about the symbols of a model, as they are given before the walk. `engine/assumptions.py` uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Interval: TypeAlias = "tuple[int, int | None]"
"""Both ends are inclusive; None is no upper end."""


class Given(NamedTuple):
    """Assumptions about the symbols of a model: intervals by the caller and by the model's metadata, and relations."""

    bounds: Mapping[str, Interval] = {}
    declared: Mapping[str, Interval] = {}
    relations: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(self)

    def intervals(self) -> dict[str, Interval]:
        """The intervals. The caller's intervals replace those of the model."""
        return {**self.declared, **self.bounds}

    def parts(self) -> Iterator[tuple[str, Given]]:
        """Each assumption alone, with its text."""
        for name, (low, high) in self.intervals().items():
            yield interval_text(Var.fresh(name, low, high)), Given({name: (low, high)})
        for text in self.relations:
            yield text, Given(relations=(text,))


class Narrowed(NamedTuple):
    """What assumptions say of symbols before the walk.

    `same` maps the name of a symbol to the first name of those that it equals. `related` are the names in relations
    that say more than this and the intervals.
    """

    bounds: dict[str, Interval]
    same: Mapping[str, str] = {}
    related: frozenset[str] = frozenset()

    def fixed(self) -> dict[str, int | str]:
        """What stands for a symbol that needs no name: its only number, or the name of an equal symbol."""
        numbers = {name: low for name, (low, high) in self.bounds.items() if low == high}
        return {**{name: numbers.get(first, first) for name, first in self.same.items()}, **numbers}


def interval_text(symbol: Var) -> str:
    """The bounds of a symbol as a condition.

    >>> interval_text(Var("N")), interval_text(Var.fresh("M", 2, 8))
    ('N >= 1', '2 <= M <= 8')
    """
    low, high = symbol.bounds()
    return f"{symbol} >= {low}" if high is None else f"{low} <= {symbol} <= {high}"
