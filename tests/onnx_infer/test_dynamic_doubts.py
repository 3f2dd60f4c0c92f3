"""`make_dynamic` names numbers beside free sizes that the trace may have decided, and no others."""

from __future__ import annotations

import pytest

from onnx_infer import make_dynamic

from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": %d]>'


@pytest.mark.parametrize(
    "graph, opset, found",
    [
        pytest.param("<int64[6] p = {0, 1, 0, 0, 3, 0}> {y = Pad(x, p)}", 18,
            ["Pad 'y': padding of 1 on axis 1 of size S", "Pad 'y': padding of 3 on axis 1 of size S"], id="a Pad"),
        pytest.param("<int64[2] p = {0, 3}, int64[1] a = {-2}> {y = Pad(x, p, , a)}", 18,
            ["Pad 'y': padding of 3 on axis 1 of size S"], id="the axes of a Pad"),
        pytest.param("{y = Pad<pads = [0, 0, 0, 0, 3, 0]>(x)}", 10,
            ["Pad 'y': padding of 3 on axis 1 of size S"], id="an attribute"),
        pytest.param("<int64[3] p = {0, 0, 1}, int64[3] q = {0, 0, 2}>"
            " {w = Concat<axis=0>(p, q) y = Pad(x, w)}", 18, [], id="an axis that is not free"),
        pytest.param("<int64[1] s = {2}, int64[1] e = {9}, int64[1] a = {1}> {y = Slice(x, s, e, a)}",
            18, ["Slice 'y': start 2 on axis 1 of size S", "Slice 'y': end 9 on axis 1 of size S"], id="a Slice"),
        pytest.param("<int64[1] s = {0}, int64[1] e = {13}, int64[1] a = {1}> {y = Slice(x, s, e, a)}",
            18, [], id="the end of the axis becomes free"),
        pytest.param("<int64[1] s = {-1}, int64[1] e = {9223372036854775807}, int64[1] a = {1}>"
            " {y = Slice(x, s, e, a)}", 18, [], id="the last place"),
        pytest.param("<int64 i = {12}> {y = Gather<axis=1>(x, i)}", 18,
            ["Gather 'y': index 12 on axis 1 of size S"], id="the last place as a number"),
        pytest.param("<int64 i = {0}> {y = Gather<axis=1>(x, i)}", 18, [], id="the first one"),
        pytest.param("{i = ArgMax<axis = 0, keepdims = 0>(x) y = Gather<axis=1>(x, i)}", 18, [],
            id="an index of a run"),
    ],
)  # fmt: skip
def test_numbers_beside_free_sizes(graph: str, opset: int, found: list[str]) -> None:
    made = make_dynamic(parsed(f"g (float[2, 13, 8] x) => (y) {graph}", HEAD % opset), {"x": {1: "S"}}, apply=True)
    assert made.is_free
    assert list(map(str, made.doubts)) == found
