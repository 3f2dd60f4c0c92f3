"""An inference as plain data, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Map, Optional, Sequence, Sparse, SymTensor

if TYPE_CHECKING:
    from onnx_infer.result import InferenceResult
    from onnx_infer.results.guards import Guard
    from onnx_infer.values.tensor import Value


def as_json(result: InferenceResult) -> dict[str, Any]:
    """The result as plain data: sizes are ints, or strings that `symdim.parse` reads."""
    return {
        "values": {name: {**_value_json(value), **_note(result, name)} for name, value in result.types.items()},
        "symbols": {name: list(variable.bounds()) for name, variable in result.symbols.items()},
        "guards": [_guard_json(guard) for guard in result.guards],
        "diagnostics": [
            {"severity": d.severity, "operator": d.operator, "node": d.node, "message": d.message}
            for d in result.diagnostics
        ],
    }


def _guard_json(guard: Guard) -> dict[str, Any]:
    """A guard as plain data."""
    return {
        "condition": str(guard),
        "kind": guard.kind,
        "law": guard.law,
        "nodes": [{"operator": origin.operator, "node": origin.node} for origin in guard.origins],
    }


def _note(result: InferenceResult, name: str) -> dict[str, str]:
    return {"note": result.notes[name]} if name in result.notes else {}


def _value_json(value: Value | None) -> dict[str, Any]:
    """The type as plain data, `kind` first.

    >>> _value_json(SymTensor(7, (2,), (3, None)))
    {'kind': 'tensor', 'dtype': 'i64', 'shape': [2], 'data': [3, None]}
    """
    if isinstance(value, (SymTensor, Sparse)):
        shape = None if value.shape is None else [_plain(dim) for dim in value.shape]
        kind = "sparse" if isinstance(value, Sparse) else "tensor"
        out = {"kind": kind, "dtype": dt.text(value.dtype) if value.dtype else None, "shape": shape}
        if isinstance(value, SymTensor) and value.data is not None:
            out["data"] = [_plain(x) for x in value.data]
        return out
    if isinstance(value, Sequence):
        return {"kind": "sequence", "elem": _value_json(value.elem)}
    if isinstance(value, Optional):
        return {"kind": "optional", "elem": _value_json(value.elem)}
    if isinstance(value, Map):
        return {"kind": "map", "key": dt.text(value.key), "value": _value_json(value.value)}
    return {"kind": "unknown"}


def _plain(x: object) -> object:
    """JSON has no infinities: they and expressions become text."""
    if x is None or isinstance(x, (bool, int, str)):
        return x
    return x if isinstance(x, float) and abs(x) < float("inf") else str(x)
