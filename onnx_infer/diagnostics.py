"""Diagnostics: structured records about nodes. Their text is made only when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import StrictModeError
from onnx_infer.values.text import bounded, node_message, printable
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.operators.schema import Schema
    from onnx_infer.values.tensor import Value


class Diagnostic(NamedTuple):
    """One finding. `severity` is `error` (the node is malformed or breaks its law), `warning` (something is not
    supported or not consistent; inference went on) or `defect` (a rule of this library failed; please report it).

    `operator` is the operator with its version. `node` is the node's name, or its first output if it has no name.
    `inputs` are the formal names of the inputs with their values.
    """

    severity: str
    operator: str
    node: str
    message: str
    inputs: tuple[tuple[str, Value | None], ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        operands = [f"{name}: {value}" for name, value in self.inputs if value is not None]
        operands += [f"{name}={value}" for name, value in self.attributes]
        told = printable(bounded(node_message(self.operator, self.node, self.message)))
        return f"{told}\n  inputs: {printable(bounded(', '.join(operands)))}" if operands else told


class Refusal(Diagnostic):
    """The error of a node that breaks its operator's law. Every run fails there."""

    __slots__ = ()


class WrongShape(Diagnostic):
    """The warning about a declared shape that contradicts the inferred one. A runtime uses the second one, too."""

    __slots__ = ()


def is_raised(diagnostic: Diagnostic) -> bool:
    """Whether strict mode raises it: an error, or a wrong declared shape."""
    return diagnostic.severity == "error" or isinstance(diagnostic, WrongShape)


def about_node(
    severity: str,
    schema: Schema,
    node: str,
    message: str,
    inputs: tuple[Value | None, ...],
    attributes: Mapping[str, object],
) -> Diagnostic:
    """A diagnostic about a node, with its operands named by the operator's schema."""
    formals = schema.inputs
    names = []
    for i in range(len(inputs)):
        formal = formals[min(i, len(formals) - 1)] if formals else None
        names.append(
            "" if formal is None else f"{formal.name}[{i - len(formals) + 1}]" if formal.variadic else formal.name
        )
    shown = tuple((k, _short(v)) for k, v in attributes.items() if isinstance(v, (int, float, str, tuple)))
    return Diagnostic(severity, schema.title, node, message, tuple(zip(names, inputs, strict=True)), shown)


def _short(value: object) -> str:
    text = str(list(value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check(diagnostics: Sequence[Diagnostic], check_type: bool, strict_mode: bool) -> None:
    """Raise the errors among the diagnostics that the caller wants to have raised."""
    errors = list(filter(is_raised, diagnostics))
    if errors and (strict_mode or (check_type and any("element type" in d.message for d in errors))):
        raise StrictModeError("\n  ".join(map(str, errors)))


def log(diagnostics: Sequence[Diagnostic], warn_on_missing: bool) -> None:
    """Log the diagnostics; those about operators without a rule only if `warn_on_missing`."""
    import logging

    logger = logging.getLogger("onnx_infer")
    for diagnostic in diagnostics:
        if warn_on_missing or diagnostic.severity != "warning" or is_raised(diagnostic):
            logger.warning("%s", diagnostic)
