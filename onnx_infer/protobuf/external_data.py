"""The files of weights beside a model, for a model that is written into another folder.

onnx reads external data only from the folder of the model and from folders below it. Data that are below both folders
are linked by their new relative path. Other data must be copied. The data themselves are never parsed.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from onnx import AttributeProto, TensorProto

from onnx_infer.model.attributes import kind_of
from onnx_infer.protobuf.bodies import graphs_of
from onnx_infer.values.text import encoded, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from onnx import ModelProto, StringStringEntryProto


class DataFile(NamedTuple):
    """A file of external data: its path, and the entries of tensors that name it."""

    path: str
    entries: list[StringStringEntryProto]

    def link(self, location: str) -> None:
        """Set this location in the tensors, relative to the folder of their model."""
        for entry in self.entries:
            entry.MergeFromString(_value(location))


def _value(location: str) -> bytes:
    """The wire bytes of the field `value` of an entry. Names of files need not be UTF-8."""
    from onnx_infer.protobuf.wire import field

    return field(2, encoded(location.replace(os.sep, "/")))


def data_files(model: ModelProto, folder: Path) -> list[DataFile]:
    """The files that are named by the tensors of a model in this folder, each once."""
    found: dict[str, DataFile] = {}
    for tensor in tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            for entry in tensor.external_data:
                if entry.key == "location":
                    path = os.path.normpath(os.path.join(os.path.realpath(folder), text(entry.value)))
                    found.setdefault(path, DataFile(path, [])).entries.append(entry)
    return list(found.values())


def within(path: str, folder: Path) -> str | None:
    """The location of a file relative to a folder; None if it is not in this folder or below it."""
    try:
        location = os.path.relpath(path, os.path.realpath(folder))
    except ValueError:  # another drive
        return None
    return None if location.split(os.sep)[0] == os.pardir else location


def relink(files: Iterable[DataFile], folder: Path) -> list[DataFile]:
    """Link the files for a model in this folder. Files outside of it are not changed, and are returned."""
    outside = []
    for file in files:
        location = within(file.path, folder)
        if location is None:
            outside.append(file)
        else:
            file.link(location)
    return outside


def copy(files: Iterable[DataFile], source: Path, target: Path) -> None:
    """Copy files from the folder of one model into that of another, and link them there.

    A file below the first folder keeps its relative path. Raises FileExistsError if there is a different file.
    """
    for file in files:
        location = within(file.path, source) or os.path.basename(file.path)
        place = os.path.join(os.path.realpath(target), location)
        if os.path.exists(place):
            if not os.path.samefile(file.path, place) and not filecmp.cmp(file.path, place, shallow=False):
                raise FileExistsError(None, "another file is in the place of the external data", place)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copyfile(file.path, place)
        file.link(location)


def tensors(model: ModelProto) -> Iterator[TensorProto]:
    """All tensors of a model: initializers and attributes, also in subgraphs and functions."""
    for graph in (graph for root in (model.graph, *model.functions) for graph in graphs_of(root)):
        yield from getattr(graph, "initializer", ())  # a function has none
        for sparse in getattr(graph, "sparse_initializer", ()):
            yield from (sparse.values, sparse.indices)
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            kind = kind_of(attribute)
            if kind == AttributeProto.TENSOR:
                yield attribute.t
            elif kind == AttributeProto.TENSORS:
                yield from attribute.tensors
