"""A second look at an arena plan: what lives together is worked out anew from what each step reads and writes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.errors import PlanError
from symdim.algebra.dims import at_least

if TYPE_CHECKING:
    from onnx_infer.tools.arena.plan import ArenaPlan, Step


class Verified(NamedTuple):
    """What was checked: the steps, the pairs of storages that are needed at one step, and the storages that
    do not decide an offset because another end is proved to be higher at all sizes.
    """

    steps: int
    pairs: int
    by_proof: int


def verify(plan: ArenaPlan) -> Verified:
    """Check that of two storages that are needed at one step, one lies below the other, and that none is overwritten.

    Raises PlanError with the step and the two values. It uses the steps, the outputs, the roots of the values, and for
    each storage those below it. It does not use the lives that the plan was made of.
    """
    number = {storage.root: i for i, storage in enumerate(plan.storages)}
    below = _all_below(plan)
    kinds = {buffer.value: buffer.kind for buffer in plan.buffers}
    needed = _needed_after(plan)
    seen: set[tuple[int, int]] = set()
    made = {name for step in plan.steps for name in step.writes}
    present = {name for name in kinds if name not in made}  # inputs of the model
    for i, step in enumerate(plan.steps):
        written = [name for name in step.writes if name in kinds]
        for name in written:
            if kinds[name] != "in place":
                continue
            for other in sorted(needed[i] & present):
                if plan.root(other) == plan.root(name):
                    raise PlanError(f"{where(step)}: {name!r} is written over {other!r}, which is read later")
        present.update(written)
        live = sorted({number[plan.root(name)] for name in present})
        for a, b in combinations(live, 2):
            if (a, b) not in seen:
                seen.add((a, b))
                if not (below[a] >> b & 1 or below[b] >> a & 1):
                    one, other = plan.storages[a].root, plan.storages[b].root
                    raise PlanError(f"{where(step)}: {one!r} and {other!r} may overlap")
        present &= needed[i]
    return Verified(len(plan.steps), len(seen), sum(len(storage.covered) for storage in plan.storages))


def where(step: Step) -> str:
    """A step in a message."""
    return f"{step.operator} {step.node!r}"


def _all_below(plan: ArenaPlan) -> list[int]:
    """For each storage all that lie below it, directly or through others, as bits. Raises PlanError if one does not."""
    found: dict[int, int] = {}
    for start in range(len(plan.storages)):
        path = [start]
        while path:
            block = path[-1]
            storage = plan.storages[block]
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
                end = plan.end(plan.storages[x])
                if not any(at_least(plan.end(plan.storages[y]) - end, 0) for y in storage.below):
                    raise PlanError(f"the end of {plan.storages[x].root!r} may be above the offset of {storage.root!r}")
    return [found[i] for i in range(len(plan.storages))]


def _needed_after(plan: ArenaPlan) -> list[set[str]]:
    """For each step the values in the arena that a later step reads, or that are outputs of the model."""
    known = {buffer.value for buffer in plan.buffers}
    needed = {name for name in plan.outputs if name in known}
    found: list[set[str]] = []
    for step in reversed(plan.steps):
        found.append(set(needed))
        needed |= {name for name in step.reads if name in known}
    return found[::-1]
