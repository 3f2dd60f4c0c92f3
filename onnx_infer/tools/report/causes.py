"""Causes for a report: which errors cause others, and why something is unknown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.graph import Node, label_of
from onnx_infer.results.inferred import Inferred, schedule
from onnx_infer.results.reasons import Reason, reasons
from onnx_infer.results.verdicts import input_variables, is_exact, is_typed

if TYPE_CHECKING:
    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.values.tensor import Value


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

    `nodes`: the schedule, read once for the whole report. `literals`: the values of Constant nodes.
    """

    def __init__(self, result: Inferred) -> None:
        self._result = result
        self.nodes = schedule(result)
        self._reasons = reasons(result, self.nodes)
        self._exact: dict[Value, bool] = {}
        self.inputs = input_variables(result)
        self.literals = frozenset(result._engine.model.graph.literals)

    @cached_property
    def givers(self) -> dict[str, Node]:
        """The node of each value."""
        types = self._result.types
        return {name: node for node in self.nodes for name in node[3] if name in types}

    @cached_property
    def _outputs(self) -> dict[str, list[str]]:
        """Label of a node -> its outputs."""
        found: dict[str, list[str]] = {}
        for node in self.nodes:
            found.setdefault(label_of(node), []).extend(name for name in node[3] if name in self._result.types)
        return found

    def of(self, name: str) -> Reason | None:
        """The main reason why the type of a value is not a function of the input sizes; None if it is one."""
        found = self._reasons.get(name)
        return found[0] if found else None

    def verdict(self, name: str) -> str:
        """`exact`: the sizes are functions of the input sizes. `data-dependent`: only the data decide some of them."""
        value = self._result.types[name]
        exact = self._exact.get(value)
        if exact is None:
            exact = self._exact[value] = is_exact(value, self.inputs)
        if exact:
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

    def value_at(self, error: Diagnostic) -> str | None:
        """The value to look at for an error: the first one that its node gives, or the value itself."""
        return next(
            (name for name in (*self._outputs.get(error.node, ()), error.node) if name in self._result.types), None
        )

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
