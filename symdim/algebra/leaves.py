"""How large an expression is when written out."""

from __future__ import annotations

from symdim.algebra.expr import Expr, Extremum, FloorDiv, Mod, Mul
from symdim.algebra.monomial import terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from symdim.algebra.expr import Dim


_LATTICE = 1 << 12  # what a maximum, minimum or half with others inside costs: many forms are tried
_DIVISIONS = 8


def leaf_count(dim: Dim) -> int:
    """The number of variables in an expression written out; shared parts count each time they occur.

    It takes time in the number of different parts, although the text may be exponentially longer.

    >>> from symdim import Var, maximum
    >>> N = Var("N")
    >>> leaf_count(3), leaf_count(2 * N + 1), leaf_count(maximum(N // 2, 3) * N)
    (0, 1, 2)
    """
    counts: dict[Expr, int] = {}

    def count(node: Expr, parts: list[Expr]) -> None:
        counts[node] = max(1, sum([counts[p] for p in parts]))

    if not isinstance(dim, Expr):
        return 0
    _each_once(dim, counts, _parts, count)
    return counts[dim]


class Written:
    """The lengths of some expressions, and the work of building them; a part that several share is work once.

    >>> from symdim import Var
    >>> written, N, M = Written(), Var("N"), Var("M")
    >>> written.length(N % 7), written.length(M + 2**200), written.work
    (1, 4, 0)
    """

    __slots__ = ("lengths", "longest_number", "work")

    def __init__(self) -> None:
        self.lengths: dict[Expr, int] = {}
        self.longest_number = 0  # in bits
        self.work = 0

    def length(self, dim: Dim) -> int:
        """The number of names in an expression as written, and of 64-bit words of large numbers."""
        if not isinstance(dim, Expr):
            return 1 + (dim.bit_length() >> 6)
        if dim not in self.lengths:
            _each_once(dim, self.lengths, _read_parts, self._add)
        return self.lengths[dim]

    def _add(self, node: Expr, parts: list[Expr]) -> None:
        words = 0
        for number in _numbers(node):
            bits = number.bit_length()
            words += bits >> 6
            self.longest_number = max(self.longest_number, bits)
        lengths = self.lengths
        lengths[node] = max(1, sum([lengths[p] for p in parts])) + words
        self.work += words + _work(node)


def _work(node: Expr) -> int:
    """About how many terms are looked at when a node is made."""
    if node.terms is not None:
        size = len(node.terms)
        divisions = sum([isinstance(unit, FloorDiv | Mul) and unit.height > 0 for unit in node.terms])
        return size + size * divisions // _DIVISIONS  # for each division, a remainder is looked for in all terms
    parts = node.parts
    if isinstance(parts, dict):
        return 2 * len(parts)
    if not isinstance(parts, tuple):
        return 0
    nested = node.lattice and any(unit.lattice for part in parts for unit in terms_of(part)[0])
    return _LATTICE if nested else len(parts)


def _each_once(
    dim: Expr, known: dict[Expr, int], parts_of: Callable[[Expr], list[Expr]], visit: Callable[[Expr, list[Expr]], None]
) -> None:
    """Visit the parts that are not known, and then the expression; a visit makes it known."""
    pending = [dim]
    while pending:
        node = pending[-1]
        if node in known:
            pending.pop()
            continue
        parts = parts_of(node)
        missing = [p for p in parts if p not in known]
        if missing:
            pending += missing
            continue
        visit(node, parts)
        pending.pop()


def _parts(node: Expr) -> list[Expr]:
    """The expressions that a node is made of."""
    if node.terms is not None:
        return list(node.terms)
    parts: Iterable[object] = node.parts or ()  # type: ignore[assignment]
    return [p for p in parts if isinstance(p, Expr)]


def _read_parts(node: Expr) -> list[Expr]:
    """The same as a node reads: x and y of `x % y`, which is made of x twice."""
    if type(node) is Mod:
        return [p for p in operands_of(node) if isinstance(p, Expr)]
    return _parts(node)


def _numbers(node: Expr) -> Iterable[int]:
    """The numbers that a node is made of."""
    if node.terms is not None:
        return [node.const, *node.terms.values()]
    if isinstance(node, FloorDiv | Extremum):
        return [p for p in node.parts if isinstance(p, int)]
    return ()


from symdim.algebra.display import operands_of  # noqa: E402
