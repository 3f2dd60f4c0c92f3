"""Models with sizes that are made to be hostile: texts of dimensions, huge numbers, expressions that double."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import onnx.parser
from onnx import ModelProto, NodeProto, helper

from tests.fuzz.texts import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

HUGE = (0, -1, 1, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**31))

REPEATED = (
    ("N", "%{i}", ""),
    ("N", "//{i}", ""),
    ("(", "(", ")"),
    ("floor((", "floor((", ")/2)"),
    ("max(N, ", "min(M, ", ")"),
    ("abs(N - ", "abs(M - ", ")"),
    ("round((", "round((", ")/2)"),
    ("2", "**2", ""),
    ("N", "*(N+{i})", ""),
    ("-", "-", ""),
    ("N", " + M{i}", ""),
    ("max(N, ", "M{i}//2, ", "1)"),
    ("9", "9", ""),
    ("N", "_", ""),
    ("N", "/{i}", ""),
    ("N", "^N", ""),
    ("(N+M)", "*(N{i}+M)", ""),
    ("N", " mod {i}", ""),
    ("ceil(N/", "ceil(N/", ")"),
    ("N[", "[", "]"),
    ("'", "'", ""),
)
"""The start of a text, what is repeated, and the end for each repetition."""


def model_of(nodes: Iterable[NodeProto] | str, inputs: str = "float[N, 4] x") -> ModelProto:
    """A model with these nodes, given as messages or as text, and all that they make as outputs."""
    text = nodes if isinstance(nodes, str) else ""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 20]> g ({inputs}) => () {{ {text} }}')
    if not isinstance(nodes, str):
        model.graph.node.extend(nodes)
    for node in model.graph.node[-3:]:
        for name in islice(node.output, 3):
            model.graph.output.append(helper.make_empty_tensor_value_info(name))
    return model


def many(rng: Random, most: int) -> int:
    """A number up to `most`; all powers of ten are equally likely."""
    return max(1, int(most ** rng.random()))


USES = """a = Concat <axis = 0> (x, x) b = Transpose (a) c = MatMul (a, b) d = Add (c, c) s = Shape (d)
e = ReduceProd (s) f = Reshape (d, s) k = Constant <value_ints = [-1]> () g = Reshape (f, k)
h = MaxPool <kernel_shape = [3]> (x) n = NonZero (d) r = Size (d) t = Div (s, s) u = Tile (x, s)
v = Expand (x, s) w = ConstantOfShape (t)"""


def texts_as_sizes(rng: Random) -> bytes:
    """Sizes whose texts are deep, long, wrong, or names that look like something else."""
    model = model_of(USES)
    drawn = texts(rng.randrange(1 << 40))
    for info in (*model.graph.input, *model.graph.output):
        for dim in info.type.tensor_type.shape.dim:
            dim.dim_param = next(drawn).encode("utf-8", "replace")
    start, repeated, end = rng.choice(REPEATED)
    count = many(rng, 100_000)
    text = (
        start + "".join(repeated.format(i=i + 2) for i in range(count)) + rng.choice(("N", "2", "")) + end * (count + 1)
    )
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = text[:1_000_000]
    return model.SerializeToString()


def huge_sizes(rng: Random) -> bytes:
    """Sizes near the ends of 64 bits, in what a node takes and in what is declared."""
    model = model_of(USES)
    for dim in model.graph.input[0].type.tensor_type.shape.dim:
        dim.dim_value = rng.choice(HUGE)
    model.graph.output.append(helper.make_tensor_value_info("c", 1, [rng.choice(HUGE), rng.choice(HUGE)]))
    return model.SerializeToString()


HUGE_NODES = (
    "y = Reshape (x, k)",
    "y = Expand (x, k)",
    "y = Tile (x, k)",
    "y = ConstantOfShape (k)",
    "y = Range (p, q, r)",
    "y = Pad (x, kk)",
    "y = Slice (x, k, l, k0, m)",
    "y = Unsqueeze (x, k)",
    "y = Squeeze (x, k)",
    "y = Gather (x, k)",
    "y = Resize (x, , , k)",
    "y = TopK (x, p)",
    "y = OneHot (k, p, l)",
    "y = Split (x, k)",
    "y = CumSum (x, p)",
    "y = EyeLike <k = {a}> (x)",
    "y = Conv <pads = [{a}, {b}], strides = [{c}], dilations = [{d}]> (v, v)",
    "y = MaxPool <kernel_shape = [{a}], pads = [{b}, {c}], strides = [{d}]> (v)",
    "y = DepthToSpace <blocksize = {a}> (u)",
    "y = ConvTranspose <pads = [{a}, {b}], strides = [{c}], output_padding = [{d}]> (v, v)",
    "y = Shape <start = {a}> (x)",
    "y = Transpose <perm = [{a}, {b}]> (x)",
    "y = Flatten <axis = {a}> (x)",
    "y = Concat <axis = {a}> (x, x)",
    "y = Split <axis = {a}, num_outputs = {b}> (x)",
    "y = HannWindow (p)",
    "y = DFT (v, p, q)",
    "y = STFT (v, p, w, q)",
    "y = MelWeightMatrix (p, q, r, r, p)",
    "y = Trilu (x, p)",
    "y = Col2Im (v, k, l)",
    "y = CenterCropPad (x, k)",
    "y = RoiAlign <output_height = {a}, output_width = {b}> (u, x, k)",
    "y = RandomNormal <shape = [{a}, {b}, {c}]> ()",
    "y = LSTM <hidden_size = {a}> (v, v, v)",
    "y = AveragePool <kernel_shape = [{a}, {b}]> (u)",
    "y = Gelu (x)",
    "y = Loop <body = g (i, c, s) => (c, s2) {{ s2 = Concat <axis = 0> (s, s) }}> (p, , k)",
    "y = Mod (k, l)",
    "y = SpaceToDepth <blocksize = {a}> (u)",
    "y = Attention <q_num_heads = {a}, kv_num_heads = {b}> (v, v, v)",
    "y = GroupNormalization <num_groups = {a}> (v, k, k)",
    'y = BitShift <direction = "LEFT"> (k, l)',
    "y = Pow (k, l)",
    "y = Upsample (x, k)",
    "y = GridSample (u, u)",
    "y = AffineGrid (u, k)",
    "y = MaxUnpool <kernel_shape = [{a}]> (v, k)",
    'y = LpPool <kernel_shape = [{a}], dilations = [{b}], auto_pad = "SAME_UPPER"> (v)',
    "y = GatherND (x, kk)",
)


def huge_operands(rng: Random) -> bytes:
    """Nodes whose attributes and integer operands are near the ends of 64 bits."""

    def ints(count: int) -> str:
        return ", ".join(str(rng.choice((*HUGE, 2, 3))) for _ in range(count))

    chosen = rng.sample(HUGE_NODES, 3)
    written = []
    for i, text in enumerate(chosen):
        values = {name: rng.choice((*HUGE, 2, 3)) for name in "abcd"}
        written.append(f"y{i}{text.format(**values)[1:]}")
    constants = (
        f"int64[2] k = {{{ints(2)}}}, int64[2] l = {{{ints(2)}}}, int64[2] m = {{{ints(2)}}}, int64[2] k0 = {{0, 1}}"
    )
    constants += f", int64[2, 2] kk = {{{ints(4)}}}" + "".join(f", int64 {n} = {{{ints(1)}}}" for n in "pqr")
    text = " ".join([*written, *(f"z{i} = Add (y{i}, y{i}) s{i} = Shape (z{i})" for i in range(3))])
    inputs = "float[N, 4] x, float[N, 3, H] v, float[N, 8, H, W] u, float[9] w"
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 20]> g ({inputs}) => (y0, z1) <{constants}> {{ {text} }}'
    )
    return model.SerializeToString()


STEPS = (
    "v{j} = Concat <axis = 0> (v{i}, v{i})",
    "v{j} = Mul (v{i}, v{i})",
    "v{j} = Div (v{i}, c)",
    "v{j} = Add (v{i}, v{h})",
    "v{j} = Max (v{i}, v{h})",
    "v{j} = Min (v{i}, v{h})",
    "v{j} = Mod (v{i}, v{h})",
    "v{j} = Div (v{i}, v{h})",
    "v{j} = Sub (v{h}, v{i})",
    "v{j} = Abs (v{i})",
    "b{j} = Less (v{i}, v{h}) v{j} = Where (b{j}, v{i}, v{h})",
    "r{j} = Range (z, v{i}, e) v{j} = Size (r{j})",
    "f{j} = Cast <to = 1> (v{i}) g{j} = Sqrt (f{j}) v{j} = Cast <to = 7> (g{j})",
    "f{j} = ConstantOfShape (v{i}) n{j} = NonZero (f{j}) s{j} = Shape (n{j}) v{j} = Slice (s{j}, k1, k2)",
    "f{j} = Cast <to = 1> (v{i}) h{j} = Div (f{j}, q) g{j} = Floor (h{j}) v{j} = Cast <to = 7> (g{j})",
)


def growing_expressions(rng: Random) -> bytes:
    """A size of which each step makes a larger expression: some double, others nest."""
    steps = rng.sample(STEPS, rng.choice((1, 2, 3, 4)))
    text = ["s = Shape (x) v0 = Slice (s, k0, k1) v1 = Slice (s, k1, k2)"]
    count = many(rng, 3_000)
    text += [
        rng.choice(steps).format(h=max(i - rng.choice((1, 1, 2, 5)), 0), i=i, j=i + 1) for i in range(1, count + 1)
    ]
    text.append(f"y = ConstantOfShape (v{count + 1}) w = Concat <axis = 0> (y, y) u = Expand (x, v{count})")
    vectors = "int64[1] k0 = {0}, int64[1] k1 = {1}, int64[1] k2 = {2}, int64[1] c = {3}"
    constants = f"{vectors}, int64 z = {{0}}, int64 e = {{1}}, float q = {{2}}"
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 20]> g (float[N, M] x) => (y, w, u) <{constants}> {{ {" ".join(text)} }}'
    )
    return model.SerializeToString()


LAYERS = (
    "v{j} = Conv <kernel_shape = [3], strides = [2]> (v{i}, w)",
    "v{j} = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (v{i})",
    "v{j} = Concat <axis = 2> (v{i}, v{h})",
    "v{j} = Add (v{i}, v{h})",
    "v{j} = Resize (v{i}, , f)",
    "v{j} = Pad (v{i}, p)",
    'v{j} = AveragePool <kernel_shape = [3], auto_pad = "SAME_LOWER", strides = [2]> (v{i})',
    "v{j} = Expand (v{i}, v{h})",
    "v{j} = ConvTranspose <strides = [2]> (v{i}, w)",
    "s{j} = Shape (v{i}) v{j} = Reshape (v{h}, s{j})",
    "v{j} = Compress <axis = 2> (v{i}, m)",
    "n{j} = NonZero (v{i}) v{j} = MatMul (v{i}, n{j})",
)


def growing_shapes(rng: Random) -> bytes:
    """Layers whose sizes nest: windows, joins, broadcasts, data-dependent sizes."""
    layers = rng.sample(LAYERS, rng.choice((1, 2, 3, 4)))
    count = many(rng, 1_500)
    text = ["v1 = Identity (v0)"]
    text += [
        rng.choice(layers).format(h=max(i - rng.choice((1, 1, 2, 5)), 0), i=i, j=i + 1) for i in range(1, count + 1)
    ]
    constants = "float[3] f = {1, 1, 1.5}, int64[6] p = {0, 0, 1, 0, 0, -2}"
    inputs = "float[N, 3, H] v0, bool[K] m, float[3, 3, 3] w"
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 20]> g ({inputs}) => (v{count + 1}) <{constants}> {{ {" ".join(text)} }}'
    )
    return model.SerializeToString()


def hostile_equation(rng: Random) -> bytes:
    """An Einsum whose equation is long, wrong, or has many operands."""
    count = many(rng, 2_000)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    terms = ["".join(rng.choices(letters, k=rng.choice((1, 2, 2, 3)))) for _ in range(count)]
    equation = ",".join(terms) + rng.choice(("", "->", "->a", "->ab...", "->" + letters, "...", "->->", "é", "." * 40))
    if rng.random() < 0.2:
        equation = rng.choice((",", ".", "a", " ", "->", "...,")) * many(rng, 300_000)
    node = helper.make_node("Einsum", ["x"] * count, ["y"], equation=equation)
    return model_of([node]).SerializeToString()


SIZES: tuple[Callable[[Random], bytes], ...] = (
    texts_as_sizes, texts_as_sizes, huge_sizes, huge_operands, huge_operands, growing_expressions, growing_expressions,
    growing_shapes, hostile_equation,
)  # fmt: skip
