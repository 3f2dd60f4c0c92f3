"""How files are written: whole or not at all, under a name that nobody can foretell, whoever else writes or reads."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from symdim.outputs import write_whole

SIZE = 100_000
WRITER = f"""
import sys
from pathlib import Path
from symdim.outputs import write_whole

def save(file, sign):
    for _ in range(4):
        file.write(bytes([sign]) * {SIZE // 4})

def write(path, sign, times):
    for _ in range(times):
        write_whole(Path(path), lambda file: save(file, sign))
"""
exec(WRITER)


def test_threads_and_processes_write_one_target(tmp_path: Path) -> None:
    """8 threads and 8 processes write it 1,000 times: every read is a whole file of one of them."""
    target, times = tmp_path / "out.bin", 63
    write(target, 0, 1)  # type: ignore[name-defined]  # noqa: F821
    call = f"{WRITER}\nwrite(sys.argv[1], int(sys.argv[2]), {times})"
    path = os.pathsep.join(p for p in sys.path if p)
    processes = [
        subprocess.Popen([sys.executable, "-c", call, str(target), str(sign)], env={**os.environ, "PYTHONPATH": path})
        for sign in range(1, 9)
    ]
    threads = [
        Thread(target=write, args=(target, sign, times))  # type: ignore[name-defined]  # noqa: F821
        for sign in range(9, 17)
    ]
    for thread in threads:
        thread.start()
    reads = 0
    while any(thread.is_alive() for thread in threads) or any(process.poll() is None for process in processes):
        content = target.read_bytes()
        assert content == content[:1] * SIZE
        reads += 1
    assert [process.wait() for process in processes] == [0] * 8
    assert reads > 20
    assert [path.name for path in tmp_path.iterdir()] == ["out.bin"]


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="the system has no modes of files")
def test_the_mode_stays_and_a_new_file_has_the_usual_one(tmp_path: Path) -> None:
    target, plain = tmp_path / "out.bin", tmp_path / "plain"
    plain.touch()
    write_whole(target, lambda file: file.write(b"1"))
    assert target.stat().st_mode == plain.stat().st_mode
    for mode in (0o600, 0o666, 0o400):
        target.chmod(mode)
        write_whole(target, lambda file: file.write(b"2"))
        assert target.stat().st_mode & 0o777 == mode


def test_a_link_under_the_new_name_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda _: "foretold")
    victim, target = tmp_path / "victim", tmp_path / "out.bin"
    victim.write_text("precious")
    (tmp_path / ".foretold").symlink_to(victim)
    with pytest.raises(FileExistsError) as raised:
        write_whole(target, lambda file: file.write(b"1"))
    assert raised.value.filename == str(target)
    assert victim.read_text() == "precious"
    assert (tmp_path / ".foretold").is_symlink()
    assert not target.exists()


def test_names_are_new_each_time_and_as_long_as_the_system_allows(tmp_path: Path) -> None:
    names = set()
    target = tmp_path / ("n" * 250)
    for _ in range(5):
        write_whole(target, lambda file: names.add(file.name) or file.write(b"1"))
    assert len(names) == 5
    assert target.read_bytes() == b"1"


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.bin"
    target.write_bytes(b"before")

    def fail(file: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(target, fail)
    assert target.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["out.bin"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    found: list[bytes] = []
    reader.start()
    write_whole(tmp_path / "pipe", lambda file: file.write(b"through"))
    reader.join()
    assert found == [b"through"]
