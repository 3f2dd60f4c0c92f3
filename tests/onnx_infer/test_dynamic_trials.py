"""`make_dynamic` follows every operator that has a rule, also those of onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

from onnx_infer import make_dynamic

from .sessions import session_of
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>'
CASES: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "a join of onnxruntime": ("y = com.microsoft.SkipLayerNormalization(x, skip, gamma)",
        {"skip": (2, 5, 8), "gamma": (8,)}),
    "a product of onnxruntime": ("y = com.microsoft.FusedMatMul(x, w)", {"w": (2, 8, 8)}),
    "back through a convolution": ("c = Conv(past, kernel) y = Concat<axis = 2>(x, c)",
        {"past": (2, 8, 7), "kernel": (5, 8, 3)}),
    "back through a product of two operands":
        ('c = Einsum<equation = "bi,bj->bji">(a, b) y = Add(x, c)', {"a": (2, 8), "b": (2, 5)}),
    "both states of an LSTM": ("t = Transpose<perm = [1, 0, 2]>(x) l, h, c = LSTM<hidden_size = 4>(t, w, r, , , h0, c0)"
        " y = Transpose<perm = [1, 0, 2]>(c)",
        {"w": (1, 16, 8), "r": (1, 16, 4), "h0": (1, 2, 4), "c0": (1, 2, 4)}),
    "an index as large as the data": ("i = Cast<to = 7>(c) y = GatherElements<axis = 2>(x, i)", {"c": (2, 5, 8)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_batch_becomes_free(name: str) -> None:
    text, constants = CASES[name]
    model = parsed(f"g (float[2, 5, 8] x) => (float[A, B, C] y) {{{text}}}", HEAD)
    for constant, shape in constants.items():  # equal along the batch
        model.graph.initializer.append(numpy_helper.from_array(np.ones(shape, np.float32), constant))
    made = make_dynamic(model, {"x": {0: "N"}}, apply=True)
    assert made.is_free, made.pins
    x = np.arange(240, dtype=np.float32).reshape(6, 5, 8)
    parts = [session_of(model).run(None, {"x": x[i : i + 2]})[0] for i in (0, 2, 4)]
    whole: Any = session_of(made.model).run(None, {"x": x})[0]
    assert np.array_equal(whole, np.concatenate(parts))


def test_a_change_of_one_element_keeps_those_that_the_model_computes() -> None:
    model = parsed(
        """g (float[2, 5, 8] x) => (float[A, B, C] y)
        <int64[1] zero = {0}, int64[1] five = {5}, int64[1] eight = {8}, float[1, 1, 1] c = {3}> {
        sizes = Shape(x) batch = Gather(sizes, zero) target = Concat<axis = 0>(batch, five, eight)
        e = Expand(c, target) y = Add(x, e) }""",
        HEAD,
    )
    made = make_dynamic(model, {"x": {0: "N", 1: "S"}}, apply=True)
    assert [str(change) for change in made.changes] == ["Expand 'e': operand 'target': 5 at index 1 becomes S"]
    assert made.is_free, made.pins
    x = np.zeros((3, 7, 8), np.float32)
    assert session_of(made.model).run(None, {"x": x})[0].shape == x.shape
