"""One call empties what both packages remember, and answers stay the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
from onnx.parser import parse_model

from onnx_infer import infer
from onnx_infer.cli.demo import demo_model
from onnx_infer.engine import engine
from onnx_infer.operators import lookup
from onnx_infer.protobuf import nodes
from symdim import clear_caches
from symdim.algebra import expr
from symdim.algebra.caches import Cache

if TYPE_CHECKING:
    from collections.abc import Iterable


def test_one_call_empties_the_caches_of_both_packages() -> None:
    before = {name: str(value) for name, value in infer(demo_model()).types.items()}
    assert engine._remembered
    assert nodes._interned
    assert expr._sums
    clear_caches()
    assert not engine._remembered
    assert not nodes._interned
    assert not expr._sums
    assert {name: str(value) for name, value in infer(demo_model()).types.items()} == before


def test_a_full_cache_is_emptied_before_the_next_entry() -> None:
    cache = Cache(3)
    for n in range(10):
        cache[n] = n
        assert len(cache) <= 3
        assert cache[n] == n


_SOURCE = """<ir_version: 8, opset_import: ["": 18]> g (float[N, 3] x, float[W] v) => (float[M] y) {
    three = Constant <value: tensor = int64[1] {3}> ()
    a = Relu (x)
    b = Reshape <allowzero = 0> (a, minus)
    y = Concat <axis = 0> (b, v)
    minus = Constant <value: tensor = int64[1] {-1}> ()
}"""


def model_with(size: str) -> onnx.ModelProto:
    """A model of an input with this size."""
    model = parse_model(_SOURCE)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = size
    return model


def texts(model: onnx.ModelProto, **options: Any) -> dict[str, str]:
    return {name: str(value) for name, value in infer(model, **options).types.items()}


def test_a_model_that_is_met_again_is_read_from_what_is_remembered() -> None:
    model, first = model_with("2*N"), texts(model_with("2*N"))
    assert first["y"] == "f32[5*N]"
    for _ in range(3):
        assert texts(model) == first
    assert _messages_of(nodes._nodes.values()) == []
    assert any(isinstance(x, nodes.Literal) for x in nodes._nodes.values())
    model.graph.node[1].op_type = "Shape"  # its bytes are others now
    assert texts(model)["a"] == "i64[2]={N, 3}"


def _messages_of(values: Iterable[Any]) -> list[Any]:
    """Messages among the values, which would keep the models they are part of."""
    return [x for value in values for x in value if isinstance(x, onnx.NodeProto | onnx.AttributeProto)]


def test_a_remembered_node_has_the_bytes_and_the_name_of_its_message() -> None:
    proto = onnx.helper.make_node("Elu", ["x"], ["y"], name="elu", alpha=2.0)
    for _ in range(3):
        (found,) = nodes.nodes([proto], {}, [])
        assert found[5].name == "elu"
        assert nodes.message(found) == proto.SerializeToString()
    assert isinstance(found[5], nodes.Named)


def test_names_that_are_no_utf8_are_read_alike_each_time() -> None:
    wire = model_with("2*N").SerializeToString().replace(b"\x01a", b"\x01\xff")
    model = onnx.ModelProto.FromString(wire)
    first = texts(model)
    assert first["\udcff"] == "f32[N, 3]"
    for _ in range(3):
        assert texts(model) == first


def test_a_declared_text_is_another_expression_under_other_bounds() -> None:
    model = model_with("max(N, 4)")
    assert texts(model)["v"] == texts(model)["v"] == "f32[max(N, 4)]"
    assert texts(model, bounds={"N": (4, None)})["v"] == "f32[N]"
    assert texts(model, bounds={"N": (5, 5)})["v"] == "f32[5]"
    assert texts(model)["v"] == "f32[max(N, 4)]"


def test_operators_stay_bound_when_caches_are_emptied_and_forget_types() -> None:
    source = """<ir_version: 8, opset_import: ["": 18]> g (seq(float[N]) s) => (float[N] y) {
        zero = Constant <value: tensor = int64 {0}> ()
        y = SequenceAt (s, zero)
    }"""
    assert texts(parse_model(source))["y"] == "f32[N]"
    bound = lookup.bind("", "SequenceAt", 18)
    assert bound is not None
    assert bound._dtypes_of
    clear_caches()
    assert lookup.bind("", "SequenceAt", 18) is bound
    assert not bound._dtypes_of  # the types of sequences are values, which hold expressions
    assert not bound._misuse_of
