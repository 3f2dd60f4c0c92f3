"""Quantized tensors of onnxruntime: with a scale and a zero point for each tensor, or in blocks of rows, packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.scaling import is_power_of_two
from onnx_infer.errors import require
from onnx_infer.laws.granularity import demand_scalars, demand_single
from onnx_infer.laws.limits import demand_at_least
from onnx_infer.laws.sizes import confirm, confirm_shape, differ, normalize_axis, of_rank, unify
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.ops.elementwise import broadcast_binary, where
from onnx_infer.ops.joining import joined_sizes
from onnx_infer.ops.linear import matrix_product
from onnx_infer.ops.quantization import dequantize, quantize
from onnx_infer.ops.reduction import reduce
from onnx_infer.ops.unary import same_shape_of_input
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Shapes
    from onnx_infer.ops.kinds import AnyRank, AnyRanks, Dim, Ints, Scales, Shape


_BINARY = "A A_scale A_zero_point? B B_scale B_zero_point? C_scale C_zero_point?"
_UNARY = "X X_scale X_zero_point? Y_scale Y_zero_point?"


@contrib("QLinearAdd", "QLinearMul", inputs=_BINARY)
def quantized_binary(A: SymTensor, B: SymTensor, scales: Scales) -> Shape:
    """The broadcast shape. All parameters are scalars."""
    demand_scalars(scales)
    return broadcast_binary(A, B)


@contrib("QLinearLeakyRelu", "QLinearSigmoid", inputs=_UNARY)
def quantized_unary(X: AnyRank, scales: Scales) -> Shape | None:
    """X's shape."""
    demand_single(scales)
    return X.shape


contrib(
    "QLinearWhere",
    inputs="condition X x_scale x_zero_point Y y_scale y_zero_point z_scale z_zero_point",
    dtype=lambda X: X.dtype,
)(where)


@contrib("QLinearSoftmax", inputs="X X_scale x_zero_point? y_scale y_zero_point")
def quantized_softmax(X: SymTensor, axis: int = -1) -> Shape:
    """X's shape."""
    normalize_axis(axis, X.rank)
    return X.dims


@contrib("QLinearConcat", inputs="Y_scale Y_zero_point inputs*", dtype=lambda Y_zero_point: Y_zero_point.dtype)
def quantized_concat(inputs: AnyRanks, axis: int) -> Shape:
    """As Concat; the inputs are triples of a tensor, its scale and its zero point."""
    require(len(inputs) % 3 == 0, "the number of inputs is not a multiple of 3", len(inputs))
    return joined_sizes(inputs[::3], axis)


contrib("QLinearReduceMean", inputs="data data_scale data_zero_point? reduced_scale reduced_zero_point?")(reduce)
contrib("ReduceSumInteger", inputs="data", dtype=lambda: None)(reduce)  # the model declares the type

# -- conversions -------------------------------------------------------------------------------------------------------


@contrib(
    "QuantizeLinear",
    inputs="x y_scale y_zero_point?",
    dtype=lambda y_zero_point: dt.UINT8 if y_zero_point is None else y_zero_point.dtype,
)
def quantize_linear(x: SymTensor, y_scale: AnyRank, y_zero_point: AnyRank | None, axis: int = 1) -> Shape:
    """x's shape (as QuantizeLinear-13)."""
    return quantize(x, y_scale, y_zero_point, axis, None, 13)


@contrib("DequantizeLinear", inputs="x x_scale x_zero_point?", dtype=lambda x_scale: x_scale.dtype)
def dequantize_linear(x: SymTensor, x_scale: AnyRank, x_zero_point: AnyRank | None, axis: int = 1) -> Shape:
    """x's shape (as DequantizeLinear-13)."""
    return dequantize(x, x_scale, x_zero_point, axis, None, 13)


# the order of the elements in memory does not matter
contrib("QuantizeWithOrder", inputs="input scale_input", dtype=lambda: dt.INT8)(same_shape_of_input)
contrib("DequantizeWithOrder", inputs="input scale_input", dtype=lambda to: to)(same_shape_of_input)


