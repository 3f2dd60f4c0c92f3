"""Sizes at which a layout is tried: several magnitudes and many mixtures, at which as few guards as possible fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.guards import Guard, Violation, violations
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

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

_SPREAD = 32
"""The mixtures of sizes besides."""

_MOST_MIXED = 512
"""The largest size in mixtures, if the bounds of the symbol allow it."""

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
"""The multiples of their square roots spread evenly, modulo 1, and are far from those of the others."""

_ROUNDS = 8


def sample_sizes(result: Inferred, symbols: Sequence[Var]) -> list[dict[Var, int]]:
    """Sizes of these symbols: one for each magnitude, within the bounds of the symbols.

    A symbol that is one side of a failing guard gets the size of the other side.
    """
    batches = {dim for where, dim in result.sources.axes if where.axis == 0}
    needed = _needed(result, symbols)
    samples = []
    for batch, usual in _MAGNITUDES:
        sizes = {v: within(v, batch if v in batches else usual[i % len(usual)]) for i, v in enumerate(needed)}
        samples.append(_allowed(result, symbols, sizes))
    return samples


def mixed_sizes(result: Inferred, symbols: Sequence[Var]) -> list[dict[Var, int]]:
    """Small sizes of some symbols with large ones of others, evenly on a logarithmic scale, and often at its ends.

    A symbol that is one side of a failing guard gets the size of the other side.
    """
    roots = {v: _PRIMES[i % len(_PRIMES)] ** 0.5 for i, v in enumerate(_needed(result, symbols))}
    mixtures = ({v: _at_share(v, step * root % 1) for v, root in roots.items()} for step in range(1, _SPREAD + 1))
    return [_allowed(result, symbols, sizes) for sizes in mixtures]


def _at_share(variable: Var, share: float) -> int:
    """The size at this part of the logarithmic scale. The outer parts are its ends."""
    low, high = max(within(variable, 1), 1), max(within(variable, _MOST_MIXED), 1)
    if low == high:
        return within(variable, low)
    return within(variable, round(low * (high / low) ** min(max(1.4 * share - 0.2, 0), 1)))


def _needed(result: Inferred, symbols: Sequence[Var]) -> list[Var]:
    """These symbols and those of the guards."""
    guards = (*result.guards, *result.data_guards)
    return list(dict.fromkeys([*symbols, *(v for guard in guards for v in guard.variables())]))


def _allowed(result: Inferred, symbols: Sequence[Var], sizes: Mapping[Var, int]) -> dict[Var, int]:
    """The sizes of these symbols, moved to what guards allow."""
    moved = moved_to_guards((*result.guards, *result.data_guards), sizes)
    return {v: moved[v] for v in symbols}


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
