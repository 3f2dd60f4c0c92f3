"""Parameters and multiply-adds of nodes."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.parser
import pytest

from onnx_infer import SymTensor, infer
from onnx_infer.operators.operator import bind
from onnx_infer.operators.registration import registry
from onnx_infer.operators.rule import uncounted
from onnx_infer.operators.schema import NEWEST
from onnx_infer.tools.planning.costs import multiply_adds
from symdim import UnboundName, Var

from .test_planner import with_weights
from .texts import parsed

N, M, S, H, W = (Var(name) for name in "NMSHW")


def tensor(*shape: Any) -> SymTensor:
    return SymTensor(1, shape)


COUNTS: list[tuple[str, list[Any], list[Any], dict[str, Any], Any]] = [
    ("MatMul", [(N, S, 8), (8, 5)], [(N, S, 5)], {}, 40 * N * S),
    ("MatMul", [(8,), (8,)], [()], {}, 8),
    ("Gemm", [(8, N), (8, 5)], [(N, 5)], {"transA": 1}, 40 * N),
    ("com.microsoft::FusedMatMul", [(3, N, 8), (3, 8, 5)], [(3, N, 5)], {}, 120 * N),
    ("com.microsoft::MatMulNBits", [(N, 64), (8, 2, 16)], [(N, 8)], {"K": 64, "N": 8}, 512 * N),
    ("com.microsoft::MatMulPacked", [(N, 64), (8, 34)], [(N, 8)], {"K": 64, "N": 8}, 512 * N),
    ("com.microsoft::MatMulBlockQuantizedFp8Weight", [(N, 64), (8, 64)], [(N, 8)], {}, 512 * N),
    ("QLinearMatMul", [(N, 8), (), (), (8, 5)], [(N, 5)], {}, 40 * N),
    ("Conv", [(N, 6, H), (4, 3, 5)], [(N, 4, H - 4)], {"group": 2}, 60 * N * (H - 4)),
    ("QLinearConv", [(N, 6, H), (), (), (4, 6, 5)], [(N, 4, H - 4)], {}, 120 * N * (H - 4)),
    ("ConvTranspose", [(N, 6, H), (6, 4, 3)], [(N, 4, H + 2)], {}, 72 * N * H),
    ("Einsum", [(N, S, 8), (N, M, 8)], [(N, S, M)], {"equation": "bid, bjd -> bij"}, 8 * M * N * S),
    ("Einsum", [(N, 1, S, 8), (3, 8, 5)], [(N, 3, S, 5)], {"equation": "...ij, ...jk -> ...ik"}, 120 * N * S),
    ("Einsum", [(N, S)], [(S, N)], {"equation": "ij -> ji"}, 0),
    ("LSTM", [(S, N, 3), (2, 16, 3), (2, 16, 4)], [(S, 2, N, 4)], {}, 224 * N * S),
    ("GRU", [(S, N, 3), (1, 12, 3), (1, 12, 4)], [(S, 1, N, 4)], {}, 84 * N * S),
    ("RNN", [(N, S, 3), (1, 4, 3), (1, 4, 4)], [(N, S, 1, 4)], {"layout": 1}, 28 * N * S),
    ("Attention", [(N, 2, S, 8), (N, 2, M, 8), (N, 2, M, 6)], [(N, 2, S, 6)], {}, 28 * M * N * S),
    ("com.microsoft::MultiHeadAttention", [(N, S, 16), (N, M, 16), (N, M, 16)], [(N, S, 16)], {}, 32 * M * N * S),
    ("com.microsoft::MultiHeadAttention", [(N, S, 2, 3, 8)], [(N, S, 16)], {}, 32 * N * S * S),
    ("com.microsoft::GroupQueryAttention", [(N, S, 16)], [(N, S, 16), (N, 1, M, 8)], {}, 32 * M * N * S),
    ("com.microsoft::Attention", [(N, S, 16), (16, 48)], [(N, S, 16)], {}, 768 * N * S + 32 * N * S * S),
    ("ai.onnx.ml::LinearRegressor", [(N, 3)], [(N, 2)], {"coefficients": (1.0,) * 6}, 6 * N),
    ("Relu", [(N, 3)], [(N, 3)], {}, 0),
    ("Conv", [(N, 6, H), None], [(N, 4, H)], {}, None),
    ("DFT", [(N, 8, 1)], [(N, 8, 2)], {}, None),
]


def count_of(title: str, inputs: Any, outputs: Any, attributes: dict[str, Any]) -> Any:
    """The multiply-adds of the newest version of an operator, for these shapes."""
    domain, _, op_type = title.rpartition("::")
    given, made = ([None if s is None else SymTensor(1, s) for s in shapes] for shapes in (inputs, outputs))
    operator = bind(domain, op_type, NEWEST)
    assert operator is not None
    return multiply_adds(operator, given, made, attributes)


@pytest.mark.parametrize(("title", "inputs", "outputs", "attributes", "expected"), COUNTS)
def test_multiply_adds(title: str, inputs: Any, outputs: Any, attributes: dict[str, Any], expected: Any) -> None:
    assert count_of(title, inputs, outputs, attributes) == expected


def test_costs_of_a_model() -> None:
    graph = """g (float[N, 8] x) => (z) <int64[2] s = {-1, 2}> {
        a = MatMul(x, w)
        c = Add(a, b)
        d = MatMul(x, w)
        e = Add(c, d)
        z = Reshape(e, s)
    }"""
    costs = infer(with_weights(parsed(graph), w=(8, 4), b=(4,))).costs()
    assert [(n.operator, n.node, n.parameters, n.multiply_adds) for n in costs.nodes] == [
        ("MatMul", "a", 32, 32 * N),
        ("Add", "c", 4, 0),
        ("MatMul", "d", 0, 32 * N),
        ("Add", "e", 0, 0),
        ("Reshape", "z", 0, 0),
    ]
    assert (costs.parameters, costs.multiply_adds, costs.unknown) == (36, 64 * N, [])


def test_costs_of_functions_and_subgraphs() -> None:
    text = """<ir_version: 10, opset_import: ["": 18, "f": 1, "com.acme": 1]>
        g (float[N, 4] x, bool c) => (y, z, u) {
            v = f.layer(x)
            y = f.layer(v)
            z = If<then_branch = t () => (p) { q = Transpose(x) p = MatMul(x, q) },
                   else_branch = e () => (r) { s = Transpose(x) r = MatMul(x, s) }>(c)
            u = com.acme.Mystery(x)
        }
        <domain: "f", opset_import: ["": 18]> layer (i) => (o) {
            w = Constant<value = float[4, 4] {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}>()
            o = MatMul(i, w)
        }"""
    model = onnx.parser.parse_model(text)
    for output in model.graph.output:
        output.ClearField("type")
    costs = infer(model).costs()
    assert [(n.node, n.parameters, n.multiply_adds) for n in costs.nodes] == [
        ("v", 16, 16 * N),
        ("y", 0, 16 * N),
        ("z", 0, 4 * N**2),
        ("u", 0, None),
    ]
    assert [n.node for n in costs.unknown] == ["u"]
    assert costs.multiply_adds == 32 * N + 4 * N**2


def test_operators_that_are_not_counted() -> None:
    rules = [rule for domain, name, _ in registry.supported() for rule in registry.versions(domain, name)]
    found = [f"{rule.domain}::{rule.name}" for rule in rules if rule.traits.cost is uncounted]
    assert {"::DFT", "::STFT", "::Det", "ai.onnx.ml::SVMRegressor", "com.microsoft::MoE"} <= set(found)
    assert count_of("com.microsoft::MoE", [], [], {}) is None


@pytest.mark.parametrize(
    ("title", "inputs", "outputs", "attributes"),
    [
        ("MatMul", [(), (3, 4)], [(4,)], {}),
        ("Gemm", [(), (3, 4)], [(4,)], {"transA": 1}),
        ("Conv", [(N, 3, H)], [(N, 4, H)], {}),
        ("Attention", [(N, 2, S, 8), (N,), (N,)], [(N, 2, S, 6)], {}),
        ("com.microsoft::MultiHeadAttention", [(N, S, 16), (N,), (N,)], [(N, S, 16)], {}),
        ("ai.onnx.ml::LinearRegressor", [(N, 3)], [(N, 2)], {"coefficients": 3}),
    ],
)
def test_of_malformed_nodes_nothing_is_known(title: str, inputs: Any, outputs: Any, attributes: dict[str, Any]) -> None:
    assert count_of(title, inputs, outputs, attributes) is None


def test_functions_that_call_themselves_have_no_count() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 20, "f": 1]> g (float[N, 8] x, float[8, 4] w) => (y, z, u)
        { y = f.Again (x) z = f.Calls (x) u = MatMul (x, w) }
        <domain: "f", opset_import: ["": 20, "f": 1]> Again (a) => (b) { c = Relu (a) b = f.Other (c) }
        <domain: "f", opset_import: ["": 20, "f": 1]> Other (a) => (b) { b = f.Again (a) }
        <domain: "f", opset_import: ["": 20, "f": 1]> Calls (a) => (b) { b = f.Again (a) }"""
    )
    result = infer(model)
    assert [(n.operator, n.multiply_adds) for n in result.costs().nodes] == [
        ("f::Again", None),
        ("f::Calls", None),
        ("MatMul", 32 * N),
    ]
    assert "onnx-infer" in result.html()


