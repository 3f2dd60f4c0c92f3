"""Weights that are links: onnxruntime loads what is written, or nothing is written and the message has the cure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from onnx import TensorProto

import onnx_infer
from onnx_infer.__main__ import main
from onnx_infer.errors import ExternalDataError
from onnx_infer.integrations import onnxruntime as drop_in
from onnx_infer.tools.cli.arguments import OK, USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

Layout = dict[str, str]
"""Path -> what is there: "model", "weights", or "-> " and the target of a link."""

LAYOUTS: dict[str, tuple[str, Layout]] = {
    "a cache": ("w", {"blobs/abc": "model", "blobs/def": "weights", "x/model.onnx": "-> ../blobs/abc",
                      "x/w": "-> ../blobs/def"}),
    "only the weights": ("w", {"x/model.onnx": "model", "blobs/def": "weights", "x/w": "-> ../blobs/def"}),
    "a link of a link": ("w", {"x/model.onnx": "model", "b/def": "weights", "x/w": "-> ../l/w", "l/w": "-> ../b/def"}),
    "a link in the folder": ("w", {"x/model.onnx": "model", "x/data/def": "weights", "x/w": "-> data/def"}),
    "a linked folder": ("w", {"x": "-> real", "real/model.onnx": "model", "real/w": "weights"}),
    "a folder of weights": ("d/w", {"x/model.onnx": "model", "b/w": "weights", "x/d": "-> ../b"}),
    "the folder around": ("../w", {"x/model.onnx": "model", "w": "weights"}),
    "around a linked folder": ("d/../w", {"x/model.onnx": "model", "b/c/e": "weights", "b/w": "weights",
                                          "x/d": "-> ../b/c"}),
    "a hard link": ("w", {"x/model.onnx": "model", "b/def": "weights", "x/w": "=> b/def"}),
    "weights beside the link": ("w", {"b/abc": "model", "x/model.onnx": "-> ../b/abc", "x/w": "weights"}),
}  # fmt: skip
"""Name -> the location of the weights in the model, and the files."""

IN_PLACE, BESIDE, ABOVE, ELSEWHERE = "x/model.onnx", "x/out.onnx", "out.onnx", "other/out.onnx"
LINKED_ANEW: Mapping[str, tuple[str, ...]] = {
    "a cache": (IN_PLACE, ABOVE),
    "only the weights": (ABOVE,),
    "a link of a link": (ABOVE,),
    "a link in the folder": (IN_PLACE, BESIDE, ABOVE),
    "a linked folder": (IN_PLACE, BESIDE, ABOVE),
    "a folder of weights": (ABOVE,),
    "the folder around": (ABOVE,),
    "around a linked folder": (ABOVE,),
    "a hard link": (IN_PLACE, BESIDE, ABOVE),
    "weights beside the link": (IN_PLACE, BESIDE, ABOVE),
}
"""Name -> the targets from which the weights are found without a copy."""

NEVER_COPIED = ("the folder around", "around a linked folder")
"""The locations that leave the model's folder: a model must not name files of others."""


def model_with(location: str) -> onnx.ModelProto:
    text = "g (float[1, 64] x) => (float[1, 8] y) { t = MatMul (x, w)  y = Relu (t) }"
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> {text}')
    weights = model.graph.initializer.add(name="w", dims=[64, 8], data_type=1, data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=location)
    return model


def made(name: str, root: Path) -> Path:
    """Make the files of a layout; the path of the model."""
    location, files = LAYOUTS[name]
    (root / "other").mkdir()
    for path, what in sorted(files.items(), key=lambda item: item[1][1] == ">"):
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if what == "weights":
            np.ones((64, 8), np.float32).tofile(place)
        elif what == "model":
            place.write_bytes(model_with(location).SerializeToString())
        elif what.startswith("-> "):
            place.symlink_to(what[3:])
        else:
            os.link(root / what[3:], place)
    return root / "x" / "model.onnx"


