"""The check of a user's rule when it is registered.

Parameters that no node could fill would leave a rule uncalled in silence. The tests check the rules of this package.
"""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING

from onnx_infer.errors import ArgumentError
from onnx_infer.operators.arguments import TENSORS, signature
from onnx_infer.operators.known_schemas import newest_known, record, schema_at
from onnx_infer.operators.schema import ATTRIBUTES, COLLECTIONS, NEWEST, SCALES, SPECIAL, schema_of_rule
from symdim.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.operators.arguments import Parameter
    from onnx_infer.operators.rule import Rule
    from onnx_infer.operators.schema import Schema

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
        schema = schema_at(rule.domain, rule.name, version)
        if schema is not None:
            yield schema


def _fault(p: Parameter, derived: Schema, inputs: str | None) -> str:
    """What is wrong with a parameter of an operator without a schema; empty if nothing is."""
    if p.want in _PLAIN and inputs is None and any(f.name == p.name for f in derived.inputs):
        return f"is an input, and {p.want} is not a form of a tensor: {_CURE}; an attribute comes after *"
    return ""


def _fault_of_known(p: Parameter, schemas: list[Schema]) -> str:
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
