"""Small models with the node chains of real exporters, made by script: a decoder, a convolution net, a U-net, windows.

Sizes are symbols; weights are zeros. The numbers of layers and blocks are parameters, so that benchmarks use them too.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from onnx import ModelProto, TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Sequence

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Builder:
    """Collects nodes; every method that adds one returns the name of its (first) output."""

    def __init__(self) -> None:
        self.model = ModelProto()
        self.graph = self.model.graph
        self._constants: dict[tuple[Any, ...], str] = {}

    def input(self, name: str, dtype: int, dims: Sequence[int | str]) -> str:
        """A graph input."""
        self.graph.input.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def weight(self, *dims: int) -> str:
        """A float tensor of zeros; one of each shape is enough."""
        key = ("weight", *dims)
        if key not in self._constants:
            self._constants[key] = "weight_" + "x".join(map(str, dims))
            self.graph.initializer.add(
                name=self._constants[key], dims=dims, data_type=FLOAT, raw_data=bytes(4 * prod(dims))
            )
        return self._constants[key]

    def ints(self, *values: int, scalar: bool = False) -> str:
        """A constant of 64-bit integers."""
        key = ("ints", scalar, *values)
        if key not in self._constants:
            self._constants[key] = f"ints_{len(self._constants)}"
            dims = () if scalar else (len(values),)
            self.graph.initializer.append(helper.make_tensor(self._constants[key], INT64, dims, values))
        return self._constants[key]

    def scalar(self, value: float) -> str:
        """A constant float."""
        name = f"float_{value}"
        if ("float", value) not in self._constants:
            self._constants["float", value] = name
            self.graph.initializer.append(helper.make_tensor(name, FLOAT, (), [value]))
        return name

    def node(self, op_type: str, *inputs: str, output: str = "", outputs: int = 1, **attributes: Any) -> str:
        """A node of the default domain."""
        base = output or f"{op_type.lower()}_{len(self.graph.node)}"
        names = [base, *(f"{base}_{i}" for i in range(1, outputs))]
        self.graph.node.append(helper.make_node(op_type, inputs, names, name=f"n_{base}", **attributes))
        return base

    def size(self, x: str, axis: int) -> str:
        """One size of a tensor, as a vector of length 1: Shape, Gather, Unsqueeze."""
        index = self.ints(axis, scalar=True)
        return self.node("Unsqueeze", self.node("Gather", self.node("Shape", x), index), self.ints(0))

    def vector(self, *parts: str | int) -> str:
        """Vectors and numbers concatenated into a shape."""
        return self.node("Concat", *(self.ints(p) if isinstance(p, int) else p for p in parts), axis=0)

    def expand_as_torch(self, x: str, shape: str) -> str:
        """Expand as torch exports it: sizes of -1 in the shape mean 1."""
        shape = self.node("Reshape", shape, self.ints(-1))
        self.graph.node.append(
            helper.make_node(
                "ConstantOfShape",
                [self.node("Shape", shape)],
                [f"ones_{len(self.graph.node)}"],
                value=helper.make_tensor("one", INT64, [1], [1]),
            )
        )
        ones = self.graph.node[-1].output[0]
        keeps = self.node("Equal", shape, self.node("Mul", ones, self.ints(-1, scalar=True)))
        return self.node("Expand", x, self.node("Where", keeps, ones, shape))

    def finish(self, outputs: dict[str, int], opset: int = 18) -> ModelProto:
        """The model with these outputs and their element types; their shapes are not declared."""
        for name, dtype in outputs.items():
            self.graph.output.append(helper.make_tensor_value_info(name, dtype, None))
        self.graph.name = "g"
        self.model.ir_version = 8
        self.model.opset_import.add(domain="", version=opset)
        return self.model


def decoder(layers: int = 2, heads: int = 4, groups: int = 2, size: int = 8) -> ModelProto:
    """A decoder with a key-value cache, grouped heads and a causal mask, in the chains of torch's older exporter."""
    b, width = Builder(), heads * size
    tokens = b.input("input_ids", INT64, ("batch", "seq"))
    pasts = [
        (b.input(f"past_{i}_k", FLOAT, ("batch", groups, "past", size)),
         b.input(f"past_{i}_v", FLOAT, ("batch", groups, "past", size)))
        for i in range(layers)
    ]  # fmt: skip
    x = b.node("Gather", b.weight(100, width), tokens)
    past = b.node("Squeeze", b.size(pasts[0][0], 2), b.ints(0))
    total = b.node("Add", past, b.node("Squeeze", b.size(tokens, 1), b.ints(0)), output="total")
    zero, one = b.ints(0, scalar=True), b.ints(1, scalar=True)
    columns = b.node("Unsqueeze", b.node("Range", zero, total, one), b.ints(0))
    rows = b.node("Unsqueeze", b.node("Range", past, total, one), b.ints(1))
    visible = b.node("LessOrEqual", columns, rows, output="visible")
    mask = b.node("Where", visible, b.scalar(0.0), b.scalar(-1e9))
    for i, (past_k, past_v) in enumerate(pasts):
        x = _decoder_layer(b, x, mask, past_k, past_v, i, heads, groups, size)
    b.node("MatMul", x, b.weight(width, 100), output="logits")
    presents = {f"present_{i}_{part}": FLOAT for i in range(layers) for part in "kv"}
    return b.finish({"logits": FLOAT, **presents})


