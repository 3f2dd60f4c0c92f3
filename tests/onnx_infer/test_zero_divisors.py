"""Sizes of 0 that divide: what is inferred is right in every run that onnxruntime accepts and the guards admit."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx.parser
import pytest

from onnx_infer import infer

from .sessions import run, session_of

HEAD = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, M, K] x) => (float[] y) <
    int64[1] rest = {-1}, int64[1] none = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}
> { s = Shape(x) n = Slice(s, none, one) m = Slice(s, one, two) k = Slice(s, two, three) """

AS_FLOATS = "p = Mul(n, m) a = Cast<to=1>(p) b = Cast<to=1>(m) q = Div(a, b) "

# (the nodes, the sizes of y, the guards)
CASES = [
    ("t = Concat<axis=0>(n, rest) y = Reshape(x, t)", "(N, K*M)", ["N >= 1"]),
    ("t = Concat<axis=0>(rest, m) y = Reshape(x, t)", "(K*N, M)", ["M >= 1"]),
    ("mk = Mul(m, k) t = Concat<axis=0>(rest, mk) y = Reshape(x, t)", "(N, K*M)", ["M >= 1", "K >= 1"]),
    ("t = Concat<axis=0>(rest, m) y = Reshape<allowzero=1>(x, t)", "(K*N, M)", ["M >= 1"]),
    (AS_FLOATS + "f = Floor(q) c = Cast<to=7>(f) t = Max(c, none) y = ConstantOfShape(t)", "(N,)", ["M >= 1"]),
    (AS_FLOATS + "c = Cast<to=7>(q) t = Max(c, one) y = ConstantOfShape(t)", "(max(N, 1),)", ["M >= 1"]),
    (
        "a = Cast<to=1>(n) b = Cast<to=1>(m) q = Div(a, b) c = Cast<to=7>(q) t = Max(c, none) y = ConstantOfShape(t)",
        "(N//M,)",
        ["M >= 1"],
    ),
]


@pytest.mark.parametrize("nodes, sizes, guards", CASES, ids=range(len(CASES)))
def test_sizes_of_zero_that_divide(nodes: str, sizes: str, guards: list[str]) -> None:
    model = onnx.parser.parse_model(HEAD + nodes + "}")
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
