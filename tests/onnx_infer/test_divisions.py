"""Divisions of sizes: those that a node demands to leave no remainder, and those by a size of 0."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx.parser
import pytest

from onnx_infer import infer, infer_shapes

from .sessions import check_guards, run, session_of
from .test_guards import texts
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'

RESHAPES = {
    "split and merged": ("{0, 0, 2, -1}", "{0, 0, -1}", "f32[a, b, c]"),
    "by 4": ("{0, 0, -1, 4}", "{0, 0, -1}", "f32[a, b, c]"),
    "two axes": ("{0, -1, 6}", "{0, -1}", "f32[a, b*c]"),
}


@pytest.mark.parametrize(("first", "second", "expected"), RESHAPES.values(), ids=RESHAPES)
def test_a_size_is_written_as_its_guard_allows(first: str, second: str, expected: str) -> None:
    ranks = len(first.split(",")), len(second.split(","))
    targets = f"<int64[{ranks[0]}] s = {first}, int64[{ranks[1]}] t = {second}>"
    graph = f"""g (float[a, b, c] x) => (z, q) {targets} {{
        y = Reshape(x, s) z = Reshape(y, t) q = Relu(z) }}"""
    model = parsed(graph, HEAD)
    result = infer(model)
    assert [str(result.types[name]) for name in "zq"] == [expected] * 2
    (guard,) = result.guards
    assert guard.relation == "divides"
    check_guards(model, result, (1, 2, 4, 6))
    once = infer_shapes(model)
    assert infer_shapes(once).SerializeToString() == once.SerializeToString()
    assert texts(infer(once)) == texts(result)


def test_broadcasting_meets_the_merged_size() -> None:
    graph = """g (float[a, c] x) => (q) <int64[3] s = {0, -1, 4}, int64[2] t = {0, -1}> {
        y = Reshape(x, s) z = Reshape(y, t) q = Add(z, x) }"""
    result = infer(parsed(graph, HEAD))
    assert (str(result.types["q"]), [str(guard) for guard in result.guards]) == ("f32[a, c]", ["c % 4 == 0"])


# -- divisors of 0 ----------------------------------------------------------------------------------------------------


BY_ZERO = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, M, K] x) => (float[] y) <
    int64[1] rest = {-1}, int64[1] none = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}
> { s = Shape(x) n = Slice(s, none, one) m = Slice(s, one, two) k = Slice(s, two, three) """

AS_FLOATS = "p = Mul(n, m) a = Cast<to=1>(p) b = Cast<to=1>(m) q = Div(a, b) "

# (the nodes, the sizes of y, the guards)
DIVISORS = [
    ("t = Concat<axis=0>(n, rest) y = Reshape(x, t)", "(N, K*M)", ["N >= 1"]),
    ("t = Concat<axis=0>(rest, m) y = Reshape(x, t)", "(K*N, M)", ["M >= 1"]),
    ("mk = Mul(m, k) t = Concat<axis=0>(rest, mk) y = Reshape(x, t)", "(N, K*M)", ["K >= 1", "M >= 1"]),
    ("t = Concat<axis=0>(rest, m) y = Reshape<allowzero=1>(x, t)", "(K*N, M)", ["M >= 1"]),
    (AS_FLOATS + "f = Floor(q) c = Cast<to=7>(f) t = Max(c, none) y = ConstantOfShape(t)", "(N,)", ["M >= 1"]),
    (AS_FLOATS + "c = Cast<to=7>(q) t = Max(c, one) y = ConstantOfShape(t)", "(max(N, 1),)", ["M >= 1"]),
    (
        "a = Cast<to=1>(n) b = Cast<to=1>(m) q = Div(a, b) c = Cast<to=7>(q) t = Max(c, none) y = ConstantOfShape(t)",
        "(N//M,)",
        ["M >= 1"],
    ),
]


@pytest.mark.parametrize("nodes, sizes, guards", DIVISORS, ids=range(len(DIVISORS)))
def test_sizes_of_zero_that_divide(nodes: str, sizes: str, guards: list[str]) -> None:
    model = onnx.parser.parse_model(BY_ZERO + nodes + "}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    result = infer(model, min_dim=0)
    assert (str(result.types["y"].shape), [str(guard) for guard in result.guards]) == (sizes, guards)
    session = session_of(model)
    runs = 0
    for shape in product((0, 1, 3), repeat=3):
        at = dict(zip("NMK", shape, strict=True))
        if not all(guard.condition.holds(at) for guard in result.guards):
            continue
        values = run(session, {"x": np.zeros(shape, np.float32)})
        if values is None:
            continue
        runs += 1
        assert list(values[0].shape) == [size.to_int(at) for size in result.shapes["y"]], at
    assert runs
