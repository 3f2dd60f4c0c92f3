"""ONNX nodes that compute sizes, each expression once.

All values are int64 vectors. A size is a vector of one element, because operators need vectors (targets of Reshape and
Expand, ends of Slice, repeats of Tile). Concat joins sizes. Floats are vectors of one element, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import NodeProto, TensorProto, helper

from onnx_infer.elements.arithmetic import convert
from onnx_infer.laws.sizes import at_least
from onnx_infer.values import dtype as dt
from symdim import Expr, Var
from symdim.algebra.application import Application
from symdim.algebra.dims import bounds_of, variables_of
from symdim.algebra.origin import InputDim, ValueOf
from symdim.algebra.texts.tree import Operation, Product, Sum, terms_in, value_of
from symdim.dialects.floats import TYPES, FloatFunction, is_float
from symdim.dialects.straight_code import in_order
from symdim.errors import UnsupportedDynamicShape
from symdim.guarantee import require_exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.elements.ratio import Element
    from onnx_infer.results.sources import Sources
    from onnx_infer.values.tensor import Dim
    from symdim.algebra.texts.tree import Part, Tree

_OLDEST = 7
_MOD_SINCE, _WHERE_SINCE, _ROUND_SINCE, _INTEGER_MAX_SINCE, _SHAPE_PART_SINCE = 10, 9, 11, 12, 15


def unreadable(size: Dim, sources: Sources) -> list[Var]:
    """The symbols of a size that cannot be read."""
    return [v for v in variables_of([sources.over_sources(size)]) if not isinstance(v.origin, (InputDim, ValueOf))]


def _readable(size: Dim, sources: Sources, field: str) -> Dim:
    """The size as an expression of readable sizes."""
    readable = sources.over_sources(size)
    require_exact(readable, "materialize", field, sources.values)
    for symbol in unreadable(size, sources):
        raise UnsupportedDynamicShape("materialize", field, "unknown", f"{symbol.name} of {size} cannot be read")
    return readable


def require_held(elements: Iterable[Element], dtype: int) -> None:
    """Raise `ValueError` for an element that a Cast to this element type would change in some run."""
    for element in elements:
        if convert(element, dtype) != element:
            kind = TensorProto.DataType.Name(dtype).lower()
            if isinstance(element, Expr):
                raise ValueError(f"the size {element} may be too large for {kind}")
            raise ValueError(f"a size has the number {element}, which is no {kind}")


def unused_name(base: str, used: set[str], tried: dict[str, int] | None = None) -> str:
    """The base, or the base with a number if it is used already. The name is added to `used`.

    `tried` has the last number of each base, so that many names of one base take linear work.
    """
    count = 0 if tried is None else tried.get(base, 0)
    name = f"{base}_{count}" if count else base
    while name in used:
        count += 1
        name = f"{base}_{count}"
    if tried is not None:
        tried[base] = count
    used.add(name)
    return name


class Names:
    """Makes unused names.

    >>> names = Names(["x", "size_add"], "size")
    >>> names.new("add"), names.new("mul"), names.new("mul")
    ('size_add_1', 'size_mul', 'size_mul_1')
    """

    def __init__(self, used: Iterable[str], prefix: str) -> None:
        self._prefix = prefix
        self._used = set(used)

    def new(self, kind: str) -> str:
        """A name for a value of this kind."""
        return unused_name(f"{self._prefix}_{kind}", self._used)


class SizeNodes:
    """Nodes that compute sizes, each expression once. They follow the display trees: a remainder is a Mod.

    Symbols are read at the `sources`. Each size adds to `nodes` and `initializers`. Errors are those of `materialize`.
    """

    def __init__(self, opset: int, sources: Sources, names: Names) -> None:
        self.opset, self.names = opset, names
        self._sources = sources
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self._held: dict[Part, str] = {}
        self._products: dict[Product, str] = {}
        self._constants: dict[tuple[int, tuple[float, ...]], str] = {}
        self._reads: dict[tuple[object, ...], str] = {}

    def vector(self, sizes: Iterable[Dim], dtype: int = dt.INT64) -> str:
        """The name of a vector of sizes of this element type. Raises `ValueError` for one that the type cannot hold."""
        if dtype != dt.INT64:
            sizes = list(sizes)
            require_held(sizes, dtype)
        known = [_readable(size, self._sources, f"shape[{axis}]") for axis, size in enumerate(sizes)]
        if all(isinstance(size, int) for size in known):
            return self.constant(*known, dtype=dtype)  # type: ignore[arg-type]
        parts = [self._part(group) for group in _grouped(known)]
        whole = parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=0)
        return whole if dtype == dt.INT64 else self.node("Cast", whole, to=dtype)

    def _part(self, sizes: list[Dim]) -> str:
        """The name of a part of a vector: constants, sizes of successive axes of a tensor, or a single size."""
        if all(isinstance(size, int) for size in sizes):
            return self.constant(*sizes)  # type: ignore[arg-type]
        if len(sizes) == 1:
            return self._written(sizes[0])
        tensor, axis = _axis_of(sizes[0])  # type: ignore[misc]
        return self._axes(tensor, axis, axis + len(sizes))

    def size(self, size: Dim) -> str:
        """The name of a vector of one size."""
        return self._written(_readable(size, self._sources, "the size"))

    def _written(self, size: Dim) -> str:
        if isinstance(size, int):
            return self.constant(size)
        for node, tree in in_order(size, self._held):
            self._held[node] = self._computed(tree)
        return self._held[size]

    def constant(self, *values: float, dtype: int = dt.INT64) -> str:
        """The name of a constant vector. Raises `ValueError` for numbers that its element type cannot hold."""
        name = self._constants.get((dtype, values))
        if name is None:
            require_held(values, dtype)
            name = self._constants[dtype, values] = self.names.new("_".join(map(str, values)) or "empty")
            self.initializers.append(helper.make_tensor(name, dtype, (len(values),), values))
        return name

    def node(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """The name of a new node and of its output."""
        if self.opset < _OLDEST:
            raise ValueError(f"sizes are computed from opset {_OLDEST} on, not in {self.opset}")
        name = self.names.new(op_type.lower())
        self.nodes.append(helper.make_node(op_type, inputs, [name], name, **attributes))
        return name

    def _computed(self, tree: Tree) -> str:
        match tree:
            case int():
                return self.constant(tree)
            case Var(origin=InputDim(tensor, axis)):
                return self._axes(tensor, axis, axis + 1)
            case Var(origin=ValueOf(tensor, index)):
                return self._element(tensor, index)
            case Operation():
                return self._operation(tree)
            case Application(function=FloatFunction() as function):
                return self._of_floats(function, tree._parts)
            case Product() | Sum():
                return self._sum(terms_in(tree))
        raise TypeError(f"no operator for {type(tree).__name__} {tree}")

    def _operation(self, operation: Operation) -> str:
        """Its node; of one that is no expression of its own, too."""
        if operation not in self._held:
            parts = [self.constant(part) if isinstance(part, int) else self._held[part] for part in operation.operands]
            if operation.operator == "//":
                self._held[operation] = self._quotient(operation, *parts)
            elif operation.operator == "%":
                self._held[operation] = self._remainder(operation, *parts)
            else:
                self._held[operation] = self._extremum(operation, parts)
        return self._held[operation]

    def _of_floats(self, function: FloatFunction, parts: Sequence[Dim]) -> str:
        """A function of floats; its result is a vector of int64 if it rounds, else of floats.

        A `Reciprocal` gives 1/x: onnxruntime computes a `Div` of 1 and a `Mul` after it as one division.
        """
        dtype, operation = dt.NUMBERS[function.type], function.operation_name
        if operation == "div" and parts[:2] == (1, 1):
            return self.node("Reciprocal", self._float(dtype, *parts[2:]))
        if operation == "round" and self.opset < _ROUND_SINCE:
            raise ValueError(f"{function} needs Round, which is from opset {_ROUND_SINCE} on, not in {self.opset}")
        operands = [self._float(dtype, n, d) for n, d in zip(parts[::2], parts[1::2], strict=True)]
        if operation in ("value", "trunc"):  # a Cast to integers truncates
            name = operands[0]
        else:
            name = self.node(operation.capitalize(), *operands)
        return self.node("Cast", name, to=dt.INT64) if function.is_size else name

    def _float(self, dtype: int, numerator: Dim, divisor: Dim) -> str:
        """An operand as a vector of one float."""
        if isinstance(numerator, Expr):
            is_held = is_float(numerator) and numerator.function.type == dt.NAMES[dtype]
            return self._held[numerator] if is_held else self.node("Cast", self._held[numerator], to=dtype)
        name = self.names.new("float")
        self.initializers.append(helper.make_tensor(name, dtype, (1,), (TYPES[dt.NAMES[dtype]](numerator, divisor),)))
        return name

    def _axes(self, tensor: str, start: int, end: int) -> str:
        """The sizes of successive axes of a tensor."""
        if self.opset >= _SHAPE_PART_SINCE:
            return self._read("Shape", tensor, start=start, end=end)
        return self._read("Gather", self._read("Shape", tensor), self.constant(*range(start, end)))

    def _element(self, tensor: str, index: int) -> str:
        """An element of a tensor."""
        flat = self._read("Reshape", tensor, self.constant(-1))
        return self.node("Gather", self._read("Cast", flat, to=TensorProto.INT64), self.constant(index))

    def _read(self, op_type: str, *inputs: str, **attributes: int) -> str:
        """The name of a node that reads a tensor. Symbols share it."""
        key = op_type, inputs, tuple(attributes.items())
        if key not in self._reads:
            self._reads[key] = self.node(op_type, *inputs, **attributes)
        return self._reads[key]

    def _sum(self, terms: tuple[Product, ...]) -> str:
        first, *rest = terms
        name = self._product(first)
        for term in rest:
            magnitude = self._product(Product(abs(term.coefficient), term.powers))
            name = self.node("Add" if term.coefficient > 0 else "Sub", name, magnitude)
        return name

    def _product(self, product: Product) -> str:
        if product not in self._products:
            coefficient, powers = product
            factors = [] if coefficient == 1 and powers else [self.constant(coefficient)]
            for base, exponent in powers:
                factors += [self._operation(base) if isinstance(base, Operation) else self._held[base]] * exponent
            name = factors[0]
            for factor in factors[1:]:
                name = self.node("Mul", name, factor)
            self._products[product] = name
        return self._products[product]

    def _quotient(self, quotient: Operation, numerator: str, divisor: str) -> str:
        """Div truncates toward zero, which is the floor if neither side is negative.

        Otherwise `n//d == (n - n mod d) / d`, exactly: the integer Mod has the sign of the divisor, as in Python. In
        opsets without Mod: `n//d == (n + k*d)//d - k`, with a k that makes the numerator >= 0.
        """
        n, d = quotient.operands
        if at_least(n, 0) and at_least(d, 1):
            return self.node("Div", numerator, divisor)
        if self.opset >= _MOD_SINCE:
            multiple = self.node("Sub", numerator, self.node("Mod", numerator, divisor))
            return self.node("Div", multiple, divisor)
        low, least = bounds_of(n)[0], bounds_of(d)[0]
        if low is None or least is None or least < 1:
            needed = f"needs Mod, which is from opset {_MOD_SINCE} on, not in {self.opset}"
            raise ValueError(f"the floor of {value_of(quotient)} {needed}")
        shift = self.constant(-(low // least))
        shifted = self.node("Add", numerator, self.node("Mul", shift, divisor))
        return self.node("Sub", self.node("Div", shifted, divisor), shift)

    def _remainder(self, remainder: Operation, numerator: str, divisor: str) -> str:
        if self.opset >= _MOD_SINCE:
            return self.node("Mod", numerator, divisor)
        n, d = remainder.operands
        return self.node("Sub", numerator, self.node("Mul", self._written(n // d), divisor))

    def _extremum(self, extremum: Operation, parts: list[str]) -> str:
        is_max = extremum.operator == "max"
        if self.opset >= _INTEGER_MAX_SINCE:
            return self.node("Max" if is_max else "Min", *parts)
        if self.opset < _WHERE_SINCE:
            needed = f"needs Where, which is from opset {_WHERE_SINCE} on, not in {self.opset}"
            raise ValueError(f"{value_of(extremum)} {needed}")
        name = parts[0]
        for part in parts[1:]:
            less = self.node("Less", name, part)
            name = self.node("Where", less, part, name) if is_max else self.node("Where", less, name, part)
        return name


def _axis_of(size: Dim) -> tuple[str, int] | None:
    """The tensor and the axis that a size is read from; None for other sizes."""
    origin = size.origin if isinstance(size, Var) else None
    return (origin.tensor, origin.axis) if isinstance(origin, InputDim) else None


def _grouped(sizes: list[Dim]) -> list[list[Dim]]:
    """The sizes in groups that are constants, or are read from successive axes of a tensor; others are alone."""
    groups: list[list[Dim]] = []
    for size in sizes:
        last = groups[-1][-1] if groups else None
        before, here = (None if last is None else _axis_of(last)), _axis_of(size)
        are_constants = isinstance(last, int) and isinstance(size, int)
        if are_constants or (before and here and here == (before[0], before[1] + 1)):
            groups[-1].append(size)
        else:
            groups.append([size])
    return groups
