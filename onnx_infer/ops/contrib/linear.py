"""Matrix products of onnxruntime: fused, of quantized weights, of integers; and mixtures of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import at_least, confirm, may_be_empty, of_rank, unify
from onnx_infer.laws.statements import fresh
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.linear import demand_columns, gemm, matmul_shape
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Sparse
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Ints, Shape, SymTensor, Value

# -- of two tensors ----------------------------------------------------------------------------------------------------


def transposed(shape: Shape, last: int, batch: int) -> Shape:
    """The shape with its last two axes swapped, or the first axis moved before the last one, or both.

    >>> transposed((2, 3, 4, 5), 1, 0), transposed((2, 3, 4, 5), 0, 1), transposed((2, 3, 4, 5), 1, 1)
    ((2, 3, 5, 4), (3, 4, 2, 5), (3, 4, 5, 2))
    """
    if len(shape) < 2:
        return shape
    *outer, rows, columns = (*shape[1:-1], shape[0], shape[-1]) if batch else shape
    return (*outer, columns, rows) if last else (*outer, rows, columns)


@contrib("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul", inputs="A B")
def fused_matmul(
    A: SymTensor, B: SymTensor, transA: int = 0, transB: int = 0, transBatchA: int = 0, transBatchB: int = 0
) -> Shape:
    """(*batch, M, K), (*batch, K, N), each perhaps transposed -> (*batch, M, N)."""
    return matmul_shape(transposed(A.dims, transA, transBatchA), transposed(B.dims, transB, transBatchB))


@contrib("DynamicQuantizeMatMul", inputs="A B b_scale b_zero_point? bias?")
@contrib(
    "MatMulIntegerToFloat",
    inputs="A B a_scale b_scale a_zero_point? b_zero_point? bias?",
    dtype=lambda a_scale: a_scale.dtype,
)
def quantized_matmul(
    A: SymTensor, B: SymTensor, b_scale: AnyRank, b_zero_point: AnyRank | None, bias: AnyRank | None
) -> Shape:
    """(*batch, M, K), (*batch, K, N), scales and zero points for each column of B or for all -> (*batch, M, N).

    onnxruntime takes longer scales where B has one column.
    """
    shape = matmul_shape(A.dims, B.dims)
    if B.rank >= 2 and at_least(B.dims[-1], 2):
        demand_columns(shape, B, b_scale=b_scale, b_zero_point=b_zero_point)
    if B.rank >= 2 and not may_be_empty(shape) and bias is not None and bias.shape is not None and len(bias.shape) == 1:
        confirm(B.dims[-1], bias.shape[0], "the columns of B and the size of bias")
    return shape


@contrib("MatMulInteger16", inputs="A B", dtype=lambda A: dt.INT32 if A.dtype == dt.INT16 else None)
@contrib("QOrderedMatMul", inputs="A scale_A B scale_B scale_Y bias? C? scale_C?")
def matmul(A: SymTensor, B: SymTensor) -> Shape:
    """(*batch, M, K), (*batch, K, N) -> (*batch, M, N)."""
    return matmul_shape(A.dims, B.dims)


@contrib("GemmFastGelu", inputs="X W bias?")
def gemm_fast_gelu(X: SymTensor, W: SymTensor) -> Shape:
    """(*batch, M, K), (K, N) -> (*batch, M, N)."""
    return matmul_shape(X.dims, W.dims)


@contrib("SparseToDenseMatMul", inputs="A B", dtype=lambda B: B.dtype)
def sparse_matmul(A: Value, B: SymTensor, transA: int = 0, transB: int = 0) -> Shape:
    """Sparse (M, K), dense (K, N), each perhaps transposed -> (M, N)."""
    require(isinstance(A, Sparse), "A is not sparse", A)
    rows = transposed(of_rank(getattr(A, "shape", None), 2, "A"), transA, 0)
    return matmul_shape(rows, transposed(B.dims, transB, 0))


@contrib("CDist", inputs="A B")
def distances(A: AnyRank, B: AnyRank) -> Shape:
    """(M, N), (K, N) -> (M, K)."""
    a, b = of_rank(A.shape, 2, "A"), of_rank(B.shape, 2, "B")
    unify(a[1], b[1], "sizes of the vectors")
    return a[0], b[0]


@contrib("FusedGemm", inputs="A B C?")
@contrib("GemmFloat8", inputs="A B C? scaleA? scaleB? scaleY?", dtype=lambda dtype=dt.FLOAT: dtype)
@contrib(
    "QGemm",
    inputs="A a_scale a_zero_point B b_scale b_zero_point C? y_scale? y_zero_point?",
    dtype=lambda y_zero_point: dt.FLOAT if y_zero_point is None else y_zero_point.dtype,
)
def fused_gemm(A: SymTensor, B: SymTensor, C: AnyRank | None, transA: int = 0, transB: int = 0) -> Shape:
    """(M, K), (K, N), C that broadcasts to (M, N) -> (M, N)."""
    return gemm(A, B, C, transA, transB)


# -- of weights in blocks of few bits ----------------------------------------------------------------------------------


def projected(A: SymTensor, inner: Dim, outer: Dim) -> Shape:
    """(*batch, inner) -> (*batch, outer)."""
    require(A.rank >= 1, "A is a scalar")
    unify(A.dims[-1], inner, "the last size of A and the inner size of the weight")
    return (*A.dims[:-1], outer)


@contrib("MatMulNBits", inputs="A B scales zero_points? g_idx? bias?")
def matmul_of_bits(A: SymTensor, K: int, N: int) -> Shape:
    """(*batch, M, K), N * K packed weights -> (*batch, M, N)."""
    return projected(A, K, N)


@contrib("MatMulBnb4", inputs="A B absmax")
def matmul_of_4_bits(A: SymTensor, K: int, N: int, transB: int = 1) -> Shape:
    """(*batch, M, K), N * K packed weights -> (*batch, M, N); the other way round without transB."""
    return projected(A, K, N) if transB else projected(A, N, K)


@contrib("MatMulFpQ4", inputs="A B B_shape")
def matmul_of_blob(A: SymTensor, B_shape: Ints) -> Shape:
    """(*batch, M, K), packed weights of the shape (K, N) -> (*batch, M, N)."""
    require(len(B_shape) == 2, "B_shape must have 2 elements", len(B_shape))
    inner, outer = (fresh("B_shape is not known") if size is None else size for size in B_shape)
    return projected(A, inner, outer)


@contrib("MatMulBlockQuantizedFp8Weight", inputs="A B b_scale a_scale? bias?")
@contrib("MatMulBlockQuantizedFp4Weight", inputs="A B weight_scale weight_scale_2 input_scale? bias?")
def matmul_of_rows(A: SymTensor, B: AnyRank) -> Shape:
    """(*batch, K), weights (N, K) or packed (N, K / 2) -> (*batch, N)."""
    return (*A.dims[:-1], of_rank(B.shape, 2, "B")[0])


@contrib("MatMulNBitsMlp", inputs="A skip? norm_scale? gate_B gate_scales gate_bias? up_B up_scales up_bias?")
def gated_projection(A: SymTensor, K: int, N: int) -> list[Shape]:
    """(*batch, K) -> (*batch, N), and the sum with skip (*batch, K)."""
    return [projected(A, K, N), projected(A, K, K)]


@contrib(
    "MatMulNBitsQkv",
    inputs="A skip? norm_scale q_B q_scales q_bias? k_B k_scales k_bias? v_B v_scales v_bias?",
)
def query_key_value_projections(A: SymTensor, K: int, Nq: int, Nkv: int) -> list[Shape]:
    """(*batch, K) -> (*batch, Nq), twice (*batch, Nkv), and the sum with skip (*batch, K)."""
    return [projected(A, K, N) for N in (Nq, Nkv, Nkv, K)]


# -- mixtures of experts -----------------------------------------------------------------------------------------------


@contrib(
    "MoE",
    inputs="input router_probs fc1_experts_weights fc1_experts_bias? fc2_experts_weights fc2_experts_bias? "
    "fc3_experts_weights? fc3_experts_bias?",
)
@contrib(
    "QMoE",
    inputs="input router_probs fc1_experts_weights fc1_scales? fc1_experts_bias? fc2_experts_weights fc2_scales? "
    "fc2_experts_bias? fc3_experts_weights? fc3_scales? fc3_experts_bias? fc1_zero_points? fc2_zero_points? "
    "fc3_zero_points? router_weights? fc1_global_scale? fc2_global_scale? fc1_act_scale? fc2_act_scale? "
    "fc1_act_block_scale? fc2_act_block_scale?",
)
def mixture_of_experts(
    input: SymTensor,
    router_probs: AnyRank,
    fc1_experts_weights: AnyRank,
    fc2_experts_weights: AnyRank,
    activation_type: str = "relu",
    swiglu_fusion: int = 0,
) -> Shape:
    """(tokens, hidden) or (B, S, hidden) -> the same. The router has a row (experts) for each token.

    The weights are (experts, inner, hidden) and (experts, hidden, inner), or with their last two axes swapped; packed
    weights have fewer elements by the same factor. The first ones have twice as many rows if they hold gates too.
    """
    tokens, experts = of_rank(router_probs.shape, 2, "router_probs")
    confirm(product(input.dims[:-1]), tokens, "the number of tokens and of rows of router_probs")
    confirm(experts, of_rank(fc2_experts_weights.shape, 3, "fc2_experts_weights")[0], "the numbers of experts")
    if activation_type != "swiglu" or swiglu_fusion:
        rows = 2 if activation_type == "swiglu" else 1
        first, second = (of_rank(w.shape, 3, "weights")[1:] for w in (fc1_experts_weights, fc2_experts_weights))
        confirm(product(first), rows * product(second), "the numbers of elements of the weights of an expert")
    return input.dims
