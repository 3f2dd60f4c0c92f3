"""Models as files, and the files of weights beside them.

External data are never read; a written model finds them, or is not written. onnxruntime reads external data only from
the folder of the model and from folders below it, and if the model is a link, from those of the file that this leads
to. Where the data are links, the files count to which they lead. Data that are below both folders are linked by their
new relative path. Other data must be copied.
"""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import onnx
from onnx import AttributeProto, TensorProto

from onnx_infer.errors import ExternalDataError, NoModelError, no_model
from onnx_infer.model.attributes import kind_of
from onnx_infer.protobuf.nodes import all_graphs
from onnx_infer.protobuf.wire import field
from onnx_infer.values.text import encoded, text
from symdim.algebra.named_tuple import NamedTuple
from symdim.outputs import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx import ModelProto, StringStringEntryProto


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
            proto = onnx.ModelProto.FromString(model)
        else:
            proto = onnx.load(source, load_external_data=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # the exceptions of protobuf's parsers differ between its versions
        raise NoModelError(f"{source}: not an ONNX model ({type(error).__name__})") from error
    if not proto.HasField("graph"):  # protobuf reads some bytes that are no model
        raise NoModelError(f"{source}: not an ONNX model (it has no graph)")
    return proto


def save_model(
    model: onnx.ModelProto,
    source: str | os.PathLike[str] | None,
    target: str | os.PathLike[str],
    copy_data: bool = False,
) -> None:
    """Write a model that was read from the file `source` (None: a model without a file).

    External data are linked again if they are below the target's folder, and copied with `copy_data`. If neither is
    possible, or the target is a file of external data, `ExternalDataError` is raised. Data that are links are where the
    links lead. A file is written completely or not at all. The format is that of the name's ending.
    """
    if source is not None:
        check_data_stay(model, source, target)
        files = data_files(model, Path(source).parent)
        if copy_data:
            copy(files, Path(source), Path(target))
        elif outside := relink(files, Path(target)):
            raise ExternalDataError(
                f"external data would not be found from {Path(target).parent}, and onnxruntime would refuse the model:"
                f" {_names(outside)}; use copy_data=True to copy it there"
            )
    formats = onnx.serialization.registry
    form = formats.get_format_from_file_extension(os.path.splitext(target)[1]) or "protobuf"
    content = formats.get(form).serialize_proto(model)  # `onnx.save` also writes the files that tensors name
    write_whole(Path(os.path.realpath(target)), lambda file: file.write(content))


def check_data_stay(model: onnx.ModelProto, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Raise `ExternalDataError` if a target is a file of external data, or the place where one would be copied."""
    for folder in (Path(source).parent, Path(target).parent):
        if any(same_path(file.path, target) for file in data_files(model, folder)):
            raise ExternalDataError(f"{os.fspath(target)}: is a file of the model's external data, which would be lost")


def _names(files: list[DataFile]) -> str:
    names = [file.path for file in files[:_MOST_NAMED]]
    names = [path if path == (real := os.path.realpath(path)) else f"{path}, a link to {real}" for path in names]
    return ", ".join(names) + (f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else "")


class DataFile(NamedTuple):
    """A file of external data: its path, which may be a link, and the entries of tensors that name it."""

    path: str
    entries: list[StringStringEntryProto]

    def link(self, location: str) -> None:
        """Set this location in the tensors, relative to the folder of their model. Names of files need not be UTF-8."""
        value = field(2, encoded(location.replace(os.sep, "/")))
        for entry in self.entries:
            entry.MergeFromString(value)


def data_files(model: ModelProto, folder: Path) -> list[DataFile]:
    """The files that are named by the tensors of a model in this folder, each once."""
    files: dict[str, DataFile] = {}
    for tensor in tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            for entry in tensor.external_data:
                if entry.key == "location":
                    written = os.path.join(os.path.realpath(folder), text(entry.value))
                    path, real = os.path.normpath(written), os.path.realpath(written)
                    if os.path.realpath(path) != real:  # `..` leaves a linked folder for the one around its target
                        path = real
                    files.setdefault(path, DataFile(path, [])).entries.append(entry)
    return list(files.values())


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


def own_locations(files: Iterable[DataFile], source: Path) -> list[str]:
    """The locations of a model's files relative to its folder.

    The author of the model has chosen them. So content is read only from regular files in the folder or below it, also
    through links that lie there. Raises ExternalDataError for any other one.
    """
    locations = []
    for file in files:
        location = within(file.path, source.parent)
        if location is None:
            raise ExternalDataError(f"{file.path}: is external data outside of the model's folder, which is not copied")
        if os.path.exists(file.path) and not os.path.isfile(file.path):
            raise ExternalDataError(f"{file.path}: is not a regular file, so it is not copied as external data")
        locations.append(location)
    return locations


def copy(files: Sequence[DataFile], source: Path, target: Path) -> None:
    """Copy files of the model at one path for that at another, and link them there.

    Raises ExternalDataError before anything is copied, as `own_locations`. A file keeps its relative path. Where a link
    has this path, and leads to where the data could not be read, the copy gets another name: no link is written over.
    Raises FileExistsError if there is a different file.
    """
    folder = os.path.realpath(target.parent)
    for file, location in zip(files, own_locations(files, source), strict=True):
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
            with open(file.path, "rb") as content:
                write_whole(Path(place), partial(shutil.copyfileobj, content))
        file.link(location)


def _are_equal(path: str, other: str) -> bool:
    """Whether two files are one, or have the same content."""
    from filecmp import cmp

    return os.path.exists(other) and (os.path.samefile(path, other) or cmp(path, other, shallow=False))


def tensors(model: ModelProto) -> Iterator[TensorProto]:
    """All tensors of a model: initializers and attributes, also in subgraphs and functions."""
    for graph in all_graphs(model):
        yield from getattr(graph, "initializer", ())  # a function has none
        for sparse in getattr(graph, "sparse_initializer", ()):
            yield from (sparse.values, sparse.indices)
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            kind = kind_of(attribute)
            if kind == AttributeProto.TENSOR:
                yield attribute.t
            elif kind == AttributeProto.TENSORS:
                yield from attribute.tensors


def same_path(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are one file."""
    return os.path.realpath(path) == os.path.realpath(other)
