"""What an inference found, for people (a table, an explanation of one value) and for programs (JSON)."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Literal

from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Map, Optional, Sequence, Sparse, SymTensor
from onnx_infer.values.text import printable, text, texts
from symdim import Var
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

    from onnx_infer.result import InferenceResult
    from onnx_infer.results.guards import Guard
    from onnx_infer.values.tensor import Value

Verdict = Literal["exact", "data-dependent", "unknown"]

_GUARD_HEADINGS = {
    "required": "the model runs only where",
    "assumed": "the model may run elsewhere, but has these sizes only where",
    "declared": "the model declares",
}

_WIDEST_NAME = 48
_WIDEST_TYPE = 90


def input_variables(result: InferenceResult) -> frozenset[Var]:
    """The symbols that the sizes and the elements of the graph inputs are made of."""
    return frozenset(v for name in result.inputs for v in _variables(result.types[name]))


def verdict(value: Value | None, inputs: frozenset[Var]) -> Verdict:
    """`exact`: the sizes are functions of the inputs' sizes; `data-dependent`: some only the data decide; else unknown.

    >>> verdict(SymTensor(1, (2, 3)), frozenset()), verdict(SymTensor(1, (Var("N"),)), frozenset())
    ('exact', 'data-dependent')
    """
    if isinstance(value, (Sequence, Optional)):
        return verdict(value.elem, inputs)
    if isinstance(value, Map):
        return verdict(value.value, inputs)
    if not isinstance(value, (SymTensor, Sparse)) or value.shape is None or value.dtype is None:
        return "unknown"
    return "exact" if inputs.issuperset(_variables(value)) else "data-dependent"


def _variables(value: Value | None) -> list[Var]:
    """The variables of a tensor's sizes, each once."""
    while isinstance(value, (Sequence, Optional)):
        value = value.elem
    shape = value.shape if isinstance(value, (SymTensor, Sparse)) else None
    return list(variables_of(shape or ()))


def table(result: InferenceResult, limit: int | None = 40) -> str:
    """A summary, then the values with their types, those that are not exact first and with the reason.

    At most `limit` lines of each kind, None for all; of exact values beyond it the inputs and outputs of the graph.
    """
    inputs = input_variables(result)
    verdicts = {name: verdict(value, inputs) for name, value in result.types.items()}
    counts = Counter(verdicts.values())
    parts = [f"{counts[word]} {word}" for word in ("exact", "data-dependent", "unknown") if counts[word]]
    lines = [f"{len(verdicts)} values: {', '.join(parts) or 'none'}"]
    if inputs:
        lines.append(f"symbols: {', '.join(map(_interval, sorted(inputs, key=lambda v: v.name)))}")
    unresolved = [name for name, word in verdicts.items() if word != "exact"]
    resolved = [name for name, word in verdicts.items() if word == "exact"]
    if unresolved:
        lines += ["", "not a function of the input sizes:", *_rows(result, unresolved, limit, reasons=True)]
    if limit is not None and len(resolved) > limit:
        ends = [name for name in (*result.inputs, *result.outputs) if verdicts.get(name) == "exact"]
        lines += ["", *_rows(result, ends, None), *_rest(len(resolved) - len(ends))]
    elif resolved:
        lines += ["", *_rows(result, resolved, None)]
    for kind, heading in _GUARD_HEADINGS.items():
        guards = dict.fromkeys(str(g) for g in result.guards if g.kind == kind)
        if guards:
            lines += ["", f"{heading}:", *_limited([f"  {g}" for g in guards], limit)]
    if result.diagnostics:
        lines += ["", *(f"{d.severity}: {d}" for d in result.diagnostics)]
    return printable("\n".join(lines))


def _rows(result: InferenceResult, names: list[str], limit: int | None, *, reasons: bool = False) -> list[str]:
    shown = names if limit is None else names[:limit]
    width = min(max(map(len, shown), default=0), _WIDEST_NAME)
    rows = []
    for name in shown:
        text = str(result.types[name])
        row = f"  {name:{width}}  {text if len(text) <= _WIDEST_TYPE else text[: _WIDEST_TYPE - 3] + '...'}"
        reason = result.notes.get(name) if reasons else None
        rows.append(f"{row}   ({reason})" if reason else row)
    return rows + _rest(len(names) - len(shown))


def _limited(lines: list[str], limit: int | None) -> list[str]:
    return lines if limit is None else lines[:limit] + _rest(len(lines) - limit)


def _rest(count: int) -> list[str]:
    return [f"  ... and {count} more (--all)"] if count > 0 else []


def _interval(variable: Var) -> str:
    low, high = variable.bounds()
    return f"{variable.name} >= {low}" if high is None else f"{low} <= {variable.name} <= {high}"


def explain(result: InferenceResult, model: ModelProto, name: str) -> str:
    """Where the type of a value comes from: its node and operands; what is not exact, back to where it begins.

    Raises KeyError for a name that the main graph does not have.
    """
    types, inputs = result.types, input_variables(result)
    producers = {output: node for node in model.graph.node for output in texts(node.output) if output}
    guards: dict[str, list[Guard]] = {}
    for guard in (*result.guards, *result.data_guards):
        for origin in guard.origins:
            guards.setdefault(origin.node, []).append(guard)
    lines, seen, queue = [], {name}, deque([name])
    while queue:
        current = queue.popleft()
        value = types[current]
        lines.append(f"{current}: {value}")
        lines += [f"  {variable.name}: {_origin(variable)}" for variable in _variables(value) if variable not in inputs]
        node = producers.get(current)
        if node is None:
            lines.append("  given: a graph input or an initializer")
            continue
        lines.append(f"  {_node_text(node)}")
        operands = dict.fromkeys(texts(node.input))
        lines += [f"    {operand}: {types[operand]}" for operand in operands if operand in types]
        lines += [f"  {g.kind}: {g} ({g.law})" for g in guards.get(text(node.name) or texts(node.output)[0], ())]
        if current in result.notes and verdict(value, inputs) == "unknown":
            lines.append(f"  unknown: {result.notes[current]}")
        if verdict(value, inputs) != "exact":
            causes = [x for x in operands if x in types and x not in seen and verdict(types[x], inputs) != "exact"]
            seen.update(causes)
            queue.extend(causes)
    return printable("\n".join(lines))


def _node_text(node: NodeProto) -> str:
    operator = f"{text(node.domain)}::{text(node.op_type)}" if node.domain else text(node.op_type)
    return f"{operator} '{text(node.name)}' of" if node.name else f"{operator} of"


def _origin(variable: Var) -> str:
    return f"{variable.origin}, at most {variable.at_most}" if variable.at_most is not None else str(variable.origin)


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
