"""Shapes: the sizes of a tensor's axes, known or symbolic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from symdim.algebra.canonical import maximum, minimum, product
from symdim.algebra.dims import at_least, at_most, differ, excludes, variables_of
from symdim.algebra.evaluate import demand_known_names, evaluate, unbound
from symdim.algebra.expr import Expr
from symdim.algebra.order import dim_order
from symdim.algebra.origin import InputDim
from symdim.algebra.texts.display import quoted
from symdim.algebra.texts.printing import brief_list, text_of_list
from symdim.algebra.variable import Var
from symdim.errors import BroadcastError, NegativeSize, NotDivisible, ReshapeError, SizeOverflow, printable

if TYPE_CHECKING:
    from symdim.guarantee import Guarantee

Dim: TypeAlias = int | Expr
Bindings: TypeAlias = "Mapping[str | Var, int]"

INFER = -1
"""In a reshape target: the size that keeps the number of elements."""

_LARGEST = (1 << 63) - 1


def is_infer(dim: Dim) -> bool:
    """Whether a size of a reshape target is to be inferred: it is -1. A size that may be -1 does not count.

    >>> is_infer(INFER), is_infer(3), is_infer(Var("N")), is_infer(Var("N") - Var("N") - 1)
    (True, False, False, True)
    """
    return isinstance(dim, int) and dim == INFER


class Shape(Sequence[Dim]):
    """An immutable sequence of dimensions; equal to a tuple or list of the same dimensions.

    Strings are read as the `dim_param` of an ONNX model: names or expressions. None is an unknown size, a new one each
    time. Raises NegativeSize for a known size below 0.

    >>> shape = Shape(["N", "2*N + 1", 3])
    >>> print(shape, shape.numel(), shape.evaluate(N=4))
    [N, 2*N + 1, 3] 6*N**2 + 3*N [4, 9, 3]
    >>> print(Shape([None, None, 3]))
    [`?`, `?#2`, 3]
    """

    __slots__ = ("dims",)

    dims: tuple[Dim, ...]

    def __init__(self, dims: Iterable[Dim | str | None] = ()) -> None:
        sizes = _dims(dims)
        for size in sizes:
            if isinstance(size, int) and size < 0:
                raise NegativeSize(f"the size {size!r} of an axis in {brief_list(sizes)} is negative")
        object.__setattr__(self, "dims", sizes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Shape is immutable: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Shape is immutable: {name}")

    @classmethod
    def of_input(cls, tensor: str, rank: int) -> Shape:
        """The shape of an input with only its rank known: a new variable for each axis, with its origin.

        >>> Shape.of_input("X", 2)
        Shape([X.0, X.1])
        """
        return cls(Var.fresh(f"{tensor}.{axis}", origin=InputDim(tensor, axis)) for axis in range(rank))

    @classmethod
    def parse(cls, text: str, names: Collection[str] | Mapping[str, Var] = ()) -> Shape:
        """The shape that a text `[N, 2*N + 1]` denotes; the inverse of `str`. Raises ParseError.

        shape = "[" [sum {"," sum}] "]"

        >>> Shape.parse("[N, max(N, 3), `seq len`]").rank
        3
        """
        from symdim.parsing import dims_of

        return cls(dims_of(text, names))

    def __len__(self) -> int:
        return len(self.dims)

    def __iter__(self) -> Iterator[Dim]:
        return iter(self.dims)

    @overload
    def __getitem__(self, index: int) -> Dim: ...
    @overload
    def __getitem__(self, index: slice) -> Shape: ...
    def __getitem__(self, index: int | slice) -> Dim | Shape:
        return Shape(self.dims[index]) if isinstance(index, slice) else self.dims[index]

    def __add__(self, other: Shape | tuple[Dim, ...] | list[Dim]) -> Shape:
        return Shape((*self.dims, *other)) if isinstance(other, Shape | tuple | list) else NotImplemented

    def __radd__(self, other: tuple[Dim, ...] | list[Dim]) -> Shape:
        return Shape((*other, *self.dims)) if isinstance(other, tuple | list) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Shape):
            return self.dims == other.dims
        return self.dims == tuple(other) if isinstance(other, tuple | list) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.dims)

    def __str__(self) -> str:
        """`[N, 2*N + 1]`; a variable whose name is not a plain name is in backticks."""
        return text_of_list(self.dims)

    def __repr__(self) -> str:
        return f"Shape({printable(brief_list(self.dims))})"

    def _repr_html_(self) -> str:
        from symdim.outputs import html_table

        rows = [(quoted(v.name), *v.bounds(), v.origin) for v in self.variables()]
        return html_table(self, ["symbol", "at least", "at most", "origin"], rows)

    def __reduce__(self) -> tuple[object, ...]:
        return Shape, (self.dims,)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.dims)

    @property
    def is_static(self) -> bool:
        """Whether every size is known. True for the shape of a scalar."""
        return all(isinstance(dim, int) for dim in self.dims)

    def concrete(self) -> tuple[int, ...] | None:
        """The sizes if all are known, else None."""
        return self.dims if self.is_static else None  # type: ignore[return-value]

    def numel(self) -> Dim:
        """The number of elements, the product of the sizes; 1 for a scalar."""
        return product(self.dims)

    def free_symbols(self) -> frozenset[str]:
        """The names of all variables."""
        return frozenset(variable.name for variable in self.variables())

    def variables(self) -> tuple[Var, ...]:
        """All variables, in the order of their first occurrence."""
        return variables_of(self.dims)

    def simplify(self) -> Shape:
        """This shape: dimensions are canonical from the start."""
        return self

    def evaluate(self, bindings: Bindings | None = None, /, **sizes: int) -> Shape:
        """The shape at the given sizes of all or some variables, with the errors of `Expr.evaluate`.

        Also raises NegativeSize for a result below 0 and SizeOverflow for one beyond 64 bits.
        """
        given = _merged(bindings, sizes)
        result = self._at(given)
        if given and not result.is_static:
            demand_known_names(self.variables(), given)
        return result

    def _at(self, given: Bindings) -> Shape:
        result = Shape(evaluate(dim, given) if isinstance(dim, Expr) else dim for dim in self.dims)
        for before, after in zip(self.dims, result.dims, strict=True):
            if isinstance(after, int) and after > _LARGEST:
                raise SizeOverflow(f"the size {before!r} of an axis is {after}, beyond 64 bits")
        return result

    def bind(self, bindings: Bindings | None = None, /, **sizes: int) -> Shape:
        """As `evaluate`, but all variables must have a size; raises UnboundName otherwise.

        >>> n = Var.fresh("n", 1, 100)
        >>> Shape([n, 2 * n + 1]).bind({n: 5})
        Shape([5, 11])
        """
        given = _merged(bindings, sizes)
        shape = self._at(given)
        if not shape.is_static:
            raise unbound(self.variables(), given)
        return shape

    def partial_evaluate(self, bindings: Bindings | None = None, /, **sizes: int) -> tuple[int | None, ...]:
        """Each size at the given sizes of variables; None for a size that needs others. Any names may be given."""
        shape = self._at(_merged(bindings, sizes))
        return tuple([dim if isinstance(dim, int) else None for dim in shape.dims])

    def is_fully_bound(self, bindings: Bindings | None = None, /, **sizes: int) -> bool:
        """Whether the given sizes suffice for `bind`. A static shape needs none."""
        return self._at(_merged(bindings, sizes)).is_static

    def guarantees(self, available: Collection[str] = ()) -> tuple[Guarantee, ...]:
        """The guarantee of each size; see `guarantee.py`. `available` are the tensors whose values are known."""
        from symdim.guarantee import guarantee_of

        return tuple(guarantee_of(dim, available) for dim in self.dims)

    def exact_shape(self, available: Collection[str] = ()) -> Shape | None:
        """This shape if all sizes are exact, else None."""
        from symdim.guarantee import is_exact

        return self if all(is_exact(dim, available) for dim in self.dims) else None

    def bound_shape(self, available: Collection[str] = ()) -> Shape | None:
        """The upper bounds of all sizes; None if one size has no bound.

        >>> found = Var.fresh("found", at_most=Var("N"), origin="NonZero")
        >>> Shape([found + 1, "N"]).bound_shape(), Shape([found, "N"]).exact_shape()
        (Shape([N + 1, N]), None)
        """
        bounds = [one.size for one in self.guarantees(available)]
        return None if None in bounds else Shape(bounds)

    def substitute(self, mapping: Mapping[Any, Dim]) -> Shape:
        """The shape with dimensions in place of variables, all replaced at once."""
        return Shape(dim.substitute(mapping) if isinstance(dim, Expr) else dim for dim in self.dims)

    def resolve_reshape(self, target: Iterable[Dim]) -> Shape:
        """The shape that this one takes when reshaped to `target`, in which one size may be INFER (-1).

        INFER is the exact quotient numel // (product of the others). If it is not evident that the division is exact,
        the caller must record that. Raises ReshapeError for two INFER, a size that cannot be positive, or numbers of
        elements that differ. Raises NotDivisible if the quotient leaves a remainder.

        >>> Shape(["N", 4]).resolve_reshape([INFER, 2])
        Shape([2*N, 2])
        """
        sizes = list(_dims(target))
        free = [axis for axis, size in enumerate(sizes) if isinstance(size, int) and size == INFER]
        if len(free) > 1:
            raise ReshapeError(f"more than one size of {brief_list(sizes)} is to be inferred")
        for size in sizes:
            if at_most(size, 0) and size != INFER:
                raise ReshapeError(f"a size of the target {brief_list(sizes)} is not positive: {size!r}")
        count = self.numel()
        rest = product([size for axis, size in enumerate(sizes) if axis not in free])
        if free:
            if excludes(count % rest, 0):
                raise NotDivisible(
                    f"{brief_list(self.dims)} has {count!r} elements; {brief_list(sizes)} needs a multiple of {rest!r}"
                )
            sizes[free[0]] = count // rest
        elif excludes(count - rest, 0):
            raise ReshapeError(f"{brief_list(self.dims)} has {count!r} elements, {brief_list(sizes)} has {rest!r}")
        return Shape(sizes)


def broadcast_shapes(*shapes: Iterable[Dim]) -> Shape:
    """The shape to which all shapes broadcast, by NumPy's rule, axis by axis from the right.

    In a valid run each size of an axis is 1 or the result r. So r is
        k          if one size is known to be k != 1, or is always k >= 2;
        size_of_broadcast(...)   otherwise.
    Raises BroadcastError if two sizes cannot be 1 and provably differ.

    >>> broadcast_shapes(Shape(["N", 1]), Shape([5]), Shape(["M", 1, 1]))
    Shape([M, N, 5])
    >>> broadcast_shapes(Shape(["N", 4]), Shape(["M", 1]))
    Shape([max(M, N), 4])
    """
    rows = [shape if isinstance(shape, Shape) else Shape(shape) for shape in shapes]
    rank = max((row.rank for row in rows), default=0)
    columns = [[row.dims[axis - rank] for row in rows if row.rank >= rank - axis] for axis in range(rank)]
    return Shape(_broadcast_axis(sizes, axis) for axis, sizes in enumerate(columns))


def _broadcast_axis(sizes: list[Dim], axis: int) -> Dim:
    distinct = list(dict.fromkeys(size for size in sizes if size != 1))
    certain = [size for size in distinct if excludes(size, 1)]
    for a, b in combinations(certain, 2):
        if differ(a, b):
            raise BroadcastError(f"axis {axis}: {a!r} and {b!r} differ, and neither is 1")
    if certain:
        return min(certain, key=dim_order)
    if len(distinct) < 2:
        return distinct[0] if distinct else 1
    return size_of_broadcast(*distinct)


def size_of_broadcast(*sizes: Dim) -> Dim:
    """The size r, if each of the sizes is r or 1: `max(sizes, 1) + min(sizes, 1) - 1`.

    This is the largest size, or 0 if one is 0. If no size can be 0, it is `max(sizes)`.

    >>> may_be_empty = Var.fresh("K", 0)
    >>> size_of_broadcast(Var("N"), Var("M")), size_of_broadcast(Var("N"), may_be_empty)
    (max(M, N), K - min(max(K, 1), N) + N)
    """
    is_filled = all(at_least(size, 1) for size in sizes)
    return maximum(*sizes) if is_filled else maximum(*sizes, 1) + minimum(*sizes, 1) - 1


def _dims(given: Iterable[Dim | str | None]) -> tuple[Dim, ...]:
    from symdim.parsing import sizes_of  # a program that only prints its options needs no reader

    return sizes_of(given)


def _merged(bindings: Bindings | None, sizes: dict[str, int]) -> Bindings:
    return {**(bindings or {}), **sizes}  # type: ignore[dict-item]
