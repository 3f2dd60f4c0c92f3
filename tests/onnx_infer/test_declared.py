"""What a model declares: names are claims of its author, axes of inputs have names, texts that say nothing."""

from __future__ import annotations

from typing import Any

import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from onnx_infer import InferenceResult, ShapeInferenceContext, ShapeInferenceError, ValueInfo, infer, infer_shapes
from onnx_infer.integrations import onnx_ir
from onnx_infer.model.symbols import Symbols
from onnx_infer.protobuf.specialize import specialize
from onnx_infer.types.merge import ShapeMergePolicy
from onnx_infer.values.tensor import SymTensor
from symdim import UnboundName, parse
from tests.onnx_infer.texts import HEAD, messages, parsed

CHOICE = "c = Greater (x, t)  a = Compress <axis = 0> (x, c)"
TWO = f"{CHOICE}  d = Greater (z, t)  b = Compress <axis = 0> (z, d)"


def declared(result: InferenceResult) -> list[str]:
    """The guards that rest on declared types alone."""
    return [str(g) for g in (*result.guards, *result.data_guards) if g.kind == "declared"]


def both(model: onnx.ModelProto, **options: Any) -> InferenceResult:
    """The result, which the front end of onnx_ir has too."""
    result = infer(model, **options)
    other = onnx_ir.infer(ir.from_proto(model), **options)
    assert {n: str(v) for n, v in other.types.items()} == {n: str(v) for n, v in result.types.items()}
    assert list(map(str, (*other.guards, *other.data_guards))) == list(map(str, (*result.guards, *result.data_guards)))
    return result


def dims(info: onnx.ValueInfoProto) -> list[str | int | None]:
    shape = info.type.tensor_type.shape
    return [getattr(d, d.WhichOneof("value")) if d.WhichOneof("value") else None for d in shape.dim]


# -- names of sizes that only the data decide -------------------------------------------------------------------------


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
    assert str(result.types["a"].shape[0].origin) != "declared for this value only"  # type: ignore[attr-defined]


def test_sizes_that_operators_force_to_be_equal_share_a_name() -> None:
    text = f"g (float[N] x, float[M] z, float[1] t) => (float[K] a, float[K] b, y) {{ {TWO}  y = MatMul (a, b) }}"
    result = both(parsed(text))
    assert [str(result.types[name]) for name in "ab"] == ["f32[K]", "f32[K]"]
    assert declared(result) == []


def test_of_two_names_the_one_of_an_output_counts() -> None:
    model = parsed(f"g (float[N] x, float[1] t) => (float[K] y) {{ {CHOICE}  y = Relu (a) }}")
    model.graph.value_info.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, ("inner",)))
    assert [str(both(model).types[name]) for name in "ay"] == ["f32[K]", "f32[K]"]


def test_a_name_that_an_unknown_operator_declares_is_taken() -> None:
    model = parsed(f"g (float[N] x, float[1] t) => (float[K] y, float[K] a) {{ y = com.acme.Odd (x)  {CHOICE} }}")
    result = both(model)
    assert [str(result.types[name]) for name in "ya"] == ["f32[K]", "f32[_d0]"]
    assert declared(result) == ["_d0 == K"]


def test_one_name_for_two_sizes_of_inputs_is_a_guard_and_told_where_they_differ() -> None:
    text = "g (float[N] x, float[M] z) => (float[K] y, float[K] w) {{ y = Relu (x)  w = {} }}"
    assert declared(both(parsed(text.format("Relu (z)")))) == ["N == M"]
    result = both(parsed(text.format("Pad (x, p)").replace("{ y", "{ p = Constant <value_ints = [0, 2]> ()  y")))
    assert messages(result) == ["value 'w': declared K, which is N elsewhere, but inferred N + 2"]


def test_a_declared_number_is_taken_and_kept_as_a_guard() -> None:
    model = parsed(f"g (float[N] x, float[1] t) => (float[5] a, float[4] y) {{ {CHOICE}  y = Relu (x) }}")
    result = both(model)
    assert [str(result.types[name]) for name in "ay"] == ["f32[5]", "f32[4]"]
    assert sorted(declared(result)) == ["N == 4", "_d0 == 5"]


