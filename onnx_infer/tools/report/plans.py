"""Costs and memory as text for people and as plain data for programs (docs/json.md)."""

from __future__ import annotations

from itertools import zip_longest
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.tools.planning.costs import Layer, costs, layers
from onnx_infer.tools.planning.fits import Fits, not_known
from onnx_infer.tools.planning.memory import MemoryPlan, Step
from onnx_infer.tools.planning.planner import byte_size
from onnx_infer.tools.planning.traffic import traffic
from onnx_infer.tools.report.layout import (
    bytes_text,
    count_text,
    cut_names,
    limited,
    more,
    readable_bytes,
    share,
    text_of,
)
from onnx_infer.tools.report.plain_data import plain
from onnx_infer.values.text import printable
from symdim import Expr, total
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import has_open_function
from symdim.algebra.texts.printing import shortened
from symdim.guarantee import UpperBounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.arena.largest import LargestSize
    from onnx_infer.values.tensor import Dim, Value

_TOP_NODES = 10
COUNTED = "products in matrix products, convolutions, attention and recurrent layers, and nothing else"
_LONGEST = 200
"""The most characters of a shape."""
_SAMPLE = 64
"""The size of every symbol where nodes and values are sorted, the largest first."""


class Plans:
    """The costs and the memory of one result. The memory is that of computed values; inputs and constants are apart."""

    def __init__(self, result: Inferred) -> None:
        self.costs, self.memory = costs(result), MemoryPlan(result, upper=True)
        self.traffic = traffic(result)
        self.ends = [[list(map(result.types.get, names)) for names in node[2:4]] for node in result._index.nodes]
        """What each node reads and what it gives, in their order; None for what is omitted or not in the main graph."""
        self.layers = layers(result, self.costs, self.memory)
        self.inputs = _bytes(result, result.inputs)
        self.constants = _bytes(result, result._record.model.graph.constants)

    def peaks(self) -> list[tuple[Dim, Step | None]]:
        """The sizes whose maximum is the peak, each with the step that has it; None is the time before all steps."""
        peak = self.memory.peak
        steps = self.memory.steps
        return [
            (size, steps[place] if place >= 0 else None) for size, place in zip(peak.sizes, peak.places, strict=True)
        ]

    # -- text ---------------------------------------------------------------------------------------------------------

    def costs_text(self, limit: int | None, width: int | None) -> str:
        """Parameters and multiply-adds: in all, by layer, and of the most expensive nodes (without a limit of all)."""
        costs = self.costs
        head = [f"parameters: {count_text(costs.parameters)}", f"multiply-adds: {count_text(costs.multiply_adds)}"]
        head.append(f"  counted: {COUNTED}")
        if costs.unknown:
            head += ["  not known:", *limited([f"    {n.operator} '{n.node}'" for n in costs.unknown], limit)]
        moved = self.traffic
        head += [f"bytes read: {bytes_text(moved.read)}", f"bytes written: {bytes_text(moved.written)}"]
        if moved.unknown:
            head += ["  not known:", *limited([f"    {n.operator} '{n.node}'" for n in moved.unknown], limit)]
        in_numbers = not variables_of([moved.read, moved.written, costs.multiply_adds])
        if in_numbers:
            ratio = moved.multiply_adds_per_byte()
            head.append(f"multiply-adds per byte: {'no bytes' if ratio is None else format(ratio, '.3g')}")
        tables = [self._costs_of_layers(limit), self._costs_of_nodes(limit, in_numbers)]
        return text_of([head, *(table.lines(width) for table in tables)], width)

    def _costs_of_layers(self, limit: int | None) -> Table:
        total_ = self.costs.multiply_adds
        rows = [
            (x.name or "(no layer)", x.nodes, count_text(x.parameters), *_with_share(x.multiply_adds, total_))
            for x in self.layers
        ]
        heading = ("layer", "nodes", "parameters", *_with_share_heading(total_))
        return Table(heading, rows if len(rows) > 1 else [], limit)

    def _costs_of_nodes(self, limit: int | None, in_numbers: bool) -> Table:
        """The nodes with their costs and the shapes of their operands and outputs; the last row is the total."""
        costs_, moved = self.costs, self.traffic
        numbers = list(range(len(costs_.nodes)))
        if limit is not None:
            counted = [i for i in numbers if costs_.nodes[i].multiply_adds not in (0, None)]
            numbers = sorted(counted, key=lambda i: -_sample(costs_.nodes[i].multiply_adds))[:_TOP_NODES]
        heading = ("node", "operator", "parameters", *_with_share_heading(costs_.multiply_adds))
        rows: list[tuple[object, ...]] = []
        for node, bytes_ in [(costs_.nodes[i], moved.nodes[i].moved) for i in numbers]:
            counts = count_text(node.parameters), *_with_share(node.multiply_adds, costs_.multiply_adds)
            rows.append((node.node, node.operator, *counts, *([bytes_text(bytes_)] if in_numbers else [])))
        if rows:
            counts = count_text(costs_.parameters), *_with_share(costs_.multiply_adds, costs_.multiply_adds)
            last = [bytes_text(moved.read + moved.written)] if in_numbers else []
            rows.append((f"total of {len(costs_.nodes)} nodes", "", *counts, *last))
        heading += ("bytes moved",) if in_numbers else ()
        return Table(heading, rows, None, [_ends_text(self.ends[i]) for i in numbers])

    def memory_text(self, limit: int | None, width: int | None) -> str:
        """The peak of the computed values with its nodes, the bytes of inputs and constants, and the layers."""
        exact = ", an upper bound" if self.memory.is_bound else ""
        unit = " in bytes" if self.memory.symbols else ""
        peaks = [f"  {bytes_text(size)}   at {_place(step)}" for size, step in self.peaks()]
        head = [f"peak activation memory{unit}{exact}{', the largest of' if len(peaks) > 1 else ''}:"]
        rest = [f"inputs: {bytes_text(self.inputs)}", f"constants: {bytes_text(self.constants)}"]
        rest += self._sum()
        if self.memory.unknown:
            rest.append(f"not counted: {', '.join(limited(list(self.memory.unknown), limit))}")
        live = sorted(self.live(), key=lambda name: -_sample(self.memory.sizes[name]))
        layers_ = [(x.name or "(no layer)", x.nodes, _counted(x.bytes, x), _counted(x.peak, x)) for x in self.layers]
        bytes_ = [(name, bytes_text(self.memory.sizes[name])) for name in live]
        tables = [
            Table(("live at the peak", "bytes"), bytes_, None if limit is None else _TOP_NODES),
            Table(("layer", "nodes", "bytes of its values", "peak"), layers_ if len(layers_) > 1 else [], limit),
        ]
        return text_of([head + limited(peaks, limit), rest, *(table.lines(width) for table in tables)], width)

    def _sum(self) -> list[str]:
        """The sum of all memory with units, or what gives it."""
        parts = [self.memory.peak_at().bytes if not self.memory.symbols else None, self.inputs, self.constants]
        if all(isinstance(part, int) for part in parts):
            peak, inputs, constants = map(bytes_text, parts)
            total_ = readable_bytes(sum(part for part in parts if isinstance(part, int)))
            return [f"total: {total_} = {peak} activations + {inputs} inputs + {constants} constants"]
        symbols = sorted({v.name for v in variables_of([*self.memory.symbols, self.inputs, self.constants])})
        return [f"total: symbolic; add --bind {quote(','.join(f'{name}=SIZE' for name in symbols))} to evaluate it"]

    def live(self) -> tuple[str, ...]:
        """The values that are live at the peak, if no size has a symbol; otherwise none."""
        return () if self.memory.symbols else self.memory.peak_at().live

    # -- plain data ---------------------------------------------------------------------------------------------------

    def costs_json(self) -> dict[str, Any]:
        """Parameters and multiply-adds of the model, its layers and its nodes."""
        return {
            "parameters": plain(self.costs.parameters),
            "multiply_adds": plain(self.costs.multiply_adds),
            "unknown": len(self.costs.unknown),
            "read": plain(self.traffic.read),
            "written": plain(self.traffic.written),
            "unknown_traffic": len(self.traffic.unknown),
            "layers": plain(self.layers),
            "nodes": [
                {**plain(cost), "read": plain(moved.read), "written": plain(moved.written), **shapes}
                for cost, moved, shapes in zip(
                    self.costs.nodes, self.traffic.nodes, map(_shapes_json, self.ends), strict=True
                )
            ],
        }

    def memory_json(self) -> dict[str, Any]:
        """The peak of the computed values, the bytes of inputs, constants and of every value, and the layers."""
        return {
            "peak": [{"bytes": plain(size), "node": _step_json(step)} for size, step in self.peaks()],
            "exact": self.memory.peak.exact,
            "inputs": plain(self.inputs),
            "constants": plain(self.constants),
            "values": plain(self.memory.sizes),
            "not_counted": list(self.memory.unknown),
            "live": list(self.live()),
            "layers": plain(self.layers),
        }


