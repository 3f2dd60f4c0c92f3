"""Difference constraints: chains of any length, and small systems against enumeration."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

import pytest

from symdim import Facts, Var, prove
from symdim.prover.budget import Budget
from symdim.prover.differences import DIFFERENCES, shortest
from symdim.prover.hypotheses import Refuted, problem_of
from symdim.relations.relation import Relation
from tests.symdim.text_cases import Names, prove_text


def chain(links: int) -> tuple[list[str], list[str]]:
    """Names, and facts that each differs from the one before by at most 1, in an order of their own."""
    names = [f"x_{i}" for i in range(links + 1)]
    facts = [f"{a} - 1 <= {b} <= {a} + 1" for a, b in pairwise(names)]
    Random(links).shuffle(facts)
    return names, facts


@pytest.mark.parametrize("links", [24, 25, 64, 200])
@pytest.mark.parametrize("lo", [1, 0, None])
def test_chains(links, lo):
    names, facts = chain(links)
    bounds = dict.fromkeys(names, (lo, None))
    first, last = names[0], names[-1]
    for a, relation, b, answer in [
        (f"{first} + {links}", ">=", last, True),
        (last, ">=", f"{first} - {links}", True),
        (f"{first} + {links}", "<", last, False),
        (f"{first} + {links - 1}", ">=", last, False),
        (last, ">=", f"{first} - {links - 1}", False),
        (first, "!=", f"{last} + {links + 1}", True),
        (first, "!=", f"{last} + {links}", False),
    ]:
        assert prove_text(a, relation, b, bounds, facts) is answer, (a, relation, b)


def test_the_facts_of_a_chain_are_named():
    _, texts = chain(40)
    names = Names({})
    facts = Facts()
    for text in [*texts, "x_3 <= y", "x_40 >= 2"]:
        facts.assume(text, scope=names)
    proof = prove.explain(names.var("x_10") + 20, ">=", names.var("x_30"), facts)
    assert proof.answer is True
    assert set(proof.facts) == {f"x_{i + 1} <= x_{i} + 1" for i in range(10, 30)}
    assert DIFFERENCES in proof.laws


@pytest.mark.parametrize("links", [30, 300])
def test_contradictions_in_a_ring(links):
    names = Names({})
    facts = Facts()
    for i in range(links):
        facts.assume(f"x_{i} < x_{(i + 1) % links}", scope=names)
    facts.assume("x_3 < y", scope=names)
    found = facts.contradiction()
    assert found is not None
    assert len(found) == links


def test_numbers_are_a_node():
    """Bounds of variables and of atoms take part, and numbers that all coefficients share are divided out, rounded."""
    n = Var.fresh("n", 3, 9)
    assert prove_text("x", "<=", "12", {"n": (3, 9)}, ["x <= y + 1", "y <= z + 1", "z <= n + 1"]) is True
    assert prove_text("x", "<=", "11", {"n": (3, 9)}, ["x <= y + 1", "y <= z + 1", "z <= n + 1"]) is False
    assert prove_text("w", "<=", "x", {}, ["3*x >= 3*y - 1", "2*y >= 2*z - 1", "5*z >= 5*w - 4"]) is True
    assert prove_text("w", "<=", "x", {}, ["3*x >= 3*y - 3", "2*y >= 2*z - 1", "5*z >= 5*w - 4"]) is False
    assert prove_text("w", "<=", "n//4 + 2", {}, ["w <= x", "x == y + 1", "y <= z", "z == n//4 + 1"]) is True
    assert shortest(problem_of([Relation("at_least", n - 4, 0, frozenset())], (), Budget(100))) is None


@pytest.mark.parametrize("seed", range(8))
def test_against_enumeration(seed):
    """A contradiction is found exactly where no integers meet the constraints, and its reasons are enough for one."""
    random = Random(seed)
    refuted = met = 0
    for _ in range(40):
        variables = [Var.fresh(name, 0, random.choice([2, 4])) for name in "abcd"]
        hypotheses = []
        for number in range(random.randint(3, 9)):
            (u, v), relation = random.sample(variables, 2), random.choice([">=", ">=", ">=", "=="])
            k, c = random.choice([1, 1, 2]), random.randint(-2, 4)
            hypotheses.append(Relation.of(k * u - k * v + c, relation, 0, frozenset((number,))))

        def solvable(chosen, variables=variables):
            points = product(*[range(v.hi + 1) for v in variables])
            return any(all(holds(h, dict(zip(variables, point, strict=True))) for h in chosen) for point in points)

        reasons, values = outcome(hypotheses)
        if reasons is None:
            assert all(holds(h, values) for h in hypotheses), (seed, hypotheses, values)
            assert all(v.lo <= values[v] <= v.hi for v in variables if v in values), (seed, hypotheses, values)
            met += 1
        else:
            assert not solvable([h for h in hypotheses if h.origins & reasons]), (seed, hypotheses)
            refuted += 1
    assert refuted > 5
    assert met > 5


def outcome(hypotheses):
    """(the reasons of a contradiction, None), or (None, values)."""
    try:
        return None, shortest(problem_of(hypotheses, (), Budget(1000)))
    except Refuted as contradicted:
        return contradicted.reasons, None


def holds(h, values) -> bool:
    value = h.left if isinstance(h.left, int) else h.left.evaluate(values)
    return value == 0 if h.kind == "equal" else value >= 0
