"""Fleets: every model has one line, whatever it does to its worker, and however often the fleet is started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx.parser
import pytest

from onnx_infer.tools.fleets import Limits, files_of, journal, lines_of, run_fleet
from onnx_infer.tools.fleets.journal import ForeignFileError, Journal, Setting
from onnx_infer.tools.fleets.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD = """<ir_version: 10, opset_import: ["": 20, "hostile": 1]>
g (float[N, H] x, float[N, H] y) => (float[A, B] z) { z = Add(x, y) }"""
RULES = """
import os, signal, sys, time
from onnx_infer.rules import op
@op("Abort", domain="hostile")
def abort(X):
    print("last words", file=sys.stderr, flush=True)
    os.abort()
@op("Kill", domain="hostile")
def kill(X):
    os.kill(os.getpid(), signal.SIGKILL)
@op("Leave", domain="hostile")
def leave(X):
    os._exit(3)
@op("Hang", domain="hostile")
def hang(X):
    time.sleep(600)
@op("Fill", domain="hostile")
def fill(X):
    bytearray(1 << 30)
@op("Print", domain="hostile")
def say(X):
    print("{}")
    os.write(1, b"not an answer")
    return X.dims
@op("Defect", domain="hostile")
def defect(X):
    raise IndexError("no such thing")
"""
HOSTILE = {"Abort": "crashed", "Kill": "crashed", "Leave": "crashed", "Fill": "memory limit"}
HARMLESS = {"Print": "ok", "Defect": "errors"}


def save(path: Path, text: str = GOOD) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.parser.parse_model(text), path)
    return str(path)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_files_and_folders_in_order_each_once(tmp_path: Path) -> None:
    names = ["b.onnx", "a.ONNX", "in/c.onnx", "in/a/d.onnx", "a.txt"]
    for name in names:
        save(tmp_path / "models" / name)
    folder = str(tmp_path / "models")
    found = [os.path.relpath(path, folder) for path in files_of([folder, f"{folder}/b.onnx", f"{folder}/in/"])]
    assert found == ["a.ONNX", "b.onnx", "in/c.onnx", "in/a/d.onnx"]
    assert files_of([f"{folder}/a.txt"]) == [f"{folder}/a.txt"]
    with pytest.raises(FileNotFoundError):
        files_of([folder, f"{folder}/none"])


def test_the_line_of_a_model(tmp_path: Path) -> None:
    (line,) = lines_of([save(tmp_path / "m.onnx")], bounds={"N": (1, 4)})
    assert line["status"] == "ok"
    assert line["inputs"] == {"x": "f32[N, H]", "y": "f32[N, H]"}
    assert line["outputs"] == {"z": "f32[N, H]"}
    assert (line["nodes"], line["values"], line["exact"], line["errors"]) == (1, 3, 3, 0)
    assert line["options"] == {"bounds": {"N": (1, 4)}}
    assert line["seconds"] > 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_a_hostile_model_costs_its_own_line_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_rules.py").write_text(RULES)
    monkeypatch.syspath_prepend(str(tmp_path))
    for i, kind in enumerate((*HOSTILE, *HARMLESS)):
        save(tmp_path / "models" / f"{i}_{kind}.onnx", GOOD.replace("Add(x, y)", f"hostile.{kind}(x)"))
        save(tmp_path / "models" / f"{i}_good.onnx")
    (tmp_path / "models" / "bytes.onnx").write_bytes(b"no model")
    (tmp_path / "models" / "dangling.onnx").symlink_to(tmp_path / "nowhere")
    target = tmp_path / "out.jsonl"
    totals = run_fleet(
        [str(tmp_path / "models")], str(target), jobs=2, limits=Limits(memory=600 << 20), modules=["hostile_rules"]
    )
    found = {Path(str(line["path"])).stem.rpartition("_")[2]: line for line in lines(target)}
    statuses = {kind: line["status"] for kind, line in found.items()}
    wanted = {**HARMLESS, "good": "ok", "bytes": "no model", "dangling": "unreadable"}
    if sys.platform == "linux":
        wanted |= HOSTILE
    assert {kind: statuses[kind] for kind in wanted} == wanted
    assert len(lines(target)) == totals.done == totals.models == 14
    assert totals.lost == 6
    assert "SIGABRT" in str(found["Abort"]["message"])
    assert "last words" in str(found["Abort"]["message"])
    assert "SIGKILL" in str(found["Kill"]["message"])
    assert "exit code 3" in str(found["Leave"]["message"])


def test_a_model_that_hangs_costs_its_own_line_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is short. So it is not asked what the second model gets: on a slow machine its time may not suffice."""
    (tmp_path / "hostile_rules.py").write_text(RULES)
    monkeypatch.syspath_prepend(str(tmp_path))
    hanging = save(tmp_path / "hang.onnx", GOOD.replace("Add(x, y)", "hostile.Hang(x)"))
    with Worker(Setting({}, ["hostile_rules"], False), Limits(2.0)) as worker:
        line = worker.line(hanging)
        assert (line["status"], line["message"]) == ("time limit", "no result after 2 seconds")
        assert worker.line(save(tmp_path / "good.onnx"))["status"] in ("ok", "time limit")


