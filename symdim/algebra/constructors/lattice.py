"""One form for nested maxima and minima: needless arguments are dropped, and the order of nesting does not show.

An *element* is a nest of maxima and minima of sums. These sums are its *leaves*. Its *clauses* give it as a maximum of
minima, or as a minimum of maxima. Bounds give a partial order of the leaves. By the laws of a distributive lattice, the
element determines its clauses when all that is needless has been dropped from them:

    absorption      max(a, b) = a                                  a >= b by bounds; the same for whole clauses
    distribution    max(min(a, b), c) = min(max(a, c), max(b, c))  between the two kinds of clauses

An element is written with few repetitions: if its clauses fall into groups without common leaves, it is the maximum (or
minimum) of the groups. So `max(min(x, y), min(x, z))` is `min(x, max(y, z))`. Distribution makes deep nests long.
Beyond a budget an element stays as written, and its nested arguments are its leaves.
"""

from __future__ import annotations

from itertools import product

from symdim.algebra import corners
from symdim.algebra.bounds import bounds_of, linear_bounds
from symdim.algebra.caches import remembered
from symdim.algebra.constructors import arithmetic, floordiv, means
from symdim.algebra.expr import Extremum, FloorDiv, Max, Min
from symdim.algebra.intervals import scaled
from symdim.algebra.order import dim_order
from symdim.algebra.polynomials import SPLIT, accumulate, split_unit, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr, Interval

    Kind = type[Extremum]
    Clause = tuple[Dim, ...]
    Tree = Dim | tuple[Kind, list["Tree"]]

OTHER: dict[type[Extremum], type[Extremum]] = {Max: Min, Min: Max}

_HEIGHT = 32  # no maximum or minimum of more nested operations is distributed: this recurses on them
_LEAVES = 24  # the most leaves in the clauses of an element
_COPIES = 8  # the most terms beside a maximum or minimum that distribution copies
_PAIRS = 16  # the most arguments that are compared in pairs


def distributed(kind: Kind, clauses: list[Clause]) -> list[Clause] | None:
    """The same element in clauses without nested leaves; None beyond the budget."""
    result: list[Clause] = []
    count = 0
    for clause in clauses:
        if all(split_unit(leaf) is None for leaf in clause):
            result.append(clause)
            continue
        lists: list[list[Clause]] = []
        for leaf in clause:
            found = _of_dim(kind, leaf)
            if found is None:
                return None
            lists.append(found)
        for choice in product(*lists):
            merged = _reduced(kind, [leaf for some in choice for leaf in some])
            result.append(merged)
            count += len(merged)
            if count > 2 * _LEAVES:
                return None
    return result


def _of_dim(kind: Kind, dim: Dim) -> list[Clause] | None:
    """The clauses of a sum."""
    unit = split_unit(dim)
    if unit is None:
        return [(dim,)]
    terms, const = terms_of(dim)
    k = terms[unit]
    inner = of_unit(kind if k > 0 else OTHER[kind], unit)
    if inner is None or (len(terms) == 1 and k == 1 and not const):
        return inner
    if (sum([len(clause) for clause in inner]) - 1) * (len(terms) - 1) > _COPIES:
        return None
    rest = arithmetic.sum_of({u: c for u, c in terms.items() if u is not unit}, const)
    return [tuple([arithmetic.add(arithmetic.scale(leaf, k), rest) for leaf in clause]) for clause in inner]


@remembered(4096)
def of_unit(kind: Kind, unit: Expr) -> list[Clause] | None:
    """The clauses of a maximum or minimum, or of a division of one; None beyond the budget."""
    if unit._height > _HEIGHT:
        return None
    found: list[Clause] | None = None
    if isinstance(unit, FloorDiv):
        n, d = unit._parts
        inner = distributed(kind, [(n,)])
        if inner is not None and all(split_unit(leaf) is None for clause in inner for leaf in clause):
            found = [tuple([floordiv.floordiv(leaf, d) for leaf in clause]) for clause in inner]
    else:
        parts: tuple[Dim, ...] = unit._parts  # type: ignore[assignment]
        found = distributed(kind, [(p,) for p in parts] if type(unit) is kind else [parts])
    if found is not None:
        found = irredundant(kind, found)
        if sum([len(clause) for clause in found if len(clause) > 1]) > _LEAVES:
            found = None
    return found


def kind_of(unit: Expr) -> Kind:
    """Whether a maximum or minimum, or a division of one, is the greatest or the least of its leaves."""
    while isinstance(unit, FloorDiv):
        n = unit._parts[0]
        unit, outer = split_unit(n), unit  # type: ignore[assignment]
        if terms_of(outer._parts[0])[0][unit] < 0:
            return OTHER[kind_of(unit)]
    return type(unit)  # type: ignore[return-value]


