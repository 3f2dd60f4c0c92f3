"""If: branches of different ranks, branches that no run survives, inputs that decide, opsets below 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.__main__ import main
from onnx_infer.integrations import onnx_ir

from .sessions import session_of
from .texts import both, dims, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

SELECTED = """g (float[N, 4] x, int64 sr, int64[K] sizes) => (y, z) { k = Constant<value_int=16000>() c = Equal(sr, k)
    y = If(c) <then_branch = t () => (p) { p = Concat<axis=0>(x, x) },
                else_branch = e () => (q) { q = Flatten<axis=0>(x) }>
    z = Reshape(x, sizes) }"""


def test_values_of_inputs_decide() -> None:
    model = parsed(SELECTED)
    found = [both(model, values=values) for values in ({}, {"sr": 16000}, {"sr": 8000, "sizes": [2, -1]})]
    assert [[str(r.types[n]) for n in "yz"] for r in found] == [
        ["f32[_d0, _d1]", "f32[...]"],
        ["f32[2*N, 4]", "f32[...]"],
        ["f32[1, 4*N]", "f32[2, 2*N]"],
    ]
    assert str(infer(model, values={"sizes": np.array([4, -1])}, bidirectional=True).types["z"]) == "f32[4, N]"


@pytest.mark.parametrize("given", [[[], []], np.zeros((2, 0, 1), int), []])
def test_elements_of_an_empty_input_fit_its_shape(given: list[list[int]]) -> None:
    model = parsed("g (int64[2, 0, 1] x) => (y) { y = Neg(x) }")
    assert str(infer(model, values={"x": given}).types["y"]) == "i64[2, 0, 1]={}"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 1}, "'rate' is not an input of the graph; inputs are 'x', 'sr', 'sizes'"),
        ({"sr": [16000]}, "[16000]: the shape for 'sr' does not match the declared i64[]"),
        ({"sr": 1.5}, "1.5 for 'sr' is not an element of i64"),
        ({"sr": True}, "True for 'sr' is not an element of i64"),
        ({"sr": 1 << 63}, "9223372036854775808 for 'sr' is not an element of i64"),
        ({"sr": "fast"}, "'fast' for 'sr' is not an element of i64"),
        ({"x": 1.5}, "1.5: the shape for 'x' does not match the declared f32[N, 4]"),
    ],
)
def test_values_that_do_not_fit(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match="values: ") as error:
        infer(parsed(SELECTED), values=values)
    assert str(error.value) == f"values: {message}"


def test_values_on_the_command_line(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/model.onnx"
    with open(path, "wb") as file:
        file.write(parsed(SELECTED).SerializeToString())
    assert main([path, "--value", "sr=16000", "--value", "sizes=[1, -1]"]) == 0
    assert "f32[2*N, 4]" in capsys.readouterr().out
    assert main([path, "--value", "rate=3"]) == 2
    assert "'rate' is not an input of the graph" in capsys.readouterr().err


# -- opsets below 11 --------------------------------------------------------------------------------------------------


FLAT = "s = Shape(x) p = ReduceProd(s) r = Reshape(x, p)"
"""All elements as a vector. onnx does not see its rank, because it does not know the elements of p."""

OTHER = "else_branch = e () => (b) { b = Identity(x) }>"

MODELS = {
    "an output": f"y = If(c) <then_branch = t () => (r) {{ {FLAT} }}, {OTHER}",
    "after it": f"y = If(c) <then_branch = t () => (a) {{ {FLAT} u = Abs(r) a = Neg(u) }}, {OTHER}",
    "from around": f"{FLAT} u = Abs(r) y = If(c) <then_branch = t () => (a) {{ a = Neg(u) }}, {OTHER}",
    "numbers": """y = If(c) <
        then_branch = t () => (a) { s = Shape(x) n = Sub(s, s) k = Constant<value = int64[2] {3, -1}>() p = Add(n, k)
                                    a = Reshape(x, p) },
        else_branch = e () => (b) { s2 = Shape(x) n2 = Sub(s2, s2) k2 = Constant<value = int64[2] {4, -1}>()
                                    p2 = Add(n2, k2) b = Reshape(x, p2) }>""",
    "an If in it": f"""y = If(c) <then_branch = t () => (a) {{ {FLAT}
        a = If(c) <then_branch = tt () => (i) {{ i = Neg(r) }}, else_branch = ee () => (j) {{ j = Abs(r) }}> }},
        {OTHER}""",
    "a Scan before it": f"""{FLAT} q = Shape(r) z = Expand(r, q)
        w = Scan<num_scan_inputs = 1, body = b (v) => (o) {{ o = Neg(v) }}>(z)
        y = If(c) <then_branch = t () => (a) {{ a = Neg(w) }}, {OTHER}""",
}


def model_of(name: str, opset: int, declared: str = "") -> onnx.ModelProto:
    head = f'<ir_version: {4 if opset == 9 else 5}, opset_import: ["": {opset}]>'
    return parsed(f"g (float[N, M] x, bool c) => (y) <{declared}> {{ {MODELS[name]} }}", head)


def infos(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    """The types that are written in a graph and in those in it, without the inputs."""
    yield from (*graph.value_info, *graph.output)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from infos(attribute.g)


@pytest.mark.parametrize("opset", [9, 10])
@pytest.mark.parametrize("name", MODELS)
def test_it_still_loads(name: str, opset: int) -> None:
    model = model_of(name, opset)
    session_of(model)
    written = infer_shapes(model)
    session_of(written)
    assert infer_shapes(written).SerializeToString(deterministic=True) == written.SerializeToString(deterministic=True)
    session_of(ir.to_proto(onnx_ir.infer_shapes(ir.from_proto(model))))


def test_only_such_a_model_keeps_its_own_types() -> None:
    declared = "float r, int64[2] s, float[K] u"
    written = infer_shapes(model_of("from around", 10, declared))
    assert {info.name: dims(info) for info in written.graph.value_info} == {"s": [2], "r": [], "u": ["K"]}
    assert str(infer(model_of("from around", 10)).types["r"]) == "f32[M*N]"
    alike = "y = If(c) <then_branch = t () => (a) { a = Abs(x) }, else_branch = e () => (b) { b = Neg(x) }>"
    model = parsed(f"g (float[N, M] x, bool c) => (y) {{ {alike} }}", '<ir_version: 5, opset_import: ["": 10]>')
    assert {info.name: dims(info) for info in infos(infer_shapes(model).graph)} == {name: ["N", "M"] for name in "yab"}


def test_from_opset_11_on_everything_is_written() -> None:
    written = {info.name: dims(info) for info in infos(infer_shapes(model_of("from around", 11)).graph)}
    assert [written[name] for name in "sprua"] == [[2], [1], ["M*N"], ["M*N"], ["M*N"]]