def largest_text(largest: LargestSize, width: int | None) -> str:
    """The largest size of a symbol within a limit of memory."""
    name = largest.symbol
    peak = largest.peak
    if largest.size is None or peak is None:
        proved = "no size" if largest.at_most < 0 else f"no size above {largest.at_most} (the search ended there)"
        return text_of([[f"{name}: {proved} fits within {readable_bytes(largest.limit)}"]], width)
    lines = [
        f"largest {name} within {readable_bytes(largest.limit)}: {largest.size}",
        *([f"  not counted: {not_known(largest.unknown)}"] if largest.unknown else []),
        f"  the peak is {readable_bytes(peak.bytes)} ({peak.bytes} bytes) at {_place(peak.step)}",
        f"  {largest.next}",
    ]
    if largest.grows:
        lines.append(f"  all smaller {name} fit as well: the peak never falls if {name} grows")
    else:
        lines.append(f"  smaller {name} may not all fit: the peak may fall if {name} grows")
    return text_of([lines], width)


def answer_json(answer: LargestSize | Fits) -> dict[str, Any]:
    """The answer of `largest_size` or `fits` as plain data, with the bytes and the node of its peak."""
    fields: dict[str, Any] = {}
    for name, value in answer._asdict().items():
        if name == "peak":
            fields |= {"bytes": value and value.bytes, "node": value and _step_json(value.step)}
        else:
            fields[name] = plain(value)
    return fields


