"""The result of an inference in one line, and as a table for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.report.causes import Causes
from onnx_infer.results.report.table import count_of
from onnx_infer.values.text import printable
from symdim.notebook import html_table

if TYPE_CHECKING:
    from onnx_infer.results.inferred import Inferred

_ENDS = 3


def summary(result: Inferred) -> str:
    """The inputs and outputs, the number of known values, and the number of errors."""
    causes = Causes(result)
    ends = f"{_ends(result, result.inputs)} -> {_ends(result, result.outputs)}"
    return f"{ends}; {count_of([causes.verdict(name) for name in result.types], result)}"


def _ends(result: Inferred, names: list[str]) -> str:
    types = result.types
    shown = [printable(f"{name}: {types[name]}" if name in types else name) for name in names[:_ENDS]]
    return ", ".join(shown + ["..."] * (len(names) > _ENDS))


def html(result: Inferred) -> str:
    """A table of the values with their types and the reasons why something is unknown; below it the errors."""
    causes, rows = Causes(result), []
    for name, value in result.types.items():
        cause = None if causes.verdict(name) == "exact" else causes.of(name)
        rows.append((printable(name), value, "" if cause is None else printable(cause.text)))
    text = html_table(summary(result), ["value", "type", "reason"], rows)
    if result.diagnostics:
        text += html_table("diagnostics", ["severity", "message"], [(d.severity, d) for d in result.diagnostics])
    return text
