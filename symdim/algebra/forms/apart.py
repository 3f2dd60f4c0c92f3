"""Sums that the laws of basis.py cannot make shorter. They are recognised in one pass over their units.

A law replaces a unit by `both - twin`. If no term of `both` is in the sum, and no two units bring in the same term,
then nothing cancels. So each unit needs at least one term in every form, and now it has one. Most sums of sizes are
like this: `(H + 1)//2 + (W + 1)//2`, `4*(H//2)*(W//2)`, `max(N, 3) + max(M, 5)`.
"""

from __future__ import annotations

from symdim.algebra.caches import shared_cache
from symdim.algebra.expr import FloorDiv, Max
from symdim.algebra.forms.basis import both_of, split
from symdim.algebra.sums.monomial import CLAMP, LAWFUL, NEAR, PAIR, SEVERAL, TWIN, powers_of, terms_of, times, unit_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from symdim.algebra.expr import Expr, Terms
    from symdim.algebra.forms.basis import Unit

    Brought = tuple[Collection[Unit], int, bool]

PAIRS = 8  # the most atoms that are tried in pairs: two maxima as a clamp, two twins at once

_PRODUCTS = 16  # the most units that the laws of a plain product bring in

_known = shared_cache(8192)


def is_apart(terms: Terms, const: int, lawful: list[Expr]) -> bool:
    """Whether this test shows that no law makes a sum shorter, or equally short with fewer negative terms."""
    if len(terms) == 1 and lawful[0].flags & SEVERAL and _two_halves(lawful[0]):
        return True  # every other form has more terms
    several = len(lawful) > 1 and any(unit.flags & SEVERAL for unit in lawful)
    taken: set[Unit] = set()
    shares: list[int] = []  # what each twin would add to the constant
    signs: list[bool] = []
    for unit in lawful:
        brought = _known.get(unit) or _brought_by(unit)
        units, share, in_basis = brought
        if not units or (several and not in_basis):
            return False
        for other in units:
            if other in terms or other in taken:
                return False
        if len(lawful) > 1:
            taken.update(units)
        if share:
            shares.append(terms[unit] * share)
        if unit.flags & PAIR:
            signs.append((terms[unit] > 0) == in_basis)
    if 2 <= len(signs) <= PAIRS and any(signs) and not all(signs):
        return False  # two maxima may make a clamp
    if len(shares) == 1:
        return not const or const + shares[0] != 0
    return not shares or (min(const, *shares) >= 0 or max(const, *shares) <= 0)


def is_plain(unit: Expr) -> bool:
    """Whether a unit has one twin only, and no term of the sum of both twins has a twin."""
    if unit.flags & (CLAMP | SEVERAL | NEAR):
        return False
    _, atom = split(unit)
    if atom.flags & PAIR and type(atom) is FloorDiv:
        return False
    return not any(inner.flags & LAWFUL for inner in both_of(atom) if inner is not None)


def is_in_basis(atom: Expr) -> bool:
    """Whether the basis has this one of two plain twins."""
    return type(atom) is Max if atom.flags & PAIR else not terms_of(atom.parts[0])[1]  # type: ignore[index]


def _brought_by(unit: Expr) -> Brought:
    """(units that the laws bring in for a unit, a constant, whether it is in the basis); no units if not plain."""
    found = _of_product(unit) if unit.flags & SEVERAL else _of_single(unit)
    _known[unit] = found
    return found


_NOT_PLAIN: Brought = (), 0, False


def _of_single(unit: Expr) -> Brought:
    if unit.flags & TWIN and type(unit) is FloorDiv:
        terms, const = terms_of(unit.parts[0])
        for inner in terms:
            if inner.flags & LAWFUL:
                return _NOT_PLAIN
        return terms, 0, not const
    if not is_plain(unit):
        return _NOT_PLAIN
    factor, atom = split(unit)
    both = both_of(atom)
    share = 0 if factor is not None else both.pop(None, 0)
    return [times(u, factor) for u in both], share, is_in_basis(atom)


def _of_product(unit: Expr) -> Brought:
    """The same for a product of two halves."""
    atoms = _two_halves(unit)
    if not atoms:
        return _NOT_PLAIN
    found: list[Unit] = [None]
    for atom, exponent in powers_of(unit).items():
        factors = [atom, *terms_of(atom.parts[0])[0]] if atom in atoms else [unit_of({atom: exponent})]  # type: ignore[index]
        found = [times(u, factor) for u in found for factor in factors]
        if len(found) > _PRODUCTS:
            return _NOT_PLAIN
    in_basis = all(map(is_in_basis, atoms))
    if not in_basis and len(set(found)) < len(found):
        return _NOT_PLAIN  # the units that the two halves bring in may cancel
    return found[1:], 0, in_basis


def _two_halves(unit: Expr) -> list[Expr]:
    """The two halves in a product; an empty list if the laws concern other atoms in it."""
    powers = powers_of(unit)
    atoms = [atom for atom in powers if atom.flags & LAWFUL]
    if len(atoms) != 2:
        return []
    for atom in atoms:
        if not atom.flags & TWIN or powers[atom] > 1:
            return []
        for inner in terms_of(atom.parts[0])[0]:  # type: ignore[index]
            if inner.flags & LAWFUL:
                return []
    first, second = [terms_of(atom.parts[0])[0] for atom in atoms]  # type: ignore[index]
    return [] if first == second else atoms  # (x//2)*((x + 1)//2) is x*(x//2) - (x//2)**2
