"""What questions may cost: steps count words of arithmetic, coefficients stay small, `simplify` has one budget."""

from __future__ import annotations

from itertools import product

import pytest

from symdim import Expr, Facts, Var, maximum, prove, simplify, total
from symdim.algebra.polynomials import terms_of
from symdim.prover import simplification
from symdim.prover.budget import Budget, OutOfBudget, TooLarge, words_in, words_of
from symdim.prover.elimination import positive_divisors, solved
from symdim.prover.hypotheses import Refuted, problem_of
from symdim.prover.linear import System
from symdim.prover.witness import translated
from symdim.relations.relation import Relation
from tests.symdim.congruent_statements import congruent_statements
from tests.symdim.fuzz_prover import wrong
from tests.symdim.statements import violation
from tests.symdim.text_cases import Names, explain_text

x, y, z = (Var(name) for name in "xyz")
WHOLE = 10**6
POINTS = 3 * 1000  # tried for examples of one question, in steps
SEEN = "a", "==", "2*b", {}, ("(5*a) % 8 == b % 8 + a//b",)


def largest(dims) -> int:
    """The bits of the largest number in some sums."""
    return max(max(abs(k) for k in (*terms_of(dim)[0].values(), terms_of(dim)[1])).bit_length() for dim in dims)


def test_congruences_end_and_keep_coefficients_small():
    """Each round once squared the largest coefficient, up to 538,441 bits."""
    names, facts = Names({}), Facts()
    facts.assume(SEEN[4][0], scope=names)
    a, b = names.var("a"), names.var("b")
    goal = Relation("unequal", a - 2 * b, 0, frozenset())
    reduced = solved(problem_of([goal, *facts.relevant(a, b)], (a, b), Budget(3000)))
    assert largest(h.left for h in reduced.hypotheses) <= 16
    assert explain_text(*SEEN).answer is False


@pytest.mark.parametrize("seed", range(2))
def test_remainders_and_a_quotient(seed):
    """`fuzz_prover --congruent` runs the same for longer."""
    for statement in congruent_statements(seed, 20):
        whole = Budget(WHOLE)
        proof = explain_text(*statement, within=whole)
        assert not wrong(statement, proof, violation(statement, 100)), (seed, statement, proof)
        assert WHOLE - whole.steps <= 2 * (prove.BUDGET + POINTS), (seed, statement)


def test_large_numbers_are_paid():
    """A replacement that multiplies large numbers costs their words, and is refused where it makes larger ones."""
    hypothesis = Relation("equal", 3**5000 * x + 5**5000 * y, 0, frozenset())
    budget = Budget(WHOLE)
    problem = problem_of([hypothesis], (), budget)
    before = budget.steps
    problem.replace({x: 2 * z + 1}, frozenset())
    assert before - budget.steps > 5
    with pytest.raises(TooLarge):
        problem.replace({x: 3**12000 * z + 1}, frozenset())
    small = problem_of([Relation("equal", x + 2 * y, 0, frozenset())], (), Budget(WHOLE))
    with pytest.raises(TooLarge):
        small.replace({x: 2**300 * z}, frozenset())


@pytest.mark.parametrize(("bits", "words"), [(63, 1), (64, 2), (127, 2), (128, 3)])
def test_words_have_64_bits(bits, words):
    number = 2 ** (bits - 1)
    assert words_in([number]) == words
    assert words_of(x + number) == words_of(x - number) == words + 1


def test_powers_of_sums_are_paid_before_they_are_made():
    """Each is multiplied out until it has too many terms."""
    powers = (x + y) ** 600 * (x + 2 * y) ** 600 * (x + 3 * y) ** 600
    problem = problem_of([Relation("at_least", powers - z, 0, frozenset())], (), Budget(prove.BUDGET))
    with pytest.raises(OutOfBudget):
        problem.replace({x: z + 1, y: x + z}, frozenset())
    assert prove.explain((x + y) ** 600, ">=", y**600 + z).answer is None


def test_a_pivot_costs_the_rows_it_goes_through():
    """The search for a violated row reads all of them, however few are changed."""
    system = System()
    variables = [system.variable(0, 9) for _ in range(60)]
    for i in range(60):
        system.sum({v: 1 + (i * v) % 7 for v in variables}, 0, 3000)
    system.sum(dict.fromkeys(variables, 1), 1, None)
    budget = Budget(WHOLE)
    assert system.check(budget) is None
    assert WHOLE - budget.steps >= 60 * 60 // 64


