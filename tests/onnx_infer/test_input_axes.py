"""Axes of inputs without a name, texts that say nothing, and initializers that callers may override."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from onnx_infer import infer, infer_shapes
from onnx_infer.integrations import onnx_ir
from onnx_infer.model.symbols import Symbols
from onnx_infer.protobuf.specialize import specialize
from onnx_infer.types.merge import ShapeMergePolicy
from symdim import SymdimError, UnboundName
from tests.onnx_infer.texts import HEAD, both, declared, dims, messages, parsed

CHOICE = "c = Greater (x, t)  a = Compress <axis = 0> (x, c)"


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


def test_sizes_are_given_wherever_a_type_has_them() -> None:
    def tensor() -> onnx.TypeProto:
        return helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", "N - 5"])

    kinds = [tensor(), helper.make_sequence_type_proto(tensor()), helper.make_map_type_proto(7, tensor())]
    kinds.append(helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor())))
    inner = [helper.make_graph([], "inner", [], [helper.make_value_info("b", tensor())])]
    node = helper.make_node("Odd", [], ["c"], domain="com.acme", bodies=inner)
    inputs = [helper.make_value_info(f"x{i}", kind) for i, kind in enumerate(kinds)]
    model = helper.make_model(helper.make_graph([node], "g", inputs, []))
    found = specialize(model, {"N": 8})
    assert "dim_param" not in str(found)
    assert str(found).count("dim_value: 8") == str(found).count("dim_value: 3") == 5
    with pytest.raises(SymdimError, match="N - 5 is -2 at these sizes"):
        specialize(model, {"N": 3})


def test_a_negative_size_in_a_branch_is_left_out() -> None:
    """The Split cannot make three parts at M = 1, but the other branch runs."""
    model = parsed("""g (float[M] x, bool c) => (float[M] y) { y = If(c) <
        then_branch = t () => (a) { p, q, r = Split<num_outputs=3>(x) a = Concat<axis=0>(p, q, r) },
        else_branch = e () => (b) { b = Neg(x) }> }""")
    fixed = specialize(infer_shapes(model), {"M": 1})
    sizes = {info.name: dims(info) for info in fixed.graph.node[0].attribute[0].g.value_info}
    assert sizes == {"p": [1], "q": [1], "r": [None]}
    assert str(infer(fixed).types["y"]) == "f32[1]"
