"""Changes as ONNX nodes: new constants, sizes computed from the inputs, repeated and counted constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import ModelProto, TensorProto

from onnx_infer.tools.materialization import Materialized
from onnx_infer.tools.nodes_of_sizes import Names, SizeNodes
from onnx_infer.tools.transforms.dynamic.meant_targets import mask_of
from onnx_infer.values.dtype import INTEGER_RANGE
from onnx_infer.values.tensor import Dim, SymTensor
from onnx_infer.values.text import text
from symdim import Expr, SymdimError, product

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.result import InferenceResult
    from onnx_infer.tools.transforms.dynamic.pinned import Change, Place, Tracer

_SINCE = {"Expand": 8, "Where": 9, "Less": 9, "Slice": 10, "Range": 11}
_WHERE_DTYPES = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)


class Writer:
    """Writes changes into a freed model. Sizes are computed from the inputs of `result`, each vector of them once."""

    def __init__(self, model: ModelProto, result: InferenceResult, tracer: Tracer) -> None:
        self.model, self._result, self._tracer = model, result, tracer
        opset, names = result._record.model.opsets.get("", 0), Names(result._record.model.names(), "dynamic")
        self._made = SizeNodes(opset, result.sources, names)
        self._vectors: dict[tuple[tuple[Dim, ...], int], str] = {}

    def write(self, changes: Iterable[Change]) -> list[tuple[Change, str]]:
        """Write the changes, in place; return those that cannot be written, each with the reason."""
        of: dict[Place, list[Change]] = {}
        for change in changes:
            of.setdefault(change.place, []).append(change)
        readers = {text(name): node for node in self.model.graph.node for name in node.output if name}
        failed = []
        for place, of_place in of.items():
            try:
                operand = self._operand(of_place)
            except (SymdimError, ValueError) as error:
                failed += [(change, str(error)) for change in of_place]
                continue
            readers[place.output].input[place.operand] = operand
        Materialized(self._made.nodes, self._made.initializers, "").insert(self.model)
        return failed

    def _operand(self, changes: list[Change]) -> str:
        """The name of the changed operand."""
        first = changes[0]
        if first.kind == "count":
            return self._counted(changes)
        if first.kind != "size":
            name, others = first.operand, [change for change in changes if change.kind != "mask"]
            if len(others) < len(changes):
                name = self._masked(changes)
            for change in others:
                name = self._repeated(name, change) if change.kind == "repeat" else self._stepped(name, change)
            return name
        elements = self._elements(first.operand)
        for change in changes:
            elements[change.at] = change.new
        vector = self._vector(elements, self._dtype(first.operand))
        is_scalar = self._tracer.static.types[first.operand].shape == ()
        return self._node("Reshape", vector, self._vector([])) if is_scalar else vector

    def _elements(self, name: str) -> list[Dim]:
        """The elements of an operand: those that the freed model computes from its sizes, else the traced ones."""
        traced = self._tracer.elements(name) or ()
        value = self._result.types.get(name)
        freed = value.data if isinstance(value, SymTensor) else None
        if freed is None or len(freed) != len(traced):
            return list(traced)
        return [own if isinstance(own, (int, Expr)) else n for own, n in zip(freed, traced, strict=True)]

    def _vector(self, elements: list[Dim], dtype: int = TensorProto.INT64) -> str:
        """The name of a vector of sizes of this element type."""
        key = tuple(elements), dtype
        if key not in self._vectors:
            self._vectors[key] = self._made.vector(elements, dtype)
        return self._vectors[key]

    def _node(self, op_type: str, *inputs: str, **attributes: int) -> str:
        if (since := _SINCE.get(op_type, 0)) > (opset := self._made.opset):
            raise ValueError(f"{op_type} has the inputs that are needed from opset {since} on, not in {opset}")
        return self._made.node(op_type, *inputs, **attributes)

    def _first(self, name: str, axis: int) -> str:
        """The first slice of a constant along an axis."""
        return self._node("Slice", name, *(self._vector([number]) for number in (0, 1, axis)))

    def _along(self, change: Change, new: Dim) -> list[Dim]:
        """The shape with a size at the changed axis and 1 elsewhere."""
        return [new if i == change.at else 1 for i in range(len(self._tracer.shape(change.operand)))]

    def _repeated(self, name: str, change: Change) -> str:
        """A constant with one slice along an axis, as often as wanted."""
        first = name if change.old == 1 else self._first(name, change.at)
        return self._node("Expand", first, self._vector(self._along(change, change.new)))

    def _stepped(self, name: str, change: Change) -> str:
        """The first slice of a constant along an axis, and further ones by equal steps."""
        steps = self._typed(self._range(change.new), change.operand)
        factor = self._made.constant(change.step, dtype=self._dtype(change.operand))
        along = self._node("Reshape", self._node("Mul", steps, factor), self._vector(self._along(change, -1)))
        return self._node("Add", self._first(name, change.at), along)

    def _counted(self, changes: list[Change]) -> str:
        """The numbers from 0 in row-major order, in the shape of a constant with other sizes."""
        shape = list(self._tracer.shape(changes[0].operand))
        for change in changes:
            shape[change.at] = change.new
        counted = self._typed(self._range(product(shape)), changes[0].operand)
        return self._node("Reshape", counted, self._vector(shape))

    def _masked(self, changes: list[Change]) -> str:
        """A causal mask of other sizes, with one slice along its other axes that change."""
        name = changes[0].operand
        array = self._tracer.array(name)
        causal = None if array is None else mask_of(array)
        assert array is not None
        assert causal is not None
        sizes: dict[int, Dim] = {axis: array.shape[axis] for axis in (causal.rows, causal.columns)}
        sizes.update((change.at, change.new) for change in changes if change.at in sizes)
        rows, columns = (
            self._node(
                "Reshape", self._range(sizes[axis]), self._vector([-1 if i == axis else 1 for i in range(array.ndim)])
            )
            for axis in (causal.rows, causal.columns)
        )
        offset = sizes[causal.columns] - sizes[causal.rows] if causal.is_at_end else causal.offset
        ends = self._node("Add", rows, self._vector([offset + 1]))
        mask = self._chosen(self._node("Less", columns, ends), causal.low, causal.high, self._dtype(name))
        changed = {causal.rows, causal.columns, *(change.at for change in changes)}
        others: list[Dim] = [1 if axis in changed else size for axis, size in enumerate(array.shape)]
        return mask if set(others) == {1} else self._node("Expand", mask, self._vector(others))

    def _chosen(self, condition: str, low: float, high: float, dtype: int) -> str:
        """`low` where a condition holds, else `high`. Runtimes have Where for a few element types only."""
        if dtype == TensorProto.BOOL:
            return condition if low else self._node("Not", condition)
        own = dtype if dtype in _WHERE_DTYPES else TensorProto.INT64 if dtype in INTEGER_RANGE else TensorProto.FLOAT
        chosen = self._node("Where", condition, *(self._made.constant(x, dtype=own) for x in (low, high)))
        return chosen if own == dtype else self._node("Cast", chosen, to=dtype)

    def _range(self, end: Dim) -> str:
        """The vector of the numbers below a size."""
        scalars = [self._node("Reshape", self._vector([size]), self._vector([])) for size in (0, end, 1)]
        return self._node("Range", *scalars)

    def _typed(self, name: str, like: str) -> str:
        """Integers in the type of a constant."""
        dtype = self._dtype(like)
        return name if dtype == TensorProto.INT64 else self._node("Cast", name, to=dtype)

    def _dtype(self, name: str) -> int:
        """The element type of an operand."""
        return int(getattr(self._tracer.static.types[name], "dtype", None) or TensorProto.INT64)
