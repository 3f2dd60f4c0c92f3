"""Nodes of operators that few steps give operands: quantised tensors, texts, recurrent layers, onnxruntime's own ones.

The operator cases have these operators, too, but with operands of their own sizes. Here the operands are values of the
model. Each function tries one step in a scope. A step that finds no fit value, or that does not run, changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from tests.fuzz.arithmetic import is_float, is_tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.growing import Scope

MICROSOFT = "com.microsoft"


def _ranked(rank: int) -> Callable[[Any], bool]:
    return lambda x: is_float(x) and x.ndim == rank


def _is_quantised(x: Any) -> bool:
    return is_tensor(x) and x.dtype in (np.uint8, np.int8)


def _is_text(x: Any) -> bool:
    return is_tensor(x) and x.dtype.kind in "OSU"


def _floats(scope: Scope, *shape: int) -> str:
    """A constant of quarters."""
    count = int(np.prod(shape))
    return scope.constant([scope.grower.rng.randint(-4, 4) / 4 for _ in range(count)] if shape else 0.5, np.float32)


def _weights(scope: Scope, shape: tuple[int, ...], dtype: Any = np.float32) -> str:
    """A constant of small whole numbers of this shape."""
    count = int(np.prod(shape))
    numbers = [scope.grower.rng.randint(0, 3) for _ in range(count)]
    return scope.constant(np.array(numbers, dtype).reshape(shape), dtype)


def quantised(scope: Scope) -> None:
    """A tensor of floats as one of 8 bits: with one scale, one for each index of an axis, or one for each block."""
    rng, opset = scope.grower.rng, scope.grower.opset
    value = scope.pick(is_float)
    if not value or opset < 10:
        return
    shape = scope.arrays[value].shape
    if opset >= 11 and rng.random() < 0.3:
        scope.attempt(scope.node("DynamicQuantizeLinear", value, outputs=3))
        return
    domain = MICROSOFT if rng.random() < 0.2 else ""
    axis = rng.randrange(-len(shape), len(shape)) if shape and (opset >= 13 or domain) and rng.random() < 0.6 else None
    sizes, block = [], None
    if axis is not None:
        sizes = [shape[axis]]
        if opset >= 21 and not domain and rng.random() < 0.5:
            block = rng.choice([1, 2, 3, 4])
            sizes = list(shape)
            sizes[axis] = -(-shape[axis] // block)
    scale = scope.constant(np.full(sizes, 0.25), np.float32)
    kind = rng.choice([np.uint8, np.int8])
    zero = scope.constant(np.full(sizes, 3), kind)
    made = scope.attempt(scope.node("QuantizeLinear", value, scale, zero, domain=domain, axis=axis, block_size=block))
    if made and rng.random() < 0.6:
        scope.attempt(scope.node("DequantizeLinear", made[0], scale, zero, domain=domain, axis=axis, block_size=block))


def _scales(scope: Scope, name: str) -> list[str]:
    """A quantised value with its scale and its zero point."""
    return [name, _floats(scope), scope.constant(2, scope.arrays[name].dtype)]


def product_of_integers(scope: Scope) -> None:
    """A product of quantised matrices, one of them a constant or a value, as integers or quantised again."""
    rng = scope.grower.rng
    left = scope.pick(lambda x: _is_quantised(x) and x.ndim >= 1)
    if not left or scope.grower.opset < 10:
        return
    array = scope.arrays[left]
    right = scope.pick(_is_quantised) if rng.random() < 0.3 else None
    right = right or _weights(scope, (array.shape[-1], rng.choice([1, 2, 3])), rng.choice([np.uint8, np.int8]))
    if rng.random() < 0.5:
        scope.attempt(scope.node("MatMulInteger", left, right))
    else:
        out = [_floats(scope), scope.constant(1, array.dtype)]
        scope.attempt(scope.node("QLinearMatMul", *_scales(scope, left), *_scales(scope, right), *out))


def convolution_of_integers(scope: Scope) -> None:
    """A convolution of a quantised tensor, as integers or quantised again."""
    rng = scope.grower.rng
    value = scope.pick(lambda x: _is_quantised(x) and 3 <= x.ndim <= 4)
    if not value or scope.grower.opset < 10:
        return
    array = scope.arrays[value]
    kernel = [rng.choice([1, 1, 2, 3]) for _ in array.shape[2:]]
    weights = _weights(scope, (rng.choice([1, 2, 4]), array.shape[1], *kernel), array.dtype)
    rest: dict[str, Any] = {
        "strides": rng.choice([None, [rng.choice([1, 2])] * len(kernel)]),
        "pads": rng.choice([None, [rng.choice([0, 1])] * 2 * len(kernel)]),
    }
    if rng.random() < 0.4:
        scope.attempt(scope.node("ConvInteger", value, weights, **rest))
    else:
        out = [_floats(scope), scope.constant(1, array.dtype)]
        scope.attempt(scope.node("QLinearConv", *_scales(scope, value), *_scales(scope, weights), *out, **rest))


def quantised_function(scope: Scope) -> None:
    """A function of quantised tensors that onnxruntime has: of one, of two that broadcast, or of several joined."""
    rng = scope.grower.rng
    left, right = scope.pick(_is_quantised), scope.pick(_is_quantised)
    if not left or not right:
        return
    kind = scope.arrays[left].dtype
    out = [_floats(scope), scope.constant(1, kind)]
    op_type = rng.choice(["QLinearAdd", "QLinearMul", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearConcat"])
    if op_type in ("QLinearAdd", "QLinearMul"):
        pair = [*_scales(scope, left), *_scales(scope, right)]
        scope.attempt(scope.node(op_type, *pair, *out, domain=MICROSOFT))
    elif op_type == "QLinearConcat":
        rank = scope.arrays[left].ndim
        axis = rng.randrange(-rank, rank) if rank else 0
        pair = [*_scales(scope, left), *_scales(scope, right)]
        scope.attempt(scope.node(op_type, *out, *pair, domain=MICROSOFT, axis=axis))
    else:
        scope.attempt(scope.node(op_type, *_scales(scope, left), *out, domain=MICROSOFT))


def texts(scope: Scope) -> None:
    """A function of texts: joined, cut, matched, normalised, numbered, or counted."""
    rng, grower = scope.grower.rng, scope.grower
    value = scope.pick(_is_text)
    if not value:
        if scope is grower.scope and len(grower.inputs) < 6:
            grower.any_input(TensorProto.STRING, rng.choice([1, 1, 2]))
        return
    other = scope.pick(_is_text)
    op_type = rng.choice(["StringConcat", "StringSplit", "RegexFullMatch", "StringNormalizer", "LabelEncoder",
                          "TfIdfVectorizer"])  # fmt: skip
    if op_type == "StringConcat" and other and grower.opset >= 20:
        scope.attempt(scope.node(op_type, value, other))
    elif op_type == "StringSplit" and grower.opset >= 20:
        rest = {"delimiter": rng.choice([None, "", " ", "b"]), "maxsplit": rng.choice([None, 0, 1, 2])}
        scope.attempt(scope.node(op_type, value, outputs=2, **rest))
    elif op_type == "RegexFullMatch" and grower.opset >= 20:
        scope.attempt(scope.node(op_type, value, pattern=rng.choice(["a", "b.*", ".*"])))
    elif op_type == "StringNormalizer" and grower.opset >= 10:
        rest = {"case_change_action": rng.choice(["UPPER", "NONE"]), "stopwords": rng.choice([None, ["a"], ["a", "c"]])}
        scope.attempt(scope.node(op_type, value, is_case_sensitive=1, **rest))
    elif op_type == "LabelEncoder" and grower.ml_opset >= 2:
        scope.attempt(scope.node(
            op_type, value, domain="ai.onnx.ml", keys_strings=["a", "b 1"], values_int64s=[rng.choice([0, 1, 2]), 3]
        ))  # fmt: skip
    elif op_type == "TfIdfVectorizer" and grower.opset >= 9:
        scope.attempt(scope.node(
            op_type, value, mode=rng.choice(["TF", "IDF", "TFIDF"]), pool_strings=["a", "b 1"], ngram_counts=[0],
            ngram_indexes=[0, rng.choice([1, 3])], max_gram_length=1, min_gram_length=1, max_skip_count=0,
        ))  # fmt: skip


def recurrent(scope: Scope) -> None:
    """An RNN, GRU or LSTM with weights of the input's size, some of its results left out."""
    rng = scope.grower.rng
    value = scope.pick(_ranked(3))
    if not value or scope.grower.opset < 7:
        return
    op_type, gates = rng.choice([("RNN", 1), ("GRU", 3), ("LSTM", 4)])
    hidden, directions = rng.choice([1, 2, 3]), rng.choice([1, 1, 2])
    size = scope.arrays[value].shape[-1]
    weights = _weights(scope, (directions, gates * hidden, size)), _weights(scope, (directions, gates * hidden, hidden))
    layout = rng.choice([None, 0]) if scope.grower.opset >= 14 else None
    direction = "bidirectional" if directions == 2 else rng.choice(["forward", "reverse"])
    rest = {"hidden_size": hidden, "direction": direction, "layout": layout}
    scope.attempt(scope.node(op_type, value, *weights, outputs=rng.choice([1, 2]), **rest))


