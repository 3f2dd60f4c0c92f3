"""Relations as a person writes them: solved for a symbol if they are monotone in it.

The laws beside those of `laws.py`, for integers and d >= 1 (tests check each by brute force; `<=` and the minimum are
the mirror images):

    multiple     k*u >= c                where  u >= ceil(c/k)                     k >= 1
    factor       f*u >= 0                where  u >= 0                             f >= 1
    maximum      max(a, b) + r >= 0      where  a + r >= 0 or b + r >= 0; always if a + k*b + (1 + k)*r >= 0
                 max(a, b) + r <= 0      where  a + r <= 0 and b + r <= 0
    equality     e == 0                  where  e >= 0 and e <= 0
    remainder    d*(n//d) == n           where  d divides n
    broadcast    a == b or 1 in (a, b)   where  b in (a, 1)                        b is 1 wherever a is 1
    multiples    k*u + 1 in (k*v + 1, 1) where  u + 1 in (v + 1, 1)                k >= 1
    monotone     f(x) >= 0               where  x >= t, the least such x           f never decreases

An equality is split only if the results have no `//` and no extrema. A disjunction is resolved if bounds decide all
of its parts except one, or if the union of its parts is an interval of one variable.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd

from symdim.algebra.constructors.arithmetic import add, scale, subtract, sum_of, total
from symdim.algebra.constructors.long_division import cancelled
from symdim.algebra.dims import at_least, excludes, sign, substituted
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max, Min
from symdim.algebra.intervals import is_empty, meet
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.algebra.texts.remainders import as_remainder
from symdim.algebra.variable import Var, narrowed
from symdim.errors import DivisionByZero
from symdim.relations.laws import parts_at_least, parts_at_most
from symdim.relations.monotone import threshold
from symdim.relations.relation import Relation, as_relations, interval_of, length_of, union_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Interval

    Conjunction = list[Relation] | None

_STEPS = 64  # of one inequality: real conditions take a few
_PARTS = 4  # a longer conjunction is not easier to read than the original condition
_VARIABLES = 6  # a broadcast of more variables stays as it is: its parts are no simpler
_ARGUMENTS = 8  # a maximum of more arguments is not taken apart: a chain of broadcasts makes many of them


def solve(relation: Relation) -> list[Relation] | None:
    """Relations that together are equivalent to this one: an empty list if it always holds, None if it never holds.

    They have the origins of the given one.

    >>> from symdim import Var, minimum
    >>> H, S, P = Var("H"), Var("S"), Var("P")
    >>> def plain(*relation): return "; ".join(map(str, solve(Relation(*relation))))
    >>> plain("at_least", (H + 1) // 4, 1), plain("equal", S, minimum(S, 64)), plain("broadcast", S, minimum(S, 64))
    ('H >= 3', 'S <= 64', 'S <= 64')
    >>> plain("equal", (S + 31) // 32, 3), plain("equal", 4 * P * (S // 4), P * S), plain("at_least", S // 2, P)
    ('S >= 65; S <= 96', 'S % 4 == 0', 'S >= 2*P')
    """
    if not relation.origins:
        return _solved(relation)
    parts = _solved(relation._replace(origins=frozenset()))
    return None if parts is None else [part._replace(origins=relation.origins) for part in parts]


def _solved(relation: Relation) -> Conjunction:
    kind, a, b, _ = relation
    if kind == "divides":
        return _shortest(relation, _divides(a, b))
    if kind in ("broadcast", "broadcast_to"):
        return _broadcast(relation)
    if kind == "unequal":
        opposite = _solved(Relation("equal", a, b))
        return None if opposite == [] else [] if opposite is None else [relation]
    if kind in ("greater", "less"):
        kind, b = ("at_least", add(b, 1)) if kind == "greater" else ("at_most", subtract(b, 1))
    a, b = cancelled(a, b)
    relation = Relation(kind, a, b)
    gap = relation.normal().left
    if kind == "equal":
        return _shortest(relation, _equal_0(gap))
    gaps = _gaps(gap)
    return None if gaps is None else _shortest(relation, _relations(gaps))


def _shortest(relation: Relation, solution: Conjunction) -> Conjunction:
    """The solution, if it is no longer than the relation or consists of bounds of variables; else the relation."""
    if not solution or solution == [relation]:
        return solution
    if all(isinstance(part.left, Var) and isinstance(part.right, int) for part in solution):
        return solution
    if length_of(solution) <= length_of([relation]):
        return solution
    return [relation]


def always(gap: Dim) -> bool | None:
    """Whether the interval decides `gap >= 0`: True (always), False (never) or None."""
    return {1: True, -1: False, 0: None}[sign(gap)]


# -- inequalities ---------------------------------------------------------------------------------------------------


def _gaps(whole: Dim) -> dict[Expr, None] | None:
    """The simplest gaps that are all >= 0 exactly if this one is; None if it never is. Beyond the budget, itself."""
    simplest: dict[Expr, None] = {}
    pending, steps = [whole], 0
    while pending:
        steps += 1
        if steps > _STEPS:
            assert isinstance(whole, Expr)
            return {whole: None}
        gap = pending.pop()
        known = always(gap)
        if known is False:
            return None
        if known or isinstance(gap, int):
            continue
        parts = _step(gap)
        if parts is None:
            simplest[gap] = None
        else:
            pending += reversed(parts)
    return simplest


def _relations(gaps: dict[Expr, None]) -> Conjunction:
    """Gaps that are >= 0, as relations. One that must be both >= 0 and <= 0 becomes an equality."""
    both = [gap for gap in gaps if scale(gap, -1) in gaps]
    equalities = [_equality(gap) for i, gap in enumerate(both) if scale(gap, -1) not in both[:i]]
    rest = [_inequality(gap) for gap in gaps if gap not in both]
    ranges = interval_of(rest)
    if ranges is not None:
        bounds = as_relations(*ranges)
        return None if bounds is None else [*equalities, *bounds]
    return [*equalities, *rest]


def _step(gap: Expr) -> list[Dim] | None:
    """Simpler gaps that are all >= 0 exactly if the gap is; None if no step applies."""
    terms, const = terms_of(gap)
    number = gcd(*terms.values())
    (reduced,) = cancelled(gap if number == 1 else sum_of(dict(terms), const - const % number))
    if reduced is not gap:
        return [reduced]
    if len(terms) == 1:
        ((monomial, k),) = terms.items()
        if isinstance(monomial, Var):
            return None
        rest = const // abs(k)  # monomial + rest >= 0, or rest - monomial >= 0
        parts = _unit_step(monomial, 1 if k > 0 else -1, rest)
        return _threshold(gap) if parts is None else parts
    extrema = [monomial for monomial in terms if isinstance(monomial, Extremum)]
    if len(extrema) == 1:
        k = terms[extrema[0]]
        parts = _extremum_step(extrema[0], k, subtract(gap, scale(extrema[0], k)))
    else:
        divisions = [monomial for monomial in terms if isinstance(monomial, FloorDiv) and abs(terms[monomial]) == 1]
        parts = None
        if len(divisions) == 1 and sum(isinstance(monomial, FloorDiv) for monomial in terms) == 1:
            k = terms[divisions[0]]
            parts = _unit_step(divisions[0], k, subtract(gap, scale(divisions[0], k)))
    return _threshold(gap) if parts is None else parts


def _unit_step(monomial: Expr, sign: int, rest: Dim) -> list[Dim] | None:
    """The step of `sign*monomial + rest >= 0`, for a division, an extremum or a product."""
    if isinstance(monomial, (Max, Min)):
        return _extremum_step(monomial, sign, rest)
    if isinstance(monomial, FloorDiv) and not at_least(monomial._parts[1], 1):
        return None  # the quotient has no value where the divisor is 0
    if isinstance(rest, Expr) and monomial in postorder(rest):
        return None  # n//d beside its multiples, as in n % d: multiplied by d, it would not go away
    parts = parts_at_least(monomial, scale(rest, -1)) if sign > 0 else parts_at_most(monomial, rest)
    return None if parts is None or len(parts) > _PARTS else parts


def _extremum_step(monomial: Extremum, k: int, rest: Dim) -> list[Dim] | None:
    """The step of `k*max(parts) + rest >= 0`, or of a minimum."""
    kind, parts = type(monomial), monomial._parts
    if len(parts) > _ARGUMENTS:
        return None
    gaps = [add(scale(part, k), rest) for part in parts]
    if (k > 0) == (kind is Max):  # a disjunction: one part suffices
        if any(map(always, gaps)):
            return []
        open_gaps = [gap for gap in gaps if always(gap) is not False]
        if any(_cover(a, b) for a, b in combinations(open_gaps, 2)):
            return []
        return open_gaps if len(open_gaps) == 1 else None
    return gaps if sum(always(gap) is None for gap in gaps) <= _PARTS else None


def _cover(a: Dim, b: Dim) -> bool:
    """Whether a >= 0 or b >= 0 everywhere: a sum of multiples of both, in which a term cancels, is never negative."""
    ones, others = terms_of(a)[0], terms_of(b)[0]
    pairs = [(abs(k), abs(others[u])) for u, k in ones.items() if k * others.get(u, 0) < 0]
    return any(always(add(scale(a, m), scale(b, k))) for k, m in pairs)


def _threshold(gap: Expr) -> list[Dim] | None:
    simpler = threshold(gap)
    return None if simpler is None or simpler is gap else [simpler]


def _inequality(gap: Expr) -> Relation:
    """`gap >= 0` with all negative terms on the other side, or only the constant there: the shorter text."""
    terms, const = terms_of(gap)
    low = [scale(monomial, -k) for monomial, k in terms.items() if k < 0]
    if len(low) == len(terms):
        return Relation("at_most", total(low), const)
    whole = Relation("at_least", subtract(gap, const), -const)
    if not low:
        return whole
    less = total([*low, max(-const, 0)])
    return min(Relation("at_least", add(gap, less), less), whole, key=lambda c: length_of([c]))


# -- equalities -----------------------------------------------------------------------------------------------------


def _equal_0(gap: Dim) -> Conjunction:
    """`gap == 0` as a divisibility, as bounds, or as an equality."""
    if isinstance(gap, int):
        return None if gap else []
    terms, const = terms_of(gap)
    if const % gcd(*terms.values()):
        return None
    (gap,) = cancelled(gap)
    if isinstance(gap, int):
        return None if gap else []
    for side in (gap, scale(gap, -1)):
        remainder = as_remainder(side)
        if remainder is not None:
            return _divides(remainder[1], remainder[0])
    lower, upper = _gaps(gap), _gaps(scale(gap, -1))
    if lower is None or upper is None:
        return None
    are_plain = [not any(part._height for part in parts) for parts in (lower, upper)]  # sums and products of variables
    low, high = (_relations(parts) if plain else [] for parts, plain in zip((lower, upper), are_plain, strict=True))
    if low is None or high is None:
        return None
    if not all(are_plain):
        return [_equality(gap)]
    both = [*low, *high]
    ranges = interval_of(both)
    if ranges is not None:
        return as_relations(*ranges)
    return [_equality(gap)] if low and high else both


def _equality(gap: Expr) -> Relation:
    """`gap == 0` with the negative terms on the right side."""
    terms, const = terms_of(gap)
    if len(terms) == 1:
        ((monomial, k),) = terms.items()
        return Relation("equal", monomial, -const // k)
    high = total([*[scale(monomial, k) for monomial, k in terms.items() if k > 0], max(const, 0)])
    low = subtract(high, gap)
    return Relation("equal", low, high) if isinstance(high, int) else Relation("equal", high, low)


# -- divisibility and broadcasting -----------------------------------------------------------------------------------


def _divides(d: Dim, n: Dim) -> Conjunction:
    """`n % d == 0` without a common factor, and without the terms that are multiples of d."""
    d, n = cancelled(d, n)
    if not isinstance(d, int):
        return [] if n % d == 0 and always(subtract(d, 1)) else [Relation("divides", d, n)]
    if not d or excludes(n % d, 0):
        return None
    terms, const = terms_of(n)
    n = sum_of({monomial: k % d for monomial, k in terms.items() if k % d}, const % d)
    terms, const = terms_of(n)
    shared = gcd(d, *terms.values(), const)
    return [] if shared == abs(d) else [Relation("divides", d // shared, n // shared)]


def _broadcast(relation: Relation) -> Conjunction:
    """`a == b or a == 1 (or b == 1)`: without the parts that bounds exclude or another part covers, or an interval."""
    kind, a, b, _ = relation
    if len(relation.variables()) > _VARIABLES:
        return [relation]
    if kind == "broadcast" and _may_be_1_or_more(a) and _may_be_1_or_more(b) and a is not b:
        return [relation]  # each part may hold or not, and two variables have no common interval
    a, b = (add(side, 1) for side in cancelled(subtract(a, 1), subtract(b, 1)))
    if kind == "broadcast" and isinstance(a, int):
        a, b = b, a
    if kind == "broadcast" and is_one_where(b, a):
        kind, a, b = "broadcast_to", b, a
    elif kind == "broadcast" and is_one_where(a, b):
        kind = "broadcast_to"
    if kind == "broadcast_to" and is_one_where(b, a):
        return solve(Relation("equal", a, b))
    sides = (a, b) if kind == "broadcast" else (a,)
    parts = [_equal_0(subtract(a, b)), *(_equal_0(subtract(side, 1)) for side in sides)]
    if any(part == [] for part in parts):
        return []
    left = [part for part in parts if part is not None]
    if not left:
        return None
    if len(left) == 1:
        return solve(Relation("equal", a, b)) if parts[0] is not None else _shortest(relation, left[0])
    union = union_of([interval_of(part) for part in left])
    if union is not None:
        return as_relations(*union)
    if len(sides) == 2 and None in parts[1:]:
        a, b = (a, b) if parts[1] is not None else (b, a)
        return [Relation("broadcast_to", a, b)]
    return [Relation(kind, a, b)]


def _may_be_1_or_more(size: Dim) -> bool:
    """Whether a size is a variable with the values 1 and 2."""
    return isinstance(size, Var) and (size.lo is None or size.lo <= 1) and (size.hi is None or size.hi > 1)


def is_one_where(size: Dim, other: Dim) -> bool:
    """Whether a size is 1 wherever the other one is 1, judged by the bounds that this gives to single variables.

    >>> from symdim import minimum
    >>> H, W = Var("H"), Var("W")
    >>> is_one_where(minimum(H // 2, 16) * W, (H // 2) * W), is_one_where(H // 2, H // 3)
    (True, False)
    """
    if not isinstance(other, Expr):
        return False
    # a product of factors that are never negative is 1 where each factor is 1
    factors = [other] if other._terms is not None else list(powers_of(other))
    intervals: dict[Var, Interval] = {}
    for factor in factors if all(map(always, factors)) else [other]:
        known = (factor, (1, 1)) if isinstance(factor, Var) else interval_of(_equal_0(subtract(factor, 1)) or ())
        if known is not None:
            variable, ends = known
            intervals[variable] = meet(intervals.get(variable, (variable.lo, variable.hi)), ends)
    narrow: dict[Var, Dim] = {}
    for variable, (low, high) in intervals.items():
        if is_empty((low, high)):
            return False
        narrow[variable] = narrowed(variable, low, high)
    try:
        return substituted(size, narrow) == 1
    except DivisionByZero:
        return False
