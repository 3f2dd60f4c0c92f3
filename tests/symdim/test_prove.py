"""Questions with three answers: what is proved, what is refuted and by what, and what a budget leaves open."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from symdim import Facts, Var, at_least, ceildiv, equal, maximum, minimum, prove
from symdim.prover import cases
from symdim.prover.axioms import DIVISION
from symdim.prover.budget import Budget
from symdim.prover.elimination import CONGRUENCE, DIFFERENCE, REMAINDER
from symdim.prover.hypotheses import FACTOR, NONZERO
from tests.symdim.fuzz_prover import wrong
from tests.symdim.statements import Statement, statements, violation
from tests.symdim.text_cases import explain_text, prove_text

x, y, z, s = (Var(name) for name in "xyzs")
SEEDS = range(24) if os.environ.get("CI") else range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_statements(seed):
    """No wrong answer, and few statements left open; `fuzz_prover` runs the same for longer."""
    from tests.symdim.text_cases import explain_text

    still_open = 0
    for statement in statements(seed, 100):
        proof = explain_text(*statement)
        assert not wrong(statement, proof, violation(statement, 400)), (seed, statement, proof)
        still_open += proof.answer is None
    assert still_open <= 2


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        # maxima compared part by part
        (
            Statement(
                "max(min(max(x, 3)//2, w) + w, z) + w",
                "<=",
                "max(min(max(x + v, 3)//2, w) + w, z) + w",
                {"v": (0, None)},
            ),
            True,
        ),
        (Statement("max(x, z, min(z, y))*max(x, y)", "<=", "max(x, y, z)*max(x, y, z)", {}), True),
        (Statement("max(y, z)*min(max(z, y), max(x, z))", "<=", "max(x, y, z)*max(x, y, z)", {}), True),
        (Statement("max(0, -(-(min(7, S) - min(T, S))//2))", "<=", "max(7 - T, 0)", {}), True),
        # merged divisions with a divisor that divides one part
        (
            Statement("max(max(4*x*z, z, 5)//z, max(4*y*z, z, 5)//z)", "==", "max(4*z*max(x, y), z, 5)//z - 2", {}),
            False,
        ),
        # residues of a variable that an interval leaves without a value, or a variable without a lower end
        (
            Statement("5*a", "!=", "8*b + 1", {"a": (3, 9), "b": (0, None)}, ("a*a % 12 == 0", "(a + 9) % a <= b//10")),
            True,
        ),
        (Statement("a", "==", "b + 4", {"a": (1, 20)}, ("(b + 6) % 12 == 0", "(9*b + a) % 16 == (8*b + a)//b")), False),
        (
            Statement(
                "a", ">=", "b", {"a": (None, None), "b": (None, None)}, ("(b + 8) % 60 + 5*a % 12 == (2*b - a + 7)//a",)
            ),
            False,
        ),
        (Statement("a", "<=", "3*b + 4", {"b": (1, 20)}, ("9*b % 7 == 3", "b % 12 == 9*b//a")), False),
    ],
)
def test_statements_in_which_a_case_is_impossible_or_a_law_is_rare(statement, expected):
    proof = explain_text(*statement)
    assert proof.answer is expected
    assert not wrong(statement, proof, violation(statement, 400))


def test_only_the_six_relations_are_asked():
    with pytest.raises(ValueError, match="a relation is one of == != >= > <= <, not '=>'"):
        prove.explain(x, "=>", y)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (lambda: equal(x + x, 2 * x), True),
        (lambda: equal(maximum(x, y) + minimum(x, y), x + y), True),
        (lambda: equal(x // y, x), False),
        (lambda: prove.holds(4 * x + 2, "!=", 4 * y), True),
        (lambda: prove.holds(x, "!=", y), False),
        (lambda: at_least(x, x // y), True),
        (lambda: at_least(x // y, x), False),
        (lambda: prove.holds(x + 1, ">", x % y), True),
        (lambda: prove.holds(y, ">", x % y), True),
        (lambda: prove.holds(x % y, "<", y - 1), False),
        (lambda: prove.holds(x // 2 * 2, "<=", x), True),
        (lambda: prove.at_least(ceildiv(x, s), 1), True),
        (lambda: prove.at_least(x // s, 1), False),
        (lambda: prove.at_least(x - x // s * s, 0), True),
        (lambda: prove.divides(6, x * (x + 1) * (2 * x + 1)), True),
        (lambda: prove.divides(y, x * y), True),
        (lambda: prove.divides(4, x * (x + 1)), False),
        (lambda: equal(3, 3), True),
        (lambda: equal(3, 4), False),
        (lambda: prove.divides(3, 12), True),
    ],
)
def test_questions(question, expected):
    assert question() is expected


def test_counterexamples_are_within_bounds_and_facts():
    n = Var.fresh("n", 10, 20)
    found = prove.counterexample(n % 7, "<=", 5, Facts())
    assert found is not None
    assert found[n] in (13, 20)
    facts = Facts(["x >= 1000", "x % 7 == 3"])
    found = prove.counterexample(x, "!=", 2 * y, facts)
    assert found is not None
    assert found[x] >= 1000
    assert found[x] % 7 == 3
    assert found[x] == 2 * found[y]
    assert prove.counterexample(x, "!=", 2 * y, facts, budget=1) is None


def test_far_counterexamples_are_found():
    """The least counterexample is far from every number in the statement."""
    assert prove_text("x//97 + x//89", "!=", "500", {}) is False
    assert prove_text("1000*x + 7", "!=", "13*y", {}) is False
    assert prove_text("x", "<=", "y + 123456789", {}) is False


def test_explanations_name_the_laws():
    proof = prove.explain(x // z + y // z, "<=", (x + y) // z)
    assert proof.answer is True
    assert any("d*(n//d)" in law for law in proof.laws)
    assert proof.counterexample is None
    refuted = prove.explain(x * y, ">=", x + y)
    assert refuted.answer is False
    assert refuted.counterexample is not None
    assert refuted.laws == ()


@pytest.mark.parametrize(
    ("law", "lhs", "relation", "rhs", "fact"),
    [
        (REMAINDER, "H//2*2", "==", "H", "H % 4 == 0"),
        (CONGRUENCE, "(x - y) % 5", "==", "0", "3*x + 2*y == 5*z"),
        (DIFFERENCE, "x*z", "<=", "y*z", "x <= y"),
        (FACTOR, "x", "<=", "y + w", "x*z <= w*z + y*z"),
        (NONZERO, "x", "==", "y + w", "x*z == w*z + y*z"),
    ],
)
def test_a_fact_is_used_by_its_own_law(law, lhs, relation, rhs, fact):
    proof = explain_text(lhs, relation, rhs, {}, (fact,))
    assert (proof.answer, proof.facts) == (True, (fact,))
    assert law in proof.laws
    assert explain_text(lhs, relation, rhs, {}).answer is False


def test_what_refutes_the_cases_is_named():
    """Each case may need laws of its own."""
    assert {cases.MAXIMUM, DIVISION} < {*explain_text("max(H//s, W//s)", "==", "max(H, W)//s", {}).laws}


@pytest.mark.parametrize("budget", [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
def test_any_budget_is_sound(budget):
    true = [(x // 8 // s, "<=", x // s), ((x * y) // (x + y), "<=", minimum(x, y)), (x**3 + y**3, ">=", x * y * y)]
    for a, relation, b in true:
        assert prove.explain(a, relation, b, budget=budget).answer is not False
        assert prove.explain(b, relation, a - 5, budget=budget).answer is not True


def test_divisors_that_may_be_zero():
    """What has no value in some assignment is decided by those in which it has."""
    bounds = {"y": (0, None)}
    assert prove_text("x//y*y", "<=", "x", bounds) is True
    assert prove_text("x//y", "<=", "x", {"y": (None, None), "x": (None, None)}) is False
    assert prove_text("x % y", "<", "y", bounds) is True
    assert prove_text("x % y", ">", "y", {"y": (None, -1)}) is True


def test_counterexamples_give_every_divisor_a_value():
    """Also where a division cancels in the difference of the two sides, or vanished when the text was read."""
    vanished = explain_text("1 + x + x//x", "==", "x//x + x + x", {"x": (0, None)})
    assert vanished.counterexample is not None
    assert 0 not in vanished.counterexample.values()
    d = Var.fresh("d", 0)
    assert prove.counterexample(x // d, "!=", x // d)[d] >= 1
    assert prove_text("x//y", "!=", "x//y", {"y": (0, 0)}) is True  # it never has a value


def test_order_passes_through_quotients_and_extrema():
    f = "(min((max({}, 5) + w + z - 1)//z, 15)//z)//3"
    assert prove_text(f.format("x"), "<=", f.format("(x + v)"), {"v": (0, None)}) is not False
    assert prove_text(f.format("(x + v)"), "<=", f.format("x"), {"v": (0, None)}) is False
    # max(1, 2) <= max(5, 0) does not order the minima
    assert prove_text("min(x, y)", "<=", "min(x + 9, z)", {"z": (0, 9)}) is False
    assert prove_text("min(x, y)//s", "<=", "min(x + 9, z)//s", {"z": (0, 9)}, ["x + y >= 2"]) is False
    assert prove_text("min(x//4, w)//z", "<=", "min(y//4, w)//z", {}, ["x <= y"]) is True


ANY = dict.fromkeys("wxyz", (None, None))
NOT_0 = tuple(f"{name} != 0" for name in "wxyz")


@pytest.mark.parametrize(
    ("lhs", "relation", "rhs", "assume", "expected"),
    [
        ("x*y", "!=", "0", NOT_0, True),
        ("w*x*y*z", "!=", "0", NOT_0, True),
        ("x**3*y**2*z", "!=", "0", NOT_0, True),
        ("-12*x*y**4", "!=", "0", NOT_0, True),
        ("x*y*(x//z)", "!=", "0", (*NOT_0, "x//z != 0"), True),
        ("(x - 3)*(y + 2)", "!=", "0", ("x != 3", "y != -2"), True),
        ("(x - y)*(y + z)*(2*z + 1)", "!=", "0", ("x != y", "y + z != 0"), True),
        ("x*(y + 1) + z*(y + 1)", "!=", "0", ("x + z != 0", "y != -1"), True),
        ("x", "!=", "0", ("x*y != 0",), True),
        ("x", "!=", "0", ("x**3*y != 0",), True),
        ("x", "==", "0", ("x*y == 0", "y != 0"), True),
        ("x", "==", "y", ("x*z == y*z", "z != 0"), True),
        ("x", "==", "y", ("x*z*w == w*y*z", "z*w != 0"), True),
        # without one of the conditions
        ("x*y*z", "!=", "0", ("x != 0", "y != 0"), False),
        ("(x - 3)*(y + 2)", "!=", "0", ("x != 3", "y != 2"), False),
        ("x", "==", "y", ("x*z == y*z",), False),
        ("x + y", "!=", "0", NOT_0, False),
        ("x*y + 1", "!=", "0", NOT_0, False),
        ("x*y", "!=", "4", NOT_0, False),
        ("x*y", ">", "0", NOT_0, False),
        ("x*y", "==", "0", NOT_0, False),
        ("x//y", "!=", "0", NOT_0, False),
    ],
)
def test_products_are_0_only_where_a_factor_is(lhs, relation, rhs, assume, expected):
    """For variables of any sign."""
    assert prove_text(lhs, relation, rhs, ANY, assume) is expected


def test_what_is_not_decided_costs_little():
    """These once took half a minute and a quarter of a second."""
    whole = Budget(10**6)
    assert explain_text("2*((y - x) % 6)", "!=", "x % 3", {}, ["x == y + z", "x*y == z"], whole).answer is None
    # Pell: x = 1766319049
    assert explain_text("x*x", "!=", "61*y*y + 1", {"x": (2, None)}, (), whole).answer is not True
    assert 10**6 - whole.steps < 5 * prove.BUDGET + 10_000


def test_large_and_deep_expressions():
    dim = x
    for _ in range(1200):  # deeper than Python's stack
        dim = maximum(dim // 2 + y, 3)
    assert prove.at_least(dim + 1, dim) is True
    assert prove.explain(dim, "==", dim + x - 1, budget=20).answer in (False, None)
    many = [Var(f"v{i}") for i in range(300)]
    assert prove.at_least(sum(v // 2 for v in many), sum(v // 3 for v in many)) in (True, None)


def test_answers_do_not_depend_on_the_hash_seed():
    script = (
        "from tests.symdim.statements import statements\n"
        "from tests.symdim.text_cases import explain_text\n"
        "print([str(explain_text(*s)) for s in statements(5, 60)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_the_prover_is_loaded_on_demand():
    script = "import sys, symdim; print(any('symdim.' + m in sys.modules for m in ('prove', 'facts', 'linear')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"


def test_z3_agrees():
    """z3 as a second opinion."""
    from tests.symdim.second_opinion import contradicts

    for statement in statements(77, 150):
        assert not contradicts(statement, prove_text(*statement)), statement


@pytest.mark.parametrize("seed", range(4))
def test_the_facts_of_a_proof_suffice(seed):
    """With the facts that a proof names, and no others, no assignment violates the statement."""
    for statement in statements(seed, 100):
        proof = explain_text(*statement)
        if proof.answer is True and len(proof.facts) < len(statement.assume):
            assert violation(statement._replace(assume=proof.facts), 400) is None, (statement, proof)


def test_a_divisor_that_is_never_negative_counts_as_positive():
    signs = [x - 2, x - 1, x]  # from -1, 0 and 1 on
    assert [prove.at_least(v, 0) for v in signs] == [False, True, True]
    assert [prove.at_least(v * v - v, 0) for v in signs] == [True, True, True]


def test_a_text_that_is_no_python_has_no_divisors_to_ask_for():
    assert prove_text("2*`a b`", ">=", "`a b`")
