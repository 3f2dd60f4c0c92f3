"""Sizes at which a layout is tried: several magnitudes, at which as few guards as possible fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.guards import violations
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onnx_infer.results.guards import Guard, Violation
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
        sizes = {v: within(v, batch if v in batches else usual[i % len(usual)]) for i, v in enumerate(needed)}
        sizes = moved_to_guards(guards, sizes)
        found.append({v: sizes[v] for v in symbols})
    return found


def moved_to_guards(
    guards: Iterable[Guard], sizes: Mapping[Var, int], free: Collection[Var] | None = None
) -> dict[Var, int]:
    """The sizes, of which those that are a side of a failing guard are moved to the size of the other side.

    A size that something must divide is moved down to the next multiple. Only `free` symbols are moved, by default all.
    Guards count of which all sizes are given.
    """
    moved: Sizes = dict(sizes.items())
    known = [guard for guard in guards if guard.is_bound(moved)]
    for _ in range(_ROUNDS):
        if not _repair(moved, violations(known, moved), sizes if free is None else free):
            break
    return {v: moved[v] for v in sizes}


def _repair(sizes: Sizes, failing: Iterable[Violation], free: Collection[Var]) -> bool:
    """Give one symbol that is a side of a failing guard a size at which it may hold; False if there is none."""
    for guard, lhs, rhs, _ in failing:
        targets = [(guard.lhs, rhs), (guard.rhs, lhs)]
        if guard.relation == "divides":
            targets = [(guard.rhs, max(rhs - rhs % lhs, lhs))] if lhs and rhs is not None else []
        for side, target in targets:
            if isinstance(side, Var) and side in free and target is not None:
                size = within(side, target)
                if sizes[side] != size:
                    sizes[side] = size
                    return True
    return False


def within(variable: Var, size: int) -> int:
    """The size, or the nearest one that the bounds of the symbol allow."""
    low, high = variable.bounds()
    return max(low or 0, size if high is None else min(size, high))
