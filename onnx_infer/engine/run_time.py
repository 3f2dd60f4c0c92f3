"""Elements that only a run knows and from which sizes are computed: the K of a TopK, the ends of a Slice.

A rule gives a fresh size as an expression over elements of its inputs (`fresh(value=...)`). It also says that an
integer output of one unknown element is such an element. Here these elements get the names of the node's tensors. Each
element of each tensor has one variable, and so has each size computed from them. So two nodes that read the same
element have the same size. Sizes of the same elements are expressed by each other (K and K + 1). This is done for
tensors of the main graph only. Inside a subgraph or a function a name stands for a different value each time. So a size
in one keeps only its reason.

A size that is no expression over elements, the number of non-zero elements, is the same for nodes of the same operands.
It is also the sum of the elements of a mask as integers.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from onnx_infer.elements.lifting import SAME
from onnx_infer.elements.samples import element_at
from onnx_infer.laws.statements import Statement, elements_of, make_size
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value, is_told
from symdim import Expr, Var
from symdim import Scope as NameSpace
from symdim.algebra.origin import Computed, ValueOf
from symdim.algebra.polynomials import terms_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Node
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.operators.operator import Operator

    NewSize = Callable[[Var, Dim | None, object], Var]


_MAIN = NameSpace()
"""The name space of the elements of tensors of main graphs."""


class RunTimeValues:
    """The elements from which the sizes of one inference are computed."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._elements: dict[tuple[str, int], Var] = {}
        self._decided: dict[object, dict[object, Var]] = {}  # nodes of the same operands -> elements and sizes
        self._sizes: dict[Dim, Var] = {}
        self._solved: dict[Var, Dim] = {}  # elements as expressions of sizes and of elements solved later
        self._open: list[tuple[Var, Dim]] = []  # sizes with elements that are not solved yet
        self._statements: list[Statement] = []
        self._counts: dict[str, Var] = {}  # tensors -> the numbers of their elements that are not 0
        self._sums: dict[str, Var] = {}  # masks -> the sums of their elements
        self._producers: dict[str, Node] | None = None

    def new_statements(self) -> tuple[Statement, ...]:
        """The equalities of sizes that are new since the last call."""
        statements = tuple(self._statements)
        self._statements.clear()
        return statements

    def named(self, name: str, value: Value) -> Value:
        """An integer input of one element, with a variable for this element as its `fill`."""
        if not isinstance(value, SymTensor) or value.dtype not in dt.INTEGER_RANGE or value.shape not in ((), (1,)):
            return value
        return value if value.data else SymTensor(value.dtype, value.shape, fill=self._element(name, 0))

    def inside(self, node: Node) -> NewSize:
        """The same as `of` for a node in a subgraph or a function: sizes are those that the data decide."""

        def variable(placeholder: Var, limit: Dim | None, origin: object) -> Var:
            if isinstance(origin, ValueOf):
                return self._symbols.inner_element(f"{node[3][origin.index]}[0]", origin)
            return self._new(placeholder, limit, origin.why if isinstance(origin, Computed) else origin)

        return variable

    def of_call(self, placeholder: Var, limit: Dim | None, origin: object) -> Var:
        """The variable for a size or an element that the walk over the body of a called function made."""
        if isinstance(origin, ValueOf):
            return self._symbols.inner_element(placeholder.name, origin)
        return self._new(placeholder, limit, origin)

    def of(self, node: Node, operator: Operator, inputs: tuple[Value | None, ...], scope: Scope) -> NewSize:
        """The function that gives the variables of the elements and sizes of a node, for `trace.named`."""

        places = count()
        decided: dict[object, Var] | None = None  # looked up once for many sizes

        def variable(placeholder: Var, limit: Dim | None, origin: object) -> Var:
            nonlocal decided
            place = next(places)
            if not isinstance(origin, Computed):
                decided = self._decisions(node, operator, inputs) if decided is None else decided
                if isinstance(origin, ValueOf):
                    what = f"output {origin.index}"
                    if what not in decided:
                        decided[what] = self._element(node[3][origin.index], 0)
                        if operator.schema.name == "ReduceSum":
                            self._sum_is(decided[what], node, scope)
                    return decided[what]
                if place not in decided:
                    decided[place] = self._new(placeholder, limit, origin)
                    if operator.schema.name == "NonZero":
                        self._count_is(decided[place], node, scope)
                return decided[place]
            size = self._read(origin.size, node, operator, inputs)
            if size is None:
                return self._new(placeholder, limit, origin.why)
            known = self._sizes.get(size)
            if known is not None and (known.at_most is not None or limit is None):
                return known
            read: object = Computed(size, origin.why)
            if isinstance(size, Var) and isinstance(size.origin, ValueOf):
                formals = [v.origin.tensor for v in elements_of(origin.size)]
                read = size.origin._replace(semantics=f"{operator.schema.name}.{formals[0]}")
            new = self._sizes[size] = self._new(placeholder, limit, read)
            if known is not None:  # the same value, but now with a bound
                self._statements.append(Statement("equal", known, new, "two sizes of one value"))
            self._relate(new, size)
            return new

        return variable

    def _count_is(self, size: Var, node: Node, scope: Scope) -> None:
        """A size is the number of non-zero elements of a tensor."""
        tensor, _ = self._counted(node[2][0], scope)
        self._counts[tensor] = size
        if tensor in self._sums:
            self._sizes[self._sums[tensor]] = size
            self._relate(size, self._sums[tensor])

    def _sum_is(self, element: Var, node: Node, scope: Scope) -> None:
        """An element is the sum of all elements of a tensor. If these are those of a mask, it is a number of them."""
        tensor, is_mask = self._counted(node[2][0], scope)
        if is_mask:
            self._sums[tensor] = element
            if tensor in self._counts:
                self._sizes[element] = self._counts[tensor]
                self._relate(self._counts[tensor], element)

    def _counted(self, name: str, scope: Scope) -> tuple[str, bool]:
        """The tensor from which a tensor has its elements, in some order, and whether these are a mask's."""
        if self._producers is None:
            self._producers = {output: node for node in scope.model.graph.nodes() for output in node[3]}
        kind = getattr(scope.get(name), "dtype", None)
        while (node := self._producers.get(name)) is not None:
            operator = scope.operators[node[1], node[0]]
            before = getattr(scope.get(node[2][0]), "dtype", None) if node[2] else None
            if operator is None or operator.rule.data is not SAME or before not in (kind, dt.BOOL):
                break  # a Cast of a float between -1 and 1 gives 0
            name, kind = node[2][0], before
        return name, kind == dt.BOOL

    def _relate(self, name: Var, size: Dim) -> None:
        """State that a new size equals an expression of earlier ones, or solve it for an element that is new."""
        size = self._in_sizes(size)
        elements = [v for v in elements_of(size) if terms_of(size)[0].get(v) in (1, -1)]
        solved = next((v for v in elements if v not in elements_of(size - terms_of(size)[0][v] * v)), None)
        if solved is None:
            self._report(name, size)
            return
        self._solved[solved] = solved + terms_of(size)[0][solved] * (name - size)
        pending, self._open = self._open, []
        for other, known in pending:
            self._report(other, self._in_sizes(known))

    def _report(self, name: Var, size: Dim) -> None:
        """State what a size equals if no element is left in it. Otherwise keep it for later."""
        if elements_of(size):
            self._open.append((name, size))
        else:
            self._statements.append(Statement("equal", name, size, "two sizes of the same elements"))

    def _in_sizes(self, size: Dim) -> Dim:
        """The size with the solved elements replaced."""
        while known := {v: self._solved[v] for v in elements_of(size) if v in self._solved}:
            assert isinstance(size, Expr)
            size = size.substitute(known)
        return size

    def _read(self, size: Dim, node: Node, operator: Operator, inputs: tuple[Value | None, ...]) -> Dim | None:
        """The size over the elements of the node's tensors; None if one of them is not an integer tensor."""
        formals = [formal.name for formal in operator.schema.inputs]
        tensors = dict(zip(formals, zip(node[2], inputs, strict=True), strict=False))
        names: dict[Var, Dim] = {}
        for placeholder in elements_of(size):
            formal, index, _ = placeholder.origin
            name, tensor = tensors.get(formal, ("", None))
            if not isinstance(tensor, SymTensor) or tensor.dtype not in dt.INTEGER_RANGE:
                return None
            known = element_at(tensor, index)
            names[placeholder] = self._element(name, index) if known is None else known
        return size.substitute(names) if isinstance(size, Expr) else size

    def _decisions(self, node: Node, operator: Operator, inputs: tuple[Value | None, ...]) -> dict[object, Var]:
        """What the run of a node decides: its elements and sizes. Nodes of the same operands decide the same.

        An operator without a data function may draw at random, so each of its nodes decides for itself.
        """
        if operator.rule.data is None:
            return {}
        operands = [name if x is None or not is_told(x) else x for name, x in zip(node[2], inputs, strict=True)]
        return self._decided.setdefault((operator, node[4], len(node[3]), *operands), {})

    def _element(self, tensor: str, index: int) -> Var:
        element = self._elements.get((tensor, index))
        if element is None:
            # the same one in the next inference, so that outcomes are remembered
            name, origin = f"{tensor}[{index}]", ValueOf(tensor, index)
            element = self._elements[tensor, index] = _MAIN.restored(name, None, None, None, origin)
        return element

    def _new(self, placeholder: Var, limit: Dim | None, origin: object) -> Var:
        return make_size(self._symbols.name(), placeholder.lo or 0, placeholder.hi, limit, origin)
