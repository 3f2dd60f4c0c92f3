"""The annotations of a rule's parameters as text, whether the module that has the rule evaluates them or not."""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from collections.abc import Callable


def annotation_texts(function: Callable[..., Any]) -> dict[str, str]:
    """Parameter -> its annotation as it is written: `Ints | None`.

    >>> from onnx_infer.ops.kinds import Ints
    >>> def rule(X: "SymTensor", axes: Ints | None, axis: int = 0): ...
    >>> list(annotation_texts(rule).values()) == ["SymTensor", "Ints | None", "int"]
    True
    """
    return {name: _text(annotation) for name, annotation in unwrap(function).__annotations__.items()}


def _text(annotation: Any) -> str:
    """The text of an annotation; a kind of parameter is an alias that carries its name (`onnx_infer/ops/kinds.py`)."""
    if isinstance(annotation, str):
        return annotation.replace('"', "").replace("'", "")  # of an annotation that is quoted where none is evaluated
    if names := getattr(annotation, "__metadata__", ()):
        return str(names[0])
    if annotation is type(None):
        return "None"
    if isinstance(annotation, type):
        return annotation.__name__
    return " | ".join(map(_text, get_args(annotation)))