def as_extremum(unit: Expr) -> tuple[Kind, Clause] | None:
    """(kind, parts) of a maximum or minimum, or of a division of one by a number; None for other units.

    >>> from symdim import Var, maximum
    >>> as_extremum(maximum(Var("N"), 6) // 3)
    (<class 'symdim.algebra.expr.Max'>, (N//3, 2))
    """
    if isinstance(unit, Extremum):
        return type(unit), unit._parts
    if not isinstance(unit, FloorDiv) or not unit._flags & SPLIT:
        return None
    n, d = unit._parts
    terms, const = terms_of(n)
    inner = split_unit(n)
    if not isinstance(inner, Extremum):
        return None
    rest, k = {u: c for u, c in terms.items() if u is not inner}, terms[inner]
    beside = arithmetic.sum_of(rest, const)
    parts = tuple([floordiv.floordiv(arithmetic.add(arithmetic.scale(part, k), beside), d) for part in inner._parts])
    return type(inner) if k > 0 else OTHER[type(inner)], parts


def two_leaves(unit: Expr) -> Clause:
    """The two leaves of a maximum or minimum, or of a division of one; an empty tuple if it has more."""
    if not isinstance(unit, FloorDiv):
        return unit._parts  # type: ignore[return-value]
    clauses = of_unit(kind_of(unit), unit)
    if clauses is None or len(clauses) != 2 or any(len(c) != 1 or split_unit(c[0]) is not None for c in clauses):
        return ()
    return clauses[0] + clauses[1]


def irredundant(kind: Kind, clauses: list[Clause]) -> list[Clause]:
    """The clauses in structural order, without needless clauses and leaves."""
    clauses = list(dict.fromkeys([_reduced(kind, clause) for clause in clauses]))
    if len(clauses) == 1:
        return clauses
    clauses.sort(key=_clause_order)
    if len(clauses) > _PAIRS:
        return by_ranges(kind, clauses)
    if all(len(clause) == 1 for clause in clauses):
        return [(leaf,) for leaf in _undominated(kind, [leaf for (leaf,) in clauses])]
    kept: list[Clause] = []
    for clause in clauses:
        if not any(_covers(kind, other, clause) for other in kept):
            kept = [other for other in kept if not _covers(kind, clause, other)]
            kept.append(clause)
    singles = [clause[0] for clause in kept if len(clause) == 1]
    if len(singles) > 1:
        kept = [c for c in kept if len(c) == 1 or not any(means.is_needless(kind, leaf, singles) for leaf in c)]
    return kept


def _clause_order(clause: Clause) -> tuple[object, ...]:
    return len(clause), *[dim_order(leaf) for leaf in clause]


def _reduced(kind: Kind, leaves: list[Dim] | Clause) -> Clause:
    """A clause in structural order, without the leaves that another one makes needless."""
    if len(leaves) == 1:
        return tuple(leaves)
    leaves = sorted(dict.fromkeys(leaves), key=dim_order)
    if len(leaves) > _PAIRS:
        return tuple([leaf for (leaf,) in by_ranges(OTHER[kind], [(leaf,) for leaf in leaves])])
    return tuple(_undominated(OTHER[kind], leaves))


def _undominated(kind: Kind, leaves: list[Dim]) -> list[Dim]:
    """The leaves, without those that another one exceeds everywhere by the bounds of their difference."""
    kept: list[Dim] = []
    for leaf in leaves:
        rivals: list[Dim] = []
        for other in kept:
            lo, hi = _difference(other, leaf) if kind is Max else _difference(leaf, other)
            if lo is not None and lo >= 0:
                break
            if hi is None or hi > 0:
                rivals.append(other)
        else:
            kept = [*rivals, leaf]
    return means.without_needless(kind, kept) if len(kept) > 2 else kept


def _covers(kind: Kind, one: Clause, other: Clause) -> bool:
    """Whether the first clause makes the other one needless."""
    return all(_is_beyond(kind, leaf, other) for leaf in one)


def _is_beyond(kind: Kind, leaf: Dim, clause: Clause) -> bool:
    """Whether a leaf exceeds a clause of leaves, which for a maximum is their minimum."""
    return any(exceeds(kind, leaf, theirs) for theirs in clause) or means.is_needless(OTHER[kind], leaf, clause)


def exceeds(kind: Kind, a: Dim, b: Dim) -> bool:
    """Whether a >= b by bounds, or a <= b for a minimum."""
    if a is b:
        return True
    lo, hi = _difference(a, b)
    return (lo is not None and lo >= 0) if kind is Max else (hi is not None and hi <= 0)


@remembered(8192)
def _difference(a: Dim, b: Dim) -> Interval:
    """The interval of a - b. It alone orders two arguments; a law that knows more may only narrow it."""
    (terms, const), (others, other_const) = terms_of(a), terms_of(b)
    terms = dict(terms)
    accumulate(terms, others, -1)
    if any(unit._height for unit in terms) or corners.is_correlated(terms):
        return bounds_of(arithmetic.sum_of(terms, const - other_const))
    return linear_bounds(terms, const - other_const)


