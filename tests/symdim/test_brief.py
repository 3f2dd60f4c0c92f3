"""Texts are bounded: `repr`, messages and facts are short, and `str` has a limit, whatever the expression."""

from __future__ import annotations

import pytest

from symdim import Expr, Facts, ParseError, Scope, Shape, Store, Var, check, maximum, minimum, parse, total
from symdim.algebra.texts.printing import MOST_CHARACTERS, MOST_NAMES, brief, shortened
from symdim.errors import BoundsError, DivisionByZero, ReshapeError, SymdimError
from symdim.relations.relation import Relation
from symdim.store import Contradiction
from tests.counting import calls_of

SHORT = MOST_CHARACTERS + 50


def nest(count: int, *, x: Var | None = None, y: Var | None = None) -> Expr:
    """A maximum whose text triples with each of so many operations."""
    e, other = Var("x") if x is None else x, Var("y") if y is None else y
    for k in range(2, count + 2):
        e = maximum(e // k, e % 3 * other)  # type: ignore[assignment]
    return e


LONG = {
    "shared parts": lambda: nest(20),
    "many terms": lambda: total(Var(f"v{i}") for i in range(12_500)),
    "two variables of one name": lambda: nest(16, x=Var.fresh("x"), y=Var.fresh("x")),
    "a low node of many names": lambda: minimum(*[total(map(Var, NAMES[j : j + 500])) for j in range(40)]) * 2,
    "a long number": lambda: 10**6000 * Var("x") + 3,
    "a long name": lambda: Var("x" * 5000) + 1,
}
NAMES = [f"v{i}" for i in range(540)]


@pytest.mark.parametrize("name", LONG)
def test_no_text_is_long_and_none_takes_long(name: str) -> None:
    e = LONG[name]()
    shown, text = repr(e), str(e)
    assert calls_of(lambda: (repr(e), str(e))) < 1_500_000  # of 12,500 terms 120 calls a term
    assert len(shown) <= SHORT
    assert "..." in shown
    assert len(text) < 200_000
    found = check(text)
    assert found is None or "..." in text  # no text of another expression
    assert found is not None or parse(text) is e


@pytest.mark.parametrize("count", range(2, 9))
def test_the_text_is_whole_up_to_the_limit_and_repr_is_its_beginning(count: int) -> None:
    e = nest(count)
    if "..." not in str(e):
        assert parse(str(e)) is e
        head, cut, _ = repr(e).partition("...")
        assert str(e).startswith(head)
        assert len(head) > MOST_CHARACTERS // 2 if cut else head == str(e)
    else:
        assert count == 8
        assert str(e) == repr(e)


def test_what_is_left_out_is_counted() -> None:
    names = [f"name_{i:05}" for i in range(MOST_NAMES + 1)]
    assert repr(total(map(Var, names[:100]))).endswith("... (85 more names)")
    assert str(total(map(Var, names[:-1]))).endswith(" + name_09999")
    assert str(total(map(Var, names))).endswith("... (9,986 more names)")
    assert shortened("x" * 12, 11) == "xxxxxxxxxxx... (1 more character)"


@pytest.mark.parametrize("most", range(70, 130, 5))
def test_a_text_that_keeps_its_ending_fits(most: int) -> None:
    text = "(heads*batch + 1)//2 + " * 4 + "maximum(sequence, past) - 1"
    short = shortened(text, most, ending=20)
    head, _, tail = short.partition("... (")
    assert len(short) <= most
    assert short == text or (text.startswith(head) and tail.endswith(f"more characters) ...{text[-20:]}"))


def test_a_cut_text_is_refused_with_the_reason() -> None:
    with pytest.raises(ParseError, match="the text is cut"):
        parse("x + ... (3 more names)")


def test_a_short_text_does_not_depend_on_what_was_printed_before() -> None:
    e = nest(6, x=Var("u"))
    shown = repr(e)
    assert len(str(e)) > SHORT
    assert repr(e) == shown


@pytest.mark.parametrize(
    ("error", "question"),
    [
        (DivisionByZero, lambda e: e // 0),
        (DivisionByZero, lambda e: (5 // (e - e.evaluate(x=4, y=1))).evaluate(x=4, y=1)),
        (SymdimError, lambda e: e**-1),
        (TypeError, lambda e: e / 2),
        (BoundsError, lambda e: Var.fresh("small", 0, 3).substitute({"small": 4 + maximum(e, 0)})),
        (ReshapeError, lambda e: Shape([e, 3]).resolve_reshape([0, -1, e, -1])),
        (SymdimError, lambda e: parse("N/(M - 5)", {"N": e, "M": e}, dialect="exact")),
    ],
    ids=["zero", "evaluated", "exponent", "quotient", "bounds", "reshape", "parsed"],
)
def test_messages_are_short(error, question) -> None:
    e = nest(8)
    with pytest.raises(error) as caught:
        question(e)
    assert len(str(caught.value)) < 4 * SHORT


def test_facts_and_constraints_are_short() -> None:
    e = nest(14)
    facts, store = Facts(), Store()
    facts.assume(Relation.of(e, ">=", 3))
    facts.assume(Relation("divides", 4, e), origin="a node")
    assert all(len(str(fact)) < 2 * SHORT for fact in facts)
    assert len(repr(facts)) < 4 * SHORT
    store.eq(Var("n"), e)
    store.bounds(e, 3)
    assert len(repr(store)) < 4 * SHORT
    store.eq(Var("n"), 5)
    store.bounds(Var("n"), 7)
    with pytest.raises(Contradiction) as caught:
        store.value(Var("n"))
    assert len(str(caught.value)) < 8 * SHORT


def test_guards_with_like_beginnings_stay_apart() -> None:
    store, scope = Store(), Scope()
    sizes = [scope.var(f"length_{i:03}") for i in range(60)]
    for last in (1, 2):
        store.divisible(total(sizes) + last * scope.var("z"), 7)
    first, second = store.guards()
    assert first.text == second.text
    assert brief(first.fact.dim) != str(first.fact.dim)  # type: ignore[attr-defined]
