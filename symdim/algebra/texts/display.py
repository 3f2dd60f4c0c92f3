"""The display tree: the parts that a node is printed with. The printer and users who match nodes see only this."""

from __future__ import annotations

from operator import itemgetter

from symdim.algebra.divisions.signs import is_opposite
from symdim.algebra.expr import Add, Expr, Extremum, FloorDiv, Mul
from symdim.algebra.order import dim_order, leading, order
from symdim.algebra.sums.monomial import powers_of, terms_of
from symdim.algebra.sums.polynomial import constant, multiply, power, scale, sum_of
from symdim.algebra.texts.factoring import factored
from symdim.algebra.texts.patterns import Pattern, disjoint, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim

    Product = tuple[int, list[tuple[Expr, int]]]


def as_node(dim: Dim) -> Expr:
    """A dimension as a node; an int becomes a `Const` leaf."""
    return constant(dim) if isinstance(dim, int) else dim


def args_of(node: Expr) -> tuple[Expr, ...]:
    """The parts that a node is printed with.

    >>> from symdim import Var, minimum
    >>> N, x = Var("N"), Var("x")
    >>> (N + x % 4).args, (2 * N * x**2).args, minimum(N, 5).args
    ((N, x % 4), (2, N, x, x), (N, 5))
    """
    kind = type(node)
    if kind is Add:
        return tuple([_node_of(product) for product in summands_of(node)])
    if kind is Mul:
        coefficient, powers = factors_of(node)
        expanded = [base for base, exponent in powers for _ in range(exponent)]
        return (*([] if coefficient == 1 else [constant(coefficient)]), *expanded)
    return tuple([as_node(dim) for dim in operands_of(node)])


def operands_of(node: Expr) -> tuple[Dim, ...]:
    """The operands of a division, remainder, minimum or maximum; none of a leaf."""
    if isinstance(node, (FloorDiv, Extremum)) and node.terms is None:
        n, d, *_ = parts = node.parts
        if isinstance(node, FloorDiv) and isinstance(d, Expr) and is_opposite(d):
            return scale(n, -1), scale(d, -1)
        return parts
    if not node.terms:
        return ()
    pattern = whole(node.terms, node.const)
    assert pattern is not None
    return tuple([sum_of(dict(terms), const) for terms, const in pattern.operands])


def factors_of(node: Expr) -> Product:
    """A product as (coefficient, [(base, exponent), ...])."""
    terms, const = terms_of(node)
    if len(terms) == 1 and const == 0:
        ((unit, coefficient),) = terms.items()
        return coefficient, _atoms(unit)
    pattern = whole(terms, const)
    if pattern is None or type(node) is not Mul:
        return 1, [(node, 1)]
    return pattern.coefficient, _factors(pattern)


def _factors(pattern: Pattern) -> list[tuple[Expr, int]]:
    core = sum_of(dict(pattern.core_terms), pattern.core_const)
    return [*_atoms(pattern.unit), (as_node(core), 1)]


def _atoms(unit: Expr | None) -> list[tuple[Expr, int]]:
    """The factors of a unit. Long sums come first: multiplied in this order they stay factored."""
    if type(unit) is not Mul:
        return [] if unit is None else [(unit, 1)]
    powers = powers_of(unit).items()
    return list(powers) if len(powers) == 1 else sorted(powers, key=lambda p: (-len(p[0].terms or ()), dim_order(p[0])))


def summands_of(node: Expr) -> list[Product]:
    """The terms and patterns of a sum in structural order, but with a positive one first, and the constant last."""
    terms, const = terms_of(node)
    found: list[Pattern] = []
    if node.height:
        found, terms, const = disjoint(terms, const)
    if not found:
        units = sorted(terms, key=order) if len(terms) > 1 else terms
        signed = [(terms[unit], _atoms(unit)) for unit in units]
    else:
        keyed = [(order(unit), k, _atoms(unit)) for unit, k in terms.items()]
        keyed += [(order(leading(p.terms)), p.coefficient, _factors(p)) for p in found]
        signed = [(k, powers) for _, k, powers in sorted(keyed, key=itemgetter(0))]
    if const:
        signed.append((const, []))
    if signed[0][0] < 0:
        first = next((i for i, (k, _) in enumerate(signed) if k > 0), 0)
        signed.insert(0, signed.pop(first))
    return signed


def product_of(node: Expr) -> Product | None:
    """A sum as a product; None if it is none. See factoring.py."""
    found = factored(node)
    if found is None:
        return None
    coefficient, unit, sums = found
    return coefficient, [*_atoms(unit), *[(factor, 1) for factor in sums]]


def _node_of(product: Product) -> Expr:
    coefficient, powers = product
    if not powers:
        return constant(coefficient)
    result: Dim = coefficient
    for base, exponent in powers:
        result = multiply(result, power(base, exponent))
    return as_node(result)
