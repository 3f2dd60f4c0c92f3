"""The constraint form of one operator, written as data, stated into a store: how cases of tests read forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.constraints.registration import Operand, bound_form
from onnx_infer.operators.operator import bind
from onnx_infer.operators.schema import NEWEST
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim.rows import Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symdim.store import Store


def state(
    store: Store,
    node: Mapping[str, Any],
    shapes: Mapping[str, Row],
    constants: Mapping[str, Sequence[int] | int] | None = None,
) -> bool:
    """State the relations of one operator, written as data. False if it has no form, or if the form needs more.

    `node` is `{"onnx": operator, "domain": "", "attrs": {...}, "inputs": [names], "outputs": [names]}`. Its "version"
    is the newest by default. `constants` gives the elements of integer inputs by their formal names, even if they are
    not among the inputs. Raises ShapeInferenceError for attributes that contradict the operator.
    """
    domain, version = node.get("domain", ""), node.get("version", NEWEST)
    operator = bind(domain, node["onnx"], version)
    found = None if operator is None else bound_form(domain, node["onnx"], version, operator.schema)
    if operator is None or found is None:
        return False
    formals = [formal.name for formal in operator.schema.inputs]
    values = {name: _vector(elements) for name, elements in (constants or {}).items()}
    names: list[str] = list(node["inputs"])
    last = max((i for i, formal in enumerate(formals) if formal in values), default=-1)
    names += [""] * (last + 1 - len(names))
    inputs = [_operand(n, formals[i] if i < len(formals) else "", shapes, values) for i, n in enumerate(names)]
    outputs = [_operand(n, "", shapes, values) for n in node["outputs"]]
    attributes = {k: tuple(v) if isinstance(v, list) else v for k, v in node.get("attrs", {}).items()}
    return found.state(store, node.get("name", node["onnx"]), inputs, outputs, attributes) is not None


def _vector(elements: Sequence[int] | int) -> SymTensor:
    if isinstance(elements, int):
        return SymTensor(dt.INT64, (), (elements,))
    return SymTensor(dt.INT64, (len(elements),), elements)


def _operand(name: str, formal: str, shapes: Mapping[str, Row], values: Mapping[str, SymTensor]) -> Operand | None:
    value = values.get(formal)
    if value is None and name not in shapes:
        return None
    row = shapes[name] if name in shapes else Row.of(value.dims if value is not None else ())
    known = value or SymTensor(dt.INT64, row.dims if row.rank is not None else None)
    return Operand(name or formal, row, lambda: known)