def test_products_are_paid():
    """Products of long sums are made for one question only as far as its budget goes."""
    many = [Var(f"v{i}") for i in range(60)]
    a, b = total(many), total(v * v for v in many)
    whole = Budget(WHOLE)
    assert prove.explain(a * a, "<=", 60 * b + x * y // z, within=whole).answer is not False
    assert WHOLE - whole.steps <= 3 * (prove.BUDGET + POINTS)


def hard():
    """A dimension with many parts to prove something about, under facts that make each proof dear."""
    facts = Facts(["(5*x) % 8 == y % 8 + x//y", "x*y % 7 == 3"])
    parts = [maximum(x // k + y, y // (k + 1) + z, z // (k + 2) + x * z) // (k + 1) for k in range(2, 6)]
    return total([*parts, (x // y) % 8, maximum(x, 2 * y), (5 * x) % 8]), facts


@pytest.mark.parametrize("size", [x, y, x + 1, y + 1])
def test_simplify_keeps_a_size_beside_an_equally_long_one(size):
    assert simplify(size, Facts(["x == y"])) is size


def test_simplify_has_one_budget(monkeypatch):
    """All its questions once cost 46 seconds."""
    made: list[Budget] = []

    def recorded(steps, within=None):
        made.append(Budget(steps, within))
        return made[-1]

    monkeypatch.setattr(simplification, "Budget", recorded)
    dim, facts = hard()
    simplify(dim, facts)
    assert all(budget in made[:2] or budget.within is made[0] for budget in made)
    assert made[0].steps > -prove.BUDGET


@pytest.mark.parametrize("steps", [0, 10, 100, 1000])
def test_what_simplify_does_not_reach_stays(monkeypatch, steps):
    dim, facts = hard()
    monkeypatch.setattr(simplification, "_BUDGET", steps)
    short = simplify(dim, facts)
    assert short is dim or steps
    tried = 0
    for a, b, c in product(range(1, 60), range(1, 12), (1, 5)):
        if (5 * a) % 8 == b % 8 + a // b and a * b % 7 == 3:
            tried += 1
            assert isinstance(short, Expr)
            assert short.evaluate(x=a, y=b, z=c) == dim.evaluate(x=a, y=b, z=c)
    assert tried > 3


def test_chains_of_facts_are_found_in_linear_work():
    """Facts that hang together one by one were looked through once for each of them."""
    facts = Facts([f"n{i} <= n{i + 1}" for i in range(400)] + [f"m{i} >= 3" for i in range(400)])
    assert len(facts.relevant(Var("n7"))) == 400
    assert len(facts.relevant(Var("m7"), Var("n0"))) == 401
    assert facts.relevant(Var("k7")) == []
    facts.assume("m7 <= n3")
    assert len(facts.relevant(Var("m7"))) == 402


ZERO = x * x // 2 * 2 - x * x + x % 2

QUESTIONS = [
    (prove.equal, (ZERO, 0), (ZERO, 1)),
    (prove.at_least, (ZERO, 0), (ZERO, 1)),
    (prove.holds, (ZERO, "<", 1), (ZERO, "<", 0)),
    (prove.divides, (3, x * (x + 1) * (x + 2)), (3, x * (x + 1))),
]


@pytest.mark.parametrize(("question", "yes", "no"), QUESTIONS, ids=[question[0].__name__ for question in QUESTIONS])
def test_every_question_takes_its_steps_from_the_budget(question, yes, no):
    assert question(*yes) is True
    assert question(*no) is False
    assert question(*yes, budget=0) is None


def test_multiplying_out_takes_its_steps_before():
    with pytest.raises(OutOfBudget):
        Budget(1).expand({total(Var(f"d{i}") for i in range(20)): 50})
    Budget(1).expand({x: 10**9})


def test_a_case_that_divides_by_0_is_impossible():
    divisor = Var.fresh("divisor", 0)
    problem = problem_of([Relation("equal", x // divisor - 3, 0, frozenset())], (x,), Budget(1000))
    impossible = problem.case({divisor: 0}, frozenset(("case",)))
    with pytest.raises(Refuted):
        impossible.checked()


def test_no_example_divides_by_0():
    divisor = Var.fresh("divisor", 0)
    problem = problem_of([], (x, divisor), Budget(1000))
    reduced = problem.replace({x: y // divisor}, frozenset())
    assert translated(problem, reduced, {y: 6, divisor: 3}) == {x: 2, divisor: 3}
    assert translated(problem, reduced, {y: 6, divisor: 0}) is None


def test_a_divisor_that_is_0_refutes():
    zero = Var.fresh("zero", 0, 0)
    problem = problem_of([], (x,), Budget(1000)).extended(Relation("at_least", x // zero - y, 0, frozenset(("given",))))
    with pytest.raises(Refuted):
        positive_divisors(problem)


def test_a_divisor_is_at_least_1():
    few = Var.fresh("few", 0, 9)
    problem = problem_of([], (x,), Budget(1000)).extended(Relation("at_least", x // few - y, 0, frozenset(("given",))))
    (hypothesis,) = positive_divisors(problem).hypotheses
    (divisor,) = [v for v in hypothesis.left.variables() if v.name.startswith("few")]
    assert divisor.bounds() == (1, 9)


def test_equations_with_long_numbers_stay_as_they_are():
    long = 10**40 + 1
    given = [Relation("equal", x - long * y, 0, frozenset()), Relation("equal", y - long * z, 0, frozenset())]
    problem = problem_of([*given, Relation("at_least", x - 3, 0, frozenset())], (x,), Budget(10_000))
    problem.budget.bits = 64
    assert len(solved(problem).hypotheses) == 3


@pytest.mark.parametrize(("bits", "allowed"), [(10, 256), (200, 400), (301, 602)])
def test_a_replacement_may_double_the_bits_of_the_question(bits, allowed):
    x = Var("x")
    budget = Budget(10**6)
    budget.admit([2 ** (bits - 1) * x + 1, x])
    budget.replace([2 ** (allowed - 1) * x])
    with pytest.raises(TooLarge):
        budget.replace([2**allowed * x])
