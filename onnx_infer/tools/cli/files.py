"""Reading and writing models: files, standard input and output. Every failure is a `WrongCall`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.message import EncodeError

from onnx_infer.errors import ExternalDataError, NoModelError
from onnx_infer.protobuf.files import check_data_stay, read_model, replace_file, same_path, save_model
from onnx_infer.tools.cli.arguments import STANDARD, WrongCall
from onnx_infer.tools.cli.terminal import read_bytes, write_bytes

if TYPE_CHECKING:
    import onnx


def read(path: str) -> onnx.ModelProto:
    """The model in a file, or in standard input, without external data."""
    if os.path.isdir(path):
        raise WrongCall(f"{path}: is a folder; its models need --json-lines")
    try:
        model = read_model(read_bytes() if path == STANDARD else path)
    except OSError as error:
        raise failure(path, error) from None
    except NoModelError as error:
        raise WrongCall(str(error).replace("the bytes", "standard input", 1)) from None
    return model


def check_target(path: str, *others: str | None) -> None:
    """Check that a file can be written there, and is no other file of the call, before any other work."""
    if path == STANDARD:
        return
    if any(same_path(path, other) for other in others if other is not None and other != STANDARD):
        raise WrongCall(f"{path}: is given twice, and one of the two files would be lost")
    if os.path.isdir(path):
        raise WrongCall(f"{path}: is a directory, not the name of a file")
    if not os.path.isdir(folder := os.path.dirname(os.path.abspath(path))):
        raise WrongCall(f"{path}: there is no directory {folder}")


def write(model: onnx.ModelProto, source: str | None, target: str, copy_data: bool) -> None:
    """Write a model that was read from `source` (None: a model without a file), and keep its external data in reach."""
    try:
        if target == STANDARD:
            write_bytes(model.SerializeToString())
        else:
            save_model(model, "stdin" if source == STANDARD else source, target, copy_data)  # data of this folder
    except OSError as error:
        raise failure(target, error) from None
    except ExternalDataError as error:
        raise WrongCall(str(error).replace("copy_data=True", "--copy-data")) from None
    except (ValueError, EncodeError) as error:  # more than 2 GB, or bytes in a text format
        raise WrongCall(f"{target}: {error}") from None


def write_text(text: str, target: str, model: onnx.ModelProto, source: str | None) -> None:
    """Write a text about a model that was read from `source`: a file is written completely or not at all."""
    content = text.encode("utf-8")
    try:
        if target == STANDARD:
            write_bytes(content)
        else:
            check_data_stay(model, source or "", target)
            replace_file(Path(os.path.realpath(target)), lambda path: path.write_bytes(content))
    except OSError as error:
        raise failure(target, error) from None
    except ExternalDataError as error:
        raise WrongCall(str(error)) from None


def failure(path: str, error: OSError) -> WrongCall:
    """The message for an error of the operating system."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else path
    return WrongCall(f"{'standard input' if name == STANDARD else name}: {error.strerror or error}")
