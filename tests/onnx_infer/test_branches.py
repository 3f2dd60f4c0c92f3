"""If: branches of different ranks, branches that no run survives, inputs that decide."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main

from .texts import both, parsed

SELECTED = """g (float[N, 4] x, int64 sr, int64[K] sizes) => (y, z) { k = Constant<value_int=16000>() c = Equal(sr, k)
    y = If(c) <then_branch = t () => (p) { p = Concat<axis=0>(x, x) },
                else_branch = e () => (q) { q = Flatten<axis=0>(x) }>
    z = Reshape(x, sizes) }"""


def test_values_of_inputs_decide() -> None:
    model = parsed(SELECTED)
    found = [both(model, values=values) for values in ({}, {"sr": 16000}, {"sr": 8000, "sizes": [2, -1]})]
    assert [[str(r.types[n]) for n in "yz"] for r in found] == [
        ["f32[_d0, _d1]", "f32[...]"],
        ["f32[2*N, 4]", "f32[...]"],
        ["f32[1, 4*N]", "f32[2, 2*N]"],
    ]
    assert str(infer(model, values={"sizes": np.array([4, -1])}, bidirectional=True).types["z"]) == "f32[4, N]"


@pytest.mark.parametrize("given", [[[], []], np.zeros((2, 0, 1), int), []])
def test_elements_of_an_empty_input_fit_its_shape(given: list[list[int]]) -> None:
    model = parsed("g (int64[2, 0, 1] x) => (y) { y = Neg(x) }")
    assert str(infer(model, values={"x": given}).types["y"]) == "i64[2, 0, 1]={}"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 1}, "'rate' is not an input of the graph; inputs are 'x', 'sr', 'sizes'"),
        ({"sr": [16000]}, "[16000]: the shape for 'sr' does not match the declared i64[]"),
        ({"sr": 1.5}, "1.5 for 'sr' is not an element of i64"),
        ({"sr": True}, "True for 'sr' is not an element of i64"),
        ({"sr": 1 << 63}, "9223372036854775808 for 'sr' is not an element of i64"),
        ({"sr": "fast"}, "'fast' for 'sr' is not an element of i64"),
        ({"x": 1.5}, "1.5: the shape for 'x' does not match the declared f32[N, 4]"),
    ],
)
def test_values_that_do_not_fit(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match="values: ") as error:
        infer(parsed(SELECTED), values=values)
    assert str(error.value) == f"values: {message}"


def test_values_on_the_command_line(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/model.onnx"
    with open(path, "wb") as file:
        file.write(parsed(SELECTED).SerializeToString())
    assert main([path, "--value", "sr=16000", "--value", "sizes=[1, -1]"]) == 0
    assert "f32[2*N, 4]" in capsys.readouterr().out
    assert main([path, "--value", "rate=3"]) == 2
    assert "'rate' is not an input of the graph" in capsys.readouterr().err
