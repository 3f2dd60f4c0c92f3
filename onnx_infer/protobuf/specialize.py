"""Fixing symbols of a model to sizes: `N=4` in every dim_param that its inputs, outputs and value infos declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.protobuf.wire import dim_param
from onnx_infer.values.text import text
from symdim import Expr, SymdimError, UnboundName
from symdim.parsing import read_dim_param

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import ModelProto


def specialize(model: ModelProto, sizes: Mapping[str, int]) -> ModelProto:
    """A copy of the model with the symbols of these names fixed; of dim_params over them, what remains.

    Raises `UnboundName` for names that no dim_param contains, `SymdimError` for a size that makes another negative.
    """
    copy = type(model)()
    copy.CopyFrom(model)
    dims = [d for info in _value_infos(copy) for d in _dims(info.type) if d.dim_param]
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