def runs(path: Path) -> bool:
    """Whether onnxruntime loads a model and finds the weights."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return bool((session.run(None, {"x": np.ones((1, 64), np.float32)})[0] == 64).all())


def tree(root: Path) -> dict[str, str | bytes]:
    """All files with their content, and all links with their targets."""
    found = [path for path in root.rglob("*") if path.is_symlink() or path.is_file()]
    return {str(p.relative_to(root)): os.readlink(p) if p.is_symlink() else p.read_bytes() for p in found}


@pytest.mark.parametrize("target", [IN_PLACE, BESIDE, ABOVE, ELSEWHERE])
@pytest.mark.parametrize("name", LAYOUTS)
def test_it_is_written_so_that_it_loads_or_not_at_all(
    name: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = made(name, tmp_path), tmp_path / target
    before = tree(tmp_path)
    call = [str(source), *(["--in-place"] if target == IN_PLACE else ["-o", str(out)])]
    if target in LINKED_ANEW[name]:
        assert main(call) == OK
        assert runs(out)
    else:
        assert main(call) == USAGE
        assert "; use --copy-data to copy it there" in capsys.readouterr().err
        assert tree(tmp_path) == before
    for _ in range(2):  # the second time the copy is there
        if name in NEVER_COPIED:
            assert main([*call, "--copy-data"]) == USAGE
            assert "outside of the model's folder, which is not copied" in capsys.readouterr().err
            continue
        assert main([*call, "--copy-data"]) == OK
        assert runs(out)
    written = os.path.relpath(os.path.realpath(out), os.path.realpath(tmp_path))  # where a link leads, the link stays
    after = tree(tmp_path)
    assert {path: after[path] for path in before if path != written} == {p: before[p] for p in before if p != written}


@pytest.mark.parametrize("options", [["--fold"], ["--dynamic", "x:0=N", "--apply"], ["--html", "r.html"]])
def test_every_option_that_writes_a_model(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = made("a cache", tmp_path), tmp_path / BESIDE
    monkeypatch.chdir(tmp_path)
    call = [str(source), "-o", str(out), *options]
    assert main(call) == USAGE
    said = capsys.readouterr().err
    assert f"{source.parent / 'w'}, a link to {tmp_path / 'blobs' / 'def'}; use --copy-data to copy it there" in said
    assert not out.exists()
    assert main([*call, "--copy-data"]) == OK
    assert runs(out)
    assert (source.parent / "w").is_symlink()
    assert not (source.parent / "w.copy").is_symlink()


def test_in_python(tmp_path: Path) -> None:
    source, out = made("a cache", tmp_path), tmp_path / BESIDE
    with pytest.raises(ExternalDataError, match=r"a link to .*def; use copy_data=True to copy it there"):
        onnx_infer.infer_shapes_path(source, out)
    assert not out.exists()
    onnx_infer.infer_shapes_path(source, out, copy_data=True)
    assert runs(out)
    onnx_infer.infer_shapes_path(source, tmp_path / "blobs" / "out.onnx")
    assert runs(tmp_path / "blobs" / "out.onnx")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
@pytest.mark.parametrize("location", ["../secret", "{root}/secret", "/proc/self/environ", "/dev/zero", "pipe", "x/.."])
def test_only_regular_files_in_the_model_s_folder_are_copied(
    location: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a" / "x").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "secret").write_text("secret")
    os.mkfifo(tmp_path / "a" / "pipe")
    source, out = tmp_path / "a" / "m.onnx", tmp_path / "b" / "m.onnx"
    source.write_bytes(model_with(location.format(root=tmp_path)).SerializeToString())
    assert main([str(source), "-o", str(out), "--copy-data"]) == USAGE
    assert "not copied" in capsys.readouterr().err
    flags = ["--save_as_external_data", "--external_data_location", "new", "--external_data_size_threshold", "0"]
    assert drop_in.main(["--input", str(source), "--output", str(out), *flags]) == USAGE
    assert not list(out.parent.iterdir())


def test_a_copy_takes_no_other_file_s_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = made("a cache", tmp_path), tmp_path / BESIDE
    place = source.with_name("w.copy")
    call = [str(source), "-o", str(out), "--copy-data"]
    place.write_bytes(b"another file")
    assert main(call) == USAGE
    place.unlink()
    place.symlink_to("../blobs/def")
    assert main(call) == USAGE
    assert "another file is in the place of the external data" in capsys.readouterr().err
    place.unlink()
    place.symlink_to("nowhere")
    assert main(call) == USAGE
    place.unlink()
    assert main([str(source), "-o", str(place), "--copy-data"]) == USAGE
    assert not place.exists()
    assert not out.exists()


def test_onnxruntime_s_flag_writes_linked_weights_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = made("a cache", tmp_path), tmp_path / BESIDE
    call = ["--input", str(source), "--output", str(out)]
    assert drop_in.main(call) == USAGE
    assert "--save_as_external_data writes them there" in capsys.readouterr().err
    flags = ["--save_as_external_data", "--external_data_location", "new", "--external_data_size_threshold", "0"]
    assert drop_in.main([*call, *flags, "--all_tensors_to_one_file"]) == OK
    assert runs(out)
    out.unlink()
    assert drop_in.main([*call, "--save_as_external_data", "--external_data_location", "w", *flags[3:]]) == USAGE
    assert (source.parent / "w").is_symlink()
