"""The file of lines of a fleet. It also says which models are done: those whose files are what they were.

The hash decides. A large file of weights is not hashed: no element of it decides a shape, so its size and its time of
change are enough.
"""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypedDict

from onnx_infer.values.text import node_message
from symdim import __version__
from symdim.outputs import write_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


_MOST_HASHED = 1 << 24
"""The bytes of a file of weights up to which its content counts, and not its time of change."""

_BLOCK = 1 << 20


class Stamp(TypedDict):
    """What tells contents apart. All are None for what is not a regular file, or cannot be read."""

    size: int | None
    mtime_ns: int | None
    sha256: str | None


class DataStamp(Stamp):
    """The stamp of a file of weights, with its path, relative to the folder of the model."""

    path: str


def stamp_of(path: str, most: int | None = None) -> Stamp:
    """The stamp of a file, with its hash if it has at most `most` bytes (None: any number)."""
    unknown: Stamp = {"size": None, "mtime_ns": None, "sha256": None}
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return unknown
            digest = None
            if most is None or status.st_size <= most:
                content = sha256()
                while block := file.read(_BLOCK):
                    content.update(block)
                digest = content.hexdigest()
            return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": digest}
    except OSError:
        return unknown


def stamps_of_data(model: str, paths: Iterable[str]) -> list[DataStamp]:
    """The stamps of a model's files of weights."""
    folder = os.path.realpath(os.path.dirname(model))
    return [{"path": os.path.relpath(path, folder), **stamp_of(path, _MOST_HASHED)} for path in paths]


def are_unchanged(model: str, file: Stamp, data: Iterable[DataStamp]) -> bool:
    """Whether a model and its files of weights still have the content of these stamps."""
    folder = os.path.realpath(os.path.dirname(model))
    return _is_same(file, stamp_of(model)) and all(
        _is_same(old, stamp_of(os.path.join(folder, old["path"]), _MOST_HASHED)) for old in data
    )


def _is_same(old: Stamp, new: Stamp) -> bool:
    if old["sha256"] is None:
        return (old["size"], old["mtime_ns"]) == (new["size"], new["mtime_ns"])
    return (old["size"], old["sha256"]) == (new["size"], new["sha256"])


_START = b'{"schema_version": '


class ForeignFileError(ValueError):
    """The file is not one of these lines, or of other options, or another fleet writes it. It was not changed."""


class Setting(NamedTuple):
    """What decides a line besides the model: options of `infer`, modules with rules, whether it has all values."""

    options: Mapping[str, Any]
    modules: list[str]
    whole: bool

    def checked(self) -> Setting:
        """Itself. Raises for options that `infer` does not have."""
        if self.options:
            from onnx_infer.inference import Options, check_options  # this loads onnx, as otherwise only workers do

            check_options(self.options, Options.__annotations__)
        return self


class Brief(NamedTuple):
    """A line in short: the status and why, the numbers of values and of those that are not exact, and a guard."""

    status: str
    told: str
    values: int
    inexact: int
    guards: int
    guard: str


def brief(line: Mapping[str, Any]) -> Brief:
    """What a line says in short."""
    errors = [diagnostic for diagnostic in line.get("diagnostics") or () if diagnostic["severity"] != "warning"]
    first = node_message(*(errors[0][field] for field in ("operator", "node", "message"))) if errors else ""
    told = (line.get("message") or first).partition("\n")[0].removeprefix(f"{line['path']}: ")
    values, guards = line.get("values") or 0, line.get("guards") or []
    inexact = values - (line.get("exact") or 0)
    return Brief(line["status"], told, values, inexact, len(guards), guards[0] if guards else "")