def test_memory_that_does_not_suffice_is_no_defect_of_a_rule() -> None:
    from onnx_infer import infer
    from onnx_infer.rules import op

    @op("NoMemory", domain="hostile.memory")
    def no_memory(X: object) -> None:
        raise MemoryError

    text = GOOD.replace('"hostile"', '"hostile.memory"').replace("Add(x, y)", "hostile.memory.NoMemory(x)")
    with pytest.raises(MemoryError):
        infer(onnx.parser.parse_model(text))


def test_a_second_start_goes_on(tmp_path: Path) -> None:
    paths = [save(tmp_path / f"{i}.onnx") for i in range(5)]
    target = tmp_path / "out.jsonl"
    run_fleet(paths[:2], str(target))
    whole = target.read_bytes()
    target.write_bytes(whole + whole.splitlines()[0].replace(b"0.onnx", b"2.onnx")[:-3])  # half a third line
    totals = run_fleet(paths, str(target))
    assert [str(line["path"]) for line in lines(target)] == paths
    assert (totals.before, totals.done, totals.statuses) == (2, 5, {"ok": 5})


def weighted(folder: Path) -> str:
    """A model whose weights are in a file of their own."""
    model = onnx.parser.parse_model(GOOD.replace("(x, y)", "(x, w)"))
    model.graph.initializer.add(name="w", dims=[2], data_type=1, raw_data=bytes(8))
    path = folder / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return str(path)


def mended(path: Path) -> None:
    """Another model of the same size and time of change."""
    found = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Add", b"Sub"))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


CHANGES: list[tuple[Callable[[Path], object], int]] = [
    (lambda folder: None, 0),
    (lambda folder: mended(folder / "m.onnx"), 1),
    (lambda folder: os.utime(folder / "m.onnx", ns=(1, 1)), 0),
    (lambda folder: os.utime(folder / "w.bin", ns=(1, 1)), 0),
    (lambda folder: (folder / "w.bin").write_bytes(b"12345678"), 1),
    (lambda folder: (folder / "w.bin").unlink(), 1),
]
"""What happens to a model and its weights, one after another -> how many models are run again."""

OF_LARGE_FILES: list[tuple[Callable[[Path], object], int]] = [
    (lambda folder: (folder / "w.bin").write_bytes(b"12345678"), 1),
    (lambda folder: None, 0),
    (lambda folder: os.utime(folder / "w.bin", ns=(1, 1)), 1),
    (lambda folder: (folder / "w.bin").write_bytes(b"123456789"), 1),
]
"""The same where only the size and the time of the weights count."""


def test_a_model_is_run_again_if_its_content_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other, target = weighted(tmp_path), save(tmp_path / "other.onnx"), tmp_path / "out.jsonl"
    run_fleet([path, other], str(target))
    for most, changes in ((1 << 24, CHANGES), (1, OF_LARGE_FILES)):
        monkeypatch.setattr(journal, "_MOST_HASHED", most)
        for i, (change, runs) in enumerate(changes):
            change(tmp_path)
            totals = run_fleet([path, other], str(target))
            assert (totals.done - totals.before, totals.done) == (runs, 2), (most, i)
            assert sorted(str(line["path"]) for line in lines(target)) == [path, other]
            if most == 1:
                target.write_text("".join(f"{json.dumps(without_hash(line))}\n" for line in lines(target)))


def without_hash(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "data": [{**data, "sha256": None} for data in line["data"]]}


