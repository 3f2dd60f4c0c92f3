"""All values of an inference as text for people: errors first, then inputs, outputs and inner values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_infer.results.data_laws import data_laws
from onnx_infer.results.report.causes import Causes, Root
from onnx_infer.results.report.layout import WIDTH, folded, limited, more, rows, text_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.results.guards import Guard
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.results.report.layout import Write
    from symdim import Var

HEADINGS = {
    "required": "the model runs only where:",
    "assumed": "the model may run elsewhere, but has these sizes only where:",
    "declared": "the model declares:",
}
"""The heading for the guards of each kind."""

_VERDICTS = ("exact", "data-dependent", "unknown")


def table(result: Inferred, limit: int | None = 40, width: int | None = WIDTH, write: Write = str) -> str:
    """Errors and warnings, a summary, the types of inputs, outputs and inner values, and guards with their nodes.

    A value whose sizes are not functions of the input sizes is shown with the reason. Errors that others cause, and the
    values that they make unknown, are only counted. Inner values that are not exact come before the exact ones. There
    are at most `limit` lines of each kind (None: all), of at most `width` characters (None: any width).
    `write` makes the texts of sizes in types and guards.
    """
    return text_of(_Table(result, limit, width, write).sections(), width)


class _Table:
    """One table, written section by section."""

    def __init__(self, result: Inferred, limit: int | None, width: int | None, write: Write) -> None:
        self.result, self.limit, self.width, self.write = result, limit, width, write
        self.causes = Causes(result)
        self.verdicts = {name: self.causes.verdict(name) for name in result.types}

    def sections(self) -> list[list[str]]:
        """The lines of each section."""
        inputs = list(dict.fromkeys(self.result.inputs))
        outputs = [name for name in dict.fromkeys(self.result.outputs) if name in self.result.types]
        return [
            [part for line in self._errors() for part in folded(line, self.width)],
            self._summary(),
            self._values("inputs:", inputs),
            self._values("outputs:", outputs),
            self._inner({*inputs, *outputs}),
            *(self._guards(kind) for kind in HEADINGS),
            self._data_laws(),
        ]

    def _errors(self) -> list[str]:
        roots = [line for root in self.causes.roots() for line in root_lines(root, spelled=self.limit is None)]
        warnings = [d for d in self.result.diagnostics if d.severity == "warning"]
        told = Counter((d.operator, d.message) for d in warnings)
        firsts = {(d.operator, d.message): d for d in reversed(warnings)}
        lines = [f"{_headline(firsts[key])}{_alike(count)}" for key, count in told.items()]
        return roots + limited(lines, self.limit)

    def _summary(self) -> list[str]:
        lines = [count_of(self.verdicts.values())]
        if symbols := sorted(self.causes.inputs, key=lambda v: v.name):
            lines.append(f"symbols: {', '.join(map(interval, symbols))}")
        return lines

    def _values(self, heading: str, names: list[str], rest: list[str] | None = None) -> list[str]:
        """The values of these names under a heading, with the reasons why some are not exact."""
        lines: list[str] = []
        types = self.result.types
        for name, row in zip(names, rows([(n, types[n]) for n in names], self.width, self.write), strict=True):
            cause = None if self.verdicts[name] == "exact" else self.causes.of(name)
            if cause is None:
                lines.append(row)
            elif self.width is not None and len(row) + len(cause.text) + 5 > self.width:
                lines += [row, f"      ({cause.text})"]
            else:
                lines.append(f"{row}   ({cause.text})")
        lines += rest or []
        return [heading, *lines] if lines else []

    def _inner(self, ends: set[str]) -> list[str]:
        """The other values: those that are not exact, then the exact ones if they are few."""
        names = [name for name in self.verdicts if name not in ends]
        exact = [name for name in names if self.verdicts[name] == "exact"]
        inexact = [name for name in names if self.verdicts[name] != "exact"]
        if self.limit is None:
            return self._values("inner values:", inexact + exact)
        rest = []
        behind = {name for name in inexact if (cause := self.causes.of(name)) and cause.kind == "error"}
        shown = [name for name in inexact if name not in behind]
        if behind:
            rest.append(more(len(behind), " that an error leaves unknown"))
        if len(shown) > self.limit:
            rest.append(more(len(shown) - self.limit, " that are not exact"))
        if len(exact) > self.limit:
            rest.append(more(len(exact), " that are exact"))
            exact = []
        return self._values("inner values:", shown[: self.limit] + exact, rest)

    def _guards(self, kind: str) -> list[str]:
        guards = [guard_line(guard, self.write) for guard in self.result.guards if guard.kind == kind]
        return [HEADINGS[kind], *limited(list(dict.fromkeys(guards)), self.limit)] if guards else []

    def _data_laws(self) -> list[str]:
        laws = [f"  {law}" for law in data_laws(self.result, self.causes.nodes)]
        return (
            ["a run is refused for its values, whatever the sizes are, where they break a law:", *laws] if laws else []
        )


def count_of(verdicts: Collection[str]) -> str:
    """The number of values, in all and with each verdict."""
    counts = Counter(verdicts)
    parts = [f"{counts[word]} {word}" for word in _VERDICTS if counts[word]]
    return f"{len(verdicts)} values: {', '.join(parts) or 'none'}"


def root_lines(root: Root, spelled: bool = False) -> list[str]:
    """An error in one line, the operands of its node in another, and its consequences, counted or `spelled` out."""
    found = root.diagnostic
    head, *operands = str(found).splitlines()
    lines = [f"{found.severity}: {head}{_alike(root.alike)}", *operands]
    counts = [_count(len(root.behind), "more error"), _count(root.values, "unknown value")]
    if any(counts):
        lines.append(f"  behind it: {', '.join(filter(None, counts))}")
    return lines + [f"    {_headline(error)}" for error in root.behind if spelled]


def _headline(found: Diagnostic) -> str:
    return f"{found.severity}: {str(found).splitlines()[0]}"


def _alike(count: int) -> str:
    return f" (and {_count(count - 1, 'more node')} alike)" if count > 1 else ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}" if number else ""


def guard_line(guard: Guard, write: Write = str) -> str:
    """The condition, the nodes that state it, and the law.

    >>> from onnx_infer.results.guards import Guard, NodeName
    >>> from symdim import Var
    >>> print(guard_line(Guard("equal", Var("K"), Var("M"), "inner sizes", (NodeName("MatMul", "scores"),))))
      K == M   MatMul 'scores': inner sizes
    """
    others = len(guard.origins) - 1
    first = f"{guard.origins[0]}: " if guard.origins else ""
    more_nodes = f" (and {_count(others, 'more node')})" if others > 0 else ""
    return f"  {guard.condition.spelled(write)}   {first}{guard.law}{more_nodes}"


def interval(variable: Var) -> str:
    """A symbol with its bounds."""
    low, high = variable.bounds()
    if high is None:
        return f"{variable.name} >= {low}"
    return f"{low} <= {variable.name} <= {high}"
