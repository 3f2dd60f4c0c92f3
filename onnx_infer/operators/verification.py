"""Checks of a node against its operator's schema, of a model's inputs, and of a user's rule when it is registered.

A node: number and types of operands, kinds of attributes. Rules check the laws of sizes. A rule: parameters that no
node could fill would leave it uncalled in silence; the tests do the same for the rules of this package.
"""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto

from onnx_infer.errors import ArgumentError, OpUsageError
from onnx_infer.operators.arguments import TENSORS, signature
from onnx_infer.operators.known_schemas import newest_known, record, schema_at
from onnx_infer.operators.schema import ATTRIBUTES, COLLECTIONS, NEWEST, SCALES, SPECIAL, Schema, schema_of_rule
from onnx_infer.types.merge import Conflict, merge
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Map, Optional, Sequence, Sparse, SymTensor, Value
from symdim.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.model.graph import Model
    from onnx_infer.operators.arguments import Declared
    from onnx_infer.operators.rule import Rule
    from onnx_infer.operators.schema import Schema


_CLASSES: dict[int, tuple[str, tuple[type, ...]]] = {
    AttributeProto.INT: ("an integer", (int,)),
    AttributeProto.FLOAT: ("a float", (float, int)),
    AttributeProto.STRING: ("a string", (str,)),
    AttributeProto.TENSOR: ("a tensor", (SymTensor,)),
    AttributeProto.SPARSE_TENSOR: ("a sparse tensor", (Sparse,)),
    AttributeProto.TYPE_PROTO: ("a type", (Value,)),
}
"""Kind of attribute with one value -> its name, and the classes of its value."""

_CLASSES_OF_EACH: dict[int, tuple[str, tuple[type, ...]]] = {
    AttributeProto.INTS: ("a list of integers", (int,)),
    AttributeProto.FLOATS: ("a list of floats", (float, int)),
    AttributeProto.STRINGS: ("a list of strings", (str,)),
}
"""Kind of attribute with a list -> its name, and the classes of the elements."""

_USUAL: dict[int, type] = {AttributeProto.INT: int, AttributeProto.FLOAT: float, AttributeProto.STRING: str}
"""Kind of attribute -> the class of nearly every value."""

_GRAPH, _FLOAT, _TENSOR = map(int, (AttributeProto.GRAPH, AttributeProto.FLOAT, AttributeProto.TENSOR))

_NO_GRAPHS = (int, float, str, tuple, Value, type(None))
"""The classes of the values of all other kinds. A graph has the class that the engine gives it."""

_TENSOR_TEXTS = {number: f"tensor({word})" for word, number in dt.FROM_SCHEMA.items()}


def input_errors(model: Model, values: Mapping[str, Value]) -> Iterator[str]:
    """Errors in the inputs of the main graph: a missing type, or an initializer that contradicts the declared type.

    `values` has the types of constants that are known already.
    """
    for name, value in model.graph.inputs:
        if value is None:
            yield f"graph input '{name}' has no type"
    for name, (declared, handle) in model.graph.defaults.items():
        if name in model.graph.constants and _is_alike(declared, values.get(name)):
            continue
        given = model.header(handle)
        if declared is given or _is_alike(declared, given):
            continue
        conflicts: list[Conflict] = []
        merge(declared, given, "refine", conflicts.append)
        if conflicts:
            yield f"initializer '{name}' is {given}, but the graph input of this name is declared {declared}"


def _is_alike(a: Value | None, b: Value | None) -> bool:
    return isinstance(a, SymTensor) and isinstance(b, SymTensor) and a.dtype == b.dtype and a.shape == b.shape


def check_inputs(schema: Schema, inputs: tuple[Value | str | None, ...]) -> None:
    """Raise `OpUsageError` for a wrong number of inputs (values or names), and for a missing required input: None."""
    if not schema.min_input <= len(inputs) <= schema.max_input:
        raise OpUsageError(f"takes {_number(schema.min_input, schema.max_input, 'input')}, not {len(inputs)}")
    for i, value in enumerate(inputs):
        if value is None and schema.inputs:
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            # operands of independent types (as in Loop) may be left out
            if not formal.optional and (formal.type_str or not formal.variadic):
                raise OpUsageError(f"required input {formal.name} is missing")


