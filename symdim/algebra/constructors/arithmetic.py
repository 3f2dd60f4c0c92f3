"""Sums, products and powers in canonical form.

Sums with maxima, minima and halves get their shortest form in `complements.py`.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.constructors import complements
from symdim.algebra.expr import Expr, Mul, as_dim
from symdim.algebra.interning import PRIME, find_sum
from symdim.algebra.order import dim_order, leading
from symdim.algebra.polynomials import (
    accumulate,
    has_sum_factor,
    new_sum,
    powers_of,
    terms_of,
    times,
    unit_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeGuard

    from symdim.algebra.expr import Dim, Terms

MAX_TERMS = 256  # a product with more terms stays factored
MAX_PAIRS = 16 * MAX_TERMS  # the most pairs of terms that are multiplied


def sum_of(terms: Terms, const: int, fingerprint: int | None = None) -> Dim:
    """The canonical dimension `const + sum(coefficient*unit)`. The dict has no zeros and belongs to the node."""
    if not terms:
        return const
    if const == 0 and len(terms) == 1:
        ((unit, coefficient),) = terms.items()
        if coefficient == 1:
            return unit
    if fingerprint is None:
        fingerprint = const
        for unit, coefficient in terms.items():
            fingerprint += coefficient * unit._fingerprint
        fingerprint %= PRIME
    live = find_sum(fingerprint, terms, const)
    if live is not None:
        return live
    height = flags = 0
    for unit in terms:
        if unit._height > height:
            height = unit._height
        flags |= unit._flags
    if flags and (const or len(terms) > 1):
        short = complements.shortest(terms, const)
        if short is not None:
            return sum_of(*short)
    return new_sum(terms, const, fingerprint, height)


def add(a: Dim, b: Dim) -> Dim:
    """a + b."""
    if isinstance(b, int):
        if isinstance(a, int):
            return a + b
        if b == 0:
            return a
        terms = {a: 1} if a._terms is None else dict(a._terms)
        return sum_of(terms, a._const + b, (a._fingerprint + b) % PRIME)
    if isinstance(a, int):
        return add(b, a)
    terms = {a: 1} if a._terms is None else dict(a._terms)
    for unit, coefficient in ((b, 1),) if b._terms is None else b._terms.items():
        value = terms.get(unit, 0) + coefficient
        if value:
            terms[unit] = value
        else:
            del terms[unit]
    return sum_of(terms, a._const + b._const, (a._fingerprint + b._fingerprint) % PRIME)


def subtract(a: Dim, b: Dim) -> Dim:
    """a - b."""
    if isinstance(b, int):
        return add(a, -b)
    terms, const = terms_of(a)
    terms = dict(terms)
    b_terms, b_const = terms_of(b)
    accumulate(terms, b_terms, -1)
    return sum_of(terms, const - b_const)


def scale(a: Dim, k: int) -> Dim:
    """k * a for an integer k."""
    if isinstance(a, int):
        return k * a
    if k == 0:
        return 0
    if k == 1:
        return a
    terms = {a: k} if a._terms is None else {unit: k * c for unit, c in a._terms.items()}
    return sum_of(terms, k * a._const, k * a._fingerprint % PRIME)


def total(dims: Iterable[Dim]) -> Dim:
    """The sum of many dimensions, in linear time.

    >>> from symdim import Var, total
    >>> total([Var("N"), 3, Var("N")])
    2*N + 3
    """
    terms: Terms = {}
    const = 0
    for dim in dims:
        if type(dim) is int:
            const += dim
            continue
        added, offset = terms_of(checked(dim))
        accumulate(terms, added)
        const += offset
    return sum_of(terms, const)


def checked(dim: Dim) -> Dim:
    """The dimension, a leaf and an integer of another type as an int. Raises `TypeError` for anything else."""
    number = as_dim(dim)
    if number is None:
        cure = f": write Var({dim!r:.60}) or parse({dim!r:.60})" if isinstance(dim, str) else ""
        raise TypeError(f"a dimension is an int or an Expr, not {dim!r:.60}{cure}")
    return number


def multiply(a: Dim, b: Dim) -> Dim:
    """a * b, expanded unless that gives more than 256 terms."""
    if isinstance(b, int):
        return scale(a, b)
    if isinstance(a, int):
        return scale(b, a)
    if a._terms is None and b._terms is None:
        unit = times(a, b)
        assert unit is not None
        return unit
    a_terms, a_const = terms_of(a)
    b_terms, b_const = terms_of(b)
    a_size, b_size = len(a_terms) + (a_const != 0), len(b_terms) + (b_const != 0)
    if a_size > 1 and b_size > 1:
        if a_size * b_size > MAX_PAIRS:
            return _factored(a, b)
    elif a_size + b_size > 2:
        single = a_terms if a_size == 1 else b_terms
        if any(has_sum_factor(unit) for unit in single):
            return _factored(a, b)
    terms: Terms = {}
    for unit, coefficient in a_terms.items():
        accumulate(terms, b_terms, coefficient, unit)
    if b_const:
        accumulate(terms, a_terms, b_const)
    if a_const:
        accumulate(terms, b_terms, a_const)
    if len(terms) > MAX_TERMS and a_size > 1 and b_size > 1:
        return _factored(a, b)
    return sum_of(terms, a_const * b_const, a._fingerprint * b._fingerprint % PRIME)


def _primitive(a: Expr) -> tuple[int, Expr]:
    """(c, p) with a == c*p. The coefficients of p have no common factor, and the leading one is positive."""
    terms, const = terms_of(a)
    content = gcd(const, *terms.values())
    if terms[leading(terms)] < 0:
        content = -content
    part = sum_of({u: c // content for u, c in terms.items()}, const // content)
    assert isinstance(part, Expr)
    return content, part


def _factored(*dims: Expr) -> Dim:
    """The product as a unit in which sums of several terms are atoms."""
    content = 1
    powers: dict[Expr, int] = {}
    for dim in dims:
        number, part = _primitive(dim)
        content *= number
        for atom, exponent in powers_of(part).items():
            powers[atom] = powers.get(atom, 0) + exponent
    unit = unit_of(powers)
    assert unit is not None
    return scale(unit, content)


def _is_single(a: Dim) -> TypeGuard[Expr]:
    return isinstance(a, Expr) and (a._terms is None or (len(a._terms) == 1 and a._const == 0))


def power(a: Dim, k: int) -> Dim:
    """a**k for k >= 0, expanded unless that gives too many terms."""
    if isinstance(a, int):
        return int(a**k)
    if k == 0:
        return 1
    content, part = _primitive(a)
    if _is_single(a):
        raised = unit_of({atom: e * k for atom, e in powers_of(part).items()})
        assert raised is not None
        return sum_of({raised: content**k}, 0)
    if _least_terms(part, k) <= MAX_TERMS:
        result: Dim = a
        for done in range(2, k + 1):
            result = multiply(result, a)
            if _is_single(result) and (done < k or any(map(has_sum_factor, terms_of(result)[0]))):
                break
        else:
            return result
    raised = unit_of({part: k})  # too many terms: it stays as written, and is read as itself
    assert raised is not None
    return scale(raised, content**k)


def _least_terms(a: Expr, k: int) -> int:
    """The power a**k has at least so many terms.

    In an ordered group two finite sets have |A + B| >= |A| + |B| - 1, so m monomials have at least k*(m - 1) + 1
    products of k factors. They do not cancel if all coefficients have one sign, or if there are two monomials. Laws of
    quotients and remainders may shorten a sum, so nothing is said of these.
    """
    terms, const = terms_of(a)
    count = len(terms) + (const != 0)
    signs = {c > 0 for c in (*terms.values(), const) if c}
    if len(signs) > 1 and count > 2:
        return 0
    return k * (count - 1) + 1 - (const != 0)


def product(dims: Iterable[Dim]) -> Dim:
    """The product of many dimensions. Single terms take linear time; then the sums follow, the longest one last.

    >>> from symdim import Var, product
    >>> product([Var("B"), 2, Var("S") + 1])
    2*B*S + 2*B
    """
    coefficient = 1
    powers: dict[Expr, int] = {}
    sums: list[Expr] = []
    for dim in dims:
        if type(dim) is int:
            coefficient *= dim
            continue
        dim = checked(dim)
        if isinstance(dim, int):
            coefficient *= dim
            continue
        unit = dim
        if dim._terms is not None:
            if dim._const or len(dim._terms) > 1:
                sums.append(dim)
                continue
            ((unit, number),) = dim._terms.items()
            coefficient *= number
        if type(unit) is Mul:
            for atom, exponent in powers_of(unit).items():
                powers[atom] = powers.get(atom, 0) + exponent
        else:
            powers[unit] = powers.get(unit, 0) + 1
    single = unit_of(powers)
    result: Dim = coefficient if single is None or not coefficient else sum_of({single: coefficient}, 0)
    if not sums:
        return result
    factors = sorted(sums, key=lambda dim: (len(terms_of(dim)[0]), dim_order(dim)))
    for i, factor in enumerate(factors):
        if _is_single(result) and has_sum_factor(next(iter(terms_of(result)[0]))):
            return _factored(result, *factors[i:])  # what stays factored takes up the rest at once
        result = multiply(result, factor)
    return result
