"""The bodies of operator schemas as functions, for operators without a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx

from onnx_infer.operators.known_schemas import find_schema, read_schema
from onnx_infer.operators.registration import normal_domain
from onnx_infer.protobuf.wire import type_bytes
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.model.graph import Function, Node
    from onnx_infer.values.tensor import Value

_read = shared_cache(1 << 12)  # everything on which the body of a schema depends -> Function or None


def schema_function(
    read: Callable[[bytes], Function],
    message: Callable[[Node], bytes],
    node: Node,
    version: int,
    inputs: list[Value | None],
) -> Function | None:
    """The body of an operator's schema at an opset version, or None if it has none.

    If the body depends on the node and the types of its inputs, there is one body for each combination. `read` makes
    the view of a FunctionProto from its bytes. `message` returns the bytes of a node's NodeProto.
    """
    schema = find_schema(normal_domain(node[1]), node[0], version)
    if schema is None:
        return None
    key: tuple[Any, ...] = (node[1], node[0], schema.since_version)
    if schema.has_context_dependent_function:
        key += (node[4], *(None if x is None else type_bytes(x) for x in inputs))
    found: Function | bool | None = _read.get(key, False)
    if found is False:
        found = _read[key] = _read_function(schema, node, version, inputs, key, message, read)
    return found  # type: ignore[return-value]


def _read_function(
    schema: onnx.defs.OpSchema,
    node: Node,
    version: int,
    inputs: list[Value | None],
    key: tuple[Any, ...],
    message: Callable[[Node], bytes],
    read: Callable[[bytes], Function],
) -> Function | None:
    if schema.has_function:
        wanted = max((v for v in schema.function_opset_versions if v <= version), default=schema.since_version)
        text = schema.get_function_with_opset_version(wanted)
    elif schema.has_context_dependent_function:
        types = [b"" if x is None else type_bytes(x) for x in inputs]
        versions = schema.context_dependent_function_opset_versions
        wanted = max((v for v in versions if v <= version), default=schema.since_version)
        text = schema.get_context_dependent_function_with_opset_version(wanted, message(node), types)
    else:
        return None
    function = read(text)
    overload = " ".join(str(part) for part in (schema.since_version, *map(repr, key[4:])))
    return function._replace(attributes=read_schema(schema).defaults, overload=f"schema {overload}")
