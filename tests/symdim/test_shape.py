"""Shapes: construction, evaluation, reshaping, broadcasting, text."""

from __future__ import annotations

import copy
import pickle
from itertools import product as grid

import numpy as np
import pytest

from symdim import BoundsError, ParseError, Scope, Shape, UnboundName, Var, broadcast_shapes, maximum, minimum
from symdim.errors import BroadcastError, NegativeSize, NotDivisible, ReshapeError
from symdim.shape import INFER

N, M, H = Var("N"), Var("M"), Var("H")
SCOPE = Scope()
Z, Y = SCOPE.var("z", 0, 3), SCOPE.var("y", 0, 3)


def test_sizes_of_every_kind():
    shape = Shape(["N", 3, N + 1, np.int64(4), "batch-size", "seq//2"])
    assert shape.dims == (N, 3, N + 1, 4, Var("batch-size"), Var("seq") // 2)
    assert type(shape.dims[3]) is int
    assert Shape(["N", "N-1"]).dims == (N, N - 1)
    assert Shape() == Shape([]) == ()


@pytest.mark.parametrize("size", [True, 1.5, np.bool_(True), b"N"])
def test_other_types_are_refused(size):
    with pytest.raises(TypeError):
        Shape([size])


def test_a_size_that_is_not_given_is_another_one_each_time():
    first, second = Shape([None, None])
    assert first != second
    assert first.bounds() == (0, None)
    assert Shape.parse(str(Shape([first, second, 3]))).rank == 3


@pytest.mark.parametrize("sizes", [[-1], [2, -3], [N, N - N - 1]])
def test_negative_sizes_are_refused(sizes):
    with pytest.raises(NegativeSize, match="-"):
        Shape(sizes)


def test_a_shape_is_an_immutable_sequence():
    shape = Shape(["N", 3, "M"])
    assert (len(shape), shape.rank, list(shape), shape[0], shape[-1]) == (3, 3, [N, 3, M], N, M)
    assert shape[1:] == Shape([3, "M"])
    assert shape + (4,) == Shape(["N", 3, "M", 4])  # noqa: RUF005
    assert [4] + shape == Shape([4, "N", 3, "M"])  # noqa: RUF005
    assert shape.index(3) == 1
    assert N in shape
    match shape:
        case [first, 3, _]:
            assert first is N
    with pytest.raises(AttributeError):
        shape.dims = ()
    with pytest.raises(AttributeError):
        del shape.dims


def test_equality_is_that_of_the_dims():
    shape = Shape(["N", 3])
    assert shape == Shape([Var("N"), 3]) == (N, 3)
    assert shape == [N, 3]
    assert hash(shape) == hash((N, 3))
    assert shape != Shape(["M", 3])
    assert shape != "N3"
    assert Shape([2 * N + 2]) == Shape([(N + 1) * 2])


def test_copies_are_equal_and_keep_their_dims():
    shape = Shape(["N", N // 2 + 1, 3])
    for other in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert other == shape
        assert other[1] is shape[1]


def test_evaluation():
    shape = Shape(["batch", 128, "seq"])
    assert shape.evaluate({"batch": 4, "seq": 512}) == (4, 128, 512)
    assert shape.evaluate(batch=4) == (4, 128, Var("seq"))
    assert shape.evaluate(batch=4, seq=2, other=7) == (4, 128, 2)
    assert shape.partial_evaluate(batch=4, other=7) == (4, 128, None)
    assert not shape.is_fully_bound(batch=4, other=7)
    assert shape.substitute({"batch": 4, "other": 7}) == (4, 128, Var("seq"))
    for call in (shape.evaluate, shape.bind, (Var("batch") * Var("seq")).evaluate, Var("seq").to_int):
        with pytest.raises(UnboundName, match="'seq'; 'Seq' does not occur: do you mean 'seq'"):
            call({"batch": 4}, Seq=2) if call != Var("seq").to_int else call(Seq=2)
    left_open = Shape([Var.fresh("found", origin="NonZero"), "batch"])
    assert left_open.evaluate(batch=4, seq=2) == (left_open[0], 4)  # nobody can give the size that the data decide
    assert shape.partial_evaluate({Var("seq"): 2}) == (None, 128, 2)
    assert shape.bind(batch=4, seq=512) == (4, 128, 512)
    assert shape.concrete() is None
    assert Shape([2, 3]).concrete() == (2, 3)
    assert Shape().concrete() == ()
    with pytest.raises(UnboundName, match="'seq'"):
        shape.bind(batch=4)
    with pytest.raises(NegativeSize):
        Shape([H - 5]).evaluate(H=3)
    with pytest.raises(BoundsError):
        Shape([Z]).evaluate(z=4)


def test_substitution_is_simultaneous():
    assert Shape([N, M, 2 * N]).substitute({"N": M, "M": N}) == (M, N, 2 * M)


def test_questions():
    shape = Shape([N * M, 3, M])
    assert shape.free_symbols() == {"N", "M"}
    assert set(shape.variables()) == {N, M}
    assert shape.numel() is 3 * N * M**2
    assert Shape().numel() == 1
    assert (shape.is_static, Shape([2]).is_static, Shape().is_static) == (False, True, True)
    assert shape.simplify() is shape
    assert Shape(["(H-3+2)//1+1"]) == (H,)


RESHAPES = [
    ([2, 3, 4], [6, 4], [6, 4]),
    ([2, 3, 4], [INFER, 4], [6, 4]),
    ([N, 4], [INFER, 2], [2 * N, 2]),
    ([N, M, 6], [N, INFER], [N, 6 * M]),
    ([N, M], [M, INFER], [M, N]),
    ([N], [INFER, 4], [N // 4, 4]),
    ([N, 4], [3, M], [3, M]),
    ([0, 3], [INFER, 2], [0, 2]),
    ([], [INFER], [1]),
    ([1], [], []),
    (["N", 4], [INFER, "N"], [4, N]),
]


@pytest.mark.parametrize("source, target, result", RESHAPES)
def test_reshapes(source, target, result):
    assert Shape(source).resolve_reshape(target) == Shape(result)


@pytest.mark.parametrize(
    "source, target, error",
    [
        ([N, 4], [INFER, INFER], ReshapeError),
        ([2, 3], [4], ReshapeError),
        ([2, 3], [0, INFER], ReshapeError),
        ([2, 3], [6, -2], ReshapeError),
        ([2, 3], [], ReshapeError),
        ([N, 4], [N, 5], ReshapeError),
        ([2 * N], [2 * N + 1], ReshapeError),
        ([N], [-N, INFER], ReshapeError),
        ([2, 3, 4], [5, INFER], NotDivisible),
        ([4 * N + 2], [INFER, 4], NotDivisible),
    ],
)
def test_impossible_reshapes(source, target, error):
    with pytest.raises(error, match=r"element|infer|positive"):
        Shape(source).resolve_reshape(target)


BROADCASTS = [
    ([], []),
    ([[]], []),
    ([[2, 1], [3]], [2, 3]),
    ([[N, 1], [5]], [N, 5]),
    ([[N], [1], [N]], [N]),
    ([[N], [4]], [4]),
    ([[0], [1]], [0]),
    ([[Z], [0]], [0]),
    ([[N], [M]], [maximum(N, M)]),
    ([[N], [M + 1]], [M + 1]),
    ([[Z], [Y]], [maximum(Z, Y, 1) + minimum(Z, Y, 1) - 1]),
    ([[Z], [1]], [Z]),
    ([[3, N, 1], [M, 1, 5]], [3, N, 5]),
]


@pytest.mark.parametrize("shapes, result", BROADCASTS)
def test_broadcasts(shapes, result):
    assert broadcast_shapes(*shapes) == Shape(result)
    assert broadcast_shapes(*reversed(shapes)) == Shape(result)


@pytest.mark.parametrize(
    "shapes, message",
    [
        ([[2], [3]], "axis 0: 2 and 3"),
        ([[7, 0], [3]], "axis 1: 0 and 3"),
        ([[N + 1, 1], [N + 2, 1]], r"axis 0: N \+ 1 and N \+ 2"),
        ([[SCOPE.var("w", 2, 4)], [5]], "axis 0: w and 5"),
        ([[0], [N + 1]], r"axis 0: 0 and N \+ 1"),
        ([[N], [2], [3]], "axis 0: 2 and 3"),
    ],
)
def test_contradicting_sizes_do_not_broadcast(shapes, message):
    with pytest.raises(BroadcastError, match=message):
        broadcast_shapes(*shapes)


def test_broadcast_agrees_with_numpy_wherever_numpy_has_a_result():
    scope = Scope()
    a, b, c = scope.var("a", 0, 3), scope.var("b", 0, 3), scope.var("c", 1, 3)
    for sizes in ([a, b], [a, c], [a, b, c], [a, a + 1], [a, 2 * b], [c, c + 1, b], [a, 2], [a + 2, b + 2]):
        (result,) = broadcast_shapes(*([size] for size in sizes))
        for i, j, k in grid(range(4), range(4), range(1, 4)):
            bindings = {"a": i, "b": j, "c": k}
            values = Shape(sizes).bind(bindings)
            try:
                (expected,) = np.broadcast_shapes(*((v,) for v in values))
            except ValueError:
                continue
            assert Shape([result]).bind(bindings) == (expected,), (sizes, bindings)


TEXTS = [
    ("[N, 2*N + 1]", [N, 2 * N + 1]),
    ("[]", []),
    ("[max(H, 3), min(M, N), `seq len`]", [maximum(H, 3), minimum(M, N), Var("seq len")]),
    ("[`a, b`, `]`]", [Var("a, b"), Var("]")]),
]


@pytest.mark.parametrize("text, dims", TEXTS)
def test_text_both_ways(text, dims):
    shape = Shape(dims)
    assert str(shape) == text
    assert repr(shape) == f"Shape({text})"
    assert Shape.parse(text) == shape
    assert Shape.parse(f"  {text} ") == shape


def test_declared_names_in_shape_texts():
    assert Shape.parse("[seq len, 2*seq len]", ["seq len"]) == (Var("seq len"), 2 * Var("seq len"))


@pytest.mark.parametrize(
    "text, position", [("N, 3", 0), ("[N, 3", 0), ("[N,, 3]", 3), ("[N, ]", 4), ("[N,  M M]", 7), ("[", 0), ("", 0)]
)
def test_malformed_shape_texts(text, position):
    with pytest.raises(ParseError) as caught:
        Shape.parse(text)
    assert (caught.value.text, caught.value.position) == (text, position)
