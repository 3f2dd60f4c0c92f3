"""Polynomials: products of atoms, which are the units, and sums of these, as they stand.

Of units, None stands for the empty product, 1. A sum is here a dict {unit: coefficient} and a constant, or the node of
one; constructors/arithmetic.py makes the nodes whose form is canonical.
"""

from __future__ import annotations

from symdim.algebra.caches import shared_cache
from symdim.algebra.expr import CACHE_SIZE, Add, Expr, Mul
from symdim.algebra.interning import PRIME, find_unit, publish
from symdim.algebra.order import sorted_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from symdim.algebra.expr import Dim, Interval, Terms

    A = TypeVar("A", bound=Expr)
    Powers = dict[Expr, int]

EXTREMUM, EVEN = 1, 2
"""The flags of a unit: it has a maximum or minimum as a factor, or a division by an even number."""

_products = shared_cache(CACHE_SIZE)


def powers_of(unit: Expr | None) -> Powers:
    """The atoms of a unit with their exponents, all >= 1, in structural order. Callers must not change the dict."""
    if unit is None:
        return {}
    return unit._parts if type(unit) is Mul and unit._terms is None else {unit: 1}  # type: ignore[return-value]


def unit_of(powers: Powers) -> Expr | None:
    """The product of atoms to the given exponents. A sum as an atom stays unexpanded. The dict belongs to the node."""
    fingerprint = 1
    for atom, exponent in powers.items():
        if exponent == 1:
            if len(powers) == 1:
                return atom
            fingerprint = fingerprint * atom._fingerprint % PRIME
        else:
            fingerprint = fingerprint * pow(atom._fingerprint, exponent, PRIME) % PRIME
    if not powers:
        return None
    live = find_unit(fingerprint, Mul, powers)
    return _new_unit(powers, fingerprint) if live is None else live


def _new_unit(powers: Powers, fingerprint: int) -> Expr:
    if len(powers) > 1:  # sorted, because a live node serves later inferences, too
        powers = {atom: powers[atom] for atom in sorted_units(powers)}
    node: Mul = object.__new__(Mul)
    node._terms = None
    node._const = 0
    node._parts = powers
    node._fingerprint = fingerprint
    node._bounds = node._order = node._names = node._named = node._text = None
    height = 0
    for atom in powers:
        if atom._terms is not None:
            height = max(height, 1 + atom._height)
        elif atom._height > height:
            height = atom._height
    node._height = height
    node._flags = 0
    for atom in powers:
        node._flags |= atom._flags
    return publish(node)


def times(u: Expr | None, v: Expr | None) -> Expr | None:
    """The product of two units."""
    if u is None:
        return v
    if v is None:
        return u
    product: Expr | None = _products.get((u, v))
    if product is None:
        product = _products.get((v, u))
        product = _products[u, v] = _merged(u, v) if product is None else product
    return product


def _merged(u: Expr, v: Expr) -> Expr:
    powers = dict(powers_of(u))
    for atom, exponent in powers_of(v).items():
        powers[atom] = powers.get(atom, 0) + exponent
    product = unit_of(powers)
    assert product is not None
    return product


def divides(v: Expr | None, u: Expr | None) -> bool:
    """Whether u == v*w for some unit w or 1."""
    if v is None or u is v:
        return True
    powers = powers_of(u)
    if type(v) is not Mul:
        return v in powers
    return all(powers.get(atom, 0) >= exponent for atom, exponent in powers_of(v).items())


def exact_quotient(u: Expr | None, v: Expr | None) -> Expr | None:
    """The w with u == v*w; v must divide u."""
    if v is None or u is v:
        return u if v is None else None
    powers = dict(powers_of(u))
    for atom, exponent in powers_of(v).items():
        if powers[atom] == exponent:
            del powers[atom]
        else:
            powers[atom] -= exponent
    return unit_of(powers)


def has_sum_factor(unit: Expr) -> bool:
    """Whether the unit has a factor that is an unexpanded sum."""
    return unit._height > 0 and any(atom._terms is not None for atom in powers_of(unit))


def terms_of(dim: Dim) -> tuple[dict[Expr, int], int]:
    """A dimension as ({unit: coefficient}, constant). Callers must not change the dict."""
    if isinstance(dim, int):
        return {}, dim
    return ({dim: 1}, 0) if dim._terms is None else (dim._terms, dim._const)


def height_of(node: Dim) -> int:
    """The nesting depth of divisions, maxima and minima in a dimension; 0 for a polynomial in variables."""
    return 0 if isinstance(node, int) else node._height


def has_extrema(dim: Dim) -> bool:
    """Whether a term of a sum has a maximum or minimum as a factor."""
    return any(unit._flags & EXTREMUM for unit in terms_of(dim)[0])


def accumulate(total: dict[Expr, int], terms: dict[Expr, int], factor: int = 1, unit: Expr | None = None) -> None:
    """Add `factor * unit * terms` to `total` in place."""
    for u, coefficient in terms.items():
        if unit is not None:
            u = times(u, unit)  # type: ignore[assignment]
        value = total.get(u, 0) + factor * coefficient
        if value:
            total[u] = value
        else:
            del total[u]


def new_atom(kind: type[A], parts: tuple[Dim, ...], fingerprint: int, bounds: Interval, flags: int = 0) -> A:
    """An atom over an ordered tuple of dimensions, which is still to be published."""
    node = object.__new__(kind)
    node._terms = None
    node._const = 0
    node._parts = parts
    node._fingerprint = fingerprint
    node._height = 1 + max([height_of(part) for part in parts], default=0)
    node._flags = flags
    node._bounds = bounds
    node._names = node._order = node._named = node._text = None
    return node


def new_sum(terms: Terms, const: int, fingerprint: int, height: int) -> Expr:
    """The node of a sum that is not a live one, and no unit."""
    node: Expr = object.__new__(Add if const or len(terms) > 1 else Mul)
    node._terms = terms
    node._const = const
    node._fingerprint = fingerprint
    node._height = height
    node._flags = 0
    node._parts = node._bounds = node._names = node._named = node._order = node._text = None
    return publish(node)
