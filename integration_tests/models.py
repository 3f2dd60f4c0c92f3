"""Models as exporters write them, with weights, small enough to run."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

HEAD = '<ir_version: 8, opset_import: ["": 17]>'

ATTENTION = """
g (float[batch, seq, 16] x, float[batch, past, 16] cache) => (float[a, b, c] y, float[d, e, f] keys)
<int64 zero = {0}, int64 one = {1}, int64[1] axis0 = {0},
 int64[1] heads = {4}, int64[1] width = {4}, int64[1] joined = {16}>
{
    keys = Concat <axis: int = 1> (cache, x)
    qs = Shape (x)   qn0 = Gather (qs, zero)   qt0 = Gather (qs, one)
    ks = Shape (keys)   kn0 = Gather (ks, zero)   kt0 = Gather (ks, one)
    qn = Unsqueeze (qn0, axis0)   qt = Unsqueeze (qt0, axis0)
    kn = Unsqueeze (kn0, axis0)   kt = Unsqueeze (kt0, axis0)
    q_split = Concat <axis: int = 0> (qn, qt, heads, width)
    k_split = Concat <axis: int = 0> (kn, kt, heads, width)
    q0 = MatMul (x, wq)   q1 = Reshape (q0, q_split)   q = Transpose <perm: ints = [0, 2, 1, 3]> (q1)
    k0 = MatMul (keys, wk)   k1 = Reshape (k0, k_split)   k = Transpose <perm: ints = [0, 2, 3, 1]> (k1)
    v0 = MatMul (keys, wv)   v1 = Reshape (v0, k_split)   v = Transpose <perm: ints = [0, 2, 1, 3]> (v1)
    head_shape = Shape (q)   head = Constant <value = int64[1] {-1}> ()   size0 = Gather (head_shape, head)
    size = Cast <to: int = 1> (size0)   root = Sqrt (size)
    scores0 = MatMul (q, k)   scores1 = Div (scores0, root)   scores = Softmax <axis: int = -1> (scores1)
    mixed = MatMul (scores, v)   back = Transpose <perm: ints = [0, 2, 1, 3]> (mixed)
    y_split = Concat <axis: int = 0> (qn, qt, joined)
    y = Reshape (back, y_split)
}"""

WINDOWS = """
g (float[batch, 3, height, wide] image) => (float[a, b, c, d] y, float[e, f] flat)
<int64 zero = {0}, int64[1] axis0 = {0}, int64[1] rest = {-1}, int64[1] two = {2}, int64[1] four = {4}>
{
    a1 = Conv <strides: ints = [2, 2], pads: ints = [1, 1, 1, 1]> (image, k1)
    a2 = Relu (a1)
    a3 = MaxPool <kernel_shape: ints = [2, 2], strides: ints = [2, 2]> (a2)
    s = Shape (a1)   hw = Slice (s, two, four, axis0)
    s3 = Shape (a3)   nc = Slice (s3, axis0, two, axis0)
    target = Concat <axis: int = 0> (nc, hw)
    up = Resize <mode: string = "nearest"> (a3, , , target)
    joined = Concat <axis: int = 1> (up, a2)
    y = Conv (joined, k2)
    n0 = Gather (s, zero)   n = Unsqueeze (n0, axis0)   flat_shape = Concat <axis: int = 0> (n, rest)
    flat = Reshape (y, flat_shape)
}"""

WEIGHTS = {
    "attention": {"wq": (16, 16), "wk": (16, 16), "wv": (16, 16)},
    "windows": {"k1": (8, 3, 3, 3), "k2": (4, 16, 1, 1)},
}


def model(name: str) -> onnx.ModelProto:
    """The model `attention` or `windows`."""
    made = onnx.parser.parse_model(HEAD + {"attention": ATTENTION, "windows": WINDOWS}[name])
    for node in made.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    random = np.random.default_rng(0)
    for weight, shape in WEIGHTS[name].items():
        values = random.standard_normal(shape).astype(np.float32) / prod(shape) ** 0.5
        made.graph.initializer.append(numpy_helper.from_array(values, weight))
    return made


def inputs(name: str) -> dict[str, np.ndarray]:
    """Inputs at sizes that no other size of the model equals."""
    random = np.random.default_rng(1)
    shapes = {"attention": {"x": (2, 5, 16), "cache": (2, 7, 16)}, "windows": {"image": (2, 3, 22, 34)}}[name]
    return {key: random.standard_normal(shape).astype(np.float32) for key, shape in shapes.items()}


def run(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of a run of onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def types(model: onnx.ModelProto) -> dict[str, tuple[int | str, ...]]:
    """The sizes of the values that nodes give and whose sizes are all named."""
    made = {output for node in model.graph.node for output in node.output}
    found = {}
    for info in (*model.graph.value_info, *model.graph.output):
        sizes = tuple(d.dim_param or (d.dim_value if d.HasField("dim_value") else None)
                      for d in info.type.tensor_type.shape.dim)  # fmt: skip
        if info.name in made and info.type.tensor_type.HasField("shape") and None not in sizes:
            found[info.name] = sizes
    return found
