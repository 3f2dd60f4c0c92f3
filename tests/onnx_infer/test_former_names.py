"""Names of sizes in inner graphs: a second inference writes the same, and no name is of two sizes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

import onnx
import onnx_ir as ir
import pytest

from onnx_infer import infer_shapes
from onnx_infer.integrations import onnx_ir

from .texts import dims, parsed

Infer: TypeAlias = Callable[[onnx.ModelProto], onnx.ModelProto]

START = """yes = Constant<value=bool {1}>() axis = Constant<value_ints=[0]>() u = NonZero(s)
    d = ReduceMin<keepdims=0>(u) dd = Unsqueeze(d, axis)"""
"""`d` is an integer that only the data decide, so Expand to `dd` has a fresh size."""

LOOP = """y = Loop(n, yes, x) <body = b (int64 i, bool c, float[] v) => (bool c2, float[] w) {{
    {} c2 = Identity(yes) w = Identity(x) }}>"""

INNER = """q = If(r) <then_branch = t () => (o) {{ {} o = Identity(x) }}, else_branch = f () => (p) {{ p = Neg(x) }}>"""

CARRIED = """k = NonZero(x) two = Concat<axis=0>(axis, axis)
    e = Loop(n, yes, two) <body = l (int64 j, bool g, int64[] w) => (h, v2) {{
        h = Identity(yes) v2 = Identity(axis) r = Identity(yes) {} }}>"""
"""The body of a Loop carries `w`, of 1 or 2 elements. This size is not written in the body itself."""

EXPAND = "e = Expand(x, dd) z = Shape(e)"
ROWS = "k = NonZero(x) e = Transpose(k)"
EVERY_OTHER = (
    "two = Constant<value_ints=[2]>() last = Constant<value_ints=[9999]>() h = Slice({}, axis, last, axis, two)"
)

BODIES = {
    "a number that is only in elements": EXPAND,
    "the number of the iteration": f"{EXPAND} it = Unsqueeze(i, axis) g = Expand(x, it)",
    "an expression": f"{ROWS} {EVERY_OTHER.format('e')}",
    "an expression alone": "ii = Add(i, i) j = Unsqueeze(ii, axis) one = Constant<value_ints=[1]>() "
    "t = Concat<axis=0>(j, one) e = Tile(x, t) g = NonZero(e)",
    "sums of two sizes": f"{ROWS} k2 = NonZero(v) e2 = Transpose(k2) "
    "f = Flatten<axis=2>(e) f2 = Flatten<axis=2>(e2) both = Concat<axis=0>(f, f2)",
    "a graph in the body": f"{EXPAND} r = Identity(yes) {INNER.format('e3 = Neg(e) m = NonZero(e) e4 = Identity(e)')}",
    "a size of its own in a graph in the body": f"{EXPAND} r = Identity(yes) "
    + INNER.format("m = NonZero(e) m2 = Transpose(m) both = Concat<axis=0>(m2, m2) l = Expand(e, dd)"),
    "a sum with a size of the graph around": f"{ROWS} all = Constant<value_ints=[-1]>() flat = Reshape(k, all) "
    "r = Identity(yes) " + INNER.format("any_rank = Squeeze(k) both = Concat<axis=0>(flat, any_rank)"),
    "a carried size in a graph in the body": CARRIED.format(INNER.format("z = Concat<axis=0>(w, axis)")),
    "a size of its own in a graph in a body that carries one": CARRIED.format(INNER.format("m = NonZero(x)")),
    "the sum of a carried size and one of a graph in the body": CARRIED.format(
        INNER.format("m = NonZero(x) all = Constant<value_ints=[-1]>() f = Reshape(m, all) z = Concat<axis=0>(f, w)")
    ),
    "a sequence": "k = NonZero(x) e = SequenceConstruct(k, k)",
    "an optional": "k = NonZero(x) e = Optional(k)",
}


def model_of(body: str) -> onnx.ModelProto:
    return parsed(f'g (float["2*L", 1] x, float[6] s, int64 n) => (float[] y) {{ {START} {LOOP.format(body)} }}')


def by_function(body: str) -> onnx.ModelProto:
    """The same graph in the body of a function, which is called twice."""
    head = '<ir_version: 10, opset_import: ["": 18, "com.acme": 1]>'
    main = 'g (float["2*L", 1] x, float[6] s, int64 n) => (y, y2) { a = NonZero(s) y = com.acme.F(x, s, n) '
    text = f"{main} y2 = com.acme.F(y, s, n) }}"
    function = f'<domain: "com.acme", opset_import: ["": 18]> F (x, s, n) => (y) {{ {START} {LOOP.format(body)} }}'
    return parsed(f"{text}\n{function}", head)


def by_onnx_ir(model: onnx.ModelProto) -> onnx.ModelProto:
    return ir.to_proto(onnx_ir.infer_shapes(ir.from_proto(model)))


def chains(model: onnx.ModelProto) -> list[list[onnx.GraphProto | onnx.FunctionProto]]:
    """Each graph, after those around it."""
    found: list[list[onnx.GraphProto | onnx.FunctionProto]] = [[model.graph], *([f] for f in model.functions)]
    for chain in found:
        found += [[*chain, a.g] for node in chain[-1].node for a in node.attribute if a.HasField("g")]
    return found


def infos(graph: onnx.GraphProto | onnx.FunctionProto) -> list[onnx.ValueInfoProto]:
    return [*graph.value_info, *(graph.output if isinstance(graph, onnx.GraphProto) else ())]


def texts(chain: list[onnx.GraphProto | onnx.FunctionProto]) -> dict[tuple[int, str, int], str]:
    """The sizes that are visible together and no numbers, by their places."""
    return {
        (depth, info.name, axis): d.dim_param
        for depth, graph in enumerate(chain)
        for info in infos(graph)
        for axis, d in enumerate(info.type.tensor_type.shape.dim)
        if d.dim_param
    }


MODELS = {f"{name}, {make.__name__}": make(body) for name, body in BODIES.items() for make in (model_of, by_function)}


@pytest.mark.parametrize("infer_shapes", [infer_shapes, by_onnx_ir], ids=["ModelProto", "onnx_ir"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_second_inference_writes_the_same(model: onnx.ModelProto, infer_shapes: Infer) -> None:
    once = infer_shapes(model)
    assert any(re.search(r"\b_d\d", str(chain[-1].value_info)) for chain in chains(once)[1:])
    assert infer_shapes(once) == once


DAMAGE: dict[str, Callable[[str], str]] = {
    "one name for all": lambda name: "_d0",
    "another order": lambda name: f"_d{9 - int(name[2:])}",
    "names of the next": lambda name: f"_d{int(name[2:]) + 1}",
    "pairs of one name": lambda name: f"_d{int(name[2:]) // 2}",
    "a symbol's name": lambda name: "L",
    "names of an author": lambda name: f"rows{name[2:]}",
}


@pytest.mark.parametrize(
    ("damage", "infer_shapes"),
    [*((name, infer_shapes) for name in DAMAGE), ("pairs of one name", by_onnx_ir), ("a symbol's name", by_onnx_ir)],
)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_no_name_is_of_two_sizes(model: onnx.ModelProto, damage: str, infer_shapes: Infer) -> None:
    """Whatever names the inner graphs had, sizes that are visible together are written alike if and only if equal."""
    once = infer_shapes(model)
    other = onnx.ModelProto()
    other.CopyFrom(once)
    for chain in chains(other)[1:]:
        for info in list(chain[-1].value_info)[::4]:  # so some sizes have no former name
            chain[-1].value_info.remove(info)
        for d in (d for info in infos(chain[-1]) for d in info.type.tensor_type.shape.dim if d.dim_param):
            d.dim_param = re.sub(r"\b_d\d+\b", lambda match: DAMAGE[damage](match[0]), d.dim_param)
    again = infer_shapes(other)
    assert infer_shapes(again) == again
    for before, after in zip(chains(once), chains(again), strict=True):
        first, second = texts(before), texts(after)
        assert first.keys() == second.keys()
        pairs = set(zip(first.values(), second.values(), strict=True))
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_an_author_names_a_size_in_a_body_and_in_graphs_inside_it() -> None:
    model = model_of(BODIES["a graph in the body"])
    (body,) = (chain[-1] for chain in chains(model) if chain[-1].name == "b")
    body.value_info.append(onnx.helper.make_tensor_value_info("e", 1, ["2*L", "columns"]))
    (branch,) = (chain[-1] for chain in chains(infer_shapes(model)) if chain[-1].name == "t")
    assert {info.name: dims(info) for info in branch.value_info}["e3"] == ["2*L", "columns"]


TAKEN = {
    "in one graph": ("k = NonZero(x) l = NonZero(v)", "l", "k"),
    "in a graph inside": (f"{EXPAND} r = Identity(yes) {INNER.format('k = NonZero(e)')}", "e", "k"),
}


@pytest.mark.parametrize("make", [model_of, by_function])
@pytest.mark.parametrize("infer_shapes", [infer_shapes, by_onnx_ir], ids=["ModelProto", "onnx_ir"])
@pytest.mark.parametrize(("body", "value", "other"), TAKEN.values(), ids=TAKEN)
def test_a_size_gives_way_to_another_size_that_has_its_name(
    body: str, value: str, other: str, make: Callable[[str], onnx.ModelProto], infer_shapes: Infer
) -> None:
    def written(model: onnx.ModelProto) -> dict[str, list[str | int | None]]:
        return {info.name: dims(info) for chain in chains(model)[1:] for info in infos(chain[-1])}

    model = make(body)
    before = written(infer_shapes(model))
    wanted = [*before[value][:-1], before[other][-1]]
    (graph,) = (chain[-1] for chain in chains(model) if chain[-1].name == "b")
    graph.value_info.append(onnx.helper.make_tensor_value_info(value, 1, wanted))
    once = infer_shapes(model)
    after = written(once)
    assert after[value] == wanted != before[value]
    assert after[other] != before[other]
    assert infer_shapes(once) == once


def test_an_integer_below_0_keeps_its_name_and_its_sign() -> None:
    """The end of a Slice is what the Loop carries, -5 at first: read as a size, it would make another length."""
    model = parsed(
        """g (float[N, M] x, int64 T) => (r) { s = Shape(x) go = Constant<value=bool {1}>()
        start = Constant<value_ints=[-5]>() two = Constant<value_ints=[2]>()
        one = Constant<value_ints=[1]>() zero = Constant<value_ints=[0]>()
        r = Loop(T, go, start) <body = b (int64 i, bool g0, int64[1] e) => (bool g1, int64[1] e1) {
            g1 = Identity(g0) part = Slice(s, one, e, zero) e1 = Identity(two) }> }"""
    )
    once = infer_shapes(model)
    (loop,) = [node for node in once.graph.node if node.op_type == "Loop"]
    (part,) = [info for info in loop.attribute[0].g.value_info if info.name == "part"]
    assert "-1)" in part.type.tensor_type.shape.dim[0].dim_param
    assert infer_shapes(once) == once
