"""The number of multiply-adds of an operator, from the shapes of its inputs and outputs.

A multiply-add is one of the products in the sums of a contraction: a matrix product, a convolution, attention or a
recurrent layer. By definition, elementwise operators, reductions, movements and comparisons have none. The softmax and
the biases of layers are not counted either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from onnx_infer.laws.sizes import broadcast_size
from onnx_infer.operators.registration import normal_domain
from onnx_infer.ops.linear import read_equation
from onnx_infer.results.sources import without_computed
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value
from symdim import product

Shapes: TypeAlias = "Sequence[Shape | None]"
Rule: TypeAlias = "Callable[[Shapes, Shapes, Mapping[str, Any]], Dim | None]"

_MICROSOFT = (
    "AttnLSTM", "CDist", "DecoderAttention", "DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention",
    "DynamicSparseAttention", "GatedDeltaNet", "GatedRelativePositionBias", "HyperConnectionLowRankMix", "Irfft",
    "LinearAttention", "LongformerAttention", "Mamba2Verify", "MatMulNBitsMlp", "MatMulNBitsQLoRA", "MatMulNBitsQkv",
    "MoE", "MoEGroupRouter", "MoEPacked", "PackedAttention", "PackedMultiHeadAttention", "PackedSparseAttentionIndexer",
    "PagedAttention", "QMoE", "QOrderedAttention", "QOrderedLongformerAttention", "Rfft", "RouterGateUpProj",
    "SparseAttention", "SparseAttentionIndexer", "SparsePagedAttention", "VarlenCausalConvWithState",
    "WordConvEmbedding",
)  # fmt: skip
NOT_COUNTED = frozenset(
    ("DFT", "STFT", "Det", "ai.onnx.ml::SVMClassifier", "ai.onnx.ml::SVMRegressor",
     *[f"com.microsoft::{name}" for name in _MICROSOFT])
)  # fmt: skip
"""Operators with multiply-adds that are not counted here."""


def multiply_adds(
    op_type: str,
    domain: str,
    inputs: Sequence[Value | None],
    outputs: Sequence[Value | None],
    attributes: Mapping[str, Any],
) -> Dim | None:
    """The multiply-adds of one node of an operator; 0 if it contracts nothing, None if they are not known.

    >>> from symdim import Var
    >>> B, S = Var("B"), Var("S")
    >>> a, w, y = (SymTensor(1, shape) for shape in ((B, S, 64), (64, 128), (B, S, 128)))
    >>> multiply_adds("MatMul", "", (a, w), (y,), {})
    8192*B*S
    """
    domain = normal_domain(domain)
    title = f"{domain}::{op_type}" if domain else op_type
    rule = _RULES.get(title)
    if rule is None:
        return None if title in NOT_COUNTED else 0
    try:
        return rule([_shape(v) for v in inputs], [_shape(v) for v in outputs], attributes)
    except (_Missing, AttributeError, LookupError, TypeError, ValueError):  # a malformed node; inference reports it
        return None


class _Missing(Exception):  # noqa: N818  (a signal: a shape is not known)
    """A count needs a shape that is not known."""


def _shape(value: Value | None) -> Shape | None:
    known = isinstance(value, SymTensor) and value.shape is not None
    return tuple(map(without_computed, value.shape)) if known else None  # type: ignore[union-attr]


def _need(shapes: Shapes, index: int) -> Shape:
    found = shapes[index] if index < len(shapes) else None
    if found is None:
        raise _Missing
    return found


def _optional(shapes: Shapes, index: int) -> Shape | None:
    return shapes[index] if index < len(shapes) else None


# -- rules: (shapes of inputs, shapes of outputs, attributes) -> multiply-adds ----------------------------------------


def _matrix_product(inner: str = "") -> Rule:
    """Elements of the result times the inner size: the last of A (the one before with `transA`), or an attribute."""

    def rule(inputs: Shapes, outputs: Shapes, attributes: Mapping[str, Any]) -> Dim | None:
        if inner:
            size: Dim = attributes[inner]
        else:
            a = _need(inputs, 0)
            size = a[-2] if attributes.get("transA") and len(a) > 1 else a[-1]
        return product(_need(outputs, 0)) * size

    return rule


def _convolution(weight: int) -> Rule:
    """Elements of the result times the terms of each: the channels of a group times the kernel."""
    return lambda inputs, outputs, _: product((*_need(outputs, 0), *_need(inputs, weight)[1:]))


def _transposed_convolution(inputs: Shapes, _: Shapes, __: Mapping[str, Any]) -> Dim:
    """Each element of X is multiplied with the kernels of the channels of its group."""
    return product((*_need(inputs, 0), *_need(inputs, 1)[1:]))


def _recurrence(inputs: Shapes, _: Shapes, __: Mapping[str, Any]) -> Dim:
    """The weights W and R are used once at each step of each sequence of the batch."""
    steps = product(_need(inputs, 0)[:2])
    return steps * (product(_need(inputs, 1)) + product(_need(inputs, 2)))


def _attention(inputs: Shapes, outputs: Shapes, _: Mapping[str, Any]) -> Dim:
    """Q K' and the product with V: (elements of Q + elements of Y) times the length of the keys, past keys included."""
    key = _need(inputs, 1)
    length = key[2 if len(key) == 4 else 1]
    past = _optional(inputs, 4)
    return (product(_need(inputs, 0)) + product(_need(outputs, 0))) * (length if past is None else length + past[2])


