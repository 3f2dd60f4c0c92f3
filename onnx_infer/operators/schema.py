"""Operator schemas and rules as plain data: schemas of onnx, and those that a rule's own signature tells."""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any, get_args, get_origin

from onnx import AttributeProto

from onnx_infer.laws.windows import Windows
from onnx_infer.values import dtype as dt
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.operators.rule import Rule


SPECIAL = frozenset({"output_count", "output_dtype", "since_version"})
"""Parameters of rules that are not names of the schema."""

COLLECTIONS = {"Windows": Windows}
"""Kinds of parameters that collect several attributes. Each field has an attribute's name; its default means absent."""

ATTRIBUTES = {
    AttributeProto.INT: ("int", "Dim", "bool"),
    AttributeProto.FLOAT: ("float",),
    AttributeProto.STRING: ("str",),
    AttributeProto.INTS: ("Ints", "Sizes", "FlatSizes", "IntVector", "tuple[int, ...]"),
    AttributeProto.FLOATS: ("Floats", "tuple[float, ...]"),
    AttributeProto.STRINGS: ("Strings", "tuple[str, ...]"),
    AttributeProto.GRAPH: ("Graph",),
}
"""Kind of attribute -> the annotations of parameters that ask for it."""

SCALES = "Scales"
"""The kind of a parameter that collects the scales and zero points of quantized tensors, by the names of the inputs."""

NEWEST = 1 << 30
"""The version for a domain that is not imported: the newest."""

ANY_NUMBER = 2**31 - 1
"""The most operands of an operator that sets no limit."""


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
    parameter: str = ""
    """The parameter of the rule that takes it; empty if it has the same name."""


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
    max_output: int = ANY_NUMBER

    @property
    def title(self) -> str:
        """`Concat-13`, or `com.microsoft::FusedConv-1`."""
        return (
            f"{self.domain}::{self.name}-{self.since_version}" if self.domain else f"{self.name}-{self.since_version}"
        )


def schema_of_rule(rule: Rule) -> Schema:
    """The schema of an operator that onnx does not have, derived from its rule.

    The parameters before `*` are the inputs in order, unless the rule was registered with `inputs`. All others are
    attributes, of the kinds that their annotations say. A default or `None` makes an input or attribute optional. A
    function on the context determines nothing.
    """
    domain, name, since, function = rule.domain, rule.name, rule.since, unwrap(rule.shape)
    if rule.style == "context":
        return Schema(domain, name, since, (), (), {}, frozenset(), {}, 0, ANY_NUMBER, known=False)
    code, annotations = function.__code__, annotation_texts(function)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional, defaults = parameters[: code.co_argcount], function.__defaults__ or ()
    optional = {*positional[len(positional) - len(defaults) :], *(function.__kwdefaults__ or {})}
    optional |= {
        p for p in parameters if "None" in annotations.get(p, "") or annotations.get(p) in {SCALES, *COLLECTIONS}
    }
    if rule.inputs is None:
        kinds = ("Variadic", "AnyRanks", "Values")
        inputs = [Formal(p, "T", p in optional, annotations.get(p, "").startswith(kinds)) for p in positional]
    else:
        inputs = [_formal(text) for text in rule.inputs.split()]
    operands = {f.parameter or f.name for f in inputs}
    least = 1 + max((i for i, f in enumerate(inputs) if not f.optional), default=-1)
    most = ANY_NUMBER if any(f.variadic for f in inputs) else len(inputs)
    required = frozenset(parameters) - optional - SPECIAL - operands
    texts = {p: annotations.get(p, "") for p in parameters if p not in SPECIAL and p not in operands}
    for collection in {COLLECTIONS[text] for text in texts.values() if text in COLLECTIONS}:
        texts |= annotation_texts(collection)
    attributes = {p: kind for p, text in texts.items() if (kind := _attribute_kind(text)) is not None}
    return Schema(
        domain, name, since, tuple(inputs), (), {}, required, {}, least, most, known=False, attributes=attributes
    )


def _formal(text: str) -> Formal:
    """The input that a word of `inputs` names: `X`, `W=B?` for one that the parameter B takes, `rest*`."""
    name, _, parameter = text.rstrip("?*").partition("=")
    return Formal(name, "T", "?" in text, text.endswith("*"), parameter=parameter)


def _attribute_kind(annotation: str) -> int | None:
    """The kind of attribute that an annotation asks for, or None."""
    text = annotation.partition("|")[0].strip()
    return next((kind for kind, texts in ATTRIBUTES.items() if text in texts), None)


def opened(schema: Schema) -> Schema:
    """The schema for nodes of an opset that onnx does not know: inputs, attributes and types may have been added."""
    return schema._replace(known=False, max_input=ANY_NUMBER, max_output=ANY_NUMBER)


def fixed_dtype(schema: Schema, type_str: str) -> int | None:
    """The element type if a type string, or a constraint with one member, determines it; else None.

    >>> from onnx_infer.operators.known_schemas import schema_at
    >>> fixed_dtype(schema_at("", "Shape", 13), "tensor(int64)")
    7
    """
    allowed = schema.constraints.get(type_str)
    if allowed is not None:
        if len(allowed) != 1:
            return None
        (type_str,) = allowed
    inner = type_str[type_str.rfind("(", 0, len(type_str) - 1) + 1 :].rstrip(")")
    return dt.FROM_SCHEMA.get(inner)


def annotation_texts(function: Callable[..., Any]) -> dict[str, str]:
    """Parameter -> its annotation as written, such as `Ints | None`.

    >>> from onnx_infer.ops.kinds import Ints
    >>> def rule(X: "SymTensor", axes: Ints | None, axis: int = 0): ...
    >>> list(annotation_texts(rule).values()) == ["SymTensor", "Ints | None", "int"]
    True
    """
    return {name: _text(annotation) for name, annotation in unwrap(function).__annotations__.items()}


def _text(annotation: Any) -> str:
    """The text of an annotation. Kinds of parameters are aliases with their names (`onnx_infer/ops/kinds.py`)."""
    annotation = getattr(annotation, "__forward_arg__", annotation)  # of a field of a NamedTuple
    if isinstance(annotation, str):
        return annotation.replace('"', "").replace("'", "")  # quotes of annotations that are not evaluated anyway
    if names := getattr(annotation, "__metadata__", ()):
        return str(names[0])
    if annotation is type(None):
        return "None"
    if get_origin(annotation) is tuple:
        return str(annotation)
    if isinstance(annotation, type):
        return annotation.__name__
    return " | ".join(map(_text, get_args(annotation)))
