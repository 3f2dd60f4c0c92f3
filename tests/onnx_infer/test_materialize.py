"""Sizes as nodes: what the nodes compute is what the expressions are, in onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnx_infer import infer
from onnx_infer.result import InferenceResult
from onnx_infer.tools.materialization import Materialized, materialize
from symdim import Expr, Var, maximum, minimum, parse
from symdim.algebra.origin import Computed, ValueOf
from symdim.errors import UnsupportedDynamicShape
from tests.symdim import strategies

from . import models
from .sessions import session_of
from .texts import parsed

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


def given(*symbols: Any, opset: int = 17) -> InferenceResult:
    """A model whose input has these sizes, and the float input k of two elements."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [str(s) for s in symbols])
    k = helper.make_tensor_value_info("k", TensorProto.INT32, [2])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x, k], [])
    return infer(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8))


def evaluated(made: Sequence[Materialized], rank: int, sizes: Sequence[Sequence[int]], opset: int) -> list[list[Any]]:
    """What the nodes give for shapes of the input x, k being (5, 7)."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None] * rank)
    k = helper.make_tensor_value_info("k", TensorProto.INT32, [2])
    outputs = [helper.make_tensor_value_info(m.output, TensorProto.INT64, [None]) for m in made]
    graph = helper.make_graph(
        [n for m in made for n in m.nodes], "g", [x, k], outputs, [t for m in made for t in m.initializers]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    run = session_of(model)
    feeds = [{"x": np.zeros(shape, np.float32), "k": np.array([5, 7], np.int32)} for shape in sizes]
    return [[out.tolist() for out in run.run(None, {i.name: f[i.name] for i in run.get_inputs()})] for f in feeds]


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 12, 13, 17, 21])
def test_every_kind_of_expression_in_every_opset(opset: int) -> None:
    expressions: list[Any] = [
        N, 7, N * H, 2 * N - 3 * H + 1, -N - H, (N - 9) // 4, (N + 1) // H, N % 4, (5 - N) // H, N**3 * H - 4,
    ]  # fmt: skip
    if opset >= 9:
        expressions += [maximum(N, H, 3), minimum(N, H - 1), N - minimum(N, 4) * maximum(H // 2, 1)]
    if opset >= 10:
        expressions += [(N - 5 * H) // 7, (N - H) % 5, (N - H) // (N * N + 2 * H), (H - 5 * N) % 6]
    else:
        with pytest.raises(ValueError, match="needs Mod, which is from opset 10 on"):
            materialize((N - H) // (N * N + 2 * H), given(N, H), opset=opset)
    result = given(N, H, opset=opset)
    made = [materialize(e, result, prefix=f"e{i}") for i, e in enumerate(expressions)]
    sizes = [(1, 1), (2, 5), (13, 3), (8, 8), (31, 17)]
    expected = [[[e if isinstance(e, int) else e.to_int(N=n, H=h)] for e in expressions] for n, h in sizes]
    assert evaluated(made, 2, sizes, opset) == expected


FLOATS = [
    "floor[f32](mul[f32](N, min[f32](mul[f32](div[f32](1, min(N, H)), 64), mul[f32](div[f32](1, max(N, H)), 96))))",
    "ceil[f64](mul[f64](mul[f32](N, 1/3), 7/10)) + H",
    "trunc[f32](sub[f32](value[f32](div[f64](N, 7)), H))",
    "floor[f32](add[f32](max[f32](N, 5/2), H))//2",
    "round[f32](div[f32](N, 2))",
]


@pytest.mark.parametrize("opset", [8, 11, 17])
def test_functions_of_floats(opset: int) -> None:
    result = given(N, H, opset=opset)
    texts = [text for text in FLOATS if opset >= 12 or "min(N" not in text][: None if opset >= 11 else -1]
    made = [materialize(parse(text), result, prefix=f"e{i}") for i, text in enumerate(texts)]
    sizes = [(1, 1), (2, 5), (13, 3), (64, 96), (31, 17), (90, 7), (640, 480)]
    assert evaluated(made, 2, sizes, opset) == [[[parse(text).to_int(N=n, H=h)] for text in texts] for n, h in sizes]  # type: ignore[union-attr]
    if opset < 11:
        with pytest.raises(ValueError, match="needs Round, which is from opset 11 on"):
            materialize(parse(FLOATS[-1]), result)


@pytest.mark.parametrize("version", [3, 4])
def test_constants_in_every_ir_version(version: int) -> None:
    model = parsed(
        "g (float[N, M] x) => (float[N, M] y) { y = Identity(x) }", f'<ir_version: {version}, opset_import: ["": 9]>'
    )
    output = materialize((N * M // 3, 7), infer(model)).insert(model, before="y")
    model.graph.output.append(helper.make_tensor_value_info(output, TensorProto.INT64, [2]))
    onnx.checker.check_model(model)
    assert len(model.graph.input) == 1
    assert [x.tolist() for x in session_of(model).run([output], {"x": np.zeros((4, 5), np.float32)})] == [[6, 7]]


def test_what_an_old_opset_lacks() -> None:
    with pytest.raises(ValueError, match="Where, which is from opset 9 on, not in 8"):
        materialize(maximum(N, H), given(N, H), opset=8)
    with pytest.raises(ValueError, match="from opset 7 on, not in 6"):
        materialize(N, given(N), opset=6)


def test_a_number_that_is_no_int64() -> None:
    with pytest.raises(ValueError, match=f"the number {2**63}, which is no int64"):
        materialize(N * 2**63, given(N))


def test_random_expressions() -> None:
    random = Random(5)
    names = sorted(strategies.BOUNDS)
    result = given(*names)
    symbols = dict(zip(names, result.shapes["x"], strict=True))
    dims = []
    while len(dims) < 120:
        try:
            dim = strategies.build(strategies.random_tree(random, random.randint(2, 9)))
            dim = dim.substitute(symbols) if isinstance(dim, Expr) else dim
        except (ZeroDivisionError, ValueError):
            continue
        if isinstance(dim, Expr):
            dims.append(dim)
    made = [materialize(dim, result, prefix=f"e{i}") for i, dim in enumerate(dims)]
    for _ in range(4):
        shape = [random.randint(1, 6) for _ in names]
        bindings = dict(zip(names, shape, strict=True))
        expected = []
        kept = []
        for m, dim in zip(made, dims, strict=True):
            try:
                value = dim.to_int(bindings)
            except ZeroDivisionError:
                continue
            if abs(value) < 2**31:
                expected.append([value])
                kept.append(m)
        assert len(kept) > 60
        assert evaluated(kept, len(names), [shape], 17) == [expected]


def test_common_parts_are_computed_once() -> None:
    made = materialize((N * H, N * H + 1, (H + 1) // 2, N * ((H + 1) // 2), 4), given(N, H))
    assert [n.op_type for n in made.nodes] == [
        "Shape", "Shape", "Mul", "Add", "Add", "Div", "Mul", "Concat",
    ]  # fmt: skip
    values = [tuple(helper.get_attribute_value(a) for a in n.attribute) for n in made.nodes]
    assert (values[:2], values[-1]) == ([(1, 0), (2, 1)], (0,))
    assert sorted(onnx.numpy_helper.to_array(t).tolist() for t in made.initializers) == [[1], [2], [4]]


def test_successive_axes_and_constants_are_one_part() -> None:
    sizes = (2, 3, N, H, W, N, 5)
    assert [n.op_type for n in materialize(sizes, given(N, H, W)).nodes] == ["Shape", "Shape", "Concat"]
    made = materialize(sizes, given(N, H, W), opset=14)
    assert [n.op_type for n in made.nodes] == ["Shape", "Gather", "Gather", "Concat"]
    assert [n.op_type for n in materialize((H, N), given(N, H)).nodes] == ["Shape", "Shape", "Concat"]
    for opset in (14, 15):
        made = materialize(sizes, given(N, H, W, opset=opset))
        assert evaluated([made], 3, [(7, 8, 9)], opset) == [[[2, 3, 7, 8, 9, 7, 5]]]


def test_known_sizes_are_a_constant() -> None:
    made = materialize((2, 3), given(N))
    assert (made.nodes, made.output) == ([], "size_2_3")
    assert onnx.numpy_helper.to_array(made.initializers[0]).tolist() == [2, 3]
    assert onnx.numpy_helper.to_array(materialize((), given(N)).initializers[0]).tolist() == []


def test_inputs_that_are_expressions_are_solved() -> None:
    # as `N, 2*H`, with H nowhere alone
    result = given("N", "_d0", "2*_d1 + N - 1")
    size = result.shapes["x"][2]
    assert isinstance(size, Expr)
    hidden = next(v for v in size.variables() if v.name == "_d1")
    made = [materialize(hidden, result, prefix="a"), materialize(3 * hidden + result.shapes["x"][0], result)]
    assert evaluated(made, 3, [(4, 2, 13), (3, 2, 22)], 17) == [[[5], [19]], [[10], [33]]]


def test_elements_of_inputs() -> None:
    result = given(N)
    first, second = (Var.fresh(f"k[{i}]", origin=ValueOf("k", i, "Slice.ends")) for i in range(2))
    length = Var.fresh("_d0", origin=Computed(minimum(second, N), "the end of the slice"))
    made = materialize((first + N, 2 * length), result)
    assert evaluated([made], 1, [(3,), (10,)], 17) == [[[8, 6]], [[15, 14]]]


def test_sizes_that_operators_compute_of_elements() -> None:
    graph = """g (float[N, H] x, int64[1] k, int64[1] e) => (v, y) <int64[1] zero = {0}, int64[1] axes = {1}> {
        v, i = TopK(x, k)
        y = Slice(x, zero, e, axes)
    }"""
    model = parsed(graph)
    result = infer(model)
    for name in ("v", "y"):
        materialize(result.shapes[name], result, prefix=name).insert(model)
    model.graph.output.extend(helper.make_tensor_value_info(f"{name}_concat", TensorProto.INT64, [2]) for name in "vy")
    run = session_of(model)
    for end in (-9, -3, 0, 2, 100):
        feeds = {"x": np.zeros((4, 7), np.float32), "k": np.array([3]), "e": np.array([end])}
        v, y, *sizes = run.run(None, feeds)
        assert [size.tolist() for size in sizes] == [list(v.shape), list(y.shape)]


def test_values_that_the_model_does_not_have() -> None:
    with pytest.raises(KeyError, match="none"):
        materialize(N, given(N), values=["none"])


def test_sizes_that_cannot_be_read() -> None:
    graph = """g (float[N] x) => (y) {
        i = NonZero(x)
        t = Transpose<perm=[1, 0]>(i)
        y = Cast<to=1>(t)
    }"""
    model = parsed(graph)
    result = infer(model)
    size = result.shapes["y"][0]
    with pytest.raises(UnsupportedDynamicShape, match=r"materialize: shape\[1\] must be exact, but"):
        materialize((3, size), result)
    with pytest.raises(UnsupportedDynamicShape, match="M of M cannot be read"):
        materialize(M, result)
    # behind the node that decides it, it can be
    made = materialize(2 * size + 1, result, values=["t"])
    made.insert(model, before="y")
    model.graph.output.add(name=made.output)
    assert [n.op_type for n in model.graph.node] == ["NonZero", "Transpose", "Shape", "Mul", "Add", "Cast"]
    assert session_of(model).run([made.output], {"x": np.float32([1, 0, 3, 0, 5])})[0].tolist() == [7]


def test_names_are_free_in_the_model_and_its_subgraphs() -> None:
    graph = """g (float[N, H] x, bool c) => (size_add) {
        size_mul = Neg(x)
        size_add = If<then_branch = a () => (size_shape) { size_shape = Abs(size_mul) },
                      else_branch = b () => (size_1) { size_1 = Abs(x) }>(c)
    }"""
    model = parsed(graph)
    result = infer(model)
    made = materialize(result.shapes["x"][0] * result.shapes["x"][1] + 1, result)
    assert [n.output[0] for n in made.nodes] == [
        "size_shape_1",
        "size_shape_2",
        "size_mul_1",
        "size_add_1",
    ]
    made.insert(model)
    model.graph.output.add(name=made.output)
    (size,) = session_of(model).run([made.output], {"x": np.zeros((3, 4), np.float32), "c": np.array(True)})
    assert size.tolist() == [13]


def test_a_pass_makes_the_target_of_a_reshape() -> None:
    """Two exact sizes in place of a chain of Shape, Gather and Concat: the outputs stay."""
    graph = """g (float[N, H, 6] x) => (y) <int64[3] s = {0, -1, 3}> {
        t = Reshape(x, s)
        y = Neg(t)
    }"""
    model = parsed(graph)
    result = infer(model)
    before = {"x": np.arange(60, dtype=np.float32).reshape(2, 5, 6)}
    expected = session_of(model).run(None, before)
    node = model.graph.node[0]
    node.input[1] = materialize(result.shapes["t"], result).insert(model, before="t")
    assert model.graph.node[-2].input[1] == "size_concat"
    assert np.array_equal(session_of(model).run(None, before), expected)
    with pytest.raises(ValueError, match="no node is named 'z' or gives it"):
        materialize(N, result).insert(model, before="z")


def sizes_of(result: InferenceResult) -> Mapping[str, int]:
    return {v.name: 3 + 2 * i for i, v in enumerate(sorted(result.sources.symbols, key=lambda v: v.name))}


@pytest.mark.parametrize(
    "model", [models.decoder(1), models.unet(2), models.windows()], ids=["decoder", "unet", "windows"]
)
def test_the_shapes_of_models(model: onnx.ModelProto) -> None:
    result = infer(model)
    bindings = dict.fromkeys(sizes_of(result), 32)
    shapes = dict.fromkeys(shape for shape in result.shapes.values() if any(isinstance(d, Expr) for d in shape))
    made = [materialize(shape, result, prefix=f"s{i}") for i, shape in enumerate(shapes)]
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.node[:], copy.graph.output[:]
    for m in made:
        m.insert(copy)
        copy.graph.output.add(name=m.output)
    feeds = {}
    for name in result.inputs:
        value = result.types[name]
        dims = [d if isinstance(d, int) else d.to_int(bindings) for d in result.shapes[name]]
        feeds[name] = np.zeros(dims, helper.tensor_dtype_to_np_dtype(value.dtype))  # type: ignore[attr-defined]
    got = [x.tolist() for x in session_of(copy).run(None, feeds)]
    assert got == [[d if isinstance(d, int) else d.to_int(bindings) for d in shape] for shape in shapes]
