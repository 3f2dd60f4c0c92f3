"""How the work grows with bodies in bodies, calls in calls and rounds of constraints: counted in calls of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_infer import SymTensor, infer
from tests.counting import calls_of

from .texts import messages, parsed

if TYPE_CHECKING:
    from onnx import ModelProto


def work(model: ModelProto, is_bidirectional: bool = False) -> int:
    """The calls of an inference."""
    return calls_of(lambda: infer(model, bidirectional=is_bidirectional))


# -- functions --------------------------------------------------------------------------------------------------------


def calls_twice(depth: int, first: str, between: str, innermost: str) -> ModelProto:
    """Functions of which each calls the one below twice, the second time with what is computed `between`."""
    bodies = [f"F0 (x) => (y) {{ y = {innermost} }}"]
    for i in range(1, depth + 1):
        bodies.append(f"F{i} (x) => (y) {{ a = f.F{i - 1}(x) {between} y = f.F{i - 1}(b) }}")
    functions = "\n".join(f'<domain: "f", opset_import: ["": 18, "f": 1]> {body}' for body in bodies)
    text = f"g (float[N] n) => (y) {{ {first} y = f.F{depth}(x) }}\n{functions}"
    return parsed(text, '<ir_version: 10, opset_import: ["": 18, "f": 1]>')


@pytest.mark.parametrize(
    ("first", "between", "innermost", "known", "coarse"),
    [
        ("x = Identity(n)", "p = Constant<value_ints=[0, 1]>() b = Pad(a, p)", "Neg(x)", "f32[N + {steps}]",
         "f32[...]"),
        ("x = Identity(n)", "p = Constant<value_ints=[0]>() b = Unsqueeze(a, p)", "Neg(x)", "f32[{ones}N]", "f32[...]"),
        ("x = Constant<value_ints=[3]>()", "p = Constant<value_ints=[1]>() b = Add(a, p)", "Identity(x)",
         "i64[1]={{{sum}}}", "i64[...]"),
    ],
)  # fmt: skip
def test_calls_with_new_sizes_ranks_or_elements(
    first: str, between: str, innermost: str, known: str, coarse: str
) -> None:
    """Few calls are inferred one by one. Where they are many, less is known."""
    for depth, expected in ((5, known), (14, coarse)):
        steps = 2**depth - 1
        result = infer(calls_twice(depth, first, between, innermost))
        assert str(result.types["y"]) == expected.format(steps=steps, ones="1, " * steps, sum=3 + steps)


def test_the_work_of_coarse_calls_does_not_double() -> None:
    def model(depth: int) -> ModelProto:
        return calls_twice(depth, "x = Identity(n)", "b = Concat<axis=0>(a, a)", "Neg(x)")

    assert work(model(14)) < 20 * work(model(8))


# -- bodies -----------------------------------------------------------------------------------------------------------


def nested_branches(depth: int) -> ModelProto:
    text = "o0 = Concat<axis=0>(x, x)"
    for i in range(1, depth):
        text = f"""o{i} = If(c) <then_branch = a{i} () => (o{i - 1}) {{ {text} }},
            else_branch = b{i} () => (e{i}) {{ e{i} = Neg(x) }}>"""
    return parsed(f"g (float[N, 2] x, bool c) => (o{depth - 1}) {{ {text} }}")


def growing_loops(depth: int) -> ModelProto:
    text = "o0 = Concat<axis=0>(x, x)"
    for i in range(1, depth):
        text = f"""o{i} = Loop(m, c, x) <body = a{i} (int64 i{i}, bool c{i}, float[u, v] l{i}) => (d{i}, k{i})
            {{ d{i} = Identity(c{i}) {text} k{i} = Concat<axis=0>(l{i}, o{i - 1}, l{i}) }}>"""
    return parsed(f"g (float[N, 2] x, bool c, int64 m) => (o{depth - 1}) {{ {text} }}")


def nested_loops(depth: int, trips: str) -> ModelProto:
    body = "w = Concat<axis=0>(v, v)"
    for i in range(depth):
        loop = f"""Loop(m, c, {"x" if i == depth - 1 else "v"}) <body = b{i} (int64 i, bool go, float[?] v) => (on, w)
            {{ on = Identity(go) {body} }}>"""
        body = f"w = {loop}"
    constants = f"<int64 m = {{{trips}}}, bool c = {{1}}>" if trips else ""
    inputs = "float[N] x" if trips else "float[N] x, int64 m, bool c"
    return parsed(f"g ({inputs}) => (w) {constants} {{ {body} }}")


def nested_scans(depth: int, inner: str) -> ModelProto:
    """Scans that run once: the state has another shape after the turn."""
    body = f"w = {inner}"
    for i in range(depth):
        state = "x" if i == depth - 1 else "v"
        body = f"""w, t{i} = Scan<num_scan_inputs=1, body=b{i} (float[] v, float s{i}) => (w, u{i})
            {{ u{i} = Neg(s{i}) {body} }}>({state}, k)"""
    return parsed(f"g (float[N] x, float[T] k) => (w) {{ s = Constant<value_ints=[1, -1]>() {body} }}")


def test_work_does_not_multiply_with_the_depth_of_branches() -> None:
    assert work(nested_branches(20)) < 2.5 * work(nested_branches(10))


def test_work_grows_with_a_power_of_the_depth_of_loops() -> None:
    assert work(growing_loops(8)) < 10 * work(growing_loops(4))


@pytest.mark.parametrize("trips", ["", "2"])
def test_nested_loops(trips: str) -> None:
    """The rank is kept at any depth."""
    for depth in (2, 8):
        value = infer(nested_loops(depth, trips)).types["w"]
        assert isinstance(value, SymTensor)
        assert len(value.shape or ()) == 1
    assert work(nested_loops(8, trips)) < 10 * work(nested_loops(4, trips))


@pytest.mark.parametrize(("inner", "expected"), [("Concat<axis=0>(v, v)", "f32[2*N]"), ("Reshape(v, s)", "f32[1, N]")])
def test_nested_scans_that_run_once(inner: str, expected: str) -> None:
    for depth in (2, 5, 10):
        result = infer(nested_scans(depth, inner))
        assert str(result.types["w"]) == expected
        assert "T == 1" in {str(guard) for guard in result.guards}
    assert work(nested_scans(10, inner)) < 10 * work(nested_scans(5, inner))


def test_the_work_of_a_body_follows_its_nodes() -> None:
    def loop(count: int) -> ModelProto:
        nodes = " ".join(f"n{i + 1} = Add(n{i}, x)" for i in range(count))
        return parsed(f"""g (float[N, 2] x, int64 m, bool yes) => (y) {{
            y = Loop(m, yes, x) <body = b (int64 i, bool ci, float[u, v] n0) => (co, o) {{
                co = Identity(ci) {nodes} o = Concat<axis=0>(n{count}, x) }}> }}""")

    assert work(loop(200)) < 2.5 * work(loop(100))


def test_the_start_of_an_inner_loop_keeps_distances() -> None:
    """An inner Loop starts with what it gave in the former iteration: sizes that are 2 apart stay 2 apart."""
    result = infer(
        parsed(
            """g (float[N] a, float[K, L] x, int64 T) => (y, z) {
            two = Constant<value_floats=[1., 2.]>() c = Concat<axis=0>(a, two) yes = Constant<value=bool {1}>()
            zero = Constant<value_int=0>()
            y, z = Loop(T, yes, a, c) <body = o (int64 i, bool go, float[A] p, float[B] q) => (bool on, p1, q1) {
                on = Identity(go)
                p1, q1 = Loop(T, yes, p, q) <body = n (int64 j, bool ho, float[C] r, float[D] s) => (bool oo, r1, s1) {
                    oo = Identity(ho) w = NonZero(x) f = Cast<to=1>(w) more = Gather<axis=0>(f, zero)
                    r1 = Concat<axis=0>(r, more) s1 = Concat<axis=0>(s, more) }> }> }"""
        )
    )
    y, z = result.types["y"], result.types["z"]
    assert isinstance(y, SymTensor)
    assert isinstance(z, SymTensor)
    assert z.dims == (y.dims[0] + 2,)


# -- both directions --------------------------------------------------------------------------------------------------


def contradictory(count: int) -> ModelProto:
    """For each input, of unknown rank, a size would have to be 5 and 7."""
    nodes = [f"a{i} = Gemm(x{i}, five) b{i} = Gemm(x{i}, seven)" for i in range(count)]
    inputs = ", ".join(f"x{i}" for i in range(count))
    return parsed(f"g ({inputs}, float[5, 2] five, float[7, 2] seven) => (a0) {{ {' '.join(nodes)} }}")


def test_many_contradictions_cost_what_few_do() -> None:
    told = messages(infer(contradictory(20), bidirectional=True))
    assert any("5 != 7" in text or "7 != 5" in text for text in told)
    assert work(contradictory(24), True) < 2.7 * work(contradictory(12), True)


def test_of_symbols_that_broadcast_in_a_chain_few_are_joined() -> None:
    def pairs(count: int) -> ModelProto:
        inputs = ", ".join(f"float[N{i}] x{i}, float[M{i}] y{i}" for i in range(count))
        nodes = " ".join(f"z{i} = Add(x{i}, y{i})" for i in range(count))
        return parsed(f"g ({inputs}) => (z{count - 1}) {{ {nodes} }}")

    assert work(pairs(100), True) < 2.5 * work(pairs(50), True)
