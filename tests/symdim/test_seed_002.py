"""Symbolic shapes as values: variables with identity and bounds, binding, evaluation, reshapes. Rows `2.n` of the list
of features; where one differs from its origin, the test says how.
"""

from __future__ import annotations

import copy
import pickle

import pytest

from symdim import (
    Bindings,
    BoundsError,
    DivisionByZero,
    Scope,
    Shape,
    UnboundName,
    Var,
    dynamic,
    equal,
    maximum,
    minimum,
)
from symdim.errors import NegativeSize, NotDivisible, ReshapeError, SizeOverflow
from symdim.shape import INFER, is_infer


@pytest.fixture
def n() -> Var:
    return Var.fresh("n", 1, 100)


def test_2_1_variables_have_identity_and_bounds():
    first, second = Var.fresh("x", 0, 10), Var.fresh("x", 0, 10)
    assert first != second
    assert Shape([first]) != Shape([second])
    assert Scope().var("x") is not Scope().var("x")
    assert Var("x") is Var("x")
    for lo, hi in ((-1, 4), (5, 4)):
        with pytest.raises(BoundsError):
            Var.fresh("x", lo, hi)


def test_2_2_and_2_3_a_variable_is_a_dimension(n):
    assert Shape([n, 2 * n]).dims == (n, 2 * n)
    assert n + 0 is n


def test_2_4_static_sizes():
    assert Shape([0]).dims == (0,)
    with pytest.raises(NegativeSize):
        Shape([-1])


def test_2_5_of_ints_and_of_lists():
    assert Shape([2, 3]) == Shape((2, 3)) == (2, 3)


def test_2_6_arithmetic_is_folded_and_canonical(n):
    assert Shape([n - n + 3]) == (3,)
    assert n + 1 is 1 + n
    assert 0 - (0 - n) is n
    assert 2 * (n + 1) is 2 * n + 2


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


def test_2_9_eval_dim_and_its_errors(n):
    assert (2 * n + 1).evaluate({n: 5}) == (2 * n + 1).to_int(n=5) == 11
    assert (2 * n + 1).evaluate() is 2 * n + 1
    with pytest.raises(UnboundName, match="'n'"):
        (2 * n).to_int()
    with pytest.raises(DivisionByZero):
        (n // (n - 5)).to_int(n=5)


def test_2_10_partial_eval(n):
    assert Shape([n, 3]).partial_evaluate() == (None, 3)
    assert Shape([n, "m", 3]).partial_evaluate({n: 2}) == (2, None, 3)
    assert Shape([n, "m", 3]).partial_evaluate({n: 2}, m=5) == (2, 5, 3)


def test_2_11_is_fully_bound(n):
    assert Shape([]).is_fully_bound()
    assert Shape([2]).is_fully_bound()
    assert not Shape([n, "m"]).is_fully_bound(n=1)
    assert Shape([n, "m"]).is_fully_bound({n: 1}, m=2)


def test_2_12_numel(n):
    assert Shape([]).numel() == 1
    assert Shape([2, n]).numel() is 2 * n
    assert Shape([2, 3, 0]).numel() == 0


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


def test_2_15_substitution_is_by_identity_and_at_once():
    a, b = Var.fresh("x"), Var.fresh("x")
    shape = Shape([a, b, 2 * a + b])
    assert shape.substitute({a: b, b: a}) == (b, a, 2 * b + a)
    assert shape.substitute({a: 4}) == (4, b, b + 8)
    assert shape.dims[0] is a


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


def test_2_20_equality_is_that_of_canonical_dims(n):
    m = Var.fresh("n", 1, 100)
    assert Shape([n + n]) == Shape([2 * n])
    assert Shape([n]) != Shape([m])
    assert Shape([n]) != Shape([n, 1])
    assert [equal(n, n), equal(n, m), equal(n, n + 1)] == [True, False, False]
    assert copy.deepcopy(Shape([n])) == Shape([n])


@pytest.mark.parametrize("hi, size", [(512, "n"), (513, "min")])
def test_bounds_feed_the_constructors(hi, size):
    n = Var.fresh("n", 1, hi)
    assert (minimum(n, 512) is n) == (size == "n")
    assert maximum(n, 1) is n
    assert n // 600 == 0
    assert n % 1000 is n


def test_sizes_fit_into_64_bits():
    n = Var("n")
    assert Shape([n * n]).bind(n=3037000499).concrete() == (3037000499**2,)
    with pytest.raises(SizeOverflow, match=r"n\*\*2"):
        Shape([n * n]).bind(n=3037000500)
    with pytest.raises(NegativeSize):
        Shape([n - 5]).bind(n=3)
