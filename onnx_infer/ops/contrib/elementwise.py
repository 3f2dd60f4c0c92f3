"""Elementwise operators of onnxruntime: activations, sums fused with activations, gates, dropout, products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import confirm_shape, exact_quotient, normalize_axis, unify_shapes
from onnx_infer.operators.registration import op
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.contrib.normalization import with_vectors
from onnx_infer.ops.elementwise import broadcast_binary
from onnx_infer.ops.unary import same_shape, same_shape_of_input
from onnx_infer.values import dtype as dt
from symdim import ceildiv

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, AnyRanks, Shape, SymTensor


contrib("ScaledSiLU", inputs="X scale?")(same_shape)
contrib("Gelu", "QuickGelu", "Inverse", "SampleOp", inputs="X")(same_shape)
contrib("QOrderedGelu", inputs="X scale_X scale_Y")(same_shape)
contrib("Trilu", inputs="X k?")(same_shape)
contrib("MurmurHash3", inputs="X", dtype=lambda positive=1: dt.UINT32 if positive else dt.INT32)(same_shape)
# experimental or internal, in the default domain
op("Affine", "ParametricSoftplus", "ScaledTanh", "MemcpyFromHost", "MemcpyToHost", inputs="X")(same_shape)
op("ImageScaler", "Scale", inputs="input")(same_shape_of_input)


# -- with a bias -------------------------------------------------------------------------------------------------------


@contrib("BiasGelu", inputs="A B")
def bias_gelu(A: SymTensor, B: AnyRank) -> Shape:
    """(*outer, C), (C) -> (*outer, C)."""
    return with_vectors(A.dims, -1, B=B)


@contrib("FastGelu", inputs="X bias?")
def fast_gelu(X: SymTensor, bias: AnyRank | None) -> Shape:
    """(*outer, C), (C) -> (*outer, C)."""
    return with_vectors(X.dims, -1, bias=bias) if X.rank else X.dims


@contrib("BiasAdd", inputs="X bias skip")
def bias_add(X: SymTensor, bias: AnyRank, skip: AnyRank) -> Shape:
    """(N, S, C), (C), (N, S, C) -> (N, S, C)."""
    shape = with_vectors(X.dims, -1, bias=bias)
    return shape if skip.shape is None else unify_shapes(shape, skip.shape, "X and skip")


@contrib("BiasSplitGelu", inputs="X bias")
def bias_split_gelu(X: SymTensor, bias: AnyRank) -> Shape:
    """(N, S, D), (D) -> (N, S, D / 2)."""
    *outer, size = with_vectors(X.dims, -1, bias=bias)
    return (*outer, exact_quotient(size, 2, "the hidden size"))


@contrib("BiasSoftmax", inputs="data bias")
def bias_softmax(data: SymTensor, axis: int = 1) -> Shape:
    """The shape of data."""
    normalize_axis(axis, data.rank)
    return data.dims


@contrib("GatedAdd", inputs="X Y gate gate_weight?")
def gated_add(X: SymTensor, Y: AnyRank, gate: AnyRank, gate_weight: AnyRank | None) -> Shape:
    """X's shape; Y has the same shape; the gate too, but for its last size: 1, or K with a gate_weight (K, 1)."""
    shape = X.dims if Y.shape is None else unify_shapes(X.dims, Y.shape, "X and Y")
    if gate.shape is not None and X.rank:
        last: Shape = (1,) if gate_weight is None else gate.shape[-1:]
        shape = (*unify_shapes((*shape[:-1], *last), gate.shape, "X and the gate")[:-1], shape[-1])
        if gate_weight is not None and gate_weight.shape is not None:
            confirm_shape((*last, 1), gate_weight.shape, "the last size of the gate and gate_weight")
    return shape


@contrib("SwiGLU", inputs="gate up?")
def swiglu(gate: SymTensor, up: AnyRank | None) -> Shape:
    """The common shape of both halves; without `up`, the gate holds both of them: (..., 2 * n) -> (..., n)."""
    if up is not None:
        return gate.dims if up.shape is None else unify_shapes(gate.dims, up.shape, "gate and up")
    require(gate.rank >= 1, "the gate is a scalar")
    return (*gate.dims[:-1], exact_quotient(gate.dims[-1], 2, "the last size of the gate"))


# -- dropout -----------------------------------------------------------------------------------------------------------


@contrib(
    "BiasDropout",
    inputs="data bias residual? ratio? training_mode?",
    dtype=lambda data: [data.dtype, dt.BOOL],
    random=True,
)
def bias_dropout(data: SymTensor) -> list[Shape]:
    """The output and the mask have the shape of data."""
    return [data.dims] * 2


@contrib("BitmaskDropout", inputs="data ratio? training_mode?", dtype=lambda data: [data.dtype, dt.UINT32], random=True)
@contrib(
    "BitmaskBiasDropout",
    inputs="data bias residual? ratio? training_mode?",
    dtype=lambda data: [data.dtype, dt.UINT32],
    random=True,
)
def bitmask_dropout(data: SymTensor) -> list[Shape]:
    """The shape of data, and a mask with one bit per element in words of 32."""
    return [data.dims, (ceildiv(data.size, 32),)]


# -- products and tests ------------------------------------------------------------------------------------------------


contrib("MulInteger", inputs="A A_zero_point? B B_zero_point?", dtype=lambda: dt.INT32)(broadcast_binary)
contrib("ComplexMul", "ComplexMulConj", inputs="A B")(broadcast_binary)  # the last axis holds pairs


@contrib("IsAllFinite", inputs="input*", dtype=lambda: dt.BOOL)
def is_all_finite(input: AnyRanks) -> Shape:
    """Any tensors -> a scalar."""
    return ()
