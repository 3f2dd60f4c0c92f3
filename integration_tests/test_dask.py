"""The program of docs/fleets.md maps the lines of a fleet over a folder with Dask, as it stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import onnx
import onnx.parser
import pytest

pytest.importorskip("dask.distributed")

PAGE = Path(__file__).parents[1] / "docs" / "fleets.md"
TEXT = """<ir_version: 10, opset_import: ["": 20]> g (float[N, H] x) => (y) { y = Relu(x) }"""


def test_the_program_of_the_page(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(import json.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    (tmp_path / "program.py").write_text(program)
    folder = tmp_path / "models"
    folder.mkdir()
    for i in range(7):
        onnx.save(onnx.parser.parse_model(TEXT), folder / f"{i}.onnx")
    (folder / "bad.onnx").write_bytes(b"no model")
    call = [sys.executable, str(tmp_path / "program.py"), str(folder), str(tmp_path / "out.jsonl")]
    subprocess.run(call, check=True, timeout=300)
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [Path(line["path"]).stem for line in found] == [*"0123456", "bad"]
    assert [line["status"] for line in found] == ["ok"] * 7 + ["no model"]
