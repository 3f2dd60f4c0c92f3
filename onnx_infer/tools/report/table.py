"""All values of an inference for people: as text, in one line, and as a table for notebooks. Errors come first."""

from __future__ import annotations

from collections import Counter
from html import escape
from shlex import quote
from typing import TYPE_CHECKING

from onnx_infer.model.given import interval_text
from onnx_infer.results.exactness import variables
from onnx_infer.results.reasons import Reason, Root
from onnx_infer.tools.report.layout import WIDTH, beside, limited, lines_of, more, text_of
from onnx_infer.tools.report.rows import VERDICTS, Row, Rows
from onnx_infer.values.text import printable
from symdim.outputs import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.results.guards import Guard
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.report.layout import Write

HEADINGS = {
    "required": "required conditions (guards):",
    "assumed": "assumed conditions (elsewhere the model may run with other sizes):",
    "declared": "conditions declared by the model:",
}
"""The heading for the guards of each kind."""

_MOST_ENDS = 3
"""The errors that the last lines of a table repeat."""


def table(result: Inferred, limit: int | None = 40, width: int | None = WIDTH, write: Write = str) -> str:
    """Errors and warnings, a summary, types of inputs, outputs and other values, guards with their nodes, errors again.

    A value whose sizes are not functions of the input sizes is shown with the reason. Errors that others cause, and the
    values that they make unknown, are only counted. Inner values that are not exact come before the exact ones. There
    are at most `limit` entries of each kind (None: all). Sentences are wrapped at `width` characters (None: never).
    `write` makes the texts of sizes in types and guards.
    """
    return text_of(_Table(result, limit, width, write).sections(), width)


class _Table:
    """One table, written section by section."""

    def __init__(self, result: Inferred, limit: int | None, width: int | None, write: Write) -> None:
        self.result, self.limit, self.width, self.write = result, limit, width, write
        self.rows = Rows(result)
        self.values_of = Counter(row.reason for row in self.rows.of.values() if row.reason is not None)
        self.told: set[Reason] = set()

    def sections(self) -> list[list[str]]:
        """The lines of each section."""
        laws = [f"  {law}" for law in self.rows.laws]
        return [
            self._errors(),
            self._summary(),
            self._values("inputs:", self.rows.inputs),
            self._values("outputs:", self.rows.outputs),
            self._inner(),
            *(guard_section(kind, self.result.guards, self.limit, self.width, self.write) for kind in HEADINGS),
            ["also fails at run time if indices are out of bounds:", *laws] if laws else [],
            errors_again(self.rows),
        ]

    def _errors(self) -> list[str]:
        roots = [line for root in self.rows.roots for line in root_lines(root, spelled=self.limit is None)]
        warnings = [d for d in self.result.diagnostics if d.severity == "warning"]
        told = Counter((d.operator, d.message) for d in warnings)
        firsts = {(d.operator, d.message): d for d in reversed(warnings)}
        lines = [f"{headline(firsts[key])}{_alike(count)}" for key, count in told.items()]
        return roots + limited(lines, self.limit)

    def _summary(self) -> list[str]:
        lines = [count_of(self.rows.counts)]
        if self.rows.symbols:
            lines.append(f"symbols: {', '.join(map(interval_text, self.rows.symbols))}")
        return lines

    def _values(self, heading: str, shown: list[Row], rest: list[str] | None = None) -> list[str]:
        """These values under a heading, with the reasons why some are not exact."""
        lines: list[str] = []
        texts = lines_of([(row.name, row.value) for row in shown], self.width, self.write)
        for row, (*before, last) in zip(shown, texts, strict=True):
            lines += before
            is_new = row.reason is not None and row.reason not in self.told
            lines += beside(f"{last}   ", self._told(row, row.reason), self.width) if row.reason and is_new else [last]
        lines += rest or []
        return [heading, *lines] if lines else []

    def _told(self, row: Row, reason: Reason) -> str:
        """A reason, at the first value that has it: with the bounds of its sizes, and the number of its values."""
        self.told.add(reason)
        fresh = [v for v in variables(row.value) if v not in self.rows.reasons.inputs]
        bounds = [f"{v.name} <= {self.write(v.at_most)}" for v in fresh if v.at_most is not None]
        count = self.values_of[reason]
        return f"({'; '.join([reason.text, *bounds, *([f'{count} values'] if count > 1 else [])])})"

    def _inner(self) -> list[str]:
        """The other values: those that are not exact, then the exact ones if they are few."""
        exact = [row for row in self.rows.inner if row.is_exact]
        inexact = [row for row in self.rows.inner if not row.is_exact]
        if self.limit is None:
            return self._values("intermediate values:", inexact + exact)
        rest = []
        shown = [row for row in inexact if row.reason is None or row.reason.kind != "error"]
        if len(shown) < len(inexact):
            behind = _count(len(inexact) - len(shown), "intermediate value")
            rest.append(f"  {behind} that an error leaves unknown (use --all to list them)")
        if len(shown) > self.limit:
            rest.append(more(len(shown) - self.limit, " that are not exact"))
        if len(exact) > self.limit:
            rest.append(f"  {len(exact)} exact intermediate values (use --all to list them)")
            exact = []
        return self._values("intermediate values:", shown[: self.limit] + exact, rest)


