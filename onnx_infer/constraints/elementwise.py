"""Broadcasting, and operators whose outputs have the shape of their first input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import joined

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Relations, Rows
    from onnx_infer.ops.kinds import Ints
    from symdim.rows import Row

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Less", "Greater")

_UNARY = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Bernoulli", "BitCast", "BitwiseNot", "Cast", "CastLike",
    "Ceil", "Celu", "Clip", "Cos", "Cosh", "CumProd", "CumSum", "Dropout", "Elu", "Erf", "Exp", "EyeLike", "Floor",
    "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "Identity", "IsInf", "IsNaN", "LRN", "LeakyRelu", "Log",
    "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "Not", "RandomNormalLike",
    "RandomUniformLike", "Reciprocal", "Relu", "ReverseSequence", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin",
    "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Trilu",
)  # fmt: skip

_UNARY_MICROSOFT = (
    "FastGelu", "Gelu", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax", "QuickGelu", "RotaryEmbedding", "Trilu",
)  # fmt: skip


@form(*_UNARY)
@form(*_UNARY_MICROSOFT, domain="com.microsoft")
@form("PRelu")
def alike(s: Relations, operands: Rows, outs: Rows) -> None:
    """Every output (such as Dropout's mask) has the shape of the first input. Nothing if that is not a tensor.

    Before opset 7 the slope of a PRelu has one element, or one for each channel.
    """
    if operands:
        s.same(operands[0], *outs)


@form(*_ARITHMETIC, since=7)
@form("Max", "Min", "Sum", "Mean", since=8)
@form("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "GreaterOrEqual", "LessOrEqual", "Mod")
@form("StringConcat", "Where")
def broadcast(s: Relations, operands: Rows, out: Row) -> None:
    """The inputs broadcast to the output."""
    s.bcast(out, operands)


@form(*_ARITHMETIC)
def broadcast_by_attribute(s: Relations, operands: Rows, out: Row, broadcast: int = 0) -> None:
    """The output has the first input's shape. Before opset 7 the second input has it too, or broadcasts by `axis`."""
    s.same(operands[0], out, *(() if broadcast else operands[1:]))


@form("Max", "Min", "Sum", "Mean")
def all_alike(s: Relations, operands: Rows, out: Row) -> None:
    """Before opset 8 all inputs have one shape."""
    s.same(out, *operands)


@form("PRelu", since=7)
def prelu(s: Relations, X: Row, slope: Row, out: Row) -> None:
    """X's shape; the slope broadcasts to it."""
    s.same(X, out)
    s.bcast_to(X, slope)


@form("QuantizeLinear", "DequantizeLinear")
@form("QuantizeLinear", "DequantizeLinear", domain="com.microsoft")
def quantized(s: Relations, operands: Rows, out: Row, axis: int = 1, block_size: int = 0) -> None:
    """The input's shape. Scales along an axis have the size of that axis."""
    x, scale, *_ = operands
    s.same(x, out)
    if scale.rank == 1 and not block_size and isinstance(scale.dims[0], int) and scale.dims[0] > 1:
        s.eq(s.size(x, axis), scale.dims[0], x, axis)


@form("DynamicQuantizeLinear")
def dynamically_quantized(s: Relations, x: Row, outs: Rows) -> None:
    """The input's shape; scale and zero point are scalars."""
    s.same(x, outs[0])
    for scalar in outs[1:]:
        s.be(scalar, ())


@form("BiasGelu", "BiasAdd", domain="com.microsoft")
def biased(s: Relations, operands: Rows, out: Row) -> None:
    """The first input's shape; its last size is the size of the bias."""
    s.same(operands[0], out)
    s.eq(s.size(operands[0], -1), s.axes(operands[1], 1)[0], operands[1], 0)


@form("SwiGLU", domain="com.microsoft")
def gated(s: Relations, gate: Row, up: Row | None, out: Row) -> None:
    """Both halves have the shape of the result; without `up`, the gate has both in its last size."""
    if up is not None:
        s.same(out, gate, up)
    else:
        rest, (half,) = s.trailing(out, 1)
        s.be(gate, joined(rest, (2 * half,)))


@form("QLinearAdd", "QLinearMul", domain="com.microsoft")
def quantized_broadcast(s: Relations, A: Row, B: Row, out: Row) -> None:
    """A and B broadcast to the output."""
    s.bcast(out, (A, B))


@form("ConstantOfShape")
def filled(s: Relations, input: Ints, out: Row) -> None:
    """The sizes are the elements of the input."""
    for axis, (size, wanted) in enumerate(zip(s.axes(out, len(input)), input, strict=True)):
        s.eq(size, wanted, out, axis)
