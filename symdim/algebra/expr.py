"""Nodes of dimension expressions, and their operators.

A dimension (`Dim`) is an `int` or an `Expr`. Every expression is an integer polynomial

    const + sum(coefficient * monomial  for monomial, coefficient in terms)

over *monomials*: atoms (a variable, a floor division, a maximum, a minimum) and products of atoms. A monomial is an
expression too; its `_terms` are None. `x % k` is stored as `x - k*(x//k)`, so Euclid's identity holds by cancellation.
The class of a node is that of the stored form: `x % 4` is an `Add`. A reader sees the display tree, `x % 4`: match on
`e.tree()`, not on the class.

Equal canonical expressions are one object: compare them with `is` or `==`. Nodes are immutable and hash by identity. A
node has no truth value and no order; `symdim.equal` and `symdim.at_least` answer questions about values.
"""

from __future__ import annotations

from operator import index

from symdim.algebra.caches import shared_cache
from symdim.errors import SymdimError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any, TypeAlias

    from symdim.algebra import canonical, texts
    from symdim.algebra.application import Function
    from symdim.algebra.texts.tree import Tree
    from symdim.algebra.variable import Var
    from symdim.guarantee import Guarantee

    Dim: TypeAlias = "int | Expr"
    Interval: TypeAlias = tuple[int | None, int | None]
    Terms: TypeAlias = "dict[Expr, int]"  # monomial -> coefficient, never 0
    Sum: TypeAlias = tuple[Terms, int]  # the terms and the constant
    Operator: TypeAlias = Callable[["Expr", "Dim"], "Dim"]

CACHE_SIZE = 8192  # results that an operator remembers


def as_dim(value: object) -> Dim | None:
    """The value if it is a dimension, an expression or an integer of any type (NumPy's too) that is no bool; or None.

    >>> as_dim(3), as_dim(True), as_dim(3.0)
    (3, None, None)
    """
    if type(value) is int:
        return value
    if isinstance(value, Expr):
        return value
    if type(value).__name__ in ("bool", "bool_") or not hasattr(value, "__index__"):  # NumPy's was an index before 2.0
        return None
    try:
        return index(value)
    except TypeError:  # an array that is no scalar
        return None


def _operator(name: str) -> Operator:
    """The operator that `canonical` computes by this name. It remembers its last results.

    An int operand comes first in the key, so (e, 1.0) never finds (1, e).
    """
    results = shared_cache(CACHE_SIZE)
    look_up, put = results.get, dict.__setitem__  # faster than the method of `Cache`, which these calls would feel

    def computed(self: Expr, other: Dim) -> Dim:
        key = (other, self) if type(other) is int else (self, other)
        try:
            result: Dim | None = look_up(key)
        except TypeError:  # not hashable
            return NotImplemented  # type: ignore[no-any-return]
        if result is None:
            number = as_dim(other)
            if number is None:
                return NotImplemented  # type: ignore[no-any-return]
            result = getattr(canonical, name)(self, number)
            if number is other:  # the key has no other type than int, which could equal floats
                if len(results) >= CACHE_SIZE:
                    results.clear()
                put(results, key, result)
        return result

    return computed


def _reflected(name: str) -> Operator:
    """The same with the operands in the other order, of which the first one is a number."""

    def computed(self: Expr, other: Dim) -> Dim:
        left = as_dim(other)
        return NotImplemented if left is None else getattr(canonical, name)(left, self)

    return computed


