"""Writing the results of an inference into a ModelProto."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from onnx import GraphProto, ValueInfoProto

from onnx_infer.engine.scope import graphs_of
from onnx_infer.model.given import KEY
from onnx_infer.protobuf.declarations import Declared, innermost_tensor, is_bare, types_of, write_sizes
from onnx_infer.protobuf.nodes import graph_at, placed
from onnx_infer.protobuf.reading import function_key
from onnx_infer.protobuf.wire import type_field, value_infos
from onnx_infer.values.tensor import SymTensor
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx import FunctionProto, ModelProto

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Graph, Model
    from onnx_infer.model.size_texts import Size
    from onnx_infer.values.tensor import Value

_FUNCTION_VALUE_INFO = 10
"""From this IR version on functions have value infos (onnx/docs/IR.md)."""
_FREE_BRANCHES = 11
"""From this version of the operators on, the branches of an If may have any shapes."""


def write_model(model: ModelProto, engine: Record, inputs: Mapping[str, tuple[Size, ...]]) -> None:
    """Write the types into the inferred model or a copy of it: value infos, outputs, and these inputs."""
    types_stay = has_unlike_branches(engine)
    if not types_stay:
        engine.scope.touch(engine.model.graph.literals)
        write_graph(model.graph, engine.model.graph, engine.scope)
    if engine.inner and not types_stay:
        copies = counterparts(engine.model, model)
        named = None
        if engine.symbols.count:
            from onnx_infer.protobuf.former_names import FormerNames  # few models need it

            named = FormerNames(engine.scope, engine.inner, partial(_named_sizes, copies))
        for graph, scope in engine.inner:
            proto = copies.get(id(graph.handle))
            if proto is not None:
                scope.touch(graph.literals)
                values = scope if named is None else named.values(scope)
                if isinstance(proto, GraphProto):
                    write_graph(proto, graph, values)
                elif model.ir_version >= _FUNCTION_VALUE_INFO:
                    _write_infos(proto, 12, values, frozenset(), frozenset())  # as they hold in all calls
    for info in model.graph.input:
        sizes = inputs.get(text(info.name))
        if sizes is not None:
            tensor = innermost_tensor(info.type)
            write_sizes((info.type.tensor_type if tensor is None else tensor).shape, sizes)


def has_unlike_branches(engine: Record) -> bool:
    """Whether onnx and onnxruntime would refuse the model if its types were written, so its own types have to stay.

    Below opset 11 they merge the shapes of the branches of an If. A model whose branches have different ranks, or
    different numbers on an axis, loads only as long as they cannot infer these shapes.
    """
    if not engine.inner or engine.scope.operators.version("") >= _FREE_BRANCHES:
        return False
    scopes: dict[int, Mapping[str, Value]] = {id(graph.handle): scope for graph, scope in engine.inner}
    for graph, _ in ((engine.model.graph, engine.scope), *engine.inner):
        for node in graph.nodes():
            branches = [engine.view(handle) for handle in graphs_of(node)] if node[0] == "If" else []
            if len(branches) == 2:
                first, second = ([scopes.get(id(b.handle), {}).get(name) for name in b.outputs] for b in branches)
                if any(map(_differ, first, second)):
                    return True
    return False


def _differ(a: Value | None, b: Value | None) -> bool:
    """Whether two tensors have different ranks, or different numbers on an axis."""
    if not isinstance(a, SymTensor) or not isinstance(b, SymTensor) or a.shape is None or b.shape is None:
        return False
    pairs = zip(a.shape, b.shape, strict=False)
    return len(a.shape) != len(b.shape) or any(x != y and isinstance(x, int) and isinstance(y, int) for x, y in pairs)


def write_contract(graph: Any, entry: str) -> None:
    """Write the contract into the metadata of a graph, in place of an earlier one."""
    kept = [old for old in graph.metadata_props if old.key != KEY]
    del graph.metadata_props[:]
    graph.metadata_props.extend(kept)
    graph.metadata_props.add(key=KEY, value=entry)


def _named_sizes(
    copies: Mapping[int, GraphProto | FunctionProto], graph: Graph
) -> Iterable[tuple[str, tuple[Size, ...]]]:
    """The declared sizes of the values of an inner graph, in lists that have texts, if the graph is written."""
    proto = copies.get(id(graph.handle))
    if proto is None:
        return ()
    return chain.from_iterable(graph.named if isinstance(proto, GraphProto) else Declared.of(proto).named())


def counterparts(model: Model, copy: ModelProto) -> dict[int, GraphProto | FunctionProto]:
    """The inner graphs and functions of a copy of a model, by the id of the original message."""
    functions = {function_key(f): f for f in copy.functions}
    pending: list[tuple[Any, Any]] = [(model.graph.handle, copy.graph)]
    pending += [(f.handle, functions[key]) for key, f in model.functions.items() if key in functions]
    copies: dict[int, GraphProto | FunctionProto] = {}
    while pending:
        original, same = pending.pop()
        copies[id(original)] = same
        for i, node in enumerate(original.node):
            pending += [(inner, graph_at(same.node[i], *place)) for *place, inner in placed(node)]
    return copies


def write_graph(proto: GraphProto, graph: Graph, scope: Mapping[str, Value]) -> None:
    """Write the types of the values of one graph: outputs and untyped inputs in place, others as value_info.

    Initializers have their type in themselves. Existing entries for them stay, but they get no new value_info.
    """
    input_names = [name for name, _ in graph.inputs]
    fixed = frozenset(graph.constants.keys() - graph.literals)
    _write_infos(proto, 13, scope, fixed.union(input_names, graph.outputs), fixed)
    untyped = {name for name, value in graph.inputs if value is None}
    if graph.defaults:
        untyped.update(name for name, (value, _) in graph.defaults.items() if value is None)
    inputs = [i for i in proto.input if text(i.name) in untyped and not i.type.ByteSize()] if untyped else []
    for info in (*proto.output, *inputs):
        name = text(info.name)
        value = scope.get(name)
        if value is not None:
            write_type(info, value)


def _write_infos(
    proto: GraphProto | FunctionProto,
    number: Literal[12, 13],
    values: Mapping[str, Value],
    without: frozenset[str],
    fixed: frozenset[str],
) -> None:
    """Write types as value infos, without those of `without`.

    An entry without a known type, or in `fixed`, stays as it is; one that holds more than a type gets the new type.
    """
    infos = proto.value_info
    if infos:
        known = {name for name, value in values.items() if value and (value.wire or type_field(value))}
        known.difference_update(fixed)
        bare_names = types_of(infos).bare_names()
        stay, told = [infos[place] for place, bare in enumerate(bare_names) if bare not in known], []
        for info in stay:
            if (name := text(info.name)) in known:
                write_type(info, values[name])
                told.append(name)
        if len(stay) < len(infos):
            del infos[:]
            infos.extend(stay)
        without = without.union(told)
    proto.MergeFromString(value_infos(number, values, without))


def write_type(info: ValueInfoProto, value: Value) -> None:
    """Write a type into a value info; nothing if it is not known.

    What else the value info holds stays; denotations of axes do so if the rank does.
    """
    wire = type_field(value)
    if not wire:
        return
    if is_bare(info.type.SerializeToString()):
        info.ClearField("type")
        info.MergeFromString(wire)
        return
    new = ValueInfoProto.FromString(wire)
    former, tensor = innermost_tensor(info.type), innermost_tensor(new.type)
    if former is not None and tensor is not None:
        if len(former.shape.dim) == len(tensor.shape.dim):
            for old, dim in zip(former.shape.dim, tensor.shape.dim, strict=True):
                old.ClearField("value")
                old.MergeFrom(dim)
                dim.CopyFrom(old)
        former.ClearField("elem_type")
        if tensor.HasField("shape"):
            del former.shape.dim[:]
        else:
            former.ClearField("shape")
    info.MergeFrom(new)