def test_what_else_makes_a_line_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_rules.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    path, kept, target = save(tmp_path / "m.onnx"), save(tmp_path / "kept.onnx"), str(tmp_path / "out.jsonl")
    run_fleet([kept, path], target)
    settings: list[dict[str, Any]] = [
        {"force": True},
        {"modules": ["some_rules"]},
        {"modules": ["some_rules"], "whole": True},
    ]
    for setting in settings:
        assert run_fleet([path], target, **setting).before == 0
        assert [str(line["path"]) for line in lines(Path(target))] == [kept, path]
    assert run_fleet([path], target, modules=["some_rules"]).before == 1
    monkeypatch.setattr(journal, "__version__", "another")
    assert run_fleet([path], target, modules=["some_rules"]).before == 0


def test_wherever_a_line_is_cut_the_whole_ones_stay(tmp_path: Path) -> None:
    target = str(tmp_path / "out.jsonl")
    with Journal(target, Setting({}, [], False)) as journal:
        for name in ("a", "ü\udcff"):
            journal.write({"schema_version": 1, "path": name, "status": "ok", "options": {}})
    content = Path(target).read_bytes()
    first = content.index(b"\n") + 1
    for end in range(len(content)):
        Path(target).write_bytes(content[:end])
        with Journal(target, Setting({}, [], False)) as journal:
            assert list(journal.done) == ["a"][: end >= first]
        assert Path(target).read_bytes() == content[: first if end >= first else 0]
    Path(target).write_bytes(content)
    with Journal(target, Setting({}, [], False)) as journal:
        assert list(journal.done) == ["a", "ü\udcff"]


@pytest.mark.parametrize(
    "content, said",
    [
        (b"\x08\x07\x12", "line 1 is not a line"),
        (b"text\n", "line 1 is not a line"),
        (b"[1]\n", "line 1 is not a line"),
        (b'{"schema_version": 1, "path": "a", "status": "ok", "options": {"assume": ["N > 1"]}}\n', "written with the"),
        (b'{"schema_version": 1, "path": "a", "status": "ok", "options": {}}\nkey: value', "line 2 is not a line"),
    ],
)
def test_a_file_of_something_else_is_not_touched(content: bytes, said: str, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_bytes(content)
    with pytest.raises(ForeignFileError, match=said):
        run_fleet([save(tmp_path / "m.onnx")], str(target))
    assert target.read_bytes() == content


@pytest.mark.skipif(not find_spec("fcntl"), reason="the system has no file locks")
def test_two_fleets_do_not_write_one_file(tmp_path: Path) -> None:
    target = str(tmp_path / "out.jsonl")
    with (
        Journal(target, Setting({}, [], False)),
        pytest.raises(ForeignFileError, match="another fleet writes this file"),
    ):
        Journal(target, Setting({}, [], False))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_killed_in_the_middle_and_started_again(tmp_path: Path) -> None:
    for i in range(60):
        save(tmp_path / "models" / f"{i}.onnx")
    target = tmp_path / "out.jsonl"
    call = [sys.executable, "-m", "onnx_infer", str(tmp_path / "models"), "--json-lines", str(target), "--jobs", "2"]
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL)
    while not target.exists() or target.read_bytes().count(b"\n") < 5:
        assert process.poll() is None
        time.sleep(0.002)
    process.kill()
    process.wait()
    begun = target.read_bytes().count(b"\n")
    assert 5 <= begun < 60
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    paths = [str(line["path"]) for line in lines(target)]
    assert sorted(paths) == sorted(str(path) for path in (tmp_path / "models").iterdir())


def test_a_fleet_that_is_stopped_writes_nothing_more(tmp_path: Path) -> None:
    paths = [save(tmp_path / f"{i}.onnx") for i in range(50)]
    target = tmp_path / "out.jsonl"

    def interrupt(totals: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fleet(paths, str(target), jobs=2, told=interrupt)
    assert run_fleet(paths, str(target)).statuses == {"ok": 50}


def test_a_worker_that_cannot_start_says_why(tmp_path: Path) -> None:
    with Worker(Setting({}, ["no_such_module_anywhere"], False), Limits()) as worker:
        line = worker.line(save(tmp_path / "m.onnx"))
    assert line["status"] == "crashed"
    assert "No module named 'no_such_module_anywhere'" in line["message"]