class Symbolic:
    """What an expression is not: a truth value, a number, a member of an order, a quotient with a remainder.

    Python would answer some of these in silence: every object without a length is true. So each of them raises
    `TypeError` with the call that answers the question. Most of them do not exist for type checkers.
    """

    __slots__ = ()

    def _unordered(self, other: object) -> bool:
        raise TypeError("symbolic sizes have no order: use symdim.at_least(a, b), or symdim.maximum instead of max()")

    __lt__ = __le__ = __gt__ = __ge__ = _unordered

    if not TYPE_CHECKING:

        def __bool__(self):
            raise TypeError(
                f"the truth value of {self!r} is ambiguous; use symdim.equal({self!r}, 0), which is True, "
                "False or None, or `is None`"
            )

        def _no_number(self, *ignored):
            names = ", ".join(f"{name}=..." for name in sorted(self.free_symbols())[:4] if name.isidentifier())
            raise TypeError(f"{self!r} is symbolic and has no number yet; use .to_int({names or '{name: size}'})")

        __int__ = __float__ = __complex__ = __index__ = __round__ = _no_number

        def __truediv__(self, other):
            if not isinstance(other, Symbolic) and not hasattr(other, "__index__"):
                return NotImplemented
            raise TypeError(
                f"{self!r} is an integer, so / is not defined: use // (rounded down) or symdim.ceildiv (up)"
            )

        __rtruediv__ = __truediv__