def by_ranges(kind: Kind, clauses: list[Clause]) -> list[Clause]:
    """The clauses, without single leaves that the lower bound of another leaf exceeds. It is linear in their number."""
    ranges = [bounds_of(clause[0]) if len(clause) == 1 else (None, None) for clause in clauses]
    if kind is Min:
        ranges = [scaled(interval, -1) for interval in ranges]
    floor = max([lo for lo, _ in ranges if lo is not None], default=None)
    if floor is None:
        return clauses
    # of leaves that are never above the floor, one is kept if no other leaf is always at least the floor
    above = [hi is None or hi > floor for _, hi in ranges]
    keepers = [i for i, (lo, _) in enumerate(ranges) if lo == floor]
    keeper = next((i for i in keepers if above[i]), keepers[0])
    return [clause for i, clause in enumerate(clauses) if above[i] or i == keeper]


def in_both_kinds(kind: Kind, clauses: list[Clause]) -> tuple[list[Clause], list[Clause]] | None:
    """(clauses of this kind, clauses of the other kind) with the same leaves; None beyond the budget.

    A leaf between two others may be needless in one kind of clauses only (means.py).
    """
    clauses = irredundant(kind, clauses)
    duals = dual(kind, clauses)
    while duals is not None and len(clauses) > 1:
        if {leaf for clause in clauses for leaf in clause} == {leaf for clause in duals for leaf in clause}:
            break
        again = dual(OTHER[kind], duals)
        if again is None:
            return None
        clauses, duals = again, dual(kind, again)
    return None if duals is None else (clauses, duals)


def dual(kind: Kind, clauses: list[Clause]) -> list[Clause] | None:
    """The clauses of the other kind for the same element; None beyond the budget."""
    if len(clauses) == 1:
        return [(leaf,) for leaf in clauses[0]]
    if all(len(clause) == 1 for clause in clauses):
        return [tuple([leaf for (leaf,) in clauses])]
    found: list[Clause] = [()]
    for clause in clauses:
        found = [_reduced(OTHER[kind], [*some, leaf]) for some in found for leaf in clause]
        found = irredundant(OTHER[kind], found)
        if sum([len(some) for some in found]) > 2 * _LEAVES:
            return None
    return found if sum([len(some) for some in found]) <= _LEAVES else None


def tree(clauses: list[Clause], duals: list[Clause]) -> Tree:
    """An element as a nest, from its clauses as a maximum of minima and as a minimum of maxima."""
    if len(clauses) == 1:
        return clauses[0][0] if len(clauses[0]) == 1 else (Min, list(clauses[0]))
    if len(duals) == 1:
        return Max, list(duals[0])
    found: list[tuple[int, int, Tree]] = []
    for kind, groups in ((Min, _groups(duals)), (Max, _groups(clauses))):
        if len(groups) > 1:
            inner: list[Tree] = []
            for group in groups:
                mirrored = dual(kind, group)
                if mirrored is None:
                    break
                inner.append(tree(mirrored, group) if kind is Min else tree(group, mirrored))
            else:
                inner.sort(key=_tree_order)
                found.append((sum([leaves_in(part) for part in inner]), len(found), (kind, inner)))
    if found:
        return min(found, key=lambda some: some[:2])[2]
    flat: list[tuple[Kind, list[Clause]]] = [(Min, duals), (Max, clauses)]
    outer, chosen = min(flat, key=lambda some: sum([len(clause) for clause in some[1]]))
    return outer, [c[0] if len(c) == 1 else (OTHER[outer], list(c)) for c in chosen]


def leaves_in(part: Tree) -> int:
    """The number of leaves in a nest."""
    return sum([leaves_in(p) for p in part[1]]) if isinstance(part, tuple) else 1


def _tree_order(part: Tree) -> tuple[object, ...]:
    """The sort key of a part of a nest: leaves come first."""
    if isinstance(part, tuple):
        return 1, len(part[1]), [_tree_order(inner) for inner in part[1]]
    return 0, dim_order(part)


def _groups(clauses: list[Clause]) -> list[list[Clause]]:
    """The clauses in groups that have no leaf in common."""
    groups: list[tuple[set[Dim], list[Clause]]] = []
    for clause in clauses:
        leaves = set(clause)
        mine = [clause]
        apart: list[tuple[set[Dim], list[Clause]]] = []
        for theirs, members in groups:
            if leaves.isdisjoint(theirs):
                apart.append((theirs, members))
            else:
                leaves |= theirs
                mine = members + mine
        groups = [*apart, (leaves, mine)]
    return [members for _, members in groups]
