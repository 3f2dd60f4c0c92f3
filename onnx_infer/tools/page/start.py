"""The sizes with which a page opens: usual sizes at which as few guards as possible fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import UnknownSymbol
from onnx_infer.results.guards import Violation, violations
from symdim import Var
from symdim.algebra.evaluate import checked_size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.emission.content import Symbol

    Sizes = dict[str | Var, int]

_BATCH = 1
_ROUNDS = 4
_USUAL = (64, 128, 224, 256, 512, 640, 32, 16, 1024, 7, 1)


def start_sizes(result: Inferred, symbols: Sequence[Symbol], chosen: Mapping[str, int]) -> list[int | None]:
    """A size for each symbol, and None for those that only a run knows.

    The first axis of an input is taken for a batch of 1. All other symbols get one usual size. Then symbols that are a
    side of a failing guard get the size of the other side. The first sizes at which the fewest guards fail are the
    result. The `chosen` sizes are used as they are. Raises UnknownSymbol for names that are no symbols, and BoundsError
    for sizes out of bounds.
    """
    names = [symbol.name for symbol in symbols]
    if unknown := tuple(name for name in chosen if name not in names):
        raise UnknownSymbol("sizes", unknown, names)
    fixed: Sizes = {s.variable: checked_size(s.variable, chosen[s.name]) for s in symbols if s.name in chosen}
    free = [s.variable for s in symbols if not s.optional and s.variable not in fixed]
    batches = {dim for where, dim in result.sources.axes if where.axis == 0}
    best: Sizes = {}
    fewest = None
    for usual in _USUAL:
        sizes = dict(fixed)
        sizes.update((v, _within(v, _BATCH if v in batches else usual)) for v in free)
        for _ in range(_ROUNDS):
            failing = violations([g for g in (*result.guards, *result.data_guards) if g.is_bound(sizes)], sizes)
            if fewest is None or len(failing) < fewest:
                best, fewest = dict(sizes), len(failing)
            _repair(sizes, failing, free)
        if not fewest:
            break
    return [best.get(symbol.variable) for symbol in symbols]


def _repair(sizes: Sizes, failing: Iterable[Violation], free: Collection[Var]) -> None:
    """Give a symbol that is one side of a failing guard the size of the other side."""
    for guard, lhs, rhs, _ in failing:
        for side, other in ((guard.lhs, rhs), (guard.rhs, lhs)):
            if isinstance(side, Var) and side in free and other is not None and guard.relation != "divides":
                sizes[side] = _within(side, other)
                break


def _within(variable: Var, size: int) -> int:
    low, high = variable.bounds()
    return max(low or 0, size if high is None else min(size, high))
