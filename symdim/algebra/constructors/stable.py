"""Results that stay: what constructors make of the parts of an atom is that atom.

A constructor takes its operands apart in steps. A step may leave what an earlier one would have taken further. So an
atom that was not given as it stands is made once more from its parts, until nothing changes. Then the parts of an
expression make it again, and so does its text.
"""

from __future__ import annotations

from symdim.algebra.caches import remembered
from symdim.algebra.constructors import extrema, floordiv
from symdim.algebra.expr import Extremum, FloorDiv
from symdim.algebra.polynomials import CLAMP, PAIR, accumulate, split_unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

    from symdim.algebra.expr import Dim, Expr, Sum

_ROUNDS = 4  # two are the most that were seen


def stable(found: Sum, given: tuple[Dim, ...]) -> Sum:
    """A sum in which each atom is what its parts make, where its parts are not those that were `given`."""
    for _ in range(_ROUNDS):
        changed: Sum | None = None
        for unit, k in found[0].items():
            if _may_change(unit, given):
                again = _made_again(unit)
                if again != ({unit: 1}, 0):
                    terms, const = changed or (dict(found[0]), found[1])
                    accumulate(terms, {unit: -k})
                    accumulate(terms, again[0], k)
                    changed = terms, const + k * again[1]
        if changed is None:
            return found
        found = changed
    return found


def _may_change(unit: Expr, given: tuple[Dim, ...]) -> TypeGuard[FloorDiv | Extremum]:
    """Not a polynomial, a maximum or minimum of two polynomials, a clamp, or one of these divided by a number."""
    if not isinstance(unit, (FloorDiv, Extremum)) or unit._parts == given:
        return False
    if unit._height <= 1:
        return isinstance(unit, Extremum) and len(unit._parts) > 2
    flags, height = unit._flags, unit._height
    if isinstance(unit, FloorDiv):
        inner = split_unit(unit._parts[0])
        flags, height = flags & (0 if inner is None else inner._flags), height - 1
    return height > (2 if flags & CLAMP else 1 if flags & PAIR else 0)


@remembered(8192)
def _made_again(atom: FloorDiv | Extremum) -> Sum:
    """What one pass of its constructor makes of the parts of an atom."""
    if isinstance(atom, FloorDiv):
        return floordiv.once(*atom._parts)
    return extrema.once(type(atom), list(atom._parts))
