"""Models as files. External data are never read; a written model finds them, or is not written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import onnx

from onnx_infer.errors import ExternalDataError, NoModelError
from onnx_infer.options import no_model
from onnx_infer.protobuf.whole_files import replace_file, same_path

if TYPE_CHECKING:
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
    source = "the bytes" if isinstance(model, bytes) else os.fspath(model)
    try:
        if isinstance(model, bytes):
            found = onnx.ModelProto.FromString(model)
        else:
            found = onnx.load(source, load_external_data=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # the exceptions of protobuf's parsers differ between its versions
        raise NoModelError(f"{source}: not an ONNX model ({type(error).__name__})") from error
    if not found.HasField("graph"):  # protobuf reads some bytes that are no model
        raise NoModelError(f"{source}: not an ONNX model (it has no graph)")
    return found


def save_model(
    model: onnx.ModelProto,
    source: str | os.PathLike[str] | None,
    target: str | os.PathLike[str],
    copy_data: bool = False,
) -> None:
    """Write a model that was read from the file `source` (None: a model without a file).

    External data are linked again if they are below the target's folder, and copied with `copy_data`. If neither is
    possible, or the target is a file of external data, `ExternalDataError` is raised. Data that are links are where the
    links lead. A file is written completely or not at all: first under another name, then renamed.
    """
    if source is not None:
        check_data_stay(model, source, target)
        _bring_data(model, Path(source), Path(target), copy_data)
    replace_file(Path(os.path.realpath(target)), lambda path: onnx.save(model, path))


def check_data_stay(model: onnx.ModelProto, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Raise `ExternalDataError` if a target is a file of external data, or the place where one would be copied."""
    from onnx_infer.protobuf.external_data import data_files

    for folder in (Path(source).parent, Path(target).parent):
        if any(same_path(file.path, target) for file in data_files(model, folder)):
            raise ExternalDataError(f"{os.fspath(target)}: is a file of the model's external data, which would be lost")


def _bring_data(model: onnx.ModelProto, source: Path, target: Path, copy_data: bool) -> None:
    from onnx_infer.protobuf.external_data import copy, data_files, relink

    files = data_files(model, source.parent)
    if copy_data:
        copy(files, source, target)
    elif outside := relink(files, target):
        raise ExternalDataError(
            f"the model's external data are outside of {target.parent}, and onnxruntime would refuse the model:"
            f" {_names(outside)}; copy_data=True copies them there"
        )


def _names(files: list[DataFile]) -> str:
    names = [file.path for file in files[:_MOST_NAMED]]
    names = [path if path == (real := os.path.realpath(path)) else f"{path}, a link to {real}" for path in names]
    return ", ".join(names) + (f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else "")