def check_attributes(schema: Schema, attributes: Mapping[str, Any]) -> str | None:
    """Why the schema does not allow attributes whose values are clear anyway, or None.

    These are attributes that the operator does not have, integers in place of floats, and tensors with broken sizes.
    Raises `OpUsageError` for a missing required attribute, and for a value of a wrong kind.
    """
    for name in schema.required:
        if name not in attributes:
            raise OpUsageError(f"required attribute {name} is missing")
    misuse = None
    for name, value in attributes.items():
        kind = schema.attributes.get(name)
        if kind is not None:
            if type(value) is _USUAL.get(kind):
                continue
            wrong = _check_attribute(name, kind, value)
            misuse = misuse or (wrong if schema.known else None)
        elif schema.known:
            misuse = misuse or f"the operator has no attribute {name}"
    return misuse


def _check_attribute(name: str, kind: int, value: Any) -> str | None:
    """As `check_attributes`, for the value of one attribute of this kind."""
    if kind in _CLASSES:
        word, classes = _CLASSES[kind]
        if not isinstance(value, classes):
            raise OpUsageError(f"attribute {name} is not {word}: {value}")
        if kind == _FLOAT and type(value) is int:
            return f"attribute {name} is an integer and not a float: {value}"
        if kind == _TENSOR and isinstance(value, SymTensor) and value.shape is None:
            return f"attribute {name} is a tensor with a negative size, or with too many axes: {value}"
    elif kind in _CLASSES_OF_EACH:
        word, classes = _CLASSES_OF_EACH[kind]
        if not isinstance(value, tuple) or not all(issubclass(t, classes) for t in set(map(type, value))):
            raise OpUsageError(f"attribute {name} is not {word}: {value}")
    elif kind == _GRAPH and isinstance(value, _NO_GRAPHS):
        raise OpUsageError(f"attribute {name} is not a graph: {value}")
    return None


def wrong_number(schema: Schema, outputs: int) -> str | None:
    """Why the schema does not allow so many outputs, or None."""
    if not schema.known or schema.min_output <= outputs <= schema.max_output:
        return None
    return f"gives {_number(schema.min_output, schema.max_output, 'output')}, not {outputs}"


def _number(least: int, most: int, what: str) -> str:
    """A number of inputs or outputs.

    >>> _number(1, 1, "input"), _number(3, 5, "input"), _number(1, 2**31 - 1, "output")
    ('1 input', '3 to 5 inputs', '1 or more outputs')
    """
    count = f"{least} or more" if most >= 2**31 - 1 else f"{least} to {most}" if least != most else f"{least}"
    return f"{count} {what}{'s' * (count != '1')}"


def check_types(schema: Schema, inputs: tuple[Value | None, ...], outputs: tuple[Value, ...]) -> str | None:
    """Why the schema does not allow a node whose sizes are clear anyway, or None.

    The reasons are outputs that the operator does not have, element types that it does not allow, and different types
    for one type variable.
    """
    if not schema.known:
        return None
    if wrong := wrong_number(schema, len(outputs)):
        return wrong
    bound: dict[str, str] = {}
    for formals, values in ((schema.inputs, inputs), (schema.outputs, outputs)):
        last = len(formals) - 1
        for i, value in enumerate(values):
            text = type_text(value)
            formal = formals[min(i, last)]
            type_str = formal.type_str or formal.each
            if text is None or not type_str:
                continue
            if text not in schema.constraints.get(type_str, (type_str,)):
                return f"{formal.name} has element type {text}, which the operator does not admit"
            if formal.type_str and bound.setdefault(type_str, text) != text:
                return f"element types of {type_str} differ: {formal.name} has {text} != {bound[type_str]}"
    return None


