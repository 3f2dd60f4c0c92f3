"""The contents of a page, as JSON: tables of the values, nodes and messages of a result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx_infer.model.graph import label_of, title_of
from onnx_infer.results.data_laws import data_laws
from onnx_infer.results.inferred import Inferred, reads_of
from onnx_infer.tools.page.start import start_sizes
from onnx_infer.tools.planning.costs import costs
from onnx_infer.tools.planning.memory import MemoryPlan
from onnx_infer.tools.planning.planner import byte_size
from onnx_infer.tools.report.causes import Causes
from onnx_infer.tools.report.explanation import origin_text
from onnx_infer.tools.report.layout import cut
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from onnx_infer.values.text import printable
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import is_given

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.tools.emission.content import Content

_LONGEST = 400
"""The most characters of the elements of a value, and of a size."""


def page_data(result: Inferred, content: Content, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The tables of a page; `assets/model.js` reads them. `sizes` are sizes of symbols for the start.

    A size is its place in the `content`. Sizes that only the page needs are added to the content.
    """
    tables = _Tables(result, content)
    nodes = tables.nodes()
    values = [tables.value(name) for name in result.types]
    verdicts = Counter(value[4] for value in values)
    memory = MemoryPlan(result)
    symbols = content.symbols
    places = {symbol.variable: place for place, symbol in enumerate(symbols)}
    guards, dims = [*result.guards, *result.data_guards], content.sizes
    return {
        "errors": sum(found.severity != "warning" for found in result.diagnostics),
        "counts": {verdict: verdicts[verdict] for verdict in ("exact", "data-dependent", "unknown")},
        "start": start_sizes(result, symbols, sizes),
        "origins": [
            "" if is_given(symbol.variable.origin) else printable(origin_text(symbol.variable)) for symbol in symbols
        ],
        "dims": [cut(printable(str(dim)), _LONGEST) for dim in dims],
        "values": values,
        "reasons": tables.reasons,
        "nodes": nodes,
        "inputs": [tables.places[name] for name in result.inputs],
        "outputs": [tables.places[name] for name in result.outputs if name in tables.places],
        "born": [[tables.places[name] for name in step.born] for step in memory.steps],
        "dead": [[tables.places[name] for name in step.dead] for step in memory.steps],
        "guards": [
            {
                "nodes": [origin.node for origin in guard.origins],
                "symbols": [places[v] for v in variables_of([dims[entry.lhs], dims[entry.rhs]])],
            }
            for guard, entry in zip(guards, content.guards, strict=True)
        ],
        "laws": [printable(str(law)) for law in data_laws(result, tables.causes.nodes)],
        "messages": [
            {"severity": found.severity, "text": printable(str(found)), "node": found.node}
            for found in result.diagnostics
        ],
    }


class _Tables:
    """The tables that grow while values and nodes are listed."""

    def __init__(self, result: Inferred, content: Content) -> None:
        self._result, self._content = result, content
        self.causes = Causes(result)
        self.places = {name: place for place, name in enumerate(result.types)}
        self.reasons: list[dict[str, str]] = []
        self._reason_places: dict[object, int] = {}

    def value(self, name: str) -> list[object]:
        """A value: name, type or element type, sizes, bytes, verdict, reason, elements. -1: no size, or no reason."""
        value = self._result.types[name]
        verdict = self.causes.verdict(name)
        reason = -1 if verdict == "exact" else self._reason(name)
        known = isinstance(value, SymTensor) and value.shape is not None and UNKNOWN_SIZE not in value.shape
        axes = [self._content.place(dim) for dim in value.shape or ()] if known else None  # type: ignore[attr-defined]
        kind = dt.text(value.dtype) if known else cut(str(value), _LONGEST)  # type: ignore[attr-defined]
        return [name, kind, axes, self._place(byte_size(value)), verdict, reason, _elements(value)]

    def nodes(self) -> list[list[object]]:
        """The nodes in the order of the schedule: operator, label, operands, outputs, multiply-adds, parameters."""
        found: list[list[object]] = []
        for node, cost in zip(self.causes.nodes, costs(self._result).nodes, strict=True):
            operands = [
                self.places[name] for name in dict.fromkeys(reads_of(self._result, node)) if name in self.places
            ]
            outputs = [self.places[name] for name in node[3] if name in self.places]
            counts = self._place(cost.multiply_adds), self._place(cost.parameters)
            found.append([title_of(node), label_of(node), operands, outputs, *counts])
        return found

    def _place(self, dim: Dim | None) -> int:
        return -1 if dim is None else self._content.place(dim)

    def _reason(self, name: str) -> int:
        cause = self.causes.of(name)
        if cause is None:
            return -1
        if cause not in self._reason_places:
            self._reason_places[cause] = len(self.reasons)
            self.reasons.append({"text": printable(cause.text), "node": cause.node})
        return self._reason_places[cause]


def _elements(value: Value) -> str:
    """The elements of a small tensor."""
    if not isinstance(value, SymTensor) or value.data is None:
        return ""
    return cut(printable(", ".join("?" if x is None else str(x) for x in value.data)), _LONGEST)
