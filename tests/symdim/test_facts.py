"""Facts: order, monotonicity, contradictions, origins, and what they simplify."""

from __future__ import annotations

from itertools import pairwise, permutations, product
from random import Random

import pytest

from symdim import Facts, Relation, Var, maximum, minimum, parse, prove, simplify
from tests.symdim.text_cases import Names, prove_text

H, W, N, M, T, P, S = (Var(name) for name in ("H", "W", "N", "M", "T", "P", "S"))

CONTRADICTIONS = [
    ["N >= 5", "N <= 4"],
    ["N == 3", "N % 2 == 0"],
    ["N < M", "M < N"],
    ["N == 2*M", "N == 2*S + 1"],
    ["N % 4 == 1", "N % 6 == 2"],
    ["T == P + S", "P >= T"],
    ["N*M == 0"],
    ["N == M + 1", "M == S + 1", "S == N + 1"],
    ["max(N, M) < N"],
    ["N*N == 2*M + 1", "N == 2*S"],
    ["N//8 >= 3", "N < 24"],
    ["N//2 == 5", "N <= 9"],
    ["N//2 == M", "M == 5", "N >= 12"],
    ["N != N"],
]


@pytest.mark.parametrize("texts", CONTRADICTIONS, ids=" and ".join)
def test_contradictions_are_found_in_every_order(texts):
    for order in permutations(texts):
        facts = Facts([*order, "W >= 2"])
        found = facts.contradiction()
        assert found is not None
        assert {str(fact) for fact in found} <= set(map(str, Facts(texts)))
        assert Facts(str(fact) for fact in found).contradiction() is not None  # the chain is enough by itself


@pytest.mark.parametrize("d", [2, 3, 4])
def test_a_known_quotient_bounds_its_numerator(d):
    facts = Facts([f"N//{d} == 5", f"M//{d} == S"])
    assert prove.at_least(N, 5 * d, facts) is True
    assert prove.holds(N, "<=", 6 * d - 1, facts) is True
    assert prove.at_least(N, 5 * d + 1, facts) is False
    assert prove.holds(M, "<=", d * Var("S") + d - 1, facts) is True


