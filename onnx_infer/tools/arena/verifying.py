"""A second look at an arena plan: what lives together is worked out anew from what each step reads and writes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.errors import PlanError
from symdim.algebra.dims import at_least

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.tools.arena.parts import Step, Storage
    from onnx_infer.tools.arena.sharing import Place
    from onnx_infer.values.tensor import Dim


class Verified(NamedTuple):
    """What was checked: the steps, the pairs of storages that are needed at one step, and the storages that
    do not decide an offset because another end is proved to be higher at all sizes.
    """

    steps: int
    pairs: int
    by_proof: int


def verify(
    steps: Sequence[Step],
    storages: Sequence[Storage],
    ends: Sequence[Dim | None],
    places: Mapping[str, Place],
    outputs: Iterable[str],
) -> Verified:
    """Check that of two storages that are needed at one step, one lies below the other, and that none is overwritten.

    Raises PlanError with the step and the two values. The lives of values are worked out from the steps and the outputs
    of the model; those that the plan was made of are not used. `ends`: where each storage ends.
    """
    number = {storage.root: i for i, storage in enumerate(storages)}
    below = _all_below(storages, ends)
    needed = _needed_after(steps, {name for name in outputs if name in places}, places)
    seen: set[tuple[int, int]] = set()
    made = {name for step in steps for name in step.writes}
    present = {name for name in places if name not in made}  # inputs of the model
    for i, step in enumerate(steps):
        written = [name for name in step.writes if name in places]
        for name in written:
            if places[name].kind != "in place":
                continue
            for other in sorted(needed[i] & present):
                if places[other].root == places[name].root:
                    raise PlanError(f"{_where(step)}: {name!r} is written over {other!r}, which is read later")
        present.update(written)
        live = sorted({number[places[name].root] for name in present})
        for a, b in combinations(live, 2):
            if (a, b) not in seen:
                seen.add((a, b))
                if not (below[a] >> b & 1 or below[b] >> a & 1):
                    raise PlanError(f"{_where(step)}: {storages[a].root!r} and {storages[b].root!r} may overlap")
        present &= needed[i]
    return Verified(len(steps), len(seen), sum(len(storage.covered) for storage in storages))


def _where(step: Step) -> str:
    return f"{step.operator} {step.node!r}"


def _all_below(storages: Sequence[Storage], ends: Sequence[Dim | None]) -> list[int]:
    """For each storage all that lie below it, directly or through others, as bits. Raises PlanError if one does not."""
    found: dict[int, int] = {}
    for start in range(len(storages)):
        path = [start]
        while path:
            block = path[-1]
            storage = storages[block]
            under = (*storage.below, *storage.covered)
            missing = next((x for x in under if x not in found), None)
            if missing is not None:
                if missing in path:
                    raise PlanError(f"{storage.root!r} lies below itself")
                path.append(missing)
                continue
            path.pop()
            found[block] = 0
            for x in under:
                found[block] |= found[x] | 1 << x
            for x in storage.covered:
                if not any(_is_higher(ends[y], ends[x]) for y in storage.below):
                    raise PlanError(f"the end of {storages[x].root!r} may be above the offset of {storage.root!r}")
    return [found[i] for i in range(len(storages))]


def _is_higher(end: Dim | None, other: Dim | None) -> bool:
    return end is not None and other is not None and at_least(end - other, 0)


def _needed_after(steps: Sequence[Step], outputs: set[str], places: Mapping[str, Place]) -> list[set[str]]:
    """For each step the values in the arena that a later step reads, or that are outputs of the model."""
    needed, found = set(outputs), list[set[str]]()
    for step in reversed(steps):
        found.append(set(needed))
        needed |= {name for name in step.reads if name in places}
    return found[::-1]
