"""Long sizes, made shorter by the equations that operators demand, and guards that such equations imply."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.engine.substitution import Equations
from onnx_infer.laws.readable import chosen, degree
from symdim import DivisionByZero, Expr, Var, maximum, minimum

from .sessions import all_sizes, check_guards, counting, run, session_of, shape_at
from .test_guards import texts
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'

CACHE = """g (float[P] cache, float[S] x, float[T] table, float[M] mask) => (k, y) <int64[1] end = {1000000000}> {
    start = Shape(cache)
    rows = Slice(table, start, end)
    h = Add(x, rows)
    k = Add(h, mask)
    a = Concat<axis=0>(cache, x)
    b = Concat<axis=0>(cache, k)
    y = MatMul(a, b)
}"""
"""A step of a decoder: the rows of a table behind those of a cache are added, and a product demands that S stays S."""


def test_a_size_is_what_a_later_node_demands() -> None:
    result = infer(parsed(CACHE, HEAD))
    assert [str(result.types[name]) for name in "khb"] == [
        "f32[S]",
        "f32[max(P, T) - min(P, max(P + 1, T) - S)]",
        "f32[P + S]",
    ]


def test_the_sizes_hold_in_every_run_and_the_guards_foretell_the_others() -> None:
    model = parsed(CACHE, HEAD)
    result = infer(model)
    check_guards(model, result, (1, 2, 3))
    session = session_of(model)
    for sizes in all_sizes(result, (1, 2, 4)):
        if not result.check(sizes):
            k, _ = run(session, counting(result, sizes)) or ()
            assert k.shape == shape_at(result, "k", sizes)


@pytest.mark.parametrize("graph", [CACHE, CACHE.replace("MatMul(a, b)", "MatMul(b, a)")])
def test_inferring_again_changes_nothing(graph: str) -> None:
    once = infer_shapes(parsed(graph, HEAD))
    assert infer_shapes(once).SerializeToString() == once.SerializeToString()
    assert texts(infer(once)) == texts(infer(parsed(graph, HEAD)))
    assert infer(once, policy="strict").diagnostics == []


ONE_OF_TWO = """g (float[K, "M + 1"] x, float[M, 1] z, float["M + N", N] w) => (y) <int64 two = {2}> {
    n = Size(w) c = Equal(n, two)
    v = If(c) <then_branch = a () => (p) { p = Identity(z) }, else_branch = b () => (q) { q = Identity(x) }>
    NODES }"""
SCALED = "s = Constant<value_floats=[1.0, 1.0, 1.0, 1.0, 1.0]>() y = InstanceNormalization(v, s, s)"


def test_a_number_in_place_of_a_long_size_is_demanded_again() -> None:
    """An axis of v is M + 1 or 1, which is long to write. The scale demands 5, so the other axis has a shorter size."""
    once = infer_shapes(parsed(ONE_OF_TWO.replace("NODES", SCALED), HEAD), min_dim=0)
    result = infer(once, min_dim=0)
    assert infer_shapes(once, min_dim=0) == once
    assert result.shapes["v"] == result.shapes["y"]
    assert str(result.shapes["v"]).endswith(" + M - 4, 5)")
    assert [guard.kind for guard in result.guards] == ["required"]


def test_a_number_for_a_long_size_that_no_node_demands_is_a_claim() -> None:
    model = parsed(ONE_OF_TWO.replace("NODES", "y = Neg(v)").replace("(y)", "(float[R, 5] y)"), HEAD)
    result = infer(model, min_dim=0)
    assert str(result.shapes["y"]).endswith(", 5)")
    assert [guard.kind for guard in result.guards] == ["declared"]


LONG = "max(A, B) + max(C, D) + max(E, F) + max(G, H)"
ADDS = """p = Add(a, b) q = Add(c, d) t = Add(e, f) u = Add(g, h) s = Concat<axis=0>(p, q, t, u)"""


def of_long_size(nodes: str, more: str = "") -> str:
    """A graph in which `s` has a long size, `k` has the size K, and these nodes follow."""
    given = ", ".join(f"float[{name.upper()}] {name}" for name in "abcdefghk")
    return f"m ({given}{more}) => (y) {{ {ADDS} {nodes} }}"


@pytest.mark.parametrize(
    ("nodes", "more", "expected"),
    [
        ("y = MatMul(s, k)", "", "K"),
        ("v = Concat<axis=0>(k, k) w = Concat<axis=0>(s, s) y = MatMul(v, w)", "", "K"),
        # what is no equation in every run
        ("y = Add(s, k)", "", LONG),
        ("y = If(x) <then_branch = t () => (r) { r = MatMul(s, k) }, else_branch = o () => (z) { z = ReduceSum(k) }>",
         ", bool x", LONG),
        ("y = Loop(n, x) <body = l (int64 i, bool go) => (stay, r) { stay = Identity(go) r = MatMul(s, k) }>",
         ", int64 n, bool x", LONG),
        # an equation only if no row is left: a Concat skips an empty tensor
        ("""two = Constant<value_ints=[2]>() end = Constant<value_ints=[1000000000]>() zero = Constant<value_ints=[0]>()
            one = Constant<value_ints=[1]>() v = Slice(k, two, end) w = Unsqueeze(v, one) z = Unsqueeze(s, zero)
            x = MatMul(w, z) n = Unsqueeze(k, zero) y = Concat<axis=0>(x, n)""", "", LONG),
        # an equation with a data-dependent size
        ("n = NonZero(k) v = Squeeze(n) w = Cast<to=1>(v) z = Concat<axis=0>(w, w) y = MatMul(s, z)", "", LONG),
    ],
)  # fmt: skip
def test_only_equations_that_every_run_needs_count(nodes: str, more: str, expected: str) -> None:
    result = infer(parsed(of_long_size(nodes, more), HEAD))
    assert not result.diagnostics
    assert str(result.types["s"]) == f"f32[{expected}]"


@pytest.mark.parametrize(
    ("inputs", "nodes", "expected"),
    [
        # a choice, and clamps that bounds decide
        ("float[N] a, float[M] b, float[K] c", "s = Add(a, b) y = MatMul(s, c)", "K"),
        ("float[N] a, int64[1] n", "s = Slice(a, most, end) t = Slice(a, zero, most) u = Reshape(t, most)", "N - 240"),
        (
            "float[1, 1, N] a, float[1, 1, 300] w",
            "t = Conv(a, w) u = Reshape(a, all) s = Slice(u, most, end)",
            "N - 240",
        ),
        # a size without clamps, a bound that nothing demands, and one from an equation with a number
        ("float[N] a, float[240] b", "s = Slice(a, zero, most) y = MatMul(s, b)", "min(N, 240)"),
        ("float[N] a, float[K] c", "s = Slice(a, zero, end, zero, two) y = MatMul(s, c)", "(N + 1)//2"),
        ("float[N] a", "s = Slice(a, zero, most)", "min(N, 240)"),
    ],
)
def test_short_sizes_are_written_anew_if_they_have_clamps(inputs: str, nodes: str, expected: str) -> None:
    values = {"zero": 0, "two": 2, "most": 240, "end": 1_000_000_000, "all": -1}
    ends = "<" + ", ".join(f"int64[1] {name} = {{{value}}}" for name, value in values.items()) + ">"
    model = parsed(f"g ({inputs}) => (s) {ends} {{ {nodes} }}", HEAD)
    result = infer(model)
    assert not result.diagnostics
    assert str(result.types["s"]) == f"f32[{expected}]"
    once = infer_shapes(model)
    assert [str(guard) for guard in infer(once).guards] == [str(guard) for guard in result.guards]
    assert infer_shapes(once).SerializeToString() == once.SerializeToString()


def test_a_guard_that_an_equation_implies_is_left_out() -> None:
    graph = """g (float[N] a, float[M] b, float[K] c, float[L] d) => (y, z, r) <int64[2] halves = {2, -1}> {
        s = Add(a, b)
        y = MatMul(s, c)
        t = Concat<axis=0>(s, s, d)
        u = Concat<axis=0>(c, c, d)
        z = MatMul(t, u)
        v = Concat<axis=0>(c, s)
        r = Reshape(v, halves)
    }"""
    model = parsed(graph, HEAD)
    result = infer(model)
    assert texts(result) == ["Add s: N == M or 1 in (N, M)", "MatMul y: max(M, N) == K"]
    check_guards(model, result, (1, 2, 3))


def test_of_two_guards_that_imply_each_other_one_stays() -> None:
    graph = """g (float[N] a, float[M] b, float[K] c, float[L] d) => (y, z) {
        s = Add(a, b)
        t = Concat<axis=0>(s, d) u = Concat<axis=0>(c, d, d)
        y = MatMul(t, u)
        v = Concat<axis=0>(s, d, d) w = Concat<axis=0>(c, d, d, d)
        z = MatMul(v, w)
    }"""
    model = parsed(graph, HEAD)
    result = infer(model)
    assert texts(result) == ["Add s: N == M or 1 in (N, M)", "MatMul y: max(M, N) == K + L"]
    check_guards(model, result, (1, 2, 3))


def value(dim: int | Expr, at: dict[Var, int]) -> int | None:
    """The value of a dimension; None if it divides by 0."""
    try:
        found = dim if isinstance(dim, int) else dim.evaluate(at)
    except DivisionByZero:
        return None
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_what_equations_replace_is_equal_wherever_they_hold(seed: int) -> None:
    random = Random(seed)
    variables = [Var.fresh(name, random.choice([0, 1, 2])) for name in "NMK"]

    def tree(leaves: int) -> int | Expr:
        if leaves == 1:
            return random.choice([*variables, *variables, random.randint(-3, 6)])
        a, b = tree(leaves // 2), tree(leaves - leaves // 2)
        makers = [lambda: a + b, lambda: a - b, lambda: a * b, lambda: minimum(a, b), lambda: maximum(a, b)]
        return random.choice([*makers, lambda: a // (1 if b == 0 else b)])()

    replaced = 0
    for _ in range(60):
        equations = [(tree(random.randint(2, 5)), tree(random.randint(1, 3))) for _ in range(random.randint(1, 3))]
        known = Equations()
        for lhs, rhs in equations:
            known.add(lhs, rhs)
        sides = [side for equation in equations for side in equation]
        dims = [tree(4) + random.choice(sides), maximum(random.choice(sides), tree(3)), *sides]
        pairs = [(dim, new) for dim in dims if (new := known.rewritten(dim)) is not dim]
        replaced += len(pairs)
        for sizes in product(range(6), repeat=3):
            at = dict(zip(variables, sizes, strict=True))
            if any(size < (v.lo or 0) for v, size in at.items()):
                continue
            if any(value(lhs, at) is None or value(lhs, at) != value(rhs, at) for lhs, rhs in equations):
                continue
            for dim, new in pairs:
                assert value(dim, at) in (None, value(new, at)), (equations, dim, new, at)
    assert replaced > 20


def test_a_sum_is_rewritten_by_a_multiple_of_an_equation() -> None:
    N, M, K = Var("N"), Var("M"), Var("K")
    known = Equations()
    known.add(6 * maximum(N, M) - 6 * K, 12)
    assert known.rewritten(maximum(N, M) * maximum(N, M) - 3) == (K + 2) * (K + 2) - 3
    known.add(2 * (N // 3), K)  # no integer factor can be taken out
    assert known.rewritten(N // 3) == N // 3
    assert known.rewritten(maximum(4 * (N // 3) * M, 7) + 3 * (N // 3)) == maximum(2 * K * M, 7) + 3 * (N // 3)
    known.add(K, N)  # two symbols stay two
    assert known.rewritten(K + maximum(N, M)) == 2 * K + 2


def test_of_two_sizes_that_are_1_together_the_shorter_one_is_chosen() -> None:
    H, W = Var("H"), Var("W")
    short, long = H // 2 * W, H // 2 * (minimum(H, 9) // 2) * W
    assert chosen(short, long) == chosen(long, short) == short


def test_a_divisor_that_becomes_0_leaves_the_size() -> None:
    N, M, K = Var("N"), Var("M"), Var("K")
    known = Equations()
    known.add(maximum(N, M) - 1, 0)
    size = K // (maximum(N, M) - 1)
    assert known.rewritten(size) is size


def test_an_input_keeps_the_size_that_the_model_writes() -> None:
    """A run that breaks a guard has inputs of this size, too: then the guard is what fails, not the shape."""
    for nodes, guards in (("y = Sub(x, k)", ["M <= 3"]), ("y = Conv(x, w)", ["M >= 5"])):
        graph = f'g (float[1, 1, "max(M, 3)"] x, float[3] k, float[1, 1, 5] w) => (y) {{ {nodes} }}'
        result = infer(parsed(graph, HEAD))
        assert str(result.types["x"]) == "f32[1, 1, max(M, 3)]"
        assert [str(guard) for guard in result.guards] == guards
        assert [str(violation) for violation in result.check({"M": 4})]


def test_powers_that_nest_in_quotients_become_fresh_sizes() -> None:
    """Each step squares: after 40 steps a size of 2 would have a trillion bits, in an expression of one name."""
    steps = " ".join(f"m{i} = Mul (v{i}, v{i}) v{i + 1} = Div (m{i}, c)" for i in range(40))
    model = parsed(f"g (float[N] x) => (y) <int64[1] c = {{3}}> {{ v0 = Shape (x) {steps} y = ConstantOfShape (v40) }}")
    result = infer(model)
    found = [x for v in result.types.values() for x in (*(v.shape or ()), *(v.data or ())) if isinstance(x, Expr)]
    assert max(map(degree, found)) == 32


def test_a_shorter_size_is_known_in_the_body_of_a_function() -> None:
    """The second axis of x in the body of F has the name N, because both calls give it this size."""
    model = parsed(
        """g (float[2, "max(N, 3)"] x, float[K, N] z) => (y, a, b) { y = Concat<axis=0>(x, z) a = local.F(x)
            b = local.F(z) } <domain: "local", opset_import: ["": 18]> F (x) => (y) { y = Neg(x) }""",
        '<ir_version: 10, opset_import: ["": 18, "local": 1]>',
    )
    once = infer_shapes(model)
    assert [str(infer(m).types["a"]) for m in (model, once)] == ["f32[2, N]"] * 2
    assert infer_shapes(once) == once


@pytest.mark.parametrize("name", ["K", "z", "a_name_of_many_letters"])
def test_the_name_of_a_symbol_does_not_decide_which_size_is_replaced(name: str) -> None:
    """No iteration gives the stack `t` its sizes. Add demands that both maxima are equal, since neither is 1."""
    text = f"""g (float["max({name}, 3)"] x) => (t, y) {{
        none = Constant<value_int=0>() go = Constant<value=bool {{1}}>()
        s, t = Loop(none, go, x) <body = b (int64 i, bool g0, float[M] v) => (bool g1, float[M] w, float[L] u) {{
            g1 = Identity(g0) w = Neg(v) u = Identity(x) }}> y = Add(x, t) }}"""
    result = infer(parsed(text))
    assert [str(result.types[value]) for value in "ty"] == [f"f32[0, max({name}, 3)]"] * 2


@pytest.mark.parametrize("names", ["NM", "MN"])
def test_names_do_not_decide_which_part_an_equation_replaces(names: str) -> None:
    n, m = (Var.fresh(name, 0) for name in names)
    known = Equations()
    known.add(2 * m * minimum(n, 1), n * minimum(n, 1))
    assert known.rewritten(n * minimum(n, 1) + 1) == 2 * m * minimum(n, 1) + 1


@pytest.mark.parametrize("names", ["NM", "MN"])
def test_an_equation_replaces_a_maximum_and_no_quotient_that_is_equally_large(names: str) -> None:
    n, m = (Var.fresh(name, 0) for name in names)
    known = Equations()
    known.add((n + 1) // 2, maximum(m, 3))
    assert known.rewritten((maximum(m, 3) + 2) // 3) == (n + 5) // 6
    known.add(maximum(n, 4), maximum(m, 2))
    assert known.rewritten(maximum(n, 4)) == maximum(m, 2)
