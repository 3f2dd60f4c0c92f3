"""`fold`, `bind` and renaming: what a file says of a value or symbol by its name stays true, or goes with it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import NodeProto, numpy_helper

from onnx_infer import fold, rename_symbols
from onnx_infer.protobuf.specialize import specialize, with_input_shapes

from .folding import compare
from .texts import parsed

HEAD = '<ir_version: 11, opset_import: ["": 22]>'
PADDED = "g (float[N, 4] x) => (float[N, 4] y) { s = Shape (x)  t = Reshape (x, s)  y = Relu (t) }"


def place(node: NodeProto, value: str, stage: int = 0) -> None:
    """Let a node run on two devices, with the first axis of one value of it divided among them."""
    configuration = node.device_configurations.add(configuration_id="pair", pipeline_stage=stage)
    axis = configuration.sharding_spec.add(tensor_name=value, device=[0, 1]).sharded_dim.add(axis=0)
    axis.simple_sharding.add(dim_param="N", num_shards=2)


def sharding(node: NodeProto) -> list[tuple[str, str | int]]:
    """The sharded values of a node, each with its size."""
    specs = [spec for configuration in node.device_configurations for spec in configuration.sharding_spec]
    dims = [(spec.tensor_name, spec.sharded_dim[0].simple_sharding[0]) for spec in specs]
    return [(name, dim.dim_param or dim.dim_value) for name, dim in dims]


def placed(text: str, **values: str) -> onnx.ModelProto:
    """A model whose nodes of these outputs have a sharding of these values."""
    model = parsed(text, HEAD)
    model.configuration.add(name="pair", num_devices=2)
    for node in model.graph.node:
        if node.output[0] in values:
            place(node, values[node.output[0]])
    return model


def test_a_sharding_follows_the_input_of_its_node() -> None:
    folded = fold(placed(PADDED, y="t"))
    assert [(node.op_type, list(node.input), sharding(node)) for node in folded.graph.node] == [
        ("Relu", ["x"], [("x", "N")])
    ]


@pytest.mark.parametrize(("stages", "left"), [((0, 0), 1), ((0, 1), 2)])
def test_nodes_of_two_stages_are_not_merged(stages: tuple[int, int], left: int) -> None:
    model = placed("g (float[N, 4] x) => (float[N, 4] y) { a = Relu (x)  b = Relu (x)  y = Add (a, b) }")
    for node, stage in zip(model.graph.node, stages, strict=False):
        place(node, "x", stage)
    assert [node.op_type for node in fold(model).graph.node].count("Relu") == left


def test_a_symbol_of_a_sharding_is_renamed_and_fixed() -> None:
    model = placed(PADDED, y="t")
    for changed, size in (
        (specialize(model, {"N": 6}), 6),
        (with_input_shapes(model, {}, {"N": "2*half"}), "2*half"),
        (rename_symbols(model, {"N": "batch"}), "batch"),
    ):
        assert sharding(changed.graph.node[2]) == [("t", size)]


def test_numbers_of_a_sharding_go_with_those_of_its_value() -> None:
    model = placed(PADDED.replace("N", "6"), y="t")
    model.graph.node[2].device_configurations[0].sharding_spec[0].sharded_dim[0].simple_sharding[0].dim_value = 6
    assert sharding(with_input_shapes(model, {"x": ("N", 4)}).graph.node[2]) == [("t", 0)]


def annotate(model: onnx.ModelProto, value: str) -> None:
    """Write a quantization annotation of a value, with its scale and zero point."""
    note = model.graph.quantization_annotation.add(tensor_name=value)
    for key, kind in (("SCALE_TENSOR", np.float32), ("ZERO_POINT_TENSOR", np.uint8)):
        note.quant_parameter_tensor_names.add(key=key, value=f"{value}_{key}")
        model.graph.initializer.append(numpy_helper.from_array(np.array(1, kind), f"{value}_{key}"))


def test_an_annotation_keeps_its_scale_and_goes_with_its_value() -> None:
    model = parsed(
        """g (float[N, 4] x) => (float[N, 4] y) <float[4] w = {1, 2, 3, 4}, float[4] spare = {1, 2, 3, 4}> {
            t = Add (x, w)  u = Mul (x, w)  y = Relu (t) }""",
        HEAD,
    )
    annotate(model, "t")
    annotate(model, "u")
    folded = fold(model)
    assert [note.tensor_name for note in folded.graph.quantization_annotation] == ["t"]
    assert {tensor.name for tensor in folded.graph.initializer} == {"w", "t_SCALE_TENSOR", "t_ZERO_POINT_TENSOR"}


@pytest.mark.parametrize("rank", [0, 1])
def test_a_counter_of_a_loop_keeps_the_rank_that_the_body_declares(rank: int) -> None:
    """Exporters write counters of one element. A runtime gives the body a tensor of this rank, and Slice needs it."""
    start, counter = ("c", "int64[1] i") if rank else ("c1", "int64 i")
    model = parsed(
        f"""g (float[N, 4] x) => (float[a, b] y) <
            int64 trips = {{1}}, bool yes = {{1}}, int64[2] table = {{0, 1}}, int64[1] one = {{1}},
            int64[1] axis = {{0}}> {{
            y = Loop <body = b ({counter}, bool go, float[k, l] v) => (bool again, float[m, n] kept) {{
                c = Gather (table, i)  c1 = Unsqueeze (c, axis)  e = Add ({start}, one)
                kept = Slice (x, {start}, e, axis)  again = Identity (go) }}> (trips, yes, x) }}""",
        HEAD,
    )
    folded = fold(model)
    assert len(folded.graph.node[0].attribute[0].g.node) < len(model.graph.node[0].attribute[0].g.node)
    compare(model, folded, (1, 3))
