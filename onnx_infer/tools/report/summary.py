"""The result of an inference in one line, and as a table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from onnx_infer.tools.report.causes import Causes
from onnx_infer.tools.report.table import count_of, counts_of, guard_parts, interval
from onnx_infer.values.text import printable
from symdim.notebook import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.results.inferred import Inferred

_ENDS = 3


def summary(result: Inferred) -> str:
    """The inputs and outputs, the number of known values, and the number of errors."""
    return f"{_ends(result, result.inputs)} -> {_ends(result, result.outputs)}; {count_of(counts_of(result))}"


def _ends(result: Inferred, names: list[str]) -> str:
    types = result.types
    shown = [printable(f"{name}: {types[name]}" if name in types else name) for name in names[:_ENDS]]
    return ", ".join(shown + ["..."] * (len(names) > _ENDS))


def html(result: Inferred) -> str:
    """Tables for a notebook, in the order of `table`: errors, symbols, inputs, outputs, guards, what is unknown.

    Warnings and the values that are exact stand in parts that a click opens.
    """
    causes = Causes(result)
    ends = dict.fromkeys(name for name in (*result.inputs, *result.outputs) if name in result.types)
    inner = [name for name in result.types if name not in ends]
    verdicts = {name: causes.verdict(name) for name in inner}

    def values(names: Iterable[str]) -> list[tuple[str, object, str]]:
        found = [(name, causes.of(name) if causes.verdict(name) != "exact" else None) for name in names]
        return [(printable(n), result.types[n], "" if cause is None else printable(cause.text)) for n, cause in found]

    def ends_of(names: Iterable[str]) -> list[tuple[str, object, str]]:
        return values(name for name in dict.fromkeys(names) if name in result.types)

    told = [(found.severity, found) for found in result.diagnostics]
    errors = [row for row in told if row[0] != "warning"]
    warnings = [row for row in told if row[0] == "warning"]
    symbols = [(interval(v),) for v in sorted(causes.inputs, key=lambda v: v.name)]
    guards = [(guard, guard.kind, guard_parts(guard)[1]) for guard in result.guards]
    named = ["value", "type", "reason"]
    parts: list[tuple[str, list[str], Sequence[Sequence[object]], bool]] = [
        ("errors", ["severity", "message"], errors, True),
        ("symbols", ["symbol"], symbols, True),
        ("inputs", named, ends_of(result.inputs), True),
        ("outputs", named, ends_of(result.outputs), True),
        ("guards", ["condition", "kind", "law"], guards, True),
        ("inner values that are not exact", named, values(n for n in inner if verdicts[n] != "exact"), True),
        ("warnings", ["severity", "message"], warnings, False),
        ("inner values", named, values(n for n in inner if verdicts[n] == "exact"), False),
    ]
    head = f"<div><b>{escape(printable(summary(result)))}</b></div>"
    return head + "".join(_part(*part) for part in parts if part[2])


def _part(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]], is_open: bool) -> str:
    """One table, in a part that a click opens and closes."""
    head = f"<summary>{title}: {len(rows)}</summary>"
    return f"<details{' open' * is_open}>{head}{html_table('', headings, rows)}</details>"
