"""Projections: the indices of the axes of one operation, before iterators have names.

Every axis of every operand gets its own projection. Only the equations of the operation make projections equal, never
equal sizes or other operations. Classes of equal projections become iterators, or fixed indices.

The index of an axis is a function of iterators. A `Plan` consists of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from symdim.algebra.canonical import minimum
from symdim.algebra.dims import differ
from symdim.algebra.expr import Expr
from symdim.algebra.named_tuple import NamedTuple
from symdim.einsum.spec import SpecError

Dim: TypeAlias = int | Expr
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Iterator:
    """The value of one iterator."""

    name: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """One position."""

    position: int


@dataclass(frozen=True, slots=True)
class Static:
    """A position that is given when the loops are run."""

    name: str


@dataclass(frozen=True, slots=True)
class Affine:
    """`sum(coefficient * iterator) + offset`, with coefficients other than 0. Simpler indices are other nodes."""

    terms: tuple[tuple[Dim, str], ...]
    offset: Dim = 0


@dataclass(frozen=True, slots=True)
class Concat:
    """One of several iterators, each offset by the sizes of the parts before it."""

    parts: tuple[str, ...]


Index: TypeAlias = Iterator | Fixed | Static | Affine | Concat


def affine(terms: Iterable[tuple[Dim, str]], offset: Dim = 0) -> Index:
    """The simplest node for a sum of iterators; terms with the same iterator are combined.

    >>> affine([(1, "i")]), affine([(2, "i"), (1, "k"), (1, "i")], 1)
    (Iterator(name='i'), Affine(terms=((3, 'i'), (1, 'k')), offset=1))
    """
    collected: dict[str, Dim] = {}
    for coefficient, name in terms:
        collected[name] = collected.get(name, 0) + coefficient
    left = tuple((coefficient, name) for name, coefficient in collected.items() if coefficient != 0)
    if not left and isinstance(offset, int):
        return Fixed(offset)
    if offset == 0 and len(left) == 1 and left[0][0] == 1:
        return Iterator(left[0][1])
    return Affine(left, offset)


def terms_of(index: Index) -> tuple[tuple[tuple[Dim, str], ...], Dim]:
    """The terms and the offset of an index that is not a Concat."""
    match index:
        case Iterator(name) | Static(name):
            return ((1, name),), 0
        case Fixed(position):
            return (), position
        case Affine(terms, offset):
            return terms, offset
    raise TypeError(f"the index {'^'.join(index.parts)} is not affine")


def iterators_of(index: Index) -> tuple[str, ...]:
    """The names of the iterators, and of the given positions, in an index."""
    match index:
        case Iterator(name) | Static(name):
            return (name,)
        case Affine(terms):
            return tuple(name for _, name in terms)
        case Concat(parts):
            return parts
        case _:
            return ()


def in_walk(index: Index, walked: Collection[str], sizes: Mapping[str, Dim]) -> Index | None:
    """The index while the iterators `walked` run; None if none of its parts is walked.

    >>> in_walk(Concat(("a", "b")), {"b"}, {"a": 3, "b": 2})
    Affine(terms=((1, 'b'),), offset=3)
    """
    if not isinstance(index, Concat):
        return index if all(name in walked for name in iterators_of(index)) else None
    start: Dim = 0
    for part in index.parts:
        if part in walked:
            return affine([(1, part)], start)
        start += sizes[part]
    return None


class Sum(NamedTuple):
    """`sum(coefficient * projection) + offset`."""

    terms: tuple[tuple[Dim, int], ...] = ()
    offset: Dim = 0


class Parts(NamedTuple):
    """Projections one after the other."""

    parts: tuple[int, ...]


Term: TypeAlias = Sum | Parts
Margin: TypeAlias = tuple[Dim, Dim]
"""How far reads may go beyond the first and beyond the last element of an axis."""
NO_MARGIN: Margin = (0, 0)


Access: TypeAlias = list[tuple[Term, Dim, Margin]]
"""A tensor's axes in the order of storage, each with its index, its size and its padding margin."""
Components: TypeAlias = tuple[tuple[tuple[str, Dim], ...], ...]
"""Iterators with their sizes. Those that concatenations join are one component."""


