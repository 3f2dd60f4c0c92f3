"""Nodes of constants: those of which every runtime computes the same bits become constants, others stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from onnx_infer import fold, infer_shapes
from onnx_infer.tools.transforms.constants import known_tensor
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor

from .folding import compare, operators, outcome
from .sessions import session_of
from .texts import parsed

RNG = np.random.default_rng(5)
A, B = (RNG.standard_normal((3, 4)).astype(np.float32) for _ in range(2))
K = RNG.integers(-9, 9, (3, 4))
NONE, TINY = np.float32([1, np.nan]), np.float32([1e-40, 1])


def model_of(op_type: str, *constants: Any, **attributes: Any) -> onnx.ModelProto:
    """A model whose node has these constants as inputs; its result is an output."""
    tensors = [numpy_helper.from_array(np.asarray(x), f"c{i}") for i, x in enumerate(constants)]
    node = helper.make_node(op_type, [tensor.name for tensor in tensors], ["t"], **attributes)
    nodes = [node, helper.make_node("Identity", ["t"], ["z"]), helper.make_node("Neg", ["x"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, 1, ["N"]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y, onnx.ValueInfoProto(name="z")], tensors)
    return infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10))


FOLDED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Transpose", (A,), {}), ("Transpose", (RNG.standard_normal((2, 3, 4)),), {"perm": [1, 2, 0]}),
    ("Reshape", (A, np.int64([2, -1])), {}), ("Flatten", (A,), {}), ("Unsqueeze", (A, np.int64([0, -1])), {}),
    ("Squeeze", (A[:1], np.int64([0])), {}), ("Expand", (A[:1], np.int64([3, 1])), {}),
    ("Concat", (A, B), {"axis": -1}), ("Gather", (A, np.int64([[0, -1]])), {"axis": 1}),
    ("Slice", (A, np.int64([-2, 0]), np.int64([9, 4]), np.int64([0, -1]), np.int64([1, 2])), {}),
    ("Slice", (A, np.int64([1]), np.int64([2])), {}), ("Where", (A > 0, A, B), {}),
    ("Add", (A, B[:1]), {}), ("Sub", (A, B), {}), ("Mul", (A, B), {}), ("Div", (A, B), {}), ("Neg", (A,), {}),
    ("Abs", (A,), {}), ("Add", (K, K), {}), ("Mul", (K.astype(np.int32), K.astype(np.int32)), {}),
    ("Equal", (A, A), {}), ("Less", (A, B), {}), ("Greater", (A, B), {}), ("Not", (A > 0,), {}),
    ("And", (A > 0, B > 0), {}), ("Or", (A > 0, B > 0), {}), ("Cast", (A,), {"to": 11}),
    ("Cast", (RNG.standard_normal(5),), {"to": 1}), ("Cast", (K,), {"to": 1}), ("Cast", (K,), {"to": 6}),
]  # fmt: skip

LEFT: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Exp", (A,), {}), ("Sqrt", (np.abs(A),), {}), ("MatMul", (A, B.T.copy()), {}), ("ReduceSum", (A,), {}),
    ("Add", (NONE, NONE), {}), ("Add", (TINY, TINY), {}), ("Mul", (np.float32([1e-30]), np.float32([1e-10])), {}),
    ("Div", (A, np.zeros_like(A)), {}), ("Cast", (np.float32([1e30]),), {"to": 7}),
    ("Cast", (np.float32([1e9]),), {"to": 10}), ("Cast", (A,), {"to": 10}),
    ("Add", (A.astype(np.float16), B.astype(np.float16)), {}),
    ("Expand", (A[0, :1], np.int64([600])), {}),
]  # fmt: skip


@pytest.mark.parametrize("op_type, constants, attributes", FOLDED, ids=range(len(FOLDED)))
def test_what_has_the_same_bits_everywhere(op_type: str, constants: Any, attributes: Any) -> None:
    model = model_of(op_type, *constants, **attributes)
    found = fold(model)
    assert operators(found) == "Identity Neg"
    compare(model, found, (0, 2))


@pytest.mark.parametrize("op_type, constants, attributes", LEFT, ids=range(len(LEFT)))
def test_what_a_runtime_rounds_is_left_to_it(op_type: str, constants: Any, attributes: Any) -> None:
    model = model_of(op_type, *constants, **attributes)
    found = fold(model)
    assert op_type in operators(found)
    compare(model, found, (0, 2))


def test_a_large_constant_takes_the_place_of_one_as_large() -> None:
    weights = RNG.standard_normal((40, 40)).astype(np.float32)
    model = model_of("Transpose", weights)
    assert operators(fold(model)) == "Identity Neg"
    model.graph.node.add().CopyFrom(helper.make_node("Exp", ["c0"], ["w"]))
    model.graph.output.add().CopyFrom(helper.make_tensor_value_info("w", 1, [40, 40]))
    assert operators(fold(model)) == "Transpose Neg Exp"


ROUNDED = "(float16[N, 8] x) => (float16 y) <int64[1] one = {1}>"
WEIGHTS = "(float[N, 1, 16] x) => (y)"
ROUNDINGS = [
    (f"{ROUNDED} {{a = Mul(x, x) b = Cast<to = 10>(a) c = Unsqueeze(b, one) y = Mul(c, c)}}", "Mul Cast Unsqueeze Mul"),
    (f"{ROUNDED} {{a = Mul(x, x) b = Identity(a) c = Cast<to = 1>(b) d = Mul(c, c) y = Cast<to = 10>(d)}}",
        "Mul Identity Cast Mul Cast"),
    (f"{ROUNDED} {{a = Mul(x, x) s = Shape(a) b = Reshape(a, s) c = Unsqueeze(b, one) y = Mul(c, c)}}",
        "Mul Reshape Unsqueeze Mul"),
    (f"{ROUNDED} {{a = Cast<to = 10>(k) y = Mul(x, a)}}", "Cast Mul"),
    (f"{ROUNDED} {{a = Cast<to = 10>(k) b = Identity(h) c = Mul(x, b) y = Add(c, a)}}", "Cast Mul Add"),
    (f"{WEIGHTS} {{t = Transpose(w) y = MatMul(x, t)}}", "Transpose MatMul"),
    (f"{WEIGHTS} {{f = Flatten<axis = 2>(x) t = Identity(w) y = Gemm<transB = 1>(f, t)}}", "Flatten Identity Gemm"),
    (f"{WEIGHTS} {{t = Reshape(w, r) y, z = GRU<hidden_size = 4>(x, t, u)}}", "Reshape GRU"),
    (f"{WEIGHTS} {{t = Identity(w) y = com.microsoft.FusedMatMul<transB = 1>(x, t)}}", "Identity FusedMatMul"),
    (f"{WEIGHTS} {{t = Transpose(w) f = Flatten(v) a = Neg(f) b = MatMul(a, t) y = Add(b, x)}}".replace("16]", "12]"),
        "Transpose MatMul Add"),
    (f"{WEIGHTS} {{s = Neg(v) y = Mul(x, s)}}", "Mul"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "left"), ROUNDINGS, ids=range(len(ROUNDINGS)))
def test_what_decides_how_others_round_stays(text: str, left: str) -> None:
    head = '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>'
    model = parsed(f"g {text}", head)
    constants = {"w": (12, 16), "u": (1, 12, 4), "v": (1, 1, 16), "k": (8,)}
    for name, shape in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(RNG.standard_normal(shape).astype(np.float32), name))
    model.graph.initializer.append(numpy_helper.from_array(A[0, :1].astype(np.float16), "h"))
    model.graph.initializer.append(numpy_helper.from_array(np.int64([1, 12, 16]), "r"))
    found = fold(model)
    assert operators(found) == left
    for n in (1, 2, 5):
        shape = [n, *(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim[1:])]
        kind = onnx.helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
        feeds = {"x": RNG.standard_normal(shape).astype(kind)}
        assert outcome(session_of(found), feeds) == outcome(session_of(model), feeds) is not None


def test_numbers_beyond_their_type_become_no_constants() -> None:
    value = SymTensor(dt.INT64, (2,), [2**63, 1])
    assert known_tensor(value) is None
    assert known_tensor(SymTensor(dt.INT64, (2,), [2**63 - 1, -(2**63)])) is not None
    assert known_tensor(SymTensor(dt.BOOL, (1,), [True])) is not None


@pytest.mark.parametrize(
    ("nodes", "opset", "left"),
    [
        ("z = Dropout(x, r, no)", 18, "Neg"),
        ("z = Dropout(x, r, yes)", 18, "Dropout Neg"),
        ("z = Dropout(x, r, c)", 18, "Dropout Neg"),
        ("z = Dropout(x)", 10, "Neg"),
        ("z = Dropout<is_test = 1>(x)", 6, "Dropout Neg"),
        ("z = Pad<pads = [0, 0, 0, 0]>(x)", 10, "Neg"),
        ("z = Pad<pads = [0, 0, 0, 1]>(x)", 10, "Pad Neg"),
    ],
)
def test_a_node_goes_only_where_it_never_changes_its_input(nodes: str, opset: int, left: str) -> None:
    text = f"""g (float[N, 4] x, bool c) => (y) <float r = {{0.5}}, bool no = {{0}}, bool yes = {{1}}> {{
        {nodes} y = Neg(z) }}"""
    head = f'<ir_version: {10 if opset > 10 else 4}, opset_import: ["": {opset}]>'
    assert operators(fold(parsed(text, head))) == left


@pytest.mark.parametrize(
    ("nodes", "left"),
    [
        ("k = Gather(t, last)", "Add"),
        ("k = Gather(t, far)", "Gather Add"),  # an index that runtimes refuse
        ("k = Slice(t, two, none, zero, back)", "Slice Add"),
        ("e = Div(u, v) k = Cast<to = 1>(e)", "Div Cast Add"),  # a division of integers by 0
        ("e = Add(h, h) k = Cast<to = 1>(e)", "Add Cast Add"),  # float16, which runtimes may round twice
    ],
)
def test_constants_of_which_runtimes_disagree_stay(nodes: str, left: str) -> None:
    text = f"""g (float[N] x) => (y) <float[3] t = {{1, 2, 3}}, float16[3] h = {{1, 2, 3}}, uint8[3] u = {{6, 2, 3}},
        uint8[3] v = {{4, 2, 0}}, int64[1] last = {{-1}}, int64[1] far = {{5}}, int64[1] two = {{2}},
        int64[1] none = {{-9}}, int64[1] zero = {{0}}, int64[1] back = {{-1}}> {{ {nodes} y = Add(x, k) }}"""
    assert operators(fold(parsed(text))) == left
