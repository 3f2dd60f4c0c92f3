"""The display tree: how a reader sees an expression. Texts, also in other languages, are read off it.

    tree       = Var | int | Application | Operation | Product | Sum
    Application  a function of arguments: the node itself
    Operation    "//", "%", "max" or "min" of operands
    Product      a number times powers
    Sum          the terms, which are products

The operands of an operation and the bases of powers are expressions with trees of their own, so shared parts stay
shared. A base may also be an operation that is no expression: `min(w, x + y) - x` is seen as `min(w - x, y)`.

The trees of this file show the stored polynomial. `display.tree_of` chooses the shortest tree.
"""

from __future__ import annotations

from operator import itemgetter

from symdim.algebra.application import Application
from symdim.algebra.constructors.arithmetic import product, scale, sum_of
from symdim.algebra.constructors.extrema import maximum, minimum
from symdim.algebra.constructors.floordiv import floordiv, mod
from symdim.algebra.constructors.numerators import is_opposite
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max, Mul
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.order import dim_order, leading, order
from symdim.algebra.polynomials import powers_of
from symdim.algebra.texts.remainders import Remainder, as_remainder, remainders_in
from symdim.algebra.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, TypeAlias

    from symdim.algebra.expr import Dim

    Operator: TypeAlias = Literal["//", "%", "max", "min"]
    Part: TypeAlias = "Dim | Operation"
    Power: TypeAlias = "tuple[Expr | Operation, int]"
    Tree: TypeAlias = "Var | int | Application | Operation | Product | Sum"


class Operation(NamedTuple):
    """A floor division, remainder, maximum or minimum of operands."""

    operator: Operator
    operands: tuple[Dim, ...]


class Product(NamedTuple):
    """`coefficient` times powers, which are pairs (base, exponent). Without powers it is a number."""

    coefficient: int
    powers: tuple[Power, ...] = ()

    def factors(self) -> list[Dim]:
        """The number, unless it is 1, and the bases, each as often as its exponent says.

        >>> from symdim import Var
        >>> N, x = Var("N"), Var("x")
        >>> (2 * N * x**2).tree().factors()
        [2, N, x, x]
        """
        bases = [value_of(base) for base, exponent in self.powers for _ in range(exponent)]
        return bases if self.coefficient == 1 and bases else [self.coefficient, *bases]


class Sum(NamedTuple):
    """A sum of products."""

    terms: tuple[Product, ...]


_FUNCTIONS: dict[Operator, Callable[..., Dim]] = {"//": floordiv, "%": mod, "max": maximum, "min": minimum}


def stored_tree(node: Expr) -> Tree:
    """The tree of the stored form as it is: `x % 4` is `x - 4*(x//4)`. It is the fastest to make.

    Terms are in structural order, but a positive one comes first, and the constant last.
    """
    if isinstance(node, Var | Application):
        return node
    if isinstance(node, FloorDiv):
        n, d = node._parts
        opposite = isinstance(d, Expr) and is_opposite(d)
        return Operation("//", (scale(n, -1), scale(d, -1)) if opposite else (n, d))
    if isinstance(node, Extremum):
        return Operation("max" if isinstance(node, Max) else "min", node._parts)
    terms, const = node._terms, node._const
    if terms is None:
        return Product(1, factors_of(node))
    if not terms:
        return const
    monomials = sorted(terms, key=order) if len(terms) > 1 else terms
    products = [Product(terms[monomial], factors_of(monomial)) for monomial in monomials]
    return _sum(products, const) if const or len(terms) > 1 else products[0]


def plain_tree(node: Expr) -> Tree:
    """The tree of the stored form with its remainders: `x % 4`."""
    terms, const = node._terms, node._const
    if not node._height or terms is None or (len(terms) == 1 and const == 0):
        return stored_tree(node)
    remainders, rest, const = remainders_in(node)
    if not remainders:
        return stored_tree(node)
    if not (rest or const or len(remainders) > 1):
        whole = as_remainder(node)
        return _product(remainders[0]) if whole is None else Operation("%", whole)
    products = [(order(monomial), Product(k, factors_of(monomial))) for monomial, k in rest.items()]
    products += [(order(leading(remainder.terms)), _product(remainder)) for remainder in remainders]
    return _sum([product for _, product in sorted(products, key=itemgetter(0))], const)


def _sum(terms: list[Product], const: int) -> Sum:
    if const:
        terms.append(Product(const))
    if terms[0].coefficient < 0:
        first = next((i for i, term in enumerate(terms) if term.coefficient > 0), 0)
        terms.insert(0, terms.pop(first))
    return Sum(tuple(terms))


def _product(remainder: Remainder) -> Product:
    terms, const = remainder.core
    core = sum_of(dict(terms), const)
    assert isinstance(core, Expr)
    return Product(remainder.coefficient, (*factors_of(remainder.monomial), (core, 1)))


def factors_of(monomial: Expr | None) -> tuple[tuple[Expr, int], ...]:
    """The factors of a monomial. Long sums come first: multiplied in this order they stay factored."""
    if type(monomial) is not Mul or monomial._terms is not None:
        return () if monomial is None else ((monomial, 1),)
    powers = powers_of(monomial).items()
    if len(powers) > 1:
        return tuple(sorted(powers, key=lambda p: (-len(p[0]._terms or ()), dim_order(p[0]))))
    return tuple(powers)


def terms_in(tree: Tree) -> tuple[Product, ...]:
    """The terms of a tree as a sum."""
    if isinstance(tree, Sum):
        return tree.terms
    if isinstance(tree, Product):
        return (tree,)
    return (Product(tree) if isinstance(tree, int) else Product(1, ((tree, 1),)),)


def dims_in(tree: Tree) -> list[Dim]:
    """The dimensions that a tree is made of: operands and bases; none of a variable or number."""
    if isinstance(tree, Application):
        return list(tree._parts)
    if isinstance(tree, Operation):
        return list(tree.operands)
    if not isinstance(tree, Product | Sum):
        return []
    bases = [base for term in terms_in(tree) for base, _ in term.powers]
    return [dim for base in bases for dim in (base.operands if isinstance(base, Operation) else (base,))]


def value_of(part: Part | Product) -> Dim:
    """The dimension that an operation or product is."""
    if isinstance(part, Operation):
        return _FUNCTIONS[part.operator](*part.operands)
    return product(part.factors()) if isinstance(part, Product) else part
