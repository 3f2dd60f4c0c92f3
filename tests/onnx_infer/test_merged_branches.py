"""Models with an If below opset 11 load in onnxruntime after inference as they did before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import onnx_ir as ir
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.integrations import onnx_ir

from .sessions import session_of
from .texts import dims, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def test_only_what_onnx_would_infer_is_left_out() -> None:
    written = {info.name: dims(info) for info in infos(infer_shapes(model_of("after it", 10)).graph)}
    assert [written.get(name) for name in "sprua"] == [[2], [1], None, None, []]
    assert str(infer(model_of("from around", 10)).types["r"]) == "f32[M*N]"


def test_what_the_model_says_stays() -> None:
    written = infer_shapes(model_of("from around", 10, "float r, int64[2] s, float[K] u"))
    assert {info.name: dims(info) for info in written.graph.value_info} == {"s": [2], "p": [1], "r": [], "u": ["K"]}


def test_from_opset_11_on_everything_is_written() -> None:
    written = {info.name: dims(info) for info in infos(infer_shapes(model_of("from around", 11)).graph)}
    assert [written[name] for name in "sprua"] == [[2], [1], ["M*N"], ["M*N"], ["M*N"]]


@pytest.mark.parametrize("front_end", ["ModelProto", "onnx_ir"])
def test_a_size_that_only_a_function_writes_keeps_its_name(front_end: str) -> None:
    """The main graph has the size, too, but does not write it. So a second inference may number it otherwise there."""
    head = '<ir_version: 10, opset_import: ["": 10, "com.acme": 1]>'
    main = """g (float[N, M] x, float[K] k, bool c) => (y) { i = NonZero(k) j = com.acme.F(x)
        y = If(c) <then_branch = t () => (a) { a = Neg(j) }, else_branch = e () => (b) { b = Shape(x) }> }"""
    model = parsed(f'{main}\n<domain: "com.acme", opset_import: ["": 10]> F (p) => (q) {{ q = NonZero(p) }}', head)

    def again(model: onnx.ModelProto) -> onnx.ModelProto:
        of_ir = front_end == "onnx_ir"
        return ir.to_proto(onnx_ir.infer_shapes(ir.from_proto(model))) if of_ir else infer_shapes(model)

    once = again(model)
    (q,) = (info for info in once.functions[0].value_info if info.name == "q")
    assert dims(q) == [2, "_d1"]
    assert "j" not in [info.name for info in once.graph.value_info]
    assert again(once) == once
