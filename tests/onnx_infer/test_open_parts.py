"""A Split of very many parts whose sizes only a run knows: beyond a limit only the types of the parts are inferred."""

from __future__ import annotations

import pytest

from onnx_infer import infer
from onnx_infer.laws.sizes import MOST_OPEN_PARTS

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
