"""Elementwise operators of several operands: arithmetic, comparison, logic, bits, Max to Mean, Where, PRelu."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements import arithmetic
from onnx_infer.elements.lifting import lift
from onnx_infer.elements.powers import POWER
from onnx_infer.elements.reductions import mean, total
from onnx_infer.elements.remainders import FMOD, MODULO
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import divisors
from onnx_infer.laws.sizes import at_least, broadcast, broadcast_to, differ, unify_shapes
from onnx_infer.laws.statements import demand, fresh, is_contradicted, reported
from onnx_infer.operators.registration import op
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, minimum

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.elements.ratio import Element
    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import AnyRank, Shape, Variadic

    Data = Callable[..., Any]

elementwise = partial(op, in_place="elements", total=True)
"""`op` for a function of elements at one place: the rule states every law by which a run is refused."""

# -- two operands ------------------------------------------------------------------------------------------------


def broadcast_binary(A: SymTensor, B: SymTensor) -> Shape:
    """The shapes of A and B broadcast to each other, from opset 7 on (ONNX: Broadcasting)."""
    return broadcast(A.dims, B.dims)


def limited_binary(A: AnyRank, B: AnyRank, axis: int | None, broadcast: int) -> Shape:
    """A's shape, before opset 7. B has it too, or with `broadcast` one element or a part of it from `axis` on."""
    if not broadcast:
        return same_shape((A, B), "A and B")
    if A.shape is None:
        raise Unknown("the rank of A is not known")
    if B.shape is not None:
        with reported:
            _check_part(A.dims, B.dims, axis)
    return A.dims


def _check_part(whole: Shape, part: Shape, axis: int | None) -> None:
    require(len(part) <= len(whole), "rank of B exceeds that of A", len(part), len(whole), sign=">")
    start = len(whole) - len(part) if axis is None or axis < 0 else axis
    require(
        start + len(part) <= len(whole), f"B does not fit into A from axis {start} on", len(part), len(whole), sign=","
    )
    for i, size in enumerate(part, start):
        require(not differ(size, 1) or not differ(size, whole[i]), f"sizes at axis {i} of A differ", size, whole[i])


def same_shape(tensors: tuple[SymTensor, ...], what: str) -> Shape:
    """The common shape of all tensors. Tensors of unknown rank take it from the others."""
    shapes = [x.shape for x in tensors if x.shape is not None]
    if not shapes:
        raise Unknown(f"the rank of {what} is not known")
    return reduce(lambda a, b: unify_shapes(a, b, what), shapes)


def _limited(function: Data) -> Data:
    """The data function of an operator before opset 7, from today's: B is first aligned with A at `axis`."""

    def data(A: Any, B: Any, axis: int | None, broadcast: int) -> Any:
        if broadcast and axis is not None and axis >= 0:
            B = B.reshape(B.shape + (1,) * (A.ndim - axis - B.ndim))
        return function(A, B)

    return data


def _divisors(inputs: Values, _: Values, __: Attributes) -> Least | None:
    """An integer is not divided by 0."""
    divisor = inputs[1]
    return [] if isinstance(divisor, SymTensor) and divisor.dtype in dt.FLOATS else divisors(divisor)


_BINARY: dict[str, Data] = {
    "Add": arithmetic.ADD, "Sub": arithmetic.SUBTRACT, "Mul": arithmetic.MULTIPLY, "Div": arithmetic.DIVIDE,
    "Equal": arithmetic.EQUAL, "Less": arithmetic.LESS, "Greater": arithmetic.GREATER,
    "And": arithmetic.AND, "Or": arithmetic.OR, "Xor": arithmetic.XOR,
}  # fmt: skip

_COMPUTED: dict[str, Any] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Equal": np.equal, "Less": np.less,
    "Greater": np.greater, "And": np.logical_and, "Or": np.logical_or,
}  # fmt: skip

for _name, _function in _BINARY.items():
    _traits: dict[str, Any] = {"computes": _COMPUTED.get(_name), "demands": _divisors if _name == "Div" else None}
    elementwise(_name, data=_limited(_function), **_traits)(limited_binary)
    elementwise(_name, since=7, data=_function, **_traits)(broadcast_binary)

