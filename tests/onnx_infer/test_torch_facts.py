"""What torch knows of sizes, from objects with the names that torch gives; `integration_tests` has the real ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import onnx_ir as ir
import pytest

import onnx_infer
from onnx_infer.integrations.torch import facts

from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 20]>'


def program(inputs: dict[str, list[object]], ranges: dict[str, tuple[object, object]]) -> Any:
    """An exported program with inputs of these sizes."""
    nodes = [SimpleNamespace(name=name, op="placeholder", meta={"val": SimpleNamespace(shape=shape)})
             for name, shape in inputs.items()]  # fmt: skip
    return SimpleNamespace(
        graph=SimpleNamespace(nodes=[*nodes, SimpleNamespace(name="relu", op="call_function", meta={})]),
        graph_signature=SimpleNamespace(user_inputs=[*inputs, None, 3]),
        range_constraints={size: SimpleNamespace(lower=low, upper=high) for size, (low, high) in ranges.items()},
    )


INPUTS: dict[str, list[object]] = {"x": ["s77", 3, "s53"], "y": ["4*s83", "s77 + s53"]}
RANGES: dict[str, tuple[object, object]] = {
    "u0": (0, 9), "s77": (2, 64), "s53": (3, "int_oo"), "4*s83": (8, 400), "s83": (2, 100), "s77 + s53": (0, 90),
}  # fmt: skip


def test_lower_ends_up_to_2_and_infinities_say_nothing() -> None:
    found = facts(program(INPUTS, RANGES))
    assert found["bounds"] == {"s77": (1, 64), "s53": (3, None), "s83": (1, 100)}
    assert found["assume"] == ["4*s83 >= 8", "s53 + s77 <= 90"]


def test_symbols_have_the_names_that_the_model_gives_them() -> None:
    text = 'g (float[N, 3, H] x, float["4*q", "N + H"] y) => (z) { z = Relu (x) }'
    model = parsed(text, HEAD)
    found = facts(program(INPUTS, RANGES), model)
    assert found["bounds"] == {"N": (1, 64), "H": (3, None), "q": (1, 100)}
    assert found["assume"] == ["4*q >= 8", "H + N <= 90"]
    assert facts(program(INPUTS, RANGES), ir.from_proto(model)) == found
    exported = SimpleNamespace(exported_program=program(INPUTS, RANGES), model=ir.from_proto(model))
    assert facts(exported) == found
    onnx_infer.infer(model, **found)
    other = parsed(text.replace(" x", " a").replace(" y", " b").replace("(x)", "(a)"), HEAD)
    assert facts(program(INPUTS, RANGES), other) == found  # by the order of inputs


@pytest.mark.parametrize(
    "inputs",
    ["float[N, 3, H] x", "float[N, 3] a, float[M] b", "float[4, 3, 5] a, float[4, 9] b"],
    ids=["one is missing", "other ranks", "no symbols"],
)
def test_what_does_not_fit_the_model_is_left_out(inputs: str) -> None:
    model = parsed(f"g ({inputs}) => (z) {{ z = Relu ({inputs.split()[-1]}) }}", HEAD)
    assert facts(program(INPUTS, RANGES), model) == {"bounds": {}, "assume": []}


def test_an_object_without_ranges_is_refused() -> None:
    with pytest.raises(onnx_infer.ArgumentError, match="ExportedProgram or ONNXProgram of torch, not int"):
        facts(3)
