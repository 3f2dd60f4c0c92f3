"""The page as one text, with the tables that its script reads. It loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from collections import Counter
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from onnx_infer.errors import UnknownSymbol
from onnx_infer.model.graph import label_of, title_of
from onnx_infer.results.guards import violations
from onnx_infer.results.inferred import Inferred
from onnx_infer.tools.arena.making import Options, arena_plan
from onnx_infer.tools.emission.content import Content, Symbol, content_of
from onnx_infer.tools.emission.source import JavaScript
from onnx_infer.tools.planning.costs import costs
from onnx_infer.tools.planning.memory import MemoryPlan
from onnx_infer.tools.planning.planner import byte_size
from onnx_infer.tools.planning.samples import moved_to_guards, within
from onnx_infer.tools.report.explanation import origin_text
from onnx_infer.tools.report.rows import VERDICTS, Row, Rows
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from onnx_infer.values.text import printable
from symdim import Var
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import checked_size
from symdim.algebra.origin import is_given
from symdim.algebra.texts.printing import shortened
from symdim.dialects.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.results.reasons import Reason
    from onnx_infer.tools.arena.plan import ArenaPlan

MODULES = ("format", "model", "curve", "arena", "symbols", "rows", "neighbourhood", "details", "page")
"""The modules of the script, each after those that it imports."""

_MODULE_WORDS = re.compile(r'^(import .*? from ".*";\n|export (?=const|class|function))', re.MULTILINE)


def html(result: Inferred, title: str, sizes: Mapping[str, int]) -> str:
    """A page with all values of a result. `sizes` are those of symbols with which it opens.

    Raises UnknownSymbol for names that are no symbols, and BoundsError for sizes out of bounds.
    """
    content = content_of(result, values=False)
    data = page_data(result, content, sizes)
    code = JavaScript(content, LANGUAGES["js"])
    code.exports, code.refuses = "\nreturn { symbols, guards, sizes };\n", False  # the page shows what fails
    return Template(asset("page.html")).substitute(
        title=escape(printable(title)),
        style=asset("page.css").rstrip(),
        data=printable(json.dumps(data, separators=(",", ":"))).replace("<", "\\u003c"),
        script=f"const emitted = (() => {{\n{code.source()}}})();\n\n{script()}",
    )


def script() -> str:
    """The modules of the script as one. No two modules define the same name, so imports and exports are left out."""
    return "\n".join([_MODULE_WORDS.sub("", asset(f"{name}.js")) for name in MODULES])


def asset(name: str) -> str:
    """The text of a file of the page."""
    return files("onnx_infer.tools.page").joinpath("assets", name).read_text("utf-8")


_LONGEST = 400
"""The most characters of the elements of a value, and of a size."""


def page_data(result: Inferred, content: Content, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The tables of a page; `assets/model.js` reads them. `sizes` are sizes of symbols for the start.

    A size is its place in the `content`. Sizes that only the page needs are added to the content.
    """
    tables = _Tables(result, content)
    nodes = tables.nodes()
    memory = MemoryPlan(result, upper=True, inline=False)
    bounds = {name: memory.sizes[name] for name in memory.bounded if name in memory.sizes}
    values = [tables.value(row, bounds.get(row.name)) for row in tables.rows.of.values()]
    counts = tables.rows.counts
    arena = tables.arena(arena_plan(result, Options(effort=0)))
    values += [tables.block(name, size) for name, size in memory.sizes.items() if name not in tables.places]
    symbols = content.symbols
    places = {symbol.variable: place for place, symbol in enumerate(symbols)}
    guards, dims = [*result.guards, *result.data_guards], content.sizes
    return {
        "errors": counts["errors"],
        "counts": {verdict: counts[verdict] for verdict in VERDICTS},
        "start": start_sizes(result, symbols, sizes),
        "origins": ["" if is_given(v.origin) else printable(origin_text(v)) for v in places],
        "dims": [_shortened(printable(str(dim))) for dim in dims],
        "values": values,
        "reasons": tables.told,
        "nodes": nodes,
        "inputs": [tables.places[name] for name in result.inputs],
        "outputs": [tables.places[name] for name in result.outputs if name in tables.places],
        "born": [[tables.places[name] for name in step.born] for step in memory.steps],
        "dead": [[tables.places[name] for name in step.dead] for step in memory.steps],
        "not_counted": len(memory.unknown),
        "arena": arena,
        "guards": [
            {
                "nodes": [origin.node for origin in guard.origins],
                "symbols": [places[v] for v in variables_of([dims[entry.lhs], dims[entry.rhs]])],
            }
            for guard, entry in zip(guards, content.guards, strict=True)
        ],
        "laws": [printable(str(law)) for law in tables.rows.laws],
        "messages": [
            {"severity": told.severity, "text": _lines(str(told)), "node": told.node} for told in result.diagnostics
        ],
    }


