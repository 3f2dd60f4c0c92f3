"""A file of JSON lines. Models with a line are done; an incomplete last line is removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

_START = b'{"schema_version": '


class ForeignFileError(ValueError):
    """The file is not one of these lines, or of other options, or another fleet writes it. It was not changed."""


class Journal:
    """The lines of a fleet in a file. `done` are the paths that have a line, with their status.

    Each line is written at once, with its end. A process that is killed leaves at most one line without its end, and
    this line is removed when the file is opened again. Raises OSError, and `ForeignFileError` for a file with anything
    else.
    """

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        self.path = path
        self.done: dict[str, str] = {}
        self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115  (closed by `close`)
        try:
            self._lock()
            self._file.truncate(self._read(json.loads(json.dumps(options))))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, line: Mapping[str, Any]) -> None:
        """Add a line."""
        self.done[line["path"]] = line["status"]
        rest = memoryview(f"{json.dumps(line)}\n".encode("ascii"))
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def _lock(self) -> None:
        """Keep out other fleets, where the system can; the lock ends with the process."""
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ForeignFileError(f"{self.path}: another fleet writes this file") from None

    def _read(self, options: Mapping[str, Any]) -> int:
        """Read the lines; the place after the last whole one."""
        self._file.seek(0)
        end = 0
        with open(self.path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    if not (line.startswith(_START) or _START.startswith(line)):
                        raise ForeignFileError(f"{self.path}: line {number} is no line of a fleet")
                    break
                self._enter(line, number, options)
                end += len(line)
        return end

    def _enter(self, line: bytes, number: int, options: Mapping[str, Any]) -> None:
        try:
            found = json.loads(line)
            path, status, given = found["path"], found["status"], found["options"]
        except (ValueError, KeyError, TypeError):
            raise ForeignFileError(f"{self.path}: line {number} is no line of a fleet") from None
        if given != options:
            raise ForeignFileError(
                f"{self.path}: line {number} was written with the options {given}, not {options}; choose another file"
            )
        self.done[path] = status