def _decoder_layer(
    b: Builder, x: str, mask: str, past_k: str, past_v: str, i: int, heads: int, groups: int, size: int
) -> str:
    width = heads * size

    def split_heads(projected: str, count: int) -> str:
        shape = b.vector(b.size(projected, 0), b.size(projected, 1), count, size)
        return b.node("Transpose", b.node("Reshape", projected, shape), perm=[0, 2, 1, 3])

    def repeat(kv: str) -> str:
        batch, total = b.size(kv, 0), b.size(kv, 2)
        shape = b.vector(batch, groups, heads // groups, total, size)
        spread = b.expand_as_torch(b.node("Unsqueeze", kv, b.ints(2)), shape)
        return b.node("Reshape", spread, b.vector(batch, heads, total, size))

    normal = b.node("LayerNormalization", x, b.weight(width), b.weight(width), axis=-1)
    q = split_heads(b.node("MatMul", normal, b.weight(width, width)), heads)
    k = split_heads(b.node("MatMul", normal, b.weight(width, groups * size)), groups)
    v = split_heads(b.node("MatMul", normal, b.weight(width, groups * size)), groups)
    k = b.node("Concat", past_k, k, output=f"present_{i}_k", axis=-2)
    v = b.node("Concat", past_v, v, output=f"present_{i}_v", axis=-2)
    scores = b.node("MatMul", q, b.node("Transpose", repeat(k), perm=[0, 1, 3, 2]))
    weights = b.node("Softmax", b.node("Add", scores, mask, output=f"scores_{i}"), axis=-1)
    mixed = b.node("Transpose", b.node("MatMul", weights, repeat(v)), perm=[0, 2, 1, 3])
    merged = b.node("Reshape", mixed, b.vector(b.size(mixed, 0), b.size(mixed, 1), -1))
    x = b.node("Add", x, b.node("MatMul", merged, b.weight(width, width)))
    inner = b.node("Relu", b.node("MatMul", x, b.weight(width, 4 * width)))
    return b.node("Add", x, b.node("MatMul", inner, b.weight(4 * width, width)), output=f"hidden_{i}")


def cnn(blocks: int = 4, channels: int = 8) -> ModelProto:
    """A residual convolution net; every second block halves the size, its shortcut by a convolution of 1x1."""
    b, c = Builder(), channels

    def conv(x: str, kernel: int, stride: int, output: str = "", inputs: int = c) -> str:
        pad = kernel // 2
        y = b.node("Conv", x, b.weight(c, inputs, kernel, kernel), strides=[stride] * 2, pads=[pad] * 4)
        parameters = [b.weight(c)] * 4
        return b.node("BatchNormalization", y, *parameters, output=output)

    x = b.node("Relu", conv(b.input("image", FLOAT, ("N", 3, "H", "W")), 7, 2, inputs=3))
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, output="pooled")
    for i in range(blocks):
        stride = 1 + i % 2
        y = conv(b.node("Relu", conv(x, 3, stride)), 3, 1)
        x = b.node("Relu", b.node("Add", y, x if stride == 1 else conv(x, 1, 2)), output=f"block_{i}")
    flat = b.node("Flatten", b.node("GlobalAveragePool", x))
    b.node("Gemm", flat, b.weight(10, c), output="scores", transB=1)
    return b.finish({"scores": FLOAT})


