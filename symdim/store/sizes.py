"""The rules for equalities, bounds and divisibilities of sizes, and for the numbers of windows of convolutions."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from symdim.algebra.canonical import ceildiv, maximum, minimum
from symdim.algebra.constructors.arithmetic import checked, product, total
from symdim.algebra.constructors.floordiv import mod
from symdim.algebra.constructors.long_division import common_powers, divided
from symdim.algebra.expr import Expr
from symdim.algebra.order import dim_order
from symdim.algebra.polynomials import terms_of, unit_of
from symdim.algebra.texts.written import leaf_count
from symdim.algebra.variable import Var
from symdim.errors import SymdimError
from symdim.store.constraints import (
    INDIVISIBLE,
    OUT_OF_RANGE,
    UNEQUAL,
    Bounds,
    Divisible,
    SizeEqual,
    kind_of,
)
from symdim.store.contents import variables_in
from symdim.store.intervals import narrow_within
from symdim.store.solution import MOST_NAMES

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.store.state import State


def equal(p: State, fact: SizeEqual) -> bool:
    """Solve a == b for a variable that occurs with coefficient 1 or -1, or narrow intervals."""
    if fact.law != "elements" and fact not in p.pending:
        p.unite((*variables_in(fact.a), *variables_in(fact.b)), fact)
    a, b = p.size(fact.a), p.size(fact.b)
    if a is b or a == b:
        return True
    if isinstance(a, int | Var) and isinstance(b, int | Var):
        return _atoms_equal(p, fact, a, b)
    difference = _without_common_factor(p, a - b)
    terms, const = terms_of(difference)
    if not terms:
        raise _violated(p, fact, UNEQUAL, a, b)
    if p.excludes(difference, 0):
        raise _violated(p, fact, OUT_OF_RANGE, a, b)
    content = gcd(*terms.values())
    if const % content:
        raise _violated(p, fact, INDIVISIBLE, a, b)
    terms, const = {monomial: k // content for monomial, k in terms.items()}, const // content
    if (v := _unknown(p, terms)) is not None:
        rest = [product((-k * terms[v], monomial)) for monomial, k in terms.items() if monomial is not v]
        value = total([*rest, -const * terms[v]])
        if v in p.unsolved or leaf_count(value) > MOST_NAMES:
            return False
        p.bind(v, value, fact)
        return True
    whole, value = total([product((k, monomial)) for monomial, k in terms.items()]), -const
    return narrow_within(p, fact, whole, (value, value))


def _atoms_equal(p: State, fact: SizeEqual, a: int | Var, b: int | Var) -> bool:
    if isinstance(a, int) or (isinstance(b, Var) and p.preference(a) < p.preference(b)):
        a, b = b, a  # a is the one to replace
    if isinstance(a, int):
        raise _violated(p, fact, UNEQUAL, a, b)
    p.bind(a, b, fact)
    return True


def _violated(p: State, fact: SizeEqual, situation: int, a: Dim, b: Dim) -> Exception:
    kind = kind_of(fact.law, situation)
    if fact.kernel is not None and variables_in(p.size(fact.kernel)):
        kind = "kernel_mismatch"
    sides = set(variables_in(a)) & set(variables_in(b))
    if isinstance(a, Var) or isinstance(b, Var) or situation == UNEQUAL:
        kind = kind if p.given(sides) else "occurs"  # a size would have to equal more than itself
    because = {UNEQUAL: "!=", INDIVISIBLE: "has no integer solution for ==", OUT_OF_RANGE: "is never"}[situation]
    return p.contradiction(kind, f"{fact}, but {a!r} {because} {b!r}", fact)


def _without_common_factor(p: State, dim: Dim) -> Dim:
    """A sum divided by the atoms that all its terms share, if these are not 0."""
    terms, const = terms_of(dim)
    if const or len(terms) < 2:
        return dim
    common = {atom: k for atom, k in common_powers([*terms]).items() if p.excludes(atom, 0)}
    return divided(terms, 0, 1, unit_of(common)) if common else dim


def _unknown(p: State, terms: dict[Expr, int]) -> Var | None:
    """The variable to solve a sum for: a generated one, or a given one with a simple expression for it."""
    inside = {v for monomial in terms if not isinstance(monomial, Var) for v in variables_in(monomial)}
    candidates = [v for v, k in terms.items() if isinstance(v, Var) and abs(k) == 1 and v not in inside]
    if generated := [v for v in candidates if v in p.generated]:
        return max(generated, key=p.preference)
    if not candidates or not p.given((*inside, *(v for v in terms if isinstance(v, Var)))):
        return None
    return max(candidates, key=lambda v: (_reads_well(terms, v), dim_order(v)))


def _reads_well(terms: dict[Expr, int], v: Var) -> bool:
    return all((k > 0) != (terms[v] > 0) for monomial, k in terms.items() if monomial is not v)


def bounds(p: State, fact: Bounds) -> bool:
    """Narrow the intervals of the variables in lo <= dim <= hi."""
    return narrow_within(p, fact, p.size(fact.dim), (fact.lo, fact.hi))


def divisible(p: State, fact: Divisible) -> bool:
    """Check a divisibility, and round the ends of the interval to multiples."""
    dim, by = p.size(fact.dim), p.size(fact.by)
    if by == 0:
        raise p.indivisible(fact, dim, by)
    rest = mod(dim, by)
    if isinstance(rest, int):
        if rest:
            raise p.indivisible(fact, dim, by)
        return True
    if not isinstance(by, int):
        return False
    terms, const = terms_of(dim)
    if const % gcd(by, *terms.values()):
        raise p.indivisible(fact, dim, by)
    if len(terms) == 1:
        ((v, k),) = terms.items()
        if isinstance(v, Var):
            common = gcd(k, by)
            step = by // common
            residue = -const // common * pow(k // common, -1, step) % step
            lo, hi = p.interval(v)
            least = None if lo is None else lo + (residue - lo) % step
            p.narrow(v, least, None if hi is None else hi - (hi - residue) % step, fact)
    return False


# windows

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def affine_size(over: Dim, stride: int, kernel: Dim | None, dilation: int, padding: bool) -> Dim:
    """The size of an axis with reads at stride*i + dilation*j, for i < over and j < kernel.

        stride*over                                       without a kernel, or with padding that keeps the size
        stride*(over - 1) + 1 + (kernel - 1)*dilation     otherwise

    >>> affine_size(3, 2, 3, 1, False), affine_size(3, 2, None, 1, True)
    (7, 6)
    """
    over = checked(over)
    if kernel is None or padding:
        return stride * over
    return stride * (over - 1) + 1 + (kernel - 1) * dilation


def windows(
    size: Dim,
    kernel: Dim,
    stride: int = 1,
    dilation: int = 1,
    pads: tuple[int, int] = (0, 0),
    auto_pad: str = "NOTSET",
    ceil: bool = False,
) -> Dim:
    """The number of windows in an axis as ONNX counts it.

        span     dilation*(kernel - 1) + 1
        SAME     ceil(size / stride)
        floor    (size + pads - span) // stride + 1
        ceil     the same rounded up, without a last window that would begin beyond the input and its left padding

    >>> windows(6, 3, 2), windows(6, 3, 2, ceil=True), windows(2, 1, 2, ceil=True)
    (2, 3, 1)
    """
    size, kernel = checked(size), checked(kernel)
    if auto_pad not in AUTO_PADS or stride < 1 or dilation < 1:
        raise SymdimError(f"a window cannot have stride {stride}, dilation {dilation} and auto_pad {auto_pad!r}")
    if auto_pad.startswith("SAME"):
        return ceildiv(size, stride)
    before, after = (0, 0) if auto_pad == "VALID" else pads
    room = free_room(size, kernel, dilation, before + after)
    if not ceil:
        return room // stride + 1
    over = room - size - before  # how far the last window may begin beyond the input
    return ceildiv(size + before + maximum(over, minimum(stride + over, 0)), stride)


def free_room(size: Dim, kernel: Dim, dilation: int, padding: int) -> Dim:
    """The size of the padded axis minus that of a window; negative if no window fits."""
    return size + padding - ((kernel - 1) * dilation + 1)
