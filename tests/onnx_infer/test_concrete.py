"""Symbolic inference against concrete inference, on random models: the two must commute.

    infer(model)[N := n]  ==  infer(model[N := n])

Where concrete inference knows more (a maximum decided, a condition folded), the symbolic result must not contradict it.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import onnx
from hypothesis import given
from hypothesis import strategies as st

from onnx_infer import SymTensor, infer, infer_shapes
from onnx_infer.elements.conditions import Positive, positive
from onnx_infer.laws.sizes import differ, is_fresh
from onnx_infer.protobuf.specialize import specialize
from symdim import Expr
from tests.onnx_infer.models import FLOAT, Builder
from tests.onnx_infer.texts import parsed

NAMES = ("N", "C", "H", "W")


class Value(NamedTuple):
    """A value of a model under construction, and its rank."""

    name: str
    rank: int


@st.composite
def random_models(draw: st.DrawFn) -> onnx.ModelProto:
    """A chain of up to eight operators on f32[N, C, H, W], each legal whatever the sizes are."""
    b = Builder()
    value = Value(b.input("x", FLOAT, NAMES), 4)
    for _ in range(draw(st.integers(1, 8))):
        value = draw(st.sampled_from(STEPS))(b, value, draw)
    b.node("Identity", value.name, output="y")
    return b.finish({"y": FLOAT})


def elementwise(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    return Value(b.node(draw(st.sampled_from(["Relu", "Exp", "Neg"])), x.name), x.rank)


def transpose(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    return Value(b.node("Transpose", x.name, perm=draw(st.permutations(range(x.rank)))), x.rank)


def join(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    axis = draw(st.integers(-x.rank, x.rank - 1))
    return Value(b.node("Concat", x.name, x.name, axis=axis), x.rank)


def reduce(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    if x.rank < 2:
        return x
    axis, keeps = draw(st.integers(0, x.rank - 1)), draw(st.booleans())
    y = b.node("ReduceMax", x.name, b.ints(axis), keepdims=int(keeps))
    return Value(y, x.rank if keeps else x.rank - 1)


def flatten(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    return Value(b.node("Flatten", x.name, axis=draw(st.integers(0, x.rank))), 2)


def merge_axes(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    """Reshape to [size 0, -1], by the shape that the model computes."""
    return Value(b.node("Reshape", x.name, b.vector(b.size(x.name, 0), -1)), 2)


def slices(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    axis = draw(st.integers(0, x.rank - 1))
    start, end = draw(st.sampled_from([(0, 3), (1, 1 << 40), (0, -1), (-3, 1 << 40), (2, 5), (0, 1)]))
    step = draw(st.sampled_from([1, 2, 3]))
    y = b.node("Slice", x.name, b.ints(start), b.ints(end), b.ints(axis), b.ints(step))
    return Value(b.node("Concat", y, x.name, axis=axis), x.rank)


def pads(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    amounts = draw(st.lists(st.integers(0, 3), min_size=2 * x.rank, max_size=2 * x.rank))
    return Value(b.node("Pad", x.name, b.ints(*amounts)), x.rank)


def pool(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    """A pool that fits whatever the sizes are: kernel 3 with pads of 1."""
    if x.rank != 4:
        return x
    stride, ceil = draw(st.integers(1, 3)), draw(st.integers(0, 1))
    y = b.node("MaxPool", x.name, kernel_shape=[3, 3], strides=[stride] * 2, pads=[1] * 4, ceil_mode=ceil)
    return Value(y, 4)


def expand(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    """A new leading axis of a size that the model computes, by torch's idiom."""
    if x.rank > 4:
        return x
    shape = b.vector(b.size(x.name, draw(st.integers(0, x.rank - 1))), *[-1] * x.rank)
    return Value(b.expand_as_torch(b.node("Unsqueeze", x.name, b.ints(0)), shape), x.rank + 1)


def unite(b: Builder, x: Value, draw: st.DrawFn) -> Value:
    """The sum of a value and its maxima along the last axis: a size broadcast against 1."""
    top = b.node("ReduceMax", x.name, b.ints(x.rank - 1), keepdims=1)
    return Value(b.node("Add", x.name, top), x.rank)


