"""Whether a file still has the content for which a result was written.

The hash decides. A large file of weights is not hashed: no element of it decides a shape, so its size and its time of
change are enough.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return {"size": None, "mtime_ns": None, "sha256": None}
            digest = None
            if most is None or found.st_size <= most:
                content = sha256()
                while block := file.read(_BLOCK):
                    content.update(block)
                digest = content.hexdigest()
            return {"size": found.st_size, "mtime_ns": found.st_mtime_ns, "sha256": digest}
    except OSError:
        return {"size": None, "mtime_ns": None, "sha256": None}


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
