"""A declared rank of a result whose rank is the length of a vector, or that is one of two tensors: a guard."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from onnx_infer import infer, infer_shapes

from .sessions import run, session_of
from .texts import both, declared, dims, messages, parsed

MODEL = """g (float[A, B] x, int64[M] v, int64[A, M] w, float[2, 6, 4] z, float[1, 6, 1] one, float[] any)
    => ({output} y) {{ y = {node} }}"""

NODES = [
    ("ConstantOfShape(v)", "float[P, Q]", "M == 2"),
    ("Reshape(x, v)", "float[P, Q]", "M == 2"),
    ("Reshape(x, v)", "float[A, B, P]", "M == 3"),
    ("Expand(x, v)", "float[P, Q, R]", "M == 3"),
    ("Expand(x, v)", "float[P, Q]", "M <= 2"),
    ("Unsqueeze(x, v)", "float[P, Q, R]", "M == 1"),
    ("Squeeze(one, v)", "float[P]", "M == 2"),
    ("Tile(any, v)", "float[P, Q]", "M == 2"),
    ("GatherND(z, w)", "float[A, P]", "M == 2"),
    ("Col2Im(z, v, v)", "float[P, Q, R, S]", "M == 2"),
    ("Neg(x)", "float[P, Q]", None),
]


def model_of(node: str, output: str) -> Any:
    return parsed(MODEL.format(node=node, output=output))


@pytest.mark.parametrize(("node", "output", "guard"), NODES)
def test_a_declared_rank_is_a_guard(node: str, output: str, guard: str | None) -> None:
    model = model_of(node, output)
    for _ in range(2):  # the second time, the outcome is remembered
        assert guard is None or guard in declared(both(model))
        assert guard is not None or not declared(infer(model))
    assert not declared(infer(model, assume_declared=True))
    again = infer(infer_shapes(model))
    assert guard is None or guard in declared(again)


@pytest.mark.parametrize("node", ["ConstantOfShape(v)", "Reshape(x, v)", "Expand(x, v)"])
def test_sizes_with_one_name_are_not_one_size(node: str) -> None:
    """The name is the first size. That the second one equals it is only what the author says."""
    model = model_of(node, "float[P, Q, P]")
    for given in (model, infer_shapes(model)):
        result = both(given)
        assert str(result.types["y"]) == "f32[P, Q, _d2]"
    assert [(str(g), g.kind) for g in infer(model).data_guards] == [("_d2 == P", "declared")]
    assert str(infer(model, assume_declared=True).types["y"]) == "f32[P, Q, P]"


def test_a_name_that_two_values_of_unknown_operators_have_is_a_guard() -> None:
    model = parsed(
        'g (float[A] x) => (float[P, Q, P] y, float[A, "2*P"] z, float[R] w)'
        "{ y = local.F(x) z = local.F(x) w = local.F(x) }"
    )
    guards = {(str(g).split(" == ")[1], g.kind) for g in infer(model).data_guards}
    assert guards == {
        ("P", "declared"),
        ("A", "declared"),
        ("2*P", "declared"),
    }
    assert not infer(model, assume_declared=True).data_guards


def test_a_trusted_rank_is_assumed() -> None:
    model = model_of("ConstantOfShape(v)", "")
    model.graph.node.add(op_type="Transpose", input=["y"], output=["t"]).attribute.add(name="perm", ints=[1, 0], type=7)
    result = infer(model, bidirectional=True)
    assert [(str(g), g.kind) for g in result.guards if "M" in str(g)] == [("M == 2", "assumed")]


def test_a_rank_that_no_length_gives_is_an_error() -> None:
    assert messages(infer(model_of("Unsqueeze(x, v)", "float[P]"))) == [
        "value 'y': declared rank 1 but inferred rank M + 2"
    ]


@pytest.mark.parametrize("node", ["ConstantOfShape(v)", "Reshape(x, v)", "Expand(x, v)"])
def test_the_guard_holds_where_the_rank_is_the_declared_one(node: str) -> None:
    session = session_of(model_of(node, ""))
    result = infer(model_of(node, "float[P, Q, R]"))
    for length in (1, 2, 3, 4):
        last = [2, 3] if length > 1 else [3] if node.startswith("Expand") else [6]
        given = {"x": np.ones((2, 3)), "z": np.ones((2, 6, 4)), "one": np.ones((1, 6, 1)), "any": np.ones(1)}
        feeds = {name: array.astype(np.float32) for name, array in given.items()}
        sizes = np.array([1] * (length - 2) + last)
        outputs = run(session, {**feeds, "v": sizes, "w": np.zeros((2, length), np.int64)})
        assert outputs is not None
        failing = [str(v.guard) for v in result.check({"A": 2, "B": 3, "M": length})]
        assert failing == ([] if outputs[0].ndim == 3 else ["M == 3"])


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


def test_in_a_body_that_runs_a_declared_rank_selects_only_what_no_node_does() -> None:
    model = parsed(
        "g (float[4, N, K, K] x, float[L, J] z) => (y) <int64[1] one = {1}, bool yes = {1}> {"
        " y = If(yes) <then_branch = o () => (t) {"
        " s = Shape(x)  n = Gather<axis = 0>(s, one)  many = Less(one, n)  r = ReduceSum(x, one)"
        " v = If(many) <then_branch = a () => (p) { c = Compress<axis = 0>(one, many)  p = Identity(r) },"
        " else_branch = b () => (q) { q = Identity(z) }>"
        ' t = Einsum<equation = "abcd->ad">(v) }, else_branch = e () => (u) { u = Identity(z) }> }'
    )
    written = infer_shapes(model)
    assert infer_shapes(written) == written
    for given in (model, written):
        assert [(str(guard), guard.kind) for guard in both(given).guards] == [("N >= 2", "required")]


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


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_declared_number_is_believed_beside_the_same_number_that_a_node_forces(bidirectional: bool) -> None:
    """The product forces the last size of v, not the first one."""
    model = parsed(
        """g (float[N] x, int64[3] t, float[1, 4] w) => (float[1, B, C] v, y) <int64[3] t = {1, 3, -1}> {
        v = Reshape(x, t) y = MatMul(v, w) }"""
    )
    result = infer(model, bidirectional=bidirectional)
    assert str(result.types["v"]) == "f32[1, B, 1]"
    once = infer_shapes(model, bidirectional=bidirectional)
    assert infer_shapes(once, bidirectional=bidirectional) == once


@pytest.mark.parametrize("size", ["max(N, 3)", "min(N, 9)"])
def test_in_both_directions_the_number_of_a_clamp_stays_a_guard(size: str) -> None:
    """As a fact it would change the input: a second inference would find the 5 that the first one did not know."""
    model = parsed(f'g (float[K, "{size}"] x) => (float[K, 5] y) {{ y = Identity(x) }}')
    once = infer_shapes(model, bidirectional=True)
    result = infer(once, bidirectional=True)
    assert [str(result.types[name]) for name in "xy"] == [f"f32[K, {size}]", "f32[K, 5]"]
    assert declared(result) == ["N == 5"]
    assert infer_shapes(once, bidirectional=True) == once


# -- a vector that must be empty --------------------------------------------------------------------------------------

EMPTIED = [
    ("ConstantOfShape(v)", [], "M == 0"),
    ("Reshape(one, v)", [], "M == 0"),
    ("Expand(one, v)", [], "M == 0"),
    ("Unsqueeze(x, v)", ["P", "Q"], "M == 0"),
    ("Reshape(one, both)", [], "L + M <= 0"),
    ("Reshape(one, more)", ["P"], "M == 0"),
    ("Expand(one, first)", [], "M == 0"),
]
VECTORS = """g (float[A, B] x, float one, int64[M] v, int64[L] w) => (y, z)
    <int64[1] i = {{-1}}, int64[1] k = {{0}}, int64[1] e = {{9}}> {{
    both = Concat<axis = 0>(w, v) more = Concat<axis = 0>(i, v) first = Slice(v, k, e) y = {} z = Neg(y) }}"""


def emptied_model(node: str, sizes: list[str]) -> onnx.ModelProto:
    model = parsed(VECTORS.format(node))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, sizes))
    return model


@pytest.mark.parametrize(("node", "sizes", "guard"), EMPTIED)
def test_a_declared_rank_may_say_that_a_vector_is_empty(node: str, sizes: list[str], guard: str) -> None:
    """A size of an input is at least 1 by default. The length of this vector is not: the guard can hold."""
    model = emptied_model(node, sizes)
    for options in ({}, {"policy": "strict"}, {"bidirectional": True}, {"min_dim": 0}, {"bounds": {"M": (0, 4)}}):
        result = both(model, **options)
        assert not result.diagnostics
        assert [len(result.shapes[name] or ()) for name in "yz"] == [len(sizes)] * 2
        assert guard in [str(each) for each in result.guards]
        assert result.symbols["M"].lo == 0
    assert str(infer(infer_shapes(model, strict_mode=True)).types["z"]) == str(infer(model).types["z"])
    outputs = run(session_of(model), {"x": X, "one": np.ones((), np.float32), "v": NONE, "w": NONE})
    assert outputs is not None
    assert outputs[0].ndim == len(sizes)


X, NONE = np.ones((2, 3), np.float32), np.zeros(0, np.int64)


def test_the_empty_vector_needs_no_name() -> None:
    model = emptied_model("Reshape(one, v)", [])
    model.graph.input[2].type.tensor_type.shape.dim[0].Clear()
    assert declared(both(model)) == ["v_dim_0 == 0"]


def test_in_a_body_a_declared_scalar_is_no_contradiction_either() -> None:
    model = parsed(
        "g (float one, int64[M] v, bool c) => (y) { y = If(c) <then_branch = a () => (float p) { p = Reshape(one, v) },"
        " else_branch = b () => (q) { q = Neg(one) }> }"
    )
    result = both(model)
    assert (messages(result), str(result.types["y"]), declared(result)) == ([], "f32[]", [])


@pytest.mark.parametrize("options", [{"bounds": {"M": (1, None)}}, {"assume": ["M >= 2"]}])
def test_a_vector_of_which_the_caller_says_that_it_is_not_empty(options: dict[str, Any]) -> None:
    result = infer(emptied_model("Reshape(one, v)", []), **options)
    assert messages(result) == ["value 'y': declared rank 0 but inferred rank M"]
    assert str(result.types["y"]) == "f32[...]"
