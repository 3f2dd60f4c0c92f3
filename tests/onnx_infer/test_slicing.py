"""The law of slices against the text of Slice-13, on grids of sizes, bounds and steps of every sign."""

import itertools

import pytest

from onnx_infer.laws.slices import slice_length, slice_range
from onnx_infer.testing import const_value, infer_node
from symdim import Expr, Var, maximum, minimum

FAR = 2**63 - 1
BOUNDS = [-FAR - 1, -9, -3, -1, 0, 1, 3, 9, FAR]
STEPS = [-5, -2, -1, 1, 3]


def taken(size: int, start: int, end: int, step: int) -> list[int]:
    """The positions of a slice as Slice-13 words it, one by one."""
    start, end = (x + size if x < 0 else x for x in (start, end))
    low, high = (0, size) if step > 0 else (0, size - 1)
    start = min(max(start, low), high)
    end = min(max(end, 0 if step > 0 else -1), high)
    out = []
    while (step > 0 and start < end) or (step < 0 and start > end):
        out.append(start)
        start += step
    return out


def at(dim: int | Expr, **sizes: int) -> int:
    """The value of a dim at some sizes."""
    value = dim if isinstance(dim, int) else dim.substitute({v: sizes[str(v)] for v in dim.variables()})
    assert isinstance(value, int)
    return value


def agreed(end: int, step: int) -> bool:
    """Whether all runtimes read the end of the slice alike."""
    return step > 0 or end != FAR


@pytest.mark.parametrize("step", STEPS)
def test_known_bounds(step: int) -> None:
    for low, (start, end) in itertools.product((0, 1), itertools.product(BOUNDS, BOUNDS)):
        if agreed(end, step):
            length = slice_length(Var.fresh("n", min=low), start, end, step)
            for size in range(low, 6):
                value = (
                    length if isinstance(length, int) else length.substitute(dict.fromkeys(length.variables(), size))
                )
                assert value == len(taken(size, start, end, step)), (length, size, start, end, step)


@pytest.mark.parametrize("step", STEPS)
def test_positions(step: int) -> None:
    for size, start, end in itertools.product(range(6), BOUNDS, BOUNDS):
        if agreed(end, step):
            assert list(slice_range(size, start, end, step)) == taken(size, start, end, step)
            assert slice_length(size, start, end, step) == len(taken(size, start, end, step))
            bounds = [const_value([x]) for x in (start, end, 0, step)]
            (part,) = infer_node("Slice", [const_value(range(size)), *bounds], version=13)
            assert part.data == tuple(taken(size, start, end, step))


def test_a_backward_slice_in_steps_with_bounds_of_unknown_sign_is_bounded_by_the_axis() -> None:
    size, b = Var("size"), Var("b")
    length = slice_length(size, b - 3, -9, -2)
    assert isinstance(length, Var)
    assert (str(length.at_most), length.lo) == ("size", 0)


@pytest.mark.parametrize("step", [-1, 1, 3])
def test_bounds_of_unknown_sign(step: int) -> None:
    size, b, empty = Var("size"), Var("b"), Var.fresh("empty", min=0)
    for shape, other in itertools.product((5, size, empty), (0, -1, 2, FAR, b - 4)):
        for start, end in ((b - 3, other), (other, b - size), (2 - b, other), (b - 3, b + 2), (b - size, b)):
            if not isinstance(end, Expr) and not agreed(end, step):
                continue
            length = slice_length(shape, start, end, step)
            for n, k in itertools.product(range(1, 6), range(1, 8)):
                values = {"size": n, "b": k, "empty": n - 1}
                sizes = [at(d, **values) for d in (shape, start, end)]
                assert at(length, **values) == len(taken(*sizes, step)), (length, n, k, step)


def test_the_position_of_a_window_cancels() -> None:
    h = Var("h")
    top = -((h - minimum(maximum(h, 15), 16)) // 2)  # the middle of 16 rows, (16 - h)/2 truncated
    length = slice_length(16, top, top + h, 1)
    assert str(length) == "max(min(h, 16) - 16*(min(max(h, 16), 18)//2) + min(max(h, 16), 48)//2 + 120, 0)"
    for n in range(1, 60):
        start = int((16 - n) / 2)
        assert at(length, h=n) == len(taken(16, start, start + n, 1))


def test_symbolic_step() -> None:
    size, k = Var("size"), Var("k")
    for n, step in itertools.product(range(1, 9), range(1, 5)):
        assert at(slice_length(size, 1, FAR, k), size=n, k=step) == len(taken(n, 1, FAR, step))
        assert at(slice_length(size, -1, -FAR, -k), size=n, k=step) == len(taken(n, -1, -FAR, -step))


def test_unknown_bounds_are_bounded() -> None:
    length = slice_length(9, 2, None, 2)
    assert isinstance(length, Expr)
    assert length.bounds() == (0, 4)
    unknown_step = slice_length(9, 2, 4, None)
    assert isinstance(unknown_step, Expr)
    assert unknown_step.bounds() == (0, 9)
    assert not isinstance(slice_length(9, 2, FAR, -1), int)


@pytest.mark.parametrize("far", [10**9, 2**30, 2**31 - 1, 2**63 - 1])
def test_a_bound_that_no_axis_reaches_is_the_end_of_the_axis(far: int) -> None:
    size = Var("N")
    assert slice_length(size, 0, far, 1) is size
    assert slice_length(size, 1, far, 1) == size - 1
    assert slice_length(size, -far, far, 2) == (size + 1) // 2
    assert slice_length(size, far, -far, -1) is size or far in (2**31 - 1, 2**63 - 1)
    assert slice_length(size, far, 3, 1) == 0


def test_a_bound_within_a_known_axis_counts_as_it_is() -> None:
    assert slice_length(3 * 10**9, 0, 10**9, 1) == 10**9
    assert slice_length(3 * 10**9, -(10**9), 2**63 - 1, 1) == 10**9
    assert slice_length(Var("N"), 0, 10**9 - 1, 1) == minimum(Var("N"), 10**9 - 1)
    large = Var.fresh("N", 2 * 10**9)
    assert slice_length(large, 0, 10**9, 1) == 10**9


def test_one_bound_inside_the_axis_needs_no_maximum_with_0() -> None:
    N, M = Var("N"), Var("M")
    assert str(slice_length(N, 0, N - M, 1)) == "N - min(M, 2*N) + N*min(max(M, N) - N, 1)"
