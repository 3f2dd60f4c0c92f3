"""ONNX operators as relations between the shapes of their operands, for inference in every direction.

    registration.py    the form of an operator, and its operands by the schema's names
    relations.py       the vocabulary of forms
    linear.py          MatMul, Gemm, Einsum and their kin; broadcasting, operators that keep the shape of their input
    window.py          convolutions, pools, regions
    movement.py        Transpose, Expand, Tile, Pad, Resize, DepthToSpace; Concat, Split
    reshaping.py       Reshape, Flatten, Squeeze, Unsqueeze, Shape; Gather, Scatter, Slice
    reduction.py       ReduceX, ArgMax, TopK, OneHot, NonZero, Compress; normalizations
    attention.py       Attention, RotaryEmbedding; RNN, GRU, LSTM

An inference rule (`onnx_infer.ops`) goes from inputs to outputs. A form states relations into a `symdim.Store`, which
uses them in every direction. A form states only relations that hold in every run of the node; if it needs to know more
for a relation, it leaves the relation out. A node without a form states nothing. Begin with `registration.py`.

>>> from symdim import Row, Store
>>> store, x, y = Store(), Row.unknown(), Row.unknown()
>>> _ = state(store, {"onnx": "Gemm", "attrs": {"transB": 1}, "inputs": ["X", "W"], "outputs": ["Y"]},
...           {"X": x, "W": Row.of([10, 784]), "Y": y})
>>> store.row(x).trail[1], store.row(y).trail[1]
(784, 10)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.constraints.registration import FAMILIES, BoundForm, Operand, bound_form, form, forms
from onnx_infer.operators.operator import bind
from onnx_infer.operators.schema import NEWEST
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symdim.rows import Row
    from symdim.store import Store

__all__ = ["FAMILIES", "BoundForm", "Operand", "bound_form", "form", "forms", "state"]


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
    from symdim.rows import Row

    value = values.get(formal)
    if value is None and name not in shapes:
        return None
    row = shapes[name] if name in shapes else Row.of(value.dims if value is not None else ())
    known = value or SymTensor(dt.INT64, row.dims if row.rank is not None else None)
    return Operand(name or formal, row, lambda: known)
