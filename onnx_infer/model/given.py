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


def interval_text(symbol: Var) -> str:
    """The bounds of a symbol as a condition.

    >>> interval_text(Var("N")), interval_text(Var.fresh("M", 2, 8))
    ('N >= 1', '2 <= M <= 8')
    """
    low, high = symbol.bounds()
    return f"{symbol} >= {low}" if high is None else f"{low} <= {symbol} <= {high}"
