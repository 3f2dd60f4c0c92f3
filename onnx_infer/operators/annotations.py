"""The annotations of a rule's parameters as text, whether they are evaluated or not."""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable


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
