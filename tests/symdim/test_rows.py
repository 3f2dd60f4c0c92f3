"""Rows: shapes of which the rank may be unknown."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdim import ParseError, Row, Shape, SymdimError
from symdim.rows import Axes, RowVar

NAMES = st.sampled_from(["N", "S", "seq len", "a.b", "x,y", "2*N + 1"])
SIZES = st.one_of(st.integers(0, 9), NAMES)
ROWS = st.builds(
    lambda lead, middle, trail: [*lead, *middle, *trail],
    st.lists(SIZES, max_size=3),
    st.lists(st.just("..r.."), max_size=1),
    st.lists(SIZES, max_size=3),
)


@given(ROWS)
def test_texts_and_copies_round_trip(items):
    row = Row.of(items)
    assert Row.parse(str(row)) == row
    assert pickle.loads(pickle.dumps(row)) == row


def test_lead_variable_trail():
    """4.3: leading axes, a variable or none, trailing axes; substitution splices."""
    row = Row.of([3, RowVar("r"), 7])
    assert (row.lead, row.variable, row.trail) == ((3,), RowVar("r"), (7,))
    assert row.spliced(Row.of([4, 5])).dims == (3, 4, 5, 7)
    assert row.spliced(Row.of(["N", RowVar("s")])) == Row.of([3, "N", RowVar("s"), 7])
    with pytest.raises(SymdimError, match="one row variable"):
        Row.of(["...", 3, "..r.."])


def test_scalars_are_empty_rows():
    """4.2: a scalar is a row without axes."""
    assert Row.parse("[]") == Row() == Row.of([])
    assert Row().rank == 0
    assert Row().shape().numel() == 1


def test_gap_of_closed_rows():
    """4.4: a closed row keeps the place of its gap; plain lists have it at the left."""
    assert Row.parse("[3, |, 5]") == Row((3,), None, (5,))
    assert str(Row((3,), None, (5,))) == "[3, |, 5]"
    assert Row.of([3, 5]) == Row((), None, (3, 5)) == Row((3,), None, (5,)).flat()


def test_kinds():
    """4.1: batch, input and output rows, printed batch|input->output without the empty ones."""
    batch, given_, made = Row.of(["b"]), Row.of(["i"]), Row.of(["o"])
    assert str(Axes(batch, given_, made)) == "b|i->o"
    assert str(Axes(input=given_, output=made)) == "i->o"
    assert str(Axes(batch, output=made)) == "b|o"
    assert str(Axes(output=made)) == "o"


def test_fresh_rows_are_distinct():
    assert Row.unknown() != Row.unknown()
    assert str(Row.unknown()) == "[...]"
    assert Row.parse("[...]") != Row.parse("[...]")
    assert Row.parse("[..r..]") == Row.parse("[..r..]")
    assert Row.parse("[N, ..r.., 768]").shape() is None


@pytest.mark.parametrize("text", ["", "[", "3", "[..r.., ..s..]", "[3, |, ..r..]", "[3,, 4]", "[a +]"])
def test_what_is_no_row(text):
    with pytest.raises(ParseError):
        Row.parse(text)


def test_a_row_of_known_rank_is_a_shape():
    assert Row.of(["N", 3]).shape() == Shape(["N", 3])
    assert Row.of(["N", "..r..", 3]).shape() is None