STEPS = [elementwise, transpose, join, reduce, flatten, merge_axes, slices, pads, pool, expand, unite]
SIZES = st.fixed_dictionaries({name: st.integers(1, 13) for name in NAMES})


def at(x: Any, sizes: dict[str, int]) -> Any:
    if isinstance(x, Positive):
        return positive(at(x.size, sizes))
    return x.evaluate({k: v for k, v in sizes.items() if k in x.free_symbols()}) if isinstance(x, Expr) else x


@given(random_models(), SIZES)
def test_substituting_commutes_with_inferring(model: onnx.ModelProto, sizes: dict[str, int]) -> None:
    occurring = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim}
    sizes = {name: sizes[name] for name in occurring}
    symbolic, concrete = infer(model).types, infer(specialize(model, sizes)).types
    shapes = [value.shape for value in symbolic.values() if isinstance(value, SymTensor) and value.shape]
    undecided = any(isinstance(d, Expr) and not differ(d, -1) for shape in shapes for d in shape)
    for name, value in concrete.items():
        general = symbolic[name]
        assert isinstance(value, SymTensor)
        assert isinstance(general, SymTensor)
        assert general.dtype == value.dtype
        assert general.shape is not None, name
        for d, expected in zip(general.shape, value.shape, strict=True):
            # intervals cannot tell of every nested size that it is not -1, as an Expand asks
            assert at(d, sizes) == expected or (undecided and is_fresh(d)), name
        if general.data is not None and value.data is not None:
            known = [(at(a, sizes), b) for a, b in zip(general.data, value.data, strict=True) if a is not None]
            assert all(a == b for a, b in known if not isinstance(a, (Expr, Positive))), name


@given(random_models(), st.permutations(NAMES))
def test_renaming_commutes_with_inferring(model: onnx.ModelProto, names: list[str]) -> None:
    renaming = dict(zip(NAMES, (f"_{name}" for name in names), strict=True))
    renamed = onnx.ModelProto()
    renamed.CopyFrom(model)
    for dim in renamed.graph.input[0].type.tensor_type.shape.dim:
        dim.dim_param = renaming[dim.dim_param]
    before, after = infer(model), infer(renamed)
    # a size that is not known keeps its name
    to = {old: after.symbols[new] for old in before.symbols if (new := renaming.get(old, old)) in after.symbols}
    assert before.shapes.keys() == after.shapes.keys()
    for name, shape in before.shapes.items():
        for d, found in zip(shape, after.shapes[name], strict=True):
            expected = d.substitute(to) if isinstance(d, Expr) else d
            assert expected == found or are_equal_nests(expected, found), name


def are_equal_nests(a: int | Expr, b: int | Expr) -> bool:
    """Whether sizes with maxima of maxima are equal at many points: names may decide on the form of such a nest."""
    if not isinstance(a, Expr) or not isinstance(b, Expr) or min(a._height, b._height) < 3:
        return False
    variables, random = sorted({*a.variables(), *b.variables()}, key=lambda v: v.name), Random(1)
    for _ in range(500):
        point = {v: random.randint(v.lo or 0, min(v.hi or 40, 40)) for v in variables}
        if a.evaluate(point) != b.evaluate(point):
            return False
    return True


@given(random_models())
def test_inferring_twice_changes_nothing(model: onnx.ModelProto) -> None:
    once = infer_shapes(model)
    assert infer_shapes(once).SerializeToString() == once.SerializeToString()


def test_many_unknown_sizes_in_one_expression_keep_their_names() -> None:
    """The second inference begins to count where the names of the first one end, so it passes from _d9 to _d10."""
    text = """g (float[1, 1, 4, 6] x, int64[4] sizes, int64[1] axes) => (y, u) {
        y = Resize <keep_aspect_ratio_policy = "not_larger"> (x, , , sizes) u = Slice (y, axes, axes, axes) }"""
    once = infer_shapes(parsed(text))
    assert infer_shapes(once).SerializeToString() == once.SerializeToString()
    assert len(infer(once).types["y"].shape[0].free_symbols()) == 4  # type: ignore[attr-defined]


@given(random_models())
def test_a_strict_inference_of_a_sound_model_finds_no_contradiction(model: onnx.ModelProto) -> None:
    assert infer(infer_shapes(model), policy="strict").diagnostics == []