elementwise("LessOrEqual", data=arithmetic.AT_MOST)(broadcast_binary)
elementwise("GreaterOrEqual", data=arithmetic.AT_LEAST)(broadcast_binary)


@elementwise("Mod", data=lambda A, B, fmod: FMOD(A, B) if fmod else MODULO(A, B), demands=_divisors)
def modulo(A: SymTensor, B: SymTensor, fmod: int, since_version: int) -> Shape:
    """The shapes broadcast. The sign is that of the divisor, with fmod=1 that of the dividend (Mod-10, 13, 28)."""
    demand(fmod in (0, 1), "fmod is neither 0 nor 1", fmod)
    demand(fmod or since_version >= 28 or A.dtype not in dt.FLOATS, "of floats fmod must be 1", fmod)
    return broadcast(A.dims, B.dims)


@op("Pow", data=lambda X, Y, axis, broadcast: _limited(POWER)(X, Y, axis, broadcast), in_place="elements")
def limited_power(X: AnyRank, Y: AnyRank, axis: int | None, broadcast: int) -> Shape:
    """X's shape (Pow-1)."""
    return limited_binary(X, Y, axis, broadcast)


@op("Pow", since=7, data=POWER, in_place="elements")
def power(X: SymTensor, Y: SymTensor) -> Shape:
    """The shapes broadcast (Pow-7 to 15)."""
    return broadcast(X.dims, Y.dims)


# -- bits ----------------------------------------------------------------------------------------------------------


def _masked(x: Element, y: Element) -> Element:
    """`x & y` of equal elements, of numbers, or with a mask of low bits or its complement; else None."""
    if isinstance(x, int):
        x, y = y, x
    if isinstance(x, int) or x == y:
        return x & y if isinstance(x, int) else x
    mask = -1 if isinstance(y, Expr) else y if y >= 0 else -1 - y
    if mask < 0 or (mask + 1) & mask:
        return None
    low = x % (mask + 1)
    return low if y == mask else x - low


def _bit_and(x: Element, y: Element) -> Element:
    """`x & y`. Of most sizes only a run knows it. Its sign is known, so a test of that is decided."""
    masked = _masked(x, y)
    if masked is not None:
        return masked
    above = [size for size in (x, y) if at_least(size, 0)]
    if above:
        return fresh(_BITS, at_most=minimum(*above))
    return -1 - _bit_or(-1 - x, -1 - y) if at_least(-1 - x, 0) and at_least(-1 - y, 0) else None


def _bit_or(x: Element, y: Element) -> Element:
    """`x | y`, which is `~(~x & ~y)`."""
    inverse = _masked(-1 - x, -1 - y)
    if inverse is None and at_least(x, 0) and at_least(y, 0):
        return fresh(_BITS, at_most=x + y)
    inverse = _bit_and(-1 - x, -1 - y) if inverse is None else inverse
    return None if inverse is None else -1 - inverse


def _bit_xor(x: Element, y: Element) -> Element:
    """`x ^ y`. With a negative y it is `~(x ^ ~y)`."""
    if x == y:
        return 0
    if isinstance(x, int):
        x, y = y, x
    if isinstance(x, int) or y == 0:
        return x ^ y if isinstance(x, int) else x
    for a, b in ((x, y), (y, x)):
        if at_least(-1 - b, 0):
            inverse = _bit_xor(a, -1 - b)
            return None if inverse is None else -1 - inverse
    return fresh(_BITS, at_most=x + y) if at_least(x, 0) and at_least(y, 0) else None


_BITS = "a bitwise operation decides"


op("BitwiseAnd", data=lift(_bit_and, 2), in_place="elements")(broadcast_binary)
op("BitwiseOr", data=lift(_bit_or, 2), in_place="elements")(broadcast_binary)
op("BitwiseXor", data=lift(_bit_xor, 2), in_place="elements")(broadcast_binary)


