"""Operator schemas as plain data, read once per operator and version from onnx, or from a rule's own signature."""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import onnx.defs
from onnx import AttributeProto

from onnx_infer.laws.windows import Windows
from onnx_infer.operators.annotations import annotation_texts
from onnx_infer.operators.later_schemas import LATER
from onnx_infer.values import dtype as dt
from onnx_infer.values.text import printable

if TYPE_CHECKING:
    from onnx_infer.operators.later_schemas import Signature
    from onnx_infer.operators.rule import Rule

SPECIAL = frozenset({"output_count", "output_dtype", "since_version"})
"""Parameters of rules that are not names of the schema."""

COLLECTIONS = {"Windows": Windows}
"""Kinds of parameters that collect several attributes. Each field has an attribute's name; its default means absent."""

ATTRIBUTES = {
    AttributeProto.INT: ("int", "Dim", "bool"),
    AttributeProto.FLOAT: ("float",),
    AttributeProto.STRING: ("str",),
    AttributeProto.INTS: ("Ints", "Sizes", "IntVector", "tuple[int, ...]"),
    AttributeProto.FLOATS: ("Floats", "tuple[float, ...]"),
    AttributeProto.STRINGS: ("Strings", "tuple[str, ...]"),
    AttributeProto.GRAPH: ("Graph",),
}
"""Kind of attribute -> the annotations of parameters that ask for it."""

NEWEST = 1 << 30
"""The version for a domain that is not imported: the newest."""


class Formal(NamedTuple):
    """A formal input or output: its name, its type string (`T`, `tensor(int64)`, `seq(T)`), optional, variadic.

    The type string is empty if every actual value may have a different type.
    """

    name: str
    type_str: str
    optional: bool = False
    variadic: bool = False
    each: str = ""
    """The type string for operands of independent types."""


class Schema(NamedTuple):
    """The parts of an operator schema that inference needs. `constraints`: type variable -> allowed type strings."""

    domain: str
    name: str
    since_version: int
    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    defaults: dict[str, Any]
    required: frozenset[str]
    constraints: dict[str, frozenset[str]]
    min_input: int
    max_input: int
    known: bool = True
    """Whether onnx has this schema. Otherwise it was derived from the rule, and the rule gives the output types."""
    attributes: dict[str, int] = {}  # noqa: RUF012  (never changed)
    """Every attribute with the number of its kind (`AttributeProto.AttributeType`)."""
    min_output: int = 0
    max_output: int = 2**31 - 1

    @property
    def title(self) -> str:
        """`Concat-13`, or `com.microsoft::FusedConv-1`."""
        return (
            f"{self.domain}::{self.name}-{self.since_version}" if self.domain else f"{self.name}-{self.since_version}"
        )


def exists(domain: str, name: str, version: int) -> bool:
    """Whether an operator exists at an opset version. An operator that onnx does not know is assumed to exist.

    >>> exists("", "Gelu", 19), exists("", "Gelu", 20), exists("com.acme", "MyOp", 1)
    (False, True, True)
    """
    name, domain = printable(name), printable(domain)
    return onnx.defs.has(name, _bounded(version), domain) or not onnx.defs.has(name, domain=domain)


def find_schema(domain: str, name: str, version: int) -> onnx.defs.OpSchema | None:
    """onnx's schema that serves an operator at an opset version; the newest known one for later versions."""
    version = min(version, onnx.defs.onnx_opset_version()) if domain == "" else version
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


def schema_of_rule(rule: Rule) -> Schema:
    """The schema of an operator that onnx does not have, derived from its rule.

    The parameters before `*` are the inputs in order, unless the rule was registered with `inputs`. All others are
    attributes, of the kinds that their annotations say. A default or `None` makes an input or attribute optional. A
    function on the context determines nothing.
    """
    domain, name, since, function = rule.domain, rule.name, rule.since, unwrap(rule.shape)
    if domain == "" and name in LATER:
        return schema_of_signature(name, since, LATER[name])
    if rule.style == "context":
        return Schema(domain, name, since, (), (), {}, frozenset(), {}, 0, 2**31 - 1, known=False)
    code, annotations = function.__code__, annotation_texts(function)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional, defaults = parameters[: code.co_argcount], function.__defaults__ or ()
    optional = {*positional[len(positional) - len(defaults) :], *(function.__kwdefaults__ or {})}
    optional |= {p for p in parameters if "None" in annotations.get(p, "") or annotations.get(p) in COLLECTIONS}
    if rule.inputs is None:
        kinds = ("Variadic", "AnyRanks", "Values")
        inputs = [Formal(p, "T", p in optional, annotations.get(p, "").startswith(kinds)) for p in positional]
    else:
        inputs = [Formal(p.rstrip("?*"), "T", p.endswith("?"), p.endswith("*")) for p in rule.inputs.split()]
    least = 1 + max((i for i, f in enumerate(inputs) if not f.optional), default=-1)
    most = 2**31 - 1 if any(f.variadic for f in inputs) else len(inputs)
    required = frozenset(parameters) - optional - SPECIAL - {f.name for f in inputs}
    given = {p: annotations.get(p, "") for p in parameters if p not in SPECIAL and p not in {f.name for f in inputs}}
    for collection in {COLLECTIONS[text] for text in given.values() if text in COLLECTIONS}:
        given |= annotation_texts(collection)
    attributes = {p: kind for p, text in given.items() if (kind := _attribute_kind(text)) is not None}
    return Schema(
        domain, name, since, tuple(inputs), (), {}, required, {}, least, most, known=False, attributes=attributes
    )


def _attribute_kind(annotation: str) -> int | None:
    """The kind of attribute that an annotation asks for, or None."""
    text = annotation.partition("|")[0].strip()
    return next((kind for kind, texts in ATTRIBUTES.items() if text in texts), None)


def schema_of_signature(name: str, since: int, signature: Signature) -> Schema:
    """The schema of an operator that newer versions of onnx have, but the installed one has not."""

    def formals(text: str) -> tuple[Formal, ...]:
        return tuple(
            Formal(name.rstrip("?"), type_str, name.endswith("?"))
            for name, _, type_str in (word.partition(":") for word in text.split())
        )

    inputs, required = formals(signature.inputs), frozenset(signature.required)
    least = sum(not formal.optional for formal in inputs)
    given, defaults = formals(signature.outputs), dict(signature.defaults)
    return Schema("", name, since, inputs, given, defaults, required, {}, least, len(inputs), known=False)


def opened(schema: Schema) -> Schema:
    """The schema for nodes of an opset that onnx does not know: inputs, attributes and types may have been added."""
    return schema._replace(known=False, max_input=2**31 - 1, max_output=2**31 - 1)


def fixed_dtype(schema: Schema, type_str: str) -> int | None:
    """The element type if a type string, or a constraint with one member, determines it; else None.

    >>> fixed_dtype(read_schema(find_schema("", "Shape", 13)), "tensor(int64)")
    7
    """
    allowed = schema.constraints.get(type_str)
    if allowed is not None:
        if len(allowed) != 1:
            return None
        (type_str,) = allowed
    inner = type_str[type_str.rfind("(", 0, len(type_str) - 1) + 1 :].rstrip(")")
    return dt.FROM_SCHEMA.get(inner)
