"""What inference says of real models, as texts: types, guards, diagnostics, contract, and what `fold` leaves.

`tests/data/golden_models.tar.xz` has models that were exported from public model libraries (torch, transformers, timm,
TensorFlow, Keras, PaddlePaddle, JAX, scikit-learn, LightGBM, CatBoost) or shipped with public packages. They are
structure only: `stripped` took the weights, notes and metadata. `tests/data/golden_results.tar.xz` has a text for each.

    python -m tests.onnx_infer.golden                   prints what changed, as `test_golden.py` does
    python -m tests.onnx_infer.golden --write           also writes the new texts
    python -m tests.onnx_infer.golden --add FILE...     takes in more models, without their weights
    python -m tests.onnx_infer.golden --drop NAME...    removes models
"""

from __future__ import annotations

import argparse
import io
import tarfile
from collections import Counter
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto

from onnx_infer import fold, infer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from google.protobuf.message import Message

DATA = Path(__file__).parents[1] / "data"
MODELS, RESULTS = DATA / "golden_models.tar.xz", DATA / "golden_results.tar.xz"

MOST_CHANGES = 12
"""Changes of one model that are printed."""

INTEGERS = {getattr(TensorProto, name) for name in ("INT64", "INT32", "INT16", "INT8", "UINT8", "UINT64", "BOOL")}
STORED = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data")


@cache
def contents(archive: Path) -> dict[str, bytes]:
    """The files of an archive by name; none of an archive that is not there."""
    if not archive.exists():
        return {}
    with tarfile.open(archive) as files:
        return {info.name: entry.read() for info in files if (entry := files.extractfile(info)) is not None}


def write(archive: Path, files: Mapping[str, bytes]) -> None:
    """Write an archive, the same bytes for the same files."""
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as out:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size = len(files[name])
            out.addfile(info, io.BytesIO(files[name]))


def tensors(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[TensorProto]:
    """The tensors of a graph: initializers, and those in attributes, also of the graphs inside it."""
    if isinstance(graph, onnx.GraphProto):
        yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                yield from tensors(inner)


def stripped(model: onnx.ModelProto, *, integers: int = 1024, floats: int = 64) -> onnx.ModelProto:
    """Take the elements of tensors with more than this many, which become external, and all notes and metadata."""
    place = 0
    for part in (model.graph, *model.functions):
        for tensor in tensors(part):
            count = 1
            for size in tensor.dims:
                count *= size
            small = count <= (integers if tensor.data_type in INTEGERS else floats)
            if tensor.data_type == TensorProto.STRING or (small and tensor.data_location != TensorProto.EXTERNAL):
                continue
            for field in (*STORED, "external_data"):
                tensor.ClearField(field)
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "weights"), ("offset", place), ("length", count)):
                tensor.external_data.add(key=key, value=str(value))
            place += count
    for message in messages(model):
        for field in ("doc_string", "metadata_props", "producer_version"):
            if field in message.DESCRIPTOR.fields_by_name:
                message.ClearField(field)
    return model


def messages(message: Message) -> Iterator[Message]:
    """A message and those inside it."""
    pending = [message]
    while pending:
        yield (last := pending.pop())
        for field, value in last.ListFields():
            if field.message_type is not None:
                pending.extend([value] if hasattr(value, "ListFields") else value)


@cache
def text_of(data: bytes) -> str:
    """All that is compared of a model, a line for each thing. What `fold` computes in floats is not."""
    model = onnx.load_from_string(data)
    result = infer(model)
    folded = stripped(fold(model), floats=0)
    operators = Counter(node.op_type for node in folded.graph.node)
    parts = (folded.graph.SerializeToString(deterministic=True), *sorted(f.name.encode() for f in folded.functions))
    lines = [
        *(f"guard {guard}" for guard in result.guards),
        *(f"diagnostic {diagnostic}" for diagnostic in result.diagnostics),
        *(f"contract {name}: {value}" for name, value in result.contract._asdict().items()),
        *(f"fold {name}: {count}" for name, count in sorted(operators.items())),
        f"fold digest: {sha256(b''.join(parts)).hexdigest()[:16]}",
        *(f"type {name}: {type_}" for name, type_ in result.types.items()),
    ]
    return "\n".join(line.replace("\n", "\\n") for line in lines) + "\n"


def changes(name: str) -> list[str]:
    """What is no longer so in a model, and what is so instead."""
    then = Counter(contents(RESULTS).get(name, b"").decode().splitlines())
    now = Counter(text_of(contents(MODELS)[name]).splitlines())
    lines = [*(f"- {line}" for line in (then - now).elements()), *(f"+ {line}" for line in (now - then).elements())]
    return sorted(lines, key=lambda line: line[2:].partition(": ")[0])


def summary(name: str, lines: list[str]) -> str:
    """The first changes of a model, to print."""
    more = len(lines) - MOST_CHANGES
    return "\n  ".join([f"{name}:", *lines[:MOST_CHANGES], *([f"... and {more} more"] if more > 0 else [])])


def main() -> None:
    """The command; see the docstring of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--add", nargs="+", type=Path, default=[])
    parser.add_argument("--drop", nargs="+", default=[])
    given = parser.parse_args()
    models = dict(contents(MODELS))
    for path in given.add:
        models[path.stem] = stripped(onnx.load(path, load_external_data=False)).SerializeToString(deterministic=True)
    for name in given.drop:
        del models[name]
    if given.add or given.drop:
        write(MODELS, models)
        contents.cache_clear()
    for name in sorted(models):
        if lines := changes(name):
            print(summary(name, lines))
    if given.write or given.add or given.drop:
        write(RESULTS, {name: text_of(data).encode() for name, data in models.items()})


if __name__ == "__main__":
    main()