def unet(levels: int = 2, channels: int = 4) -> ModelProto:
    """Down by strided convolutions, up by Resize to the size of the level beside it, joined on the channels."""
    b, c = Builder(), channels
    x = b.node("Conv", b.input("image", FLOAT, ("N", 3, "H", "W")), b.weight(c, 3, 3, 3), pads=[1] * 4)
    beside = []
    for _ in range(levels):
        beside.append(x)
        x = b.node("Conv", x, b.weight(c, c, 3, 3), strides=[2, 2], pads=[1] * 4)
    for level, skip in reversed(list(enumerate(beside))):
        front = b.node("Slice", b.node("Shape", x), b.ints(0), b.ints(2), b.ints(0))
        back = b.node("Slice", b.node("Shape", skip), b.ints(2), b.ints(4), b.ints(0))
        x = b.node("Resize", x, "", "", b.vector(front, back), mode="nearest")
        x = b.node("Concat", x, skip, axis=1)
        x = b.node("Conv", x, b.weight(c, 2 * c, 3, 3), pads=[1] * 4, output=f"up_{level}")
    return b.finish({x: FLOAT})


def windows(window: int = 7, channels: int = 4) -> ModelProto:
    """Padding to a multiple of the window, windows as the batch, and back: the reshapes of windowed attention."""
    b, c, w = Builder(), channels, window
    x = b.input("x", FLOAT, ("N", "H", "W", c))
    missing = []
    for axis in (1, 2):
        size = b.size(x, axis)
        modulus = b.ints(w)
        rest = b.node("Mod", size, modulus)
        missing.append(b.node("Mod", b.node("Sub", modulus, rest), modulus))
    pads = b.vector(0, 0, 0, 0, 0, missing[0], missing[1], 0)
    padded = b.node("Pad", x, pads, output="padded")
    batch, rows, columns = (b.size(padded, axis) for axis in range(3))
    down, across = b.node("Div", rows, b.ints(w)), b.node("Div", columns, b.ints(w))
    cut = b.node("Reshape", padded, b.vector(batch, down, w, across, w, c))
    cut = b.node("Transpose", cut, perm=[0, 1, 3, 2, 4, 5])
    tokens = b.node("Reshape", cut, b.ints(-1, w * w, c), output="tokens")
    back = b.node("Reshape", tokens, b.vector(-1, down, across, w, w, c))
    back = b.node("Transpose", back, perm=[0, 1, 3, 2, 4, 5])
    whole = b.node("Reshape", back, b.vector(batch, rows, columns, c), output="whole")
    b.node("Slice", whole, b.ints(0, 0), b.vector(b.size(x, 1), b.size(x, 2)), b.ints(1, 2), output="y")
    return b.finish({"y": FLOAT})


def detector() -> ModelProto:
    """Positions above a threshold and what stands there: data-dependent sizes."""
    b = Builder()
    scores = b.input("scores", FLOAT, ("boxes", "classes"))
    coordinates = b.input("coordinates", FLOAT, ("boxes", 4))
    found = b.node("NonZero", b.node("Greater", scores, b.scalar(0.5)), output="found")
    rows = b.node("Gather", b.node("Transpose", found, perm=[1, 0]), b.ints(0, scalar=True), axis=1)
    b.node("Gather", coordinates, rows, output="kept")
    b.node("Add", "kept", "kept", output="twice")
    return b.finish({"twice": FLOAT})