class Expr(Symbolic):
    """A symbolic dimension. Operators on `Var` make it; do not call the class.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> (2 * N + 4) // 2
    N + 2
    >>> (N + 1) * (N - 1) is N**2 - 1
    True
    """

    __slots__ = (
        "__weakref__",
        "_bounds",
        "_const",
        "_fingerprint",
        "_flags",
        "_height",
        "_named",
        "_names",
        "_order",
        "_parts",
        "_terms",
        "_text",
    )

    _terms: dict[Expr, int] | None  # monomial -> coefficient, never 0; None if this node is a monomial
    _const: int
    _parts: object  # the parts of a monomial, see each class; None for a sum
    _fingerprint: int  # value of the polynomial at a fixed pseudo-random point, modulo a prime (interning.py)
    _height: int  # nesting depth of divisions, maxima and minima; 0 for a polynomial in variables
    _flags: int  # the flags of the laws that concern a monomial (polynomials.py)
    _bounds: Interval | None
    _named: int | None  # the fingerprint in which variables of one name count as one (order.py)
    _names: tuple[str, ...] | None
    _order: tuple[object, ...] | None
    _text: str | None

    def __new__(cls, *args: object, **kwargs: object) -> Expr:
        raise TypeError(f"{cls.__name__} nodes are made by operators and functions, not directly")

    def tree(self) -> Tree:
        """What a reader sees: a variable, an int, or a tuple `Operation`, `Product` or `Sum` of further dimensions.

        >>> from symdim import Var
        >>> K, M, N = Var("K"), Var("M"), Var("N")
        >>> (N % 4).tree()
        Operation(operator='%', operands=(N, 4))
        >>> (2 * N * (M + 1) * (K + 3)).tree()
        Product(coefficient=2, powers=((N, 1), (K + 3, 1), (M + 1, 1)))
        """
        return texts.tree_of(self)

    __add__ = __radd__ = _operator("add")
    __sub__ = _operator("subtract")
    __rsub__ = _reflected("subtract")
    __mul__ = __rmul__ = _operator("multiply")
    __floordiv__ = _operator("floordiv")
    __rfloordiv__ = _reflected("floordiv")
    __mod__ = _operator("mod")
    __rmod__ = _reflected("mod")

    def __divmod__(self, other: Dim) -> tuple[Dim, Dim]:
        return self // other, self % other

    def __rdivmod__(self, other: int) -> tuple[Dim, Dim]:
        return other // self, other % self

    def __pow__(self, exponent: int) -> Dim:
        number = as_dim(exponent)
        if not isinstance(number, int):
            return NotImplemented
        if number < 0:
            raise SymdimError(f"the exponent of {self!r} is negative: {number}")
        return canonical.power(self, number)

    def __neg__(self) -> Dim:
        return self * -1

    def __pos__(self) -> Dim:
        return self

    def __str__(self) -> str:
        return self._text or texts.to_text(self)

    def __repr__(self) -> str:
        return printable(texts.brief(self))

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: object) -> Expr:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return canonical.reduced(self)

    def bounds(self) -> Interval:
        """`(lo, hi)` with `lo <= self <= hi` for all values of the variables; None is unbounded or not known."""
        return canonical.bounds_of(self)

    def variables(self) -> tuple[Var, ...]:
        """All variables, in the order of their first occurrence."""
        return canonical.variables_of(self)

    def free_symbols(self) -> frozenset[str]:
        """The names of all variables."""
        return frozenset(v.name for v in canonical.variables_of(self))

    def evaluate(self, bindings: Mapping[Any, int | Callable[..., int]] | None = None, /, **sizes: int) -> Dim:
        """The value for the given sizes, by name or variable; an `Expr` if some are not given.

        Names that do not occur are ignored if all variables have a size. Else they may be misspelt, so they raise
        `UnboundName`. A `Function` as a key gives what computes its values. Raises `BoundsError` for a size outside the
        bounds of its variable and `DivisionByZero` where a divisor is 0.

        >>> from symdim import Var
        >>> (Var("H") // 2 + Var("W")).evaluate(H=7)
        W + 3
        """
        return canonical.evaluated(self, bindings or {}, sizes)

    def to_int(self, bindings: Mapping[Any, int | Callable[..., int]] | None = None, /, **sizes: int) -> int:
        """The value for the given sizes. Raises `UnboundName` with all names that have none."""
        return canonical.to_int(self, {**(bindings or {}), **sizes} if sizes else bindings or {})

    def substitute(self, by: Mapping[Any, Dim | Function | Callable[..., int]] | None = None, /, **sizes: Dim) -> Dim:
        """The expression with dimensions in place of variables, by name too, all at once (so a swap works).

        Raises `BoundsError` for a dimension that is provably outside the bounds of its variable.
        """
        return canonical.substitute(self, {**(by or {}), **sizes} if sizes or by is None else by)

    def max(self, *others: Dim) -> Dim:
        """The greatest of this size and others: `symdim.maximum`.

        >>> from symdim import Var
        >>> (Var("S") - 3).max(1), Var("S").min(8, 5)
        (max(S, 4) - 3, min(S, 5))
        """
        return canonical.maximum(self, *others)

    def min(self, *others: Dim) -> Dim:
        """The least of this size and others: `symdim.minimum`."""
        return canonical.minimum(self, *others)

    def guarantee(self, available: Collection[str] = ()) -> Guarantee:
        """How well this size is known: exactly, at most an expression, or not at all; see `guarantee.py`.

        >>> from symdim import Var
        >>> print((2 * Var.fresh("found", at_most=Var("N"), origin="NonZero")).guarantee())
        <=2*N
        """
        from symdim import guarantee_of

        return guarantee_of(self, available)

    def as_exact(self, available: Collection[str] = ()) -> Dim | None:
        """This size if it is exact, else None."""
        guarantee = self.guarantee(available)
        return guarantee.size if guarantee.kind == "exact" else None

    def bound_expr(self, available: Collection[str] = ()) -> Dim | None:
        """This size if it is exact, its upper bound if there is one, else None."""
        return self.guarantee(available).size

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __abs__(self) -> Dim:
        return canonical.maximum(self, -self)

    def __floor__(self) -> Dim:
        return self

    __ceil__ = __trunc__ = __floor__


class Add(Expr):
    """A sum of several terms, or of a term and a number."""

    __slots__ = ()


class Mul(Expr):
    """A product of atoms, of which `_parts` is a dict {atom: exponent} in structural order; or a multiple."""

    __slots__ = ()


class FloorDiv(Expr):
    """A floor division; `_parts` is (numerator, divisor)."""

    __slots__ = ()
    _parts: tuple[Dim, Dim]


class Extremum(Expr):
    """The greatest or the least of at least two sizes."""

    __slots__ = ()
    _parts: tuple[Dim, ...]


class Max(Extremum):
    """The greatest of at least two sizes."""

    __slots__ = ()


class Min(Extremum):
    """The least of at least two sizes."""

    __slots__ = ()
