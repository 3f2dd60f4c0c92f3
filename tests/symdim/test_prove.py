"""Questions with three answers: what is proved, what is refuted and by what, and what a budget leaves open."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from symdim import Facts, Var, maximum, minimum, parse, prove, simplify
from symdim.prover import cases
from symdim.prover.axioms import DIVISION
from symdim.prover.budget import Budget
from symdim.prover.elimination import DIFFERENCE, REMAINDER
from symdim.prover.hypotheses import FACTOR, NONZERO
from tests.nightly import HASH_SEEDS, is_nightly
from tests.stack import short_stack
from tests.symdim.fuzz_prover import wrong
from tests.symdim.statements import statements, violation
from tests.symdim.text_cases import explain_text, prove_text

x, y, z, s = (Var(name) for name in "xyzs")
SEEDS = range(24 if is_nightly else 4)


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


def test_only_the_six_relations_are_asked():
    with pytest.raises(ValueError, match="a relation is one of == != >= > <= <, not '=>'"):
        prove.explain(x, "=>", y)


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


def test_counterexamples_give_every_divisor_a_value():
    """Also where a division cancels in the difference of the two sides, or vanished when the text was read."""
    vanished = explain_text("1 + x + x//x", "==", "x//x + x + x", {"x": (0, None)})
    assert vanished.counterexample is not None
    assert 0 not in vanished.counterexample.values()
    d = Var.fresh("d", 0)
    assert prove.counterexample(x // d, "!=", x // d)[d] >= 1
    assert prove_text("x//y", "!=", "x//y", {"y": (0, 0)}) is True  # it never has a value


def test_what_is_not_decided_costs_little():
    """These once took half a minute and a quarter of a second."""
    whole = Budget(10**6)
    assert explain_text("2*((y - x) % 6)", "!=", "x % 3", {}, ["x == y + z", "x*y == z"], whole).answer is None
    # Pell: x = 1766319049
    assert explain_text("x*x", "!=", "61*y*y + 1", {"x": (2, None)}, (), whole).answer is not True
    assert 10**6 - whole.steps < 5 * prove.BUDGET + 10_000


def test_large_and_deep_expressions():
    with short_stack(100):
        dim = x
        for _ in range(150):  # deeper than the stack
            dim = maximum(dim // 2 + y, 3)
        assert prove.at_least(dim + 1, dim) is True
        assert prove.explain(dim, "==", dim + x - 1, budget=20).answer in (False, None)
    many = [Var(f"v{i}") for i in range(150)]
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
        for seed in HASH_SEEDS
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
    assert [prove.at_least(v * v * v - v * v, 0) for v in signs] == [False, True, True]


def test_a_text_that_is_no_python_has_no_divisors_to_ask_for():
    assert prove_text("2*`a b`", ">=", "`a b`")


@pytest.mark.parametrize("relation", ["==", ">=", "<="])
def test_a_division_of_a_product_with_a_minimum_is_built(relation):
    """Its argument and the argument of that lead to each other: the division stays as it is written."""
    q = "83//(2*b - 1)"
    inner = f"(2*b**2*({q}) - b*({q}) - b + 42)//(4*b - 2)"
    text = f"21 - max(b*({q}) - {inner}, 18)"
    b = Var("b")
    size = parse(text, {"b": b})
    simplified = simplify(size, Facts([f"{text} {relation} max(b, 21)//7"]))
    whole = parse(f"(2*b*min(b*({q}), {inner} + 18) - b*({q}) - b + 42)//(4*b - 2)", {"b": b})
    for n in range(1, 60):
        k = 83 // (2 * n - 1)
        part = (2 * n * n * k - n * k - n + 42) // (4 * n - 2)
        assert whole.evaluate(b=n) == (2 * n * min(n * k, part + 18) - n * k - n + 42) // (4 * n - 2)
        assert size.evaluate(b=n) == 21 - max(n * k - part, 18)
    assert simplified is not None
