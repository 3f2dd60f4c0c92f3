"""The index of an axis as a function of iterators. A `Plan` consists of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from symdim.algebra.expr import Expr

Dim: TypeAlias = int | Expr


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
