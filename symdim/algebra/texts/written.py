"""The length of an expression that is written out, and the work to build it: the one cost model, for texts and proofs.

Both depend on the expression alone, not on caches. So a limit ends at the same place on every machine. Work is in
microseconds of a usual machine. Nearly all of it goes into nests: maxima, minima and halves of each other. The
constructors compare pairs of their arguments, so a nest of 16 leaves takes some 25 milliseconds.
"""

from __future__ import annotations

from symdim.algebra.application import Application
from symdim.algebra.caches import remembered
from symdim.algebra.evaluate import parts_first, parts_of
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Mul
from symdim.algebra.polynomials import EXTREMUM, terms_of
from symdim.algebra.texts.remainders import as_remainder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from symdim.algebra.expr import Dim

_LONGEST = 1 << 16  # bits of a power: more are not told apart

_PAIR = 96  # for a pair of leaves of a nest
_LEAVES = 16  # the most leaves that count
_SUM = 256  # for a sum with a nest beside other terms, and a numerator with one: intervals see what terms share
_DIVISION = 64  # for each term of a numerator and each term of the divisor: one is taken out of the other
_ATOM = 16  # for each term of a numerator, if the divisor is a number: its interval, and attempts to take it apart
_COMPARED = 64  # for each term of the arguments of a maximum: they are compared
_DIVISIONS = 8  # divisions of a sum that are compared with each of its terms, for a remainder


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
    (138, 201)
    """

    __slots__ = ("_leaves", "lengths", "longest_number", "work")

    def __init__(self) -> None:
        self.lengths: dict[Expr, int] = {}
        self.longest_number = 0  # in bits
        self.work = 0  # in microseconds of a usual machine: `work_of`
        self._leaves: dict[Expr, int] = {}

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
            self.work += words + work_of(node, self._leaves)
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


def work_of(node: Expr, leaves: dict[Expr, int]) -> int:
    """The work to make a node from its parts. `leaves` remembers how many each nest has.

    >>> from symdim import Var, maximum, minimum
    >>> N, M = Var("N"), Var("M")
    >>> [work_of(e, {}) for e in (N + M, N // 2, maximum(N, M), minimum(maximum(N, 3), 9))]
    [2, 16, 128, 864]
    """
    if node._terms is not None:
        size = len(node._terms)
        divisions = [unit for unit in node._terms if unit._height and isinstance(unit, FloorDiv | Mul)]
        has_nest = size > 1 and EXTREMUM in [unit._flags & EXTREMUM for unit in node._terms]
        return size + size * len(divisions) // _DIVISIONS + (_SUM if has_nest else 0)
    if isinstance(node._parts, dict):
        return 2 * len(node._parts)
    if not isinstance(node, FloorDiv | Extremum):
        return len(node._parts) if isinstance(node, Application) else 0
    units = [unit for part in node._parts for unit in terms_of(part)[0]]
    if node._flags and any(unit._flags for unit in units):
        return _PAIR * _leaves_of(node, leaves) ** 2
    return _alone(node, len(units)) + _SUM * len(_nested_in(node))


def _alone(atom: FloorDiv | Extremum, size: int) -> int:
    """The work to make an atom that is no nest, of so many terms."""
    if isinstance(atom, Extremum):
        return _COMPARED * size
    n, d = [terms_of(part)[0] for part in atom._parts]
    return _DIVISION * (1 + len(n)) * (1 + len(d)) if d else _ATOM * size


def _leaves_of(nest: Expr, known: dict[Expr, int]) -> int:
    """The number of sums and numbers in a nest, at most `_LEAVES`."""
    for node, inner in parts_first(nest, known, _nested_in):
        alone = len(node._parts) - len(inner) if isinstance(node, FloorDiv | Extremum) and node._terms is None else 0
        known[node] = min(max(1, alone + sum([known[part] for part in inner])), _LEAVES)
    return known[nest]


def _nested_in(node: Expr) -> list[Expr]:
    """The parts of a node that are nests, or sums and products with nests in them."""
    return [p for p in parts_of(node) if any(u._flags & EXTREMUM for u in ([p] if p._terms is None else p._terms))]
