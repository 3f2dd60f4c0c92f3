"""The length of an expression that is written out, and the work to build it.

Both depend on the expression alone, not on caches. So a limit on them always gives the same answer for a text.
"""

from __future__ import annotations

from symdim.algebra.application import Application
from symdim.algebra.caches import remembered
from symdim.algebra.evaluate import parts_first, parts_of
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Mul
from symdim.algebra.polynomials import terms_of
from symdim.algebra.texts.remainders import as_remainder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from symdim.algebra.expr import Dim

_LONGEST = 1 << 16  # bits of a power: more are not told apart

# In steps of about a microsecond:
_LATTICE = 1 << 12  # to make a maximum, minimum or half with others inside: many forms are tried
_COMPARED = 4  # for each term in an argument of a maximum: the terms of the arguments are compared
_LONG = 1 << 10  # for a division by a sum: terms are taken out of the numerator one by one
_DIVISIONS = 8  # the most divisions of a sum that are compared with each of its terms, for a remainder


def leaf_count(dim: Dim) -> int:
    """The number of variables in an expression that is written out. Shared parts count each time.

    The time is linear in the number of different parts; the text may be exponentially longer.

    >>> from symdim import Var, maximum
    >>> N = Var("N")
    >>> leaf_count(3), leaf_count(2 * N + 1), leaf_count(maximum(N // 2, 3) * N)
    (0, 1, 2)
    """
    if not isinstance(dim, Expr):
        return 0
    counts: dict[Expr, int] = {}
    for node, parts in parts_first(dim, counts, _parts_outside):
        counts[node] = max(1, sum([counts[p] for p in parts])) if parts else _leaves_inside(node)
    return counts[dim]


def _parts_outside(node: Expr) -> list[Expr]:
    """The parts of a node, but not the arguments of a function: sizes that share one are many."""
    return [] if isinstance(node, Application) else parts_of(node)


@remembered(1 << 10)
def _leaves_inside(node: Expr) -> int:
    """The number of variables in the arguments of a function; 1 for a variable."""
    counts: dict[Expr, int] = {}
    for inner, parts in parts_first(node, counts, parts_of):
        counts[inner] = max(1, sum([counts[p] for p in parts]))
    return counts[node]


class Written:
    """The lengths of expressions, and the work to build all of them. The work of shared parts counts once.

    >>> from symdim import Var, maximum
    >>> written, N, M = Written(), Var("N"), Var("M")
    >>> written.length(maximum(N, M) * N), written.length(N % 7), written.length(2**200 * M), written.length(7)
    (3, 1, 4, 1)
    >>> written.work, written.longest_number
    (18, 201)
    """

    __slots__ = ("lengths", "longest_number", "work")

    def __init__(self) -> None:
        self.lengths: dict[Expr, int] = {}
        self.longest_number = 0  # in bits
        self.work = 0  # in steps

    def length(self, dim: Dim) -> int:
        """The number of names in an expression as it is printed, plus the further 64-bit words in its numbers."""
        if not isinstance(dim, Expr):
            return 1 + (dim.bit_length() >> 6)
        lengths = self.lengths
        for node, parts in parts_first(dim, lengths, _parts_read):
            words = 0
            for number in _numbers(node):
                bits = number.bit_length()
                words += bits >> 6
                self.longest_number = max(self.longest_number, bits)
            lengths[node] = max(1, sum([lengths[p] for p in parts])) + words
            self.work += words + steps_of(node)
        return lengths[dim]


def _parts_read(node: Expr) -> list[Expr]:
    """The parts that a node is printed with: x and y of `x % y`, although its sum has x twice."""
    remainder = as_remainder(node)
    return parts_of(node) if remainder is None else [p for p in remainder if isinstance(p, Expr)]


def _numbers(node: Expr) -> Collection[int]:
    """The numbers in a node, without those in its parts; a power makes one of as many bits as its exponent."""
    if isinstance(node._parts, dict):
        return [1 << min(exponent, _LONGEST) - 1 for exponent in node._parts.values() if exponent >= 64]
    if node._terms is not None:
        return [node._const, *node._terms.values()]
    return [p for p in node._parts if isinstance(p, int)] if isinstance(node, FloorDiv | Extremum | Application) else ()


def steps_of(node: Expr) -> int:
    """About how many steps it takes to make a node from its parts; of a nest a usual number."""
    if node._terms is not None:
        size = len(node._terms)
        divisions = [monomial for monomial in node._terms if monomial._height and isinstance(monomial, FloorDiv | Mul)]
        return size + size * len(divisions) // _DIVISIONS
    if isinstance(node._parts, dict):
        return 2 * len(node._parts)
    if not isinstance(node, FloorDiv | Extremum):
        return len(node._parts) if isinstance(node, Application) else 0
    if is_nest(node):
        return _LATTICE
    monomials = [monomial for part in node._parts for monomial in terms_of(part)[0]]
    if isinstance(node, Extremum):
        return _COMPARED * len(monomials)
    divisor = node._parts[1]
    return len(monomials) + (_LONG if isinstance(divisor, Expr) and divisor._terms is not None else 0)


def is_nest(atom: FloorDiv | Extremum) -> bool:
    """Whether it is a maximum, minimum or half with others inside."""
    return atom._flags != 0 and any(monomial._flags for part in atom._parts for monomial in terms_of(part)[0])
