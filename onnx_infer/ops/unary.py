"""Operators whose result has the shape of their only input: functions, activations, Clip, casts, Identity, Dropout."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements import arithmetic
from onnx_infer.elements.lifting import SAME, lift
from onnx_infer.elements.powers import EXPONENTIAL, LOGARITHM, SQRT
from onnx_infer.elements.ratio import Element, Ratio, is_rounded
from onnx_infer.errors import require
from onnx_infer.laws.sizes import unify
from onnx_infer.laws.statements import demand
from onnx_infer.operators.registration import op
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Values
    from onnx_infer.ops.kinds import AnyRank, Shape, Value


unary = partial(op, in_place="elements", total=True)
"""`op` for a function of single elements: no run is refused for its sizes."""


# -- functions and activations ----------------------------------------------------------------------------------


def _reciprocal(x: Element) -> Element:
    """`1 / x`, exact or rounded. A rounded one is no ratio of sizes: `Div` makes those (see `multiply`)."""
    if isinstance(x, float) and math.frexp(abs(x))[0] == 0.5:  # a power of two
        return 1 / x
    quotient = None if isinstance(x, float) else arithmetic.divide(1.0, x)
    return arithmetic.rounding("div", 1.0, x) if quotient is None or is_rounded(quotient) else quotient


RECIPROCAL = lift(_reciprocal, 1)


@unary("Abs", data=arithmetic.ABSOLUTE, computes=np.abs)
@unary("Ceil", data=arithmetic.CEIL)
@unary("Floor", data=arithmetic.FLOOR)
@unary("Round", data=arithmetic.ROUND)
@unary("Neg", data=arithmetic.NEGATE, computes=np.negative)
@unary("Not", data=arithmetic.NOT, computes=np.logical_not)
@unary("Sqrt", data=SQRT)
@unary("Reciprocal", data=RECIPROCAL)
@unary("Relu", data=lift(lambda x: arithmetic.larger(x, 0), 1))
@unary("LeakyRelu", data=lambda X, alpha: arithmetic.SELECT(arithmetic.LESS(X, 0), arithmetic.MULTIPLY(X, alpha), X))
@unary("ThresholdedRelu", data=lambda X, alpha: arithmetic.SELECT(arithmetic.LESS(alpha, X), X, 0.0))
@unary("BitwiseNot", data=lift(lambda x: arithmetic.subtract(-1, x), 1))
@unary("IsNaN", data=lift(lambda x: False, 1))
@unary("Celu", "Elu", "HardSigmoid", "HardSwish", "Mish", "Selu", "Sigmoid", "Softplus", "Swish")
def same_shape(X: SymTensor) -> Shape:
    """X's shape, in all versions of these operators: 1 to 24, Celu-28. `~x` is `-1 - x` in two's complement.

    A known element is not NaN.
    """
    return X.dims


@unary("Sign", data=arithmetic.SIGN)
@unary("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Sin", "Sinh", "Tan", "Tanh")
@unary("Exp", data=EXPONENTIAL)
@unary("Log", data=LOGARITHM)
@unary("Erf", "Shrink", "Softsign")
def same_shape_of_input(input: SymTensor) -> Shape:
    """The input's shape, in all versions of these operators: 1 to 22."""
    return input.dims


unary("Gelu")(same_shape)  # Gelu-20: runtimes treat any `approximate` except tanh as none


def _infinite(X: Any, detect_negative: int, detect_positive: int) -> Any:
    signs = {math.inf: bool(detect_positive), -math.inf: bool(detect_negative)}
    return lift(lambda x: signs.get(x, False) if isinstance(x, float) else False, 1)(X)


unary("IsInf", data=_infinite)(same_shape)  # IsInf-10, 20


# -- Clip --------------------------------------------------------------------------------------------------------

_LARGEST_FLOAT = 3.4028234663852886e38


def _bounded(x: Element, lower: Element, upper: Element) -> Element:
    """The bound in place of an infinite element, unless it is an expression; None if it is absent.

    By the specification an absent bound is the last finite number, but onnx's reference evaluator has no bound then.
    """
    if not isinstance(x, float) or not math.isinf(x):
        return x
    bound = upper if x > 0 else lower
    return x if isinstance(bound, (Expr, Ratio)) else bound


def _clipped(input: Any, min: Any, max: Any, output_dtype: int | None) -> Any:
    """`min(max, max(min, x))`. A bound that the element type implies is left out."""
    low, high = dt.INTEGER_RANGE.get(output_dtype or 0, (-_LARGEST_FLOAT, _LARGEST_FLOAT))
    lower, upper = (None if x is None else np.asarray(x, dtype=object).reshape(())[()] for x in (min, max))
    input = lift(lambda x: _bounded(x, lower, upper), 1)(input)
    if lower is not None and (isinstance(lower, (Expr, Ratio)) or lower > low):
        input = arithmetic.LARGER(input, lower)
    if upper is not None and (isinstance(upper, (Expr, Ratio)) or upper < high):
        input = arithmetic.SMALLER(input, upper)
    return input


