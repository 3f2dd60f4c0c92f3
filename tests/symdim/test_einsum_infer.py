"""Shapes of einsums, forwards and backwards, and the labels that a caller reads and sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdim import Row, Store, Var
from symdim.einsum import EinsumSpec, SpecError, parse_spec, parse_subscripts, plan
from symdim.einsum.constraints import state
from symdim.store import Contradiction
from tests.counting import calls_of

N, H = Var("N"), Var("H")


def texts(inference):
    return [str(shape) for shape in (*inference.operands, inference.result)]


def test_4_23_equations_run_both_ways():
    """4.23: result and operands equal their templates; nothing is stretched."""
    known = EinsumSpec("ij;jk=>ik").infer([3, 4], None, result=["?", 5])
    assert texts(known) == ["3, 4", "4, 5", "3, 5"]
    with pytest.raises(Contradiction, match="size mismatch"):
        texts(EinsumSpec("ij;jk=>ik").infer([3, 1], [4, 5]))


def test_4_23_ranks_and_kinds():
    known = EinsumSpec("... s | h d; ... t | h d => ... s | t -> h").infer(
        {"batch": [2, 10], "output": [8, 6]}, {"batch": ["?", 20], "output": None}
    )
    assert texts(known) == ["2, 10|8, 6", "2, 20|8, 6", "2, 10|20->8"]
    assert str(EinsumSpec("...i=>...").infer(["...", 5], result=["N", 7]).operands[0]) == "N, 7, 5"


def test_4_13_a_fixed_index_bounds_the_size():
    """4.13: the size of an axis read at index i is at least i + 1."""
    assert texts(EinsumSpec("i2=>i").infer(["N", 3])) == ["N, 3", "N"]
    with pytest.raises(Contradiction) as caught:
        texts(EinsumSpec("i2=>i").infer(["N", 2]))
    assert caught.value.kind == "index_out_of_range"


def test_4_14_windows():
    """4.14: padding keeps the size, a valid window does not; the offset does not matter for sizes."""
    spec = EinsumSpec("2*o<+2*k; k => o")
    assert texts(spec.infer([11], None, result=[4])) == ["11", "3", "4"]
    assert texts(spec.infer(None, ["K"], result=["O"]))[0] == "2*K + 2*O - 3"
    assert texts(EinsumSpec("2*o=+k; k => o").infer(None, [3], result=["H"])) == ["2*H", "3", "H"]
    assert texts(EinsumSpec("2*o+1 => o").infer([8])) == ["8", "4"]
    with pytest.raises(SpecError, match=r"'=' .* or '<'") as caught:
        spec = EinsumSpec("2*o+k; k => o").infer([7], [3])
    assert caught.value.kind == "padding_unspecified"
    with pytest.raises(SpecError, match="offset") as caught:
        EinsumSpec("2*o+2 => o").infer([8])
    assert caught.value.kind == "index_out_of_range"


def test_4_14_named_strides_are_the_callers():
    spec = EinsumSpec("s*o<+d*k; k => o")
    assert texts(spec.infer([11], None, result=[4], s=2, d=2)) == ["11", "3", "4"]
    known = spec.infer([11], [3], result=[4], d=2)
    assert known.size("s") == 2


def test_4_15_concatenation():
    """4.15: the whole is the sum of the parts; a part may be a number."""
    assert texts(EinsumSpec("..r.., a; ..r.., b => ..r.., a^b").infer([7, 2, 3], ["...", 4])) == [
        "7, 2, 3",
        "7, 2, 4",
        "7, 2, 7",
    ]
    assert texts(EinsumSpec("3^rest => rest").infer(["N + 3"])) == ["N + 3", "N"]
    known = EinsumSpec("a^b => a").infer([5], result=[5])
    assert (known.size("a"), known.size("b")) == (5, 0)


def test_4_27_only_a_part_that_may_be_left_out_may_be_empty():
    store, spec = Store(), parse_spec("a^b => a")
    names = state(store, spec, [Row.unknown(), Row.unknown()])
    assert [store.interval(names.sizes[label]) for label in "ab"] == [(1, None), (0, None)]


def test_4_17_number_of_operands():
    """4.17: one shape per operand."""
    with pytest.raises(SpecError, match="2 operands") as caught:
        EinsumSpec("ij;jk=>ik").infer([3, 4])
    assert caught.value.kind == "arity"
    with pytest.raises(SpecError, match="ab; bc => ac takes 2 operands, not 1"):
        EinsumSpec("ab; bc => ac").infer(["N", 3])
    with pytest.raises(SpecError, match=r"pattern of one shape: .* parse_subscripts reads NumPy's notation"):
        plan("ab, bc -> ac", [["N", "K"], ["K", "M"]])
    with pytest.raises(SpecError, match="pattern of one shape"):
        EinsumSpec("ij").infer([3, 4])


def test_4_18_labels_are_read():
    """4.18: the size of a label after inference; a row reads as its number of elements."""
    known = EinsumSpec("a..r..;..r..b=>ab").infer([2, 3, N], [3, N, 5])
    assert [known.size(name) for name in "abr"] == [2, 5, 3 * N]
    assert known.row("r") == Row.of([3, N])
    with pytest.raises(SpecError, match="no label 'c', but a, b, r"):
        known.size("c")


def test_4_18_labels_are_set():
    known = EinsumSpec("ij;jk=>ik").infer(None, None, i=3, j=4)
    known.set_equal("i", "k")
    assert texts(known) == ["3, 4", "4, 3", "3, 3"]
    with pytest.raises(Contradiction, match="j is set to 5"):
        known.set_dim("j", 5)
    with pytest.raises(SpecError, match="no label 'x'"):
        EinsumSpec("ij=>ji").infer(None, x=1)


def test_4_18_rows_are_set_equal():
    known = EinsumSpec("..r..;..s.. => ").infer([2, "N"], None)
    known.set_equal("r", "s")
    assert texts(known)[1] == "2, N"
    for one, other in (("k", "r"), ("r", "k")):
        known = EinsumSpec("..r..;k => ").infer([2, 3], None)
        known.set_equal(one, other)
        assert known.size("k") == 6


def test_4_18_scales():
    known = EinsumSpec("a; b => ").infer([16], None)
    known.set_scale("a", "b", 2)
    assert known.size("b") == 8
    with pytest.raises(Contradiction) as caught:
        EinsumSpec("a; b => ").infer([17], None).set_scale("a", "b", 2)
    assert caught.value.kind == "stride_mismatch"
    with pytest.raises(SpecError, match="below 1"):
        known.set_scale("a", "b", 0)
    with pytest.raises(SpecError, match="'r' is a row"):
        EinsumSpec("a; ..r.. => ").infer(None, None).set_scale("a", "r", 2)


def test_errors_name_the_operand_and_the_specification():
    with pytest.raises(Contradiction) as caught:
        EinsumSpec("ij;jk=>ik").infer([3, 4], [5, 6]).size("j")
    assert "ij; jk => ik" in str(caught.value)
    assert "operand 0" in str(caught.value)
    assert "operand 1" in str(caught.value)
    assert "4" in str(caught.value)
    assert "5" in str(caught.value)


def test_subscripts_stretch():
    known = EinsumSpec(parse_subscripts("b...ij,b...jk")).infer([1, 7, 3, 4], ["B", 4, 5])
    assert str(known.result) == "7, 3, 5"
    known = EinsumSpec(parse_subscripts("ij,jk->ik")).infer([3, 1], ["K", 5])
    assert str(known.result) == "3, 5"
    assert known.size("j") is Var("K")


LABELS = "abc"


@st.composite
def equations(draw):
    """An equation of NumPy with shapes that fit it, some sizes being 1."""
    sizes = {label: draw(st.integers(1, 3)) for label in LABELS}
    extra = draw(st.lists(st.integers(1, 3), max_size=2))
    operands, shapes = [], []
    for _ in range(draw(st.integers(1, 3))):
        labels = draw(st.lists(st.sampled_from(LABELS), max_size=3, unique=True))
        shape = [draw(st.sampled_from([1, sizes[label]])) for label in labels]
        if draw(st.booleans()):
            place = draw(st.integers(0, len(labels)))
            inner = [draw(st.sampled_from([1, size])) for size in extra[draw(st.integers(0, len(extra))) :]]
            labels, shape = [*labels[:place], "...", *labels[place:]], [*shape[:place], *inner, *shape[place:]]
        operands.append("".join(labels))
        shapes.append(shape)
    return ",".join(operands), shapes


@given(equations())
def test_subscripts_have_the_shapes_of_numpy(case):
    text, shapes = case
    expected = np.einsum(text, *(np.ones(shape) for shape in shapes)).shape
    known = EinsumSpec(parse_subscripts(text)).infer(*shapes)
    assert known.result.output == Row.of(expected)
    assert not known.result.batch.dims


def test_labels_that_a_specification_lacks():
    known = EinsumSpec("..r.., i=>i").infer(None)
    for read in (known.size, known.row, lambda name: known.set_dim(name, 3)):
        with pytest.raises(SpecError, match=r"has no label 'k', but i, r$") as caught:
            read("k")
        assert caught.value.kind == "unknown_label"


def test_a_specification_is_written_as_the_call_that_makes_it():
    assert repr(EinsumSpec("ij;jk=>ik")) == f"EinsumSpec({str(EinsumSpec('ij;jk=>ik').spec)!r})"


def test_a_part_that_is_left_out_is_empty():
    assert EinsumSpec("a^b => b").infer([4], result=[4]).size("a") == 0


def test_labels_that_are_set_are_checked_at_once():
    known = EinsumSpec("ij=>ij").infer([3, 4])
    with pytest.raises(Contradiction):
        known.set_equal("i", "j")
    assert str(EinsumSpec("ij;jk=>ik")) == "ij; jk => ik"


def test_the_text_of_a_long_specification_is_written_once():
    def work(terms: int) -> int:
        spec = parse_subscripts(",".join(["ab"] * terms) + "->a")
        return calls_of(lambda: state(Store(), spec, [Row()] * (terms + 1)))

    assert work(120) < 2.7 * work(60)


def test_a_message_shows_the_start_of_a_long_specification():
    spec = parse_subscripts(",".join(["ab"] * 1000))
    store = Store()
    state(store, spec, [Row((2, 3))] * 999 + [Row((2, 3, 4)), Row()])
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert "ab,ab,ab" in str(caught.value)
    assert "..." in str(caught.value)
    assert len(str(caught.value)) < 2500


def test_a_stride_that_is_a_label_beside_padding():
    """Padding keeps the size: it is the stride times that of the result."""
    spec = EinsumSpec("s*o=+d*k; k => o")
    assert texts(spec.infer(["?"], [3], result=[4], s=2, d=1)) == ["8", "3", "4"]
    known = spec.infer([12], [3], result=[4], d=1)
    assert known.size("s") == 3


def test_labels_are_at_least_1_unless_they_may_be_left_out():
    names = state(Store(), parse_spec("a^b => b"), [Row((5,)), Row((3,))])
    assert [names.sizes[name].lo for name in "ab"] == [0, 1]
    names = state(Store(), parse_spec("a b => a"), [Row((3, 5)), Row((3,))])
    assert [names.sizes[name].lo for name in "ab"] == [1, 1]


def test_a_contradiction_names_node_operand_and_specification():
    store = Store()
    state(store, parse_spec("ij;jk=>ik"), [Row((2, 3)), Row((4, 5)), Row.unknown()], node="Dot_1", operands=("A", "B"))
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    origins = {fact.origin for fact in caught.value.chain}
    assert {(origin.node, origin.operand) for origin in origins} == {("Dot_1", "A"), ("Dot_1", "B")}
    assert {origin.text for origin in origins} == {str(parse_spec("ij;jk=>ik"))}
