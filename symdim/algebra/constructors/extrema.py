"""Maximum and minimum in canonical form.

Laws used below, for integers (each is a `Law` in tests/symdim/laws.py), and their mirror images for the minimum:

    flattening   k*max(a, b) + c = max(k*a + c, k*b + c)      k > 0
    shift        max(a + t, b + t) = max(a, b) + t
    content      max(g*a, g*b) = g*max(a, b)                  g > 0
    reflection   max(-a, -b) = -min(a, b)
    rounding     max(a//d, b//d) = max(a, b)//d               d >= 1

The arguments become the clauses of lattice.py first. Then a number and a sum that all leaves have in common are taken
out. Of the form and its reflection the one with the smaller key is taken. A common division goes outside (rounding.py).
Each of these steps depends on the leaves alone.
"""

from __future__ import annotations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.caches import shared_cache
from symdim.algebra.constructors import arithmetic, basis, common_parts, lattice, rounding
from symdim.algebra.expr import CACHE_SIZE, Extremum, Max, Min
from symdim.algebra.interning import find_unit, publish, sequence_fingerprint
from symdim.algebra.intervals import greatest, smallest
from symdim.algebra.order import dim_order
from symdim.algebra.polynomials import EXTREMUM, SPLIT, height_of, split_unit, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim.algebra.constructors.lattice import Clause, Kind, Tree
    from symdim.algebra.expr import Dim, Expr, Sum

_known = shared_cache(CACHE_SIZE)
_sums = shared_cache(8192)  # one element is asked for as an atom, as a twin, in a clamp, in a numerator

_ROUNDS = 12  # changes of form; fewer were enough in every test


def maximum(*dims: Dim) -> Dim:
    """The greatest of one or more dimensions.

    >>> from symdim import Var, maximum
    >>> N = Var("N")
    >>> maximum(N, 1), maximum(2 * N, 4), maximum(N - 3, 0)
    (N, 2*max(N, 2), max(N, 3) - 3)
    """
    return _remembered(Max, dims)


def minimum(*dims: Dim) -> Dim:
    """The least of one or more dimensions.

    >>> from symdim import Var, minimum
    >>> N = Var("N")
    >>> minimum(N, 512), minimum(N, 4) + maximum(N, 4), minimum(maximum(N, 3), 5)
    (min(N, 512), N + 4, min(max(N, 3), 5))
    """
    return _remembered(Min, dims)


def _remembered(kind: Kind, dims: tuple[Dim, ...]) -> Dim:
    if not dims:
        raise TypeError(f"{'maximum' if kind is Max else 'minimum'} of no dimensions")
    key = (kind, *[arithmetic.checked(dim) for dim in dims])
    found: Dim | None = _known.get(key)
    if found is None:
        found = _known[key] = extremum_of(kind, list(key[1:]))  # type: ignore[arg-type]
    return found


def extremum_of(kind: Kind, dims: list[Dim]) -> Dim:
    """The maximum or minimum of some dimensions."""
    terms, const = as_sum(kind, dims)
    return arithmetic.sum_of(dict(terms), const)


def as_sum(kind: Kind, dims: list[Dim]) -> Sum:
    """The maximum or minimum of dimensions, as a sum. With two arguments its atom is of this kind.

    Callers must not change the result.
    """
    key = (kind, *dims)
    found: Sum | None = _sums.get(key)
    if found is None:
        found = _sums[key] = arithmetic.stable(one_pass(kind, dims), key[1:])  # type: ignore[arg-type]
    return found


def one_pass(kind: Kind, dims: list[Dim]) -> Sum:
    """The same, not yet made again from its parts (`arithmetic.stable`)."""
    total = common_parts.Scaled()
    dims = list(dict.fromkeys(dims))
    for _ in range(_ROUNDS):
        clauses = lattice.distributed(kind, [(dim,) for dim in dims])
        found = None if clauses is None else of_clauses(kind, clauses)
        if found is not None:
            return total.plus(found)
        # beyond the budget nested arguments are leaves
        flat = lattice.irredundant(kind, [(dim,) for dim in _flattened(kind, dims)])
        leaves = [leaf for (leaf,) in flat]
        if len(leaves) == 1:
            return total.plus(terms_of(leaves[0]))
        leaves = sorted(total.normalized(leaves).values(), key=dim_order)
        if leaves == dims:
            break
        dims = leaves
    return total.plus(({extremum_atom(kind, tuple(dims)): 1}, 0))


