"""The emitted function: its content and its texts. `integration_tests/` runs the code."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.errors import ArgumentError
from symdim.dialects.languages import LANGUAGES, LanguageName

from . import models
from .texts import parsed

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
