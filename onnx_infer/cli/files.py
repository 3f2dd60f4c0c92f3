"""Reading and writing models: files, standard input and output, and the external data beside them.

Every failure is a `WrongCall`. A file is written completely or not at all: first under another name, then renamed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from google.protobuf.message import EncodeError

from onnx_infer.api import read_model
from onnx_infer.cli.arguments import STANDARD, WrongCall
from onnx_infer.cli.terminal import read_bytes, write_bytes
from onnx_infer.errors import NoModelError
from onnx_infer.protobuf.external_data import copy, data_files, relink

if TYPE_CHECKING:
    from onnx_infer.protobuf.external_data import DataFile

_MOST_NAMED = 3


def read(path: str) -> onnx.ModelProto:
    """The model in a file, or in standard input, without external data."""
    try:
        model = read_model(read_bytes() if path == STANDARD else path)
    except OSError as error:
        raise failure(path, error) from None
    except NoModelError as error:
        raise WrongCall(str(error).replace("the bytes", "standard input", 1)) from None
    if not model.HasField("graph"):
        source = "standard input" if path == STANDARD else path
        raise WrongCall(f"{source}: not an ONNX model (it has no graph)")
    return model


def check_target(path: str) -> None:
    """Check that a file can be written there, before any other work."""
    if path == STANDARD:
        return
    if os.path.isdir(path):
        raise WrongCall(f"{path}: is a directory; -o takes the name of a file")
    if not os.path.isdir(folder := os.path.dirname(os.path.abspath(path))):
        raise WrongCall(f"{path}: there is no directory {folder}")


def write(model: onnx.ModelProto, source: str | None, target: str, copy_data: bool) -> None:
    """Write a model that was read from `source` (None: a model without a file).

    External data are linked again if they are below the target's folder, and copied with `copy_data`. If neither is
    possible, nothing is written.
    """
    try:
        if target == STANDARD:
            write_bytes(model.SerializeToString())
            return
        if source is not None:
            _bring_data(model, _folder(source), _folder(target), copy_data)
        _save(model, Path(os.path.realpath(target)))
    except OSError as error:
        raise failure(target, error) from None
    except (ValueError, EncodeError) as error:  # more than 2 GB, or bytes in a text format
        raise WrongCall(f"{target}: {error}") from None


def _folder(path: str) -> Path:
    return Path() if path == STANDARD else Path(path).parent


def _bring_data(model: onnx.ModelProto, source: Path, target: Path, copy_data: bool) -> None:
    files = data_files(model, source)
    if copy_data:
        copy(files, source, target)
    elif outside := relink(files, target):
        raise WrongCall(
            f"the model's external data are outside of {target}, where no onnx would find them: {_names(outside)};"
            " add --copy-data to copy them there"
        )


def _names(files: list[DataFile]) -> str:
    names = [file.path for file in files[:_MOST_NAMED]]
    return ", ".join(names) + (f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else "")


def _save(model: onnx.ModelProto, path: Path) -> None:
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_bytes(model.SerializeToString())
        return
    new = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")  # onnx chooses the format by the suffix
    try:
        onnx.save(model, new)
        if path.exists():
            shutil.copymode(path, new)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def failure(path: str, error: OSError) -> WrongCall:
    """The message for an error of the operating system."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else path
    return WrongCall(f"{'standard input' if name == STANDARD else name}: {error.strerror or error}")
