"""One random model, from its seed to what the judges say."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz import arithmetic, carried, control, judges, kernels, uses
from tests.fuzz.cases import from_case
from tests.fuzz.growing import Grower
from tests.fuzz.subject import Subject, chosen_feeds, tried

if TYPE_CHECKING:
    from tests.fuzz.runtime import Feeds, Runtime

OPSETS = (*range(6, 27), 13, 17, 18, 21)
"""Those of which onnxruntime runs most operators."""

STEPS = 24


class Judged(NamedTuple):
    """A model, and the faults that were found: the names of the judges and their texts."""

    seed: int
    subject: Subject
    feeds: list[tuple[dict[str, int], Feeds]]
    faults: list[tuple[str, str]]
    foretold: int


def grown(seed: int, runtime: Runtime) -> Grower:
    """A random model. The same seed gives the same model."""
    rng = Random(seed)
    grower = Grower(rng, runtime, rng.choice(OPSETS))
    for _ in range(rng.randint(1, 3)):
        grower.any_input(1, rng.choice([1, 2, 2, 3, 4]))
    kinds = (arithmetic.SIZES, arithmetic.SIZES, uses.USES, (from_case,), kernels.KERNELS, control.STEPS,
             carried.CARRIED)  # fmt: skip
    weights = [rng.random() + 0.05 for _ in kinds]
    arithmetic.shape(grower.scope)  # a model has a node
    for _ in range(rng.randint(3, STEPS)):
        (kind,) = rng.choices(kinds, weights)
        rng.choice(kind)(grower.scope)
    return grower


def judged(seed: int, runtime: Runtime) -> Judged:
    """The model of a seed, its runs and its faults."""
    grower = grown(seed, runtime)
    feeds = chosen_feeds(grower.inputs, grower.sizes, grower.rng)
    subject = tried(grower.model(), feeds, runtime)
    faults = judges.verdict(subject, runtime)
    refused = [run for run in subject.runs if not run.succeeded]
    foretold = 0 if faults else sum(any(v.guard.kind == "required" for v in subject.failing(run)) for run in refused)
    return Judged(seed, subject, feeds, faults, foretold)