def type_text(value: Value | None) -> str | None:
    """The type in the spelling of operator schemas, `seq(tensor(float))`; None for unknown types.

    >>> type_text(SymTensor(1, (2,))), type_text(Sequence(SymTensor(7))), type_text(Map(7, SymTensor(8)))
    ('tensor(float)', 'seq(tensor(int64))', 'map(int64, string)')
    """
    if isinstance(value, SymTensor):
        return _TENSOR_TEXTS.get(value.dtype or 0)
    if isinstance(value, Sparse):
        inner = _TENSOR_TEXTS.get(value.dtype or 0)
        return inner and f"sparse_{inner}"
    if isinstance(value, (Sequence, Optional)):
        inner = type_text(value.elem)
        return inner and f"{'seq' if isinstance(value, Sequence) else 'optional'}({inner})"
    if isinstance(value, Map):
        key, inner = _TENSOR_TEXTS.get(value.key), type_text(value.value)
        return inner and key and f"map({_element(key)}, {_element(inner)})"
    return None


def _element(text: str) -> str:
    # schemas write the elements of maps without `tensor`
    return text.removeprefix("tensor(").removesuffix(")") if text.startswith("tensor(") else text


_PLAIN = {"int", "float", "bool", "str"}
_NUMBERS = {"Dim", "Ints", "Sizes", "FlatSizes", "Floats"}
_CURE = "write SymTensor or AnyRank for a tensor, Dim for the element of a scalar, Ints for those of a vector"


def check_parameters(rules: list[Rule]) -> None:
    """Raise `ArgumentError` for a parameter that no operator of a rule has, or whose annotation cannot hold.

    The `rules` have one function, each for an operator.

    >>> from onnx_infer.rules import op
    >>> op("Concat", replace=True)(lambda inputs, axes: None)
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ArgumentError: the rule <lambda> of Concat: 'axes' is not in the schema: do you mean 'axis'?
    """
    rule, newest = rules[0], newest_known(rules[0].domain)
    if not hasattr(unwrap(rule.shape), "__code__") or (newest is not None and rule.since > newest):
        return  # nobody knows what a later version will have
    schemas = [schema for each in rules for schema in _schemas(each)]
    for p in signature(rule.shape):
        if p.name in SPECIAL or p.want in {SCALES, *COLLECTIONS}:
            continue
        wrong = _fault_of_known(p, schemas) if schemas else _fault(p, schema_of_rule(rule), rule.inputs)
        if wrong:
            title = f"{rule.domain}::{rule.name}" if rule.domain else rule.name
            raise ArgumentError(f"the rule {unwrap(rule.shape).__name__} of {title}: {p.name!r} {wrong}")


def _schemas(rule: Rule) -> Iterator[Schema]:
    """The versions of the operator that are known."""
    for version in (*record().versions(rule.domain, rule.name), rule.since, NEWEST):
        found = schema_at(rule.domain, rule.name, version)
        if found is not None:
            yield found


def _fault(p: Declared, derived: Schema, inputs: str | None) -> str:
    """What is wrong with a parameter of an operator without a schema; empty if nothing is."""
    if p.want in _PLAIN and inputs is None and any(f.name == p.name for f in derived.inputs):
        return f"is an input, and {p.want} is not a form of a tensor: {_CURE}; an attribute comes after *"
    return ""


def _fault_of_known(p: Declared, schemas: list[Schema]) -> str:
    """What is wrong with a parameter in every version of the operator; empty if nothing is."""
    formals = [(s, f) for s in schemas for f in s.inputs if f.name == p.name]
    kinds = [s.attributes[p.name] for s in schemas if p.name in s.attributes]
    if not formals and not kinds:
        names = sorted({name for s in schemas for name in (*s.attributes, *(f.name for f in s.inputs))})
        meant = nearest(p.name, names)
        return f"is not in the schema: {f'do you mean {meant!r}?' if meant else 'it has ' + ', '.join(names)}"
    if kinds:  # in some versions it may be an input, too
        wanted = [text for kind in kinds for text in ATTRIBUTES.get(kind, ())]
        is_wrong = wanted and not formals and p.want in TENSORS
        return f"is an attribute: write {wanted[0]}, not {p.want}" if is_wrong else ""
    types = " ".join(t for s, f in formals for t in s.constraints.get(f.type_str, [f.type_str or f.each]))
    if p.want in _PLAIN and "float" in types:
        return f"is an input, and {p.want} is not a form of a tensor: {_CURE}"
    if p.want in _NUMBERS and not any(word in types for word in ("int", "float", "bool")):
        return f"has no numbers, so it is never {p.want}: write SymTensor, AnyRank or Value"
    return ""