class Projections:
    """Classes of equal projections, each with a name and a size, and with an index if it has no loop."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._names: list[str] = []
        self._sizes: list[Dim] = []
        self._given: dict[int, Fixed | Static] = {}
        self._iterators: dict[int, str] = {}
        self._joined: set[int] = set()  # the classes in concatenations

    def fresh(self, name: str, size: Dim) -> int:
        """A new projection that equals no other."""
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
        """Make two projections equal; SpecError if their sizes or their given indices provably differ."""
        first, second = sorted((self.find(a), self.find(b)))
        if first == second:
            return
        sizes = self._sizes[first], self._sizes[second]
        if differ(*sizes):
            names = f"{self._names[first]!r} and {self._names[second]!r}"
            raise SpecError("size_mismatch", f"sizes of {names} differ: {sizes[0]!r} and {sizes[1]!r}")
        self._parents[second] = first
        if not isinstance(sizes[0], int):
            self._sizes[first] = sizes[1] if isinstance(sizes[1], int) else sizes[0]
        if second in self._given:
            self.give(first, self._given.pop(second))

    def give(self, projection: int, index: Fixed | Static) -> None:
        """Give the projection an index instead of a loop; SpecError if it already has a different index."""
        root = self.find(projection)
        known = self._given.setdefault(root, index)
        if known != index:
            raise SpecError("index_mismatch", f"{self._names[root]!r} is indexed by {known} and by {index}")

    def size(self, projection: int) -> Dim:
        """The size of the projection's class."""
        return self._sizes[self.find(projection)]

    @property
    def statics(self) -> tuple[str, ...]:
        """The names of the indices that are given when the loops run."""
        return tuple(dict.fromkeys(given.name for given in self._given.values() if isinstance(given, Static)))

    def indices(self, accesses: Sequence[Access]) -> tuple[list[tuple[Index, ...]], Components]:
        """The indices of the accesses, and the components of iterators with their sizes.

        A class without a given index has an iterator unless its size is 1. Parts of a concatenation always have one,
        except empty parts, which vanish. A component holds the iterators that concatenations join, in their order
        there. Components come in the order of their first use.
        """
        joined = [[self.find(p) for p in t.parts] for access in accesses for t, *_ in access if isinstance(t, Parts)]
        walked = [root for parts in joined for root in parts]
        self._joined.update(walked)
        indices = [tuple([self._index(term) for term, *_ in access]) for access in accesses]
        names = self._iterators
        groups = connected([*([root] for root in names), *joined])
        groups = [sorted(group, key=walked.index) if len(group) > 1 else group for group in groups]
        # An empty part vanishes but still joins the others, as it does with a size above 0.
        return indices, tuple(
            tuple((names[r], self._sizes[r]) for r in group if len(group) == 1 or self._sizes[r] != 0)
            for group in groups
        )

    def _index(self, term: Term) -> Index:
        """The index of an axis."""
        if isinstance(term, Parts):
            return self._concatenation(term)
        terms: list[tuple[Dim, str]] = []
        offset = term.offset
        for coefficient, projection in term.terms:
            inner, constant = terms_of(self._index_of(self.find(projection)))
            terms += [(coefficient * factor, name) for factor, name in inner]
            offset = offset + coefficient * constant
        simplest = affine(terms, offset)
        if isinstance(simplest, Iterator) and simplest.name in self.statics:
            return Static(simplest.name)
        return simplest

    def _concatenation(self, term: Parts) -> Index:
        parts = [self._index_of(self.find(p)) for p in term.parts if self.size(p) != 0]
        iterators = [part.name for part in parts if isinstance(part, Iterator)]
        if len(iterators) < len(parts):
            names_of = " and ".join(self._names[self.find(p)] for p in term.parts)
            raise SpecError("index_mismatch", f"the concatenation of {names_of} has a part with a given index")
        return parts[0] if len(parts) == 1 else Concat(tuple(iterators))

    def _index_of(self, root: int) -> Index:
        """The index of a class: the given one, 0 for the only position, else its iterator."""
        if root in self._given:
            return self._given[root]
        if self._sizes[root] == 1 and root not in self._joined:
            return Fixed(0)
        if root not in self._iterators:
            self._iterators[root] = _unused(self._names[root], {*self._iterators.values(), *self.statics})
        return Iterator(self._iterators[root])


def connected(edges: Iterable[list[T]]) -> list[list[T]]:
    """The connected components of a hypergraph, in the order of their first edges.

    >>> connected([["a", "c"], ["d"], ["b", "c"]])
    [['a', 'c', 'b'], ['d']]
    """
    groups: list[list[T]] = []
    for edge in edges:
        linked = [group for group in groups if not set(edge).isdisjoint(group)]
        merged = list(dict.fromkeys([member for group in linked for member in group] + edge))
        place = groups.index(linked[0]) if linked else len(groups)
        groups[place : place + 1] = [merged]
        groups = [group for group in groups if group is merged or group not in linked]
    return groups


def broadcast_term(projections: Projections, projection: int, size: Dim) -> Sum:
    """The index of an axis of this size, which is stretched along a projection if the size is 1.

    If a symbolic size may be 1 or larger, the coefficient of the iterator is an expression: 0 for 1, and 1 otherwise.
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
    """The name, with a number if it is taken."""
    count, candidate = 1, name
    while candidate in taken:
        count += 1
        candidate = f"{name}{count}"
    return candidate