def errors_again(rows: Rows) -> list[str]:
    """The errors for the last lines, below what may be longer than a screen, and what to ask next."""
    roots = rows.roots
    if not roots:
        return []
    lines = [f"{_count(rows.counts['errors'], 'error')}:"]
    for root in roots[:_MOST_ENDS]:
        behind = f" ({_count(len(root.behind), 'more error')} behind it)" if root.behind else ""
        lines.append(f"  {str(root.diagnostic).splitlines()[0]}{_alike(root.alike)}{behind}")
    if len(roots) > _MOST_ENDS:
        told = sum(root.alike + len(root.behind) for root in roots[:_MOST_ENDS])
        lines.append(f"  and {rows.counts['errors'] - told} more, at the top")
    value = next((name for root in roots if (name := rows.reasons.value_at(root.diagnostic))), None)
    return lines if value is None else [*lines, f"  next: --explain {quote(value)}"]


def guard_section(
    kind: str, guards: Iterable[Guard], limit: int | None, width: int | None, write: Write = str
) -> list[str]:
    """The guards of one kind below their heading; nothing if there are none."""
    unlike = dict.fromkeys(guard_parts(guard, write) for guard in guards if guard.kind == kind)
    if not unlike:
        return []
    shown = list(unlike) if limit is None else list(unlike)[:limit]
    lines = [line for parts in shown for line in beside(*parts, width)]
    return [HEADINGS[kind], *lines, *([more(len(unlike) - len(shown))] if len(unlike) > len(shown) else [])]


def count_of(counts: Mapping[str, int]) -> str:
    """The number of errors if there are any, and the number of values, in all and with each verdict.

    >>> count_of({"values": 3, "exact": 2, "data-dependent": 0, "unknown": 1, "errors": 1, "warnings": 0})
    '1 error; 3 values: 2 exact, 1 unknown'
    """
    errors = f"{_count(counts['errors'], 'error')}; " if counts["errors"] else ""
    parts = [f"{counts[word]} {word}" for word in VERDICTS if counts[word]]
    return f"{errors}{counts['values']} values: {', '.join(parts) or 'none'}"


def root_lines(root: Root, spelled: bool = False) -> list[str]:
    """An error in one line, the operands of its node in another, and its consequences, counted or `spelled` out."""
    diagnostic = root.diagnostic
    head, *operands = str(diagnostic).splitlines()
    lines = [f"{diagnostic.severity}: {head}{_alike(root.alike)}", *operands]
    if root.behind:
        lines.append(f"  {_count(len(root.behind), 'more error')} follow{'s' * (len(root.behind) == 1)} from it")
    if root.values:
        depend, are = ("depends", "is") if root.values == 1 else ("depend", "are")
        lines.append(f"  {_count(root.values, 'value')} that {depend} on it {are} unknown")
    return lines + [f"    {headline(error)}" for error in root.behind if spelled]


