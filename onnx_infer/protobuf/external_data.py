"""The files of weights beside a model, for a model that is written into another folder.

onnxruntime reads external data only from the folder of the model and from folders below it, and if the model is a link,
from those of the file that this leads to. Where the data are links, the files count to which they lead. Data that are
below both folders are linked by their new relative path. Other data must be copied. The data themselves are never
parsed.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from onnx import AttributeProto, TensorProto

from onnx_infer.model.attributes import kind_of
from onnx_infer.protobuf.bodies import graphs_of
from onnx_infer.protobuf.whole_files import replace_file, same_path
from onnx_infer.values.text import encoded, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx import ModelProto, StringStringEntryProto


class DataFile(NamedTuple):
    """A file of external data: its path, which may be a link, and the entries of tensors that name it."""

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
                    written = os.path.join(os.path.realpath(folder), text(entry.value))
                    path, real = os.path.normpath(written), os.path.realpath(written)
                    if os.path.realpath(path) != real:  # `..` leaves a linked folder for the one around its target
                        path = real
                    found.setdefault(path, DataFile(path, [])).entries.append(entry)
    return list(found.values())


def within(path: str, folder: Path) -> str | None:
    """The location of a file relative to a folder; None if it is not in this folder or below it."""
    try:
        location = os.path.relpath(path, os.path.realpath(folder))
    except ValueError:  # another drive
        return None
    return None if location.split(os.sep)[0] == os.pardir else location


def is_in_reach(path: str, model: Path) -> bool:
    """Whether onnxruntime reads data at this path for a model: whether they are where it allows them to be."""
    folders = (model.parent, Path(os.path.realpath(model)).parent)
    return any(within(os.path.realpath(path), folder) is not None for folder in folders)


def relink(files: Iterable[DataFile], target: Path) -> list[DataFile]:
    """Link the files for a model at this path. Files that it could not read are not changed, and are returned."""
    outside = []
    for file in files:
        for path in (file.path, os.path.realpath(file.path)):
            location = within(path, target.parent)
            if location is not None and is_in_reach(path, target):
                file.link(location)
                break
        else:
            outside.append(file)
    return outside


def copy(files: Iterable[DataFile], source: Path, target: Path) -> None:
    """Copy files of the model at one path for that at another, and link them there.

    A file below the first folder keeps its relative path. Where a link has this path, and leads to where the data
    could not be read, the copy gets another name: no link is written over. Raises FileExistsError if there is a
    different file.
    """
    for file in files:
        location = within(file.path, source.parent) or os.path.basename(file.path)
        folder = os.path.realpath(target.parent)
        if not is_in_reach(os.path.join(folder, location), target):
            location = location.replace(os.sep, "_") + ".copy"
        place = os.path.join(folder, location)
        if os.path.lexists(place):
            if not _are_equal(file.path, place) or not is_in_reach(place, target):
                raise FileExistsError(None, "another file is in the place of the external data", place)
        elif same_path(place, target):
            raise FileExistsError(None, "the external data would have the same name as the model", place)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            replace_file(Path(place), partial(shutil.copyfile, file.path))
        file.link(location)


def _are_equal(path: str, other: str) -> bool:
    """Whether two files are one, or have the same content."""
    return os.path.exists(other) and (os.path.samefile(path, other) or filecmp.cmp(path, other, shallow=False))


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
