"""An arena plan as text for people and as plain data for programs (docs/json.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.errors import ArgumentError
from onnx_infer.tools.report.layout import limited, readable_bytes, text_of
from onnx_infer.tools.report.plain_data import plain
from onnx_infer.tools.report.plans import Table
from symdim.algebra.texts.printing import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.tools.arena.plan import ArenaPlan, PlacedArena
    from onnx_infer.values.tensor import Dim

_TOP_VALUES = 10
_FEW_NAMES = 3
_LONGEST = 300
"""The most characters of an expression in the text."""


class ArenaReport:
    """A plan, and what it is at some sizes."""

    def __init__(self, plan: ArenaPlan, sizes: Sequence[Mapping[str, int]], *, is_given: bool) -> None:
        """`sizes` at which the model does not run are left out, unless the caller gave them: then ArgumentError."""
        self.plan = plan
        self.placed: dict[str, tuple[Mapping[str, int], PlacedArena]] = {}
        for given in sizes:
            named = ", ".join(f"{name}={size}" for name, size in given.items())
            try:
                self.placed[named] = given, plan.at(given)
            except (ArgumentError, ZeroDivisionError):
                if is_given:
                    raise

    def text(self, limit: int | None, width: int | None) -> str:
        """The size, the largest values, what is outside and the order."""
        plan = self.plan
        head = [
            f"arena: {_short(plan.size)}",
            f"  {len(plan.buffers)} values in {len(plan.storages)} storages; offsets are multiples of {plan.align}",
        ]
        rows = []
        for named, (_, at) in self.placed.items():
            ratio = at.size / at.lower_bound if at.lower_bound else 1
            rows.append((readable_bytes(at.size), readable_bytes(at.lower_bound), f"{ratio:.3f}", named or "all sizes"))
        tables = [Table(("bytes", "lower bound", "ratio", "at"), rows, None).lines(width)]
        if self.placed:
            named, (_, at) = max(self.placed.items(), key=lambda item: item[1][1].size)
            kinds = {b.value: b.kind if b.kind == "own" else f"{b.kind} of {b.root}" for b in plan.buffers}
            largest = sorted(at.buffers, key=lambda buffer: -buffer.size)
            values = [
                (b.value, readable_bytes(b.size), b.offset, f"{b.first}..{b.last}", kinds[b.value]) for b in largest
            ]
            heading = ("value", "bytes", "offset", "steps", "storage")
            table = Table(heading, values, None if limit is None else _TOP_VALUES)
            tables.append([f"values{named and f' at {named}'}, the largest first:", *table.lines(width)])
        order = "order of the nodes: that of the file"
        if list(plan.order) != sorted(plan.order):
            numbers = shortened(" ".join(map(str, plan.order)), _LONGEST)
            order = f"order of the nodes, by their numbers in the file: {numbers}"
        return text_of([head, *tables, self._outside(limit), [order]], width)

    def _outside(self, limit: int | None) -> list[str]:
        """The values that have no place, by reason."""
        names: dict[str, list[str]] = {}
        for name, reason in self.plan.outside.items():
            names.setdefault(reason, []).append(name)
        lines = []
        for reason, of_reason in names.items():
            shown = of_reason if limit is None else of_reason[:_FEW_NAMES]
            others = f" and {len(of_reason) - len(shown)} more" if len(shown) < len(of_reason) else ""
            lines.append(f"  {reason}: {', '.join(shown)}{others}")
        return ["outside the arena:", *limited(lines, limit)] if lines else []

    def json(self) -> dict[str, Any]:
        """The whole plan."""
        plan = self.plan
        return {
            "align": plan.align,
            "size": plain(plan.size),
            "lower_bound": plain(plan.lower_bound),
            "symbols": [symbol.name for symbol in plan.symbols],
            "buffers": plain(plan.buffers),
            "steps": [{"operator": step.operator, "node": step.node, "number": step.graph_node} for step in plan.steps],
            "outside": dict(plan.outside),
            "placed": [
                {
                    "sizes": dict(given),
                    "size": at.size,
                    "lower_bound": at.lower_bound,
                    "offsets": {buffer.value: buffer.offset for buffer in at.buffers},
                }
                for given, at in self.placed.values()
            ],
        }


def _short(size: Dim | None) -> str:
    if size is None:
        return "the expression of its size is too long to show; the table has numbers, and --emit computes it"
    return shortened(str(size), _LONGEST, _LONGEST // 2)
