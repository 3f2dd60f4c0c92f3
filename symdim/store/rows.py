"""The rules for equal rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.texts.printing import shortened
from symdim.rows import Row, RowVar
from symdim.store.constraints import RowEqual, RowsEqual

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.store.constraints import RankEdge
    from symdim.store.state import State


def row_equal(p: State, fact: RowEqual) -> bool:
    """Equate axes that meet, and give a variable the axes between.

    With variables in the middle of both sides this is a word equation. The overlap is equated; the rest waits until one
    of the variables is known. There is no search.
    """
    a, b = p.splice(fact.a), p.splice(fact.b)
    if a.variable is None and b.variable is None:
        if len(a.dims) != len(b.dims):
            raise p.ranks_differ(fact, a, b)
        _equate(p, fact, a.dims, b.dims)
        return True
    if a.variable is None or b.variable is None:
        closed, opened = (a, b) if a.variable is None else (b, a)
        _open_equals_closed(p, fact, opened, closed)
        return True
    before, after = min(len(a.lead), len(b.lead)), min(len(a.trail), len(b.trail))
    _equate(p, fact, a.lead[:before], b.lead[:before])
    _equate(p, fact, a.trail[len(a.trail) - after :], b.trail[len(b.trail) - after :], -after)
    a = Row(a.lead[before:], a.variable, a.trail[: len(a.trail) - after])
    b = Row(b.lead[before:], b.variable, b.trail[: len(b.trail) - after])
    if a.variable == b.variable:
        return _shifted(p, fact, a, b)
    for one, other in ((a, b), (b, a)):
        if not one.dims and one.variable is not None:
            p.bind_row(one.variable, other, fact)
            return True
    return False


def _equate(p: State, fact: RowEqual | RowsEqual, a: tuple[Dim, ...], b: tuple[Dim, ...], first: int = 0) -> None:
    for axis, (one, other) in enumerate(zip(a, b, strict=True), first):
        p.equate(one, other, fact, axis=axis)


def _open_equals_closed(p: State, fact: RowEqual, opened: Row, closed: Row) -> None:
    assert opened.variable is not None
    before, after = len(opened.lead), len(opened.trail)
    dims = closed.dims
    if len(dims) < before + after:
        raise p.ranks_differ(fact, opened, closed)
    end = len(dims) - after
    _equate(p, fact, opened.lead, dims[:before])
    _equate(p, fact, opened.trail, dims[end:], -after)
    p.bind_row(opened.variable, Row((), None, dims[before:end]), fact)


def _shifted(p: State, fact: RowEqual, a: Row, b: Row) -> bool:
    """A ++ r == r ++ B: A and B are rotations of each other."""
    if a.least_rank != b.least_rank:
        raise p.contradiction("infinite_rank", f"{fact}: a row would have more axes than itself", fact)
    if not a.dims:
        return True
    one, other = a.dims, b.dims
    if len(one) == 1:  # r repeats this axis
        _equate(p, fact, one, other)
        return False
    if not _rotations(p, one, other):
        raise p.contradiction(
            "size_mismatch", f"{fact}: {shortened(str(one))} is not a rotation of {shortened(str(other))}", fact
        )
    return False


def _rotations(p: State, a: tuple[Dim, ...], b: tuple[Dim, ...]) -> list[int]:
    """The k for which `a`, rotated by k axes, may equal `b`."""
    one, other = ([p.size(dim) for dim in dims] for dims in (a, b))
    return [k for k in range(len(one)) if not any(map(p.differ, one[k:] + one[:k], other))]


def shortest_row(p: State, fact: RowEqual) -> dict[RowVar, Row]:
    """The shortest row that solves A ++ r == r ++ B, where A == x ++ y and B == y ++ x: r == x."""
    a, b = p.splice(fact.a), p.splice(fact.b)
    if a.variable is None or a.variable != b.variable:
        return {}
    before, after = min(len(a.lead), len(b.lead)), min(len(a.trail), len(b.trail))
    trail = max(a.trail, b.trail, key=len)
    surplus = max(a.lead, b.lead, key=len)[before:], trail[: len(trail) - after]
    rotations = _rotations(p, *surplus)
    return {a.variable: Row((), None, surplus[0][: rotations[0]])} if rotations else {}


def rows_equal(p: State, fact: RowsEqual) -> bool:
    """Strip known axes at both ends. A single variable takes the rest; if nothing is left, all variables are empty."""
    word: list[Dim | RowVar] = []
    for row in fact.rows:
        row = p.splice(row)
        word += [*row.lead, *([] if row.variable is None else [row.variable]), *row.trail]
    places = [i for i, item in enumerate(word) if isinstance(item, RowVar)]
    known = len(word) - len(places)
    if known > len(fact.dims) or (known < len(fact.dims) and not places):
        raise p.ranks_differ(fact, Row((), None, fact.dims), Row((), None, _sizes(word)))
    first, last = (places[0], len(word) - places[-1] - 1) if places else (len(word), 0)
    _equate(p, fact, _sizes(word[:first]), fact.dims[:first])
    end = len(fact.dims) - last
    _equate(p, fact, _sizes(word[len(word) - last :]), fact.dims[end:], -last)
    variables = [item for item in word if isinstance(item, RowVar)]
    if len(variables) == 1:
        p.bind_row(variables[0], Row((), None, fact.dims[first:end]), fact)
        return True
    if known == len(fact.dims):
        for variable in dict.fromkeys(variables):
            p.bind_row(variable, Row(), fact)
        _equate(p, fact, _sizes(word), fact.dims)
        return True
    return False


def _sizes(word: list[Dim | RowVar]) -> tuple[Dim, ...]:
    return tuple(item for item in word if not isinstance(item, RowVar))


def rank_edge(p: State, fact: RankEdge) -> bool:
    """Ranks are compared in their graph."""
    p.ranks.add(fact.high, fact.low, fact.by, fact)
    return True
