"""Vectors whose number of elements a run decides: it is refused exactly where a guard about this number fails."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnx_infer import infer

from .sessions import run, session_of
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'
DTYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.INT64: np.int64, onnx.TensorProto.BOOL: np.bool_}
TWO = "t = Constant<value_ints=[2, 2]>()"
STEP = "one = Constant<value_int=1>() five = Constant<value_int=5>()"

# (inputs, nodes, the elements of v, of which the last one repeats, the guard)
VECTORS = [
    ("float[A, B] x, int64[M] v", "y = Tile(x, v)", [2], "M == 2"),
    ("float[A, B] x, int64[M] v", "t = Constant<value_ints=[5, 5]>() y = Slice(x, v, t)", [0], "M == 2"),
    ("float[A, B] x, int64[M] v", "t = Constant<value_ints=[5]>() z = Constant<value_ints=[0]>() y = Slice(x, z, t, v)",
        [0], "M == 1"),
    ("float[A, B] x, int64[M] v", f"{TWO} z = Constant<value_ints=[0, 1]>() y = Slice(x, z, t, z, v)", [1], "M == 2"),
    ("float[A, B, 3] x, int64[M] v", "y = Slice(x, v, v)", [0], "M <= 3"),
    ("float[A, B] x, int64[M] v", "y = Pad(x, v)", [1], "M == 4"),
    ("float[A, B] x, int64[M] v", 'a = Constant<value_ints=[1]>() y = Pad(x, v, "", a)', [1], "M == 2"),
    ("float[A, B] x, int64[M] v", f'{TWO} y = Pad(x, t, "", v)', [1], "M == 1"),
    ("float[A, B] x, float[M] v", "p = Constant<value_ints=[1, 1, 1, 1]>() y = Pad(x, p, v)", [1], "M == 1"),
    ("float[A, B] x, int64[M] v", "y = CenterCropPad(x, v)", [2], "M <= 2"),
    ("float[1, 1, A, B] x, float[M] v", 'y = Resize(x, "", v)', [1, 1, 2], "M == 4"),
    ("float[6, A] x, int64[M] v", "y, z = Split(x, v)", [3, 3, 0], "M == 2"),
    ("float[A, 4] x, int64[M] v", "y, z = TopK(x, v)", [1], "M == 1"),
    ("float[1, 4, 9] x, int64[M] v", f"{TWO} y = Col2Im(x, v, t)", [4], "M == 2"),
    ("float[1, 4, 9] x, int64[M] v", "f = Constant<value_ints=[4, 4]>() y = Col2Im(x, f, v)", [2], "M == 2"),
    ("float[1, 1, 2] x, int64[1, 1, 2] i, int64[M] v",
        "y = MaxUnpool<kernel_shape=[2], strides=[2]>(x, i, v)", [1, 1, 4], "M == 3"),
    ("int64[M] v", f"{STEP} y = Range(v, five, one)", [0], "M == 1"),
    ("int64[M] v", f"{STEP} y = Range(one, five, v)", [1], "M == 1"),
    ("int64[A] x, float[2] w, int64[M] v", "y = OneHot(x, v, w)", [4], "M == 1"),
    ("float[A, B] x, int64[M] v", "y = CumSum(x, v)", [0], "M == 1"),
    ("float[A, B] x, int64[M] v", "y = Trilu(x, v)", [0], "M == 1"),
    ("int64[M] v", "y = HannWindow(v)", [5], "M == 1"),
    ("float[1, 8, 1] x, int64[M] v", "y = DFT(x, v)", [4], "M == 1"),
    ("float[1, 16, 1] x, int64[M] v", 'f = Constant<value_int=4>() y = STFT(x, v, "", f)', [4], "M == 1"),
    ("float[A] x, bool[M] v", "y = If(v) <then_branch = f () => (p) { p = Abs(x) }, "
        "else_branch = g () => (q) { q = Neg(x) }>", [1], "M == 1"),
    ("float[A] x, int64[M] v", "y = Loop(v, , x) <body = f (int64 i, bool b, float[A] c) => (bool d, float[A] e) "
        "{ d = Identity(b) e = Neg(c) }>", [1], "M == 1"),
]  # fmt: skip
SIZES = {"A": 2, "B": 3}


@pytest.mark.parametrize(("inputs", "nodes", "elements", "guard"), VECTORS)
def test_a_run_is_refused_exactly_where_the_guard_fails(
    inputs: str, nodes: str, elements: list[int], guard: str
) -> None:
    model = parsed(f"g ({inputs}) => (y) {{ {nodes} }}", HEAD)
    result = infer(model)
    assert not result.diagnostics
    required = [g for g in result.guards if g.kind == "required" and [v.name for v in g.variables()] == ["M"]]
    assert [str(g) for g in required] == [guard]
    session, outcomes = session_of(model), set()
    for count in range(1, 7):
        feeds = {}
        for entry in model.graph.input:
            kind = entry.type.tensor_type
            shape = [{**SIZES, "M": count}.get(d.dim_param) or d.dim_value for d in kind.shape.dim]
            feeds[entry.name] = np.ones(shape, DTYPES[kind.elem_type])
        feeds["v"][:] = (elements + elements[-1:] * count)[:count]
        holds = all(g.violation({"M": count}) is None for g in required)
        outcomes.add(holds)
        assert (run(session, feeds) is not None) is holds, count
    assert outcomes == {True, False}


@pytest.mark.parametrize(
    ("inputs", "nodes", "guards"),
    [
        ("float[A, B] x, int64[M] v, int64[K] w", "y = Slice(x, v, w)", ["M == K", "M <= 2"]),
        ("float[A, B] x, int64[M] v, int64[K] w", 'y = Pad(x, v, "", w)', ["M == 2*K"]),
        ("float[1, 4, 9] x, int64[M] v, int64[K] w", "y = Col2Im(x, v, w)", ["M == K"]),
        ("float[A, B] x, int64[M] v", "y = Expand(x, v)", []),
        ("float[A, B] x, int64[M] v", "y = ReduceSum(x, v)", []),
        ("float[A, B] x, int64[M] v", "s = SequenceConstruct(x, x) y = SequenceAt(s, v)", []),
    ],
)
def test_numbers_that_depend_on_each_other_and_those_that_are_free(inputs: str, nodes: str, guards: list[str]) -> None:
    assert [str(g) for g in infer(parsed(f"g ({inputs}) => (y) {{ {nodes} }}", HEAD)).guards] == guards


def test_a_number_of_elements_that_does_not_fit_costs_no_other_size() -> None:
    result = infer(parsed("g (float[A, 6] x, int64[3] v) => (y, z) { y, z = Split<axis=1>(x, v) }", HEAD))
    assert str((result.shapes["y"] or ())[0]) == "A"
    assert "the numbers of sizes in split and of outputs differ: 3 != 2" in str(result.diagnostics[0])