class Journal:
    """The lines of a fleet in a file (None: in no file). `done`: path -> its line in short, for models that are done.

    A model is done if its line has the content that it has now, and was written by this version with this setting.
    Lines of `files` that are not done are removed when the file is opened, with `force` all of them, and so is a last
    line without its end: each is written at once, so a process that is killed leaves at most one. Raises OSError, and
    `ForeignFileError` for a file with anything else.
    """

    def __init__(self, path: str | None, setting: Setting, files: Collection[str] = (), force: bool = False) -> None:
        self.path, self.done = path, dict[str, Brief]()
        self._setting, self._files, self._force = setting, frozenset(files), force
        self._options = json.loads(json.dumps(setting.options))
        self._file: IO[bytes] | None = None
        if path is None:
            return
        if any(os.path.realpath(path) == os.path.realpath(file) for file in files):
            raise ForeignFileError(f"{path}: is one of the models")
        self._file = self._opened(path)
        try:
            self._keep(path, self._read(self._file))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, line: Mapping[str, Any]) -> None:
        """Add a line."""
        self.done[line["path"]] = brief(line)
        if self._file is not None:
            rest = memoryview(f"{json.dumps(line)}\n".encode("ascii"))
            while rest:
                rest = rest[self._file.write(rest) or 0 :]

    def _opened(self, path: str) -> IO[bytes]:
        """The file, for this fleet alone where the system can; the lock ends with the process."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        if os.path.exists(path) and not os.path.isfile(path):
            raise ForeignFileError(f"{path}: is not a regular file, and a second start could not read its lines")
        file = open(os.open(path, flags, 0o666), "r+b", buffering=0)  # noqa: SIM115  (closed by `__exit__`)
        try:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ForeignFileError(f"{path}: is not a regular file, and a second start could not read its lines")
            self._lock(file)
            if not os.path.samestat(status, os.stat(path)):  # another fleet has put a new file there
                raise ForeignFileError(f"{path}: another fleet writes this file")
        except BaseException:
            file.close()
            raise
        return file

    def _lock(self, file: IO[bytes]) -> None:
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ForeignFileError(f"{self.path}: another fleet writes this file") from None

    def _read(self, file: IO[bytes]) -> tuple[list[tuple[int, int]], int]:
        """Read the lines. Where those begin and end that stay, and where the last whole line ends."""
        kept: list[tuple[int, int]] = []
        end = 0
        with open(file.fileno(), "rb", closefd=False) as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    if not (line.startswith(_START) or _START.startswith(line)):
                        raise ForeignFileError(f"{self.path}: line {number} is not a line of a fleet")
                    break
                if self._enter(line, number):
                    kept.append((end, end + len(line)))
                end += len(line)
        return kept, end

    def _enter(self, line: bytes, number: int) -> bool:
        """Whether a line stays."""
        try:
            fields = json.loads(line)
            path, options, short = fields["path"], fields["options"], brief(fields)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ForeignFileError(f"{self.path}: line {number} is not a line of a fleet") from None
        if options != self._options:
            raise ForeignFileError(
                f"{self.path}: line {number} was written with the options {options}, not {self._options};"
                " choose another file"
            )
        if path in self._files and not self._is_done(fields):
            return False
        self.done[path] = short
        return True

    def _is_done(self, line: Mapping[str, Any]) -> bool:
        if self._force or line["path"] in self.done:
            return False
        try:
            if line["onnx_infer_version"] != __version__ or line["modules"] != self._setting.modules:
                return False
            has_all = "result" in line or not self._setting.whole or line["nodes"] is None
            return has_all and are_unchanged(line["path"], line["file"], line["data"])
        except (KeyError, TypeError, ValueError):  # a line without a stamp
            return False

    def _keep(self, path: str, stays: tuple[list[tuple[int, int]], int]) -> None:
        """Remove all but these lines. A new file takes the place of the old one, so no kept line is ever lost."""
        kept, end = stays
        old = self._file
        assert old is not None
        if sum(stop - start for start, stop in kept) == end:
            old.truncate(end)
            return

        def save(file: BinaryIO) -> None:
            with open(path, "rb") as lines:
                for start, stop in kept:
                    lines.seek(start)
                    file.write(lines.read(stop - start))

        write_whole(Path(os.path.realpath(path)), save)
        self._file = self._opened(path)
        old.close()
