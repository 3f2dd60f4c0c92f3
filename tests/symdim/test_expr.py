from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from enum import IntEnum
from fractions import Fraction

import pytest

from symdim import (
    Add,
    BoundsError,
    DivisionByZero,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mul,
    Scope,
    SymdimError,
    UnboundName,
    Var,
    maximum,
    minimum,
    product,
    total,
)
from symdim.algebra.caches import clear_caches
from symdim.algebra.evaluate import Substitution
from symdim.algebra.expr import as_dim
from symdim.algebra.texts.tree import Operation, Product, Sum
from symdim.algebra.variable import scope_of
from tests.stack import short_stack

N, M, H = Var("N"), Var("M"), Var("H")

TREES = [
    (N, Var, N),
    (N + 3, Add, Sum((Product(1, ((N, 1),)), Product(3)))),
    (5 - N, Add, Sum((Product(5), Product(-1, ((N, 1),))))),
    (2 * N, Mul, Product(2, ((N, 1),))),
    (-N, Mul, Product(-1, ((N, 1),))),
    (3 * M * N**2, Mul, Product(3, ((M, 1), (N, 2)))),
    ((H + 1) // 2, FloorDiv, Operation("//", (H + 1, 2))),
    (H // N, FloorDiv, Operation("//", (H, N))),
    (H % 4, Add, Operation("%", (H, 4))),
    (H % N, Add, Operation("%", (H, N))),
    (-H % 4, Add, Operation("%", (-H, 4))),
    (-H % N, Add, Operation("%", (-H, N))),
    (H // 2 % 4, Add, Operation("%", (H // 2, 4))),
    ((H + 1) // 2 % 4, Add, Operation("%", ((H + 1) // 2, 4))),
    (7 % N, Add, Operation("%", (7, N))),
    (minimum(M // 2, N // 3) % 5, Add, Operation("%", (minimum(M // 2, N // 3), 5))),
    (maximum(N, 3), Max, Operation("max", (N, 3))),
    (minimum(N, M, H), Min, Operation("min", (H, M, N))),
    (minimum(M, N + H) - H, Add, Operation("min", (M - H, N))),
    (-minimum(N, 3), Mul, Product(-1, ((minimum(N, 3), 1),))),
    (2 * (H % 4), Add, Product(2, ((H % 4, 1),))),
    (2 * N * (M + 1) * (H + 3), Add, Product(2, ((N, 1), (H + 3, 1), (M + 1, 1)))),
    (N + H % 4, Add, Sum((Product(1, ((H % 4, 1),)), Product(1, ((N, 1),))))),
    (2 * minimum(M, N + H) - 2 * H + 1, Add, Sum((Product(2, ((Operation("min", (M - H, N)), 1),)), Product(1)))),
]


@pytest.mark.parametrize("dim, kind, tree", TREES, ids=lambda x: str(x))
def test_the_class_is_the_stored_kind_and_the_tree_what_is_printed(dim, kind, tree):
    assert type(dim) is kind
    assert dim.tree() == tree


def test_matching():
    match (N + H % 4).tree():
        case Sum((Product(1, ((remainder, 1),)), Product(1, ((other, 1),)))):
            assert remainder.tree() == ("%", (H, 4))
            assert other is N
        case _:
            pytest.fail("no match")


def test_sizes_that_collapse_are_ints():
    for dim, value in ((N - N, 0), (N - N + 3, 3), (0 * N, 0), (N**0, 1), (N // N, 1), (maximum(1, 4), 4)):
        assert type(dim) is int
        assert dim == value


def test_int_on_either_side():
    assert 3 + N is N + 3
    assert 3 - N is -(N - 3)
    assert 3 * N is N * 3
    assert str(7 // N) == "7//N"
    assert str(7 % N) == "7 % N"
    assert divmod(H, 4) == (H // 4, H % 4)
    assert divmod(7, N) == (7 // N, 7 % N)


@pytest.mark.parametrize("other", [True, 1.0, Fraction(1), "1", None, [1]], ids=repr)
def test_other_operands_are_refused(other):
    assert N + 1 is not None  # (N, 1) is remembered, and 1 == True == 1.0
    for operator in (
        "__add__",
        "__sub__",
        "__mul__",
        "__floordiv__",
        "__mod__",
        "__radd__",
        "__rsub__",
        "__rfloordiv__",
    ):
        assert getattr(N, operator)(other) is NotImplemented
    with pytest.raises(TypeError):
        N + other
    with pytest.raises(TypeError):
        total([N, other])
    with pytest.raises(TypeError):
        maximum(N, other)


def test_what_is_not_defined():
    with pytest.raises(TypeError):
        N / 2
    with pytest.raises(TypeError, match="at_least"):
        N < 3  # noqa: B015
    with pytest.raises(SymdimError):
        N**-1
    assert N**1 is N  # which is remembered, and True == 1
    for exponent in (2.5, True):
        with pytest.raises(TypeError, match="unsupported operand"):
            N**exponent
    with pytest.raises(TypeError):
        Add(N, 1)
    for extremum, name in ((maximum, "maximum"), (minimum, "minimum")):
        with pytest.raises(TypeError, match=f"{name} of no dimensions"):
            extremum()
    with pytest.raises(DivisionByZero):
        N // 0
    with pytest.raises(ZeroDivisionError):
        N % 0


def test_evaluate():
    dim = H // 2 * N + H % 3
    assert dim.evaluate(H=7, N=2) == 7
    assert dim.evaluate({"H": 7, N: 2}) == 7
    assert dim.evaluate(H=7) is 3 * N + 1
    assert dim.evaluate(H=7, N=2, unused=0) == 7
    assert dim.to_int(H=7, N=2) == 7
    with pytest.raises(UnboundName) as caught:
        dim.to_int(H=7)
    assert caught.value.names == ("N",)
    with pytest.raises(BoundsError, match="'N' is at least 1"):
        dim.evaluate(N=0)
    for bad in (True, 2.0, "2"):
        with pytest.raises(TypeError):
            dim.evaluate(H=7, N=bad)
    K = Scope().var("K", 0)
    with pytest.raises(DivisionByZero):
        (N // K).evaluate(N=4, K=0)
    with pytest.raises(DivisionByZero):
        (N // K).evaluate(K=0)


def test_substitute():
    dim = H // 2 + N
    assert dim.substitute({"H": N, "N": H}) is N // 2 + H
    assert dim.substitute({H: 2 * M}) is M + N
    assert dim.substitute({"H": 4, "N": 1}) == 3
    assert dim.substitute({}) is dim
    with pytest.raises(BoundsError):
        dim.substitute({"N": -M})
    assert (maximum(N, M) * (N + 1)).substitute({"M": N}) is N**2 + N


def test_variables_of_an_expression():
    dim = N * M + H // 2 + 1
    assert dim.free_symbols() == {"N", "M", "H"}
    assert dim.variables() == (M, N, H)


def test_many_terms_in_linear_time():
    sizes = [Var(f"d{i}") for i in range(2000)]
    whole = total(sizes)
    assert whole is total(reversed(sizes))
    assert whole.evaluate(dict.fromkeys(sizes, 2)) == 4000
    assert product(sizes).evaluate(dict.fromkeys(sizes, 1)) == 1


def test_variables_and_scopes():
    assert Var("N") is N
    assert Var("N", 1) is N
    left, right = Scope(), Scope()
    a, b = left.var("a", 2, 9), right.var("a", 2, 9)
    assert a is left.var("a") is left.var("a", 2) is left.var("a", max=9)
    for lo, hi in ((1, 9), (2, 8), (None, 8), (3, None)):
        with pytest.raises(BoundsError, match=r"'a' is in 2..9 in this scope, not .*: give it another scope"):
            left.var("a", lo, hi)
    assert a is not b
    assert a - b is not 0  # noqa: F632
    assert (a.lo, a.hi, a.name) == (2, 9, "a")
    for lo, hi in ((-1, None), (3, 2)):
        with pytest.raises(BoundsError):
            Scope().var("x", lo, hi)
    with pytest.raises(TypeError):
        Var(3)
    with pytest.raises(TypeError, match="bounds of 'x' are ints, not"):
        Scope().var("x", 1.5)
    fresh = Var.fresh("nnz", at_most=3 * a, origin="NonZero")
    assert (fresh.lo, fresh.hi, fresh.origin) == (0, 27, "NonZero")
    assert Var.fresh("nnz") is not fresh


@pytest.mark.parametrize("lives", [True, False])
def test_a_variable_does_not_depend_on_which_others_live(lives):
    scope = Scope()
    held = [Var("Q"), Var("Q", 4, 9), scope.var("Q", 4)]
    if not lives:
        held.clear()
        clear_caches()
    assert (Var("Q", 0).bounds(), Var("Q", 4).bounds(), Var("Q").bounds()) == ((0, None), (4, None), (1, None))
    assert scope.var("Q").bounds() == (4, None)
    with pytest.raises(BoundsError):
        scope.var("Q", 5)
    assert len(held) == 3 * lives


ROUND_TRIPS = [
    N,
    2 * N + 1,
    maximum(H // 2 % 4, N * M) // (N + 1),
    Scope().var("N", 0, 5) + N,
    Var.fresh("k", at_most=2 * N, origin=("NonZero", 0)) // 3,
    minimum(H, N * M, 7) * N,
]


@pytest.mark.parametrize("dim", ROUND_TRIPS, ids=str)
def test_copies_are_the_same_object(dim):
    assert copy.copy(dim) is dim
    assert copy.deepcopy([dim])[0] is dim
    assert pickle.loads(pickle.dumps(dim)) is dim


def test_scopes_keep_identity():
    scope = Scope()
    v = scope.var("v")
    assert pickle.loads(pickle.dumps(scope)).var("v") is v
    assert copy.deepcopy(scope) is scope
    assert copy.copy(scope) is scope


def test_a_scope_that_nobody_holds_is_made_again():
    data = pickle.dumps(Scope().var("v") + 1)
    first, second = pickle.loads(data), pickle.loads(data)
    assert first is second
    assert first.variables()[0].scope.var("v") + 1 is first


def test_a_variable_that_nobody_holds_is_made_again():
    data = pickle.dumps(Scope().var("v", 2, 9))
    scope, owner = Scope(), pickle.loads(data).scope
    clear_caches()
    made = pickle.loads(data), scope.restored("w", 2, 9, None, None)
    assert [(v.name, v.bounds()) for v in made] == [("v", (2, 9)), ("w", (2, 9))]
    assert pickle.loads(data).scope is owner
    assert scope_of(1, 10**9).var("v").name == "v"


def test_a_variable_is_made_again_with_its_bound_and_its_origin():
    v = Var.fresh("v", 2, at_most=2 * N, origin=("NonZero", 0))
    data = pickle.dumps(v)
    del v
    clear_caches()
    gc.collect()
    found = pickle.loads(data)
    assert (found.name, found.lo, found.at_most, found.origin) == ("v", 2, 2 * N, ("NonZero", 0))


def test_a_restored_variable_has_its_own_bounds():
    scope = Scope()
    v = scope.var("v", 2, 9)
    assert scope.restored("v", 2, 9, None, None) is v
    assert scope.restored("v", 2, 8, None, None).bounds() == (2, 8)
    assert scope.var("v") is v


class Size(IntEnum):
    BATCH = 7


@pytest.mark.parametrize("value, dim", [(Size.BATCH, 7), (True, None), (2.0, None), ("N", None), (N, N)])
def test_what_is_a_dimension(value, dim):
    assert as_dim(value) == dim
    assert type(as_dim(value)) is type(dim)


def test_pickle_in_another_process():
    dim = maximum(H // 2, Var.fresh("k", 0, 9)) * N
    data = pickle.dumps((dim, dim.variables()))
    code = f"import pickle, sys; d, v = pickle.loads({data!r}); print(d, [x.lo for x in v], d.evaluate(H=8, k=9, N=2))"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True
    )
    assert ran.stdout.split("] ")[1:] == ["18\n"], ran.stderr
    assert ran.stdout.startswith(str(dim))


def deep(levels: int) -> Expr:
    x, y = Var("x"), Var("y")
    dim = x
    for i in range(levels):
        dim = maximum(dim + y, 2 * x + i) // 3
    return dim


def test_depth_is_no_limit():
    levels = 300  # more than the stack has
    value = 4
    for i in range(levels):
        value = max(value + 5, 8 + i) // 3
    with short_stack():
        dim = deep(levels)
        assert dim.evaluate(x=4, y=5) == value
        assert deep(levels) is dim
        assert dim.substitute({"x": Var("z")}).free_symbols() == {"y", "z"}
        assert dim.bounds()[0] is not None
        assert pickle.loads(pickle.dumps(dim)) is dim
        clear_caches()
        del dim


def test_a_long_chain_is_printed_and_freed():
    dim = Var("x")
    for _ in range(3000):
        dim = maximum(dim, 5) // (Var("y") + 1) + Var("x")
    assert str(dim).count("max") == 3000
    clear_caches()
    del dim


def test_substitutions_that_share_parts():
    values = Substitution({N: 4, M: 2})
    assert [dim.substitute(values) for dim in (N * M + H, N // 2 - M, N * M)] == [H + 8, 0, 8]
    assert (N // 2 + M).substitute(Substitution({M: 3}, {N // 2: H})) == H + 3
