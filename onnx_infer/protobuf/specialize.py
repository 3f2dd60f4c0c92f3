"""Fixing or renaming symbols of a model: in every dim_param that it declares, in subgraphs too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.inference import given_bound, run, sizes_of
from onnx_infer.model.attributes import declared_size
from onnx_infer.model.substitution import renamed, substituted
from onnx_infer.model.symbols import Symbols
from onnx_infer.protobuf.bodies import graphs_of
from onnx_infer.protobuf.declarations import innermost_dims
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.protobuf.wire import dim_param
from onnx_infer.protobuf.writing import write_input
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from onnx import GraphProto, ModelProto

    from onnx_infer.model.input_shapes import InputShape


def specialize(model: ModelProto, sizes: Mapping[str, int | str]) -> ModelProto:
    """A copy of the model with the symbols of these names fixed, or written as expressions of others.

    An axis of an input without a name has the name that inference gives it. A size in a body that would be negative is
    left out, because a body may run at other sizes only: the branch of an If. Raises `UnboundName` for names that occur
    in no dim_param, and `SymdimError` if a size in the main graph would be negative.
    """
    copy = type(model)()
    copy.CopyFrom(model)
    _specialize(copy, sizes)
    return copy


def _specialize(model: ModelProto, sizes: Mapping[str, int | str]) -> None:
    _name_axes(model, sizes.keys())
    texts = _texts(_value_infos(model.graph))
    _write(model, substituted(texts, sizes, inner=set(texts).difference(_texts(_own_value_infos(model.graph)))))


def with_input_shapes(
    model: ModelProto, shapes: Mapping[str, InputShape], bind: Mapping[str, int | str] | None = None
) -> ModelProto:
    """A copy of the model whose inputs have these shapes, as with `onnx_infer.infer(model, input_shapes=...)`.

    If a number of an input becomes another one, the numbers in the types of other values are dropped.
    """
    copy = type(model)()
    copy.CopyFrom(model)
    bound = given_bound(ModelProtoFrontEnd(copy), bind or {}, shapes)
    for info in copy.graph.input:
        if text(info.name) in bound.shapes:
            write_input(info.type.tensor_type.shape, bound.shapes[text(info.name)])
    if bound.of:
        _specialize(copy, bound.of)
    if bound.is_other:
        _drop_numbers(copy.graph)
    return copy


def _drop_numbers(main: GraphProto) -> None:
    for graph in graphs_of(main):
        for info in (*graph.output, *graph.value_info, *(() if graph is main else graph.input)):
            for dim in innermost_dims(info.type):
                dim.ClearField("dim_value")


def rename_symbols(model: ModelProto, names: Mapping[str, str]) -> None:
    """Give the symbols of a model other names, in place. Raises as `renamed`."""
    _name_axes(model, names.keys())
    _write(model, renamed(_texts(_value_infos(model.graph)), names))


def _texts(infos: Iterator[Any]) -> list[str]:
    return [text(d.dim_param) for info in infos for d in innermost_dims(info.type) if d.dim_param]


def _write(model: ModelProto, sizes: Mapping[str, int | str]) -> None:
    """Write the new sizes in place of texts."""
    for info in _value_infos(model.graph):
        for dim in innermost_dims(info.type):
            new = sizes.get(text(dim.dim_param)) if dim.dim_param else None
            if isinstance(new, int) and new < 0:
                dim.ClearField("dim_param")
            elif isinstance(new, int):
                dim.dim_value = new
            elif new is not None:
                dim.MergeFromString(dim_param(new))


def _name_axes(model: ModelProto, wanted: Collection[str]) -> None:
    """Write the wanted names of nameless axes: names after the input and the axis, or declared for a result."""
    front = ModelProtoFrontEnd(model)
    texts = front.dim_params()
    if not any(None in sizes for _, sizes in front.inputs()) or set(texts[0]).issuperset(wanted):
        return
    plain = {name: sizes_of(value) for name, value in front.view(Symbols(*texts)).graph.inputs}
    for named in (plain, run(front)[1]):
        for info in model.graph.input:
            dims, names = list(innermost_dims(info.type)), named.get(text(info.name), ())
            for dim, name in zip(dims, names, strict=False):
                if declared_size(dim) is None and name in wanted:
                    dim.dim_param = str(name)


def _value_infos(graph: GraphProto) -> Iterator[Any]:
    """The declared types of a graph and of those in it."""
    return (info for inner in graphs_of(graph) for info in _own_value_infos(inner))


def _own_value_infos(graph: GraphProto) -> Iterator[Any]:
    """The declared types of a graph without those in it."""
    yield from graph.input
    yield from graph.output
    yield from graph.value_info
