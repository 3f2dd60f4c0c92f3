"""What is reported at the end: each wrong declared shape once, an error under an assumption with its assumption, the
initializers that a caller may override, and constants that cannot be read.

The tool that wrote a wrong size computed others from it, and wrote these, too. So values with the same two sizes have
one cause, and so has a value that is computed from one with a wrong declared shape. The first is reported, with the
number of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.diagnostics import Diagnostic, WrongShape
from onnx_infer.engine.graph_index import GraphIndex
from onnx_infer.model.attributes import why_unread
from onnx_infer.model.given import Given
from onnx_infer.types.merge import Conflict, merge
from onnx_infer.values.tensor import SymTensor, is_small
from onnx_infer.values.text import bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Model


class _Cause:
    """The first of the warnings with one cause, the values with the same sizes, and those computed from them."""

    def __init__(self, first: WrongShape) -> None:
        self.first = first
        self.alike: set[str] = set()
        self.behind: set[str] = set()

    def reported(self) -> WrongShape:
        """The first warning, with the numbers of further values."""
        alike, behind = len(self.alike - {self.first.node}), len(self.behind - self.alike)
        counts = [f"{alike} more {'value' if alike == 1 else 'values'}"] if alike else []
        counts += [f"{behind} computed from {'them' if alike else 'it'}"] if behind else []
        return self.first._replace(message=f"{self.first.message} (and {', '.join(counts)})") if counts else self.first


class _Causes:
    """The causes of wrong declared shapes, by what is reported of the sizes."""

    def __init__(self) -> None:
        self.by_text: dict[str, _Cause] = {}
        self._of: dict[str, _Cause] = {}

    def enter(self, warning: WrongShape, before: _Cause | None) -> None:
        """Enter a warning. `before` is the cause of what is wrong with a value that this one is computed from."""
        text = warning.message.removeprefix(f"value '{warning.node}': ").partition(" at axis ")[0]
        if text in self.by_text or before is None:
            cause = self.by_text.setdefault(text, _Cause(warning))
            cause.alike.add(warning.node)
        else:
            cause = before
            cause.behind.add(warning.node)
        self._of.setdefault(warning.node, cause)

    def enter_graph(self, record: Record, wrong: dict[str, list[WrongShape]]) -> None:
        """Enter the warnings about values of the main graph, in the order of the nodes, and take them away."""
        declared = record.model.graph.declared
        for node in record.main_nodes:
            before = next((self._of[name] for name in node[2] if name in self._of), None)
            for name in node[3]:
                for warning in wrong.pop(name, ()):
                    self.enter(warning, before)
                if before is not None and name not in declared:
                    self._of[name] = before


def reported_once(record: Record) -> list[Diagnostic]:
    """The diagnostics of a walk, in which each cause of wrong declared shapes is reported once."""
    wrong: dict[str, list[WrongShape]] = {}
    for warning in record.diagnostics:
        if isinstance(warning, WrongShape):
            wrong.setdefault(warning.node, []).append(warning)
    if not wrong:
        return record.diagnostics
    causes = _Causes()
    causes.enter_graph(record, wrong)
    for warning in (warning for rest in wrong.values() for warning in rest):  # those in bodies
        causes.enter(warning, None)
    reported = {id(cause.first): cause.reported() for cause in causes.by_text.values()}
    return [reported.get(id(d), d) for d in record.diagnostics if not isinstance(d, WrongShape) or id(d) in reported]


def blamed(
    diagnostics: Sequence[Diagnostic], given: Given, walked: Callable[[Given], Sequence[Diagnostic]]
) -> list[Diagnostic]:
    """The diagnostics. Errors that occur only under the assumptions name the assumption that causes them."""

    def errors(diagnostics: Iterable[Diagnostic]) -> set[tuple[str, str]]:
        return {(d.operator, d.node) for d in diagnostics if d.severity == "error" and d.node}

    wrong = errors(diagnostics)
    new = wrong - errors(walked(Given())) if wrong else wrong
    if not new:
        return list(diagnostics)
    parts = list(given.parts())
    alone = [(text, errors(walked(part))) for text, part in parts] if len(parts) > 1 else [(parts[0][0], new)]

    def reported(diagnostic: Diagnostic) -> Diagnostic:
        key = diagnostic.operator, diagnostic.node
        if diagnostic.severity != "error" or key not in new:
            return diagnostic
        texts = [text for text, broken in alone if key in broken] or [text for text, _ in parts]
        return diagnostic._replace(message=f"{diagnostic.message} (under the assumption {'; '.join(texts)})")

    return list(map(reported, diagnostics))


def name_causes(record: Record) -> None:
    """Add to the notes on unknown values what would make them known.

    These are initializers that a caller may override, and constants whose elements cannot be read.
    """
    overridable, unreadable = record.model.graph.overridable, sorted(record.scope.unreadable)
    if not overridable and not unreadable:
        return
    index = GraphIndex.of(record)
    for name, note in record.notes.items():
        behind = _behind(record, name, index)
        if texts := ", ".join(f"'{x}'" for x in overridable if x in behind):
            note = bounded(f'{note}; a caller may override {texts}, unless initializers="constant"')
        if texts := "; ".join(unread_text(record, x) for x in unreadable if x in behind):
            note = bounded(f"{note}; {texts}")
        record.notes[name] = note


def unread_text(record: Record, name: str) -> str:
    """Why the elements of a constant of the main graph are not read."""
    return f"the elements of '{name}' are not read: {why_unread(record.scope.constants[name])}"


def _behind(record: Record, name: str, index: GraphIndex) -> set[str]:
    """The small tensors with unknown elements that a node reads, directly or through others. They may decide sizes."""
    pending, seen = [*node[2]] if (node := index.producer(name)) else [], set[str]()
    while pending:
        operand = pending.pop()
        value = record.scope.get(operand)
        is_undecided = isinstance(value, SymTensor) and is_small(value) and (value.data is None or None in value.data)
        if operand in seen or not is_undecided:
            continue
        seen.add(operand)
        if node := index.producer(operand):
            pending += node[2]
    return seen


def input_errors(model: Model) -> Iterator[str]:
    """Errors in the inputs of the main graph: a missing type, or an initializer that contradicts the declared type."""
    for name, value in model.graph.inputs:
        if value is None:
            yield f"graph input '{name}' has no type"
    for name, (declared, handle) in model.graph.defaults.items():
        stored = model.header(handle)
        conflicts: list[Conflict] = []
        if declared is not stored:
            merge(declared, stored, "refine", conflicts.append)
        if conflicts:
            yield f"initializer '{name}' is {stored}, but the graph input of this name is declared {declared}"