@pytest.mark.parametrize("names", ["MN", "NM"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_declared_and_inferred_symbols_of_inputs_become_a_guard(names: str, bidirectional: bool) -> None:
    model = parsed(
        "g (float[{1}] x, float[{0}] z) => (float[{0}] y, w) {{ y = Relu (x)  w = Relu (z) }}".format(*names)
    )
    result = both(model, bidirectional=bidirectional)
    assert str(result.types["y"]) == f"f32[{names[1]}]"
    assert declared(result) == [f"{names[0]} == {names[1]}"]


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


def test_names_of_inputs_of_bodies_are_none_for_what_data_decide() -> None:
    text = f"""g (float[N] x, float[M] z, float[1] t, int64 n, bool k) => (o) {{ {TWO}
        o = If (k) <then_branch = one () => (s) {{ s = Concat <axis = 0> (a, b) }},
                    else_branch = two () => (r) {{ r = Concat <axis = 0> (a, b) }}> }}"""
    assert str(both(parsed(text)).types["o"]) == "f32[_d0 + _d1]"
    scan = parsed(f"""g (float[N] x, float[M] z, float[1] t, float[3, 2] rows) => (fa, fb, ys) {{ {TWO}
        fa, fb, ys = Scan <num_scan_inputs = 1, body = body (float[K] i, float[K] j, float[2] row) => (i2, j2, e) {{
            i2 = Identity (i)  j2 = Identity (j)  e = Concat <axis = 0> (i, j) }}> (a, b, rows) }}""")
    result = infer(scan)
    assert str(result.types["fa"]) != str(result.types["fb"])
    assert str(result.types["ys"]) == "f32[3, _d0 + _d1]"


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


def test_strict_contexts_raise_for_two_symbols() -> None:
    context, value = ShapeInferenceContext(policy="strict"), ValueInfo("y", SymTensor(1, (parse("N"),)))
    with pytest.raises(ShapeInferenceError, match="not known to be equal"):
        context.set_shape(value, ["M"])


# -- axes of inputs without a name ------------------------------------------------------------------------------------


def test_axes_of_inputs_without_a_name_get_one_that_stays() -> None:
    model = parsed("g (float[?, 3] x, float[1] t) => (y, a) { y = Relu (x)  c = Greater (t, t)  a = Compress (t, c) }")
    result = both(model)
    assert [str(result.types[name]) for name in "xya"] == ["f32[x_dim_0, 3]", "f32[x_dim_0, 3]", "f32[_d0]"]
    assert result.symbols["x_dim_0"].bounds() == (1, None)
    written = infer_shapes(model)
    assert dims(written.graph.input[0]) == ["x_dim_0", 3]
    assert infer_shapes(written).SerializeToString() == written.SerializeToString()
    shaped = onnx_ir.infer_shapes(ir.from_proto(model))
    assert str(shaped.graph.inputs[0].shape) == "[x_dim_0,3]"
    assert not onnx_ir.SymbolicShapeInferencePass()(shaped).modified
    assert not model.graph.input[0].type.tensor_type.shape.dim[0].dim_param


@pytest.mark.parametrize("policy", ["refine", "override", "skip"])
def test_inference_of_what_was_written_changes_nothing(policy: ShapeMergePolicy) -> None:
    model = parsed(f"g (float[?] x, float[?, M] v, float[1] t) => (a, y, w) {{ {CHOICE}  y = Concat <axis = 0> (a, x)"
                   " w = Expand (v, s)  s = Shape (a) }")  # fmt: skip
    written = infer_shapes(model, policy=policy)
    assert infer_shapes(written, policy=policy).SerializeToString() == written.SerializeToString()


def test_names_of_axes_are_identifiers_and_no_others() -> None:
    model = parsed("g (float[?] x, float[?] v, float[x_dim_0] z) => (float[A, B] y) { y = com.acme.Odd (x) }")
    for info, name in zip(model.graph.input, ("in:0", "in.0", "z"), strict=True):
        info.name = name
    model.graph.node[0].input[0] = "in:0"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "2*in_0_dim_0_1"
    assert [str(both(model).types[name]) for name in ("in:0", "in.0", "z")] == [
        "f32[in_0_dim_0]", "f32[in_0_dim_0_2]", "f32[x_dim_0]",
    ]  # fmt: skip


def test_an_axis_without_a_name_takes_that_of_an_output() -> None:
    model = parsed("g (float[?, 3] x) => (float[A, B] y) { y = Relu (x) }")
    result = both(model)
    assert str(result.types["x"]) == str(result.types["y"]) == "f32[A, 3]"
    assert declared(result) == []
    assert str(both(model, adopt_declared_symbols=False).types["y"]) == "f32[x_dim_0, 3]"
    for name in ("A", "x_dim_0"):
        assert both(model, bounds={name: (2, 5)}).types["y"].shape[0].bounds() == (2, 5)  # type: ignore[attr-defined]
        assert str(infer(specialize(model, {name: 4})).types["y"]) == "f32[4, 3]"
    with pytest.raises(UnboundName):
        specialize(model, {"x_dim_1": 4})


def test_an_input_of_the_same_name_keeps_an_axis_from_taking_it() -> None:
    result = both(parsed("g (float[?] x, float[N] z) => (float[N] y, w) { y = Relu (x)  w = Relu (z) }"))
    assert [str(result.types[name]) for name in "xy"] == ["f32[x_dim_0]", "f32[x_dim_0]"]
    assert declared(result) == ["N == x_dim_0"]


def test_axes_of_optional_inputs_are_named_and_those_in_sequences_are_not() -> None:
    shape = helper.make_tensor_type_proto(TensorProto.FLOAT, [None, 3])
    model = parsed("g (float[1] x, float[1] z) => (y) { y = SequenceAt (z, i)  i = Constant <value_int = 0> () }")
    model.graph.input[0].type.CopyFrom(helper.make_optional_type_proto(shape))
    model.graph.input[1].type.CopyFrom(helper.make_sequence_type_proto(shape))
    result = both(model)
    assert [str(result.types[name]) for name in "xzy"] == ["optional(f32[x_dim_0, 3])", "seq(f32[?, 3])", "f32[_d0, 3]"]
    written = infer_shapes(model)
    assert infer_shapes(written) == written
    assert written.graph.input[0].type.optional_type.elem_type.tensor_type.shape.dim[0].dim_param == "x_dim_0"
    assert written.graph.input[1] == model.graph.input[1]


# -- texts that say nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["?", "", "*", " ", "...", "_", "-1", " -1 ", "#?!"])
def test_texts_that_say_nothing_are_another_size_each_time(text: str) -> None:
    model = parsed("g (float[A, A] x) => (float[A, A] y, float[A, A] w) { y = Relu (x)  w = com.acme.Odd (x) }")
    for info in (*model.graph.input, *model.graph.output):
        for dim in info.type.tensor_type.shape.dim:
            dim.dim_param = text
    result = both(model)
    assert str(result.types["y"]) == "f32[x_dim_0, x_dim_1]"
    assert str(result.types["w"]) == "f32[_d0, _d1]"
    assert not messages(result)[1:]


def test_a_negative_size_is_unknown() -> None:
    model = parsed("g (float[A, 3] x) => (float[A, 3] y) { y = Relu (x) }")
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.shape.dim[0].dim_value = -1
    assert str(both(model).types["y"]) == "f32[x_dim_0, 3]"
    assert not messages(infer(model))


def test_texts_are_read_with_the_bounds_of_their_symbols() -> None:
    assert str(Symbols(["N", "max(N, 1)"], min_dim=0).text("max(N, 1)")) == "max(N, 1)"
    assert str(Symbols(["N"], ["_d0"]).text("max(_d0, 1)")) == "max(_d0, 1)"
    assert str(Symbols(["N"]).text("max(N, 1)")) == "N"


# -- initializers -----------------------------------------------------------------------------------------------------

RESHAPE = """g (float[N, 6] x, int64[2] s) => (y, z) <int64[2] s = {3, -1}> {
    c = Identity (s)  y = Reshape (x, c)  z = NonZero (x) }"""


def test_value_infos_of_initializers_stay() -> None:
    model = parsed("g (float[N, 6] x) => (y) <int64[2] s = {3, -1}> { y = Reshape (x, s) }")
    model.graph.value_info.append(helper.make_tensor_value_info("s", TensorProto.INT64, (2,)))
    written = infer_shapes(model)
    assert list(written.graph.value_info) == list(model.graph.value_info)
    assert infer_shapes(written).SerializeToString() == written.SerializeToString()


def test_initializers_that_callers_may_override_are_named_and_may_be_taken_as_constants() -> None:
    model = parsed(RESHAPE)
    result = both(model)
    assert str(result.types["y"]) == "f32[_d0, _d1]"
    assert "a caller may override 's', unless initializers=\"constant\"" in result.notes["y"]
    assert "override" not in result.notes["z"]
    constant = both(model, initializers="constant")
    assert str(constant.types["y"]) == "f32[3, 2*N]"
    assert constant.inputs == ["x"]
    old = parsed(RESHAPE, HEAD.replace("ir_version: 10", "ir_version: 3"))
    assert str(infer(old).types["y"]) == "f32[3, 2*N]"
    with pytest.raises(ValueError, match="initializers 'odd'"):
        infer(model, initializers="odd")  # type: ignore[arg-type]