def _shifted(X: Any, Y: Any, direction: str, output_dtype: int | None, since_version: int) -> Any:
    """`x * 2**y` or `x // 2**y`. Shifts beyond the width give the sign; they are not defined before BitShift-28."""
    bits = dt.BITS.get(output_dtype or 0, 0)

    def shift(x: Element, y: Element) -> Element:
        # a size that is shifted further might not fit
        if isinstance(y, Expr) or (isinstance(x, Expr) and direction == "LEFT" and y > bits // 4):
            return None
        if 0 <= y < bits:
            return x * 2**y if direction == "LEFT" else x // 2**y
        if since_version < 28 or isinstance(x, Expr):
            return None
        return -1 if direction == "RIGHT" and x < 0 else 0

    return lift(shift, 2)(X, Y)


@op("BitShift", data=_shifted, in_place="elements")
def bit_shift(X: SymTensor, Y: SymTensor, direction: str) -> Shape:
    """The shapes broadcast (BitShift-11, 28)."""
    demand(direction in ("LEFT", "RIGHT"), "direction is neither LEFT nor RIGHT", direction)
    return broadcast(X.dims, Y.dims)


# -- many operands -------------------------------------------------------------------------------------------------


def broadcast_all(data_0: Variadic) -> Shape:
    """The shapes of all operands broadcast to each other (Max, Min, Sum, Mean from opset 8 on)."""
    return broadcast(*(x.dims for x in data_0))


def equal_all(data_0: tuple[AnyRank, ...]) -> Shape:
    """The common shape of all operands, before opset 8."""
    return same_shape(data_0, "operands")


def _of_all(function: Callable[[list[Element], int | None], Element]) -> Data:
    def data(data_0: tuple[Any, ...], output_dtype: int | None) -> Any:
        return np.frompyfunc(lambda *xs: function(list(xs), output_dtype), len(data_0), 1)(*data_0)

    return data


_VARIADIC: dict[str, Data] = {
    "Max": lambda data_0: reduce(arithmetic.LARGER, data_0),
    "Min": lambda data_0: reduce(arithmetic.SMALLER, data_0),
    "Sum": _of_all(total),
    "Mean": _of_all(mean),
}

for _name, _function in _VARIADIC.items():
    elementwise(_name, data=_function)(equal_all)
    elementwise(_name, since=8, data=_function)(broadcast_all)


# -- selection -----------------------------------------------------------------------------------------------------


@elementwise("Where", data=arithmetic.SELECT, computes=lambda arrays, *_: np.where(*arrays))
def where(condition: SymTensor, X: SymTensor, Y: SymTensor) -> Shape:
    """The three shapes broadcast (Where-9, 16)."""
    return broadcast(condition.dims, X.dims, Y.dims)


@op("PRelu", in_place="elements")
def parametric_relu_of_channels(X: SymTensor) -> Shape:
    """X's shape. The slope has one element, or one per channel (PRelu-1, 6)."""
    return X.dims


@op(
    "PRelu",
    since=7,
    data=lambda X, slope: arithmetic.SELECT(arithmetic.LESS(X, 0), arithmetic.MULTIPLY(X, slope), X),
    in_place="elements",
)
def parametric_relu(X: SymTensor, slope: AnyRank) -> Shape:
    """X's shape. The slope broadcasts to it one way (PRelu-7 to 16).

    onnxruntime broadcasts both ways. For two symbols the result is right in both cases.
    """
    if slope.shape is None:
        return X.dims
    pairs = zip(reversed(X.dims), reversed(slope.dims), strict=False)
    if slope.rank > X.rank or any(x == 1 and differ(size, 1) for x, size in pairs):
        raise Unknown("the slope is larger than X, of which onnx and onnxruntime make different results")
    shape = broadcast_to(X.dims, slope.dims, "slope", "assumed")
    return shape if is_contradicted() else broadcast(X.dims, slope.dims)


@op("SwiGLU", in_place="elements")
def swiglu(A: AnyRank, B: AnyRank) -> Shape:
    """The common shape of A and B, which do not broadcast (SwiGLU-28)."""
    return same_shape((A, B), "A and B")
