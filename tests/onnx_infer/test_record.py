"""The record of a walk: it comes back to what it was between two nodes, whatever was visited since."""

from __future__ import annotations

import pytest

from onnx_infer.engine.record import Record  # no public call stops between two nodes
from onnx_infer.engine.walk import end, run_graph
from onnx_infer.model.symbols import Symbols
from onnx_infer.protobuf.reading import ModelProtoFrontEnd

from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "f": 1, "acme": 1]>'
MODELS = {
    "data-dependent sizes": """g (float[N] x, float[4] w, bool[N] c) => (float[A] y) {
        k = NonZero(x) e = Compress<axis=0>(x, c) d = Neg(e) y = Add(e, w) b = MatMul(d, w) l = NonZero(y) }""",
    "elements of a run": """g (float[N] x, int64[1] k, int64[1] one) => (v, y) {
        v, i = TopK(x, k) m = Add(k, one) u, j = TopK(x, m) y = Concat<axis=0>(v, u) t = NonZero(y) }""",
    "graphs and functions": """g (float[N, 2] x, float[M, 2] w, bool c, int64 n) => (y, z) {
        a = Add(x, w) y = If(c) <then_branch = t () => (p) { p = Concat<axis=0>(a, x) },
            else_branch = e () => (q) { k = NonZero(a) q = Neg(a) }>
        u = f.F(a) s = Loop(n, c, u) <body = b (int64 i, bool go, v) => (on, o) {
            on = Identity(go) o = Concat<axis=0>(v, v) }> z = f.F(s) }
        <domain: "f", opset_import: ["": 18]> F (x) => (y) { k = NonZero(x) y = Neg(x) }""",
    "errors, claims and unknown operators": """g (float[N, 3] x, float[4] w) => (float[K] y, float[N] z) {
        a = acme.Top(x) b = MatMul(x, w) s = Shape(a) y = Reshape(x, s) c = acme.Low(b) z = Neg(y) }""",
}


def told(record: Record) -> list[str]:
    """All that a walk finds, as texts."""
    parts = (
        record.scope,
        record.notes,
        record.statements.pairs,
        record.diagnostics,
        record.declared.claims,
        record.sizes.created,
    )
    values = [f"{name}: {value}" for _, scope in record.inner for name, value in scope.items()]
    rest = record.unknown_operators, record.sizes.choices, record.symbols.count, record.sizes.fresh.final()
    return [*values, *map(repr, parts), *map(repr, rest)]


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_a_record_comes_back_to_a_mark(text: str) -> None:
    front = ModelProtoFrontEnd(parsed(text, HEAD))

    def record_and_nodes() -> tuple[Record, list[object]]:
        symbols = Symbols(*front.dim_params())
        record = Record(front.view(symbols), symbols)
        return record, list(record.model.graph.nodes())

    def visit(record: Record, nodes: list[object]) -> None:
        graph = record.model.graph._replace(nodes=lambda: iter(nodes), outputs=[])  # type: ignore[arg-type]
        run_graph(record, graph, record.scope)

    whole, nodes = record_and_nodes()
    visit(whole, nodes)
    end(whole)
    for count in range(len(nodes) + 1):
        record, nodes = record_and_nodes()
        visit(record, nodes[:count])
        mark = record.mark()
        for _ in range(2):
            visit(record, nodes[count:])
            record.back_to(mark)
        visit(record, nodes[count:])
        end(record)
        assert told(record) == told(whole), count
