"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def same_path(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are one file."""
    return os.path.realpath(path) == os.path.realpath(other)


def replace_file(path: Path, save: Callable[[Path], object]) -> None:
    """Write a file by a function, completely or not at all. A device or a pipe is written as it is."""
    if path.exists() and not path.is_file():
        save(path)
        return
    new = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")  # onnx chooses the format by the suffix
    try:
        save(new)
        if path.exists():
            shutil.copymode(path, new)
        os.replace(new, path)
    except OSError as error:
        if error.filename is not None and os.fsdecode(error.filename) == str(new):
            error.filename = str(path)  # nobody knows the other name
        raise
    finally:
        new.unlink(missing_ok=True)
