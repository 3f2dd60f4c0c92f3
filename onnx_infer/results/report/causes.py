"""Which errors have others behind them, and why something is unknown, as a report tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.graph import label_of
from onnx_infer.results.reasons import reasons
from onnx_infer.results.verdicts import input_variables, is_exact, is_typed

if TYPE_CHECKING:
    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.model.graph import Node
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.results.reasons import Reason


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
    """The reasons of all that is unknown in the main graph of a result, and its errors.

    `givers`: the node of each value; `literals`: the values of Constant nodes.
    """

    def __init__(self, result: Inferred) -> None:
        self._result = result
        self._reasons = reasons(result)
        self.inputs = input_variables(result)
        self.literals = frozenset(result._engine.model.graph.literals)
        self.givers: dict[str, Node] = {}
        self._outputs: dict[str, list[str]] = {}  # by the label of their node
        for node in result._engine.model.graph.nodes():
            for name in node[3]:
                if name in result.types:
                    self.givers[name] = node
                    self._outputs.setdefault(label_of(node), []).append(name)

    def of(self, name: str) -> Reason | None:
        """Why the type of a value is not a function of the input sizes, the most telling reason; None where it is."""
        found = self._reasons.get(name)
        return found[0] if found else None

    def verdict(self, name: str) -> str:
        """`exact`: the sizes are functions of the inputs' sizes; `data-dependent`: some only the data decide."""
        value = self._result.types[name]
        if is_exact(value, self.inputs):
            return "exact"
        cause = self.of(name)
        by_data = is_typed(value) and cause is not None and cause.kind in ("data", "value")
        return "data-dependent" if by_data else "unknown"

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
        for name in operands:
            found = self.of(name)
            if found is not None and found.kind == "error" and not (error.operator and found.node == error.node):
                return found.node
        return None
