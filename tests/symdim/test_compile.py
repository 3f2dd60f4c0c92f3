"""Compiled shapes agree with evaluation."""

from __future__ import annotations

from random import Random

import pytest

from symdim import Shape, SymdimError, UnboundName, Var, maximum, product, total
from symdim.algebra.expr import Expr
from symdim.compile import StraightLine, compile_shape, is_plain
from tests.stack import short_stack
from tests.symdim import strategies

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


def test_one_shape_and_several():
    shape = Shape([N, 2 * N + M, 3])
    assert compile_shape(shape, ["N", "M"])(4, 5) == (4, 13, 3)
    assert compile_shape([shape, Shape(), Shape([M])], [M, N])(5, 4) == ((4, 13, 3), (), (5,))
    assert compile_shape([], [])() == ()
    assert compile_shape([shape], ["N", "M", "unused"])(1, 1, 9) == ((1, 3, 3),)


def test_arguments_are_checked_when_compiling():
    with pytest.raises(UnboundName, match="'M'"):
        compile_shape(Shape([N + M]), ["N"])
    with pytest.raises(SymdimError, match="twice"):
        compile_shape(Shape([N]), ["N", "N"])
    with pytest.raises(ZeroDivisionError):
        compile_shape(Shape([N // (M - 1)]), ["N", "M"])(1, 1)


HOSTILE = ["seq len", "import os", "a0", "a1", "t0", "max", "x):\n  raise SystemExit\ndef f(", "lambda", "None",
           "__debug__", "sizes", "\ufb01", "x\x00", "\ud800"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_never_enter_the_source(name):
    assert compile_shape(Shape([2 * Var(name) + N]), ["N", name])(3, 5) == (13,)
    assert not is_plain(name)


@pytest.mark.parametrize("note", HOSTILE)
def test_notes_stay_comments(note):
    code = StraightLine(["N"])
    assert code.function(code.assign("N + 1", note))(2) == 3


def test_plain_names_make_the_source_readable():
    code = StraightLine(["N", "seq_len", Var.fresh("N")])
    result = code.operand(3 * N * Var("seq_len") - N // 2 - 5)
    assert code.source(result).splitlines() == [
        "def sizes(N, seq_len, a2):",
        " t0 = N//2",
        " t1 = N*seq_len",
        " t2 = 3*t1 - t0 - 5",
        " return t2",
    ]
    with pytest.raises(UnboundName, match="'M'"):
        code.operand(N + M)


def test_each_part_of_all_expressions_is_computed_once():
    code = StraightLine(["N", "M"])
    part = (N + 3) // 4
    assert [code.operand(dim) for dim in (part, part * M, part * M + 1, N, 7)] == ["t1", "t2", "t3", "N", "7"]
    assert code.statements == ["t0 = N + 3", "t1 = t0//4", "t2 = M*t1", "t3 = t2 + 1"]


def test_a_sum_begins_with_a_positive_term():
    N, M = Var("N"), Var("M")
    code = StraightLine([N, M])
    assert code.source(code.operand(N - M)).splitlines()[1] == " t0 = N - M"


def test_large_numbers():
    shape = Shape([10**6000 * N + 10**5000, N**300])
    assert compile_shape(shape, ["N"])(3) == (3 * 10**6000 + 10**5000, 3**300)
    assert compile_shape(Shape([(M - 5 * N) % 7]), ["N", "M"])(3, 4) == ((4 - 15) % 7,)


def test_agreement_with_evaluation():
    random = Random(11)
    for _ in range(300):
        dims = []
        for _ in range(4):
            try:
                dim = strategies.build(strategies.random_tree(random, random.randint(2, 9)))
            except ZeroDivisionError:
                continue
            if isinstance(dim, Expr):
                dims.append(dim)
        function = compile_shape([Shape(dims), Shape(dims[:1])], list(strategies.BOUNDS))
        for _ in range(3):
            bindings = strategies.random_bindings(random)
            try:
                expected = tuple(dim.to_int(bindings) for dim in dims)
            except ZeroDivisionError:
                continue
            assert function(*bindings.values()) == (expected, expected[:1])


def test_long_and_deep_expressions():
    variables = [Var(f"x{i}") for i in range(1_500)]
    assert compile_shape(Shape([total(variables)]), variables)(*range(1_500)) == (sum(range(1_500)),)
    with short_stack():
        deep = N
        for _ in range(300):  # deeper than the stack
            deep = maximum(deep // 3 + M, H % 7)
        assert compile_shape(Shape([deep]), ["N", "M", "H"])(100, 9, 5) == (deep.evaluate(N=100, M=9, H=5),)


def test_long_products_take_several_statements():
    names = [f"p{i}" for i in range(70)]
    function = compile_shape(Shape([product([Var(name) for name in names])]), names)
    assert function(*[2 if i % 30 == 0 else 1 for i in range(70)]) == (8,)


def test_a_sum_begins_with_what_is_added():
    line = StraightLine(["A", "B"])
    assert (line.operand(Var("B") - Var("A")), line.statements) == ("t0", ["t0 = B - A"])
