"""What is remembered of nodes, types and outcomes changes no answer, of a model that is met again or is alike."""

from __future__ import annotations

import gc
from typing import Any

import onnx
import pytest
from onnx.parser import parse_model

from onnx_infer import infer
from onnx_infer.tools.cli.files import demo_model
from symdim import Var, clear_caches
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import is_given  # no public name tells the sizes of inputs from others


def texts(model: onnx.ModelProto, **options: Any) -> dict[str, str]:
    return {name: str(value) for name, value in infer(model, **options).types.items()}


def test_answers_are_the_same_after_caches_are_emptied() -> None:
    before = texts(demo_model())
    clear_caches()
    assert texts(demo_model()) == before


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


def test_a_node_that_is_changed_between_two_inferences() -> None:
    model = model_with("2*N")
    for _ in range(3):
        assert texts(model)["y"] == "f32[5*N]"
    model.graph.node[1].op_type = "Shape"
    assert texts(model)["a"] == "i64[2]={N, 3}"


def test_of_two_attributes_with_one_name_the_last_counts_each_time() -> None:
    model = parse_model("""<ir_version: 8, opset_import: ["": 18]> g (float[N, 3] x, bool c) => (y) {
        y = If (c) <then_branch = a () => (float[N, 3] t) { t = Relu (x) },
                    else_branch = b () => (float[3] e) { e = ReduceSum <keepdims = 0> (x) }> }""")
    model.graph.output[0].ClearField("type")
    (node,) = model.graph.node
    node.attribute.add(name="else_branch", type=onnx.AttributeProto.GRAPH, g=node.attribute[0].g)
    for _ in range(3):
        assert texts(model)["y"] == "f32[N, 3]"


def test_types_have_the_sizes_of_each_inference() -> None:
    model = model_with("N")
    ends = [infer(model, bounds=bounds).types["v"].shape[0].bounds() for bounds in ({}, {"N": (2, 8)}, {})]
    assert ends == [(1, None), (2, 8), (1, None)]


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


def test_lists_of_value_infos_with_the_same_bytes_in_other_places_differ() -> None:
    """A name and a type in one message, or in two of them."""
    whole, name, kind = onnx.ValueInfoProto(name="a"), onnx.ValueInfoProto(name="a"), onnx.ValueInfoProto()
    for info in (whole, kind):
        info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    found = []
    for infos in ([whole], [name, kind], [whole]):
        model = parse_model('<ir_version: 8, opset_import: ["": 18, "acme": 1]> g () => () { a = acme.Make () }')
        model.graph.value_info.extend(infos)
        found.append(texts(model)["a"])
    assert found == ["f32[...]", "?[...]", "f32[...]"]


# -- sizes and elements that only the data decide ---------------------------------------------------------------------

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


def test_elements_in_bodies_are_other_ones_for_each_call_and_result() -> None:
    clear_caches()
    results = [infer(parse_model(_ELEMENTS)) for _ in range(2)]
    found = [v for result in results for name in "ab" for v in variables_of([result.types[name].fill])]
    assert [v.name for v in found] == ["l[0]"] * 4
    assert len({id(v) for v in found}) == 4
    assert results[0].types["none"].data is None


# -- bodies -----------------------------------------------------------------------------------------------------------


def test_the_opset_of_a_body_counts() -> None:
    """A body of the same bytes at another version of its operators."""
    text = """g (float[N, 3] x, bool c) => (float[A] y) { y = If(c) <
        then_branch = t () => (a) { a = ReduceMax<axes=[0]>(x) }, else_branch = e () => (b) { b = Neg(x) }> }"""
    for _ in range(2):
        models = [parse_model(f'<ir_version: 8, opset_import: ["": {version}]> {text}') for version in (13, 18)]
        assert ["has no attribute" in str(infer(model).diagnostics) for model in models] == [False, True]


@pytest.mark.parametrize("outer", ["", "many", "function"])
def test_what_a_branch_that_is_surely_taken_states_is_stated_each_time(outer: str) -> None:
    """Its statements are those of the main graph."""
    taken = """y = If(yes) <then_branch = t () => (a) { a = MatMul(x, w) },
        else_branch = e () => (b) { b = MatMul(x, w) }>"""
    head, rest = "g (float[N] x, float[M] w) => (float y) <bool yes = {1}>", ""
    if outer == "many":
        taken += taken.replace("y = If", "z = If")
    elif outer == "function":
        rest = f'<domain: "f", opset_import: ["": 18]> F (x, w) => (y) {{ yes = Constant<value=bool {{1}}>() {taken} }}'
        taken = "y = f.F(x, w)"
    model = parse_model(f'<ir_version: 10, opset_import: ["": 18, "f": 1]> {head} {{ {taken} }} {rest}')
    clear_caches()
    for _ in range(3):
        result = infer(model)
        assert [(str(guard), guard.kind) for guard in result.guards] == [("N == M", "required")]
        assert result.check(N=2, M=3)


def test_clear_caches_frees_the_sizes_of_models_that_are_gone() -> None:
    def symbols() -> int:
        clear_caches()
        gc.collect()
        return sum(type(found) is Var for found in gc.get_objects())

    head = '<ir_version: 10, opset_import: ["": 20]>'
    text = head + " g (float[gone{0}, 3] x) => (y) {{ z = Concat<axis=0>(x, x) y = NonZero(z) }}"
    infer(parse_model(text.format(0)))
    before = symbols()
    for number in range(1, 60):
        infer(parse_model(text.format(number)))
    assert symbols() <= before + 2
