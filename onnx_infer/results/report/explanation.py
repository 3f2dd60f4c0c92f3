"""Where the type of one value comes from."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from onnx_infer.model.graph import label_of
from onnx_infer.results.report.verdicts import input_variables, variables, verdict
from onnx_infer.values.text import printable, text

if TYPE_CHECKING:
    from onnx_infer.model.graph import Node
    from onnx_infer.result import InferenceResult
    from onnx_infer.results.guards import Guard
    from symdim import Var


def explain(result: InferenceResult, name: str) -> str:
    """Where the type of a value comes from: its node and operands; what is not exact, back to where it begins.

    Raises KeyError for a name that the main graph does not have.
    """
    types, inputs = result.types, input_variables(result)
    producers = {output: node for node in result._engine.model.graph.nodes() for output in node[3] if output}
    guards: dict[str, list[Guard]] = {}
    for guard in (*result.guards, *result.data_guards):
        for origin in guard.origins:
            guards.setdefault(origin.node, []).append(guard)
    lines, seen, queue = [], {name}, deque([name])
    while queue:
        current = queue.popleft()
        value = types[current]
        lines.append(f"{current}: {value}")
        lines += [f"  {variable.name}: {_origin(variable)}" for variable in variables(value) if variable not in inputs]
        node = producers.get(current)
        if node is None:
            lines.append("  given: a graph input or an initializer")
            continue
        lines.append(f"  {_node_text(node)}")
        operands = dict.fromkeys(node[2])
        lines += [f"    {operand}: {types[operand]}" for operand in operands if operand in types]
        lines += [f"  {g.kind}: {g} ({g.law})" for g in guards.get(label_of(node), ())]
        if current in result.notes and verdict(value, inputs) == "unknown":
            lines.append(f"  unknown: {result.notes[current]}")
        if verdict(value, inputs) != "exact":
            causes = [x for x in operands if x in types and x not in seen and verdict(types[x], inputs) != "exact"]
            seen.update(causes)
            queue.extend(causes)
    return printable("\n".join(lines))


def _node_text(node: Node) -> str:
    op_type, domain, *_, handle = node
    operator = f"{domain}::{op_type}" if domain else op_type
    return f"{operator} '{text(handle.name)}' of" if handle.name else f"{operator} of"


def _origin(variable: Var) -> str:
    return f"{variable.origin}, at most {variable.at_most}" if variable.at_most is not None else str(variable.origin)
