"""A question that fails, by an error or an interrupt at any step, leaves every constraint stated and pending."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import symdim.store
from symdim import Row, Scope, Store, Var
from symdim.errors import DivisionByZero
from symdim.store import Contradiction
from symdim.store.answers import Answers
from tests.nightly import is_nightly

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

ROOM = str(Path(symdim.store.__file__).parent)


class Interrupt(KeyboardInterrupt):
    """Stands for Ctrl-C."""


def interrupted_at(step: int, question: Callable[[], object]) -> bool:
    """Ask a question, with an interrupt at this line that the store executes; return whether it came so far."""
    left = step

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                raise Interrupt
        return line

    def call(frame: FrameType, _: str, __: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(ROOM) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        question()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def sizes() -> tuple[Store, Callable[[], object]]:
    scope = Scope()
    n, m, k, h = (scope.var(name, 0) for name in "nmkh")
    store = Store()
    store.eq(2 * n, m + k, origin="first")
    store.eq(k, 3)
    store.eq((h - 1) // 2, 4, origin="window")
    store.divisible(n * h, 4)
    store.bounds(m, hi=20)
    join = store.fresh()
    store.bcast(Row.of([join]), [Row.of([n]), Row.of([h])])
    wanted = (n, m, k, h, join, n * h + m)
    return store, lambda: (
        [str(store.value(v)) for v in wanted],
        [store.interval(v) for v in wanted],
        [str(guard) for guard in store.guards()],
        store.explain(n),
    )


def rows() -> tuple[Store, Callable[[], object]]:
    store, x, y, z = Store(), Row.unknown("x"), Row.unknown("y"), Row.unknown("z")
    store.eq_row(x, Row.of(["N", 3, "H"]))
    store.refine_row(y, x)
    store.rank(y, 3, 3)
    store.rank(z, 2, 2)
    store.elements([z], store.count(x))
    return store, lambda: [str(store.row(row)) for row in (x, y, z)] + [str(guard) for guard in store.guards()]


def contradictory() -> tuple[Store, Callable[[], object]]:
    store, scope = Store(), Scope()
    x, y = scope.var("x", 0), scope.var("y", 0)
    store.eq(y // x, 3, origin="the quotient")
    store.eq(x, 0, origin="the divisor")

    def question() -> object:
        with pytest.raises(Contradiction) as caught:
            store.value(y)
        return str(caught.value), caught.value.kind

    return store, question


@pytest.mark.parametrize("made", [sizes, rows, contradictory])
def test_an_interrupt_loses_nothing(made: Callable[[], tuple[Store, Callable[[], object]]]) -> None:
    expected = made()[1]()
    for step in count(1, 7 if is_nightly else 61):
        store, question = made()
        stated = repr(store)
        went_on = interrupted_at(step, question)
        assert repr(store) == stated
        assert question() == expected
        assert question() == expected
        if not went_on:
            assert step > 100
            break


def test_what_is_stated_after_an_interrupt_joins_the_rest() -> None:
    for step in (5, 60, 200, 350):
        store, question = sizes()
        interrupted_at(step, question)
        store.bounds(Var("late"), 7, 7)
        assert store.value(Var("late")) == 7
        whole, same = sizes()
        whole.bounds(Var("late"), 7, 7)
        assert question() == same()


def test_closing_is_done_or_not_begun() -> None:
    def made() -> tuple[Store, Row]:
        store, leaf = Store(), Row.unknown("leaf")
        store.refine_row(Row.of([2, 3, 4]), leaf)
        store.rank(leaf, 2)
        return store, leaf

    whole, leaf = made()
    whole.close(leaves=[leaf])
    for step in count(1, 37):
        store, row = made()
        store.propagate()
        if not interrupted_at(step, lambda store=store, row=row: store.close(leaves=[row])):
            break
        assert store.row(row).is_open == (store.row(row) != whole.row(leaf))
        store.close(leaves=[row])
        assert store.row(row) == whole.row(leaf)


def test_any_error_leaves_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    _, question = sizes()
    expected = sizes()[1]()

    def fails(self: Answers, state: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Answers, "__init__", fails)
        with pytest.raises(MemoryError):
            question()
    assert question() == expected


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("asked_between", [False, True])
def test_a_constraint_without_a_value_is_a_contradiction_with_both_origins(order: int, asked_between: bool) -> None:
    scope = Scope()
    x, y, z = (scope.var(name, 0) for name in "xyz")
    for fact in (
        lambda store: store.eq(y // x, 3, origin="quotient"),
        lambda store: store.eq(z, y // x, origin="quotient"),
        lambda store: store.bounds(y % x, 1, 5, origin="quotient"),
        lambda store: store.divisible(y // x + z, 4, origin="quotient"),
        lambda store: store.refine(z, y // x + 1, origin="quotient"),
        lambda store: store.eq_row(Row.of([z, y // x]), Row.of([4, 5]), origin="quotient"),
    ):
        store = Store()
        steps = [fact, lambda store: store.eq(x, 0, origin="divisor")]
        for step in steps[::order]:
            step(store)
            if asked_between and step is fact and order == 1:
                store.guards()
        texts = set()
        for question in (Store.guards, lambda store: store.value(y), Store.guards, lambda store: store.equal(z, 3)):
            with pytest.raises(Contradiction) as caught:
                question(store)  # type: ignore[operator]
            texts.add(str(caught.value))
        (text,) = texts
        assert "has no value" in text
        assert {"quotient", "divisor"} <= {fact.origin.text for fact in caught.value.chain}


def test_a_question_about_a_size_without_a_value_leaves_the_store() -> None:
    store, x, y = Store(), Var.fresh("x", 0), Var.fresh("y", 0)
    store.eq(x, 0)
    store.eq(y, 4)
    for _ in range(2):
        with pytest.raises(DivisionByZero):
            store.value(y // x)
    assert store.value(y) == 4
    assert len(store.guards()) == 2
