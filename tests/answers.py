"""Answers of both packages as text: equal text is the same answer, in whatever state the process is."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import onnx
from onnx.parser import parse_model

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.tools.transforms.folding import fold
from symdim import Expr, SymdimError, parse
from tests.symdim.row_cases import solve
from tests.symdim.text_cases import explain_text

TEXTS = ("min(max(N, 3), 5)//2 + (N*M + 7)//3 % 4", "floor(N/2 - 1/2) + ceil(M/3)", "trunc((N - 7)/3)", "N % 3 % 5",
         "max(min(a, b), min(a, c)) + abs(N - M)", "round(N/4)*3", "(N + M)**7//(N + 2)", "x +")  # fmt: skip
ASSUMED = ("H % 12 == 0", "x <= y", "y <= z", "E == h*d")
QUESTIONS = (("H//4*4", "==", "H"), ("x*w", "<=", "z*w"), ("E//h", "==", "d"), ("H % 6", "==", "1"))
ROWS: dict[str, Any] = {
    "facts": [
        {"dim_eq": ["a", {"stride": 2, "over": "b", "kernel": "c", "dilation": 1, "padding": False}]},
        {"dim_le": {"result": 4, "operand": "c"}},
        {"elements": {"rows": [["b"]], "equals": 12}},
    ]
}
MODELS = {
    "data": """<ir_version: 8, opset_import: ["": 18]>
    g (float[N, 3, H] x, bool c) => (float[A] y, float[B] z, float[P] p) {
        h = Shape (x)
        at = Constant <value: tensor = int64[1] {2}> ()
        rest = Constant <value: tensor = int64[1] {-1}> ()
        last = Gather (h, at)
        half = Div (last, at)
        sizes = Concat <axis = 0> (rest, half)
        y = Reshape (x, sizes)
        found = NonZero (x)
        places = Transpose <perm = [1, 0]> (found)
        picked = GatherND (x, places)
        z = If (c) <then_branch = a () => (float[s] s) { s = Relu (picked) },
                    else_branch = b () => (float[t] t) { t = Identity (picked) }>
        bad = MatMul (x, x)
        other = NoSuchOperator (x)
        p = Unique (picked)
    }""",
    "loop": """<ir_version: 8, opset_import: ["": 18]>
    g (float[N, C] x, int64 n) => (float[A, B] last, float[T, R, S] all) {
        yes = Constant <value: tensor = bool {1}> ()
        last, all = Loop (n, yes, x) <body = b (int64 i, bool go, float[K, L] state)
            => (bool on, float[O, P] next, float[Q, U] out) {
                on = Identity (go)
                next = Concat <axis = 0> (state, state)
                out = Relu (x)
            }>
    }""",
    "wide": """<ir_version: 8, opset_import: ["": 18, "com.microsoft": 1]>
    g (float[N, S, 8] x, float[8] weight, float[8] bias, float[N, 8] query) => (float[A] y) {
        norm = com.microsoft.SkipLayerNormalization (x, x, weight, bias)
        left, right = Split <axis = 1, num_outputs = 2> (norm)
        product = Einsum <equation = "nsd,nd->ns"> (norm, query)
        y = AveragePool <kernel_shape = [3], strides = [2], pads = [1, 0]> (left)
    }""",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "data": {"bounds": {"N": (4, None)}, "assume": ["H % 2 == 0"]},
    "loop": {"values": {"n": 3}},
    "wide": {"bidirectional": True},
}


def algebra() -> str:
    """Texts, their parts and bounds, what is proved about them, and what a store deduces."""
    lines = [str(explain_text(*question, {}, ASSUMED)) for question in QUESTIONS]
    for text in TEXTS:
        try:
            dim = parse(text)
        except SymdimError as error:
            lines.append(str(error))
        else:
            lines += [f"{dim} {dim.bounds()} {dim.tree()}" if isinstance(dim, Expr) else str(dim)]
    return "\n".join([*lines, str(solve(ROWS))])


def inference(*names: str) -> str:
    """What inference says of the models, plain and with options."""
    found = [infer(parse_model(MODELS[n]), **given) for n in names or MODELS for given in ({}, OPTIONS[n])]
    return "\n".join([repr((r.types, r.guards, r.data_guards, r.notes, r.diagnostics)) for r in found])


def folding() -> str:
    """A folded model, which is inferred with and without assumptions, and then as usual."""
    return f"{fold(parse_model(MODELS['data']))}\n{inference('data')}"


COMMANDS = ("", "--json", "--bind N=4", "--explain z", "--costs --memory", "--emit js", "--html page.html",
            "--fold -o a")  # fmt: skip


def commands(folder: Path) -> str:
    """What the commands print and write for a model in this folder."""
    model, out = folder / "model.onnx", StringIO()
    onnx.save(parse_model(MODELS["data"]), model)
    with redirect_stdout(out):
        for options in COMMANDS:
            words = [str(folder / w) if w in ("page.html", "a") else w for w in options.split()]
            print(options, main([str(model), *words]))
    written = [(folder / name).read_bytes() for name in ("page.html", "a")]
    return f"{out.getvalue()}{written}".replace(str(folder), "")
