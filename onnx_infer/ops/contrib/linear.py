"""Matrix products of onnxruntime: fused, of quantized tensors, of integers; and mixtures of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.granularity import demand_for_columns, demand_single, demand_vector
from onnx_infer.laws.limits import demand_at_least
from onnx_infer.laws.sizes import at_least, confirm, confirm_shape, exact_quotient, may_be_empty, of_rank, unify
from onnx_infer.laws.statements import demand
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.ops.linear import gemm, matmul, matmul_shape, matrix_product
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Sparse
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Scales, Shape, SymTensor, Value

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


@contrib("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul", inputs="A B", cost=matrix_product)
def fused_matmul(
    A: SymTensor, B: SymTensor, transA: int = 0, transB: int = 0, transBatchA: int = 0, transBatchB: int = 0
) -> Shape:
    """(*batch, M, K), (*batch, K, N), each perhaps transposed -> (*batch, M, N)."""
    return matmul_shape(transposed(A.dims, transA, transBatchA), transposed(B.dims, transB, transBatchB))


@contrib("DynamicQuantizeMatMul", inputs="A B b_scale b_zero_point? bias?", cost=matrix_product)
@contrib(
    "MatMulIntegerToFloat",
    inputs="A B a_scale b_scale a_zero_point? b_zero_point? bias?",
    dtype=lambda a_scale: a_scale.dtype,
    cost=matrix_product,
)
def quantized_matmul(A: SymTensor, B: SymTensor, bias: AnyRank | None, scales: Scales) -> Shape:
    """(*batch, M, K), (*batch, K, N), scales and zero points for each column of B or for all -> (*batch, M, N).

    onnxruntime takes longer scales where B has one column.
    """
    shape = matmul_shape(A.dims, B.dims)
    demand_single(scales, "a_zero_point")
    if B.rank < 2:
        return shape
    if at_least(B.dims[-1], 2):
        demand_for_columns(shape, shape, scales, "a_scale", "b_scale")
        demand_for_columns(shape, B.dims, scales, "b_zero_point", exact=True)
    if not may_be_empty(shape) and bias is not None and bias.shape is not None:
        confirm(B.dims[-1], product(bias.shape), "the columns of B and the size of bias")
    return shape


contrib(
    "MatMulInteger16", inputs="A B", dtype=lambda A: dt.INT32 if A.dtype == dt.INT16 else None, cost=matrix_product
)(matmul)
contrib("QOrderedMatMul", inputs="A scale_A B scale_B scale_Y bias? C? scale_C?", cost=matrix_product)(matmul)


contrib("GemmFastGelu", inputs="X=A W=B bias?", cost=matrix_product)(matmul)


@contrib("SparseToDenseMatMul", inputs="A B", dtype=lambda B: B.dtype, cost=matrix_product)
def sparse_matmul(A: Value, B: SymTensor, transA: int = 0, transB: int = 0) -> Shape:
    """Sparse (M, K), dense (K, N), each perhaps transposed -> (M, N)."""
    require(isinstance(A, Sparse), "A is not sparse", A)
    rows = transposed(of_rank(getattr(A, "shape", None), 2, "A"), transA, 0)
    return matmul_shape(rows, transposed(B.dims, transB, 0))


@uncounted_contrib("CDist", inputs="A B")
def distances(A: AnyRank, B: AnyRank) -> Shape:
    """(M, N), (K, N) -> (M, K)."""
    a, b = of_rank(A.shape, 2, "A"), of_rank(B.shape, 2, "B")
    unify(a[1], b[1], "sizes of the vectors")
    return a[0], b[0]


contrib("FusedGemm", inputs="A B C?", cost=matrix_product)(gemm)
contrib("GemmFloat8", inputs="A B C? scaleA? scaleB? scaleY?", dtype=lambda dtype=dt.FLOAT: dtype, cost=matrix_product)(
    gemm
)


@contrib(
    "QGemm",
    inputs="A a_scale a_zero_point B b_scale b_zero_point C? y_scale? y_zero_point?",
    dtype=lambda y_zero_point: dt.FLOAT if y_zero_point is None else y_zero_point.dtype,
    cost=matrix_product,
)
def quantized_gemm(
    A: SymTensor, B: SymTensor, C: AnyRank | None, scales: Scales, transA: int = 0, transB: int = 0
) -> Shape:
    """As Gemm. The scale and the zero point of B have one shape: a scalar, or a vector for each column or for all."""
    shape: Shape = gemm(A, B, C, transA, transB)
    demand_single(scales, "a_scale", "a_zero_point", "y_scale", "y_zero_point")
    demand_vector(shape[1], scales, "b_scale", "b_zero_point")
    if scales["b_scale"].shape is not None:
        confirm_shape(scales["b_scale"].shape, scales["b_zero_point"].shape, "the scale and the zero point of B")
    return shape


# -- mixtures of experts -----------------------------------------------------------------------------------------------


@uncounted_contrib(
    "MoE",
    inputs="input router_probs fc1_experts_weights fc1_experts_bias? fc2_experts_weights fc2_experts_bias? "
    "fc3_experts_weights? fc3_experts_bias?",
)
@uncounted_contrib(
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
    expert_weight_bits: int = 4,
    fc1_expert_weight_bits: int | None = None,
    fc2_expert_weight_bits: int | None = None,
) -> Shape:
    """(tokens, hidden) or (B, S, hidden) -> the same. The router has a row (experts) for each token.

    The weights are (experts, inner, hidden) and (experts, hidden, inner), or with their last two axes swapped. Packed
    weights have fewer elements by their number of bits. The first ones have twice as many rows if they hold gates too.
    """
    tokens, experts = of_rank(router_probs.shape, 2, "router_probs")
    confirm(product(input.dims[:-1]), tokens, "the number of tokens and of rows of router_probs")
    confirm(experts, of_rank(fc2_experts_weights.shape, 3, "fc2_experts_weights")[0], "the numbers of experts")
    gated = activation_type in ("swiglu", "geglu")
    if not gated or swiglu_fusion:
        weights = (fc1_experts_weights, fc2_experts_weights)
        first, second = (product(of_rank(w.shape, 3, "weights")[1:]) for w in weights)
        first_bits = fc1_expert_weight_bits or expert_weight_bits
        second_bits = fc2_expert_weight_bits or expert_weight_bits
        if first_bits != second_bits:
            first, second = second_bits * first, first_bits * second
        confirm(first, (2 if gated else 1) * second, "the numbers of elements of the weights of an expert")
    return input.dims


@uncounted_contrib(
    "MoEPacked",
    inputs="input router_probs gate_experts_weights up_experts_weights? down_experts_weights router_weights?",
)
def mixture_of_packed_experts(input: SymTensor, router_probs: AnyRank, gate_experts_weights: AnyRank) -> Shape:
    """(*batch, hidden) -> the same. The router has a row (experts) for each token."""
    require(input.rank >= 1, "the input is a scalar")
    tokens, experts = of_rank(router_probs.shape, 2, "router_probs")
    confirm(product(input.dims[:-1]), tokens, "the number of tokens and of rows of router_probs")
    confirm(experts, of_rank(gate_experts_weights.shape, 3, "gate_experts_weights")[0], "the numbers of experts")
    return input.dims


@uncounted_contrib(
    "MoEGroupRouter",
    inputs="logits expert_bias projection_weight?",
    dtype=lambda logits: [logits.dtype, dt.FLOAT, dt.FLOAT],
)
def route_to_experts(
    logits: SymTensor,
    expert_bias: AnyRank,
    projection_weight: AnyRank | None,
    top_k: int,
    n_group: int = 1,
    topk_group: int = 1,
) -> list[Shape]:
    """Logits (*batch, experts), or tokens (count, K) and weights (experts, K) -> scores (tokens, experts), thrice."""
    require(logits.rank >= 2, "rank of the logits is less than 2", logits.rank)
    *batch, experts = logits.dims
    if projection_weight is not None:
        width = of_rank(logits.dims, 2, "logits that are projected")[1]
        experts, inner = of_rank(projection_weight.shape, 2, "projection_weight")
        unify(width, inner, "the last sizes of logits and projection_weight")
    if expert_bias.shape is not None:
        experts = unify(experts, of_rank(expert_bias.shape, 1, "expert_bias")[0], "experts of logits and expert_bias")
    demand_at_least(experts, top_k, "the number of experts")
    demand(1 <= topk_group <= n_group, "there are not that many groups", topk_group, n_group, sign=",")
    exact_quotient(experts, n_group, "the number of experts")
    return [(product(batch), experts)] * 3


@uncounted_contrib("RouterGateUpProj", inputs="X W")
def project_to_router_and_expert(X: SymTensor, W: AnyRank, router_size: int) -> list[Shape]:
    """(*batch, K), (K, router + 2*inner) -> (*batch, router), (*batch, inner)."""
    require(X.rank >= 1, "X is a scalar")
    demand(router_size > 0, "router_size must be positive", router_size)
    inner, columns = of_rank(W.shape, 2, "W")
    unify(X.dims[-1], inner, "the last size of X and the first one of W")
    demand_at_least(columns, router_size + 2, "the number of columns of W")
    expert = exact_quotient(columns - router_size, 2, "the number of columns of the gate and the expert")
    return [(*X.dims[:-1], router_size), (*X.dims[:-1], expert)]