def fits_text(answer: Fits, width: int | None) -> str:
    """Whether all sizes within bounds fit."""
    if answer.peak is None or answer.sizes is None:
        within = f"fits within {readable_bytes(answer.limit)}"
        proved = f"{within} at all sizes within the bounds"
        return text_of([[f"not known whether it {within}: {answer.reason}" if answer.reason else proved]], width)
    named = ", ".join(f"{name} = {size}" for name, size in answer.sizes.items()) or "the sizes of the model"
    about = "" if answer.peak.exact else "about "
    needed, limit = readable_bytes(answer.peak.bytes), readable_bytes(answer.limit)
    lines = [f"does not fit: {about}{needed} needed at {named} (limit {limit})"]
    lines.append(f"  the peak is {about}{needed} ({answer.peak.bytes} bytes) at {_place(answer.peak.step)}")
    return text_of([lines], width)


class Table(NamedTuple):
    """A table with aligned columns. Names in the first one are cut at the left; numbers and sizes are never cut.

    `notes`: a line below each of the first rows.
    """

    heading: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    limit: int | None
    notes: Sequence[str] = ()

    def lines(self, width: int | None) -> list[str]:
        """The heading and the rows; nothing without rows. What is too wide for a row stands below its name."""
        if not self.rows:
            return []
        shown = self.rows if self.limit is None else self.rows[: self.limit]
        texts = [[printable(str(cell)) for cell in row] for row in (self.heading, *shown)]
        names = cut_names([row[0] for row in texts], None if width is None else width * 2 // 5)
        texts = [[name, *rest] for name, (_, *rest) in zip(names, texts, strict=True)]
        fitting = [row for row in texts if self._fits(row, width)]
        filled = [max(map(len, column)) for column in zip(*fitting, strict=True)]
        lines = []
        for row, note in zip_longest(texts, ["", *self.notes[: len(shown)]], fillvalue=""):
            if row in fitting:
                lines.append("  ".join(cell.ljust(size) for cell, size in zip(row, filled, strict=True)).rstrip())
            else:
                lines += [
                    row[0],
                    *(f"    {head}: {cell}" for head, cell in zip(self.heading[1:], row[1:], strict=True) if cell),
                ]
            lines += [f"    {note}"] if note else []
        return lines if len(shown) == len(self.rows) else [*lines, more(len(self.rows) - len(shown))]

    def _fits(self, row: list[str], width: int | None) -> bool:
        """Whether the cells of a row stand beside each other; those of the heading do."""
        if width is None or row[1:] == list(self.heading[1:]):
            return True
        most = max(width * 3 // 5 // (len(row) - 1) - 2, 8)
        return len(row[0]) <= width * 2 // 5 + 3 and all(len(cell) <= most for cell in row[1:])


def _bytes(result: Inferred, names: Iterable[str]) -> Dim:
    """The bytes of values; those without a known number do not count."""
    bounds = UpperBounds()
    counts = [byte_size(result.types[name], bounds) for name in names]
    return total(count for count in counts if count is not None)


def _sample(size: Dim | None) -> int:
    """About the size where every symbol is a few dozen; good enough to sort. What is not known counts as 0."""
    if isinstance(size, Expr) and has_open_function((size,)):
        return 0
    if not isinstance(size, Expr):
        return size or 0
    return size.to_int({v: max(_SAMPLE, v.bounds()[0] or 0) for v in size.variables()})


def _place(step: Step | None) -> str:
    return f"{step.operator} '{step.node}'" if step is not None and step.operator else "the start"


def _step_json(step: Step | None) -> dict[str, str] | None:
    return {"operator": step.operator, "node": step.node} if step is not None and step.operator else None


def _counted(size: Dim, layer: Layer) -> str:
    """Bytes of a layer; a dash if nothing was counted because its values have no known bytes."""
    return "-" if size == 0 and layer.not_counted else bytes_text(size)


def _with_share(part: Dim | None, whole: Dim) -> tuple[str, ...]:
    """A count, and its share of a whole that is a number."""
    return (count_text(part), share(part, whole)) if isinstance(whole, int) else (count_text(part),)


def _with_share_heading(whole: Dim) -> tuple[str, ...]:
    return ("multiply-adds", "share") if isinstance(whole, int) else ("multiply-adds",)


def _shapes_json(ends: list[list[Value | None]]) -> dict[str, Any]:
    inputs, outputs = ([value and plain(value.shape) for value in end] for end in ends)
    return {"input_shapes": inputs, "output_shapes": outputs}


def _ends_text(ends: list[list[Value | None]]) -> str:
    """The shapes of what a node reads and gives: `[N, 3], [3, 4] -> [N, 4]`."""
    shapes = [
        [value if value.shape is None else list(value.shape) for value in end if value is not None] for end in ends
    ]
    return " -> ".join(", ".join(shortened(str(x), _LONGEST, _LONGEST // 2) for x in end) for end in shapes)
