"""Operands and attributes of other kinds are errors of the node; an operator without a rule is told with its cure."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import TensorProto, helper

from onnx_infer import OpUsageError, ShapeInferenceError, infer, op, testing
from onnx_infer.types.join import NOTHING
from onnx_infer.values.containers import Optional, Sequence
from onnx_infer.values.tensor import SymTensor, Value
from symdim import Var

from .test_cases import CASES, lines
from .texts import messages, parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'
N = Var("N")
SHAPES = (None, (), (N,), (0, 0), (N, 3, 5), (1, 1, 1, 1, 1))
ATTRIBUTES = (-1, 2.5, "x", (), (0,), (2.5,))


def first_cases(path: Any) -> dict[str, tuple[int, dict[str, Any], list[Value | None]]]:
    """For each operator of a file its first case: the version, the attributes and the operands."""
    found: dict[str, tuple[int, dict[str, Any], list[Value | None]]] = {}
    for _, line in lines(path):
        call = testing.read_call(line.rsplit("->", 1)[0])
        found.setdefault(f"{call.domain}::{call.name}", (call.version, call.attributes, call.inputs))
    return found


def others(value: Value | None) -> list[Value | None]:
    if not isinstance(value, SymTensor):
        return [None, NOTHING, SymTensor(1, (2, 3)), SymTensor(7, (), [0])]
    tensors = [SymTensor(value.dtype, shape) for shape in SHAPES]
    return [None, NOTHING, *tensors, SymTensor(7, (), [-1]), Sequence(value), Optional(value), Sequence(None, 0)]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_no_rule_fails_otherwise_than_by_an_error(path: Any) -> None:
    for title, (version, attributes, operands) in first_cases(path).items():
        calls = [
            (attributes, [*operands[:i], x, *operands[i + 1 :]]) for i, v in enumerate(operands) for x in others(v)
        ]
        calls += [({**attributes, name: x}, operands) for name in attributes for x in ATTRIBUTES]
        domain, _, name = title.rpartition("::")
        for given, inputs in calls:
            try:
                testing._infer(name, inputs, given, version, domain, 2)
            except (OpUsageError, ShapeInferenceError):
                continue
            except AssertionError as defect:
                pytest.fail(f"{title}-{version}{given}({inputs}): {defect}")


def test_an_attribute_has_the_kind_that_the_rule_asks_for() -> None:
    @op("Widened", domain="com.acme", replace=True)
    def widened(X: SymTensor, *, times: int, sizes: tuple[int, ...] = (), scale: float = 1.0) -> Any:
        return (X.dims[0] * times,)

    def said(attributes: str) -> list[str]:
        return messages(infer(parsed(f"g (float[N] x) => (y) {{ y = com.acme.Widened <{attributes}> (x) }}")))

    assert said("times: int = 2, sizes: ints = [1], scale: int = 2") == []
    assert said("times: float = 2.0") == ["attribute times is not an integer: 2.0"]
    assert said("times: ints = [2]") == ["attribute times is not an integer: (2,)"]
    assert said("times: int = 2, sizes: int = 1") == ["attribute sizes is not a list of integers: 1"]


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("SequenceLength", "", "i64[]"),
        ("SequenceAt", "i64[]={1}", "?[...]"),
        ("SequenceInsert", "f32[N]", "seq(?)"),
        ("SequenceErase", "", "seq(?)"),
        ("ConcatFromSequence", "", "?[...]"),
    ],
)
def test_an_unknown_value_may_be_a_sequence(name: str, operands: str, expected: str) -> None:
    given = [NOTHING, *testing.read_call(f"{name}-11: {operands}").inputs]
    (found,) = testing.infer_node(name, given, {"axis": 0} if name.startswith("Concat") else {}, version=11)
    assert str(found) == expected


@pytest.mark.parametrize("condition", ["i", "n", "x"])
def test_a_condition_of_another_type_decides_nothing(condition: str) -> None:
    """A Loop whose body returns an integer as its condition: the element type is an error, and no rule fails."""
    body = f"b (int64 i, bool go, float[N] s) => (c, t) {{ c = Identity({condition}) t = Identity(s) }}"
    graph = f"g (float[N] x, int64 n) => (y) {{ m = Constant<value_int=3>() y = Loop<body = {body}>(m, , x) }}"
    assert {told.severity for told in infer(parsed(graph, HEAD)).diagnostics} <= {"error"}


def test_an_equation_that_is_no_text_is_not_counted() -> None:
    result = infer(parsed("g (float[N] x) => (y) { y = Einsum<equation=[1, 2]>(x, x) }", HEAD))
    assert [text for text in messages(result) if "equation" in text]
    assert [cost.multiply_adds for cost in result.costs().nodes] == [None]


def test_a_node_with_too_many_outputs_states_no_constraints() -> None:
    model = parsed("g (float x) => (float[5] a, b) { a, b = Relu (x) }")
    model.graph.input[0].type.tensor_type.ClearField("shape")
    found = infer(model, bidirectional=True)
    assert messages(found) == ["gives 1 output, not 2"]
    assert "x" not in found.shapes


# -- operators without a rule -----------------------------------------------------------------------------------------


NO_RULE = "unsupported operator"


@pytest.mark.parametrize(
    ("node", "opset", "cure"),
    [
        (
            "Gelu (x)",
            17,
            "it exists from opset 20, and the model imports 17: convert the model (onnx.version_converter)",
        ),
        ("Relu (x)", 0, "it exists from opset 1, and the model imports 0: convert the model (onnx.version_converter)"),
        ("FusedMatMul (x, x)", 17, "com.microsoft has an operator of this name: is the domain of the node right?"),
        ("com.microsoft.Einsum (x)", 17, "ai.onnx has an operator of this name: is the domain of the node right?"),
        ("F (x)", 17, "com.acme has an operator of this name: is the domain of the node right?"),
        ("gelu (x)", 20, "do you mean Gelu?"),
        ("Einsu (x)", 17, "do you mean Einsum?"),
        ("com.acme.FF (x)", 17, "add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)"),
        (
            "com.microsoft.LayerNormalizationGrad (x)",
            17,
            "add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)",
        ),
        ("com.microsoft.SkipLayerNormalizatoin (x)", 17, "do you mean SkipLayerNormalization?"),
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
    cure = "add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)"
    assert told.message == f"{NO_RULE}; the model does not import com.other; {cure}"


def test_of_many_unknown_operators_the_first_ones_have_cures() -> None:
    nodes = [helper.make_node(f"Op{i}", ["x"], [f"y{i}"]) for i in range(50)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
    told = messages(infer(helper.make_model(helper.make_graph(nodes, "g", [x], []))))
    assert len(told) == 50
    assert told[0] != NO_RULE == told[-1]
