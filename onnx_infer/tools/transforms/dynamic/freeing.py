"""Free sizes of inputs: symbols replace numbers, and declared sizes of other values are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import GraphProto

from onnx_infer.errors import ArgumentError
from onnx_infer.protobuf.declarations import innermost_dims
from onnx_infer.protobuf.nodes import graphs_of
from onnx_infer.protobuf.wire import dim_param
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx import FunctionProto, ModelProto, ValueInfoProto

    Axes = Mapping[str, Mapping[int, str]]


def free(model: ModelProto, axes: Axes) -> dict[str, int]:
    """Put symbols into the axes of the inputs, in place; return the traced size of each symbol.

    The types of all values but inputs and initializers are dropped, as far as they are sizes. Raises `ArgumentError`
    for an input or axis that the model does not have, for an axis that has no number, and for a symbol with two sizes.
    """
    inputs = {text(info.name): info for info in model.graph.input}
    traced: dict[str, int] = {}
    for name, wanted in axes.items():
        if name not in inputs:
            raise ArgumentError(
                f"dynamic: the model has no input {name!r}; its inputs are {', '.join(map(repr, inputs))}"
            )
        dims = innermost_dims(inputs[name].type)
        for axis, symbol in wanted.items():
            if not -len(dims) <= axis < len(dims):
                raise ArgumentError(f"dynamic: input {name!r} has {len(dims)} axes, so no axis {axis}")
            size = dims[axis].dim_value
            if not dims[axis].HasField("dim_value"):
                raise ArgumentError(f"dynamic: axis {axis} of input {name!r} has no number that could be freed")
            if not symbol.isidentifier():
                raise ArgumentError(f"dynamic: {symbol!r} is no name of a symbol")
            if traced.setdefault(symbol, size) != size:
                raise ArgumentError(f"dynamic: {symbol!r} would be both {traced[symbol]} and {size}")
            dims[axis].MergeFromString(dim_param(symbol))
    _drop_types(model)
    return traced


def _drop_types(model: ModelProto) -> None:
    """Remove declared sizes of computed values, in inner graphs and functions too."""
    for graph in _graphs(model):
        del graph.value_info[:]
        if isinstance(graph, GraphProto):
            _drop_sizes((*graph.output, *(() if graph is model.graph else graph.input)))


def declare_again(freed: ModelProto, model: ModelProto) -> None:
    """Put the value infos of a model into its freed copy, without sizes of computed values.

    The graphs are the same ones in the same order: new nodes have none.
    """
    for graph, before in zip(_graphs(freed), _graphs(model), strict=True):
        graph.value_info.extend(before.value_info)
        constants = {tensor.name for tensor in getattr(before, "initializer", ())}  # a function has none
        _drop_sizes(info for info in graph.value_info if info.name not in constants)


def _graphs(model: ModelProto) -> Iterator[GraphProto | FunctionProto]:
    """All graphs and functions of a model."""
    return (graph for root in (model.graph, *model.functions) for graph in graphs_of(root))


def _drop_sizes(infos: Iterable[ValueInfoProto]) -> None:
    for info in infos:
        for dim in innermost_dims(info.type):
            dim.ClearField("value")
