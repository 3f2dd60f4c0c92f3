"""Models as files. External data are never read; a written model finds them, or is not written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import onnx

from onnx_infer.errors import ExternalDataError, NoModelError
from onnx_infer.options import no_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.protobuf.external_data import DataFile

Source: TypeAlias = "onnx.ModelProto | bytes | str | os.PathLike[str]"

_MOST_NAMED = 3


def read_model(model: Source) -> onnx.ModelProto:
    """The model itself, or the model read from bytes or from a path. External data are not loaded.

    Raises OSError if a file cannot be read, and `NoModelError` if the file or the bytes are not a model.
    """
    if isinstance(model, onnx.ModelProto):
        return model
    if not isinstance(model, (bytes, str, os.PathLike)):
        raise no_model(model)
    try:
        if isinstance(model, bytes):
            return onnx.ModelProto.FromString(model)
        return onnx.load(os.fspath(model), load_external_data=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # the exceptions of protobuf's parsers differ between its versions
        source = "the bytes" if isinstance(model, bytes) else os.fspath(model)
        raise NoModelError(f"{source}: not an ONNX model ({type(error).__name__})") from error


def save_model(
    model: onnx.ModelProto,
    source: str | os.PathLike[str] | None,
    target: str | os.PathLike[str],
    copy_data: bool = False,
) -> None:
    """Write a model that was read from the file `source` (None: a model without a file).

    External data are linked again if they are below the target's folder, and copied with `copy_data`. If neither is
    possible, or the target is a file of external data, `ExternalDataError` is raised. A file is written completely or
    not at all: first under another name, then renamed.
    """
    if source is not None:
        check_data_stay(model, source, target)
        _bring_data(model, Path(source).parent, Path(target).parent, copy_data)
    replace_file(Path(os.path.realpath(target)), lambda path: onnx.save(model, path))


def check_data_stay(model: onnx.ModelProto, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Raise `ExternalDataError` if a target is a file of external data, or the place where one would be copied."""
    from onnx_infer.protobuf.external_data import data_files

    for folder in (Path(source).parent, Path(target).parent):
        if any(same_path(file.path, target) for file in data_files(model, folder)):
            raise ExternalDataError(f"{os.fspath(target)}: is a file of the model's external data, which would be lost")


def same_path(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are one file."""
    return os.path.realpath(path) == os.path.realpath(other)


def _bring_data(model: onnx.ModelProto, source: Path, target: Path, copy_data: bool) -> None:
    from onnx_infer.protobuf.external_data import copy, data_files, relink

    files = data_files(model, source)
    if copy_data:
        copy(files, source, target)
    elif outside := relink(files, target):
        raise ExternalDataError(
            f"the model's external data are outside of {target}, where no onnx would find them: {_names(outside)};"
            " copy_data=True copies them there"
        )


def _names(files: list[DataFile]) -> str:
    names = [file.path for file in files[:_MOST_NAMED]]
    return ", ".join(names) + (f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else "")


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
