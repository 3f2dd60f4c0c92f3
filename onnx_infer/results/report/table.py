"""All values of an inference as a text for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_infer.results.report.verdicts import input_variables, verdict
from onnx_infer.values.text import printable

if TYPE_CHECKING:
    from onnx_infer.result import InferenceResult
    from symdim import Var

_GUARD_HEADINGS = {
    "required": "the model runs only where",
    "assumed": "the model may run elsewhere, but has these sizes only where",
    "declared": "the model declares",
}

_WIDEST_NAME = 48
_WIDEST_TYPE = 90


def table(result: InferenceResult, limit: int | None = 40) -> str:
    """A summary, then the values with their types, those that are not exact first and with the reason.

    At most `limit` lines of each kind, None for all; of exact values beyond it the inputs and outputs of the graph.
    """
    inputs = input_variables(result)
    verdicts = {name: verdict(value, inputs) for name, value in result.types.items()}
    counts = Counter(verdicts.values())
    parts = [f"{counts[word]} {word}" for word in ("exact", "data-dependent", "unknown") if counts[word]]
    lines = [f"{len(verdicts)} values: {', '.join(parts) or 'none'}"]
    if inputs:
        lines.append(f"symbols: {', '.join(map(_interval, sorted(inputs, key=lambda v: v.name)))}")
    unresolved = [name for name, word in verdicts.items() if word != "exact"]
    resolved = [name for name, word in verdicts.items() if word == "exact"]
    if unresolved:
        lines += ["", "not a function of the input sizes:", *_rows(result, unresolved, limit, reasons=True)]
    if limit is not None and len(resolved) > limit:
        ends = [name for name in (*result.inputs, *result.outputs) if verdicts.get(name) == "exact"]
        lines += ["", *_rows(result, ends, None), *_rest(len(resolved) - len(ends))]
    elif resolved:
        lines += ["", *_rows(result, resolved, None)]
    for kind, heading in _GUARD_HEADINGS.items():
        guards = dict.fromkeys(str(g) for g in result.guards if g.kind == kind)
        if guards:
            lines += ["", f"{heading}:", *_limited([f"  {g}" for g in guards], limit)]
    if result.diagnostics:
        lines += ["", *(f"{d.severity}: {d}" for d in result.diagnostics)]
    return printable("\n".join(lines))


def _rows(result: InferenceResult, names: list[str], limit: int | None, *, reasons: bool = False) -> list[str]:
    shown = names if limit is None else names[:limit]
    width = min(max(map(len, shown), default=0), _WIDEST_NAME)
    rows = []
    for name in shown:
        text = str(result.types[name])
        row = f"  {name:{width}}  {text if len(text) <= _WIDEST_TYPE else text[: _WIDEST_TYPE - 3] + '...'}"
        reason = result.notes.get(name) if reasons else None
        rows.append(f"{row}   ({reason})" if reason else row)
    return rows + _rest(len(names) - len(shown))


def _limited(lines: list[str], limit: int | None) -> list[str]:
    return lines if limit is None else lines[:limit] + _rest(len(lines) - limit)


def _rest(count: int) -> list[str]:
    return [f"  ... and {count} more (--all)"] if count > 0 else []


def _interval(variable: Var) -> str:
    low, high = variable.bounds()
    return f"{variable.name} >= {low}" if high is None else f"{low} <= {variable.name} <= {high}"
