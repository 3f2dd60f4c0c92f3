"""The loops of plans, run: against NumPy, and against convolutions and broadcasts written down."""

from __future__ import annotations

from itertools import product as points

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from symdim import Var, maximum
from symdim.einsum import parse_subscripts, plan, plan_pointwise
from tests.symdim.plan_runs import numbers, run

LETTERS = "abcd"


@st.composite
def equations(draw):
    """A specification of equal sizes with labels repeated, summed and in any order, and arrays."""
    sizes = {label: draw(st.integers(1, 3)) for label in LETTERS}
    operands = draw(st.lists(st.lists(st.sampled_from(LETTERS), max_size=3), min_size=1, max_size=3))
    used = sorted({label for operand in operands for label in operand})
    result = draw(st.permutations(used))[: draw(st.integers(0, len(used)))]
    arrays = [
        np.array(draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size))).reshape(shape)
        for shape in ([sizes[label] for label in operand] for operand in operands)
        for size in [int(np.prod(shape))]
    ]
    return ["".join(operand) for operand in operands], "".join(result), arrays


@given(equations())
def test_loops_compute_the_einsum_of_numpy(case):
    operands, result, arrays = case
    expected = np.einsum(f"{','.join(operands)}->{result}", *arrays)
    found = plan(f"{';'.join(operands)}=>{result}", [array.shape for array in arrays])
    np.testing.assert_array_equal(run(found, *arrays), expected)
    assert found.surjective is True


@given(equations())
def test_loops_with_symbolic_sizes(case):
    operands, result, arrays = case
    sizes = {
        label: size
        for operand, x in zip(operands, arrays, strict=True)
        for label, size in zip(operand, x.shape, strict=True)
    }
    found = plan(
        f"{';'.join(operands)}=>{result}", [[Var(f"size {label}") for label in operand] for operand in operands]
    )
    keywords = {f"size_{label}": size for label, size in sizes.items()}
    out = np.zeros([sizes[label] for label in result], int)
    found.compiled()(out, *arrays, **keywords)
    np.testing.assert_array_equal(out, np.einsum(f"{','.join(operands)}->{result}", *arrays))


@st.composite
def stretched_equations(draw):
    operands, result, arrays = draw(equations())
    assume(all(len(set(operand)) == len(operand) for operand in operands))
    arrays = [array[tuple(slice(0, draw(st.sampled_from([1, None]))) for _ in array.shape)] for array in arrays]
    return operands, result, arrays


@given(stretched_equations(), st.booleans())
def test_loops_of_subscripts_stretch(case, symbolic):
    operands, result, arrays = case
    text = f"{','.join(operands)}->{result}"
    expected = np.einsum(text, *arrays)
    keywords = {}
    shapes = [array.shape for array in arrays]
    if symbolic:
        shapes = [[Var(f"{label}{i}") for label in operand] for i, operand in enumerate(operands)]
        keywords = {
            v.name: n for s, array in zip(shapes, arrays, strict=True) for v, n in zip(s, array.shape, strict=True)
        }
    found = plan(parse_subscripts(text), shapes)
    np.testing.assert_array_equal(run(found, *arrays, shape=expected.shape, **keywords), expected)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.booleans(), st.integers(0, 2))
def test_loops_of_a_convolution(out, kernel, stride, dilation, padding, offset):
    """Against the sum written down: x[stride*o + dilation*k - left], zero outside."""
    offset = offset % stride
    size = stride * out if padding else stride * (out - 1) + 1 + dilation * (kernel - 1)
    assume(padding or offset == 0)
    marker = "=" if padding else "<"
    found = plan(f"n, {stride}*o{marker}+{offset}+{dilation}*k, c; k, c, m => n, o, m", [[2, size, 3], [kernel, 3, 2]])
    assert found.shapes[-1] == (2, out, 2)
    x, w = numbers(2, size, 3), numbers(kernel, 3, 2)
    left = (dilation * (kernel - 1) + 1) // 2 if padding else 0
    expected = np.zeros((2, out, 2), int)
    for o, k in points(range(out), range(kernel)):
        place = stride * o + offset + dilation * k - left
        if 0 <= place < size:
            expected[:, o] += x[:, place] @ w[k]
    np.testing.assert_array_equal(run(found, x, w), expected)
    reads = [stride * o + offset + dilation * k - left for o, k in points(range(out), range(kernel))]
    assert found.margins[0][1] == (max(0, -min(reads)), max(0, max(reads) - size + 1))


def test_loops_of_a_two_dimensional_convolution():
    found = plan("n, 2*h<+kh, w=+kw, c; kh, kw, c, m => n, h, w, m", [["B", 7, "W", 2], [3, 3, 2, 4]])
    x, k = numbers(2, 7, 4, 2), numbers(3, 3, 2, 4)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::2]
    expected = np.einsum("nhwcij,ijcm->nhwm", windows, k)
    np.testing.assert_array_equal(run(found, x, k, shape=expected.shape, B=2, W=4), expected)


def test_strides_with_names():
    found = plan("s*o<+k; k => o", [["S*N - S + 3"], [3]], ["N"], sizes={"s": Var("S")})
    x, w = numbers(11), numbers(3)
    expected = np.array([x[4 * o : 4 * o + 3] @ w for o in range(3)])
    np.testing.assert_array_equal(run(found, x, w, shape=(3,), N=3, S=4), expected)
    assert "S*o + k" in str(found).replace("k + S*o", "S*o + k")


SIZES = st.integers(1, 3)


@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans())
def test_pointwise_loops_broadcast(a, b, c, one, other):
    x, y = numbers(a, 1 if one else b, c), numbers(b, 1 if other else c)
    expected = x + y
    np.testing.assert_array_equal(run(plan_pointwise([x.shape, y.shape], expected.shape), x, y, product="+"), expected)
    shapes = [["A", "B", "C"], ["D", "E"]]
    symbolic = plan_pointwise(shapes, ["A", maximum(Var("B"), Var("D")), maximum(Var("C"), Var("E"))])
    sizes = dict(zip("ABCDE", (*x.shape, *y.shape), strict=True))
    np.testing.assert_array_equal(run(symbolic, x, y, shape=expected.shape, product="+", **sizes), expected)
