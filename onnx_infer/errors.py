"""Errors: a malformed node, a contradiction, wrong arguments; and `Unknown`, which is not an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx.shape_inference import InferenceError

from symdim.algebra.expr import Expr
from symdim.algebra.texts.printing import shortened
from symdim.errors import UnboundName, nearest, printable_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim import Dim


_MOST_NAMES = 12
"""The most names in a message."""


class OnnxInferError(ValueError):
    """The base class of the errors that inference raises."""

    def __str__(self) -> str:
        return printable_lines(super().__str__())


class OpUsageError(OnnxInferError):
    """A node does not follow its operator's schema: a wrong arity, a missing input, a missing or wrong attribute."""


class ShapeInferenceError(OnnxInferError):
    """A node contradicts its operator's law: an axis out of range, ranks or sizes that provably differ."""


class InputValueError(OnnxInferError):
    """What the caller gives for an input, its elements or its shape, does not fit the model."""


class ArgumentError(OnnxInferError, TypeError):
    """An argument of a call is of a wrong kind. The message says how to write it."""


class NoModelError(OnnxInferError):
    """The bytes or the file are not an ONNX model."""


class PlanError(OnnxInferError):
    """A plan of memory would let two values overlap that are needed at one time."""


class ExternalDataError(OnnxInferError):
    """The weights beside a model would not be found from where it is to be written; nothing was written."""


class UnknownSymbol(OnnxInferError, UnboundName):  # noqa: N818  (named as its base)
    """An option names symbols that the model does not have.

    >>> print(UnknownSymbol("assume", ["Q"], ["N", "H"]))
    assume: the model has no symbol 'Q'; its symbols are 'H', 'N'
    >>> print(UnknownSymbol("sizes", ["bath"], ["batch", "seq"]))
    sizes: the model has no symbol 'bath'; its symbols are 'batch', 'seq'; do you mean 'batch'?
    """

    def __init__(self, option: str, names: Iterable[str], symbols: Iterable[str]) -> None:
        super().__init__(tuple(sorted(names)))
        self.option, self.symbols = option, tuple(sorted(symbols))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.option, self.names, self.symbols)

    def __str__(self) -> str:
        unknown, known = (", ".join(map(repr, names[:_MOST_NAMES])) for names in (self.names, self.symbols))
        more = f" and {len(self.symbols) - _MOST_NAMES} more" if len(self.symbols) > _MOST_NAMES else ""
        said = f"its symbols are {known}{more}" if known else "it has no symbols"
        meant = nearest(self.names[0], reversed(self.symbols)) if self.names else None
        cure = f"; do you mean {meant!r}?" if meant else ""
        return f"{self.option}: the model has no symbol {unknown}; {said}{cure}"


class UndecidedSize(OnnxInferError, UnboundName):  # noqa: N818  (named as its base)
    """Data-dependent sizes have no value; `cure` says how a plan does without them.

    >>> print(UndecidedSize(("K",), "memory(upper=True) counts them with upper bounds"))
    no value for 'K', which is data-dependent; memory(upper=True) counts them with upper bounds
    """

    def __init__(self, names: tuple[str, ...], cure: str) -> None:
        super().__init__(names)
        self.cure = cure

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.names, self.cure)

    def __str__(self) -> str:
        return (
            f"{UnboundName.__str__(self)}, which {'is' if len(self.names) == 1 else 'are'} data-dependent; {self.cure}"
        )


class StrictModeError(ShapeInferenceError, InferenceError):  # type: ignore[misc]  # onnx's class is untyped
    """The error of strict mode. It is also onnx's `InferenceError`."""


class UnknownRank(ValueError):  # noqa: N818  (as `Unknown`; in a rule it is a defect of the rule, so no OnnxInferError)
    """The sizes of a tensor were asked for, of which not even the rank is known."""

    def __str__(self) -> str:
        return (
            f"the rank of {self.args[0]} is not known, so it has no sizes: ask first whether `shape` is None;"
            " `result.reasons` says why, and a declared rank makes it known"
        )


class Unknown(Exception):  # noqa: N818  (not an error: the honest answer)
    """An unknown value: a rule raises it for its result, or gets it as an argument. The note says why it is unknown.

    `count` is the number of elements of a vector or a scalar; None if this is not known.

    >>> str(Unknown("the value of axes is not known"))
    'the value of axes is not known'
    """

    def __init__(self, note: str = "", count: Dim | None = None) -> None:
        super().__init__(note)
        self.note, self.count = note, count


def require(condition: object, law: str, *values: object, sign: str = "!=") -> None:
    """Raise `ShapeInferenceError` with the law and the values that break it, unless the condition holds.

    >>> require(2 < 1, "axis is out of range", 2)
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ShapeInferenceError: axis is out of range: 2
    """
    if not condition:
        raise ShapeInferenceError(broken(law, *values, sign=sign))


def _told(value: object) -> str:
    return repr(value) if isinstance(value, Expr) else shortened(str(value))


def broken(law: str, *values: object, sign: str = "!=") -> str:
    """The message of a law and the values that break it; `sign` is what holds between two values, or a comma.

    >>> broken("sizes differ", 2, 3), broken("the size is too small", 2, 3, sign="<"), broken("no pair", 2, 3, sign=",")
    ('sizes differ: 2 != 3', 'the size is too small: 2 < 3', 'no pair: 2, 3')
    """
    between = f" {sign} " if len(values) == 2 and sign != "," else ", "
    return f"{law}: {between.join(map(_told, values))}" if values else law


def no_model(model: object) -> ArgumentError:
    """The error for an object that is not a model.

    >>> print(no_model(3))
    a model is a ModelProto, its bytes or a path, not int
    """
    kind = type(model)
    name = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    cure = _CURES.get(name, "")
    return ArgumentError(f"a model is a ModelProto, its bytes or a path, not {kind.__name__}{cure}")


def no_path(path: object) -> ArgumentError:
    """The error for an object that is no path of a model.

    >>> print(no_path(3))
    the path of a model is a text or a PathLike, not int
    """
    cure = ": call infer_shapes for a model in memory" if type(path).__name__ == "ModelProto" else ""
    return ArgumentError(f"the path of a model is a text or a PathLike, not {type(path).__name__}{cure}")


_CURES = {
    "onnx_ir.Model": ": call onnx_infer.integrations.onnx_ir.infer(model), or infer_shapes of the same module",
    "onnx_ir.Node": ": call onnx_infer.integrations.onnx_ir_nodes.infer_node_outputs for a single node",
    "onnx.GraphProto": ": wrap it by onnx.helper.make_model(graph)",
    "onnx.NodeProto": ": call onnx_infer.infer_node_outputs for a single node",
    "torch.ONNXProgram": ": call onnx_infer.integrations.onnx_ir.infer(program.model), see docs/coming_from.md",
    "torch.ExportedProgram": ": export it by torch.onnx.export first, see docs/coming_from.md",
}
"""Class, with its package -> how to pass such an object."""
