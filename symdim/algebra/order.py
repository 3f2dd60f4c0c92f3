"""The structural order of monomials and dimensions: total, the same in every process, and a monomial order.

Monomials are compared by degree (higher first), then lexicographically by their atoms' exponents, atoms being sorted by
variable names, kind, and content. That is a graded lexicographic monomial order: `u < v` implies `u*w < v*w`.
Numbers in the content count before fingerprints, which depend on the names: so sums of clamps of one size have the
same form whatever its name is.
"""

from __future__ import annotations

from math import prod

from symdim.algebra.application import Application
from symdim.algebra.expr import Extremum, FloorDiv, Max, Mul
from symdim.algebra.interning import PRIME, sequence_fingerprint, text_fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from symdim.algebra.application import Function
    from symdim.algebra.expr import Dim, Expr

_NAMES = 8  # the most names of a monomial in its key, so that keys have a constant size


def names_of(node: Dim) -> tuple[str, ...]:
    """The first variable names of a dimension in alphabetical order."""
    if isinstance(node, int):
        return ()
    stack = [] if node._names is not None else [node]
    while stack:
        inner: Collection[Dim] = stack[-1]._parts if stack[-1]._terms is None else stack[-1]._terms  # type: ignore[assignment]
        parts = [part for part in inner if not isinstance(part, int)]
        missing = [part for part in parts if part._names is None]
        if missing:
            stack += missing
        else:
            names = {name for part in parts for name in part._names or ()}
            stack.pop()._names = tuple(sorted(names)[:_NAMES])
    return node._names  # type: ignore[return-value]


def named_fingerprint(node: Expr) -> int:
    """The fingerprint of an expression in which variables of one name count as one.

    It does not depend on the order in which they were made. So an order by it is the same in every process.
    """
    stack = [] if node._named is not None else [node]
    while stack:
        top = stack[-1]
        inner: Collection[Dim] = top._parts if top._terms is None else top._terms  # type: ignore[assignment]
        missing = [part for part in inner if not isinstance(part, int) and part._named is None]
        if missing:
            stack += missing
            continue
        stack.pop()
        if top._terms is not None:
            total = sum([k * (monomial._named or 0) for monomial, k in top._terms.items()])
            top._named = (top._const + total) % PRIME
        elif isinstance(top._parts, dict):
            top._named = prod([pow(atom._named, exponent, PRIME) for atom, exponent in top._parts.items()]) % PRIME
        else:
            numbers = tuple([part if isinstance(part, int) else part._named for part in inner])
            top._named = sequence_fingerprint(kind_number(top), numbers)  # type: ignore[arg-type]
    return node._named  # type: ignore[return-value]


def kind_number(atom: Expr) -> int:
    """The number of an atom's kind in its fingerprint: 1 for a division, 2 for a maximum, 3 for a minimum.

    That of an application is large, and another one for each function.
    """
    if isinstance(atom, Application):
        return function_number(atom.function)
    return 1 if isinstance(atom, FloorDiv) else 2 if isinstance(atom, Max) else 3


def function_number(function: Function) -> int:
    """The number of a function in fingerprints, by its name and its bounds."""
    return text_fingerprint(f"{function} in {function.low}..{function.high}")


def _atom_order(atom: Expr) -> tuple[object, ...]:
    named = named_fingerprint(atom)
    if atom._terms is not None:  # a sum kept as one factor of a product
        return names_of(atom), 3, len(atom._terms), atom._const, named, atom._fingerprint
    if isinstance(atom, FloorDiv):
        numerator, divisor = atom._parts
        by = divisor if isinstance(divisor, int) else 0
        const = numerator if isinstance(numerator, int) else numerator._const
        return names_of(atom), 1, by, const, named, atom._fingerprint
    if isinstance(atom, Extremum):
        numbers = sorted([part if isinstance(part, int) else part._const for part in atom._parts])
        return names_of(atom), 2, len(atom._parts), kind_number(atom), numbers, named, atom._fingerprint
    if isinstance(atom, Application):
        numbers = [part if isinstance(part, int) else part._const for part in atom._parts]
        return names_of(atom), 4, len(numbers), str(atom.function), numbers, named, atom._fingerprint
    return names_of(atom), 0, atom.scope.serial, 0, named, atom._fingerprint  # type: ignore[attr-defined]


def order(monomial: Expr) -> tuple[object, ...]:
    """The sort key of a monomial."""
    key = monomial._order
    if key is None:
        if type(monomial) is Mul and monomial._terms is None:
            powers: dict[Expr, int] = monomial._parts  # type: ignore[assignment]
            atoms = sorted((_atom_order(atom), -exponent) for atom, exponent in powers.items())
            degree = sum(powers.values())
            key = (-degree, *(entry for pair in atoms for entry in pair))
        else:
            key = (-1, _atom_order(monomial))
        monomial._order = key
    return key


def sorted_units(terms: Iterable[Expr]) -> list[Expr]:
    """Monomials in structural order, the leading one first."""
    return sorted(terms, key=order)


def leading(terms: dict[Expr, int]) -> Expr:
    """The first monomial of a nonempty sum in structural order."""
    return min(terms, key=order) if len(terms) > 1 else next(iter(terms))


def dim_order(dim: Dim) -> tuple[object, ...]:
    """The sort key of a dimension: expressions first, by their leading monomial; then integers by value."""
    if isinstance(dim, int):
        return 1, (), dim
    if dim._terms is None:
        return 0, order(dim), -1, 1, 0, named_fingerprint(dim), dim._fingerprint
    lead = leading(dim._terms)
    return 0, order(lead), -dim._terms[lead], len(dim._terms), dim._const, named_fingerprint(dim), dim._fingerprint
