"""onnxscript's optimizer with this package's inference."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnxscript import optimizer

from onnx_infer.integrations.onnxscript import optimize

from . import models


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
