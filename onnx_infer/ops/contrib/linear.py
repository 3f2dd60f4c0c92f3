"""Matrix products of onnxruntime: fused, of quantized weights, of integers; and mixtures of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.scaling import is_power_of_two
from onnx_infer.errors import require
from onnx_infer.laws.granularity import demand_for_columns, demand_single, demand_vector
from onnx_infer.laws.limits import demand_at_least
from onnx_infer.laws.sizes import at_least, confirm, confirm_shape, differ, exact_quotient, may_be_empty, of_rank, unify
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.operators.rule import uncounted
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.linear import gemm, matmul, matmul_shape, matrix_product
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Sparse
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Shapes
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
def quantized_matmul(
    A: SymTensor,
    B: SymTensor,
    b_scale: AnyRank,
    b_zero_point: AnyRank | None,
    bias: AnyRank | None,
    a_scale: AnyRank | None = None,
    a_zero_point: AnyRank | None = None,
) -> Shape:
    """(*batch, M, K), (*batch, K, N), scales and zero points for each column of B or for all -> (*batch, M, N).

    onnxruntime takes longer scales where B has one column.
    """
    shape = matmul_shape(A.dims, B.dims)
    demand_single(a_zero_point=a_zero_point)
    if B.rank < 2:
        return shape
    if at_least(B.dims[-1], 2):
        demand_for_columns(shape, shape, a_scale=a_scale, b_scale=b_scale)
        demand_for_columns(shape, B.dims, exact=True, b_zero_point=b_zero_point)
    if not may_be_empty(shape) and bias is not None and bias.shape is not None:
        confirm(B.dims[-1], product(bias.shape), "the columns of B and the size of bias")
    return shape


contrib(
    "MatMulInteger16", inputs="A B", dtype=lambda A: dt.INT32 if A.dtype == dt.INT16 else None, cost=matrix_product
)(matmul)
contrib("QOrderedMatMul", inputs="A scale_A B scale_B scale_Y bias? C? scale_C?", cost=matrix_product)(matmul)


@contrib("GemmFastGelu", inputs="X W bias?", cost=matrix_product)
def gemm_fast_gelu(X: SymTensor, W: SymTensor) -> Shape:
    """(*batch, M, K), (K, N) -> (*batch, M, N)."""
    return matmul_shape(X.dims, W.dims)


@contrib("SparseToDenseMatMul", inputs="A B", dtype=lambda B: B.dtype, cost=matrix_product)
def sparse_matmul(A: Value, B: SymTensor, transA: int = 0, transB: int = 0) -> Shape:
    """Sparse (M, K), dense (K, N), each perhaps transposed -> (M, N)."""
    require(isinstance(A, Sparse), "A is not sparse", A)
    rows = transposed(of_rank(getattr(A, "shape", None), 2, "A"), transA, 0)
    return matmul_shape(rows, transposed(B.dims, transB, 0))


@contrib("CDist", inputs="A B", cost=uncounted)
def distances(A: AnyRank, B: AnyRank) -> Shape:
    """(M, N), (K, N) -> (M, K)."""
    a, b = of_rank(A.shape, 2, "A"), of_rank(B.shape, 2, "B")
    unify(a[1], b[1], "sizes of the vectors")
    return a[0], b[0]


@contrib("FusedGemm", inputs="A B C?", cost=matrix_product)
@contrib("GemmFloat8", inputs="A B C? scaleA? scaleB? scaleY?", dtype=lambda dtype=dt.FLOAT: dtype, cost=matrix_product)
def fused_gemm(A: SymTensor, B: SymTensor, C: AnyRank | None, transA: int = 0, transB: int = 0) -> Shape:
    """(M, K), (K, N), C that broadcasts to (M, N) -> (M, N)."""
    return gemm(A, B, C, transA, transB)


@contrib(
    "QGemm",
    inputs="A a_scale a_zero_point B b_scale b_zero_point C? y_scale? y_zero_point?",
    dtype=lambda y_zero_point: dt.FLOAT if y_zero_point is None else y_zero_point.dtype,
    cost=matrix_product,
)
def quantized_gemm(
    A: SymTensor,
    a_scale: AnyRank,
    a_zero_point: AnyRank,
    B: SymTensor,
    b_scale: AnyRank,
    b_zero_point: AnyRank,
    C: AnyRank | None,
    y_scale: AnyRank | None,
    y_zero_point: AnyRank | None,
    transA: int = 0,
    transB: int = 0,
) -> Shape:
    """As Gemm. The scale and the zero point of B have one shape: a scalar, or a vector for each column or for all."""
    shape: Shape = gemm(A, B, C, transA, transB)
    demand_single(a_scale=a_scale, a_zero_point=a_zero_point, y_scale=y_scale, y_zero_point=y_zero_point)
    demand_vector(shape[1], b_scale=b_scale, b_zero_point=b_zero_point)
    if b_scale.shape is not None:
        confirm_shape(b_scale.shape, b_zero_point.shape, "the scale and the zero point of B")
    return shape


# -- of weights in blocks of few bits ----------------------------------------------------------------------------------


def projected(A: SymTensor, inner: Dim, outer: Dim) -> Shape:
    """(*batch, inner) -> (*batch, outer)."""
    require(A.rank >= 1, "the left factor is a scalar")
    unify(A.dims[-1], inner, "the last size of A and the inner size of the weight")
    return (*A.dims[:-1], outer)


def packed_product(_: Shapes, outputs: Shapes, attributes: Attributes) -> Dim:
    """Multiply-adds: the elements of the result times the inner size, which is an attribute."""
    return product(outputs[0]) * attributes["K"]  # type: ignore[arg-type, no-any-return]


def _demand_one_of(name: str, given: AnyRank | None, *shapes: Shape) -> None:
    """Demand one of these shapes, which are known."""
    if given is None or given.shape is None:
        return
    same = [shape for shape in shapes if len(shape) == len(given.shape)]
    found = [shape for shape in same if not any(map(differ, given.shape, shape))]
    wanted = " or ".join(str(list(shape)) for shape in shapes)
    if demand(found, f"the shape of {name} is not {wanted}", list(given.shape)) and len(found) == 1:
        confirm_shape(found[0], given.shape, name)


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

    The scales are (N, blocks) or flat; so are zero points, but as integers they are packed in bytes, each row by itself.
    """
    if block_size is None or not demand(
        block_size >= 16 and is_power_of_two(block_size), "block_size is no power of 2 of at least 16", block_size
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


@contrib("MatMulNBitsQLoRA", inputs="X W scales lora_A lora_A_scales lora_B lora_B_scales", cost=uncounted)
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


@contrib(
    "MatMulNBitsMlp", inputs="A skip? norm_scale? gate_B gate_scales gate_bias? up_B up_scales up_bias?", cost=uncounted
)
def gated_projection(A: SymTensor, K: int, N: int) -> list[Shape]:
    """(*batch, K) -> (*batch, N), and the sum with skip (*batch, K)."""
    return [projected(A, K, N), projected(A, K, K)]


@contrib(
    "MatMulNBitsQkv",
    inputs="A skip? norm_scale q_B q_scales q_bias? k_B k_scales k_bias? v_B v_scales v_bias?",
    cost=uncounted,
)
def query_key_value_projections(A: SymTensor, K: int, Nq: int, Nkv: int) -> list[Shape]:
    """(*batch, K) -> (*batch, Nq), twice (*batch, Nkv), and the sum with skip (*batch, K)."""
    return [projected(A, K, N) for N in (Nq, Nkv, Nkv, K)]


# -- mixtures of experts -----------------------------------------------------------------------------------------------


@contrib(
    "MoE",
    inputs="input router_probs fc1_experts_weights fc1_experts_bias? fc2_experts_weights fc2_experts_bias? "
    "fc3_experts_weights? fc3_experts_bias?",
    cost=uncounted,
)
@contrib(
    "QMoE",
    inputs="input router_probs fc1_experts_weights fc1_scales? fc1_experts_bias? fc2_experts_weights fc2_scales? "
    "fc2_experts_bias? fc3_experts_weights? fc3_scales? fc3_experts_bias? fc1_zero_points? fc2_zero_points? "
    "fc3_zero_points? router_weights? fc1_global_scale? fc2_global_scale? fc1_act_scale? fc2_act_scale? "
    "fc1_act_block_scale? fc2_act_block_scale?",
    cost=uncounted,
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


@contrib(
    "MoEPacked",
    inputs="input router_probs gate_experts_weights up_experts_weights? down_experts_weights router_weights?",
    cost=uncounted,
)
def mixture_of_packed_experts(input: SymTensor, router_probs: AnyRank, gate_experts_weights: AnyRank) -> Shape:
    """(*batch, hidden) -> the same. The router has a row (experts) for each token."""
    require(input.rank >= 1, "the input is a scalar")
    tokens, experts = of_rank(router_probs.shape, 2, "router_probs")
    confirm(product(input.dims[:-1]), tokens, "the number of tokens and of rows of router_probs")
    confirm(experts, of_rank(gate_experts_weights.shape, 3, "gate_experts_weights")[0], "the numbers of experts")
    return input.dims


@contrib(
    "MoEGroupRouter",
    inputs="logits expert_bias projection_weight?",
    dtype=lambda logits: [logits.dtype, dt.FLOAT, dt.FLOAT],
    cost=uncounted,
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


@contrib("RouterGateUpProj", inputs="X W", cost=uncounted)
def project_to_router_and_expert(X: SymTensor, W: AnyRank, router_size: int) -> list[Shape]:
    """(*batch, K), (K, router + 2*inner) -> (*batch, router), (*batch, inner)."""
    require(X.rank >= 1, "X is a scalar")
    demand(router_size > 0, "router_size must be positive", router_size)
    inner, columns = of_rank(W.shape, 2, "W")
    unify(X.dims[-1], inner, "the last size of X and the first one of W")
    demand_at_least(columns, router_size + 2, "the number of columns of W")
    expert = exact_quotient(columns - router_size, 2, "the number of columns of the gate and the expert")
    return [(*X.dims[:-1], router_size), (*X.dims[:-1], expert)]
