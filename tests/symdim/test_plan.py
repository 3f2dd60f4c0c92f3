"""Plans: projections, product spaces, index maps; their loops against NumPy and direct computations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symdim import Row, SymdimError, Var, maximum
from symdim.einsum import (
    Padding,
    SpecError,
    padding_of,
    plan,
    plan_batch_slice,
    plan_compose,
    plan_pointwise,
    plan_transpose,
)
from symdim.einsum.projection import Affine, Concat, Fixed, Iterator, Projections, Static
from symdim.rows import Axes
from symdim.store import Contradiction
from tests.symdim.einsum_cases import solve
from tests.symdim.plan_runs import numbers, run

N, M = Var("N"), Var("M")


def names(*indices):
    return tuple(Iterator(name) for name in indices)


def test_4_45_instances_of_one_tensor_are_apart():
    """4.45: fresh projections for every operand: equal sizes, or the same tensor twice, tie no axes together."""
    outer = plan("ij;kl=>ijkl", [[2, 2], [2, 2]])
    assert [len(component) for component in outer.product] == [1, 1, 1, 1]
    square = numbers(2, 2)
    np.testing.assert_array_equal(run(outer, square, square), np.einsum("ij,kl->ijkl", square, square))


def test_4_46_equal_projections():
    """4.46: one iterator per class; an operand of size 1 is read at 0; axes that only an operand has are iterated."""
    matmul = plan("ij;jk=>ik", [[3, 4], [4, 5]])
    assert (matmul.out, matmul.args) == (names("i", "k"), (names("i", "j"), names("j", "k")))
    assert matmul.product == ((("i", 3),), (("k", 5),), (("j", 4),))
    stretched = plan_pointwise([[3, 1], [1, 4], [4]], [3, 4])
    assert stretched.args == ((Iterator("o0"), Fixed(0)), (Fixed(0), Iterator("o1")), names("o1"))


def test_4_46_sizes_of_a_class_agree():
    projections = Projections()
    a, b, c = projections.fresh("a", 3), projections.fresh("b", N), projections.fresh("c", 4)
    projections.equate(a, b)
    assert projections.find(a) == projections.find(b)
    assert projections.size(b) == 3
    with pytest.raises(SpecError, match="3 and 4"):
        projections.equate(b, c)
    with pytest.raises(Contradiction):
        plan("ij;jk=>ik", [[3, 4], [5, 6]])
    with pytest.raises(SpecError, match="not known"):
        plan("...i=>...", [["...", 3]])


def test_4_47_product_space_and_indices():
    """4.47: classes of size 1 or with a given index are not iterated; the index of an axis is one of five kinds."""
    found = plan("i, 2*o<+k, 1, a^b; k, c => i, o, 0, a^b, c", [[1, 8, 3, 5], [2, 1]], [1, 4, 2, 5, 1], given={})
    assert dict(found.sizes)["o"] == 4
    assert "i" not in found.sizes
    assert "c" not in found.sizes
    assert found.args[0] == (Fixed(0), Affine(((2, "o"), (1, "k"))), Fixed(1), Concat(("a", "b")))
    assert found.args[1] == (Iterator("k"), Fixed(0))
    assert found.out == (Fixed(0), Iterator("o"), Fixed(0), Concat(("a", "b")), Fixed(0))


def test_4_47_order_of_storage_is_batch_output_input():
    found = plan("b|i->o => o|b->i", [{"batch": [2], "input": [3], "output": [4]}])
    assert (found.args[0], found.out) == (names("b", "o", "i"), names("o", "i", "b"))
    assert found.shapes == ((2, 4, 3), (4, 3, 2))


def test_4_48_padding():
    """4.48: the index starts at minus the left padding; what lies outside is padding."""
    found = plan("o=+k; k => o", [[5], [3]])
    assert found.args[0] == (Affine(((1, "o"), (1, "k")), -1),)
    assert found.margins == (((1, 1),), ((0, 0),), ((0, 0),))
    assert found.clears
    x, w = numbers(5), numbers(3)
    np.testing.assert_array_equal(run(found, x, w), np.convolve(x, w[::-1], "same"))
    assert plan("o=+k; k => o", [[5], [4]]).margins[0] == ((2, 1),)
    dilated = plan("2*o=+1+3*k; k => o", [["2*N"], [3]])
    assert dilated.margins[0] == ((2, 3),)
    assert plan("2*o=+k; k => o", [[6], [3]]).margins[0] == ((1, 0),)
    assert dilated.args[0] == (Affine(((2, "o"), (3, "k")), -2),)


def test_an_index_with_a_symbolic_stride_is_written_without_zero():
    """The stride is a parameter of the function, even if no size tells it."""
    lines = plan("s*o => o", [["N"]]).source().splitlines()
    assert (lines[0], lines[-1].strip()) == ("def run(out, in0, *, N, o0, s1):", "out[o] = in0[s1*o]")
    assert "in0[s2*o + k] * in1[k]" in plan("s*o<+k; k => o", [["N"], [3]]).source()


def test_a_size_that_may_be_0_keeps_its_maximum():
    source = plan("i => i", [[maximum(Var.fresh("N", 0), 1)]]).source()
    assert "range(max(N, 1))" in source


def test_4_48_the_margin_of_a_tensor_is_that_of_all_its_uses():
    uses = [(plan(f"o={text}; k => o", [[9], [kernel]]).margins[0], 0.0) for text, kernel in (("+k", 4), ("+2*k", 3))]
    assert padding_of(uses).margins == ((2, 2),)
    assert padding_of(uses, [(3, 2)]).margins == ((3, 2),)
    with pytest.raises(SpecError, match="margin"):
        padding_of(uses, [(1, 2)])
    with pytest.raises(SpecError, match="margin"):
        padding_of([([(N, 0)], 0.0)], [(1, 0)])


def test_4_52_the_element_of_a_margin():
    """4.52: uses with the same neutral element share it; with different ones it is set before each use."""
    assert padding_of([([(1, 0)], 0.0), ([(0, 1)], 0.0)]) == Padding(((1, 1),), 0.0)
    assert padding_of([([(1, 0)], 0.0), ([(0, 1)], float("-inf"))]).element is None
    assert padding_of([([(1, 0)], 0.0), ([(0, 0)], float("-inf"))]).element == 0.0


def test_4_49_concatenation():
    """4.49: components are walked part by part; parts of size 1 keep their iterators, empty ones vanish."""
    found = plan("a, x; b, x; c, x => a^b^c, x", [[2, 4], [1, 4], [2, 4]])
    assert found.product == ((("a", 2), ("b", 1), ("c", 2)), (("x", 4),))
    assert found.out == (Concat(("a", "b", "c")), Iterator("x"))
    arrays = numbers(2, 4), 10 * numbers(1, 4), 100 * numbers(2, 4)
    np.testing.assert_array_equal(run(found, *arrays), np.concatenate(arrays))
    assert (found.injective, found.surjective, found.clears) == (True, True, False)
    whole = plan("a^b => a", [[5]], [5])
    assert whole.product == ((("a", 5),),)
    np.testing.assert_array_equal(run(whole, numbers(5)), numbers(5))
    none = plan("a^b => a", [[5]], [0])
    assert run(none, numbers(5)).shape == (0,)
    np.testing.assert_array_equal(
        run(plan("ij;jk=>ik", [[2, 0], [0, 3]]), numbers(2, 0), numbers(0, 3)), np.zeros((2, 3))
    )


def test_4_49_slices_and_rotations():
    np.testing.assert_array_equal(run(plan("a^b => b", [[5]], [2]), numbers(5)), [4, 5])
    np.testing.assert_array_equal(run(plan("3^rest => rest", [[5]]), numbers(5)), [4, 5])
    np.testing.assert_array_equal(run(plan("rest^3 => rest", [[5]]), numbers(5)), [1, 2])
    rotated = plan("a^b; a => b^a", [[5], [2]])
    np.testing.assert_array_equal(run(rotated, numbers(5), np.array([10, 100])), [3, 4, 5, 10, 200])


@given(st.data())
def test_4_49_parts_in_any_order(data):
    """Parts taken out of two arrays and put together, against NumPy; empty ones and ones of size 1 too."""
    sizes = {name: data.draw(st.integers(0, 3), label=name) for name in "abcd"}
    arrays, pieces = [], {}
    for parts in ("ab", "cd"):
        array = data.draw(st.integers(1, 50)) + numbers(sum(sizes[name] for name in parts), 2)
        cut = sizes[parts[0]]
        arrays.append(array)
        pieces |= {parts[0]: array[:cut], parts[1]: array[cut:]}
    order = data.draw(st.permutations("abcd"))[: data.draw(st.integers(2, 4))]
    assume(set(order) & set("ab") and set(order) & set("cd"))
    found = plan(f"a^b, x; c^d, x => x, {'^'.join(order)}", [array.shape for array in arrays], sizes=sizes)
    expected = np.concatenate([pieces[name] for name in order]).T
    np.testing.assert_array_equal(run(found, *arrays), expected)
    assert (found.injective, found.surjective) == (True, True)


def test_4_49_components_are_connected():
    found = plan("a^b, x^y; b^c, y => c, x", [[5, 6], [4, 4]], [3, 2])
    assert sorted(sorted(name for name, _ in component) for component in found.product) == [["a", "b", "c"], ["x", "y"]]
    diagonal = plan("a, c; b, d => a^b, c^d", [[2, 3], [1, 4]])
    assert [len(component) for component in diagonal.product] == [2, 2]
    assert (diagonal.injective, diagonal.surjective, diagonal.clears) == (True, False, True)
    assert len(list(diagonal.walks())) == 2
    first, second = numbers(2, 3), 10 * numbers(1, 4)
    expected = np.zeros((3, 7), int)
    expected[:2, :3], expected[2:, 3:] = first, second
    np.testing.assert_array_equal(run(diagonal, first, second), expected)
    with pytest.raises(SpecError, match="twice"):
        plan("a^a => a", [[4]])
    with pytest.raises(SpecError, match="given index"):
        plan("a^b => b", [[4]], [1], given={"a": "step"})


def test_4_49_a_sum_over_no_elements_is_empty():
    found = plan("a^b, x; x => x", [[0, 3], [3]])
    np.testing.assert_array_equal(run(found, numbers(0, 3), numbers(3)), [0, 0, 0])
    found = plan("a^b; c^d => a^c", [[2], [3]], [2], sizes={"a": 2})
    assert found.product == ((("a", 2), ("d", 3)),)
    np.testing.assert_array_equal(run(found, numbers(2), numbers(3)), [1, 2])


def test_4_50_given_indices():
    """4.50: an index from the specification, or one that is given at run time; both on one axis are a conflict."""
    array = numbers(3, 4)
    np.testing.assert_array_equal(run(plan("i1=>i", [[3, 4]]), array), array[:, 1])
    sliced = plan_batch_slice({"batch": [5, 2], "output": [4]}, {"batch": [2], "output": [4]}, "step")
    assert sliced.args[0][0] == Static("step")
    assert sliced == plan_batch_slice({"batch": [5, 2], "output": [4]}, None, "step", 5)
    with pytest.raises(Contradiction):
        plan_batch_slice({"batch": [5, 2], "output": [4]}, size=6)
    assert sliced.statics == ("step",)
    array = numbers(5, 2, 4)
    np.testing.assert_array_equal(run(sliced, array, step=3), array[3])
    window = plan("2*o<+k => k", [[9]], [3], given={"o": "k"})
    assert str(window).splitlines()[1] == "    for k2 in range(3):"
    np.testing.assert_array_equal(run(window, numbers(9), k=2), [5, 6, 7])
    assert plan("o => 2*o+1", [[3]], given={"o": "s"}).surjective is None
    assert [plan("o => oi", [[3]], [3, size], given={"i": "s"}).surjective for size in (1, 2)] == [True, False]
    row = plan("ij=>j", [[3, 4]], given={"i": "r"})
    np.testing.assert_array_equal(run(row, numbers(3, 4), r=2), [9, 10, 11, 12])
    projections = Projections()
    axis = projections.fresh("i", 5)
    projections.give(axis, Fixed(0))
    projections.give(axis, Fixed(0))
    with pytest.raises(SpecError, match="indexed by"):
        projections.give(axis, Static("step"))


@pytest.mark.parametrize(
    "spec, shapes, result, injective, surjective",
    [
        ("i=>ii", [[5]], [5, 5], True, False),
        ("i=>ii", [["N"]], None, True, None),
        ("ij=>i", [["N", "M + 1"]], None, False, True),
        ("ij=>i", [["N", "M"]], None, None, True),
        ("i=>i0", [[4]], [4, 1], True, True),
        ("i=>i0", [[4]], [4, 2], True, False),
        ("i=>i1", [[4]], [4, 2], True, False),
        ("o => 2*o", [["N"]], None, True, False),
        ("o => 1*o", [["N"]], None, True, True),
        ("o => 2*o+1", [[3]], None, True, False),
        ("o; k => 2*o<+k", [["N"], [2]], None, True, True),
        ("o; k => 2*o<+k", [[4], [3]], None, False, True),
        ("o; k => 3*o<+k", [[4], [2]], None, True, False),
        ("a^b => ", [[5]], [], None, True),
        ("a^b; a; b => ", [[5], [2], [3]], [], False, True),
        ("a; b => a^b", [["N"], ["M"]], None, True, True),
        ("=> i", [], ["N"], True, True),
    ],
)
def test_4_51_injective_and_surjective(spec, shapes, result, injective, surjective):
    """4.51: whether values are added up, and whether the result has to be cleared."""
    shapes = shapes or [[]]
    found = plan(spec, shapes, result)
    assert (found.injective, found.surjective) == (injective, surjective)
    assert found.accumulates is (injective is not True)
    assert found.clears is (injective is not True or surjective is not True)


def test_pointwise_loops_broadcast_in_the_middle():
    middle = Axes(output=Row((3,), None, (5,)))
    found = plan_pointwise([middle], [3, 9, 5])
    assert found.args == (names("o0", "o2"),)
    with pytest.raises(SpecError, match="more output axes"):
        plan_pointwise([[2, 3]], [3])
    with pytest.raises(SpecError, match="differ"):
        plan_pointwise([[2]], [3])


def test_compose_and_transpose():
    w, x = numbers(3, 4), numbers(2, 4)
    shapes = [{"input": [4], "output": [3]}, {"batch": [2], "output": [4]}]
    composed = plan_compose(shapes, {"batch": [2], "output": [3]})
    np.testing.assert_array_equal(run(composed, w, x), np.einsum("oi,bi->bo", w, x))
    assert composed.injective is False
    assert composed == plan_compose(shapes)
    scaled = plan_compose([*shapes, {"batch": [2], "output": [3]}])
    np.testing.assert_array_equal(run(scaled, w, x, numbers(2, 3)), np.einsum("oi,bi,bo->bo", w, x, numbers(2, 3)))
    shared = plan_compose([{"input": [4], "output": [3]}, [1]], [3])
    np.testing.assert_array_equal(run(shared, w, np.array([2])), 2 * w.sum(1))
    turned = plan_transpose({"batch": [2], "input": [3], "output": [4]}, {"batch": [2], "input": [4], "output": [3]})
    array = numbers(2, 4, 3)
    np.testing.assert_array_equal(run(turned, array), array.transpose(0, 2, 1))
    assert turned == plan_transpose({"batch": [2], "input": [3], "output": [4]})
    with pytest.raises(SpecError, match="takes 2 operands"):
        plan_compose(shapes[:1])


def test_loops_run_on_anything_with_items():
    cells: dict[tuple[int, ...], int] = {(i, j): 10 * i + j for i in range(2) for j in range(3)}
    out: dict[object, int] = {}
    plan("ij=>ji", [[2, 3]]).compiled()(out, cells)
    assert out == {(j, i): value for (i, j), value in cells.items()}


def test_names_in_the_source_are_safe():
    found = plan("in, range, out => out, in", [["seq len", "class", 2]], [2, "seq len"])
    source = str(found)
    assert source.startswith("def run(out, in0, *, seq_len, _class):\n    for out_2 in range(2):")
    array = numbers(2, 3, 2)
    np.testing.assert_array_equal(run(found, array, shape=(2, 2), seq_len=2, _class=3), array.sum(1).T)
    with pytest.raises(SymdimError, match="combined"):
        found.compiled("or print() or")


def test_many_axes():
    found = plan("abcdefghijklmnopqrstuvwxyz=>zyxwvutsrqponmlkjihgfedcba", [[1] * 4 + [2] * 3 + ["N"] * 19])
    compile(str(found), "plan", "exec")
    assert len(found.product) == 22


def test_cases_written_as_data():
    case = {
        "group": "projection",
        "shapes": {"A": [4], "OUT": {"batch": [4], "output": [1]}},
        "ops": [{"op": "einsum", "spec": "i => i|0", "args": ["A"], "out": "OUT"}],
    }
    assert solve(case) == {
        "product": [[["i", 4]]],
        "out": {"batch": ["i"], "output": [0]},
        "args": [["i"]],
        "injective": True,
        "surjective": True,
    }
    wrong = {**case, "shapes": {"A": [4], "OUT": [4]}}
    assert solve(wrong) == {"error": "rank_mismatch"}


def test_a_plan_shows_its_call() -> None:
    assert repr(plan("o=+k; k => o", [["N"], [3]])) == "<Plan run(out, in0, in1, *, N)>"
