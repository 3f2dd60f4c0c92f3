"""Every way into the library, for one model of any kind: `ENTRY_POINTS`. Each may raise documented errors only.

Each call of the library has a name of its own, so it has the limits of time and memory for itself. Only calls about
single nodes and values are made for some of them under one name.
"""

from __future__ import annotations

import io
import json
import pickle
from contextlib import redirect_stderr, redirect_stdout
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir
from google.protobuf.message import DecodeError

from onnx_infer import InferenceResult, fold, infer, infer_node_outputs, infer_shapes, make_dynamic, materialize
from onnx_infer.__main__ import main
from onnx_infer.errors import NoModelError, OnnxInferError
from onnx_infer.integrations import onnx_ir as of_onnx_ir
from onnx_infer.results.guarantees import guarantees
from onnx_infer.tools.fleets.examine import examine
from symdim import SymdimError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from random import Random

    from onnx_infer.tools.planning.memory import MemoryPlan
    from symdim import Var

DOCUMENTED = (OnnxInferError, SymdimError)
"""The errors that a model may cause."""

OPTIONS = (
    (),
    ("--json", "--all"),
    ("--bidirectional", "--all", "--full"),
    ("--costs", "--memory"),
    ("--explain", "y"),
    ("--emit", "c"),
    ("--html", "-"),
    ("--dialect", "torch"),
    ("--fold", "-o", "{out}"),
    ("-o", "{out}"),
    ("--policy", "strict"),
    ("--assume-declared", "--initializers", "constant"),
    ("--diff", "{model}"),
    ("--lint", "--json"),
)
"""Options of the command; `{model}` is the file itself, and `{out}` one that is written."""

_ASKED = 6
"""So many values or nodes of a model are asked about one by one."""


class Given:
    """A model as bytes, as a file and as a message; its results are computed when an entry point needs them."""

    def __init__(self, data: bytes, folder: Path, rng: Random) -> None:
        self.data, self.folder, self.rng = data, folder, rng

    @cached_property
    def path(self) -> Path:
        """A file with the model."""
        path = self.folder / "model.onnx"
        path.write_bytes(self.data)
        return path

    @property
    def model(self) -> onnx.ModelProto:
        """A message that the caller may change."""
        try:
            return onnx.ModelProto.FromString(self.data)
        except DecodeError as error:
            raise NoModelError(str(error)) from None

    @cached_property
    def result(self) -> InferenceResult:
        """What inference says, forwards or in both directions."""
        return infer(self.data, bidirectional=self.rng.random() < 0.3)

    @cached_property
    def written(self) -> onnx.ModelProto:
        """The model with what inference says of it."""
        return infer_shapes(self.model)

    @cached_property
    def other(self) -> InferenceResult:
        """What inference in both directions says."""
        return infer(self.data, bidirectional=True)

    @cached_property
    def memory(self) -> MemoryPlan:
        """The bytes of the values."""
        return self.result.memory()

    @cached_property
    def ir(self) -> onnx_ir.Model | None:
        """The model of onnx_ir; None if onnx_ir cannot read it: what it refuses, and how, is its own affair."""
        try:
            return onnx_ir.from_proto(self.model)
        except Exception:  # of any kind
            return None

    @property
    def symbols(self) -> list[Var]:
        """The symbols of the inputs' sizes."""
        return sorted(self.result.sources.symbols, key=lambda v: v.name)

    @property
    def sizes(self) -> dict[Any, int]:
        """A size for each symbol of the inputs, within its bounds."""
        ends = {symbol: symbol.bounds() for symbol in self.symbols}
        return {symbol: max(low or 0, min(7, high or 7)) for symbol, (low, high) in ends.items()}

    @property
    def names(self) -> list[str]:
        """Some names of values."""
        names = [name for name in (*self.result.outputs, *self.result.inputs) if name in self.result.types]
        return names[:_ASKED] + self.rng.sample(list(self.result.types), min(_ASKED, len(self.result.types)))


def whole(given: Given) -> None:
    """The result; nothing that it tells is a defect of the library."""
    told = [f"{d.severity}: {d}" for d in given.result.diagnostics]
    assert not [text for text in told if text.startswith("defect")], told
    "\n".join(told).encode("utf-8", "surrogateescape")


def shown(given: Given) -> None:
    """The texts of all types, and of the whole result."""
    "\n".join((str(given.result.types), repr(given.result))).encode("utf-8", "surrogateescape")


def written(given: Given) -> None:
    """What is written is a model. The given message stays as it is."""
    model = given.model
    given.written = infer_shapes(model)
    assert model.SerializeToString(deterministic=True) == given.model.SerializeToString(deterministic=True)


def applied(given: Given) -> None:
    """What is found in both directions is written."""
    model = given.model
    given.other.apply(model)
    model.SerializeToString()


def single_nodes(given: Given) -> None:
    """Some nodes by themselves, with the types that the rest of the model gives them."""
    model = infer_shapes(given.data)
    graph = model.graph
    infos = (*graph.input, *graph.value_info, *graph.output)
    data = {tensor.name: tensor for tensor in graph.initializer}
    types = {name: onnx.helper.make_tensor_type_proto(t.data_type, t.dims) for name, t in data.items()}
    types |= {info.name: info.type for info in infos}
    for node in given.rng.sample(list(graph.node), min(_ASKED, len(graph.node))):
        try:
            infer_node_outputs(None, node, types, data, opset_imports=model.opset_import)
        except OnnxInferError as error:
            str(error).encode("utf-8", "surrogateescape")