@pytest.mark.parametrize("texts", CONTRADICTIONS, ids=" and ".join)
def test_nothing_follows_from_a_contradiction(texts):
    facts = Facts(texts)
    assert prove.equal(N, N + 1, facts) is not True
    assert prove.holds(N, ">", 10**6, facts) is not True
    assert prove.equal(W, W + M, facts) is None
    assert prove.equal(N, N, facts) is True
    assert simplify(H // 8 * 8, facts) == H // 8 * 8


@pytest.mark.parametrize("texts", CONTRADICTIONS, ids=" and ".join)
def test_there_are_no_examples_of_a_contradiction(texts):
    """Nor counterexamples, whichever variables are asked for; what holds without facts is still proved."""
    facts = Facts(texts)
    for dims in ((N,), (M,), (W,), (N, W), (N + W,)):
        assert prove.example(dims, facts) is None
    assert prove.counterexample(W, "==", H, facts) is None
    assert prove.equal(N // 2 + (N + 1) // 2, N, facts) is True
    assert prove.equal(W // 2 + (W + 1) // 2, W, facts) is True
    assert prove.at_least(N * M, N, facts) is True
    assert prove.at_least(N, N * M, facts) is None


NO_VALUE = [
    (["k == 0"], "H//k"),
    (["k == 0"], "H % k + H//8*8"),
    (["k == m"], "H//(k - m)"),
    (["H < 2"], "W//(H//2)"),
    (["m == 0", "k <= 0"], "H//max(k, m)"),
    (["k == 0"], "W + H//(k//4*4)"),
    (["k*m == 0", "m != 0"], "H//k"),
]


@pytest.mark.parametrize(("texts", "dim"), NO_VALUE, ids=str)
def test_divisors_that_facts_make_0(texts, dim):
    """Such a dimension has no value: it stays as it is, and has no example."""
    names = Names({"k": (None, None), "m": (None, None)})
    facts = Facts()
    for text in texts:
        facts.assume(text, scope=names)
    dim = parse(dim, scope=names)
    assert simplify(dim, facts) is dim
    assert prove.example((dim,), facts) is None
    assert facts.contradiction() is None
    assert prove.explain(dim, "==", 7, facts).answer is not False
    assert prove.explain(dim, "!=", 7, facts).answer is not False


def test_facts_that_divide_by_0_are_contradictions_also_when_they_are_solved_away():
    names = Names(dict.fromkeys("kmu", (None, None)))
    facts = Facts()
    for text in ("u == H//(k - m)", "k == m", "W >= 2"):
        facts.assume(text, {"H": H, "W": W}, scope=names)
    found = facts.contradiction()
    assert found is not None
    assert [str(fact) for fact in found] == ["u == H//(k - m)", "k == m"]
    assert prove.equal(names.var("u"), 3, facts) is None
    assert prove.example((names.var("u"),), facts) is None


@pytest.mark.parametrize(
    "texts", [["N >= 5", "N <= 5"], ["N % 4 == 1", "N % 6 == 1"], ["N < M", "M < S"], ["N != M"], ["N*M == 12"], []]
)
def test_what_can_hold_is_no_contradiction(texts):
    assert Facts(texts).contradiction() is None


def test_origins_are_reported():
    facts = Facts()
    facts.assume(Relation("divides", 8, H), origin="the window of node 3")
    facts.assume(Relation("equal", T, P + S), origin="Concat")
    proof = prove.explain(H // 8 * 8, "==", H, facts)
    assert proof.answer is True
    assert proof.facts == ("H % 8 == 0 (the window of node 3)",)
    assert prove.explain(T, ">", P, facts).facts == ("T == P + S (Concat)",)
    assert prove.explain(W, ">=", 1, facts).facts == ()


@pytest.mark.parametrize(
    ("fact", "relation", "law"),
    [
        ("N*T == M*T", "==", "a product is 0 where a factor is 0, and only there"),
        ("N*T > M*T", ">", "a product is positive as its factors are"),
        ("N*T >= M*T", ">=", "a product is positive as its factors are"),
    ],
)
def test_the_law_tells_why_a_factor_cancels(fact, relation, law):
    proof = prove.explain(N, relation, M, Facts([fact]))
    assert proof.answer is True
    assert [text for text in proof.laws if text.startswith("a product")] == [law]


def test_the_order_of_facts_never_matters():
    texts = ["T == P + S", "P % 8 == 0", "S % 8 == 0", "T <= 4096", "P < S"]
    questions = [
        (T % 8, "==", 0),
        (P, "<=", 2047),
        (P, "<=", 2040),
        (P, "<=", 2039),
        (T // 8, "==", P // 8 + S // 8),
        (T, ">=", 24),
        (T, ">=", 25),
        (S - P, ">=", 8),
    ]
    answers = set()
    for order in permutations(texts):
        facts = Facts(order)
        answers.add(tuple(prove.explain(a, relation, b, facts).answer for a, relation, b in questions))
    assert answers == {(True, True, True, False, True, True, False, True)}


@pytest.mark.parametrize("more", ["W % 2 == 0", "N <= 7*M", "H >= 3", "M != 2", "H == 2*W", "N + M >= 3"])
def test_more_facts_never_cost_an_answer(more):
    known = [
        ([], N // 2 + (N + 1) // 2, "==", N),
        ([], minimum(N, M) + maximum(N, M), "==", N + M),
        (["H % 8 == 0"], H // 8 * 8, "==", H),
        (["T == P + S"], T, ">", P),
        (["N <= M"], N // 3, "<=", M // 3),
        (["N <= M"], maximum(N, M), "==", M),
        ([], N // 2 * 2, "==", N),
        (["N <= M"], N, "==", M),
    ]
    for texts, a, relation, b in known:
        before = prove.explain(a, relation, b, Facts(texts)).answer
        assert before is not None
        assert prove.explain(a, relation, b, Facts([*texts, more])).answer is before, (texts, more, a, relation, b)


def test_simplify():
    facts = Facts(["H % 8 == 0", "N >= 5", "T == P + S", "W == 7", "M <= N"])
    assert simplify(H // 8 * 8, facts) is H
    assert simplify(H % 4, facts) == 0
    assert simplify((H + 7) // 8 * 8, facts) is H
    assert simplify(maximum(N, 4) + 1, facts) is N + 1
    assert simplify(maximum(N, M), facts) is N
    assert simplify(minimum(N, M), facts) is M
    assert simplify(T - P, facts) is S
    assert simplify(T, facts) is T
    assert simplify(W * H, facts) is 7 * H
    assert simplify(H // 16, facts) is H // 16
    assert simplify(N // 6 + M, facts) is N // 6 + M


def test_simplified_dimensions_keep_their_values():
    facts = Facts(["H % 8 == 0", "W % 4 == 0", "W <= H"])
    dims = [H // 8 * 8 + W, (H // 4) * (W // 4) * 16, maximum(H, W) // 8, (H + W) // 4 * 4, (H + 12) // 8 * 4]
    for dim in dims:
        short = simplify(dim, facts)
        for h in range(8, 80, 8):
            for w in range(4, h + 1, 4):
                assert dim.evaluate(H=h, W=w) == short.evaluate(H=h, W=w), (dim, short)


def test_facts_without_a_value_are_a_contradiction():
    names = Names({"k": (0, 3)})
    facts = Facts()
    facts.assume("k == 0", scope=names)
    facts.assume("H//k >= 1", {"H": H}, scope=names)
    found = facts.contradiction()
    assert found is not None
    assert [str(fact) for fact in found] == ["k == 0", "H//k >= 1"]
    assert prove.equal(H, H + names.var("k") + 1, facts) is None


def test_texts():
    names = Names({"x": (None, None)})
    facts = Facts()
    facts.assume("1 <= x < 2*y", scope=names)
    assert len(facts) == 2
    assert [str(fact.normal().left) for fact in facts] == ["x - 1", "2*y - x - 1"]
    with pytest.raises(ValueError, match="no relation"):
        facts.assume("x + 1", scope=names)


def test_upper_bounds_of_variables_are_facts():
    n = Var.fresh("nnz", 0, at_most=N * M)
    assert prove.holds(n, "<=", N * M) is True
    assert prove.holds(n, "<=", N) is False


@pytest.mark.parametrize("m", [2, 3, 4, 6, 8])
def test_numerators_are_rounded_down_where_the_remainder_is_known(m):
    """`(n + r)//(g*d)` by what `n % g` is: equal at every size that the fact allows, and no more than rounded."""
    for s, r, c in product(range(m), range(-5, 8, 3), (2, 4, 6, 12)):
        shorter = simplify((3 * N + r) // c, Facts([f"N % {m} == {s}"]))
        for size in range(s or m, 60, m):
            value = shorter if isinstance(shorter, int) else shorter.evaluate(N=size)
            assert value == (3 * size + r) // c, (shorter, m, s, r, c, size)
    assert simplify((N + m - 1) // m, Facts([f"N % {m} == 0"])) is N // m


def test_an_extremum_that_an_equation_gives():
    n, m = Var("N"), Var("M")
    known, open_ = Facts(["max(N, M) == 5"]), Facts(["max(N, M) <= 5"])
    assert simplify(3 * maximum(n, m) + n, known) == n + 15
    assert simplify(maximum(n, m, 3), known) == 5
    for dim, facts in ((maximum(n, m) + 1, open_), (minimum(n, m) + 1, known)):
        assert simplify(dim, facts) is dim


def test_facts_are_a_sequence():
    facts = Facts(["N >= 3", "M == 2*N"])
    assert [str(facts[0]), str(facts[-1])] == [str(fact) for fact in facts] == ["N >= 3", "M == 2*N"]


def test_a_product_with_an_exact_quotient():
    n, d = Var("N"), Var("D")
    assert simplify(n // d * d, Facts(["N % D == 0"])) == n
    assert simplify(4 * (n // 4) + d, Facts(["N >= D"])) == 4 * (n // 4) + d
    other = Var("P") * (n // d)  # the quotient has another factor than its divisor
    assert simplify(other, Facts(["N % D == 0"])) == other


@pytest.mark.parametrize(("links", "least"), [(40, 1), (24, None)])
def test_a_chain_of_differences(links, least):
    names = [f"x_{i}" for i in range(links + 1)]
    facts = [f"{a} - 1 <= {b} <= {a} + 1" for a, b in pairwise(names)]
    Random(links).shuffle(facts)
    bounds = dict.fromkeys(names, (least, None))
    for a, relation, b, answer in [
        (f"x_0 + {links}", ">=", names[-1], True),
        (f"x_0 + {links}", "<", names[-1], False),
        (f"x_0 + {links - 1}", ">=", names[-1], False),
        ("x_0", "!=", f"{names[-1]} + {links + 1}", True),
    ]:
        assert prove_text(a, relation, b, bounds, facts) is answer, (a, relation, b)


def test_a_ring_contradicts_itself():
    facts = Facts([*[f"x_{i} < x_{(i + 1) % 20}" for i in range(20)], "x_3 < y"])
    found = facts.contradiction()
    assert found is not None
    assert len(found) == 20


def test_the_number_of_facts_is_the_caption() -> None:
    table = Facts(["x >= 3", "y >= x"])._repr_html_()
    assert "<caption>2 facts</caption><tr><th>fact</th><th>origin</th></tr><tr><td>x &gt;= 3</td>" in table


def test_a_product_that_is_0_has_a_factor_that_is_0() -> None:
    """Facts rule out one factor, which may be a sum; what is left of the product is 0."""
    for whole, others in (
        ((N - M) * (S - 2), [N - M]),
        ((N + M - 3) * (S - 2), [N + M - 3]),
        ((N - M) * (S - 2) * (N - S - 1), [M - N, N - S - 1]),
    ):
        facts = Facts()
        facts.assume(Relation("equal", whole, 0))
        assert prove.equal(S, 2, facts) is False
        for other in others:
            facts.assume(Relation.of(other, "!=", 0))
        assert prove.equal(S, 2, facts) is True
