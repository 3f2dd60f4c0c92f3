"""Emitted C as a project uses it: a header, a program that calls it, two models in one program, and small tables."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from tests.pages import blocks_of, text_of

from . import models

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="the system has no C compiler")

STRICT = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compiled(folder: Path, *arguments: str) -> str:
    """What the compiler prints, or what the program prints that it makes."""
    done = subprocess.run([*STRICT, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if "-o" not in arguments:
        return done.stdout
    return subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, check=True).stdout


def written(folder: Path, make: Any, name: str, **options: Any) -> None:
    result = infer(make(1))
    for kind in ("h", "c"):
        (folder / f"{name}.{kind}").write_text(result.emit(kind, name=name, **options))  # type: ignore[arg-type]


def test_the_program_of_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = blocks_of("docs/emit.md")
    model = re.search(r"parse_model\('''\n(.*?)'''", text_of("docs/emit.md"), re.S)
    assert model is not None
    onnx.save(onnx.parser.parse_model(model[1].replace("... ", "")), tmp_path / "model.onnx")
    for kind in ("h", "c"):
        assert main([str(tmp_path / "model.onnx"), "--emit", kind]) == 0
        (tmp_path / f"model.{kind}").write_text(capsys.readouterr().out)
    (program,) = [block.text for block in blocks if block.language == "c"]
    (printed,) = [block.text for block in blocks if block.language == "text"]
    (tmp_path / "main.c").write_text(program)
    assert compiled(tmp_path, "main.c", "model.c", "-o", "program", "-lm") == printed


BOTH = """
#include <stdio.h>
#include "one.h"
#include "two.h"
int main(void) {
  printf("%d %d %d\\n", ONE_VALUES > 0, TWO_VALUES > 0, one_values[0].axes != two_values[0].axes);
  return 0;
}
"""


MACROS = (
    *("add", "sub", "mul", "power", "mod", "max", "min", "equal", "at_least", "has_value"),
    *("symbol", "place", "SYMBOLS", "SIZES", "PLACES", "ALIGN", "ARENA"),
)
"""Names that the program may have for its own macros."""


def test_two_models_are_one_program(tmp_path: Path) -> None:
    written(tmp_path, models.decoder, "one", arena=True)
    written(tmp_path, models.cnn, "two", arena=True)
    (tmp_path / "main.c").write_text(BOTH)
    assert compiled(tmp_path, "main.c", "one.c", "two.c", "-o", "program", "-lm") == "1 1 1\n"
    defined = "".join(f"#define {name} ?\n" for name in MACROS)
    (tmp_path / "main.c").write_text(defined + '#include "one.c"\n#include "two.c"\n' + BOTH)
    assert compiled(tmp_path, "-DONE_ARENA_CHECK", "main.c", "-o", "program", "-lm") == "1 1 1\n"


def test_all_names_of_a_program_begin_with_its_name(tmp_path: Path) -> None:
    written(tmp_path, models.decoder, "one", arena=True)
    compiled(tmp_path, "-c", "-O0", "-DONE_ARENA_CHECK", "one.c")
    listed = subprocess.run(["nm", "one.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in listed.splitlines() if " U " not in line]
    assert {"one_sizes", "one_arena", "one_arena_check", "one_values"} <= set(names)
    assert [name for name in names if not name.startswith("one_")] == []
    macros = subprocess.run(["cc", "-E", "-dM", "one.h"], cwd=tmp_path, capture_output=True, text=True, check=True)
    bare = subprocess.run(
        ["cc", "-E", "-dM", "-include", "stdint.h", "-include", "stddef.h", "-x", "c", "/dev/null"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    added = set(macros.stdout.splitlines()) - set(bare.stdout.splitlines())
    assert all(line.startswith("#define ONE_") for line in added), added


def test_the_header_declares_what_the_file_defines(tmp_path: Path) -> None:
    header, text = (infer(models.cnn(1)).emit(kind, arena=True) for kind in ("h", "c"))
    assert text.startswith(header)
    public = re.findall(r"^(?:const struct \w+|const int|int) (\w+)(?=[(\[])", text[len(header) :], re.M)
    assert set(public) == {
        *("model_symbols", "model_values", "model_guards", "model_sizes"),
        *("model_places", "model_nodes", "model_arena", "model_arena_check"),
    }
    assert all(re.search(rf"\b{name}[(\[]", header) for name in public)


def test_tables_without_names_are_small(tmp_path: Path) -> None:
    written(tmp_path, models.decoder, "one", arena=True)
    written(tmp_path, models.decoder, "two", arena=True, names=False)
    compiled(tmp_path, "-c", "one.c", "two.c")
    assert b"matmul_" in (tmp_path / "one.o").read_bytes()
    assert b"matmul_" not in (tmp_path / "two.o").read_bytes()
    assert "matmul_" in (tmp_path / "two.c").read_text()  # in comments, for a person
    assert (tmp_path / "two.o").stat().st_size < (tmp_path / "one.o").stat().st_size * 0.8
