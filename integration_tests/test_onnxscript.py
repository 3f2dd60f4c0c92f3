"""onnxscript's optimizer and builders with this package's inference."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxscript
import pytest
from onnxscript import optimizer

from onnx_infer.integrations import onnx_ir
from onnx_infer.integrations.onnxscript import ShapeInferenceWarning, install, installed, optimize, uninstall

from . import models

FLOAT = ir.DataType.FLOAT
ERROR = "pkg.onnxscript.shape_inference_error"


@pytest.mark.parametrize("name", ["attention", "windows"])
def test_no_more_nodes_are_left_and_the_model_runs_the_same(name: str) -> None:
    proto = models.model(name)
    theirs, ours = optimizer.optimize(models.model(name)), optimize(proto)
    assert isinstance(ours, onnx.ModelProto)
    assert len(ours.graph.node) <= len(theirs.graph.node)
    onnx.checker.check_model(ours, full_check=True)
    assert len(models.types(ours)) == len({o for n in ours.graph.node for o in n.output})
    for a, b in zip(models.run(proto, models.inputs(name)), models.run(ours, models.inputs(name)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_the_root_of_the_head_size_becomes_a_constant() -> None:
    nodes = [node.op_type for node in optimize(ir.from_proto(models.model("attention"))).graph]
    assert not {"Sqrt", "Cast"} & set(nodes)


def test_what_is_assumed_makes_constants() -> None:
    def count(**options: object) -> int:
        return len(optimize(ir.from_proto(models.model("attention")), **options).graph)  # type: ignore[arg-type]

    assert count(bounds={"batch": (1, 1), "seq": (1, 1)}) < count()


# -- node by node -----------------------------------------------------------------------------------------------------


def new_builder() -> Any:
    return onnxscript.GraphBuilder(ir.Graph([], [], nodes=[], opset_imports={"": 23}, name="g"))


def build(builder: Any) -> dict[str, ir.Value]:
    """A cache, heads, a Loop, a function and what only the data decide."""
    op = builder.op
    x = builder.input("x", FLOAT, ["batch", "seq", 64])
    past = builder.input("past", FLOAT, ["batch", "past", 64])
    keys = op.Concat(past, x, axis=1)
    heads = op.Reshape(keys, op.Concat(op.Shape(keys, start=0, end=2), [4, 16], axis=0))
    names = ("i", "go_on", "state"), ("still", "next", "item")
    body = builder.subgraph(
        lambda op, i, go_on, state: (op.Identity(go_on), op.Relu(state), op.Concat(state, keys, axis=1)),
        *([ir.Value(name=name) for name in group] for group in names),
    )
    last, items = op.Loop(3, None, x, body=body, _outputs=2)
    swap = onnxscript.build_function(
        lambda op, a: op.Transpose(a, perm=[0, 2, 1]), [ir.Value(name="a")], domain="acme", name="Swap",
        opset_imports={"": 23},
    )  # fmt: skip
    swapped = builder.call(swap, x)
    found = op.Concat(op.NonZero(x), op.NonZero(keys), axis=1)
    return {"heads": heads, "last": last, "items": items, "swapped": swapped, "found": found, "inner": body.outputs[2]}


def test_a_builder_knows_types_at_once() -> None:
    builder = new_builder()
    with installed():
        made = build(builder)
    assert {name: str(value.shape) for name, value in made.items()} == {
        "heads": "[batch,past + seq,4,16]",
        "last": "[batch,seq,64]",
        "items": "[3,batch,past + 2*seq,64]",
        "swapped": "[batch,64,seq]",
        "found": "[3,_d2 + _d3]",
        "inner": "[batch,_d0 + past + seq,64]",
    }
    assert not [node for node in builder.graph if ERROR in node.metadata_props]


def test_a_built_model_has_the_types_that_its_inference_finds() -> None:
    builder = new_builder()
    with installed():
        made = build(builder)
    for name in ("heads", "last", "items", "swapped"):
        builder.add_output(made[name], name)
    model = ir.Model(builder.graph, ir_version=10, functions=list(builder.functions.values()))
    result = onnx_ir.infer(model)
    assert not result.diagnostics
    for value in builder.graph.outputs:
        assert str(ir.Shape([str(d) if not isinstance(d, int) else d for d in result.type_of(value).shape])) == str(
            value.shape
        )


def test_without_it_a_builder_knows_less() -> None:
    made = build(new_builder())
    assert str(made["heads"].shape) == "[None,None,None,None]"
    assert made["last"].shape is None


def test_an_error_is_kept_with_the_node() -> None:
    builder = new_builder()
    with installed():
        x = builder.input("x", FLOAT, [2, 3])
        with pytest.warns(ShapeInferenceWarning, match="inner sizes of the product differ: 3 != 2"):
            product = builder.op.MatMul(x, x)
    assert "inner sizes of the product differ: 3 != 2" in product.producer().metadata_props[ERROR]
    assert product.shape is None


def test_an_operator_without_a_rule_has_no_type_and_stops_nothing() -> None:
    builder = new_builder()
    with installed():
        x = builder.input("x", FLOAT, ["N"])
        y = builder.opset("acme", 1).Unknown(x)
        z = builder.op.Relu(builder.op.Concat(x, y, axis=0))
    assert y.producer().metadata_props[ERROR] == "no rule for acme::Unknown"
    assert (y.shape, y.type, z.type, str(z.shape)) == (None, None, ir.TensorType(FLOAT), "[N + _d0]")


def test_a_builder_is_not_kept() -> None:
    with installed():
        builder = new_builder()
        build(builder)
        gone = weakref.ref(builder)
        del builder
        gc.collect()
        assert gone() is None


def test_a_tape_infers_if_it_is_asked_to() -> None:
    tape = onnxscript.TapeBuilder(features=onnxscript.BuilderFeature.INFER_SHAPES)
    with installed():
        y = tape.Concat(ir.val("x", FLOAT, ["N", 2]), ir.val("z", FLOAT, ["M", 2]), axis=0, _version=20)
    assert str(y.shape) == "[M + N,2]"


@pytest.mark.parametrize("name", ["attention", "windows"])
def test_the_optimizer_folds_the_same_and_knows_more(name: str) -> None:
    def folded() -> tuple[list[tuple[Any, ...]], list[ir.Value]]:
        model = ir.from_proto(models.model(name))
        optimizer.optimize(model)
        nodes = [(n.op_type, [v and v.name for v in n.inputs], [v.name for v in n.outputs]) for n in model.graph]
        return nodes, [v for n in model.graph for v in n.outputs]

    def known(values: list[ir.Value]) -> int:
        shapes = [v.shape for v in values if v.shape is not None]
        return sum(all(isinstance(d, int) or d.value is not None for d in shape) for shape in shapes)

    theirs, before = folded()
    with installed():
        ours, after = folded()
    assert ours == theirs
    assert known(before) < known(after) == len(after)


def test_it_can_be_taken_away() -> None:
    def methods() -> list[Any]:
        folding = optimizer._constant_folding.FoldConstantsPass
        return [
            onnxscript.BuilderBase._infer_shapes,
            onnxscript.GraphBuilder.call,
            folding.call,
            folding._do_inference,
        ]

    former = methods()
    install()
    install()
    with installed():
        pass
    assert not set(former) & set(methods())
    uninstall()
    assert former == methods()