# -- traffic ----------------------------------------------------------------------------------------------------------


def test_bytes_that_nodes_read_and_write() -> None:
    result = infer(
        with_weights(
            onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 20, "f": 1]>
            g (float[N, 8] x, int64[M] k, bool b) => (y, z, s, c) <int64[2] target = {-1, 4}> {
                a = MatMul(x, w) r = Reshape(a, target) h = Gather(w, k) s = Shape(h) y = f.F(r)
                z = StringNormalizer(words) c = If(b) <then_branch = t () => (p) { p = Exp(a) },
                                                       else_branch = e () => (q) { q = Neg(a) }> }
            <opset_import: ["": 20], domain: "f"> F (u) => (v) { t = Exp(u) v = Add(t, t) }"""),
            w=(8, 4),
        )
    )
    found = result.traffic()
    assert {(n.operator, n.node): (str(n.read), str(n.written)) for n in found.nodes} == {
        ("MatMul", "a"): ("32*N + 128", "16*N"), ("Reshape", "r"): ("0", "0"), ("Gather", "h"): ("24*M", "16*M"),
        ("Shape", "s"): ("0", "16"), ("f::F", "y"): ("32*N", "32*N"), ("StringNormalizer", "z"): ("None", "None"),
        ("If", "c"): ("16*N", "16*N"),
    }  # fmt: skip
    assert [node.node for node in found.unknown] == ["z"]
    assert (str(found.read), str(found.written)) == ("24*M + 80*N + 128", "16*M + 64*N + 16")
    bytes_ = 24 * 2 + 80 * 3 + 128 + 16 * (2 + 12 + 1)
    assert found.multiply_adds_per_byte(N=3, M=2) == 32 * 3 / bytes_
    with pytest.raises(UnboundName):
        found.multiply_adds_per_byte(N=3)


LOOP = "Loop<body = b (int64 i, bool c, float[N, 8] p) => (d, q{}) {{ d = {}(c) q = Add(p, x) {} }}>"
ADDED, TOLD, STOPPED = (
    LOOP.format(*parts) for parts in (("", "Identity", ""), (", r", "Identity", "r = Neg(q)"), ("", "Not", ""))
)
TURNS = [
    (f"y = {ADDED}(five, , x)", ("320*N", "160*N")),
    (f"y, z = {TOLD}(n, , x)", ("96*N*max(`n[0]`, 0)", "64*N*max(`n[0]`, 0)")),  # z has a row for each turn
    (f"y = {STOPPED}(five, on, x)", ("320*N + 5", "160*N + 5")),  # the condition may end it earlier
    (f"y = {STOPPED}(, on, x)", ("None", "None")),
    (f"y = {ADDED}(n, , x)", ("None", "None")),
    ("y, z = Scan<num_scan_inputs = 1, body = b (float[8] p, float[8] v) => (q, r) { q = Add(p, v) r = Exp(q) }>(s, x)",
     ("96*N", "64*N")),
    ("y = If<then_branch = t () => (p) { p = Add(x, s) }, else_branch = e () => (q) { q = ReduceSum(x, axis) }>(on)",
     ("32*N + 32", "32*N")),
]  # fmt: skip


@pytest.mark.parametrize(("node", "expected"), TURNS)
def test_bytes_that_bodies_move(node: str, expected: tuple[str, str]) -> None:
    """What the nodes of a body move, for each turn; None only for a node whose turns have no upper bound."""
    text = (
        '<ir_version: 10, opset_import: ["": 20]> g (float[N, 8] x, float[8] s, int64 n, bool on) => (y)'
        f" <int64 five = {{5}}, int64[1] axis = {{0}}> {{ {node} k = Exp(x) }}"
    )
    found = infer(onnx.parser.parse_model(text)).traffic()
    assert (str(found.nodes[0].read), str(found.nodes[0].written)) == expected
    assert str(found.nodes[1].read) == "32*N"
