"""One call empties what both packages remember, and answers stay the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx.parser import parse_model

from onnx_infer import infer, infer_shapes
from onnx_infer.engine import walk
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators import lookup
from onnx_infer.protobuf import nodes
from onnx_infer.protobuf.declarations import Declared
from onnx_infer.tools.cli.files import demo_model
from onnx_infer.types.join import variables_in
from onnx_infer.values.tensor import Value
from symdim import clear_caches
from symdim.algebra.caches import Cache
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import is_given
from tests.onnx_infer.test_implied import CHAIN

if TYPE_CHECKING:
    from collections.abc import Iterable


def test_one_call_empties_the_caches_of_both_packages() -> None:
    before = {name: str(value) for name, value in infer(demo_model()).types.items()}
    assert walk._remembered
    assert nodes._interned
    clear_caches()
    assert not walk._remembered
    assert not nodes._interned
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


_BRANCHES = """<ir_version: 8, opset_import: ["": 18]> g (float[N, 3] x, bool c) => (float[N, 3] y) {
    y = If (c) <
        then_branch = a () => (float[N, 3] t) { t = Relu (x) },
        else_branch = b () => (float[N, 3] e) { e = Neg (x) }
    >
}"""


def test_of_two_attributes_with_one_name_the_last_counts_in_each_reading() -> None:
    node = parse_model(_BRANCHES).graph.node[0]
    node.attribute.add(name="then_branch", type=onnx.AttributeProto.INT, i=7)
    node.attribute.add(name="else_branch", type=onnx.AttributeProto.GRAPH, g=node.attribute[0].g)
    for _ in range(3):
        (found,) = nodes.ProtoNodes([node], {}, [])()
        assert found[4].values["then_branch"] == 7
        assert found[4].values["else_branch"] is node.attribute[3].g


def test_remembered_types_have_the_sizes_of_each_inference() -> None:
    model = model_with("N")
    infos = [onnx.ValueInfoProto.FromString(info.SerializeToString()) for info in model.graph.input]
    found = [Declared.of(onnx.GraphProto(output=infos)).outputs for _ in range(2)]
    assert found[0] is found[1]
    assert found[0].are_named
    ends = [infer(model, bounds=bounds).types["v"].shape[0].bounds() for bounds in ({}, {"N": (2, 8)}, {})]
    assert ends == [(1, None), (2, 8), (1, None)]


def _messages_of(values: Iterable[Any]) -> list[Any]:
    """Messages among the values, which would keep the models they are part of."""
    return [x for value in values for x in value if isinstance(x, onnx.NodeProto | onnx.AttributeProto)]


def test_a_remembered_node_has_the_bytes_and_the_name_of_its_message() -> None:
    proto = onnx.helper.make_node("Elu", ["x"], ["y"], name="elu", alpha=2.0)
    for _ in range(3):
        (found,) = nodes.ProtoNodes([proto], {}, [])()
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


def test_operators_stay_bound_when_caches_are_emptied_and_remember_no_sequence() -> None:
    source = """<ir_version: 8, opset_import: ["": 18]> g (seq(float[N]) s) => (float[N] y) {
        zero = Constant <value: tensor = int64 {0}> ()
        x = SequenceAt (s, zero)
        y = Relu (x)
    }"""
    assert texts(parse_model(source))["y"] == "f32[N]"
    bound = [lookup.bind("", name, 18) for name in ("SequenceAt", "Relu")]
    clear_caches()
    assert [lookup.bind("", name, 18) for name in ("SequenceAt", "Relu")] == bound
    of_sequence, of_tensor = (operator.types for operator in bound if operator is not None)
    # the types of sequences are values, which hold expressions
    assert not [x for types, _ in of_sequence._outputs for x in types if isinstance(x, Value)]
    assert not [x for both in of_sequence._misuse for types in both for x in types if isinstance(x, Value)]
    assert ((1,), 1) in of_tensor._outputs
    assert ((1,), (1,)) in of_tensor._misuse


def test_a_text_may_be_a_new_name() -> None:
    """It is an expression if other names are declared. A text with a new name is one if this name was read before."""
    read = Symbols(["N"]).text("M-N")
    assert str(read) == "M-N"
    assert str(Symbols(["N", "M"]).text("M-N")) == "M - N"
    assert len(Symbols(["N"]).text("N*M + 1").variables()) == 1
    symbols = Symbols(["N"])
    assert len(symbols.text("M").variables() + symbols.text("N*M + 1").variables()) == 3


def test_a_renaming_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    model = parse_model(CHAIN)  # its second walk knows a lower bound of S
    first = infer(model)
    renamed_again = lambda value, _: pytest.fail(f"{value} is renamed again")  # noqa: E731
    monkeypatch.setattr("onnx_infer.engine.fresh.substitute", renamed_again)
    again = infer(model)
    assert (again.types, again.guards) == (first.types, first.guards)


def test_lists_of_value_infos_with_the_same_bytes_in_other_places_differ() -> None:
    whole, name, kind = onnx.ValueInfoProto(name="a"), onnx.ValueInfoProto(name="a"), onnx.ValueInfoProto()
    for info in (whole, kind):
        info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    lists = [whole], [name, kind]
    assert len({b"".join(info.SerializeToString() for info in infos) for infos in lists}) == 1
    counts = [len(Declared.of(onnx.GraphProto(value_info=infos)).others.of) for infos in lists]
    assert counts == [1, 2]


_DATA = """<ir_version: 8, opset_import: ["": 18]> g (float[N, 3] x) => (float[R] twice, int64[K] kept) {
    at = NonZero (x)
    pairs = Transpose <perm = [1, 0]> (at)
    found = GatherND (x, pairs)
    kept = Cast <to = 7> (found)
    square = Mul (found, found)
    twice = Concat <axis = 0> (square, kept_too)
    kept_too = Relu (found)
    broken = MatMul (pairs, x)
}"""


def test_outcomes_of_sizes_that_the_data_decide_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    model = parse_model(_DATA)
    first = infer_shapes(model)
    monkeypatch.setattr(walk, "apply", lambda operator, *_: pytest.fail(f"{operator.schema.name} is asked again"))
    assert infer_shapes(model) == first


def test_no_two_results_share_a_size_that_the_data_decide() -> None:
    clear_caches()
    results = [infer(parse_model(_DATA)) for _ in range(2)]
    types, sizes = [[str(x) for x in found.types.values()] for found in results], []
    for found in results:
        (told,) = found.diagnostics
        guards = [guard.variables() for guard in (*found.guards, *found.data_guards)]
        dims = [d for shape in found.shapes.values() for d in shape] + [d for _, v in told.inputs for d in v.shape]
        sizes.append({v for v in (*variables_of(dims), *(v for vs in guards for v in vs)) if not is_given(v.origin)})
        assert len({v.name for v in sizes[-1]}) == len(sizes[-1])
    assert types[0] == types[1]
    assert sizes[0]
    assert sizes[0].isdisjoint(sizes[1])


_ELEMENTS = """<ir_version: 8, opset_import: ["": 18, "acme": 1]> g (int64[N] x, int64[N] w, bool c) => (none, y) {
    a = acme.Top (x)
    b = acme.Top (w)
    none = Sub (a, b)
    y = If (c) <then_branch = t () => (p) { p = acme.Top (x) }, else_branch = e () => (q) { q = Neg (b) }>
}
<domain: "acme", opset_import: ["": 18]> Top (s) => (m) {
    l = ReduceMax <keepdims = 0> (s)
    k = Constant <value_int = 1> ()
    m = Sub (l, k)
}"""


def test_elements_in_bodies_are_other_ones_for_each_call_and_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second inference finds the outcomes of the first one, although each call has elements of its own."""
    clear_caches()
    model = parse_model(_ELEMENTS)
    results = [infer(model)]
    asked: list[str] = []
    apply = walk.apply
    monkeypatch.setattr(walk, "apply", lambda o, *rest: asked.append(o.schema.name) or apply(o, *rest))
    results.append(infer(model))
    assert set(asked) <= {"If"}
    found = [v for result in results for name in "ab" for v in variables_in(result.types[name])]
    assert [v.name for v in found] == ["l[0]"] * 4
    assert len({id(v) for v in found}) == 4
    assert results[0].types["none"].data is None


_NESTED = """<ir_version: 8, opset_import: ["": 18, "acme": 1]> g (float[N, 3] x, bool c, int64 m) => (y, z) {
    a = acme.Twice (x)
    y = If (c) <then_branch = t () => (p) { p = Relu (a) }, else_branch = e () => (q) { q = acme.Twice (a) }>
    z = Loop (m, c, x) <body = b (int64 i, bool on, float[R, 3] v) => (bool go, float[S, 3] w) {
        go = Identity (on)
        w = Concat <axis = 0> (v, a)
    }>
}
<domain: "acme", opset_import: ["": 18]> Twice (s) => (d) { d = Add (s, s) }"""
