"""The display tree: the parts a node reads as. The printer and users who match nodes see only this."""

from __future__ import annotations

from symdim.expr import Add, Expr, FloorDiv, Max, Mul
from symdim.monomial import powers_of, terms_of
from symdim.order import dim_order
from symdim.polynomial import constant, scale, sum_of
from symdim.reading import Pattern, patterns, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.expr import Dim


def as_node(dim: Dim) -> Expr:
    """A dimension as a node; an int becomes a `Const` leaf."""
    return constant(dim) if isinstance(dim, int) else dim


def args_of(node: Expr) -> tuple[Expr, ...]:
    """The parts of a node as it reads.

    >>> from symdim import Var, minimum
    >>> N, x = Var("N"), Var("x")
    >>> (N + x % 4).args, (2 * N * x**2).args, minimum(N, 5).args
    ((N, x % 4), (2, N, x, x), (N, 5))
    """
    kind = type(node)
    if kind is Add:
        return _summands(node)
    if kind is Mul:
        coefficient, powers = factors_of(node)
        expanded = [base for base, exponent in powers for _ in range(exponent)]
        return (*([] if coefficient == 1 else [constant(coefficient)]), *expanded)
    if isinstance(node, (FloorDiv, Max)):
        return tuple([as_node(part) for part in node.parts])
    if not node.terms:
        return ()
    pattern = whole(node.terms, node.const)
    assert pattern is not None
    return _operands(pattern)


def factors_of(node: Expr) -> tuple[int, list[tuple[Expr, int]]]:
    """A product as (coefficient, [(base, exponent), ...])."""
    terms, const = terms_of(node)
    if len(terms) == 1 and const == 0:
        ((unit, coefficient),) = terms.items()
        return coefficient, _atoms(unit)
    pattern = whole(terms, const)
    if pattern is None or type(node) is not Mul:
        return 1, [(node, 1)]
    core = sum_of(dict(pattern.core_terms), pattern.core_const)
    return pattern.coefficient, [*_atoms(pattern.unit), (as_node(core), 1)]


def _atoms(unit: Expr | None) -> list[tuple[Expr, int]]:
    """Sums of several terms first, the longest before the others: multiplied in this order they stay factored."""
    powers = powers_of(unit).items()
    if len(powers) <= 1:
        return list(powers)
    return sorted(powers, key=lambda p: (-len(p[0].terms or ()), dim_order(p[0])))


def _operands(pattern: Pattern) -> tuple[Expr, ...]:
    operands = [sum_of(dict(terms), const) for terms, const in pattern.operands]
    if len(operands) > 2 or pattern.kind.__name__ == "Min":
        operands.sort(key=dim_order)
    return tuple([as_node(operand) for operand in operands])


def _summands(node: Expr) -> tuple[Expr, ...]:
    """The terms and patterns of a sum in structural order; the constant last, but the first term positive if any is."""
    terms, const = terms_of(node)
    if any([unit.height for unit in terms]):
        found, terms, const = patterns(terms, const)
    else:
        found = []
    signed = [(scale(unit, k), k > 0) for unit, k in terms.items()]
    signed += [(sum_of(dict(p.terms), p.const), p.coefficient > 0) for p in found]
    signed.sort(key=lambda pair: dim_order(pair[0]))
    if const:
        signed.append((const, const > 0))
    if not signed[0][1]:
        first = next((i for i, (_, positive) in enumerate(signed) if positive), 0)
        signed.insert(0, signed.pop(first))
    return tuple([as_node(dim) for dim, _ in signed])
