"""The model of `python -m onnx_infer --demo`: a convolution stem and an attention block, with symbolic N, H, W and S.

It is built in memory and has the chains of Shape, Gather and Concat that exporters write for every view and reshape.
"""

from __future__ import annotations

from math import prod

import onnx
import onnx.parser

_TEXT = """
<ir_version: 10, opset_import: ["": 20]>
demo (float[N, 3, H, W] image, int64[N, S] tokens) => (float[N, 4, T, T] scores, int64[3, K] kept)
<int64[1] minus1 = {-1}, int64[1] zero = {0}, int64[1] heads = {4}, int64[1] head_size = {16},
 int64 first = {0}, int64 second = {1}, int64[1] width = {64}, float half = {0.5}>
{
    conv1 = Conv <strides: ints = [2, 2], pads: ints = [3, 3, 3, 3]> (image, kernel7)
    pool1 = MaxPool <kernel_shape: ints = [3, 3], strides: ints = [2, 2], ceil_mode: int = 1> (conv1)
    conv2 = Conv <strides: ints = [2, 2], pads: ints = [1, 1, 1, 1]> (pool1, kernel3)
    image_shape = Shape (conv2)
    batch = Gather (image_shape, zero)
    flat_shape = Concat <axis: int = 0> (batch, width, minus1)
    flat = Reshape (conv2, flat_shape)
    patches = Transpose <perm: ints = [0, 2, 1]> (flat)
    words = Gather (embedding, tokens)
    sequence = Concat <axis: int = 1> (patches, words)
    shape = Shape (sequence)
    n = Gather (shape, first)
    t = Gather (shape, second)
    n1 = Unsqueeze (n, zero)
    t1 = Unsqueeze (t, zero)
    split_shape = Concat <axis: int = 0> (n1, t1, heads, head_size)
    q0 = MatMul (sequence, weight_q)
    q1 = Reshape (q0, split_shape)
    q = Transpose <perm: ints = [0, 2, 1, 3]> (q1)
    k0 = MatMul (sequence, weight_k)
    k1 = Reshape (k0, split_shape)
    k = Transpose <perm: ints = [0, 2, 3, 1]> (k1)
    scores = MatMul (q, k)
    mean = ReduceMean <keepdims: int = 0> (scores, minus1)
    strong = Greater (mean, half)
    kept = NonZero (strong)
}
"""

_WEIGHTS = {
    "kernel7": (64, 3, 7, 7),
    "kernel3": (64, 64, 3, 3),
    "embedding": (1000, 64),
    "weight_q": (64, 64),
    "weight_k": (64, 64),
}


def demo_model() -> onnx.ModelProto:
    """The demo model. It is valid; its weights are zeros."""
    model = onnx.parser.parse_model(_TEXT)
    for name, dims in _WEIGHTS.items():
        model.graph.initializer.add(
            name=name, dims=dims, data_type=onnx.TensorProto.FLOAT, raw_data=bytes(4 * prod(dims))
        )
    return model
