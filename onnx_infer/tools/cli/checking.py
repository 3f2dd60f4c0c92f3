"""A call with `--check`: sizes against the contract in a file. This file imports no engine, so the answer is quick."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.contract.checking import Judge, NoContractError, Verdict, front_of
from onnx_infer.errors import UnknownSymbol
from onnx_infer.model.input_values import told_inputs
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, WrongCall
from onnx_infer.tools.cli.files import demo_model, read
from onnx_infer.tools.cli.terminal import show
from symdim.errors import printable

if TYPE_CHECKING:
    from argparse import Namespace


def run(options: Namespace) -> int:
    """Execute the call; returns the exit code. Raises WrongCall."""
    model = demo_model() if options.model is None else read(options.model)
    for name, size in (*options.bind, *((name, size) for name, sizes in options.input_shape for size in sizes)):
        if isinstance(size, str):
            raise WrongCall(f"--check: the size {size!r} of {name!r} is not a number")
    try:
        judge = Judge(front_of(model))
        arrays = {name: np.asarray(value) for name, value in options.values}
        if other := next((name for name in arrays if name not in judge.sizes.kinds), None):
            raise WrongCall(f"--value: {other!r} is not an input of the graph{told_inputs(other, judge.sizes.kinds)}")
        verdict = judge.verdict(dict(options.input_shape), dict(options.bind), arrays)
    except (NoContractError, UnknownSymbol) as error:
        told = str(error).replace("apply(model, contract=True)", "-o FILE --contract")
        raise WrongCall(f"--{told}" if isinstance(error, UnknownSymbol) else f"--check: {told}") from None
    if not (options.quiet and verdict.ok):
        show(json.dumps(_json(verdict), indent=1) if options.json else _text(verdict), sys.stdout)
    return OK if verdict.ok else MODEL_ERRORS


def _text(verdict: Verdict) -> str:
    """The verdict, a line for each statement."""
    lines = [f"broken: {broken}" for broken in verdict.broken]
    lines += [f"not checked: {text}" for text in verdict.unchecked]
    if not verdict.broken:
        lines.insert(0, "no violation found, but not everything was checked" if lines else "the contract holds")
    return "\n".join(map(printable, lines))


def _json(verdict: Verdict) -> dict[str, Any]:
    from onnx_infer.tools.report.plain_data import head_json  # it loads the engine

    broken = [
        {"text": b.text, "kind": b.kind, "sizes": dict(b.sizes), "inputs": list(b.inputs)} for b in verdict.broken
    ]
    told = {"ok": verdict.ok, "runs": verdict.runs, "sizes": dict(verdict.sizes)}
    return {**head_json(), **told, "broken": broken, "unchecked": list(verdict.unchecked)}