def fused(scope: Scope) -> None:
    """A product of matrices, an activation or a normalisation that onnxruntime fuses with others."""
    rng = scope.grower.rng
    value = scope.pick(lambda x: is_float(x) and x.ndim >= 1)
    if not value:
        return
    shape = scope.arrays[value].shape
    last = shape[-1]
    op_type = rng.choice(["FusedMatMul", "Gelu", "BiasGelu", "FastGelu", "QuickGelu", "SkipLayerNormalization",
                          "SkipSimplifiedLayerNormalization", "FusedGemm"])  # fmt: skip
    if op_type == "FusedMatMul":
        names = ("transA", "transB", "transBatchA", "transBatchB")
        turns: dict[str, Any] = {name: rng.choice([None, 0, 1]) for name in names}
        other = value if rng.random() < 0.5 else scope.pick(is_float) or value
        if other == value:
            turns |= {"transB": 1 - (turns["transA"] or 0), "transBatchB": turns["transBatchA"]}
        scope.attempt(scope.node(op_type, value, other, domain=MICROSOFT, alpha=0.5, **turns))
    elif op_type in ("BiasGelu", "FastGelu"):
        scope.attempt(scope.node(op_type, value, _weights(scope, (last,)), domain=MICROSOFT))
    elif op_type.startswith("Skip"):
        skip = scope.pick(lambda x: is_float(x) and x.shape[-2:] == shape[-2:]) or value
        count = rng.choice([1, 1, 4])
        scope.attempt(scope.node(op_type, value, skip, _weights(scope, (last,)), domain=MICROSOFT, outputs=count))
    elif op_type == "FusedGemm":
        value = scope.pick(_ranked(2)) or value
        weights = _weights(scope, (scope.arrays[value].shape[-1], 2))
        scope.attempt(scope.node(op_type, value, weights, domain=MICROSOFT, activation="Relu"))
    else:
        scope.attempt(scope.node(op_type, value, domain=MICROSOFT))


def normalised(scope: Scope) -> None:
    """A tensor normalised by its channels, or a function of single elements that no other step has."""
    rng, opset = scope.grower.rng, scope.grower.opset
    value = scope.pick(lambda x: is_float(x) and x.ndim >= 3)
    if value and opset >= 6 and rng.random() < 0.5:
        channels = scope.arrays[value].shape[1]
        pair = _weights(scope, (channels,)), _weights(scope, (channels,))
        scope.attempt(scope.node("InstanceNormalization", value, *pair))
    elif (other := scope.pick(is_float)) and opset >= 6:
        scope.attempt(scope.node(rng.choice(["Sigmoid", "Softplus", "Tanh"]), other))


KERNELS = (quantised, quantised, quantised, product_of_integers, convolution_of_integers, quantised_function,
           quantised_function, texts, texts, texts, recurrent, fused, fused, normalised)  # fmt: skip
