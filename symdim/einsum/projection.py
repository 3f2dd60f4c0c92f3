"""Projections: what the axes of one operation's tensors are indexed by, before iterators have names.

Every axis of every operand gets a projection of its own, so that neither equal sizes nor other operations tie two axes
together; the equations of the operation do. Classes of equal projections become iterators, or fixed indices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from symdim.algebra.canonical import minimum
from symdim.algebra.dims import differ
from symdim.algebra.printing import to_text
from symdim.einsum.index import Concat, Dim, Fixed, Index, Iterator, Static, affine, terms_of
from symdim.einsum.spec import SpecError


class Sum(NamedTuple):
    """`sum(coefficient * projection) + offset`."""

    terms: tuple[tuple[Dim, int], ...] = ()
    offset: Dim = 0


class Parts(NamedTuple):
    """Projections one after the other."""

    parts: tuple[int, ...]


Term: TypeAlias = Sum | Parts
Margin: TypeAlias = tuple[Dim, Dim]
"""How far reads may go beyond the first and the last element of an axis."""
NO_MARGIN: Margin = (0, 0)


@dataclass(frozen=True, slots=True)
class Access:
    """A tensor's axes, in the order of storage: what indexes each, its size and its padding margin."""

    terms: tuple[Term, ...]
    shape: tuple[Dim, ...]
    margins: tuple[Margin, ...]

    @classmethod
    def of(cls, axes: Iterable[tuple[Term, Dim, Margin]]) -> Access:
        """The access with these axes."""
        terms, shape, margins = tuple(zip(*axes, strict=True)) or ((), (), ())
        return cls(terms, shape, margins)


class Projections:
    """Classes of equal projections, each with a name, a size and, where it is not iterated over, its given index."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._names: list[str] = []
        self._sizes: list[Dim] = []
        self._given: dict[int, Fixed | Static] = {}

    def fresh(self, name: str, size: Dim) -> int:
        """A projection that equals no other one."""
        self._parents.append(len(self._parents))
        self._names.append(name)
        self._sizes.append(size)
        return self._parents[-1]

    def find(self, projection: int) -> int:
        """The representative of a class: its first member."""
        root = projection
        while self._parents[root] != root:
            root = self._parents[root]
        while self._parents[projection] != root:
            self._parents[projection], projection = root, self._parents[projection]
        return root

    def equate(self, a: int, b: int) -> None:
        """The two projections are one; SpecError where their sizes provably differ, or their given indices do."""
        first, second = sorted((self.find(a), self.find(b)))
        if first == second:
            return
        sizes = self._sizes[first], self._sizes[second]
        if differ(*sizes):
            names = f"{self._names[first]!r} and {self._names[second]!r}"
            raise SpecError("size_mismatch", f"sizes of {names} differ: {to_text(sizes[0])} and {to_text(sizes[1])}")
        self._parents[second] = first
        if not isinstance(sizes[0], int):
            self._sizes[first] = sizes[1] if isinstance(sizes[1], int) else sizes[0]
        if second in self._given:
            self.give(first, self._given.pop(second))

    def give(self, projection: int, index: Fixed | Static) -> None:
        """The projection is not iterated over; SpecError where it has another index already."""
        root = self.find(projection)
        known = self._given.setdefault(root, index)
        if known != index:
            raise SpecError("index_mismatch", f"{self._names[root]!r} is indexed by {known} and by {index}")

    def size(self, projection: int) -> Dim:
        """The size of its class."""
        return self._sizes[self.find(projection)]

    @property
    def statics(self) -> tuple[str, ...]:
        """The names of the indices that are given when the loops are run."""
        return tuple(dict.fromkeys(given.name for given in self._given.values() if isinstance(given, Static)))

    def indices(self, accesses: Sequence[Access]) -> tuple[list[list[Index]], list[list[tuple[str, Dim]]]]:
        """The indices of the accesses, and the components of iterators with their sizes.

        An iterator per class of size other than 1 that is given no index; parts of a concatenation have one whatever
        their size is, but for empty parts, which vanish. A component holds the iterators that concatenations join, in
        the order in which they stand there; components come in the order of their first use.
        """
        joined = [[self.find(p) for p in t.parts] for access in accesses for t in access.terms if isinstance(t, Parts)]
        members = {root for parts in joined for root in parts}
        names: dict[int, str] = {}

        def index_of(root: int) -> Index:
            if root in self._given:
                return self._given[root]
            if self._sizes[root] == 1 and root not in members:
                return Fixed(0)
            if root not in names:
                names[root] = _unused(self._names[root], {*names.values(), *self.statics})
            return Iterator(names[root])

        def index(term: Term) -> Index:
            if isinstance(term, Parts):
                parts = [index_of(self.find(p)) for p in term.parts if self.size(p) != 0]
                iterators = [part.name for part in parts if isinstance(part, Iterator)]
                if len(iterators) < len(parts):
                    names_of = " and ".join(self._names[self.find(p)] for p in term.parts)
                    raise SpecError("index_mismatch", f"a part of the concatenation of {names_of} has a given index")
                return parts[0] if len(parts) == 1 else Concat(tuple(iterators))
            terms: list[tuple[Dim, str]] = []
            offset = term.offset
            for coefficient, projection in term.terms:
                inner, constant = terms_of(index_of(self.find(projection)))
                terms += [(coefficient * factor, name) for factor, name in inner]
                offset = offset + coefficient * constant
            simplest = affine(terms, offset)
            if isinstance(simplest, Iterator) and simplest.name in self.statics:
                return Static(simplest.name)
            return simplest

        indices = [[index(term) for term in access.terms] for access in accesses]
        groups = _connected([*([root] for root in names), *joined])
        walked = [root for parts in joined for root in parts]
        groups = [sorted(group, key=walked.index) if len(group) > 1 else group for group in groups]
        # A part that is empty vanishes but still joins the others: what holds for sizes above 0 holds for it.
        return indices, [
            [(names[r], self._sizes[r]) for r in group if len(group) == 1 or self._sizes[r] != 0] for group in groups
        ]


def _connected(edges: Iterable[list[int]]) -> list[list[int]]:
    """The connected components of a hypergraph, in the order of the first edges that touch them."""
    groups: list[list[int]] = []
    for edge in edges:
        linked = [group for group in groups if not set(edge).isdisjoint(group)]
        merged = list(dict.fromkeys([member for group in linked for member in group] + edge))
        place = groups.index(linked[0]) if linked else len(groups)
        groups[place : place + 1] = [merged]
        groups = [group for group in groups if group is merged or group not in linked]
    return groups


def broadcast_term(projections: Projections, projection: int, size: Dim) -> Sum:
    """The index of an axis of this size that is stretched along a projection where it is 1.

    Where a symbolic size may be 1 and another one, the coefficient of the iterator is 0 for 1 and 1 otherwise.
    """
    whole = projections.size(projection)
    if size == 1:
        return Sum()
    if size is not whole and not differ(size, 1) and not (isinstance(whole, int) and whole == size):
        return Sum(((minimum(size - 1, 1), projection),))
    own = projections.fresh("axis", size)
    projections.equate(projection, own)
    return Sum(((1, own),))


def _unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken."""
    count, candidate = 1, name
    while candidate in taken:
        count += 1
        candidate = f"{name}{count}"
    return candidate