op("Clip", data=_clipped, in_place="elements")(same_shape_of_input)  # Clip-1, 6: the bounds are attributes


@op("Clip", since=11, data=_clipped, in_place="elements")
def clip(input: SymTensor, min: AnyRank | None, max: AnyRank | None) -> Shape:
    """The input's shape. The bounds are scalars (Clip-11 to 13); onnxruntime accepts vectors of one element too."""
    for name, bound in (("min", min), ("max", max)):
        for size in () if bound is None else bound.shape or ():
            unify(size, 1, f"the size of {name} and 1")
    return input.dims


# -- element types -----------------------------------------------------------------------------------------------


def _cast_type(to: int | str) -> int:
    """The number of an element type. Cast-1 uses its name."""
    number = dt.FROM_SCHEMA.get(to.lower(), 0) if isinstance(to, str) else to
    require(number in dt.NAMES, "to is not an element type", to)
    return number


def _converted(arrays: list[Any], shape: Shape, kind: Any, _: Attributes) -> Any:
    """A Cast that is defined: integers wrap around, floats are rounded to the nearest; no float becomes an integer."""
    return None if arrays[0].dtype.kind == "f" and np.dtype(kind).kind != "f" else arrays[0].astype(kind)


op("Cast", data=SAME, dtype=_cast_type, total=True, same="alike", computes=_converted)(
    same_shape_of_input
)  # Cast-1 to 28
op("CastLike", data=SAME, total=True, same="alike")(
    same_shape_of_input
)  # CastLike-15 to 25: the element type is that of `target_type`


def _same_bits(input: Any, output_dtype: int | None) -> Any:
    """Integers wrap around to the other signedness. The bits of floats are not computed."""
    if output_dtype not in dt.INTEGER_RANGE:
        return None
    return lift(lambda x: x if type(x) is int or isinstance(x, Expr) else None, 1)(input)


@op("BitCast", data=_same_bits, dtype=lambda to: to)
def bit_cast(input: AnyRank, to: int) -> Shape | None:
    """The input's shape. Both element types must have the same width (BitCast-26)."""
    require(to in dt.NAMES and to != dt.STRING, "to is not an element type with bits", to)
    width = dt.BITS[to] if input.dtype is None else dt.BITS[input.dtype]
    demand(width == dt.BITS[to], "widths in bits differ", width, dt.BITS[to])
    return input.shape


# -- Identity, Dropout -------------------------------------------------------------------------------------------


@op("Identity", data=SAME, view="whole", same="always", total=True)
def identity(input: Value) -> Value:
    """The input, of any kind: a tensor with its data, a sequence, an optional (Identity-1 to 25)."""
    return input


def _drops_nothing(inputs: Values, _: Values, attributes: Attributes) -> bool:
    """Whether a Dropout does not train (Dropout-7 to 13; earlier versions have `is_test`)."""
    if "is_test" in attributes or "consumed_inputs" in attributes:
        return False
    training = inputs[2] if len(inputs) > 2 else None
    return training is None or (isinstance(training, SymTensor) and training.data == (False,))


_DROPOUT: dict[str, Any] = {"same": _drops_nothing, "random": True, "in_place": "elements", "total": True}


@op("Dropout", data=lambda data, is_test: data if is_test else None, **_DROPOUT)
@op("Dropout", since=7, data=SAME, **_DROPOUT)
def dropout(data: AnyRank, output_count: int) -> list[Shape | None]:
    """The output and the mask have the data's shape. Since version 7 inference drops nothing (Dropout-1 to 10)."""
    return [data.shape] * output_count


def _kept(data: Any, training_mode: Any) -> Any:
    """In inference nothing is dropped, and all elements of the mask are true."""
    if training_mode is not None and training_mode.ravel()[0] is not False:
        return None
    return [data, np.full(data.shape, True, dtype=object)]


@op("Dropout", since=12, data=_kept, **_DROPOUT)
def dropout_by_input(
    data: AnyRank, ratio: AnyRank | None, training_mode: AnyRank | None, output_count: int
) -> list[Shape | None]:
    """The output and the mask have the data's shape; ratio and training_mode are scalars (Dropout-12 to 22)."""
    for name, scalar in (("ratio", ratio), ("training_mode", training_mode)):
        demand(scalar is None or not scalar.shape, f"{name} is not a scalar", scalar)
    return [data.shape] * output_count
