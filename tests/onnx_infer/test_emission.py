"""The emitted function: its tables, and its results in Python. `integration_tests/` compiles the other languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.errors import ArgumentError
from onnx_infer.tools.cli.files import demo_model
from symdim.dialects.languages import LANGUAGES, LanguageName

from . import models
from .texts import parsed

SPLIT = """
g (float[N, H] x, float[H, M] w, int64[1] k) => (y, i, p) {
    p = MatMul (x, w)  y, i = TopK (x, k) }"""


def in_python(text: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    return namespace


def shapes_of(code: dict[str, Any], given: list[int | None]) -> dict[str, tuple[int | None, ...]]:
    sizes, _ = code["sizes"](given)
    return {name: tuple(sizes[axis] for axis in axes) for name, _, axes in code["VALUES"]}


@pytest.mark.parametrize("make", [models.decoder, models.cnn, models.unet, models.windows, models.detector])
def test_emitted_python_agrees_with_the_planner(make: Any) -> None:
    result = infer(make())
    code, planner = in_python(result.emit("python")), result.planner()
    assert [name for name, *_ in code["SYMBOLS"]][: len(planner.args)] == [arg.name for arg in planner.args]
    given = [64 * (i + 1) for i in range(len(planner.args))]
    optional = [None] * (len(code["SYMBOLS"]) - len(given))
    shapes = shapes_of(code, [*given, *optional])
    assert {name: shapes[name] for name in planner.names} == planner(*given).shapes
    assert all(None in shapes[name] for name in planner.missing if name in shapes)


def test_guards_hold_where_check_finds_no_violation() -> None:
    result = infer(demo_model())
    code = in_python(result.emit("python"))
    assert [guard[:4] for guard in code["GUARDS"]] == [(str(g), g.law, g.kind, g.node) for g in result.guards]
    for h, w, failing in ((224, 160, []), (2, 160, ["H >= 3"]), (1, 2, ["H >= 3", "W >= 3"])):
        _, holds = code["sizes"]([2, h, w, 5, None])
        assert [g[0] for g, held in zip(code["GUARDS"], holds, strict=True) if not held] == failing
        assert [str(v.guard) for v in result.check(N=2, H=h, W=w, S=5)] == failing


def test_symbols_that_only_a_run_knows_are_optional() -> None:
    result = infer(parsed(SPLIT))
    code = in_python(result.emit("python"))
    assert code["SYMBOLS"] == [
        ("N", 1, None, False),
        ("H", 1, None, False),
        ("M", 1, None, False),
        ("_d0", 0, None, True),
    ]
    assert shapes_of(code, [2, 8, 3, None])["y"] == (2, None)
    assert shapes_of(code, [2, 8, 3, 5])["y"] == (2, 5)
    _, holds = code["sizes"]([2, 8, 3, 9])
    assert [guard[0] for guard, held in zip(code["GUARDS"], holds, strict=True) if not held] == ["H >= _d0"]
    with pytest.raises(ValueError, match="N is at least 1, not 0"):
        code["sizes"]([0, 8, 3, None])
    with pytest.raises(ValueError, match="H is not given"):
        code["sizes"]([2, None, 3, None])
    with pytest.raises(ValueError, match="4 sizes are needed, not 1"):
        code["sizes"]([2])


def test_a_division_by_zero_costs_the_sizes_that_need_it() -> None:
    code = in_python(infer(parsed(_BY_SIZE), bounds={"M": (0, None)}).emit("python"))
    assert shapes_of(code, [7, 2])["z"] == (3,)
    assert shapes_of(code, [7, 0])["z"] == (None,)
    assert shapes_of(code, [7, 0])["y"] == (0,)


_BY_SIZE = """
g (float[N] x, float[M] y) => (z) <int64[1] zero = {0}> {
    n = Shape (x)  m = Shape (y)  q = Div (n, m)  z = Expand (x0, q) x0 = Identity (zero) }"""


HOSTILE = '</script> "?? \\ * \n'


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_a_model_stay_texts(language: LanguageName) -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu (x) }")
    model.graph.input[0].type.tensor_type.shape.dim.add().dim_param = HOSTILE
    model.graph.node[0].output[0] = model.graph.output[0].name = HOSTILE
    text = infer(model).emit(language)
    assert text.isascii()
    assert LANGUAGES[language].quoted(HOSTILE) in text
    if language == "python":
        assert in_python(text)["VALUES"][1][0] == HOSTILE
    if language == "js":
        assert "</script" not in text


def test_arguments_of_a_wrong_kind_are_told() -> None:
    result = infer(models.cnn(1))
    with pytest.raises(ArgumentError, match="choose one of 'c', 'rust', 'js', 'python'"):
        result.emit("pascal")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="no identifier of C"):
        result.emit("c", name="my model")


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
