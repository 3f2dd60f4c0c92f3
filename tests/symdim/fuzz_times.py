"""Whether every question ends in its time: `python -m tests.symdim.fuzz_times --count 20000 --seed 1`.

Random expressions, many of them nests that share their parts, go through `solve`, `simplify`, `explain`, `Facts`,
`Store`, `guarantee` and the texts. The slowest question of each kind is printed. Exit status 1 where one takes longer
than its documented time, doubled for slow machines.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from symdim import Facts, Scope, Store, clear_caches, maximum, minimum, simplify
from symdim.algebra.texts.printing import MOST_CHARACTERS
from symdim.errors import SymdimError
from symdim.guarantee import guarantee_of
from symdim.prove import explain
from symdim.relations.relation import Relation
from symdim.relations.solving import solve
from symdim.store import Contradiction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from symdim import Var
    from symdim.algebra.expr import Dim

SECONDS = {"solve": 0.5, "simplify": 1.5, "explain": 0.6, "facts": 0.5, "store": 2.0, "guarantee": 1.5, "text": 0.2}
"""The most processor time of a question, on a machine of half the speed of that of docs/limits.md."""
RELATIONS = ("equal", "at_least", "at_most", "divides", "broadcast", "broadcast_to")


class Made:
    """Random expressions over a few variables, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        scope = Scope()
        self.known = [scope.var(name, lo) for name, lo in (("x", 1), ("y", 1), ("z", 0), ("w", 2))]
        self.found = scope.var("found", 0, at_most=self.known[0] * 2, origin="the data decide")
        self.variables: list[Var] = [*self.known, scope.var("few", 0, 9), self.found]

        self.nests: list[Dim] = []

    def dim(self) -> Dim:
        """An expression of any kind. Nests are slow to make, so they serve several questions."""
        rng = self.rng
        if rng.random() < 0.6:
            return self.mixed(rng.randint(1, 4))
        if len(self.nests) < 8 or rng.random() < 0.05:
            self.nests = [*self.nests[-40:], self.nest(rng.randint(2, 8))]
        return rng.choice(self.nests)

    def mixed(self, depth: int) -> Dim:
        """Operators at random, down to this depth."""
        rng = self.rng
        if depth == 0:
            return rng.choice(self.variables) if rng.random() < 0.75 else rng.randint(-3, 20)
        a, b = self.mixed(depth - 1), self.mixed(rng.randint(0, depth - 1))
        match rng.randrange(8):
            case 0 | 1:
                return a + b * rng.randint(-3, 3)
            case 2:
                return a * b
            case 3:
                return a // rng.randint(1, 9)
            case 4:
                return a // (rng.randint(1, 5) * rng.choice(self.variables) + 1)
            case 5:
                return a % rng.randint(2, 9)
            case 6:
                return a % (rng.randint(1, 5) * rng.choice(self.known) + rng.choice([0, 1]))
            case _:
                return (maximum if rng.random() < 0.5 else minimum)(a, b)

    def nest(self, depth: int) -> Dim:
        """A nest in which each operation has the former one twice."""
        rng, (x, y, *_) = self.rng, self.variables
        dim: Dim = x
        kind = rng.randrange(4)
        for i in range(depth):
            c, v = rng.randint(2, 5), rng.choice(self.variables)
            dim = (
                maximum(dim // c + i, dim % 3 * y),
                maximum(dim // c + i, minimum(y, dim - i)),
                minimum(maximum(dim - i, y // c), v + dim // 2),
                dim % (c * v + 1) + dim // c * v,
            )[kind]
        return dim

    def facts(self) -> Facts:
        """A few facts about the variables."""
        facts, rng = Facts(), self.rng
        for _ in range(rng.randint(1, 3)):
            a, b = rng.choice(self.variables), rng.choice(self.variables)
            match rng.randrange(4):
                case 0:
                    facts.assume(Relation("divides", rng.choice([2, 4, 8]), a))
                case 1:
                    facts.assume(Relation("at_least", a, b + rng.randint(0, 3)))
                case 2:
                    facts.assume(Relation("equal", a, b * rng.randint(1, 3) + rng.randint(0, 2)))
                case _:
                    facts.assume(Relation.of(self.dim(), ">=", rng.randint(0, 4)))
        return facts

    def store(self) -> Store:
        """A few random constraints."""
        store, rng = Store(), self.rng
        for _ in range(rng.randint(1, 4)):
            a, b = self.dim(), rng.choice([self.dim(), rng.choice(self.variables), rng.randint(0, 9)])
            match rng.randrange(4):
                case 0:
                    store.eq(a, b)
                case 1:
                    store.divisible(a, rng.randint(2, 6))
                case 2:
                    store.refine(a, b)
                case _:
                    store.bounds(a, rng.randint(0, 3), rng.choice([None, 40]))
        return store

    def asked(self, store: Store) -> None:
        """All questions about constraints."""
        with suppress(Contradiction):
            for v in self.variables:
                store.value(v)
                store.interval(v)
            store.guards()
            repr(store)

    def questions(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """Questions of every kind without an end."""
        rng = self.rng
        while True:
            a, b = self.dim(), rng.choice([self.dim(), rng.choice(self.variables), rng.randint(0, 9)])
            relation, sign = rng.choice(RELATIONS), rng.choice(["==", ">=", "<"])
            yield "solve", lambda a=a, b=b, relation=relation: solve(Relation(relation, a, b))
            facts = self.facts()
            yield "facts", facts.contradiction
            yield "simplify", lambda a=a, facts=facts: simplify(a, facts)
            yield "explain", lambda a=a, b=b, facts=facts, sign=sign: explain(a, sign, b, facts)
            store, long = self.store(), self.nest(rng.randint(2, 12)) if rng.random() < 0.1 else a
            yield "store", lambda store=store: self.asked(store)
            yield "guarantee", lambda a=a: guarantee_of(a)
            yield "text", lambda long=long: written(long)


def written(dim: Dim) -> None:
    """Write an expression out, as far as its texts go."""
    assert len(repr(dim)) < MOST_CHARACTERS + 50
    str(dim)


def slowest(seed: int, number: int) -> dict[str, tuple[float, int]]:
    """The longest time of each kind of question among so many, and the number of the question."""
    found = dict.fromkeys(SECONDS, (0.0, 0))
    questions = Made(seed).questions()
    for i in range(number):
        if i % 100 == 0:
            clear_caches()
        kind, question = next(questions)
        began = time.process_time()
        with suppress(SymdimError):  # a size without a value
            question()
        found[kind] = max(found[kind], (time.process_time() - began, i))
    return found


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    worst = slowest(options.seed, options.count)
    for kind, (seconds, i) in worst.items():
        print(f"{kind:10} {seconds:.3f} s, question {i}{'  TOO LONG' * (seconds > SECONDS[kind])}")
    return 1 if any(seconds > SECONDS[kind] for kind, (seconds, _) in worst.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