def _multi_head_attention(inputs: Shapes, outputs: Shapes, _: Mapping[str, Any]) -> Dim:
    """As Attention. `query` may contain keys and values (5 axes, B S H 3 D); `present_key` has the whole length."""
    query, key, present = _need(inputs, 0), _optional(inputs, 1), _optional(outputs, 1)
    elements = product(query) if len(query) == 3 else product((*query[:3], query[-1]))
    length = query[1] if key is None else key[2] if len(key) == 4 else key[1]
    return (elements + product(_need(outputs, 0))) * (length if present is None else present[2])


def _group_query_attention(_: Shapes, outputs: Shapes, __: Mapping[str, Any]) -> Dim:
    """Each of the two products: the elements of Y times the length of the keys, which `present_key` has."""
    return 2 * product(_need(outputs, 0)) * _need(outputs, 1)[2]


def _projected_attention(past: int) -> Rule:
    """The projection of the input to queries, keys and values, then as Attention (com.microsoft)."""

    def rule(inputs: Shapes, outputs: Shapes, attributes: Mapping[str, Any]) -> Dim | None:
        batch, length, _ = _need(inputs, 0)
        inner, merged = _need(inputs, 1)
        before = _optional(inputs, past)
        sizes = attributes.get("qkv_hidden_sizes")
        query = sizes[0] if sizes else merged // 3
        keys = length if before is None else length + before[3]
        return batch * length * (inner * merged + keys * (query + _need(outputs, 0)[2]))

    return rule


def _einsum(inputs: Shapes, _: Shapes, attributes: Mapping[str, Any]) -> Dim:
    """The product of the sizes of all labels, times (operands - 1): all operands are contracted at once."""
    terms, _output = read_equation(attributes["equation"])
    sizes: dict[object, Dim] = {}
    for i, term in enumerate(terms):
        shape = _need(inputs, i)
        covered = len(shape) - len(term) + 1
        labels: list[object] = []
        for label in term:
            labels += [label] if label != "..." else [k - covered for k in range(covered)]
        for axis, size in zip(labels, shape, strict=True):
            sizes[axis] = broadcast_size(sizes[axis], size) if axis in sizes else size
    return product(sizes.values()) * (len(terms) - 1)


def _linear_model(inputs: Shapes, _: Shapes, attributes: Mapping[str, Any]) -> Dim:
    """Each row of X is multiplied with all coefficients."""
    x = _need(inputs, 0)
    return (x[0] if len(x) > 1 else 1) * len(attributes["coefficients"])


_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("MatMul", "MatMulInteger", "QLinearMatMul", "Gemm", "com.microsoft::DynamicQuantizeMatMul",
         "com.microsoft::FusedGemm", "com.microsoft::FusedMatMul", "com.microsoft::FusedMatMulActivation",
         "com.microsoft::GemmFastGelu", "com.microsoft::GemmFloat8", "com.microsoft::MatMulBlockQuantizedFp4Weight",
         "com.microsoft::MatMulBlockQuantizedFp8Weight", "com.microsoft::MatMulFpQ4",
         "com.microsoft::MatMulInteger16", "com.microsoft::MatMulIntegerToFloat", "com.microsoft::QGemm",
         "com.microsoft::QOrderedMatMul", "com.microsoft::SparseToDenseMatMul", "com.microsoft::TransposeMatMul"),
        _matrix_product(),
    ),
    **dict.fromkeys(
        ("com.microsoft::MatMulBnb4", "com.microsoft::MatMulNBits", "com.microsoft::MatMulPacked"), _matrix_product("K")
    ),
    **dict.fromkeys(
        ("Conv", "ConvInteger", "DeformConv", "com.microsoft::FusedConv", "com.microsoft::NhwcFusedConv",
         "com.microsoft::NhwcConv", "com.microsoft.nchwc::Conv", "com.microsoft::CausalConvWithState"),
        _convolution(1),
    ),
    **dict.fromkeys(("QLinearConv", "com.microsoft::QLinearConv"), _convolution(3)),
    **dict.fromkeys(("ConvTranspose", "com.microsoft::ConvTransposeWithDynamicPads"), _transposed_convolution),
    **dict.fromkeys(("LSTM", "GRU", "RNN", "com.microsoft::DynamicQuantizeLSTM"), _recurrence),
    "Einsum": _einsum,
    "Attention": _attention,
    "com.microsoft::MultiHeadAttention": _multi_head_attention,
    "com.microsoft::GroupQueryAttention": _group_query_attention,
    "com.microsoft::Attention": _projected_attention(4),
    "com.microsoft::QAttention": _projected_attention(8),
    **dict.fromkeys(("ai.onnx.ml::LinearClassifier", "ai.onnx.ml::LinearRegressor"), _linear_model),
}  # fmt: skip
