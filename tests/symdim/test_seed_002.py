"""Symbolic shapes as values: variables with identity and bounds, binding, evaluation, reshapes. Rows `2.n` of the list
of features; where one differs from its origin, the test says how.
"""

from __future__ import annotations

import pickle

import pytest

from symdim import (
    Bindings,
    BoundsError,
    Shape,
    Var,
    dynamic,
)
from symdim.errors import NegativeSize, NotDivisible, ReshapeError, SizeOverflow
from symdim.shape import INFER, is_infer


@pytest.fixture
def n() -> Var:
    return Var.fresh("n", 1, 100)


def test_2_4_static_sizes():
    assert Shape([0]).dims == (0,)
    with pytest.raises(NegativeSize):
        Shape([-1])


def test_2_7_bind_gives_a_new_shape_and_checks_bounds(n):
    shape = Shape([n, 2 * n + 1])
    assert shape.bind({n: 5}) == shape.bind(n=5) == (5, 11)
    assert isinstance(shape.bind(n=5), Shape)
    assert shape.bind(n=6) == (6, 13)
    assert shape.dims == (n, 2 * n + 1)
    for outside in (0, 101):
        with pytest.raises(BoundsError, match=f"'n' is from 1 to 100, not {outside}"):
            shape.bind(n=outside)


def test_2_7_bindings_check_when_they_are_made(n):
    five = Bindings({n: 5}, batch=2)
    assert dict(five) == {n: 5, "batch": 2}
    assert (n + 1).evaluate(five) == 6
    assert five | {n: 6} == {n: 6, "batch": 2}
    assert five == {n: 5, "batch": 2}
    assert pickle.loads(pickle.dumps(Bindings(batch=2))) == {"batch": 2}
    with pytest.raises(BoundsError):
        Bindings({n: 101})
    with pytest.raises(BoundsError, match="by name"):
        Bindings({n: 5}, n=6)
    for wrong in ({n: True}, {"n": 1.5}, {3: 4}):
        with pytest.raises(TypeError):
            Bindings(wrong)
    with pytest.raises(AttributeError):
        five.sizes = {}
    assert len({five, Bindings({n: 5}, batch=2)}) == 1


def test_2_8_eval():
    n = Var("n")
    assert Shape([]).concrete() == ()
    assert Shape([2, 3]).concrete() == (2, 3)
    assert Shape([2, n]).concrete() is None
    assert Shape([2, n]).evaluate(n=3).concrete() == (2, 3)


def test_2_10_partial_eval(n):
    assert Shape([n, 3]).partial_evaluate() == (None, 3)
    assert Shape([n, "m", 3]).partial_evaluate({n: 2}) == (2, None, 3)
    assert Shape([n, "m", 3]).partial_evaluate({n: 2}, m=5) == (2, 5, 3)


def test_2_11_is_fully_bound(n):
    assert Shape([]).is_fully_bound()
    assert Shape([2]).is_fully_bound()
    assert not Shape([n, "m"]).is_fully_bound(n=1)
    assert Shape([n, "m"]).is_fully_bound({n: 1}, m=2)


def test_2_13_infer(n):
    assert is_infer(INFER)
    assert is_infer(n - n - 1)
    assert not is_infer(n)
    assert not is_infer(n - 2)


def test_2_14_resolve_reshape(n):
    assert Shape([2, 3, 4]).resolve_reshape([6, INFER]).concrete() == (6, 4)
    assert Shape([n, 4]).resolve_reshape([INFER, 2]) == (2 * n, 2)
    assert Shape([2, 3]).resolve_reshape([INFER]).concrete() == (6,)
    with pytest.raises(NotDivisible):
        Shape([2, 3, 4]).resolve_reshape([5, INFER])
    with pytest.raises(NotDivisible):
        Shape([4 * n + 2]).resolve_reshape([INFER, 4])
    for target in ([INFER, INFER], [0, INFER], [-2, INFER], [4], [25]):
        with pytest.raises(ReshapeError):
            Shape([2, 3, 4]).resolve_reshape(target)


def test_2_16_variables_in_the_order_of_their_occurrence(n):
    m = Var("m")
    assert Shape([m, n * m, 3, n]).variables() == (m, n)
    assert Shape([2, 3]).variables() == ()


def test_2_17_names_and_bounds(n):
    assert (n.name, n.lo, n.hi, n.bounds()) == ("n", 1, 100, (1, 100))
    other = dynamic("n", min=1, max=100)
    assert (other.name, other.bounds()) == (n.name, n.bounds())
    assert other.id != n.id
    m = Var("m")
    assert m.id == Var("m").id != Var("m", min=0).id


def test_2_18_is_static_and_rank(n):
    assert Shape([]).is_static
    assert Shape([2]).is_static
    assert not Shape([n]).is_static
    assert [Shape([]).rank, Shape([n, 2]).rank] == [0, 2]


def test_2_19_text(n):
    shape = Shape([n, 2 * n + 1, -n + 200, 3])
    assert str(shape) == "[n, 2*n + 1, 200 - n, 3]"
    assert repr(Shape(["seq len"])) == "Shape([`seq len`])"
    nameless = dynamic("", 1, 9)
    assert str(Shape([nameless, 3])) == f"[v{nameless.id}, 3]"
    assert pickle.loads(pickle.dumps(nameless)) is nameless
    assert Shape.parse(str(Shape(["N", "2*N + 1"]))) == Shape(["N", "2*N + 1"])


def test_sizes_fit_into_64_bits():
    n = Var("n")
    assert Shape([n * n]).bind(n=3037000499).concrete() == (3037000499**2,)
    with pytest.raises(SizeOverflow, match=r"n\*\*2"):
        Shape([n * n]).bind(n=3037000500)
    with pytest.raises(NegativeSize):
        Shape([n - 5]).bind(n=3)
