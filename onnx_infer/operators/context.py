"""The low-level interface for operators that need full control: functions `(ctx, node)` that write their results.

    @registry.register("com.acme", "MyOp", since_version=1)
    def my_op(ctx, node):
        (x,) = check_inputs(node, "x")
        ctx.set_shape_and_dtype(node.outputs[0], x.shape, x.dtype)

They can be called without a graph: make a `Node` of `ValueInfo`s and a `ShapeInferenceContext`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from onnx_infer.errors import OnnxInferError, OpUsageError, ShapeInferenceError
from onnx_infer.laws.sizes import broadcast
from onnx_infer.laws.statements import Trace, fresh
from onnx_infer.model.graph import Attributes
from onnx_infer.operators.operator import operator_of
from onnx_infer.operators.schema import NEWEST
from onnx_infer.types.join import NOTHING
from onnx_infer.types.merge import Conflict, ShapeMergePolicy, merge
from onnx_infer.values.tensor import MAX_DATA, Dim, SymTensor, Value
from symdim import Shape, parse
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Sequence as Listing

    from onnx_infer.operators.rule import Rule
    from onnx_infer.values.tensor import Shape as Dims

_logger = logging.getLogger("onnx_infer")


class ValueInfo:
    """A value as a `(ctx, node)` function sees it: its name, and its type, which `ctx.set_*` changes."""

    __slots__ = ("name", "type")

    def __init__(self, name: str = "", type: Value | None = None) -> None:
        self.name = name
        self.type: Value = NOTHING if type is None else type

    @property
    def dtype(self) -> int | None:
        """The element type of a tensor; None if it is not known."""
        return getattr(self.type, "dtype", None)

    @property
    def shape(self) -> Dims | None:
        """The shape of a tensor; None if the rank is not known."""
        return getattr(self.type, "shape", None)

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


class Node:
    """A node as a `(ctx, node)` function sees it. An absent optional input is None; attributes are plain values."""

    __slots__ = ("attributes", "domain", "inputs", "name", "op_type", "outputs")

    def __init__(
        self,
        op_type: str,
        inputs: Iterable[ValueInfo | None],
        outputs: Iterable[ValueInfo],
        attributes: Mapping[str, Any] | None = None,
        *,
        domain: str = "",
        name: str = "",
    ) -> None:
        self.op_type, self.domain, self.name = op_type, domain, name
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.attributes = dict(attributes or {})


class ShapeInferenceContext:
    """The state of an inference as a `(ctx, node)` function sees it: opset imports, merge policy, results.

    >>> ctx, y = ShapeInferenceContext(policy="refine"), ValueInfo("y")
    >>> ctx.set_shape_and_dtype(y, ["N", 3], 1), ctx.set_shape_and_dtype(y, ["N", 3], 1)
    (True, False)
    >>> y
    y: f32[N, 3]
    """

    def __init__(self, opset_imports: Mapping[str, int] | None = None, policy: ShapeMergePolicy = "refine") -> None:
        self.opset_imports = dict(opset_imports or {})
        self.policy: ShapeMergePolicy = policy
        self.errors: list[str] = []
        self._count = 0

    def get_opset_version(self, domain: str = "") -> int | None:
        """The imported version of a domain."""
        return self.opset_imports.get(domain)

    def set_type(self, value: ValueInfo, type: Value) -> bool:
        """Merge a type into that of the value, by the policy. Returns whether the type changed."""
        merged = merge(None if value.type is NOTHING else value.type, type, self.policy, self._conflict)
        changed = merged is not value.type
        value.type = merged
        return changed

    def set_shape(self, value: ValueInfo, shape: Iterable[Dim | str] | None) -> bool:
        """Merge a shape. A dim is an int, an expression or its text, never None (use `new_symbolic_dim`)."""
        return self.set_type(value, SymTensor(None, _dims(shape)))

    def set_dtype(self, value: ValueInfo, dtype: int | None) -> bool:
        """Merge an element type."""
        return self.set_type(value, SymTensor(dtype, None))

    def set_shape_and_dtype(self, value: ValueInfo, shape: Iterable[Dim | str] | None, dtype: int | None) -> bool:
        """Merge shape and element type of a tensor."""
        return self.set_type(value, SymTensor(dtype, _dims(shape)))

    def new_symbolic_dim(
        self, prefix: str = "_d", *, note: str = "a data-dependent size", at_most: Dim | None = None
    ) -> Dim:
        """A fresh size, named `prefix` plus a number. In a model the engine names all fresh sizes `_d0`, `_d1`, ...

        >>> ctx = ShapeInferenceContext()
        >>> ctx.new_symbolic_dim(), ctx.new_symbolic_dim("nnz")
        (_d0, nnz1)
        """
        self._count += 1
        return fresh(note, at_most=at_most, name=f"{prefix}{self._count - 1}")

    def record_error(self, node: Node, message: str) -> None:
        """Raise a semantic error of the node as `ShapeInferenceError`. Under the policy skip it is only logged."""
        text = f"{node.op_type} '{node.name}': {message}" if node.name else f"{node.op_type}: {message}"
        self.errors.append(text)
        if self.policy != "skip":
            raise ShapeInferenceError(text)
        _logger.warning("%s", printable(text))

    def set_symbolic_value(self, value: ValueInfo, elements: Listing[Any]) -> None:
        """Set the elements of a small tensor of rank 0 or 1: ints or expressions."""
        if len(elements) <= MAX_DATA:
            shape = value.shape if value.shape is not None else (len(elements),)
            value.type = SymTensor(value.dtype, shape, elements)

    def get_symbolic_value(self, value: ValueInfo | None) -> list[Any] | None:
        """The elements of a small tensor if all are known, else None."""
        data = getattr(value.type, "data", None) if value is not None else None
        return None if data is None or None in data else list(data)

    def _conflict(self, conflict: Conflict) -> None:
        self.errors.append(conflict.text)
        if self.policy == "strict":
            raise ShapeInferenceError(conflict.text)


def _dims(shape: Iterable[Dim | str | None] | None) -> Dims | None:
    if shape is None:
        return None
    out: list[Dim] = []
    for size in shape:
        if size is None:
            raise OpUsageError("a dim of a result has no name: use ctx.new_symbolic_dim()")
        out.append(parse(size) if isinstance(size, str) else size)
    return tuple(out)


def check_inputs(node: Node, *names: str) -> tuple[ValueInfo, ...]:
    """The required inputs of a node by name; raises `OpUsageError` with the name of a missing one.

    >>> check_inputs(Node("Add", [ValueInfo("a")], []), "A", "B")
    Traceback (most recent call last):
    ...
    onnx_infer.errors.OpUsageError: Add: required input B is missing
    """
    present = []
    for i, name in enumerate(names):
        value = node.inputs[i] if i < len(node.inputs) else None
        if value is None:
            raise OpUsageError(f"{node.op_type}: required input {name} is missing")
        present.append(value)
    return tuple(present)


def require_attr(node: Node, name: str) -> Any:
    """The value of a required attribute; raises `OpUsageError` if it is missing."""
    if name not in node.attributes:
        raise OpUsageError(f"{node.op_type}: required attribute {name} is missing")
    return node.attributes[name]


def broadcast_shapes(shape1: Iterable[Dim | str] | None, shape2: Iterable[Dim | str] | None) -> Shape | None:
    """The shape of two shapes broadcast together; None if a rank is unknown or sizes provably do not broadcast.

    >>> broadcast_shapes(["N", 1], [5]), broadcast_shapes([2], [3])
    (Shape([N, 5]), None)
    """
    if shape1 is None or shape2 is None:
        return None
    with Trace() as trace:
        shape = broadcast(_dims(shape1) or (), _dims(shape2) or ())
    return None if trace.errors else Shape(shape)


def call_rule(rule: Rule, ctx: ShapeInferenceContext, node: Node) -> None:
    """Apply a rule to a node. The types of its outputs are merged into those of the node's values.

    Raises `OpUsageError` for a node that does not follow the operator's schema. Broken laws go to `ctx.record_error`.

    >>> from onnx_infer import Node, ShapeInferenceContext, ValueInfo, registry
    >>> from onnx_infer.testing import ts
    >>> ctx, y = ShapeInferenceContext({"": 20}), ValueInfo("y")
    >>> registry.get("", "Flatten", 20)(ctx, Node("Flatten", [ValueInfo("x", ts(1, ["N", 3, 4]))], [y], {"axis": 1}))
    >>> y
    y: f32[N, 12]
    """
    if rule.style == "context":
        rule.shape(ctx, node)
        return
    version = ctx.get_opset_version(rule.domain)
    operator = operator_of(rule, rule.domain, node.op_type, NEWEST if version is None else version)
    inputs = tuple([None if value is None else value.type for value in node.inputs])
    with Trace() as trace:
        try:
            values, _, wrong = operator.infer(inputs, Attributes(node.attributes), len(node.outputs))
        except OpUsageError:
            raise
        except OnnxInferError as error:
            ctx.record_error(node, str(error))
            return
    for output, value in zip(node.outputs, values, strict=True):
        ctx.set_type(output, value)
    for law in (*trace.errors, *([wrong] if wrong else ())):
        ctx.record_error(node, law)


__all__ = ["Node", "ShapeInferenceContext", "ValueInfo", "broadcast_shapes", "check_inputs", "require_attr"]
