"""Declared ranks, and declared sizes of values about which nothing else is known."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from onnx_infer import infer, infer_shapes

from .texts import both, declared, dims, parsed


@pytest.mark.parametrize(
    ("user", "kind", "size"),
    [('Einsum<equation: string = "abcd->ad">(v)', "required", 1), ("Relu(v)", "declared", "_d0")],
)
def test_a_declared_rank_selects_a_branch_only_if_no_node_does(user: str, kind: str, size: int | str) -> None:
    """What a node demands is known inside the branch, too. An earlier inference may have written such a rank."""
    model = parsed(
        "g (float[4, N, K, K] x, float[L, J] z) => (y) <int64[1] one = {1}, float[?, ?, ?, ?] v> {"
        " s = Shape(x)  n = Gather<axis = 0>(s, one)  many = Less(one, n)  r = ReduceSum(x, one)"
        " v = If(many) <then_branch = a () => (p) { c = Compress<axis = 0>(one, many)  p = Identity(r) },"
        " else_branch = b () => (q) { q = Identity(z) }>"
        f" y = {user} }}"
    )
    if kind == "required":
        del model.graph.value_info[:]
    assert [(str(guard), guard.kind) for guard in both(model).guards] == [("N >= 2", kind)]
    written = infer_shapes(model)
    (c,) = (info for info in branch_of(written).value_info if info.name == "c")
    assert dims(c) == [size]
    assert infer_shapes(written) == written
    assert [(str(guard), guard.kind) for guard in infer(written).guards] == [("N >= 2", kind)]


def branch_of(model: onnx.ModelProto) -> onnx.GraphProto:
    """The first branch of the only If."""
    (node,) = (node for node in model.graph.node if node.op_type == "If")
    return next(a.g for a in node.attribute if a.name == "then_branch")


# -- a declared rank of one of two tensors ----------------------------------------------------------------------------

SQUEEZED = """g (float[1, 3, H] x) => (z) <int64[1] last = {2}, int64[1] one = {1}> {
    s = Shape <start = 2> (x)
    e = Equal (s, one)
    i = If (e) <then_branch = a () => (p) { p = Squeeze (x, last) }, else_branch = b () => (q) { q = Identity (x) }>
    z = Relu (i)
}"""


@pytest.mark.parametrize(
    ("dims", "type", "guard"), [((None, None), "f32[1, 3]", "H == 1"), ((1, 3, "K"), "f32[1, 3, H]", "H >= 2")]
)
def test_a_declared_rank_that_selects_one_of_two_tensors_is_a_claim(
    dims: tuple[int | str | None, ...], type: str, guard: str
) -> None:
    model = parsed(SQUEEZED)
    assert str(infer(model).types["z"]) == "f32[...]"
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("z", 1, dims))
    for options in ({}, {"policy": "strict"}, {"bidirectional": True}):
        result = infer(model, **options)  # type: ignore[arg-type]
        assert str(result.types["z"]) == type
        assert [(str(g), g.kind) for g in result.guards] == [(guard, "declared")]
    assumed = infer(model, assume_declared=True)
    assert (str(assumed.types["z"]), assumed.guards) == (type, [])


def test_a_type_without_a_rank_selects_none_of_two_tensors() -> None:
    model = parsed(SQUEEZED)
    model.graph.output[0].type.tensor_type.elem_type = 0
    assert str(infer(model).types["z"]) == "f32[...]"


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(
    ("dims", "type", "guards"),
    [((1, 3, "N"), "f32[1, 3, H]", ["H >= 2", "N == H"]), ((1, "N"), "f32[1, 3]", ["H == 1", "N == 3"])],
)
def test_declared_sizes_of_the_selected_tensor_are_claims(
    dims: tuple[int | str, ...], type: str, guards: list[str], bidirectional: bool
) -> None:
    model = parsed(SQUEEZED.replace("x)", "x, float[N] w)", 1))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("z", 1, dims))
    result = infer(model, bidirectional=bidirectional)
    assert [str(result.types[name]) for name in "zxw"] == [type, "f32[1, 3, H]", "f32[N]"]
    assert sorted(declared(result)) == guards


@pytest.mark.parametrize("size", ["max(N, 3)", "min(N, 9)"])
def test_in_both_directions_the_number_of_a_clamp_stays_a_guard(size: str) -> None:
    """As a fact it would change the input: a second inference would find the 5 that the first one did not know."""
    model = parsed(f'g (float[K, "{size}"] x) => (float[K, 5] y) {{ y = Identity(x) }}')
    once = infer_shapes(model, bidirectional=True)
    result = infer(once, bidirectional=True)
    assert [str(result.types[name]) for name in "xy"] == [f"f32[K, {size}]", "f32[K, 5]"]
    assert declared(result) == ["N == 5"]
    assert infer_shapes(once, bidirectional=True) == once
