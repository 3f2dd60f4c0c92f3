"""What `make_dynamic` proposes for other inputs, which removes a pin, and which numbers beside free sizes it doubts."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import onnx_infer.tools.transforms.dynamic.making as proposals
from onnx_infer import make_dynamic

from .sessions import session_of
from .texts import parsed

GRU = {"w": (1, 96, 8), "r": (1, 96, 32)}
LSTM = {"w": (1, 128, 8), "r": (1, 128, 32)}
X, ROWS = "float[1, 16, 8] x", "t = Transpose<perm = [1, 0, 2]>(x)"
SUM = "k = ReduceSum<keepdims = 0>(x, one) m = MatMul(k, wide)"
BATCH = {"x": {0: "batch"}}
CASES: dict[str, tuple[str, dict[str, tuple[int, ...]], dict[str, dict[int, str]], list[str]]] = {
    "the state of a GRU": (f"({X}, float[1, 1, 32] h) => (y, z) {{ {ROWS}"
        " y, z = GRU<hidden_size = 32>(t, w, r, , , h) }", GRU, BATCH, ["h:1=batch"]),
    "its elements are wanted too": (f"({X}, float[1, 1, 32] h) => (q) {{ {ROWS}"
        " y, z = GRU<hidden_size = 32>(t, w, r, , , h) a = Reshape(h, flat) b = Reshape(z, flat) q = Add(a, b) }",
        GRU, BATCH, ["h:1=batch"]),
    "its elements are wanted first": (f"({X}, float[1, 1, 32] h) => (q, z) {{ {SUM} a = Reshape(h, flat)"
        f" b = Reshape(m, flat) q = Add(a, b) {ROWS} y, z = GRU<hidden_size = 32>(t, w, r, , , h) }}",
        {**GRU, "wide": (8, 32)}, BATCH, ["h:1=batch"]),
    "both states of an LSTM in one": (f"({X}, float[2, 1, 32] s) => (y) {{ {ROWS} h = Gather<axis = 0>(s, i)"
        " c = Gather<axis = 0>(s, j) h1 = Unsqueeze(h, zero) c1 = Unsqueeze(c, zero)"
        " y, q, z = LSTM<hidden_size = 32>(t, w, r, , , h1, c1) }", LSTM, BATCH, ["s:1=batch"]),
    "two free sizes": ("(float[2, 3] x, float[2, 3] m, float[3, 2] n) => (y)"
        " { a = Mul(x, m) t = Transpose(n) y = Add(a, t) }", {}, {"x": {0: "N", 1: "S"}},
        ["m:0=N", "m:1=S", "n:1=N", "n:0=S"]),
    "one size at two axes": ("(float[3, 3] x, float[3, 3] m) => (y)"
        " { t = Transpose(x) a = MatMul(x, t) y = Add(a, m) }", {}, {"x": {0: "S"}}, ["m:0=S", "m:1=S"]),
    "a product of sizes": ("(float[2, 3] x, float[2, 3] m) => (y)"
        " { a = Reshape(x, six) b = Reshape(m, six) y = Mul(a, b) }", {}, {"x": {0: "N", 1: "S"}}, ["m:1=S", "m:0=N"]),
    "weights behind a Flatten": ("(float[1, 3, 14, 4] x, float[168, 10] w) => (y) { f = Flatten(x) y = MatMul(f, w) }",
        {}, {"x": {2: "H"}}, []),
    "one more than a size": ("(float[1, 3] x, float[1, 4] m) => (y) { a = Concat<axis = 1>(x, end) y = Mul(a, m) }",
        {"end": (1, 1)}, {"x": {1: "S"}}, []),
    "rows of all batches": ("(float[1, 16, 32] x, float[4, 16, 8] m) => (y) { f = Reshape(x, heads)"
        " g = Transpose<perm = [0, 2, 1, 3]>(f) h = Reshape(g, rows) y = Mul(h, m) }", {}, BATCH, []),
}  # fmt: skip
NUMBERS = {
    "flat": [32], "one": [1], "zero": [0], "six": [6], "i": 0, "j": 1, "heads": [1, 16, 4, 8], "rows": [4, 16, 8]
}  # fmt: skip


def model_of(text: str, weights: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
    model = parsed(f"g {text}")
    arrays = {name: np.ones(shape, np.float32) for name, shape in weights.items()}
    arrays |= {name: np.array(value, np.int64) for name, value in NUMBERS.items()}
    used = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(numpy_helper.from_array(a, name) for name, a in arrays.items() if name in used)
    return model


def proposed(pins: list[Any]) -> list[str]:
    return [pin.cure.removeprefix("free it too: ") for pin in pins if pin.cure.startswith("free it too: ")]


def with_proposal(axes: dict[str, dict[int, str]], proposal: str) -> dict[str, dict[int, str]]:
    place, symbol = proposal.split("=")
    name, axis = place.split(":")
    return {**axes, name: {**axes.get(name, {}), int(axis): symbol}}


@pytest.mark.parametrize("name", CASES)
def test_each_proposal_is_accepted_and_cures_its_pin(name: str) -> None:
    text, weights, axes, expected = CASES[name]
    model = model_of(text, weights)
    pins = make_dynamic(model, axes).pins
    assert proposed(pins) == expected
    for proposal in expected:
        again = make_dynamic(model, with_proposal(axes, proposal)).pins
        assert proposal not in proposed(again)
        assert not {pin.why for pin in again if not pin.node} & {p.why for p in pins if proposal in p.cure}
    for proposal in expected:
        axes = with_proposal(axes, proposal)
    made = make_dynamic(model, axes, apply=True)
    assert made.is_free == bool(expected)
    if expected:
        sizes = {symbol: 2 * size for symbol, size in made.traced.items()}
        feeds = {
            each.name: np.ones([sizes.get(d, d) for d in each.shape], np.float32)
            for each in session_of(made.model).get_inputs()
        }
        assert session_of(made.model).run(None, feeds)


def test_an_input_that_cannot_be_freed_says_so() -> None:
    text, weights, axes, _ = CASES["weights behind a Flatten"]
    (pin,) = make_dynamic(model_of(text, weights), axes).pins
    assert str(pin) == (
        "input 'w' has 168 at axis 0; it should be 12*H: the input is tied to this size and cannot be freed"
    )


def test_beyond_the_trials_only_axes_of_the_free_size_itself_are_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "MOST_TRIALS", 0)
    text, weights, axes, _ = CASES["one size at two axes"]
    assert proposed(make_dynamic(model_of(text, weights), axes).pins) == ["m:0=S", "m:1=S"]
    text, weights, axes, _ = CASES["both states of an LSTM in one"]
    (pin,) = make_dynamic(model_of(text, weights), axes).pins
    assert "it should be 32*batch" in pin.cure


# -- doubts -----------------------------------------------------------------------------------------------------------


HEAD = '<ir_version: 10, opset_import: ["": %d]>'


@pytest.mark.parametrize(
    "graph, opset, found",
    [
        pytest.param("<int64[6] p = {0, 1, 0, 0, 3, 0}> {y = Pad(x, p)}", 18,
            ["Pad 'y': pads 1 on axis 1 of size S", "Pad 'y': pads 3 on axis 1 of size S"], id="a Pad"),
        pytest.param("<int64[2] p = {0, 3}, int64[1] a = {-2}> {y = Pad(x, p, , a)}", 18,
            ["Pad 'y': pads 3 on axis 1 of size S"], id="the axes of a Pad"),
        pytest.param("{y = Pad<pads = [0, 0, 0, 0, 3, 0]>(x)}", 10,
            ["Pad 'y': pads 3 on axis 1 of size S"], id="an attribute"),
        pytest.param("<int64[3] p = {0, 0, 1}, int64[3] q = {0, 0, 2}>"
            " {w = Concat<axis=0>(p, q) y = Pad(x, w)}", 18, [], id="an axis that is not free"),
        pytest.param("<int64[1] s = {2}, int64[1] e = {9}, int64[1] a = {1}> {y = Slice(x, s, e, a)}",
            18, ["Slice 'y': starts 2 on axis 1 of size S", "Slice 'y': ends 9 on axis 1 of size S"], id="a Slice"),
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
    assert made.is_free == (not found)
    assert list(map(str, made.doubts)) == found
