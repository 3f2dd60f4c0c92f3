"""Sizes at which a layout is tried: several magnitudes, at which as few guards as possible fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.guards import violations
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from onnx_infer.results.guards import Violation
    from onnx_infer.results.inferred import Inferred

    Sizes = dict[str | Var, int]

_MAGNITUDES = (
    (1, (7,)),
    (1, (64,)),
    (2, (256,)),
    (8, (128,)),
    (1, (640,)),
    (3, (2,)),
    (2, (1, 32, 300)),
    (2, (300, 1, 32)),
    (4, (32, 300, 1)),
)
"""The size of the first axes of inputs, and those of all other symbols in turn."""

_ROUNDS = 8


def sample_sizes(result: Inferred, symbols: Sequence[Var]) -> list[dict[Var, int]]:
    """Sizes of these symbols: one for each magnitude, within the bounds of the symbols.

    A symbol that is one side of a failing guard gets the size of the other side.
    """
    guards = (*result.guards, *result.data_guards)
    batches = {dim for where, dim in result.sources.axes if where.axis == 0}
    needed = dict.fromkeys([*symbols, *(v for guard in guards for v in guard.variables())])
    found = []
    for batch, usual in _MAGNITUDES:
        sizes: Sizes = {v: _within(v, batch if v in batches else usual[i % len(usual)]) for i, v in enumerate(needed)}
        bound = [g for g in guards if g.is_bound(sizes)]
        for _ in range(_ROUNDS):
            if not _repair(sizes, violations(bound, sizes), needed):
                break
        found.append({v: sizes[v] for v in symbols})
    return found


def _repair(sizes: Sizes, failing: Iterable[Violation], free: Collection[Var]) -> bool:
    """Give one symbol that is a side of a failing guard the size of the other side; False if there is none."""
    for guard, lhs, rhs, _ in failing:
        for side, other in ((guard.lhs, rhs), (guard.rhs, lhs)):
            if isinstance(side, Var) and side in free and other is not None and guard.relation != "divides":
                size = _within(side, other)
                if sizes[side] != size:
                    sizes[side] = size
                    return True
    return False


def _within(variable: Var, size: int) -> int:
    low, high = variable.bounds()
    return max(low or 0, size if high is None else min(size, high))
