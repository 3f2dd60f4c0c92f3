"""The emitted function: its content and its texts. `integration_tests/` runs the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.errors import ArgumentError
from onnx_infer.tools.emission.content import content_of
from symdim import Var
from symdim.algebra.dims import substituted, variables_of
from symdim.dialects.languages import LANGUAGES, LanguageName

from . import models
from .texts import parsed

SPLIT = """
g (float[N, H] x, float[H, M] w, int64[1] k) => (y, i, p) {
    p = MatMul (x, w)  y, i = TopK (x, k) }"""


@pytest.mark.parametrize("make", [models.decoder, models.cnn, models.unet, models.windows, models.detector])
def test_the_content_agrees_with_the_planner(make: Any) -> None:
    result = infer(make())
    content, planner = content_of(result), result.planner()
    assert [symbol.name for symbol in content.symbols][: len(planner.args)] == [arg.name for arg in planner.args]
    given: dict[str | Var, int] = {arg: 64 * (i + 1) for i, arg in enumerate(planner.args)}
    sizes = [
        substituted(size, given) if all(v in given for v in variables_of([size])) else None for size in content.sizes
    ]
    shapes = {value.name: tuple(sizes[axis] for axis in value.axes) for value in content.values}
    assert {name: shapes[name] for name in planner.names} == planner(*given.values()).shapes
    assert all(None in shapes[name] for name in planner.missing if name in shapes)


def test_symbols_that_only_a_run_knows_are_optional() -> None:
    symbols = content_of(infer(parsed(SPLIT))).symbols
    assert [(symbol.name, *symbol.variable.bounds(), symbol.optional) for symbol in symbols] == [
        ("N", 1, None, False),
        ("H", 1, None, False),
        ("M", 1, None, False),
        ("_d0", 0, None, True),
    ]


HOSTILE = '</script> "?? \\ * \n'


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_a_model_stay_texts(language: LanguageName) -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu (x) }")
    model.graph.input[0].type.tensor_type.shape.dim.add().dim_param = HOSTILE
    model.graph.node[0].output[0] = model.graph.output[0].name = HOSTILE
    text = infer(model).emit(language)
    assert text.isascii()
    assert LANGUAGES[language].quoted(HOSTILE) in text
    if language == "js":
        assert "</script" not in text


def test_arguments_of_a_wrong_kind_are_told() -> None:
    result = infer(models.cnn(1))
    with pytest.raises(ArgumentError, match="choose one of 'c', 'h', 'js'"):
        result.emit("pascal")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="not a valid C identifier"):
        result.emit("c", name="my model")
    with pytest.raises(ArgumentError, match="only the tables of C can leave the names out"):
        result.emit("js", names=False)


def test_public_names_in_c_begin_with_the_name_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(models.cnn(1), tmp_path / "small cnn.onnx")
    assert main([str(tmp_path / "small cnn.onnx"), "--emit", "c"]) == 0
    assert "int small_cnn_sizes(const int64_t *given" in capsys.readouterr().out


def test_the_command_prints_sizes_and_guards_in_a_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--demo", "--dialect", "jax", "--full"]) == 0
    text = capsys.readouterr().out
    assert "f32[N, 64, floordiv(H + 5, 8), floordiv(W + 5, 8)]" in text
    assert "//" not in text
    assert main(["--demo", "--dialect", "torch", "--explain", "kept", "--full"]) == 0
    assert "FloorDiv(H + 5, 8)*FloorDiv(W + 5, 8) + S" in capsys.readouterr().out
