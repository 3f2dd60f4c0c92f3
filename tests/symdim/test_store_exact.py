"""What a few broadcasts say about sizes is exact: the store leaves the sizes that some solution has, and no others."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING

import pytest

from symdim import Dim, Row, Store, Var
from symdim.rows import RowVar
from symdim.store import Contradiction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fact = tuple[Dim, ...]

A, B, C = Var.fresh("a", 1, 3), Var.fresh("b", 1, 3), Var.fresh("c", 2, 3)
SIZES: list[Dim] = [0, 1, 2, 3, A, B, C]


def refines(result: int, operand: int) -> bool:
    return operand in (1, result)


def joins(result: int, *operands: int) -> bool:
    others = {operand for operand in operands if operand != 1}
    return others <= {result} and (bool(others) or result == 1)


def state_join(store: Store, result: Dim, *operands: Dim) -> None:
    store.bcast(Row.of([result]), [Row.of([operand]) for operand in operands])


def values(fact: Fact, model: dict[Var, int]) -> list[int]:
    return [model[dim] if isinstance(dim, Var) else int(str(dim)) for dim in fact]


def check(facts: Sequence[Fact], state: Callable[..., None], holds: Callable[..., bool]) -> None:
    """Compare the candidates of each size with its values in all solutions."""
    variables = [v for v in (A, B, C) if any(v is dim for fact in facts for dim in fact)]
    points = product(*(range(v.lo or 0, (v.hi or 0) + 1) for v in variables))
    models = [dict(zip(variables, point, strict=True)) for point in points]
    found = [model for model in models if all(holds(*values(fact, model)) for fact in facts)]
    store = Store()
    for fact in facts:
        state(store, *fact)
    if not found:
        with pytest.raises(Contradiction):
            store.propagate()
        return
    for v in variables:
        assert {*(store.candidates(v) or ())} == {model[v] for model in found}, (facts, v)


@pytest.mark.parametrize("first", [*product(SIZES, repeat=2)], ids=str)
def test_two_sizes_that_are_broadcast_to_others(first: Fact) -> None:
    for second in product(SIZES, repeat=2):
        check([first, second], Store.refine, refines)


@pytest.mark.parametrize("result", SIZES, ids=str)
def test_the_size_of_a_join(result: Dim) -> None:
    for count in (1, 2, 3):
        for operands in combinations_with_replacement(SIZES, count):
            check([(result, *operands)], state_join, joins)


def test_sizes_that_broadcast_to_each_other_are_equal() -> None:
    check([(A, B), (B, A)], Store.refine, refines)
    check([(A, B), (B, C), (C, A)], Store.refine, refines)
    store, (p, q, r) = Store(), [Var(name) for name in "pqr"]
    store.refine(p, q)
    store.refine(q, r)
    assert len({store.value(size) for size in (p, q, r)}) == 3
    store.refine(q, p)
    assert len({store.value(size) for size in (p, q, r)}) == 2


ROWS = [
    ([], []),
    ([2], [2]),
    ([2, 3], [2, 3]),
    (["r"], ["s"]),
    ([2, "r"], [2, "s"]),
    ([2, "r"], [2, 3]),
    (["r", 3], [2, 3]),
    ([2, "r", 3], [2, 3]),
    ([2, "r", 3], [2, 1, 3]),
    ([2, "r"], ["s", 2]),
    (["r", 2], ["s", 1, 2]),
    ([1, 2, "r"], [1, "s"]),
    (["r", 2], [2, "r"]),
    ([2, "r"], [2, "r"]),
    ([2], [3]),
    ([2], [2, 3]),
    ([2, "r"], [3, "s"]),
    ([2, "r", 3], [2]),
    (["r", 2], [3, "r"]),
    (["r", 2, 3], [3, "r"]),
]


@pytest.mark.parametrize(("one", "other"), ROWS, ids=str)
def test_equal_rows(one: list[int | str], other: list[int | str]) -> None:
    """The ranks and the axes that all solutions have, found by trying short rows."""
    short = [row for rank in range(4) for row in product((1, 2, 3), repeat=rank)]
    names = [RowVar("r"), RowVar("s")]

    def axes(word: list[int | str], r: tuple[int, ...], s: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(n for item in word for n in (r if item == "r" else s if item == "s" else (int(item),)))

    found = [(r, s) for r, s in product(short, short) if axes(one, r, s) == axes(other, r, s)]
    store = Store()
    store.eq_row(*(Row.of([RowVar(item) if isinstance(item, str) else item for item in word]) for word in (one, other)))
    if not found:
        with pytest.raises(Contradiction):
            store.propagate()
        return
    for place, name in enumerate(names):
        if not any(item == name.name for item in (*one, *other)):
            continue
        rows = [solution[place] for solution in found]
        ranks = {len(row) for row in rows}
        least, most = store.rank_bounds(Row((), name))
        assert (least, most) == (min(ranks), max(ranks) if is_number(one) or is_number(other) else None)
        known = store.row(Row((), name))
        if ranks == {known.rank}:
            assert all(isinstance(dim, int) for dim in known.dims) == (len(set(rows)) == 1)
        assert all(row[: len(known.lead)] == known.lead or not is_number(known.lead) for row in rows)


def is_number(dims: Sequence[Dim | str]) -> bool:
    return all(isinstance(dim, int) for dim in dims)
