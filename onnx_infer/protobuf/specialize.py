"""Fixing symbols of a model to sizes: `N=4` in every dim_param of its inputs, outputs and value infos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.inference import run, sizes_of
from onnx_infer.model.attributes import declared_size
from onnx_infer.model.symbols import Symbols, said
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.protobuf.wire import dim_param
from onnx_infer.values.text import text
from symdim import Expr, SymdimError, UnboundName
from symdim.parsing import read_dim_param

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from onnx import ModelProto


def specialize(model: ModelProto, sizes: Mapping[str, int]) -> ModelProto:
    """A copy of the model with the symbols of these names fixed. Expressions with them are simplified.

    An axis of an input without a name has the name that inference gives it. Raises `UnboundName` for names that occur
    in no dim_param, and `SymdimError` if a size would be negative.
    """
    copy = type(model)()
    copy.CopyFrom(model)
    _name_axes(copy, sizes.keys())
    dims = [d for info in _value_infos(copy) for d in _dims(info.type) if isinstance(said(declared_size(d)), str)]
    declared = {text(d.dim_param) for d in dims}
    names = frozenset(t for t in declared if not any(c in "+-*/%()" for c in t)) | sizes.keys()
    used: set[str] = set()
    for dim in dims:
        size = read_dim_param(text(dim.dim_param), names)
        if not isinstance(size, Expr) or size.free_symbols().isdisjoint(sizes):
            continue
        used |= size.free_symbols()
        fixed = size.substitute({name: sizes[name] for name in size.free_symbols() & sizes.keys()})
        if isinstance(fixed, Expr):
            dim.MergeFromString(dim_param(str(fixed)))
        elif fixed < 0:
            raise SymdimError(f"{text(dim.dim_param)} is {fixed} at these sizes")
        else:
            dim.dim_value = fixed
    if missing := tuple(sorted(sizes.keys() - used)):
        raise UnboundName(missing)
    return copy


def _name_axes(model: ModelProto, wanted: Collection[str]) -> None:
    """Write the wanted names of nameless axes: names after the input and the axis, or declared for a result."""
    front = ModelProtoFrontEnd(model)
    texts = front.dim_params()
    if not any(None in sizes for _, sizes in front.inputs()) or set(texts[0]).issuperset(wanted):
        return
    plain = {name: sizes_of(value) for name, value in front.view(Symbols(*texts)).graph.inputs}
    for named in (plain, run(front)[1]):
        for info in model.graph.input:
            dims, names = list(_dims(info.type)), named.get(text(info.name), ())
            for dim, name in zip(dims, names, strict=False):
                if said(declared_size(dim)) is None and name in wanted:
                    dim.dim_param = str(name)


def _value_infos(model: ModelProto) -> Iterator[Any]:
    graph = model.graph
    yield from graph.input
    yield from graph.output
    yield from graph.value_info


def _dims(proto: Any) -> Iterator[Any]:
    """The Dimension messages of a TypeProto, nested types included."""
    while True:
        match proto.WhichOneof("value"):
            case "tensor_type" | "sparse_tensor_type" as kind:
                yield from getattr(proto, kind).shape.dim
                return
            case "sequence_type" | "optional_type" as kind:
                proto = getattr(proto, kind).elem_type
            case "map_type":
                proto = proto.map_type.value_type
            case _:
                return