class _Tables:
    """The tables that grow while values and nodes are listed."""

    def __init__(self, result: Inferred, content: Content) -> None:
        self._result, self._content = result, content
        self.rows = Rows(result)
        self.places = {name: place for place, name in enumerate(result.types)}
        self.told: list[dict[str, str]] = []
        self._reason_places: dict[object, int] = {}

    def value(self, row: Row, most: Dim | None) -> list[object]:
        """A value: name, type or element type, sizes, bytes, verdict, reason, elements, and the `most` bytes.

        -1: no size, or no reason.
        """
        value, reason = row.value, self._reason(row.reason)
        known = isinstance(value, SymTensor) and value.shape is not None and UNKNOWN_SIZE not in value.shape
        axes = [self._content.place(dim) for dim in value.shape or ()] if known else None
        kind = dt.text(value.dtype) if known else _shortened(str(value))
        sizes = self._place(byte_size(value)), self._place(most)
        return [row.name, kind, axes, sizes[0], row.verdict, reason, _elements(value), sizes[1]]

    def block(self, name: str, size: Dim) -> list[object]:
        """The memory that the bodies of a node need, as a value."""
        self.places[name] = len(self.places)
        return [name, "bodies", None, self._place(size), "exact", -1, "", -1]

    def arena(self, plan: ArenaPlan) -> dict[str, Any]:
        """The storages of an arena, and an order in which each comes after those below it."""
        shared = Counter(buffer.root for buffer in plan.buffers)
        sizes = {buffer.value: buffer.size for buffer in plan.buffers}
        storages = [
            {
                "name": printable(s.root), "value": self.places.get(s.root, -1), "size": self._place(sizes[s.root]),
                "first": s.first, "last": s.last, "below": list(s.below), "shared": shared[s.root] - 1,
            }
            for s in plan.storages
        ]  # fmt: skip
        return {"align": plan.align, "steps": len(plan.steps), "order": list(plan.layout), "storages": storages}

    def nodes(self) -> list[list[object]]:
        """The nodes in the order of the schedule: operator, label, operands, outputs, multiply-adds, parameters."""
        rows: list[list[object]] = []
        index, each = self._result._index, costs(self._result).nodes
        for node, reads, cost in zip(index.nodes, index.reads, each, strict=True):
            operands = [self.places[name] for name in reads if name in self.places]
            outputs = [self.places[name] for name in node[3] if name in self.places]
            counts = self._place(cost.multiply_adds), self._place(cost.parameters)
            rows.append([title_of(node), label_of(node), operands, outputs, *counts])
        return rows

    def _place(self, dim: Dim | None) -> int:
        return -1 if dim is None else self._content.place(dim)

    def _reason(self, reason: Reason | None) -> int:
        if reason is None:
            return -1
        if reason not in self._reason_places:
            self._reason_places[reason] = len(self.told)
            self.told.append({"text": printable(reason.text), "node": reason.node})
        return self._reason_places[reason]


def _elements(value: Value) -> str:
    """The elements of a small tensor."""
    if not isinstance(value, SymTensor) or value.data is None:
        return ""
    return _shortened(printable(", ".join("?" if x is None else str(x) for x in value.data)))


def _lines(text: str) -> str:
    """The text of a message, whose lines stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def _shortened(text: str) -> str:
    return shortened(text, _LONGEST, _LONGEST // 2)


_BATCH = 1
_USUAL = (64, 128, 224, 256, 512, 640, 32, 16, 1024, 7, 1)


def start_sizes(result: Inferred, symbols: Sequence[Symbol], chosen: Mapping[str, int]) -> list[int | None]:
    """A size for each symbol, and None for those that only a run knows.

    The first axis of an input is taken for a batch of 1. All other symbols get one usual size. Then symbols that are a
    side of a failing guard get the size of the other side. The first sizes at which the fewest guards fail are the
    result. The `chosen` sizes are used as they are. Raises UnknownSymbol for names that are no symbols, and BoundsError
    for sizes out of bounds.
    """
    names = [symbol.name for symbol in symbols]
    if unknown := tuple(name for name in chosen if name not in names):
        raise UnknownSymbol("sizes", unknown, names)
    fixed = {s.variable: checked_size(s.variable, chosen[s.name]) for s in symbols if s.name in chosen}
    free = [s.variable for s in symbols if not s.optional and s.variable not in fixed]
    batches = {dim for where, dim in result.sources.axes if where.axis == 0}
    guards = [*result.guards, *result.data_guards]
    tried = []
    for usual in _USUAL:
        sizes = {**fixed, **{v: within(v, _BATCH if v in batches else usual) for v in free}}
        for moved in (sizes, moved_to_guards(guards, sizes, free)):
            sized: dict[str | Var, int] = dict(moved.items())
            tried.append((len(violations([guard for guard in guards if guard.is_bound(sized)], sized)), moved))
        if not tried[-1][0]:
            break
    _, best = min(tried, key=lambda pair: pair[0])
    return [best.get(symbol.variable) for symbol in symbols]
