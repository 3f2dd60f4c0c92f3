"""Files of weights: where tensors say that their data are, and whether they are there, by the size of the file."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from onnx import TensorProto

from onnx_infer.protobuf.files import data_files, within
from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.lint.tensors import MOST, byte_count, dense, tensors_of
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx import ModelProto

    from onnx_infer.protobuf.lint.scopes import Scope

_KEYS = frozenset(("location", "offset", "length", "checksum"))
_NUMBER = re.compile(r"\d{1,19}", re.ASCII)


def external(scopes: Iterable[Scope]) -> list[tuple[str, str, TensorProto]]:
    """The tensors whose data are in files, each with its place and name."""
    found = (
        (place, name, part) for scope in scopes for place, name, tensor in tensors_of(scope) for part in dense(tensor)
    )
    return [each for each in found if each[2].data_location == TensorProto.EXTERNAL]


def file_findings(
    model: ModelProto, tensors: Sequence[tuple[str, str, TensorProto]], path: str | os.PathLike[str] | None
) -> Iterator[Finding]:
    """The findings about files of weights; only about what the entries say if the folder of the model is not known."""
    folder = Path("." if path is None else path).parent
    locations = [text(entry.value) for _, _, tensor in tensors for entry in tensor.external_data]
    for file in data_files(model, folder) if not any("\0" in location for location in locations) else ():
        location = text(file.entries[0].value)
        if _is_outside(location):
            yield Finding("outside-weights", "external data", location)
        elif path is not None and location and not os.path.isfile(file.path):
            yield Finding("missing-weights", "external data", location)
        elif path is not None and location and _is_linked(file.path, (folder, os.path.dirname(os.path.realpath(path)))):
            yield Finding("linked-weights", "external data", location)
    for place, name, tensor in tensors:
        entries = [(text(entry.key), text(entry.value)) for entry in tensor.external_data]
        if told := _entry_fault(entries):
            yield Finding("external-entry", place, name, told)
        elif path is not None and (told := _range_fault(tensor, dict(entries), folder)):
            yield Finding("cut-weights", place, name, told)


def _is_outside(location: str) -> bool:
    return os.path.isabs(location) or os.path.normpath(location).split(os.sep)[0] == os.pardir


def _entry_fault(entries: list[tuple[str, str]]) -> str:
    """What is wrong with the entries of one tensor; empty if nothing is."""
    given = dict(entries)
    location = given.get("location", "")
    if not location or "\0" in location:
        return "its location has a NUL character" if location else "it has no location"
    for key, count in Counter(key for key, _ in entries).items():
        if key not in _KEYS:
            return f"onnxruntime knows no key {key!r}"
        if count > 1:
            return f"it has {count} entries {key!r}"
    for key in ("offset", "length"):
        number = given.get(key, "0")
        if not _NUMBER.fullmatch(number) or int(number) > MOST:
            return f"its {key} is {number!r:.60}, and no number of bytes"
    return ""


def _range_fault(tensor: TensorProto, entries: dict[str, str], folder: Path) -> str:
    """How the data of a tensor do not fit into their file; empty if they do, and if the file or their size is open."""
    needed, offset = byte_count(tensor), int(entries.get("offset", "0"))
    length = int(entries.get("length", "0")) or needed  # 0 is none
    path = os.path.join(os.path.realpath(folder), entries["location"])
    if needed is None or length is None or _is_outside(entries["location"]) or not os.path.isfile(path):
        return ""
    if length != needed:
        return f"its length is {length} bytes, and its type and shape need {needed}"
    size = os.path.getsize(path)
    return "" if offset + needed <= size else f"{needed} bytes from {offset}, and the file has {size}"


def _is_linked(path: str, folders: Iterable[str | Path]) -> bool:
    """Whether a file is a symbolic link, has several hard links, or lies outside of these folders because of a link."""
    real = os.path.realpath(path)
    outside = all(within(real, Path(folder)) is None for folder in folders)
    return os.path.islink(path) or outside or os.stat(path).st_nlink > 1
