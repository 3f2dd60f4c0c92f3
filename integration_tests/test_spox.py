"""spox's constructors with this package's inference."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onnx_infer
from onnx_infer.integrations.spox import install, installed, uninstall

spox = pytest.importorskip("spox")
op = pytest.importorskip("spox.opset.ai.onnx.v21")

F32 = np.float32


def tensor(*shape: object, dtype: type = F32) -> Any:
    return spox.argument(spox.Tensor(dtype, shape))


def shape(var: Any) -> Any:
    return var.type.shape


def attention() -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs and outputs: a cache, heads, and half of a sequence."""
    x, past = tensor("batch", "seq", 8), tensor("batch", "past", 8)
    keys = op.concat([past, x], axis=1)
    sizes = op.shape(keys, start=0, end=2)
    heads = op.reshape(keys, op.concat([sizes, op.const([2, 4])], axis=0))
    half = op.div(op.gather(op.shape(x), op.const(1)), op.const(2))
    first = op.slice(x, op.const([0]), op.unsqueeze(half, op.const([0])), op.const([1]))
    (either,) = op.if_(
        op.const(True), then_branch=lambda: [op.relu(keys)], else_branch=lambda: [op.concat([x, past], axis=1)]
    )
    last, rows = op.loop(
        op.const(3),
        op.const([True]),
        [first],
        body=lambda i, go_on, state: [op.const([True]), op.relu(state), op.concat([state, state], axis=1)],
    )
    return {"x": x, "past": past}, {"heads": heads, "either": op.neg(either), "last": last, "rows": rows}


def test_types_are_known_at_once_and_are_those_of_the_run() -> None:
    with installed():
        inputs, outputs = attention()
    assert {name: shape(var) for name, var in outputs.items()} == {
        "heads": ("batch", "past + seq", 2, 4),
        "either": ("batch", "past + seq", 8),
        "last": ("batch", "seq//2", 8),
        "rows": (None, "batch", "2*(seq//2)", 8),
    }
    model = spox.build(inputs, outputs)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    feeds = {"x": np.ones((2, 5, 8), F32), "past": np.ones((2, 3, 8), F32)}
    found = dict(zip(outputs, session.run(list(outputs), feeds), strict=True))
    assert {name: array.shape for name, array in found.items()} == {
        "heads": (2, 8, 2, 4),
        "either": (2, 8, 8),
        "last": (2, 2, 8),
        "rows": (3, 2, 4, 8),
    }
    whole = onnx_infer.infer(model).types
    assert (str(whole["heads"]), str(whole["last"])) == ("f32[batch, past + seq, 2, 4]", "f32[batch, seq//2, 8]")


def test_it_says_no_less_than_onnx() -> None:
    def told() -> list[tuple[Any, Any]]:
        return [(var.type.dtype, shape(var)) for var in attention()[1].values()]

    theirs = told()
    with installed():
        ours = told()
    for (kind, sizes), (other, more) in zip(theirs, ours, strict=True):
        assert (kind, len(sizes)) == (other, len(more))
        assert all(size in (None, found) for size, found in zip(sizes, more, strict=True))


def test_sizes_that_the_data_decide_differ() -> None:
    with installed():
        a, b = op.non_zero(tensor("N")), op.non_zero(tensor("N"))
        both = op.concat([a, b], axis=1)
        assert (shape(a), shape(b), shape(both)) == ((1, "_d0"), (1, "_d1"), (1, "_d0 + _d1"))
        x = tensor("N", 3)
        k = tensor(2, dtype=np.int64)
        assert shape(op.relu(op.reshape(x, k))) == ("_d2", "_d3")


def test_a_state_that_the_data_decide_may_be_empty_in_the_body() -> None:
    with installed():
        found = op.reshape(op.non_zero(tensor("N")), op.const([-1]))
        inner: list[Any] = []

        def body(i: Any, go_on: Any, state: Any) -> list[Any]:
            inner.append(op.slice(state, op.const([1]), op.const([1 << 60])))
            return [op.const([True]), op.neg(state), inner[0]]

        state, rest = op.loop(op.const(3), op.const([True]), [found], body=body)
    assert (shape(found), shape(inner[0])) == (("_d0",), ("max(_d0, 1) - 1",))
    assert (shape(state), shape(rest)) == (("_d0",), (None, "max(_d0, 1) - 1"))


def test_a_foreign_name_is_none_that_was_given() -> None:
    with installed():
        a = op.non_zero(tensor("N"))
        other = op.relu(tensor(1, "_d0"))
        assert (shape(a), shape(other)) == ((1, "_d0"), (1, "_d1"))


def test_an_error_is_one_of_spox() -> None:
    from spox._exceptions import InferenceError

    with installed(), pytest.raises(InferenceError, match=r"MatMul.*inner sizes of the product differ: 3 != 4"):
        op.matmul(tensor("N", 3), tensor(4, "M"))


def test_values_that_spox_computes_are_used() -> None:
    with installed():
        length = op.cast(op.round(op.const(np.float32(6.4))), to=np.int64)
        made = op.constant_of_shape(op.reshape(length, op.const([1])))
        assert shape(made) == (6,)


def test_an_inlined_model_keeps_its_numbers_and_spox_drops_its_names() -> None:
    with installed():
        x = tensor("N", 3)
        twice = spox.build({"x": x}, {"y": op.concat([x, x], axis=0)})
        (y,) = spox.inline(twice)(x).values()
        assert (shape(y), shape(op.concat([y, x], axis=0))) == ((None, 3), ("N + _d0", 3))


def test_operators_of_the_ml_domain() -> None:
    from spox.opset.ai.onnx.ml import v3 as ml

    with installed():
        assert shape(ml.normalizer(tensor("N", 3))) == ("N", 3)


def test_it_can_be_taken_away() -> None:
    from spox._standard import StandardNode

    former = StandardNode.infer_output_types_onnx
    install()
    install()
    with installed():
        assert StandardNode.infer_output_types_onnx is not former
    assert StandardNode.infer_output_types_onnx is not former
    uninstall()
    assert StandardNode.infer_output_types_onnx is former
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert shape(op.concat([tensor("N"), tensor("M")], axis=0)) == (None,)
