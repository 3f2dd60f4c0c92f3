"""Whether reasoning is right, and goes back exactly: `python -m tests.symdim.fuzz_reasoning --count 10000 --seed 1`.

Random sequences of assumptions, unifications, questions, checkpoints and ways back, about variables of a few values.
Every answer is compared with all the assignments that the assumptions allow; the origins of a contradiction must name
assumptions that no assignment allows together. At the end, every answer is compared with
that of a new `Reasoning` that got the assumptions which are left, and nothing else. Exit status 1 for a wrong answer or
one that differs.
"""

from __future__ import annotations

import argparse
import random
import sys
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from symdim import Contradiction, Expr, Reasoning, Relation, Scope, maximum, minimum
from symdim.errors import DivisionByZero

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.relations.relation import RelationKind
    from symdim.store.reasoning import Checkpoint

KINDS: list[RelationKind] = ["equal", "unequal", "at_least", "at_most", "greater", "less", "divides"]
KINDS += ["broadcast", "broadcast_to"]
ENDS = {"x": (1, 5), "y": (0, 4), "z": (1, 6)}
STEPS = 12


class Left(NamedTuple):
    """What a checkpoint must bring back: the relations, and the assignments that they allow."""

    checkpoint: Checkpoint
    relations: tuple[Relation, ...]
    points: tuple[dict[str, int], ...]


class Sequence:
    """One random sequence of calls; `faults` says what was wrong in it, and `counts` how often which answer came."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        scope = Scope()
        self.variables = [scope.var(name, *ends) for name, ends in ENDS.items()]
        self.scope = scope
        self.reasoning = Reasoning(scope=scope)
        values = product(*(range(low, high + 1) for low, high in ENDS.values()))
        self.points = tuple(dict(zip(ENDS, value, strict=True)) for value in values)
        self.left = Left(self.reasoning.checkpoint(), (), self.points)
        self.saved = [self.left]
        self.faults: list[str] = []
        self.counts = dict.fromkeys(["assumed", "contradiction", "true", "false", "unknown", "rollback"], 0)

    def dim(self) -> Dim:
        """A random size."""
        rng, a = self.rng, self.rng.choice(self.variables)
        b = rng.choice([*self.variables, rng.randint(0, 5)])
        linear = [a, a, a + b, a - b, a * rng.randint(1, 3)]
        return rng.choice([*linear, a * b, a // rng.randint(2, 3), a % 3, maximum(a, b), minimum(a, b)])

    def relation(self) -> Relation:
        """A random relation."""
        kind, a = self.rng.choice(KINDS), self.dim()
        if kind == "divides":
            return Relation(kind, self.rng.randint(2, 3), a)
        return Relation(kind, a, self.rng.choice([self.dim(), self.rng.randint(1, 6)]))

    def run(self) -> Sequence:
        """Make all the calls."""
        for _ in range(STEPS):
            self.step()
        self.check_leaks()
        return self

    def step(self) -> None:
        """Make one call and compare its answer."""
        match self.rng.randrange(8):
            case 0 | 1:
                self.check_assumption(self.relation())
            case 2:
                self.check_assumption(Relation("equal", self.dim(), self.dim()), unified=True)
            case 3 | 4:
                self.check_proof(self.relation())
            case 5:
                self.check_simplified(self.dim())
            case 6:
                self.saved.append(self.left._replace(checkpoint=self.reasoning.checkpoint()))
            case _:
                self.left = self.rng.choice(self.saved)
                self.reasoning.rollback(self.left.checkpoint)
                self.counts["rollback"] += 1

    def check_assumption(self, relation: Relation, *, unified: bool = False) -> None:
        """Assume; a contradiction must leave no assignment, and change nothing."""
        relation = relation._replace(origins=frozenset([f"call {sum(self.counts.values())}"]))
        points = tuple(point for point in self.left.points if relation.holds(point))
        stated = list(self.reasoning)
        try:
            if unified:
                dim = self.reasoning.unify(relation.left, relation.right, origin=min(relation.origins))
                if any(value_of(dim, point) != value_of(relation.left, point) for point in points):
                    self.faults.append(f"unify {relation}: {dim} under {stated}")
            else:
                self.reasoning.assume(relation)
        except Contradiction as error:
            self.counts["contradiction"] += 1
            origins = {fact.origin.text for fact in error.chain}
            named = [fact for fact in (*self.left.relations, relation) if origins & fact.origins]
            if any(all(fact.holds(point) for fact in named) for point in self.points) or list(self.reasoning) != stated:
                self.faults.append(f"contradiction {relation} under {stated}")
            return
        self.counts["assumed"] += 1
        self.left = Left(self.reasoning.checkpoint(), (*self.left.relations, relation), points)

    def check_proof(self, relation: Relation) -> None:
        """Ask; True must hold at all assignments, False must fail at one. Those without a value do not count."""
        answer = self.reasoning.prove(relation)
        self.counts[{True: "true", False: "false", None: "unknown"}[answer]] += 1
        held = [relation.holds(point) for point in self.left.points if relation.sides(point) is not None]
        if held and ((answer is True and not all(held)) or (answer is False and all(held))):
            self.faults.append(f"{answer} for {relation} under {list(map(str, self.reasoning))}")

    def check_simplified(self, dim: Dim) -> None:
        """Simplify; the values must stay."""
        short = self.reasoning.simplify(dim)
        if any(value_of(dim, point) != value_of(short, point) for point in self.left.points):
            self.faults.append(f"{dim} -> {short} under {list(map(str, self.reasoning))}")

    def check_leaks(self) -> None:
        """Compare with reasoning that never heard of what was taken back."""
        fresh = Reasoning(self.left.relations, scope=self.scope)
        for _ in range(2):
            relation, dim = self.relation(), self.dim()
            asked = [(r.explain(relation), r.simplify(dim), repr(r)) for r in (self.reasoning, fresh)]
            if asked[0] != asked[1]:
                self.faults.append(f"leak: {asked[0]} is not {asked[1]}")


def value_of(dim: Dim, point: dict[str, int]) -> int | None:
    """The value of a size at an assignment; None where it has none."""
    try:
        return dim.to_int(point) if isinstance(dim, Expr) else dim
    except DivisionByZero:
        return None


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults, counts = 0, dict.fromkeys(Sequence(0).counts, 0)
    for number in range(options.count):
        sequence = Sequence(options.seed * 1_000_000 + number).run()
        for fault in sequence.faults:
            print(f"sequence {number}: {fault}")
        faults += len(sequence.faults)
        counts = {kind: counts[kind] + more for kind, more in sequence.counts.items()}
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()), f"{faults} faults", sep="; ")
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
