"""Versions of the IR and of opsets, the domains of nodes, and functions, of which none calls itself."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import onnx

from onnx_infer.model.graph import normal_domain
from onnx_infer.operators.known_schemas import newest_known, schema_at
from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.lint.names import function_place, node_label, repeated
from onnx_infer.protobuf.nodes import graphs_of
from onnx_infer.protobuf.reading import function_key
from onnx_infer.values.text import text, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx import FunctionProto, ModelProto, NodeProto

    from onnx_infer.protobuf.lint.names import Scope


_WITH_OPSETS = 3
"""From this IR version on a model imports opsets."""
_MOST = 2**31 - 1


def version_findings(model: ModelProto) -> Iterator[Finding]:
    """The findings about the versions of a model, and about its metadata."""
    ir = model.ir_version
    if ir <= 0:
        yield Finding("ir-version", "model", str(ir), "it is not set")
    elif ir > onnx.IR_VERSION:
        yield Finding("ir-version", "model", str(ir), f"onnx {onnx.__version__} knows {onnx.IR_VERSION}")
    elif ir < _WITH_OPSETS and model.opset_import:
        yield Finding("ir-version", "model", str(ir), "a model of this version imports no opsets")
    if ir >= _WITH_OPSETS and not model.opset_import:
        yield Finding("no-opset", "model", "")
    for owner in (model, *model.functions):
        root = model.graph if owner is model else owner
        used = {normal_domain(text(node.domain)) for graph in graphs_of(root) for node in graph.node}
        for opset in owner.opset_import:
            domain, version = normal_domain(text(opset.domain)), opset.version
            newest = newest_known(domain)
            is_low = version < 1 and newest is not None and domain in used
            if is_low or version > (_MOST if newest is None else newest):
                known = "" if newest is None else f"1 to {newest} are known"
                yield Finding("opset-version", "model", f"{domain or 'ai.onnx'} {version}", known)
    keys = repeated(text(entry.key) for entry in model.metadata_props)
    yield from (Finding("repeated-metadata", "model", key) for key in keys)


def imported(root: Any) -> dict[str, int]:
    """The version that a model or a function imports of each domain, as it is written. `ai.onnx` serves for none."""
    opsets = {text(opset.domain): opset.version for opset in root.opset_import}
    return {"": opsets["ai.onnx"], **opsets} if "ai.onnx" in opsets else opsets


def node_findings(scope: Scope, opsets: dict[str, int]) -> Iterator[Finding]:
    """The findings about the nodes of one graph, under the opsets of its model or function."""
    told: set[str] = set()
    for node in scope.graph.node:
        domain = text(node.domain)
        version = opsets.get(domain)
        if version is None:
            if domain not in told and not scope.is_function:  # `function-opset` is about nodes of functions
                told.add(domain)
                yield Finding("domain-not-imported", scope.place, domain, f"{node_label(node)} is of it")
            continue
        outputs = texts(node.output)
        schema = schema_at(normal_domain(domain), text(node.op_type), version) if "" in outputs else None
        if schema is None or not schema.known:
            continue
        for formal, name in zip(schema.outputs, outputs, strict=False):
            if not (name or formal.optional or formal.variadic):
                yield Finding("unnamed-output", scope.place, formal.name, f"of {schema.title} {node_label(node)}")


_CHECKED = 8
"""From this IR version on onnx's checker looks at functions, and each has a domain."""


def function_findings(model: ModelProto, scopes: Iterable[Scope]) -> Iterator[Finding]:
    """The findings about the functions of a model and their calls, apart from those about names in their bodies."""
    keys = [function_key(f) for f in model.functions]
    functions = dict(zip(keys, model.functions, strict=True))
    yield from (Finding("repeated-function", "model", _title(key)) for key in repeated(keys))
    calls = {key: [_called(n) for graph in graphs_of(f) for n in graph.node] for key, f in functions.items()}
    try:
        TopologicalSorter({key: [to for to in called if to in calls] for key, called in calls.items()}).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        yield Finding("recursive-function", "model", _title(circle[0]), " calls ".join(map(_title, circle)))
    for scope in scopes:
        for node in scope.graph.node:
            function = functions.get(_called(node))
            if function is not None and (told := _surplus(node, function)):
                yield Finding("function-call", scope.place, node_label(node), told)
    known: dict[str, int] = {}
    for root in (*reversed(model.functions), model):  # the first one that imports a domain counts
        known.update(imported(root))
    for function in model.functions:
        yield from _signature(function, model.ir_version)
        yield from _opsets(function, known)


def _called(node: NodeProto) -> tuple[str, str, str]:
    """The key of the function that a node may call."""
    return text(node.domain), text(node.op_type), text(getattr(node, "overload", ""))


def _title(key: tuple[str, str, str]) -> str:
    domain, name, overload = key
    return f"{domain}::{name}{f':{overload}' if overload else ''}"


def _surplus(node: NodeProto, function: FunctionProto) -> str:
    """What a call has more than the function; empty if there is nothing."""
    for what, actual, formal in (("inputs", node.input, function.input), ("outputs", node.output, function.output)):
        if len(actual) > len(formal):
            return f"{len(actual)} {what}, and the function has {len(formal)}"
    return ""


def _signature(function: FunctionProto, ir_version: int) -> Iterator[Finding]:
    place, outputs = function_place(function), texts(function.output)
    if not function.name or (not function.HasField("domain") and ir_version >= _CHECKED):
        yield Finding("unnamed", place, "", "the function" if not function.name else "the domain of the function")
    produced = {name for node in function.node for name in texts(node.output)}
    for what, names in (("output", outputs), ("attribute", texts(function.attribute))):
        for name in repeated(names):
            yield Finding("function-signature", place, name, f"it has this {what} {names.count(name)} times")
    if "" in function.input:
        yield Finding("function-signature", place, "", "an input has no name")
    for name in outputs:
        if name not in produced:
            yield Finding("function-signature", place, name, "no node of it gives this output")


def _opsets(function: FunctionProto, known: dict[str, int]) -> Iterator[Finding]:
    """The opsets of the nodes of a function; `known` are those of the model, and of all functions."""
    place, opsets = function_place(function), imported(function)
    told: set[str] = set()
    for node in function.node:
        domain = text(node.domain)
        if domain in told:
            continue
        version = opsets.get(domain)
        if version is None:
            told.add(domain)
            yield Finding("function-opset", place, domain, f"no opset of it is imported for {node_label(node)}")
        elif version != known[domain]:
            versions = [schema_at(normal_domain(domain), text(node.op_type), each) for each in (version, known[domain])]
            since = [schema and schema.since_version for schema in versions if schema is None or schema.known]
            if len(since) == 2 and since[0] != since[1]:
                told.add(domain)
                detail = f"{version}, and {known[domain]} in the model: {node_label(node)} differs"
                yield Finding("function-opset", place, domain, detail)
