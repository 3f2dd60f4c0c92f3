"""Registration of constraint forms, and the binding of a node's operands by the names of its schema.

A form is a function. As in an inference rule, its parameters are the schema's names of inputs and attributes
(`onnx_infer.operators.arguments`). An input is annotated `Row`, a variadic one `Rows`. `Ints`, `int`, `str` ask for
values, `Operand` for row and value. `| None` and `| Unknown` have the same meaning as in rules. Four names are not from
the schema: `s`, the `Relations` of the node; `operands`, the inputs that are present; `out`, the first output; `outs`,
all outputs.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any

from onnx_infer.constraints.relations import Relations
from onnx_infer.errors import Unknown
from onnx_infer.operators.arguments import NOT_GIVEN, Parameter, collected, parameters, reader
from onnx_infer.operators.registration import OpShapeInferenceRegistry
from symdim import Expr
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx_infer.operators.schema import Schema
    from onnx_infer.values.tensor import Value
    from symdim.rows import Row
    from symdim.store import Store

_INTEGERS = {"Ints", "int", "Dim"}


class Operand(NamedTuple):
    """An input or output of a node: its name, its row, and a function that returns its value with elements."""

    name: str
    row: Row
    value: Callable[[], Value | None]


class BoundForm:
    """A form bound to one version of an operator."""

    def __init__(self, function: Callable[..., None], schema: Schema) -> None:
        self.function, self.schema = function, schema
        special = {"s", "operands", "out", "outs"}
        asked = parameters(function, schema)
        self.takes = special.intersection(p.name for p in asked)
        self.parameters = tuple(p for p in asked if p.name not in special)

    def state(
        self,
        store: Store,
        node: str,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand | None],
        attributes: Mapping[str, Any],
    ) -> Relations | None:
        """State the relations of a node; None if something that the form asks for is not known.

        Raises ShapeInferenceError for attributes that contradict the operator's law.
        """
        rows = {x.row: x.name for x in (*outputs, *inputs) if x is not None}
        statement = Relations(store, node, rows)
        arguments: dict[str, Any] = {}
        try:
            for p in self.parameters:
                arguments[p.name] = self._argument(p, inputs, attributes)
            if "out" in self.takes:
                arguments["out"] = _row(outputs[0] if outputs else None, "the output")
            if "operands" in self.takes:
                arguments["operands"] = tuple(x.row for x in inputs if x is not None)
            if "outs" in self.takes:
                arguments["outs"] = tuple(None if x is None else x.row for x in outputs)
            self.function(statement, **arguments)
        except Unknown:
            return None
        return statement

    def _argument(self, p: Parameter, inputs: Sequence[Operand | None], attributes: Mapping[str, Any]) -> Any:
        if p.source == "special":
            return self.schema.since_version
        if p.source == "attributes":
            return collected(p, attributes)
        if p.source == "variadic":
            return tuple(_row(x, p.name) for x in inputs[p.at :])
        operand = inputs[p.at] if p.source == "input" and p.at < len(inputs) else None
        if p.source == "attribute" or (operand is None and p.name in attributes):
            value = attributes.get(p.name, None if p.default is NOT_GIVEN else p.default)
        elif p.want == "Operand":
            if operand is None:
                raise Unknown(f"{p.name} is absent")
            return operand
        elif p.want == "Row":
            return None if operand is None and p.admits_none else _row(operand, p.name)
        else:
            known = None if operand is None else operand.value()
            value = None if known is None else reader(p)(known, p.name)
            _check_integers(p, value)
        if value is None and not p.admits_none:
            raise Unknown(f"{p.name} is absent")
        return value


def _check_integers(p: Parameter, value: Any) -> None:
    """Raise `Unknown` for other elements where a form asks for integers: the input has an element type of its own."""
    numbers = value if isinstance(value, (tuple, list)) else (value,)
    if p.want in _INTEGERS and not all(isinstance(x, (int, Expr, Unknown, NoneType)) for x in numbers):
        raise Unknown(f"{p.name} has elements that are not integers")


def _row(operand: Operand | None, name: str) -> Row:
    if operand is None:
        raise Unknown(f"{name} is absent")
    return operand.row


FAMILIES = (
    "elementwise", "linear", "window", "movement", "reshaping", "indexing", "reduction", "attention",
)  # fmt: skip


def _load_families(_: tuple[str, str] | None) -> None:
    from importlib import import_module

    for family in FAMILIES:
        import_module(f"onnx_infer.constraints.{family}")


forms = OpShapeInferenceRegistry(load=_load_families)
"""The forms by (domain, operator, since version). Families load at the first look-up."""

form = forms.op
"""Decorator: register a form for the operators of these names."""


def bound_form(domain: str, op_type: str, version: int, schema: Schema) -> BoundForm | None:
    """The form of an operator, bound to the version of the schema; None if it has no form."""
    rule = forms.get(domain, op_type, version)
    if rule is None:
        return None
    return BoundForm(rule.shape, schema)
