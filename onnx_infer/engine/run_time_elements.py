"""Elements that only a run knows and from which sizes are computed: the K of a TopK, the ends of a Slice.

A rule gives a fresh size as an expression over elements of its inputs (`fresh(value=...)`). Here these elements get the
names of the node's tensors. There is one variable for each element of each tensor, and one for each size computed from
them, so two nodes that read the same element have the same size. This is done for tensors of the main graph only.
Inside a subgraph or a function a name stands for a different value each time, so there a size keeps only its reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.laws.statements import Statement
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, Scope, Var
from symdim.algebra.origin import Computed, ValueOf
from symdim.algebra.variable import make_variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.model.graph import Node
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Dim, Value

    NewSize = Callable[[Var, Dim | None, Computed], Var]


class RunTimeValues:
    """The elements from which the sizes of one inference are computed."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._elements: dict[tuple[str, int], Var] = {}
        self._sizes: dict[Dim, Var] = {}
        self._statements: list[Statement] = []
        self.limits: dict[Var, list[Dim]] = {}
        """Bounds that later uses of a size add to that of the first use."""

    def learnt(self) -> tuple[Statement, ...]:
        """The equalities of sizes that are new since the last call."""
        statements = tuple(self._statements)
        self._statements.clear()
        return statements

    def named(self, name: str, value: Value) -> Value:
        """An integer input of one element, with a variable for this element as its `fill`."""
        if not isinstance(value, SymTensor) or value.dtype not in dt.INTEGER_RANGE or value.shape not in ((), (1,)):
            return value
        return value if value.data else SymTensor(value.dtype, value.shape, fill=self._element(name, 0))

    def unread(self, placeholder: Var, limit: Dim | None, origin: Computed) -> Var:
        """The size as a data-dependent size."""
        return self._new(placeholder, limit, origin.why)

    def of(self, node: Node, operator: Operator, inputs: tuple[Value | None, ...]) -> NewSize:
        """The function that makes the variables for the sizes of a node; an argument of `named`."""

        def variable(placeholder: Var, limit: Dim | None, origin: Computed) -> Var:
            size = self._read(origin.size, node, operator, inputs)
            if size is None:
                return self.unread(placeholder, limit, origin)
            known = self._sizes.get(size)
            if known is not None and (known.at_most is not None or limit is None):
                if limit is not None and limit != known.at_most:
                    self.limits.setdefault(known, []).append(limit)
                return known
            read: object = Computed(size, origin.why)
            if isinstance(size, Var) and isinstance(size.origin, ValueOf):
                formals = [v.origin.tensor for v in _elements_of(origin.size)]
                read = size.origin._replace(semantics=f"{operator.schema.name}.{formals[0]}")
            found = self._sizes[size] = self._new(placeholder, limit, read)
            if known is not None:  # the same value, but now with a bound
                self._statements.append(Statement("equal", known, found, "two sizes of one value"))
            return found

        return variable

    def _read(self, size: Dim, node: Node, operator: Operator, inputs: tuple[Value | None, ...]) -> Dim | None:
        """The size over the elements of the node's tensors; None if one of them is not an integer tensor."""
        formals = [formal.name for formal in operator.schema.inputs]
        tensors = dict(zip(formals, zip(node[2], inputs, strict=True), strict=False))
        names: dict[Var, Dim] = {}
        for placeholder in _elements_of(size):
            formal, index, _ = placeholder.origin
            name, tensor = tensors.get(formal, ("", None))
            if not isinstance(tensor, SymTensor) or tensor.dtype not in dt.INTEGER_RANGE:
                return None
            names[placeholder] = self._element(name, index)
        return size.substitute(names) if isinstance(size, Expr) else size

    def _element(self, tensor: str, index: int) -> Var:
        found = self._elements.get((tensor, index))
        if found is None:
            name, origin = f"{tensor}[{index}]", ValueOf(tensor, index)
            found = self._elements[tensor, index] = make_variable(Scope(), name, None, None, origin=origin)
        return found

    def _new(self, placeholder: Var, limit: Dim | None, origin: object) -> Var:
        return Var.fresh(self._symbols.name(), placeholder.lo or 0, placeholder.hi, limit, origin)


def _elements_of(size: Dim) -> list[Any]:
    """The variables in a size that stand for elements of inputs. If the size is an element, it has semantics."""
    variables = size.variables() if isinstance(size, Expr) else ()
    return [v for v in variables if isinstance(v.origin, ValueOf) and not v.origin.semantics]
