"""Inference in both directions: what comes back, what must stay unknown, and that nothing is lost or wrong."""

from __future__ import annotations

import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

import onnx
import pytest

from onnx_infer import InferenceResult, infer, infer_shapes
from onnx_infer.constraints import forms
from onnx_infer.laws.readable import MOST_LEAVES_OF_A_CHOICE
from symdim import ParseError
from symdim.algebra.texts.written import leaf_count
from tests.onnx_infer import models
from tests.onnx_infer.oracle import contradictions
from tests.onnx_infer.test_models import SIZES, feeds, run
from tests.onnx_infer.texts import dims, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MODELS = [models.decoder, models.cnn, models.unet, models.windows]


def erased(model: onnx.ModelProto, names: Collection[str] | None = None) -> onnx.ModelProto:
    """A copy in which these inputs, or all, have no shape: not even their rank is known."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for info in copy.graph.input:
        if names is None or info.name in names:
            info.type.tensor_type.ClearField("shape")
    return copy


def found(graph: str, *, assume: Collection[str] = ()) -> dict[str, str]:
    """The types that inference in both directions finds, without their element types."""
    result = infer(parsed(graph), bidirectional=True, assume=list(assume))
    assert not [str(d) for d in result.diagnostics]
    return {name: str(value)[str(value).index("[") :] for name, value in result.types.items()}


# -- what comes back ----------------------------------------------------------------------------------------------


def test_names_are_not_adopted_where_the_caller_says_so() -> None:
    model = parsed("g (float[] x, float[784, 10] w) => (float[batch, 10] y) { y = MatMul (x, w) }")
    result = infer(model, bidirectional=True, adopt_declared_symbols=False)
    assert str(result.types["x"]) == "f32[x_dim_0, 784]"


def test_statements_about_symbols_decide_them_together() -> None:
    """Else a second inference knows more than the first, because it reads what statements imply from the file."""
    model = parsed("""g (float[3, "max(L, 3)"] x, float[L, L] w) => (y) {
        s = Shape (w)  e = Expand (x, s)  y = MatMul (e, w) }""")
    once = infer_shapes(model, bidirectional=True)
    assert [dims(info) for info in once.graph.input] == [[3, 3], [3, 3]]
    assert infer_shapes(once, bidirectional=True) == once
    types = found("""g (float[1, 1, S] x, float[1, 1, 3] w, float[3, D] table) => (y, z) {
        y = Conv (x, w)  h = Shape <start = 2> (x)  n = Squeeze (h)  zero = Constant <value_int = 0> ()
        one = Constant <value_int = 1> ()  r = Range (zero, n, one)  z = Gather (table, r) }""")
    assert (types["x"], types["y"], types["z"]) == ("[1, 1, 3]", "[1, 1, 1]", "[3, D]")


def test_the_inputs_of_the_model_are_written() -> None:
    model = parsed("g (float[] x, float[64, 3, 7, 7] w) => (y) { y = Conv (x, w) }")
    written = infer_shapes(model, bidirectional=True)
    dims = [d.dim_param or d.dim_value for d in written.graph.input[0].type.tensor_type.shape.dim]
    assert dims == ["x_dim_0", 3, "x_dim_2", "x_dim_3"]
    assert not model.graph.input[0].type.tensor_type.HasField("shape")
    onnx.checker.check_model(written)


# -- large models -------------------------------------------------------------------------------------------------


def test_sizes_that_are_too_large_to_read_stay_unknown() -> None:
    """The store solves each size as an expression of the first one. Its text doubles with each layer."""
    layers = "a{i} = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (v{i}) v{j} = Resize (a{i}, , f)"
    text = " ".join(layers.format(i=i, j=i + 1) for i in range(16))
    model = parsed(f"g (float[N, 3, H] v0) => (v16) <float[3] f = {{1, 1, 1.5}}> {{ {text} }}")
    types = infer(model, bidirectional=True).types
    assert max(leaf_count(size) for value in types.values() for size in value.shape) == 256


def test_long_chains_of_broadcasts_have_short_sizes() -> None:
    inputs = ", ".join(f"float[N{i}] x{i}" for i in range(81))
    nodes = " ".join(f"x{81 + i} = Add (x{80 + i if i else 0}, x{i + 1})" for i in range(80))
    types = infer(parsed(f"g ({inputs}) => (x160) {{ {nodes} }}"), bidirectional=True).types
    assert max(leaf_count(size) for value in types.values() for size in value.shape) == MOST_LEAVES_OF_A_CHOICE


# -- contradictions -----------------------------------------------------------------------------------------------


def test_a_contradiction_is_told_with_its_chain_and_costs_its_node_only() -> None:
    model = parsed("g (float[] x, float[3, 8] v, float[5, 8] w, float[] image, float[8, 3, 1, 1] k) => (a, b, c) {"
                   " a = MatMul (x, v)  b = MatMul (x, w)  c = Conv (image, k) }")  # fmt: skip
    result = infer(model, bidirectional=True)
    (message,) = [str(d) for d in result.diagnostics if "MatMul-" not in str(d)]
    assert message.startswith("size mismatch")
    assert "(a, v, axis -2)" in message
    assert "(b, w, axis -2)" in message
    assert str(result.types["image"]) == "f32[image_dim_0, 3, image_dim_2, image_dim_3]"


def test_a_defect_of_a_form_costs_its_facts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(s: object) -> None:
        raise KeyError("oops")

    monkeypatch.setitem(forms._rules, ("", "Neg"), {1: forms.get("", "Neg", 18)._replace(shape=broken)})  # type: ignore[union-attr]
    monkeypatch.setattr(forms, "_remembered", {})
    result = infer(
        parsed("g (float[] x, float[64, 3, 7] w) => (y) { a = Conv (x, w)  y = Neg (a) }"), bidirectional=True
    )
    assert [d.severity for d in result.diagnostics] == ["defect"]
    assert str(result.types["x"]) == "f32[x_dim_0, 3, x_dim_2]"


@pytest.mark.parametrize("node", ["BatchNormalization (x)", "Gemm (x)", "Attention (z, z, z)"])
def test_a_malformed_node_states_no_relations(node: str) -> None:
    """Too few inputs, or no outputs."""
    model = parsed(f"g (float[] x, float[4] v, float[64, 3, 7] w) => (y) {{ z = Conv (x, w) y = {node} }}")
    for _ in range(2):
        result = infer(model, bidirectional=True)
        assert "defect" not in {d.severity for d in result.diagnostics}
        assert str(result.types["x"]) == "f32[x_dim_0, 3, x_dim_2]"
        del model.graph.node[1].output[:], model.graph.output[:]


# -- assumptions --------------------------------------------------------------------------------------------------


def test_assumptions_simplify_sizes() -> None:
    graph = """g (float[N, C, H, W] x, float[past] p, float[seq] s, float[total] t) => (y, z) {
        scales = Constant <value_floats = [1.0, 1.0, 8.0, 8.0]> ()
        a = MaxPool <kernel_shape = [8, 8], strides = [8, 8]> (x)  y = Resize (a, , scales)
        z = Concat <axis = 0> (p, s) }"""
    assume = ["H % 8 == 0", "total == past + seq"]
    for both in (False, True):
        result = infer(parsed(graph), assume=assume, bidirectional=both)
        assert str(result.types["y"]) == "f32[N, C, H, 8*(W//8)]"
        assert str(result.types["z"]) == "f32[total]"


def test_assumptions_are_facts_of_the_store() -> None:
    model = parsed("g (float[K] x, float[N, M] w) => (y) { y = MatMul (x, w) }")
    result = infer(model, bidirectional=True, assume=["K == 8"])
    assert [str(result.types[name]) for name in "xwy"] == ["f32[8]", "f32[8, M]", "f32[M]"]


def test_what_is_no_relation_is_refused() -> None:
    with pytest.raises(ParseError):
        infer(parsed("g (float[N] x) => (y) { y = Neg (x) }"), assume=["N"])


# -- whole models -------------------------------------------------------------------------------------------------


def check_against_runs(result: InferenceResult, model: onnx.ModelProto) -> None:
    """Compare every value with runs of the model, which has the shapes of its inputs."""
    assert not [str(d) for d in result.diagnostics]
    for sizes in SIZES:
        shapes = {name: x.shape for name, x in feeds(model, sizes).items() if name in result.shapes}
        found = {v.name: size for v, size in result.sources.bindings(shapes).items() if not isinstance(v, str)}
        for name, actual in run(model, sizes).items():
            assert list(contradictions(result.types.get(name), actual, found)) == [], name


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kept", [0, 1])
def test_nothing_is_wrong_of_models_with_erased_inputs(make: Callable[[], onnx.ModelProto], kept: int) -> None:
    model = make()
    result = infer(erased(model, [info.name for info in model.graph.input][kept:]), bidirectional=True)
    check_against_runs(result, model)


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_wrong_where_some_sizes_have_lost_their_names(seed: int) -> None:
    random = Random(seed)
    model = random.choice(MODELS)()
    probe = erased(model, [info.name for info in model.graph.input if random.random() < 0.3])
    for info in probe.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if random.random() < 0.5:
                dim.Clear()
    result = infer(probe, bidirectional=True)
    check_against_runs(result, model)


@pytest.mark.parametrize(("make", "expected"), [
    (models.cnn, {"image": "f32[image_dim_0, 3, image_dim_2, image_dim_3]"}),
    (models.decoder, {"past_0_k": "f32[past_0_k_dim_0, 2, past_0_k_dim_2, 8]"}),
], ids=["cnn", "decoder"])  # fmt: skip
def test_what_comes_back_of_whole_models(make: Callable[[], onnx.ModelProto], expected: dict[str, str]) -> None:
    types = infer(erased(make()), bidirectional=True).types
    assert {name: str(types[name]) for name in expected} == expected


def test_a_rank_at_which_no_run_is_possible_is_excluded() -> None:
    model = models.decoder()
    for output in model.graph.output:
        if output.name == "logits":
            output.type.tensor_type.shape.dim.extend(onnx.TensorShapeProto.Dimension() for _ in range(3))
    types = infer(erased(model), bidirectional=True).types
    # a vector would do for the residual sums, but not for the heads
    assert str(types["input_ids"]) == "i64[input_ids_dim_0, input_ids_dim_1]"
    assert str(types["past_1_v"]) == "f32[input_ids_dim_0, 2, past_0_k_dim_2, 8]"
    assert str(types["logits"]) == "f32[input_ids_dim_0, input_ids_dim_1, 100]"


def test_a_run_in_both_directions_knows_at_least_what_a_forward_one_knows() -> None:
    for build in MODELS:
        forward, both = infer(build()), infer(build(), bidirectional=True)
        assert {n: str(v) for n, v in forward.types.items()} == {n: str(v) for n, v in both.types.items()}


def test_a_value_of_whose_node_nothing_is_stated_has_sizes_that_statements_decide() -> None:
    """MaxpoolWithMask has no constraint form. A second inference reads the type of y, and finds the same."""
    model = parsed(
        """g (float[N, 3, 5, K] x, int32[1, 1, 5, 6] m) => (y) {
            y = com.microsoft.MaxpoolWithMask <kernel_shape = [2, 2], strides = [2, 2]> (x, m) }""",
        '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>',
    )
    once = infer_shapes(model, bidirectional=True)
    assert dims(once.graph.output[0]) == ["N", 3, 2, 3]
    assert dims(once.graph.input[0]) == ["N", 3, 5, 6]
    assert infer_shapes(once, bidirectional=True) == once


@pytest.mark.parametrize(
    "call", ["Expand (x, f)", "Reshape (x, f)", "ConstantOfShape (f)", "Tile (x, f)", "Slice (x, f, f)"]
)
def test_floats_in_place_of_sizes_state_nothing(call: str) -> None:
    model = parsed(f"g (float[] x, float[2] z) => (y) <float[1] f = {{0.5}}> {{ y = {call} u = Add (y, z) }}")
    (told,) = infer(model, bidirectional=True).diagnostics
    assert "has element type tensor(float)" in told.message


def test_a_forward_run_loads_nothing_of_it() -> None:
    packages = ("onnx_infer.constraints", "onnx_infer.bidirectional", "symdim.store")
    code = f"""import sys, onnx_infer
from onnx_infer.tools.cli.files import demo_model
onnx_infer.infer(demo_model())
sys.exit(any(name.startswith({packages}) for name in sys.modules))"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_operands_that_are_no_tensors_are_not_joined() -> None:
    """A comparison of sequences is an error of its node only."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 23]> g (float[N, 3] x) => (y, z) {
        s = SplitToSequence (x) y = Equal (s, s) z = Relu (x) }"""
    )
    result = infer(model, bidirectional=True)
    assert [told.node for told in result.diagnostics] == ["y"]
    assert [str(result.types[name]) for name in "yz"] == ["bool[...]", "f32[N, 3]"]
