"""Errors: a malformed node, a contradiction, and what is merely unknown."""

from __future__ import annotations

from onnx.shape_inference import InferenceError


class OnnxInferError(ValueError):
    """Base of the errors that inference raises."""


class OpUsageError(OnnxInferError):
    """The node does not follow its operator's schema: its arity, a missing input, a missing or misused attribute."""


class ShapeInferenceError(OnnxInferError):
    """The node contradicts its operator's law: an axis out of range, ranks or sizes that provably differ."""


class NoModelError(OnnxInferError):
    """The bytes or the file hold no ONNX model."""


class StrictModeError(ShapeInferenceError, InferenceError):  # type: ignore[misc]  # onnx's class is untyped
    """Raised in strict mode with every diagnostic; it is onnx's `InferenceError` too."""


class Unknown(Exception):  # noqa: N818  (not an error: the honest answer)
    """What a rule raises, or is given, where its result cannot be known; the note says why.

    >>> str(Unknown("the value of axes is not known"))
    'the value of axes is not known'
    """

    @property
    def note(self) -> str:
        """Why it is not known."""
        return str(self.args[0]) if self.args else ""


def require(condition: object, law: str, *values: object) -> None:
    """Raise `ShapeInferenceError` with the law and the values that break it, unless the condition holds.

    >>> require(2 < 1, "axis is out of range", 2)
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ShapeInferenceError: axis is out of range: 2
    """
    if not condition:
        raise ShapeInferenceError(broken(law, *values))


def broken(law: str, *values: object) -> str:
    """The message of a law and the values that break it.

    >>> broken("sizes differ", 2, 3)
    'sizes differ: 2 != 3'
    """
    shown = " != ".join(map(str, values)) if len(values) == 2 else ", ".join(map(str, values))
    return f"{law}: {shown}" if values else law
