"""Assumptions about elements of inputs (`total[0] == P + S`) and those of nodes in bodies, against onnxruntime."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx import helper

import onnx_infer
from onnx_infer.errors import InputValueError, UnknownSymbol
from onnx_infer.integrations import onnx_ir
from symdim import Expr

from .sessions import run, session_of
from .texts import both, parsed

TEXT = """
<ir_version: 8, opset_import: ["": 17]>
g (float[N, M] scores, int64[1] k, int64 n, int64[2] shape, float[P, S] x, int32[1] total) => (%s)
{
    best, index = TopK (scores, k)
    zero = Constant <value_int: int = 0> ()
    one = Constant <value_int: int = 1> ()
    steps = Range (zero, n, one)
    again = Reshape (x, shape)
    long = Cast <to: int = 7> (total)
    zeros = ConstantOfShape (long)
}"""
OUTPUTS = ("best", "steps", "again", "zeros")


def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT % ", ".join(OUTPUTS))


CASES: list[tuple[list[str], dict[str, str]]] = [
    (["k[0] == M - 1", "n[0] == k[0] + S"], {"best": "f32[N, M - 1]", "steps": "i64[M + S - 1]"}),
    (["`total[0]` == P + S", "`shape`[0] == S", "shape[1] == P"], {"zeros": "f32[P + S]", "again": "f32[S, P]"}),
    (["k[0] == 3 and n[0] == N"], {"best": "f32[N, 3]", "steps": "i64[N]"}),
    (["1 <= k[0] <= 3", "n[0] <= 2*S"], {"best": "f32[N, k[0]]", "steps": "i64[n[0]]"}),
]


@pytest.mark.parametrize(("assume", "expected"), CASES)
def test_sizes_follow_from_relations(assume: list[str], expected: dict[str, str]) -> None:
    proto = model()
    result = onnx_infer.infer(proto, assume=assume)
    assert not result.diagnostics
    assert {name: str(result.types[name]) for name in expected} == expected
    other = onnx_ir.infer(ir.from_proto(proto), assume=assume)
    assert {name: str(value) for name, value in other.types.items()} == {n: str(v) for n, v in result.types.items()}


def test_the_sizes_are_those_of_runs() -> None:
    proto = onnx.parser.parse_model(TEXT % "float[a, b] best, int64[c] steps, float[d, e] again, float[f] zeros")
    assume = ["k[0] == M - 1", "n[0] == N*S", "shape[0] == S", "shape[1] == P", "total[0] == P + S"]
    planner = onnx_infer.infer(proto, assume=assume).planner()
    session = session_of(proto)
    for n, m, p, s in product((1, 3), (1, 4), (1, 2), (1, 5)):
        feeds: dict[str, Any] = {
            "scores": np.ones((n, m), np.float32), "k": np.array([m - 1]), "n": np.array(n * s),
            "shape": np.array([s, p]), "x": np.ones((p, s), np.float32), "total": np.array([p + s], np.int32),
        }  # fmt: skip
        found = planner(N=n, M=m, P=p, S=s).shapes
        assert [found[name] for name in OUTPUTS] == [value.shape for value in session.run(OUTPUTS, feeds)]


def test_a_bound_of_an_element_bounds_the_sizes() -> None:
    proto = model()
    for options in ({"assume": ["1 <= k[0] <= 8"]}, {"bounds": {"k[0]": (1, 8)}}):
        result = onnx_infer.infer(proto, **options)  # type: ignore[arg-type]
        assert str(result.upper_bounds["best"]) == "(N, 8)"
        assert [reason.text for reason in result.reasons["best"]] == ["the value of input 'k'"]
        assert [str(guard) for guard in result.guards] == ["M >= k[0]"]


def test_a_cache_has_the_total_length() -> None:
    kinds = {"q": ["B", "S", 64], "k": ["B", "S", 32], "v": ["B", "S", 32]}
    kinds |= {"past_k": ["B", 2, "P", 16], "past_v": ["B", 2, "P", 16]}
    inputs = [helper.make_tensor_value_info(name, 1, shape) for name, shape in kinds.items()]
    inputs += [helper.make_tensor_value_info("lengths", 6, ["B"]), helper.make_tensor_value_info("total", 6, [])]
    node = helper.make_node(
        "GroupQueryAttention", [i.name for i in inputs], ["y", "keys", "values"], domain="com.microsoft", num_heads=4,
        kv_num_heads=2,
    )  # fmt: skip
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", 1, None)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    assert str(onnx_infer.infer(proto).types["keys"]) == "f32[B, 2, max(P, _d0), 16]"
    assert str(onnx_infer.infer(proto, assume=["total[0] == P + S"]).types["keys"]) == "f32[B, 2, P + S, 16]"


@pytest.mark.parametrize(
    ("assume", "error", "message"),
    [
        ("k[1] == M", InputValueError, r"k.1. is not an element: 'k' is i64.1., so its last is k.0."),
        ("x[0] == M", InputValueError, r"'x' is f32.P, S., not some integers"),
        ("totl[0] == M", InputValueError, "'totl' is not an input of the graph; do you mean 'total'?"),
        ("k[0] == Q + 1", UnknownSymbol, "no symbol 'Q'"),
    ],
)
def test_errors(assume: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        onnx_infer.infer(model(), assume=[assume])


def test_contradictions_are_told() -> None:
    told = onnx_infer.infer(model(), assume=["k[0] <= 4"], values={"k": [5]}).diagnostics
    assert any("the assumption k[0] <= 4 contradicts" in d.message for d in told)
    told = onnx_infer.infer(model(), assume=["k[0] == M + 1"]).diagnostics
    assert any(d.operator == "TopK-11" and "under the assumption k[0] == M + 1" in d.message for d in told)


def test_a_symbol_of_the_same_spelling_stays_the_symbol() -> None:
    proto = model()
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "k[0]"
    result = onnx_infer.infer(proto, assume=["k[0] == 7"])
    assert str(result.types["scores"]) == "f32[7, M]"
    assert str(result.types["k"]) == "i64[1]"


def test_a_written_model_is_inferred_to_the_same_sizes() -> None:
    for assume, best in ((["k[0] <= 8"], "f32[N, k[0]]"), (["k[0] == N"], "f32[N, N]")):
        written = onnx_infer.infer_shapes(onnx_infer.infer_shapes(model(), assume=["1 <= k[0]"]), assume=assume)
        again = onnx_infer.infer(written, assume=assume)
        assert str(again.types["best"]) == best
        assert not again.diagnostics


# -- assumptions of nodes in bodies -----------------------------------------------------------------------------------


# The first size of r is N - 2, and that of u is 1. With N == 2 the target is [0, -1], and the 0 copies the 5.
RESHAPED = "m = Sub(n, two)  t = Concat<axis = 0>(m, rest)  r = Reshape(big, t)"
PRODUCT = "u = MatMul(five, r)"
MODEL = """g (float[1, N] x, float[1, "N + 3"] longer, float[5, 6] big, float[1, 5] five, float[2, 1] two_rows,
    float[1, 30] other, bool c) => (y)
    <int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] rest = {{-1}}, int64 trips = {{1}}> {{
    s = Shape(x)  n = Gather<axis = 0>(s, one)  {before}
    y = {node} }}"""


def branches(then: str, otherwise: str = "q = Identity(other)", names: tuple[str, str] = ("p", "q")) -> str:
    first, second = names
    return f"If(c) <then_branch = a () => ({first}) {{ {then} }}, else_branch = b () => ({second}) {{ {otherwise} }}>"


INNER = branches(f"{RESHAPED}  p1 = Relu(r)", f"{RESHAPED}  q1 = Neg(r)", ("p1", "q1"))
LOOP = "Loop(trips, c, big) <body = a (int64 i, bool go, float[5, 6] v) => (go2, p) {{ go2 = Identity(go)  {} }}>"
IN_BODIES = {
    "one of two": ("", branches(f"{RESHAPED}  p = Relu(r)", RESHAPED.replace("r = ", "q = "))),
    "both statements inside": ("", branches(f"d = MatMul(x, two_rows)  {RESHAPED}  {PRODUCT}  p = Add(u, d)")),
    "the assumption outside": (RESHAPED, branches(f"d = MatMul(x, two_rows)  {PRODUCT}  p = Add(u, d)")),
    "an assumption in a body inside": (
        "",
        branches(f"k = {INNER}  d = MatMul(x, two_rows)  u = MatMul(five, k)  p = Add(u, d)"),
    ),
    "sizes that differ": (RESHAPED, branches("p = MatMul(longer, r)")),
    "a loop": ("", LOOP.format(f"{RESHAPED}  p = Relu(r)")),
}


def model_of(case: str) -> onnx.ModelProto:
    before, node = IN_BODIES[case]
    return parsed(MODEL.format(before=before, node=node))


def known_at(size: Expr, sizes: dict[str, int]) -> int | None:
    """The size there; None if only the data decide it."""
    return size.evaluate(sizes) if {v.name for v in size.variables()} <= sizes.keys() else None


@pytest.mark.parametrize("case", IN_BODIES)
def test_sizes_are_those_of_runs_in_which_the_guards_hold(case: str) -> None:
    model = model_of(case)
    result = both(model)
    session = session_of(model)
    ran = 0
    for n in (1, 2, 3, 4, 7):
        sizes = {"N": n}
        given = {
            "x": (1, n), "longer": (1, n + 3), "big": (5, 6), "five": (1, 5), "two_rows": (2, 1), "other": (1, 30),
        }  # fmt: skip
        for c in (False, True):
            feeds = {name: np.ones(shape, np.float32) for name, shape in given.items()}
            wanted = {i.name for i in session.get_inputs()}
            outputs = run(session, {k: v for k, v in {**feeds, "c": np.array(c)}.items() if k in wanted})
            if outputs is None:
                continue
            ran += 1
            failed = result.check(sizes)
            assert [str(v.guard) for v in failed if v.kind == "required"] == []
            if not failed:
                known = [d if isinstance(d, int) else known_at(d, sizes) for d in result.types["y"].dims]
                assert [found in (None, size) for found, size in zip(known, outputs[0].shape, strict=True)] == [
                    True
                ] * 2
    assert ran >= 3
