"""Injectivity and surjectivity of index maps, against all points of small boxes."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdim import Var
from symdim.einsum.loopnest import covers, is_injective, is_onto
from tests.symdim.einsum_cases import solve

N, M = Var("N"), Var("M")
NAMES = "abc"


@st.composite
def maps(draw):
    """Sizes of iterators, axes as (terms, offset), and a shape."""
    sizes = {name: draw(st.integers(1, 4)) for name in NAMES[: draw(st.integers(1, 3))]}
    rank = draw(st.integers(0, 3))
    coefficients = st.dictionaries(st.sampled_from(sorted(sizes)), st.integers(-2, 5).filter(bool))
    axes = [(draw(coefficients), draw(st.integers(-2, 2))) for _ in range(rank)]
    return sizes, axes, [draw(st.integers(1, 5)) for _ in range(rank)]


@given(maps())
def test_4_51_against_all_points(case):
    """4.51: a map is injective where no two points meet, surjective where every element is met."""
    sizes, axes, shape = case
    hit = []
    for point in product(*(range(size) for size in sizes.values())):
        value = dict(zip(sizes, point, strict=True))
        hit.append(tuple(offset + sum(c * value[name] for name, c in terms.items()) for terms, offset in axes))
    assert is_injective([terms for terms, _ in axes], sizes) is (len(set(hit)) == len(hit))
    assert covers(axes, sizes, shape) in (None, set(product(*map(range, shape))) <= set(hit))


@pytest.mark.parametrize(
    "axes, sizes, expected",
    [
        ([{"i": 1}, {"j": 1}], {"i": N, "j": M}, True),
        ([{"i": 1}, {"i": 1}], {"i": N}, True),
        ([{"i": N, "j": 1}], {"i": M, "j": N}, True),
        ([{"i": M * N, "j": N, "k": 1}], {"i": 7, "j": M, "k": N}, True),
        ([{"i": N, "j": 1}], {"i": M, "j": N + 1}, None),
        ([{"i": 1}], {"i": N, "j": M + 1}, False),
        ([{"i": 1}], {"i": N, "j": M}, None),
        ([{"i": 1, "j": 1}], {"i": 2, "j": N + 1}, None),
        ([{"i": 2, "j": 1}, {"j": 1}], {"i": N, "j": N}, True),
        ([{"i": 6, "j": 4, "k": 4}], {"i": 2, "j": 3, "k": 3}, False),  # j = 0, k = 1 meets j = 1, k = 0 only
        ([{"i": 6, "j": 4, "k": 9}], {"i": 2, "j": 3, "k": 2}, True),
        ([], {"i": N, "j": 0}, True),
    ],
)
def test_4_51_injective_at_all_sizes(axes, sizes, expected):
    assert is_injective(axes, sizes) is expected


@pytest.mark.parametrize(
    "axes, sizes, shape, expected",
    [
        ([({"i": 1}, 0)], {"i": N}, [N], True),
        ([({"i": N, "j": 1}, 0)], {"i": M, "j": N}, [N * M], True),
        ([({"i": 2}, 0)], {"i": N}, [2 * N], False),
        ([({"i": 2, "j": 1}, 0)], {"i": N, "j": 3}, [2 * N + 1], True),
        ([({"i": 1}, 0), ({"i": 1}, 0)], {"i": N}, [N, N], None),
        ([({"i": 1}, 0), ({"i": 1}, 0)], {"i": N + 1}, [N + 1, N + 1], False),
        ([({"i": 1}, 0), ({"i": 1}, 0)], {"i": 2 * N - 1}, [2, N], False),  # one element is not reached
        ([({"i": 1}, 0), ({}, 0)], {"i": N}, [N, 1], True),
        ([({"i": 1}, 0), ({}, 0)], {"i": N}, [N, M + 1], False),
        ([({"i": 1}, -1)], {"i": N + 1}, [N], True),
        ([({"i": 1}, 1)], {"i": N}, [N], False),
    ],
)
def test_4_51_surjective_at_all_sizes(axes, sizes, shape, expected):
    assert covers(axes, sizes, shape) is expected


@pytest.mark.parametrize(
    "index, offset, extent, expected",
    [
        ({"o": -1}, 2, 3, True),
        ({"o": -1}, 2, 4, False),
        ({"o": 1}, M, 3, False),
        ({"o": 1}, M, N - 1, None),  # an extent of 0 is reached
    ],
)
def test_4_51_one_index_onto_an_axis(index, offset, extent, expected):
    assert is_onto(index, offset, {"o": 3}, extent) is expected


def test_long_searches_end():
    coefficients = {f"i{n}": 1000 + 7 * n for n in range(30)}
    assert is_injective([coefficients], dict.fromkeys(coefficients, 50)) in (None, False)
    million = 10**6
    assert is_injective([{"i": 1000, "j": 999}], {"i": million, "j": million}) in (None, False)
    assert is_injective([{"i": million, "j": million + 1}], {"i": million + 1, "j": million}) in (None, True)
    assert is_injective([{"i": 2, "j": 3}, {"i": 3, "j": 5}], {"i": million, "j": million}) in (None, True)


def test_cases_written_as_data():
    case = {"group": "injective", "index": ["i", 0, {"terms": [[2, "o"], [1, "w"], [1, "o"]]}]}
    assert solve({**case, "ranges": {"i": 5, "o": 4, "w": 3}}) == {"injective": True}
    assert solve({**case, "ranges": {"i": 5, "o": 4, "w": 4}}) == {"injective": False}


def test_axes_with_a_common_iterator_are_counted_point_by_point():
    """(i, i + j) of two values each misses (1, 0); (i, i + j - 1) of more values for j reaches every position."""
    assert covers([({"i": 1}, 0), ({"i": 1, "j": 1}, 0)], {"i": 2, "j": 2}, [2, 2]) is False
    assert covers([({"i": 1}, 0), ({"i": 1, "j": 1}, -1)], {"i": 2, "j": 3}, [2, 2]) is True


def test_an_empty_shape_is_covered_and_a_stride_of_unknown_sign_is_not_decided():
    assert covers([({"i": 1}, 0)], {"i": 5}, [0]) is True
    assert covers([({"i": Var("N") - Var("M")}, 0)], {"i": 5}, [3]) is None


@pytest.mark.parametrize("coefficients", [*product((-4, -3, -2, -1, 1, 2, 3, 4), repeat=2)], ids=str)
def test_two_steps_from_about_0_are_decided(coefficients):
    """Exact for each size of the box, each extent, and a least value of -1, 0 or 1."""
    for sizes in product(range(1, 5), repeat=2):
        steps = [c * value for c, size in zip(coefficients, sizes, strict=True) for value in range(size)]
        first, second = steps[: sizes[0]], steps[sizes[0] :]
        for least in (-1, 0, 1):
            offset = least - min(first) - min(second)
            hit = {offset + a + b for a in first for b in second}
            for extent in range(1, 10):
                index, box = dict(zip("ab", coefficients, strict=True)), dict(zip("ab", sizes, strict=True))
                assert is_onto(index, offset, box, extent) is (set(range(extent)) <= hit), (sizes, least, extent)


@pytest.mark.parametrize(
    ("sizes", "shape", "expected"),
    [
        ({"i": 0, "j": 3}, [3, 2], False),
        ({"i": 0, "j": 3}, [3, 0], True),
        ({"i": 0, "j": 3}, [N, M], False),
        ({"i": 0, "j": 3}, [N, M - 1], None),
        ({"i": 2, "j": 3}, [N + 2, M], False),
        ({"i": 2, "j": 3}, [N + 2, M - 1], None),
        ({"i": 2, "j": 3}, [2, 3], True),
        ({"i": 2, "j": 3}, [2, M], None),
    ],
)
def test_an_empty_box_or_shape(sizes, shape, expected):
    assert covers([({"i": 1}, 0), ({"j": 1}, 0)], sizes, shape) is expected


def test_an_iterator_in_no_index_repeats_each_position_unless_the_box_is_empty():
    assert is_injective([{"i": 1}], {"i": 3, "j": 2}) is False
    assert is_injective([{"i": 1}], {"i": 3, "j": 1}) is True
    assert is_injective([{"i": 1}], {"i": N - 1, "j": 2}) is None
    assert is_injective([{"i": 1}], {"i": N, "j": 2}) is False
