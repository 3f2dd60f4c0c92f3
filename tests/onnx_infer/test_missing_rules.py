"""An operator without a rule: the diagnostic tells the cure."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from onnx_infer import infer

from .texts import messages, parsed

NO_RULE = "no rule for this operator"


@pytest.mark.parametrize(
    ("node", "opset", "cure"),
    [
        (
            "Gelu (x)",
            17,
            "it exists since opset 20, and the model imports 17: convert the model (onnx.version_converter)",
        ),
        ("Relu (x)", 0, "it exists since opset 1, and the model imports 0: convert the model (onnx.version_converter)"),
        ("FusedMatMul (x, x)", 17, "com.microsoft has an operator of this name: is the domain of the node right?"),
        ("com.microsoft.Einsum (x)", 17, "ai.onnx has an operator of this name: is the domain of the node right?"),
        ("F (x)", 17, "com.acme has an operator of this name: is the domain of the node right?"),
        ("gelu (x)", 20, "do you mean Gelu?"),
        ("Einsu (x)", 17, "do you mean Einsum?"),
        ("com.acme.FF (x)", 17, "register one with onnx_infer.rules.op"),
    ],
)
def test_the_cure_is_told(node: str, opset: int, cure: str) -> None:
    imports = f'"": {opset}, "com.microsoft": 1, "com.acme": 1'
    function = '<domain: "com.acme", opset_import: ["": 17]> F (a) => (b) { b = Neg (a) }'
    model = parsed(f"g (float[N] x) => (y) {{ y = {node} }} {function}", f"<ir_version: 8, opset_import: [{imports}]>")
    (message,) = messages(infer(model))
    assert message == f"{NO_RULE}; {cure}"


def test_a_domain_that_is_not_imported_has_no_version() -> None:
    (told,) = infer(parsed("g (float[N] x) => (y) { y = com.other.F (x) }")).diagnostics
    assert told.operator == "com.other::F"
    assert told.message == f"{NO_RULE}; the model does not import com.other; register one with onnx_infer.rules.op"


def test_of_many_unknown_operators_the_first_ones_have_cures() -> None:
    nodes = [helper.make_node(f"Op{i}", ["x"], [f"y{i}"]) for i in range(50)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
    told = messages(infer(helper.make_model(helper.make_graph(nodes, "g", [x], []))))
    assert len(told) == 50
    assert told[0] != NO_RULE == told[-1]
