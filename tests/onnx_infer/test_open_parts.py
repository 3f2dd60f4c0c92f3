"""Very many parts of a Split and of a sequence: beyond a limit only their types are inferred."""

from __future__ import annotations

import pytest

from onnx_infer import infer
from onnx_infer.laws.sizes import MOST_OPEN_PARTS
from onnx_infer.testing import infer_node
from onnx_infer.values.containers import Sequence
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor
from symdim import Var

from .texts import parsed


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("axis", [0, 7])
def test_of_too_many_parts_only_the_types_are_inferred(axis: int, bidirectional: bool) -> None:
    for count in (MOST_OPEN_PARTS, MOST_OPEN_PARTS + 1):
        parts = ", ".join(f"y{i}" for i in range(count))
        inputs = f"float[N, 4] x, int64[{count}] sizes"
        model = parsed(f"g ({inputs}) => (y0) {{ {parts} = Split <axis = {axis}> (x, sizes) }}")
        result = infer(model, bidirectional=bidirectional)
        is_known = count <= MOST_OPEN_PARTS
        assert ("y7" in result.shapes) == is_known
        assert str(result.types["y7"]).startswith("f32")
        told = " ".join([*map(str, result.diagnostics), result.notes["y7"]])
        if axis == 0:  # the error of the other axis comes first
            assert ("only types are inferred" in told) != is_known


def test_known_sizes_of_any_number_of_parts_are_inferred() -> None:
    count = MOST_OPEN_PARTS + 1
    parts = ", ".join(f"y{i}" for i in range(count))
    text = f"g (float[{2 * count}] x) => (y0) {{ {parts} = Split <axis = 0, num_outputs = {count}> (x) }}"
    result = infer(parsed(text))
    assert result.shapes["y7"] == (2,)
    assert not result.diagnostics


def test_what_is_not_known_of_a_joined_axis() -> None:
    for sequence, why in ((Sequence(SymTensor(1, (2, 3))), "number of elements"),
                          (Sequence(SymTensor(1, (UNKNOWN_SIZE, 3)), 4), "size of each element")):  # fmt: skip
        (joined,) = infer_node("ConcatFromSequence", [sequence], {"axis": 0}, version=11)
        assert isinstance(joined, SymTensor)
        assert isinstance(joined.dims[0], Var)
        assert f"the {why} of the sequence is not known" in str(joined.dims[0].origin)


@pytest.mark.parametrize("count", [511, 512, 513])
def test_elements_of_joined_parts_are_known_up_to_1024(count: int) -> None:
    ints = ", ".join("7" for _ in range(count))
    found = infer(
        parsed(
            f"""g () => (y) {{ a = Constant<value_ints=[{ints}]>() s = SequenceConstruct(a, a)
            y = ConcatFromSequence<axis=0>(s) }}"""
        )
    ).types["y"]
    assert isinstance(found, SymTensor)
    assert found.shape == (2 * count,)
    assert found.data == ((7,) * 2 * count if count <= 512 else None)