def headline(diagnostic: Diagnostic) -> str:
    """The severity and the first line of a message."""
    return f"{diagnostic.severity}: {str(diagnostic).splitlines()[0]}"


def _alike(count: int) -> str:
    return f" (and {_count(count - 1, 'more node')} alike)" if count > 1 else ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}" if number else ""


def guard_parts(guard: Guard, write: Write = str) -> tuple[str, str]:
    """The condition; the nodes that state it, and the law.

    >>> from onnx_infer.results.guards import Guard, NodeName
    >>> from symdim import Var
    >>> from symdim.relations.relation import Relation
    >>> guard_parts(Guard(Relation("equal", Var("K"), Var("M")), "inner sizes", (NodeName("MatMul", "scores"),)))
    ('  K == M   ', "MatMul 'scores': inner sizes")
    """
    others = len(guard.origins) - 1
    first = f"{guard.origins[0]}: " if guard.origins else ""
    more_nodes = f" (and {_count(others, 'more node')})" if others > 0 else ""
    return f"  {guard.condition.spelled(write)}   ", f"{first}{guard.law}{more_nodes}"


_ENDS = 3


def summary(result: Inferred, rows: Rows | None = None) -> str:
    """The inputs and outputs, the number of known values, and the number of errors."""
    rows = rows or Rows(result)
    return f"{_ends(rows, result.inputs)} -> {_ends(rows, result.outputs)}; {count_of(rows.counts)}"


def _ends(rows: Rows, names: list[str]) -> str:
    shown = [printable(f"{name}: {rows.of[name].value}" if name in rows.of else name) for name in names[:_ENDS]]
    return ", ".join(shown + ["..."] * (len(names) > _ENDS))


def html(result: Inferred) -> str:
    """Tables for a notebook, in the order of `table`: errors, symbols, inputs, outputs, guards, what is unknown.

    Warnings and the values that are exact stand in parts that a click opens.
    """
    rows = Rows(result)

    def values(shown: Iterable[Row]) -> list[tuple[str, object, str]]:
        return [(printable(r.name), r.value, "" if r.reason is None else printable(r.reason.text)) for r in shown]

    told = [(diagnostic.severity, diagnostic) for diagnostic in result.diagnostics]
    errors = [row for row in told if row[0] != "warning"]
    warnings = [row for row in told if row[0] == "warning"]
    symbols = [(interval_text(v),) for v in rows.symbols]
    guards = [(guard, guard.kind, guard_parts(guard)[1]) for guard in result.guards]
    named = ["value", "type", "reason"]
    parts: list[tuple[str, list[str], Sequence[Sequence[object]], bool]] = [
        ("errors", ["severity", "message"], errors, True),
        ("symbols", ["symbol"], symbols, True),
        ("inputs", named, values(rows.inputs), True),
        ("outputs", named, values(rows.outputs), True),
        ("guards", ["condition", "kind", "law"], guards, True),
        ("intermediate values that are not exact", named, values(row for row in rows.inner if not row.is_exact), True),
        ("warnings", ["severity", "message"], warnings, False),
        ("intermediate values", named, values(row for row in rows.inner if row.is_exact), False),
    ]
    head = f"<div><b>{escape(printable(summary(result, rows)))}</b></div>"
    return head + "".join(_part(*part) for part in parts if part[2])


def _part(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]], is_open: bool) -> str:
    """One table, in a part that a click opens and closes."""
    head = f"<summary>{title}: {len(rows)}</summary>"
    return f"<details{' open' * is_open}>{head}{html_table('', headings, rows)}</details>"