def of_another_library(given: Given) -> None:
    """The front end of onnx_ir, for models that onnx_ir itself can read."""
    if given.ir is not None:
        of_onnx_ir.infer(given.ir)


def written_by_another_library(given: Given) -> None:
    """The same front end; what is found is written into the model."""
    if given.ir is not None:
        of_onnx_ir.infer_shapes(given.ir)


def freed(given: Given) -> None:
    """The first static size of an input becomes a symbol."""
    for name in given.result.inputs:
        for axis, size in enumerate(given.result.shapes.get(name) or ()):
            if isinstance(size, int):
                make_dynamic(given.model, {name: {axis: "freed"}}, apply=True)
                return


def materialized(given: Given) -> None:
    """Nodes for the sizes of the outputs."""
    for name in islice(given.names, 2):
        shape = given.result.shapes.get(name)
        if shape is not None:
            try:
                materialize(shape, given.result)
            except ValueError as error:  # as documented: the opset lacks an operator
                str(error).encode("utf-8", "surrogateescape")


def guarded(given: Given) -> None:
    """The guards as text, with the laws of data."""
    result = given.result
    for said in (*result.guards, *result.data_guards, *result.data_laws):
        str(said).encode("utf-8", "surrogateescape")


def largest(given: Given) -> None:
    """The largest size of the first symbol."""
    names = [symbol.name for symbol in given.symbols]
    given.result.largest_size(1 << 30, names[0] if names else None, dict.fromkeys(names[1:], 2))


def explained(given: Given) -> None:
    """Where some types come from."""
    for name in given.names:
        given.result.explain(name).encode()


def emitted(language: str) -> Callable[[Given], object]:
    """Source code in a language."""
    return lambda given: given.result.emit(language).encode()


def commanded(given: Given) -> None:
    """The command in this process: its exit code is documented, and what it prints is text or JSON."""
    options = given.rng.choice(OPTIONS)
    places = {"{out}": str(given.folder / "out.onnx"), "{model}": str(given.path)}
    code, printed = command(given.path, *(places.get(option, option) for option in options))
    assert code in (0, 1, 2), code
    assert "--json" not in options or code == 2 or json.loads(printed)


def command(path: Path, *options: str) -> tuple[int | str | None, str]:
    """The exit code of the command and what it prints, encoded as on a terminal."""
    raw = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(raw, "utf-8")) as out, redirect_stderr(io.StringIO()):
        try:
            code: int | str | None = main([str(path), *options])
        except SystemExit as end:
            code = end.code
        out.flush()
        return code, raw.getvalue().decode()


def fleet(given: Given) -> None:
    """The line that a worker of a fleet writes."""
    line = examine(str(given.path), {}, whole=True)
    assert line["status"] != "failed", line["message"]
    json.dumps(line)


def _pickled(given: Given) -> None:
    assert pickle.loads(pickle.dumps(given.result)).types.keys() == given.result.types.keys()


ENTRY_POINTS: dict[str, Callable[[Given], object]] = {
    "infer": whole,
    "infer strict": lambda given: infer(given.data, policy="strict"),
    "infer declared": lambda given: infer(given.data, assume_declared=True, initializers="constant"),
    "infer bidirectional": lambda given: given.other,
    "apply": applied,
    "infer_shapes": written,
    "infer_shapes again": lambda given: infer_shapes(given.written.SerializeToString()),
    "infer_shapes strict": lambda given: infer_shapes(given.data, check_type=True, strict_mode=True),
    "infer_node_outputs": single_nodes,
    "onnx_ir infer": of_another_library,
    "onnx_ir infer_shapes": written_by_another_library,
    "fold": lambda given: fold(given.data),
    "make_dynamic": freed,
    "materialize": materialized,
    "str": shown,
    "notebook": lambda given: given.result._repr_html_(),
    "guards": guarded,
    "check": lambda given: given.result.check(given.sizes),
    "guarantees": lambda given: given.result.guarantees,
    "guarantees from inputs": lambda given: guarantees(given.result, given.result.inputs),
    "upper_bounds": lambda given: given.result.upper_bounds,
    "memory": lambda given: given.memory,
    "memory peak": lambda given: given.memory.peak,
    "costs": lambda given: given.result.costs(),
    "layers": lambda given: given.result.layers(),
    "planner": lambda given: given.result.planner(given.symbols),
    "largest_size": largest,
    "reasons": lambda given: given.result.reasons,
    "table": lambda given: given.result.table().encode(),
    "explain": explained,
    "emit c": emitted("c"),
    "emit js": emitted("js"),
    "html": lambda given: given.result.html().encode(),
    "compare": lambda given: str(given.result.compare(given.other)).encode(),
    "compare the other way": lambda given: str(given.other.compare(given.result)).encode(),
    "pickle": _pickled,
    "command": commanded,
    "fleet": fleet,
}


_NEEDS = {
    "apply": "infer bidirectional",
    "compare": "infer bidirectional",
    "compare the other way": "infer bidirectional",
    "infer_shapes again": "infer_shapes",
    "check": "guards",
    "memory peak": "memory",
}
"""The entry points whose result another one uses. Almost all use that of `infer`."""


def with_needed(names: Iterable[str]) -> Iterator[str]:
    """`infer` and these entry points, each once and after those whose result it uses."""
    found = {"infer": None}
    for name in names:
        found |= dict.fromkeys(needed for needed in (_NEEDS.get(name), name) if needed)
    yield from found


def drawn(rng: Random, number: int | None) -> Iterator[str]:
    """`infer`, then so many others with those that they need; all of them for None."""
    others = [name for name in ENTRY_POINTS if name != "infer"]
    yield from with_needed(others if number is None else rng.sample(others, number))
