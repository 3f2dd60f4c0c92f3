"""Sizes with a division that a node demands to leave no remainder are written as this allows: `2*(c//2)` is `c`."""

from __future__ import annotations

import pytest

from onnx_infer import infer, infer_shapes

from .sessions import check_guards
from .test_guards import texts
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'

RESHAPES = {
    "split and merged": ("{0, 0, 2, -1}", "{0, 0, -1}", "f32[a, b, c]"),
    "by 4": ("{0, 0, -1, 4}", "{0, 0, -1}", "f32[a, b, c]"),
    "two axes": ("{0, -1, 6}", "{0, -1}", "f32[a, b*c]"),
}


@pytest.mark.parametrize(("first", "second", "expected"), RESHAPES.values(), ids=RESHAPES)
def test_a_size_is_written_as_its_guard_allows(first: str, second: str, expected: str) -> None:
    ranks = len(first.split(",")), len(second.split(","))
    targets = f"<int64[{ranks[0]}] s = {first}, int64[{ranks[1]}] t = {second}>"
    graph = f"""g (float[a, b, c] x) => (z, q) {targets} {{
        y = Reshape(x, s) z = Reshape(y, t) q = Relu(z) }}"""
    model = parsed(graph, HEAD)
    result = infer(model)
    assert [str(result.types[name]) for name in "zq"] == [expected] * 2
    (guard,) = result.guards
    assert guard.relation == "divides"
    check_guards(model, result, (1, 2, 4, 6))
    once = infer_shapes(model)
    assert infer_shapes(once).SerializeToString() == once.SerializeToString()
    assert texts(infer(once)) == texts(result)


def test_broadcasting_meets_the_merged_size() -> None:
    graph = """g (float[a, c] x) => (q) <int64[3] s = {0, -1, 4}, int64[2] t = {0, -1}> {
        y = Reshape(x, s) z = Reshape(y, t) q = Add(z, x) }"""
    result = infer(parsed(graph, HEAD))
    assert (str(result.types["q"]), [str(guard) for guard in result.guards]) == ("f32[a, c]", ["c % 4 == 0"])