def of_clauses(kind: Kind, clauses: list[Clause]) -> Sum | None:
    """The element of these clauses; None beyond the budget."""
    total = common_parts.Scaled()
    found: list[Clause] | None = clauses
    rounds = _ROUNDS
    while found is not None and rounds:
        rounds -= 1
        forms = lattice.in_both_kinds(kind, found)
        if forms is None:
            break
        clauses, duals = forms
        if len(duals) == len(duals[0]) == 1:
            return total.plus(terms_of(duals[0][0]))
        leaves = list(dict.fromkeys([leaf for clause in (*clauses, *duals) for leaf in clause]))
        reflected, before = common_parts.Scaled(), abs(total.factor)
        mapped = total.normalized(leaves)
        if len(leaves) > 2:
            mirrored = reflected.normalized([arithmetic.scale(leaf, -1) for leaf in mapped.values()])
            if _key(mirrored.values()) < _key(mapped.values()):
                mapped = {leaf: mirrored[arithmetic.scale(part, -1)] for leaf, part in mapped.items()}
                total.factor *= -1
                total.take(terms_of(arithmetic.sum_of(reflected.terms, reflected.const)), reflected.factor)
                kind = lattice.OTHER[kind]
        clauses = [tuple([mapped[leaf] for leaf in clause]) for clause in clauses]
        if any(split_unit(part) is not None for part in mapped.values()):
            found = lattice.distributed(kind, clauses)
            continue
        if len(leaves) > 2 and abs(total.factor) > before:
            found = clauses  # without their common factor, integers between two others are fewer (means.py)
            continue
        duals = [tuple([mapped[leaf] for leaf in clause]) for clause in duals]
        divided = _outside(kind, clauses, mapped.values())
        if divided is not None:
            return total.plus(divided)
        atom = _atom_of(kind, clauses, duals)
        return None if atom is None else total.plus(({atom: 1}, 0))
    return None


def _outside(kind: Kind, clauses: list[Clause], leaves: Iterable[Dim]) -> Sum | None:
    """The element as one division, if all leaves except numbers are divisions by the same number; else None."""
    found = rounding.outside(list(leaves))
    if found is None:
        return None
    sign, d, numerators = found
    kind = kind if sign > 0 else lattice.OTHER[kind]
    n = of_clauses(kind, [tuple([numerators[leaf] for leaf in clause]) for clause in clauses])
    divided = None if n is None else rounding.divided(arithmetic.sum_of(*arithmetic.stable(n, ())), d)
    if divided is None:
        return None
    terms, const = divided
    return {unit: sign * k for unit, k in terms.items()}, sign * const


def _key(leaves: Iterable[Dim]) -> tuple[object, ...]:
    """The key by which a form or its reflection is chosen: fewer terms, then fewer negative ones, then their order."""
    found = [terms_of(leaf) for leaf in leaves]
    numbers = [k for terms, const in found for k in (*terms.values(), const) if k]
    order = sorted([dim_order(arithmetic.sum_of(dict(terms), const)) for terms, const in found])
    return len(numbers), sum([k < 0 for k in numbers]), order


def _atom_of(kind: Kind, clauses: list[Clause], duals: list[Clause]) -> Expr | None:
    """The atom of an element; None if its clauses cannot be computed from the atom."""
    found = lattice.tree(clauses, duals) if kind is Max else lattice.tree(duals, clauses)
    assert isinstance(found, tuple)
    kind, inner = found
    parts = [_built(part) for part in inner]
    atom = extremum_atom(kind, tuple(sorted(parts, key=dim_order)))
    if any(isinstance(part, tuple) for part in inner) and None in [
        lattice.of_unit(some, atom) for some in lattice.OTHER
    ]:
        return None
    return atom


def _built(part: Tree) -> Dim:
    return extremum_of(part[0], [_built(inner) for inner in part[1]]) if isinstance(part, tuple) else part


def _flattened(kind: Kind, dims: list[Dim]) -> list[Dim]:
    """The dimensions with the arguments of a maximum in place of one; for a minimum, those of a minimum."""
    return [part for dim in dims for part in (dim._parts if isinstance(dim, kind) else (dim,))]


def extremum_atom(kind: Kind, parts: tuple[Dim, ...]) -> Expr:
    """The maximum or minimum of sorted, shifted and undominated dimensions as an atom."""
    fingerprint = sequence_fingerprint(2 if kind is Max else 3, parts)
    found = find_unit(fingerprint, kind, parts)
    if found is not None:
        return found
    node: Extremum = object.__new__(kind)
    node._terms = None
    node._const = 0
    node._parts = parts
    node._fingerprint = fingerprint
    node._height = 1 + max([height_of(part) for part in parts])
    node._flags = EXTREMUM | SPLIT
    node._flags |= basis.flags_of(node)
    ranges = [bounds_of(part) for part in parts]
    node._bounds = greatest(ranges) if kind is Max else smallest(ranges)
    node._names = node._order = node._named = node._text = None
    return publish(node)
