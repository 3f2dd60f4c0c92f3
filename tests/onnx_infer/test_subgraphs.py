"""Names, order and time where graphs are in graphs."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnx_infer import InferenceResult, fold, infer, infer_shapes, make_dynamic
from onnx_infer.ops.attention import flex_attention
from onnx_infer.testing import read_value
from onnx_infer.values import dtype as dt

from .sessions import run, session_of
from .texts import parsed

# -- scores and messages -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "softmax_precision", "expected"),
    [("f64", None, "f64"), ("f16", None, "f32"), ("f32", None, "f32"), ("f16", dt.BFLOAT16, "bf16")],
)
def test_what_changes_scores_takes_them_in_their_precision(
    given: str, softmax_precision: int | None, expected: str
) -> None:
    q, k, v = (read_value(f"{given}[B, {sizes}]") for sizes in ("4, S, 8", "2, T, 8", "2, T, 6"))
    scores: list[object] = []
    assert str(flex_attention(q, k, v, scores.append, None, softmax_precision)) == "(B, 4, S, 6)"
    assert list(map(str, scores)) == [f"{expected}[B, 4, S, T]"]


def test_a_graph_in_a_message_has_no_address() -> None:
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17]> g (float[N] x) => (y) { y = Flatten(x) }')
    body = onnx.helper.make_graph([], "body", [], [])
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("axis", body))
    (error,) = infer(model).diagnostics
    assert error.message == "attribute axis is not an integer: graph 'body'"


# -- lists of graphs --------------------------------------------------------------------------------------------------


def listed() -> onnx.ModelProto:
    """A model with a list of graphs, which no operator of ONNX has, and with branches."""
    model = parsed("""g (float[2, 3] x, bool c) => (y) { k = Neg(x) z = com.acme.Many(x)
        y = If(c) <then_branch = a () => (o) { h = Neg(x) o = Neg(h) }, else_branch = b () => (p) { p = Abs(x) }> }""")
    part = onnx.parser.parse_graph("p (float[2] a) => (float[2] b) { b = Add(a, k) }")
    model.graph.node[1].attribute.append(onnx.helper.make_attribute("parts", [part]))
    return model


def test_folding_keeps_what_a_graph_in_a_list_reads() -> None:
    assert [node.op_type for node in fold(listed()).graph.node] == ["Neg", "Many", "If"]


def test_a_freed_model_has_no_traced_sizes_in_a_list() -> None:
    made = make_dynamic(listed(), {"x": {0: "N"}}, apply=True)
    (part,) = made.model.graph.node[1].attribute[0].graphs
    dims = [dim for info in (*part.input, *part.output) for dim in info.type.tensor_type.shape.dim]
    assert [dim.WhichOneof("value") for dim in dims] == [None, None]


def test_types_go_into_a_copy_beside_a_list() -> None:
    copy = listed()
    infer(listed()).apply(copy)
    many, branches = copy.graph.node[1:]
    assert many == listed().graph.node[1]
    (inner,) = branches.attribute[0].g.value_info
    assert (inner.name, [dim.dim_value for dim in inner.type.tensor_type.shape.dim]) == ("h", [2, 3])


# -- loops in loops ---------------------------------------------------------------------------------------------------


def test_what_a_loop_in_a_loop_begins_with_may_be_empty_later() -> None:
    # the inner loop begins with two elements, and with what a slice leaves in the second turn
    text = """g (float[2] x, float[1] w, int64 m, int64 n, int64[1] end, bool yes) => (y, z) {
        y, z = Loop(m, yes, x, w) <body = b (int64 i, bool ci, float[u] a, float[v] p) => (co, o, q) {
            co = Identity(ci) one = Constant<value_ints=[1]>() zero = Constant<value_ints=[0]>()
            grown, items = Loop(n, ci, a) <body = inner (int64 j, bool cj, float[t] a1) => (c1, o1, k) {
                c1 = Identity(cj) o1 = Concat<axis=0>(a1, w)
                size = Shape(a1) least = Min(size, one) k = ConstantOfShape(least) }>
            q = Squeeze(items, zero) o = Slice(grown, zero, end) }> }"""
    model = parsed(text)
    assert infer(model).shapes["z"][0].lo == 0
    feeds = {"m": 2, "n": 1, "end": [0], "yes": True}
    arrays = {"x": np.ones(2, np.float32), "w": np.ones(1, np.float32)}
    z = run(session_of(model), arrays | {name: np.array(value) for name, value in feeds.items()})
    assert z is not None
    assert z[1].shape == (0,)


@pytest.mark.parametrize(("turns", "is_known"), [(0, True), (1, True), (2, False)])
def test_the_body_of_a_loop_of_one_turn_knows_its_number(turns: int, is_known: bool) -> None:
    """The Loop inside runs as often as the number of the turn says: not at all if there is one turn."""
    graph = f"""g (float[M, M] x, bool on) => (y) {{
        n = Constant<value_int={turns}>() s = Constant<value_float=1.0>()
        y = Loop(n, on, s) <body = b (int64 i, bool go, float v) => (bool k, float w) {{
            inner = Loop(i, go, s) <body = c (int64 j, bool on2, float a) => (bool k2, e) {{
                k2 = Identity(on2) e = Identity(x) }}>
            k = Identity(go) w = Identity(v) }}> }}"""
    once = infer_shapes(parsed(graph))
    types = {info.name: info.type for node in once.graph.node for a in node.attribute for info in a.g.value_info}
    assert types["inner"].tensor_type.HasField("shape") == is_known


def inner_types(result: InferenceResult, model: onnx.ModelProto) -> dict[str, list[int | str | None]]:
    """The sizes written into all subgraphs, by value name."""
    found = {}
    pending = [result.apply(model).graph]
    while pending:
        graph = pending.pop()
        for info in (*graph.value_info, *graph.output, *graph.input):
            dims = info.type.tensor_type.shape.dim
            found[info.name] = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in dims]
        pending += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return found


def test_what_is_written_into_a_body_holds_in_every_iteration() -> None:
    model = parsed(
        """g (float[N, 2] x) => (y) { m = Constant<value_int=3>() yes = Constant<value=bool {1}>()
        y = Loop(m, yes, x) <body = b (int64 i, bool ci, float[N, 2] a) => (bool co, float[N, 2] o) {
            co = Identity(ci) h = Neg(a) o = Concat<axis=0>(h, a) }> }"""
    )
    result = infer(model)
    found = inner_types(result, model)
    (size,) = {str(found["h"][0])}
    assert size.startswith("_d")
    assert found["o"] == [f"2*{size}", 2]
