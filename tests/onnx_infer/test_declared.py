"""What a model declares of its values: names are claims of its author; the table of merge policies."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from onnx_infer import ShapeInferenceContext, ShapeInferenceError, ValueInfo, infer, infer_shapes
from onnx_infer.types.merge import ShapeMergePolicy
from onnx_infer.values.tensor import SymTensor
from symdim import parse
from tests.onnx_infer.texts import both, declared, dims, parsed

CHOICE = "c = Greater (x, t)  a = Compress <axis = 0> (x, c)"
TWO = f"{CHOICE}  d = Greater (z, t)  b = Compress <axis = 0> (z, d)"


# -- names of data-dependent sizes -------------------------------------------------------------------------


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_data_dependent_size_is_not_the_input_size_that_is_declared_for_it(bidirectional: bool) -> None:
    model = parsed(f"g (float[N] x, float[1] t) => (float[N] a, s, y) {{ {CHOICE}  s = Shape (a)  y = Add (a, t) }}")
    result = both(model, bidirectional=bidirectional)
    assert [str(result.types[name]) for name in "asy"] == ["f32[_d0]", "i64[1]={_d0}", "f32[_d0]"]
    assert declared(result) == ["_d0 == N"]
    (guard,) = result.data_guards
    assert (guard.law, guard.operator) == ("declared of output 'a'", "Compress")
    assert str(result.guarantees["a"][0]) == "<=N"


def test_two_data_dependent_sizes_of_one_name_stay_two() -> None:
    result = both(parsed(f"g (float[N] x, float[M] z, float[1] t) => (float[K] a, float[K] b) {{ {TWO} }}"))
    assert [str(result.types[name]) for name in "ab"] == ["f32[K]", "f32[_d1]"]
    assert declared(result) == ["_d1 == K"]
    assert str(result.types["a"].shape[0].origin) != "name appears only in this value's declared shape"  # type: ignore[attr-defined]


def test_of_two_names_the_one_of_an_output_counts() -> None:
    model = parsed(f"g (float[N] x, float[1] t) => (float[K] y) {{ {CHOICE}  y = Relu (a) }}")
    model.graph.value_info.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, ("inner",)))
    assert [str(both(model).types[name]) for name in "ay"] == ["f32[K]", "f32[K]"]


def test_a_name_in_a_text_of_an_input_is_a_symbol_also_where_another_value_has_it() -> None:
    """Else a second inference of `y`, which the first one calls N, takes N for a size of at least 0."""
    start = "a = Shape (x)  one = Constant <value_ints = [1]> ()  n = Sub (a, one)  y = Expand (one, n)"
    cut = "less = Constant <value_ints = [2]> ()  m = Min (n, less)  z = Expand (one, m)"
    model = parsed(f'g (float["N + 1"] x) => (y, z) {{ {start}  {cut} }}')
    once = infer_shapes(model)
    assert [dims(info) for info in once.graph.output] == [["N"], ["min(N, 2)"]]
    assert infer(once).guards == []
    assert infer(once).types["y"].shape[0].bounds() == (1, None)  # type: ignore[attr-defined]
    assert infer_shapes(once) == once


@pytest.mark.parametrize("bidirectional", [False, True])
def test_what_is_declared_may_be_assumed(bidirectional: bool) -> None:
    outputs = "float[N] a, float[N] w, y"
    text = f"g (float[N] x, float[M] z, float[1] t) => ({outputs}) {{ {CHOICE}  w = Relu (z)  y = Add (a, x) }}"
    result = both(parsed(text), assume_declared=True, bidirectional=bidirectional)
    assert str(result.types["a"]) == str(result.types["y"]) == "f32[N]"
    assert declared(result) == []
    assert str(result.types["w"]) in ("f32[N]", "f32[M]")
    same = both(
        parsed(f"g (float[N] x, float[M] z, float[1] t) => (float[K] a, float[K] b) {{ {TWO} }}"), assume_declared=True
    )
    assert [str(same.types[name]) for name in "ab"] == ["f32[K]", "f32[K]"]
    infer(parsed(text), assume_declared=True, policy="strict")


def test_the_policy_override_adopts_nothing() -> None:
    model = parsed(f"g (float[N] x, float[1] t) => (float[N] a, float[K] y) {{ {CHOICE}  y = Relu (a) }}")
    result = both(model, policy="override")
    assert str(result.types["a"]) == str(result.types["y"]) == "f32[_d0]"
    assert declared(result) == []


BRANCHES = """g (float[N] x, float[1] t, bool p) => (y, w) {
    y = If (p) <then_branch = one () => (float[K] u) { c = Greater (x, t)  u = Compress <axis = 0> (x, c) },
                else_branch = two () => (float[K] v) { d = Less (x, t)  v = Compress <axis = 0> (x, d) }>
    w = If (p) <then_branch = three () => (float[N] r) { e = Greater (x, t)  r = Compress <axis = 0> (x, e) },
                else_branch = four () => (float[N] q) { q = Relu (x) }> }"""


def test_declared_names_in_branches_are_no_knowledge_and_stay_where_they_are_written() -> None:
    model = parsed(BRANCHES)
    result = both(model)
    y, w = (str(result.types[name]) for name in "yw")
    assert y != w
    assert "K" not in y
    assert w != "f32[N]"
    written = infer_shapes(model)
    graphs = [a.g for node in written.graph.node for a in node.attribute]
    assert sorted((g.name, dims(g.output[0])) for g in graphs if g.name in ("one", "two")) == [
        ("one", ["K"]),
        ("two", ["K"]),
    ]
    assert infer_shapes(written) == written


# -- the table of merge.py --------------------------------------------------------------------------------------------

TABLE: list[tuple[str, str, dict[str, str]]] = [
    # sizes of x, declared sizes of y: what refine, strict, skip and override say of y; "!" stands for an error
    ("4", "3", {"refine": "4 !", "strict": "!", "skip": "3", "override": "4"}),
    ("'N + 4'", "3", {"refine": "N + 4 !", "strict": "!", "skip": "3", "override": "N + 4"}),
    ("4", "3,3", {"refine": "4 !", "strict": "!", "skip": "3, 3", "override": "4"}),
    ("N", "'N + 2'", {"refine": "N !", "strict": "!", "skip": "N + 2", "override": "N"}),
    ("N", "?", {"refine": "N", "strict": "N", "skip": "N", "override": "N"}),
    ("4", "N", {"refine": "4 | N == 4", "strict": "4 | N == 4", "skip": "N | N == 4", "override": "4"}),
    ("N", "4", {"refine": "4 | N == 4", "strict": "4 | N == 4", "skip": "4 | N == 4", "override": "N"}),
    ("N", "M", {"refine": "N | M == N", "strict": "!", "skip": "M | M == N", "override": "N"}),
    ("'M + 2'", "N", {"refine": "M + 2 | N == M + 2", "strict": "!", "skip": "N | N == M + 2", "override": "M + 2"}),
    ("N", "K", {"refine": "N", "strict": "N", "skip": "K", "override": "N"}),
    ("4", "K", {"refine": "4", "strict": "4", "skip": "K", "override": "4"}),
]  # fmt: skip


def outcome(model: onnx.ModelProto, policy: ShapeMergePolicy, name: str = "y") -> str:
    try:
        result = infer(model, policy=policy)
    except ShapeInferenceError:
        return "!"
    shape = str(result.types[name]).partition("[")[2][:-1]
    return shape + "".join(f" | {g}" for g in declared(result)) + (" !" if result.diagnostics else "")


@pytest.mark.parametrize(("given", "claimed", "expected"), TABLE, ids=[f"{x} {y}" for x, y, _ in TABLE])
def test_every_row_of_the_table_of_policies(given: str, claimed: str, expected: dict[ShapeMergePolicy, str]) -> None:
    text = f"g (float[{given}] x, float[M] u, float[N] v) => (float[{claimed}] y) {{ y = Relu (x) }}".replace("'", '"')
    assert {policy: outcome(parsed(text), policy) for policy in expected} == expected


@pytest.mark.parametrize(("claimed", "expected"), [
    ("N", {"refine": "_d0 | _d0 == N", "strict": "!", "skip": "N | _d0 == N", "override": "_d0"}),
    ("5", {"refine": "5 | _d0 == 5", "strict": "5 | _d0 == 5", "skip": "5 | _d0 == 5", "override": "_d0"}),
    ("K", {"refine": "K", "strict": "K", "skip": "K", "override": "_d0"}),
    ("?", {"refine": "_d0", "strict": "_d0", "skip": "_d0", "override": "_d0"}),
])  # fmt: skip
def test_the_table_of_policies_for_data_dependent_sizes(claimed: str, expected: dict[ShapeMergePolicy, str]) -> None:
    model = parsed(f"g (float[N] x, float[1] t) => (float[{claimed}] a) {{ {CHOICE} }}")
    assert {policy: outcome(model, policy, "a") for policy in expected} == expected


@pytest.mark.parametrize(("kind", "dims", "expected"), [
    (TensorProto.INT64, ("N",), {"refine": "f32[N]!", "strict": "!", "skip": "i64[N]!", "override": "f32[N]"}),
    (TensorProto.FLOAT, None, {"refine": "f32[N]", "strict": "f32[N]", "skip": "f32[N]", "override": "f32[N]"}),
])  # fmt: skip
def test_the_table_of_policies_for_element_types_and_ranks(
    kind: int, dims: tuple[str, ...] | None, expected: dict[ShapeMergePolicy, str]
) -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu (x) }")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", kind, dims))
    for policy, text in expected.items():
        if text == "!":
            with pytest.raises(ShapeInferenceError, match="element types differ"):
                infer(model, policy=policy)
        else:
            result = infer(model, policy=policy)
            assert str(result.types["y"]) + "!" * len(result.diagnostics) == text


@pytest.mark.parametrize(("key", "value"), [(TensorProto.STRING, TensorProto.FLOAT), (TensorProto.INT64, 1), (8, 7)])
def test_the_keys_and_values_of_a_declared_map_are_those_inferred(key: int, value: int) -> None:
    model = parsed(
        'g (float[N, 2] x) => (y) { y = ai.onnx.ml.ZipMap <classlabels_strings=["a", "b"]> (x) }',
        '<ir_version: 8, opset_import: ["": 18, "ai.onnx.ml": 1]>',
    )
    declared = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    model.graph.output[0].type.CopyFrom(helper.make_sequence_type_proto(declared))
    result, is_right = infer(model), (key, value) == (TensorProto.STRING, TensorProto.FLOAT)
    assert [d.severity for d in result.diagnostics] == ["error"] * (not is_right)
    assert str(result.types["y"]) == "seq(map(str, f32[]); N)"
    if not is_right:
        with pytest.raises(ShapeInferenceError, match=r"the (key|element) types differ"):
            infer(model, policy="strict")


def test_strict_contexts_raise_for_two_symbols() -> None:
    context, value = ShapeInferenceContext(policy="strict"), ValueInfo("y", SymTensor(1, (parse("N"),)))
    with pytest.raises(ShapeInferenceError, match="not known to be equal"):
        context.set_shape(value, ["M"])


# -- values about which nothing is inferred ---------------------------------------------------------------------------

ODD = 'g (float[N] x) => (float[N, ?, K] o, float["2*N"] y) { o = com.acme.Odd (x)  y = com.acme.Odd (x) }'


@pytest.mark.parametrize("options", [{}, {"bidirectional": True}, {"policy": "strict"}])
def test_the_size_of_an_input_declared_where_nothing_is_inferred_is_a_guard(options: dict[str, Any]) -> None:
    result = both(parsed(ODD), **options)
    assert [str(result.types[name]) for name in "oy"] == ["f32[N, _d1, K]", "f32[2*N]"]
    assert [(str(g), g.law) for g in result.data_guards] == [
        ("_d0 == N", "declared of output 'o'"),
        ("_d2 == 2*N", "declared of output 'y'"),
    ]


@pytest.mark.parametrize(
    "node, bidirectional",
    [
        ("float[3, ?] y) { y = Flatten (o)", False),  # in both directions the second inference finds the 3 in `o`
        *(("y) { y = MatMul (o, w)", both_ways) for both_ways in (False, True)),
        *(("float[P, Q] y) { y = Neg (o)", both_ways) for both_ways in (False, True)),
    ],
)
def test_an_unknown_size_stays_unknown_under_the_name_that_an_inference_gave_it(node: str, bidirectional: bool) -> None:
    model = parsed(f"g (float[N] x, float[5, 7] w) => (o, {node}  o = com.acme.Odd (x) }}")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("o", TensorProto.FLOAT, (None, None)))
    model.graph.node.reverse()
    once = infer_shapes(model, bidirectional=bidirectional)
    assert infer_shapes(once, bidirectional=bidirectional) == once
    first, second = (both(m, bidirectional=bidirectional) for m in (model, once))
    assert str(second.types["o"]) == str(first.types["o"])
    assert list(map(str, second.data_guards)) == list(map(str, first.data_guards))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_size_of_an_input_declared_where_a_node_forces_a_number_is_a_guard(bidirectional: bool) -> None:
    """The number replaces the declared size in a second walk. What the author says of the input is not lost."""
    graph = """g (float[N] x, float[24] y) => (a, int64["N + 1"] b) <int64[1] t = {15}> {
        a, b = Unique<axis=0>(y) r = Reshape(a, t) }"""
    result = infer(parsed(graph), bidirectional=bidirectional)
    assert str(result.types["b"]) == "i64[15]"
