"""An inference as plain data, for JSON: docs/json.md has the schema, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.model.graph import Node, label_of, title_of
from onnx_infer.results.exactness import variables
from onnx_infer.results.guarantees import guarantees
from onnx_infer.tools.report.explanation import Step, steps
from onnx_infer.tools.report.rows import Rows
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import SymTensor, Value
from onnx_infer.values.text import printable
from symdim import Var, __version__
from symdim.algebra.origin import is_given

if TYPE_CHECKING:
    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.results.guards import Guard
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.results.reasons import Reason, Reasons

SCHEMA_VERSION = 1
"""It is increased if a field is removed or changes its meaning. New fields do not change it."""


def as_json(result: Inferred, rows: Rows | None = None) -> dict[str, Any]:
    """The result, of which the caller may have the `rows`. Sizes are ints, or strings that `symdim.parse` reads."""
    rows, worth = rows or Rows(result), guarantees(result)
    values = {}
    for name, row in rows.of.items():
        sizes = [{"kind": size.kind, "size": plain(size.size)} for size in worth.get(name, ())]
        values[name] = {
            **type_json(row.value),
            "exact": row.is_exact,
            "node": _node_json(rows.reasons, name),
            "guarantees": sizes if name in worth else None,
            "reason": _reason_json(row.reason),
        }
    symbols = {v.name: v for row in rows.of.values() for v in variables(row.value)}
    return {
        **head_json(),
        "inputs": result.inputs,
        "outputs": result.outputs,
        "values": values,
        "symbols": {name: _symbol_json(variable) for name, variable in symbols.items()},
        "guards": [guard_json(guard) for guard in result.guards],
        "data_guards": [guard_json(guard) for guard in result.data_guards],
        "data_laws": [{"law": law.law, "inputs": list(law.inputs), "nodes": plain(law.origins)} for law in rows.laws],
        "diagnostics": [diagnostic_json(diagnostic) for diagnostic in result.diagnostics],
        "counts": rows.counts,
    }


def explanation_json(result: Inferred, name: str) -> dict[str, Any]:
    """Where the type of a value comes from, step by step back to its origins, as plain data.

    Raises KeyError for a name that the main graph does not have.
    """
    return {**head_json(), "value": name, "steps": [_step_json(result, step) for step in steps(result, name)]}


def head_json() -> dict[str, Any]:
    """The fields with which every object begins."""
    return {"schema_version": SCHEMA_VERSION, "onnx_infer_version": __version__}


def _step_json(result: Inferred, step: Step) -> dict[str, Any]:
    return {
        "value": step.value,
        "type": type_json(result.types[step.value]),
        "node": None if step.node is None else _operator_json(step.node),
        "operands": {name: type_json(result.types[name]) for name in step.operands},
        "symbols": {variable.name: _symbol_json(variable) for variable in step.fresh},
        "guards": [guard_json(guard) for guard in step.guards],
        "diagnostics": [diagnostic_json(diagnostic) for diagnostic in step.errors],
        "reason": _reason_json(step.reason),
        "computed": plain(step.computed),
    }


def _node_json(reasons: Reasons, name: str) -> dict[str, str] | None:
    if name in reasons.literals:
        return {"operator": "Constant", "node": name}
    node = reasons.producer(name)
    return None if node is None else _operator_json(node)


def _operator_json(node: Node) -> dict[str, str]:
    return {"operator": title_of(node), "node": label_of(node)}


def _reason_json(reason: Reason | None) -> dict[str, Any] | None:
    if reason is None:
        return None
    return {"kind": reason.kind, "text": printable(reason.text), "node": reason.node, "names": list(reason.names)}


def _symbol_json(variable: Var) -> dict[str, Any]:
    low, high = variable.bounds()
    given = is_given(variable.origin)
    return {
        "low": low,
        "high": high,
        "at_most": plain(variable.at_most),
        "origin": None if given else printable(str(variable.origin)),
    }


def guard_json(guard: Guard) -> dict[str, Any]:
    """A guard as plain data."""
    nodes = plain(guard.origins)
    return {"condition": guard.condition.spelled(str), "kind": guard.kind, "law": guard.law, "nodes": nodes}


def diagnostic_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as plain data."""
    return {
        "severity": diagnostic.severity,
        "operator": diagnostic.operator,
        "node": diagnostic.node,
        "message": printable(diagnostic.message),
        "operands": [{"name": name, "type": str(value)} for name, value in diagnostic.inputs if value is not None],
    }


def type_json(value: Value | None) -> dict[str, Any]:
    """The type as plain data, `kind` first.

    >>> type_json(SymTensor(7, (2,), (3, None)))
    {'kind': 'tensor', 'dtype': 'i64', 'shape': [2], 'data': [3, None]}
    """
    if isinstance(value, (SymTensor, Sparse)):
        kind = "sparse" if isinstance(value, Sparse) else "tensor"
        out = {"kind": kind, "dtype": dt.text(value.dtype) if value.dtype else None, "shape": plain(value.shape)}
        return out if isinstance(value, Sparse) or value.data is None else {**out, "data": plain(value.data)}
    if isinstance(value, Sequence):
        return {"kind": "sequence", "elem": type_json(value.elem)}
    if isinstance(value, Optional):
        return {"kind": "optional", "elem": type_json(value.elem)}
    if isinstance(value, Map):
        return {"kind": "map", "key": dt.text(value.key), "value": type_json(value.value)}
    return {"kind": "unknown"}


def plain(x: object) -> Any:
    """Anything as JSON: an object of a record, a list of a sequence. Expressions and infinities become text.

    >>> from symdim import Var
    >>> plain([2 * Var("N"), None, float("inf"), {"sizes": (1, 2)}])
    ['2*N', None, 'inf', {'sizes': [1, 2]}]
    """
    if x is None or isinstance(x, (bool, int, str)):
        return x
    if isinstance(x, float):
        return x if abs(x) < float("inf") else str(x)
    if hasattr(x, "_asdict"):
        x = x._asdict()
    if isinstance(x, dict):
        return {name: plain(field) for name, field in x.items()}
    return [plain(part) for part in x] if isinstance(x, (list, tuple)) else str(x)
