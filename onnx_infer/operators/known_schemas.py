"""Which schema serves an operator at an opset version: the recorded one, or onnx's if it is newer or not onnx's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx.defs

from onnx_infer.operators.recorded_schemas import record
from onnx_infer.operators.schema import NEWEST, Formal, Schema
from onnx_infer.values.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping


def _of_onnx(domain: str) -> int | None:
    """The newest opset of a domain for which the installed onnx has schemas, or None. This does not build schemas."""
    newest: int | None = onnx.defs.C.schema_version_map().get(domain, (0, None))[1]
    return newest


def newest_known(domain: str) -> int | None:
    """The newest opset of a domain of onnx of which the schemas are known, None for another domain."""
    recorded = record().opsets.get(domain)
    return recorded and max(recorded, _of_onnx(domain) or 0)


def exists(domain: str, name: str, version: int) -> bool:
    """Whether an operator exists at an opset version. An operator that onnx does not know is assumed to exist.

    >>> exists("", "Gelu", 19), exists("", "Gelu", 20), exists("com.acme", "MyOp", 1)
    (False, True, True)
    """
    if versions := record().versions(domain, name):
        return min(versions) <= version
    if _of_onnx(domain) is None:
        return True
    name, domain = printable(name), printable(domain)
    return onnx.defs.has(name, _bounded(version), domain) or not onnx.defs.has(name, domain=domain)


def schema_at(domain: str, name: str, version: int) -> Schema | None:
    """The schema that serves an operator at an opset version; the newest known one for later versions."""
    known = newest_known(domain)
    version = version if known is None else min(version, known)
    if version <= record().opsets.get(domain, -1) and record().versions(domain, name):
        return record().find(domain, name, version)
    found = find_schema(domain, name, version)
    return None if found is None else read_schema(found)


def find_schema(domain: str, name: str, version: int) -> onnx.defs.OpSchema | None:
    """onnx's schema that serves an operator at an opset version; the newest known one for later versions."""
    newest = _of_onnx(domain)
    if newest is None:
        return None
    version = min(version, newest) if domain == "" else version
    try:
        return onnx.defs.get_schema(printable(name), _bounded(version), printable(domain))
    except onnx.defs.SchemaError:
        return None


def _bounded(version: int) -> int:
    """The version limited to 32 bits, for onnx. An opset import has 64 bits."""
    return min(max(version, 0), NEWEST)


def read_schema(schema: onnx.defs.OpSchema) -> Schema:
    """The plain data of onnx's schema object."""
    option = onnx.defs.OpSchema.FormalParameterOption

    def formal(p: Any) -> Formal:
        type_str = p.type_str if p.is_homogeneous else ""
        optional, variadic = p.option == option.Optional, p.option == option.Variadic
        return Formal(p.name, type_str, optional, variadic, "" if type_str else p.type_str)

    from onnx_infer.model.attributes import attribute_value

    attributes = schema.attributes
    return Schema(
        schema.domain,
        schema.name,
        schema.since_version,
        tuple(map(formal, schema.inputs)),
        tuple(map(formal, schema.outputs)),
        {name: attribute_value(a.default_value) for name, a in attributes.items() if a.default_value.name},
        frozenset(name for name, a in attributes.items() if a.required),
        {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints},
        schema.min_input,
        schema.max_input,
        True,
        {name: a.type.value for name, a in attributes.items()},
        schema.min_output,
        schema.max_output,
    )


def outdated(opsets: Mapping[str, int]) -> str | None:
    """The warning about opsets that are newer than the known schemas; None if all are known.

    >>> outdated({"": 20, "com.acme": 99}) is None
    True
    """
    told, recorded = [], record().opsets
    later = [(domain, version) for domain, version in opsets.items() if version > recorded.get(domain, version)]
    for domain, version in sorted(later):
        known = newest_known(domain)
        if known is not None and version > known:
            told.append(f"opset {version} of {domain or 'ai.onnx'}, of which {known} is the newest known")
    if not told:
        return None
    return (
        f"the installed onnx {onnx.__version__} is older than the model, which imports {' and '.join(told)}: "
        "nodes are not checked against schemas that changed since; install a newer onnx"
    )
