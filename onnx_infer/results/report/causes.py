"""Causes for a report: which errors cause others, and why something is unknown."""

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
    """An error that no other error causes, and its consequences.

    `alike`: the number of nodes with this error. `behind`: errors of nodes that read its unknown values. `values`: the
    number of values that it makes unknown.
    """

    diagnostic: Diagnostic
    alike: int = 1
    behind: tuple[Diagnostic, ...] = ()
    values: int = 0


class Causes:
    """The reasons for all unknown values in the main graph of a result, and its errors.

    `givers`: the node of each value. `literals`: the values of Constant nodes.
    """

    def __init__(self, result: Inferred) -> None:
        self._result = result
        self._reasons = reasons(result)
        self.inputs = input_variables(result)
        self.literals = frozenset(result._engine.model.graph.literals)
        self.givers: dict[str, Node] = {}
        self._outputs: dict[str, list[str]] = {}  # label of a node -> its outputs
        for node in result._engine.model.graph.nodes():
            for name in node[3]:
                if name in result.types:
                    self.givers[name] = node
                    self._outputs.setdefault(label_of(node), []).append(name)

    def of(self, name: str) -> Reason | None:
        """The main reason why the type of a value is not a function of the input sizes; None if it is one."""
        found = self._reasons.get(name)
        return found[0] if found else None

    def verdict(self, name: str) -> str:
        """`exact`: the sizes are functions of the input sizes. `data-dependent`: only the data decide some of them."""
        value = self._result.types[name]
        if is_exact(value, self.inputs):
            return "exact"
        cause = self.of(name)
        by_data = is_typed(value) and cause is not None and cause.kind in ("data", "value")
        return "data-dependent" if by_data else "unknown"

    def roots(self) -> list[Root]:
        """The errors that no other error causes, in order. Equal errors of several nodes are one root."""
        found: dict[tuple[str, ...], Root] = {}
        root_of: dict[str, tuple[str, ...]] = {}  # node -> the root of its errors
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
        """The node with the error that causes this one, or None."""
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