@contrib("QuantizeBFP", inputs="x", dtype=lambda: [dt.UINT8, dt.INT64, dt.INT64])
def quantize_blocks(x: SymTensor) -> list[Shape | SymTensor]:
    """x -> its bytes, its shape and its strides, as vectors."""
    return [(fresh("the number of bytes depends on bfp_type"),), SymTensor(dt.INT64, (x.rank,), x.dims), (x.rank,)]


@contrib("DequantizeBFP", inputs="x shape strides", dtype=lambda dtype=dt.FLOAT: dtype)
def dequantize_blocks(shape: Ints) -> Shape:
    """Bytes -> the shape given."""
    return tuple(fresh("the shape is not known") if size is None else size for size in shape)


# -- Gather ------------------------------------------------------------------------------------------------------------


@contrib(
    "GatherBlockQuantized", inputs="data indices scales zero_points?", dtype=lambda scales: scales.dtype, indices=(1,)
)
def gather_blocks(
    data: SymTensor, indices: SymTensor, scales: AnyRank, gather_axis: int = 0, quantize_axis: int = 1, bits: int = 4
) -> Shape:
    """As Gather. If bytes contain several elements, the last axis has `8 / bits` elements per byte."""
    sizes = list(data.dims)
    gather = normalize_axis(gather_axis, data.rank)
    normalize_axis(quantize_axis, data.rank)
    if data.dtype is None:
        sizes[-1] = fresh("whether bytes are packed is not known")
    elif data.dtype == dt.UINT8:
        require(bits in (2, 4, 8), "bits is none of 2, 4 and 8", bits)
        sizes[-1] = sizes[-1] * (8 // bits)
    return (*sizes[:gather], *indices.dims, *sizes[gather + 1 :])


@contrib("GatherPacked", inputs="data indices", dtype=lambda output_dtype=dt.BFLOAT16: output_dtype)
def gather_packed(data: AnyRank, indices: SymTensor, K: int) -> Shape:
    """Rows (count, bytes) of K packed elements each -> (*indices, K). An index out of bounds selects the first row."""
    of_rank(data.shape, 2, "data")
    demand(K > 0, "K must be positive", K)
    return (*indices.dims, K)


def projected(A: SymTensor, inner: Dim, outer: Dim) -> Shape:
    """(*batch, inner) -> (*batch, outer)."""
    require(A.rank >= 1, "the left factor is a scalar")
    unify(A.dims[-1], inner, "the last size of A and the inner size of the weight")
    return (*A.dims[:-1], outer)


def packed_product(_: Shapes, outputs: Shapes, attributes: Attributes) -> Dim:
    """Multiply-adds: the elements of the result times the inner size, which is an attribute."""
    return product(outputs[0]) * attributes["K"]  # type: ignore[arg-type, no-any-return]


def _demand_one_of(name: str, operand: AnyRank | None, *shapes: Shape) -> None:
    """Demand one of these shapes, which are known."""
    if operand is None or operand.shape is None:
        return
    same = [shape for shape in shapes if len(shape) == len(operand.shape)]
    possible = [shape for shape in same if not any(map(differ, operand.shape, shape))]
    wanted = " or ".join(str(list(shape)) for shape in shapes)
    if demand(possible, f"the shape of {name} is not {wanted}", list(operand.shape)) and len(possible) == 1:
        confirm_shape(possible[0], operand.shape, name)


@contrib("MatMulNBits", inputs="A B scales zero_points? g_idx? bias?", cost=packed_product)
def matmul_of_bits(
    A: SymTensor,
    B: AnyRank,
    scales: AnyRank,
    zero_points: AnyRank | None,
    g_idx: AnyRank | None,
    bias: AnyRank | None,
    K: int,
    N: int,
    bits: int = 4,
    block_size: int | None = None,
) -> Shape:
    """(*batch, M, K), N * K weights of some bits in blocks of a row, (N, blocks, bytes of a block) -> (*batch, M, N).

    The scales are (N, blocks) or flat, and so are zero points; as integers these are packed in bytes, row by row.
    """
    if block_size is None or not demand(
        block_size >= 16 and is_power_of_two(block_size), "block_size is not a power of 2 of at least 16", block_size
    ):
        return projected(A, K, N)
    blocks = -(-K // block_size)
    if B.dtype == dt.UINT8:
        _demand_one_of("B", B, (N, blocks, block_size * bits // 8))
    _demand_one_of("scales", scales, (N * blocks,), (N, blocks))
    if zero_points is not None and zero_points.dtype is not None:
        row = -(-blocks * bits // 8) if zero_points.dtype == dt.UINT8 else blocks
        _demand_one_of("zero_points", zero_points, (N * row,), (N, row))
    _demand_one_of("g_idx", g_idx, (K,), (blocks * block_size,))
    _demand_one_of("bias", bias, (N,))
    return projected(A, K, N)


@uncounted_contrib("MatMulNBitsQLoRA", inputs="X W scales lora_A lora_A_scales lora_B lora_B_scales")
def matmul_of_bits_with_adapter(X: SymTensor, lora_B: AnyRank, K: int, N: int) -> Shape:
    """(*batch, K), N * K packed weights, an adapter whose second matrix has N rows -> (*batch, N)."""
    if lora_B.shape is not None:
        confirm(N, of_rank(lora_B.shape, 3, "lora_B")[0], "N and the rows of lora_B")
    return projected(X, K, N)


@contrib("MatMulPacked", inputs="A B global_scale?", cost=packed_product)
def matmul_of_packed_rows(A: SymTensor, B: AnyRank, K: int, N: int) -> Shape:
    """(*batch, K), N rows of K packed elements -> (*batch, N)."""
    if B.shape is not None:
        confirm(N, of_rank(B.shape, 2, "B")[0], "N and the rows of B")
    return projected(A, K, N)


@contrib("MatMulBnb4", inputs="A B absmax", cost=packed_product)
def matmul_of_4_bits(
    A: SymTensor, B: AnyRank, absmax: AnyRank, K: int, N: int, block_size: int | None = None, transB: int = 1
) -> Shape:
    """(*batch, M, K), N * K packed weights -> (*batch, M, N); the other way round without transB.

    Two weights are in a byte, and each block of them has an element of absmax; there may be more of both.
    """
    if B.shape is not None and B.dtype == dt.UINT8:
        demand_at_least(product(B.shape), -(-N * K // 2), "the number of bytes of B")
    if absmax.shape is not None and block_size:
        demand_at_least(product(absmax.shape), -(-N * K // block_size), "the number of elements of absmax")
    return projected(A, K, N) if transB else projected(A, N, K)


@contrib("MatMulFpQ4", inputs="A B B_shape", cost=matrix_product)
def matmul_of_blob(A: SymTensor, B_shape: Ints) -> Shape:
    """(*batch, M, K), packed weights of the shape (K, N) -> (*batch, M, N)."""
    require(len(B_shape) == 2, "B_shape must have 2 elements", len(B_shape))
    inner, outer = (fresh("B_shape is not known") if size is None else size for size in B_shape)
    return projected(A, inner, outer)


@contrib("MatMulBlockQuantizedFp8Weight", inputs="A B b_scale a_scale? bias?", cost=matrix_product)
@contrib(
    "MatMulBlockQuantizedFp4Weight", inputs="A B weight_scale weight_scale_2 input_scale? bias?", cost=matrix_product
)
def matmul_of_rows(A: SymTensor, B: AnyRank) -> Shape:
    """(*batch, K), weights (N, K) or packed (N, K / 2) -> (*batch, N)."""
    return (*A.dims[:-1], of_rank(B.shape, 2, "B")[0])


@uncounted_contrib("MatMulNBitsMlp", inputs="A skip? norm_scale? gate_B gate_scales gate_bias? up_B up_scales up_bias?")
def gated_projection(A: SymTensor, K: int, N: int) -> list[Shape]:
    """(*batch, K) -> (*batch, N), and the sum with skip (*batch, K)."""
    return [projected(A, K, N), projected(A, K, K)]


@uncounted_contrib(
    "MatMulNBitsQkv", inputs="A skip? norm_scale q_B q_scales q_bias? k_B k_scales k_bias? v_B v_scales v_bias?"
)
def query_key_value_projections(A: SymTensor, K: int, Nq: int, Nkv: int) -> list[Shape]:
    """(*batch, K) -> (*batch, Nq), twice (*batch, Nkv), and the sum with skip (*batch, K)."""
    return [projected(A, K, N) for N in (Nq, Nkv, Nkv, K)]
