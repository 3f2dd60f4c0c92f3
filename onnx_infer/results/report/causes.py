"""Why something is unknown: the error, input or operator where it begins; and which errors have others behind them.

One walk over the nodes in order. What is unknown of an operand is the cause of what its node leaves unknown; a node
whose operands are known is the cause itself, and its own words say why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from onnx_infer.model.graph import label_of
from onnx_infer.results.planning.memory import schedule
from onnx_infer.results.report.verdicts import input_variables, is_typed, variables
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor, is_small
from symdim.algebra.origin import Declared

if TYPE_CHECKING:
    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.model.graph import Node
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.values.tensor import Value
    from symdim import Var

Kind: TypeAlias = Literal["error", "undeclared", "no rule", "data"]

_ORDER = ("error", "undeclared", "no rule", "data")
_NO_RULE = "no rule for "


class Cause(NamedTuple):
    """Why something is unknown: the text in the engine's own words, and the node or input where it begins.

    | kind       | it is unknown because                                     |
    |------------|-----------------------------------------------------------|
    | error      | a node has an error                                       |
    | undeclared | an input declares no rank, or no element type             |
    | no rule    | nothing is known of an operator                           |
    | data       | only the data decide it, or no rule infers it             |
    """

    kind: Kind
    text: str
    node: str = ""


class Root(NamedTuple):
    """An error that follows from no other, and what does follow from it.

    `alike`: how many nodes have this error. `behind`: errors of nodes that read what it leaves unknown. `values`: how
    many values it leaves unknown.
    """

    diagnostic: Diagnostic
    alike: int = 1
    behind: tuple[Diagnostic, ...] = ()
    values: int = 0


class Causes:
    """The causes of all that is unknown in the main graph of a result.

    `givers`: the node of each value; `literals`: the values of Constant nodes.
    """

    def __init__(self, result: Inferred) -> None:
        self._result = result
        self.inputs = input_variables(result)
        self.givers: dict[str, Node] = {}
        self.literals = frozenset(result._engine.model.graph.literals)
        self._outputs: dict[str, list[str]] = {}  # by the label of their node
        self._errors: dict[str, Diagnostic] = {}
        for found in result.diagnostics:
            if found.severity != "warning" and found.operator:
                self._errors.setdefault(found.node, found)
        self._of_value: dict[str, Cause] = {}
        self._of_variable: dict[Var, Cause] = {}
        for name in result.inputs:
            if not is_typed(result.types[name]):
                self._of_value[name] = _undeclared(name, result.types[name])
        for node in schedule(result):
            self._follow(node)

    def of(self, name: str) -> Cause | None:
        """Why the type of a value is not a function of the input sizes; None where it is."""
        if name in self._of_value and not is_typed(self._result.types[name]):
            return self._of_value[name]
        found = [self._of_variable[v] for v in variables(self._result.types[name]) if v in self._of_variable]
        return _first(found)

    def _follow(self, node: Node) -> None:
        """Enter what the outputs of a node leave unknown."""
        behind = _first([self._of_value[operand] for operand in node[2] if operand in self._of_value])
        for name in node[3]:
            value = self._result.types.get(name)
            if value is None or not name:
                continue
            self.givers[name] = node
            self._outputs.setdefault(label_of(node), []).append(name)
            new = [v for v in variables(value) if v not in self.inputs and v not in self._of_variable]
            if is_typed(value) and not new and not lacks_elements(value):
                continue
            cause = self._begins(node, name, behind)
            if not is_typed(value) or cause.kind != "data":
                self._of_value[name] = cause
            for variable in new:
                self._of_variable[variable] = _told(variable, cause)

    def _begins(self, node: Node, name: str, behind: Cause | None) -> Cause:
        """The cause of what a node leaves unknown."""
        label = label_of(node)
        if label in self._errors and (behind is None or behind.kind != "error"):
            error = self._errors[label]
            return Cause("error", f"{error.operator} '{label}': {error.message}", label)
        if behind is not None:
            return behind
        note = self._result.notes.get(name, "nothing tells it")
        return Cause("no rule" if note.startswith(_NO_RULE) else "data", note, label)

    def roots(self) -> list[Root]:
        """The errors that follow from no other, equal ones of several nodes together, in order."""
        found: dict[tuple[str, ...], Root] = {}
        root_of: dict[str, tuple[str, ...]] = {}  # the root of the errors at each node
        for error in self._result.diagnostics:
            if error.severity == "warning":
                continue
            first = self._before(error)
            if first in root_of:
                key = root_of[first]
                found[key] = found[key]._replace(behind=(*found[key].behind, error))
            else:
                key = (error.severity, error.operator, error.message)
                found[key] = found[key]._replace(alike=found[key].alike + 1) if key in found else Root(error)
            root_of.setdefault(error.node, key)
        for name in self._result.types:
            cause = self.of(name)
            if cause is not None and cause.kind == "error" and cause.node in root_of:
                key = root_of[cause.node]
                found[key] = found[key]._replace(values=found[key].values + 1)
        return list(found.values())

    def _before(self, error: Diagnostic) -> str | None:
        """The node with the error from which this one follows."""
        outputs = self._outputs.get(error.node) or [error.node]
        giver = self.givers.get(outputs[0])
        if giver is None:
            return None
        operands = giver[2] if error.operator else outputs
        found = _first([cause for name in operands if name in self._result.types and (cause := self.of(name))])
        if found is None or found.kind != "error" or (error.operator and found.node == error.node):
            return None
        return found.node


def _undeclared(name: str, value: Value) -> Cause:
    missing = "rank" if isinstance(value, SymTensor) and value.dtype is not None else "type"
    cure = "; --bidirectional (bidirectional=True) may find it" if missing == "rank" else ""
    return Cause("undeclared", f"input '{name}' declares no {missing}{cure}", name)


def _told(variable: Var, cause: Cause) -> Cause:
    """The cause of one size: what only the data decide says itself how."""
    origin = variable.origin
    if cause.kind != "data" or origin is None or isinstance(origin, Declared):
        return cause
    own = str(origin)
    return cause if cause.text.startswith(own) else cause._replace(text=own)


def _first(causes: list[Cause]) -> Cause | None:
    """The most telling one."""
    return min(causes, key=lambda cause: _ORDER.index(cause.kind), default=None)


def lacks_elements(value: Value) -> bool:
    """Whether a value is a small tensor of integers, not all of which are known: sizes are computed of such."""
    if not isinstance(value, SymTensor) or value.dtype not in dt.INTEGER_RANGE or not is_small(value):
        return False
    return value.data is None or None in value.data
