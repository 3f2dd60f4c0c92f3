"""Models that are made to be hostile: deep, wide, recursive, or with numbers and texts that lie (`HOSTILE`).

Each maker draws from a random source how many parts its model has; mostly few, sometimes so many that the model has
about a megabyte. Sizes and texts that nobody would write are in `hostile_sizes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from onnx_infer.protobuf.wire import varint
from tests.fuzz.hostile_sizes import SIZES, many, model_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

LOCATIONS = (
    "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/stdin", "", ".", "..", "/proc/self/mem",
    "a\0b", "https://example.com/x", "x" * 300_000, "\\\\host\\share", "model.onnx",
)  # fmt: skip
VERSIONS = (0, 1, -1, 6, 7, 20, 1000, 2**31, 2**62, 2**63 - 1, -(2**63))


def name_of(rng: Random) -> str:
    """A name; sometimes a very long one."""
    return rng.choice(("", "x", "y", "max", "_d0", "x_dim_0", "N//0", "é" * 7, " ", "\n", "a" * many(rng, 1_000_000)))


def node(op_type: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "") -> NodeProto:
    """A node without attributes."""
    return helper.make_node(op_type, inputs, outputs, domain=domain)


# -- depth and recursion ----------------------------------------------------------------------------------------------


def deep_bodies(rng: Random) -> bytes:
    """An If in an If in an If, deeper than protobuf reads; written by hand, because onnx refuses to."""
    body = node("Relu", ["x"], ["y"]).SerializeToString()
    for _ in range(many(rng, 120)):
        graph = b"\x0a" + varint(len(body)) + body + b"\x62\x03\x0a\x01y"
        branches = b""
        for name in (b"then_branch", b"else_branch")[: rng.choice((1, 1, 1, 2)) if len(body) < 500_000 else 1]:
            attribute = b"\x0a" + varint(len(name)) + name + b"\xa0\x01\x05" + b"\x32" + varint(len(graph)) + graph
            branches += b"\x2a" + varint(len(attribute)) + attribute
        body = b"\x0a\x01c\x12\x01y\x22\x02If" + branches
    outer = model_of([], "bool c, float[N, 4] x")
    outer.graph.output.add(name="y")
    graph = outer.graph.SerializeToString() + b"\x0a" + varint(len(body)) + body
    outer.ClearField("graph")
    return outer.SerializeToString() + b"\x3a" + varint(len(graph)) + graph


def nested_loops(rng: Random) -> bytes:
    """A Loop in a Loop, or a Scan; the carried value grows in each turn."""
    kind = rng.choice(("Loop", "Scan"))
    inner = [node("Concat", ["v", "v"], ["w"])]
    inner[0].attribute.append(helper.make_attribute("axis", 0))
    for level in range(many(rng, 24)):
        given = [helper.make_tensor_value_info(n, 0, None) for n in (("i", "k", "v") if kind == "Loop" else ("v", "s"))]
        made = [helper.make_tensor_value_info(n, 0, None) for n in (("k", "w") if kind == "Loop" else ("w", "w"))]
        body = helper.make_graph(inner, f"b{level}", given, made)
        outer = node(kind, ["", "", "v"] if kind == "Loop" else ["v", "x"], ["w"])
        outer.attribute.append(helper.make_attribute("body", body))
        if kind == "Scan":
            outer.attribute.append(helper.make_attribute("num_scan_inputs", 1))
        inner = [outer]
    inner[0].input[:] = ["x" if name == "v" else name for name in inner[0].input]
    return model_of(inner).SerializeToString()


def functions(rng: Random) -> bytes:
    """Functions that call the next one some times, the first one again, or themselves."""
    model = model_of([node("F0", ["x"], ["y"], "f")])
    model.opset_import.add(domain="f", version=1)
    count, calls = many(rng, 200), rng.choice((1, 2, 3, 20))
    for i in range(count):
        called = rng.choice((i + 1,) * 8 + (0, i))
        body = [node(f"F{called}", [f"v{j}"], [f"v{j + 1}"], "f") for j in range(calls)]
        body.insert(0, node(rng.choice(("Relu", "Shape", "NonZero", "Unsqueeze")), ["v"], ["v0"]))
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("f", 1)]
        model.functions.append(helper.make_function("f", f"F{i}", ["v"], [f"v{calls}"], body, opsets))
    return model.SerializeToString()


def functions_named_as_operators(rng: Random) -> bytes:
    """Functions in onnx's own domain, and many of one name."""
    model = model_of([node("Relu", ["x"], ["y"])])
    for i in range(many(rng, 2_000)):
        body = [node(rng.choice(("Relu", "Neg", "Shape")), ["v"], ["w"])]
        function = helper.make_function("", "Relu", ["v"], ["w"], body, [helper.make_opsetid("", 20)])
        function.overload = rng.choice(("", str(i)))
        model.functions.append(function)
    return model.SerializeToString()


# -- width ------------------------------------------------------------------------------------------------------------


def wide_node(rng: Random) -> bytes:
    """A node with very many operands or results, of the same value or of different ones."""
    count = many(rng, 100_000)
    names = [f"x{i}" if rng.random() < 0.0001 else "x" for i in range(count)]
    one = node(
        rng.choice(("Concat", "Sum", "Max", "Einsum", "Relu", "SequenceConstruct", "Loop", "no such")), names, ["y"]
    )
    if rng.random() < 0.3:
        one = node(rng.choice(("Split", "If", "Relu", "Scan", "TopK")), ["x"], [f"y{i}" for i in range(count)])
    one.attribute.append(helper.make_attribute(rng.choice(("axis", "num_outputs")), rng.choice((0, count, 2**62))))
    return model_of([one]).SerializeToString()


def many_symbols(rng: Random) -> bytes:
    """Inputs with symbols of their own, all of which meet in nodes."""
    count = many(rng, 4_000)
    inputs = ", ".join(f"float[N{i}, M{i % 7}] x{i}" for i in range(count))
    operator = rng.choice(("Sum", "Add", "Concat", "MatMul", "Mul"))
    if operator in ("Sum", "Concat"):
        nodes = [node(operator, [f"x{i}" for i in range(count)], ["y"])]
    else:
        nodes = [node(operator, [f"y{i}" if i else "x0", f"x{i}"], [f"y{i + 1}"]) for i in range(count)]
    if operator == "Concat":
        nodes[0].attribute.append(helper.make_attribute("axis", rng.choice((0, 1))))
    return model_of(nodes, inputs).SerializeToString()


def long_chain(rng: Random) -> bytes:
    """One operator after the other, each of the last value, in order or the other way round."""
    operators = rng.sample(
        ("Relu", "Shape", "NonZero", "Flatten", "Transpose", "Unique", "ReduceSum", "Det", "Size"), 3
    )
    count = many(rng, 20_000)
    nodes = [node(rng.choice(operators), [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i in range(count)]
    if rng.random() < 0.3:
        nodes.reverse()
    if rng.random() < 0.1:
        nodes[-1].output[0] = "x"
    return model_of(nodes).SerializeToString()


def many_attributes(rng: Random) -> bytes:
    """A node with very many attributes, or one attribute with very many elements."""
    one = node(rng.choice(("Relu", "Constant", "Conv", "LabelEncoder", "Scan", "Einsum")), ["x"], ["y"])
    count = many(rng, 150_000)
    if rng.random() < 0.5:
        for i in range(count):
            one.attribute.append(AttributeProto(name=rng.choice(("a", str(i))), type=AttributeProto.INT, i=i))
    else:
        name = rng.choice(("value_ints", "pads", "keys_int64s", "perm", "value_floats"))
        numbers = [float(i) if name.endswith("floats") else i for i in range(count)]
        one.attribute.append(helper.make_attribute(name, numbers))
    return model_of([one]).SerializeToString()


def many_names(rng: Random) -> bytes:
    """Opset imports, metadata, declared values, inputs, outputs, notes: very many, often of one name."""
    model = model_of([node("Relu", ["x"], ["y"])])
    kind = rng.randrange(6)
    contracts = ("N 1 2", "{", '{"version": 1, "bounds": {"N": [0, 2]}}', "[]", "N" * 100)
    for i in range(many(rng, 20_000)):
        name = rng.choice(("x", "y", f"v{i}"))
        if kind == 0:
            model.opset_import.add(domain=rng.choice(("", f"d{i}")), version=rng.choice(VERSIONS))
        elif kind == 1:
            key = rng.choice(("symdim.contract", str(i)))
            model.graph.metadata_props.add(key=key, value=rng.choice(contracts))
        elif kind == 2:
            model.graph.quantization_annotation.add(tensor_name=name)
        else:
            infos = (model.graph.value_info, model.graph.input, model.graph.output)[kind - 3]
            infos.append(helper.make_tensor_value_info(name, 1, [f"N{i}" if rng.random() < 0.1 else "N", 4]))
    return model.SerializeToString()


def long_names(rng: Random) -> bytes:
    """Names of up to a megabyte wherever a model has a name."""
    model = model_of([node("Relu", ["x"], ["y"]), node("Add", ["y", "x"], ["z"])])
    first = model.graph.node[0]
    for field in rng.sample(("name", "op_type", "domain", "overload", "doc_string"), 2):
        setattr(first, field, name_of(rng))
    first.output[0] = model.graph.node[1].input[0] = name_of(rng)
    first.attribute.append(helper.make_attribute("a", 1))
    first.attribute[0].name = name_of(rng)
    model.graph.name = model.producer_name = model.domain = name_of(rng)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name_of(rng)
    return model.SerializeToString()


# -- tensors that lie -------------------------------------------------------------------------------------------------


def lying_tensor(rng: Random) -> TensorProto:
    """A constant whose sizes, type and content do not fit together."""
    tensor = TensorProto(name="w", data_type=rng.choice((0, 1, 6, 7, 7, 8, 9, 10, 16, 22, 23, 24, 25, 99)))
    tensor.dims.extend(
        rng.choice((-1, 0, 1, 2, 3, 7, 2**31, 2**40, 2**63 - 1)) for _ in range(rng.choice((0, 1, 1, 2, 9)))
    )
    for field in rng.sample(("raw_data", "int64_data", "float_data", "string_data", "int32_data", "double_data"), 2):
        content = rng.randbytes(many(rng, 4_000))
        if field == "raw_data":
            tensor.raw_data = content
        elif field == "string_data":
            tensor.string_data.append(content)
        else:
            getattr(tensor, field).extend(content)
    if rng.random() < 0.4:
        tensor.data_location = TensorProto.EXTERNAL
        for key in rng.sample(("location", "offset", "length", "checksum", "location"), 3):
            told = rng.choice(LOCATIONS) if key == "location" else rng.choice(("-1", "0", "x", "9" * 30, str(2**63)))
            tensor.external_data.add(key=key, value=told)
    return tensor


def lying_constants(rng: Random) -> bytes:
    """Initializers, Constant nodes and sparse tensors that lie, used where their elements decide a shape."""
    by_shape = rng.choice(("Reshape", "Expand", "Tile", "Pad", "Slice", "Gather", "TopK", "Unsqueeze", "Resize"))
    of_elements = rng.choice(("ConstantOfShape", "Shape", "Cast", "Einsum", "NonZero", "Range"))
    uses = [node(by_shape, ["x", "w"], ["y"]), node(of_elements, ["w"], ["z"]), node("Conv", ["x", "w"], ["q"])]
    model = model_of(uses)
    tensor = lying_tensor(rng)
    kind = rng.randrange(3)
    if kind == 0:
        model.graph.initializer.append(tensor)
    elif kind == 1:
        model.graph.node.insert(0, node("Constant", [], ["w"]))
        model.graph.node[0].attribute.add(name="value", type=AttributeProto.TENSOR, t=tensor)
    else:
        sparse = model.graph.sparse_initializer.add(values=tensor, indices=lying_tensor(rng))
        sparse.dims.extend(rng.choice((0, 1, 3, -1, 2**62)) for _ in range(rng.choice((0, 1, 2, 5))))
    return model.SerializeToString()


def lying_lengths(rng: Random) -> bytes:
    """Lengths on the wire that are longer than what follows, and packed numbers that do not end."""
    data = bytearray(functions(rng) if rng.random() < 0.5 else lying_constants(rng))
    for _ in range(3):
        at = rng.randrange(len(data))
        data[at : at + 1] = rng.choice((b"\xff\xff\xff\xff\x0f", b"\xff" * 10 + b"\x01", b"\x80", varint(len(data))))
    return bytes(data)


def large_rank(rng: Random) -> bytes:
    """A value with very many axes, and nodes that look at each."""
    rank = many(rng, 20_000)
    nodes = [
        node(op_type, ["x"], [f"y{i}"]) for i, op_type in enumerate(("Transpose", "Shape", "Flatten", "Neg", "Squeeze"))
    ]
    nodes += [node("Add", ["x", "y0"], ["z"]), node("MatMul", ["x", "y0"], ["u"]), node("Expand", ["x", "y1"], ["t"])]
    model = model_of(nodes)
    dims = [rng.choice((1, 2, "N", f"N{i}", None)) for i in range(rank)]
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 1, dims))
    return model.SerializeToString()


def odd_types(rng: Random) -> bytes:
    """Sequences of sequences, maps, optionals and sparse tensors as inputs, nested deep."""
    model = model_of([node(rng.choice(("SequenceAt", "OptionalGetElement", "Relu", "SequenceMap")), ["x"], ["y"])])
    kind = model.graph.input[0].type
    for _ in range(many(rng, 45)):
        outer = type(kind)()
        holder = rng.choice(("sequence_type", "optional_type"))
        getattr(outer, holder).elem_type.CopyFrom(kind)
        kind = outer
    model.graph.input[0].type.CopyFrom(kind)
    return model.SerializeToString()


def no_graph(rng: Random) -> bytes:
    """A model with an empty graph, without a graph, without opsets, or without anything."""
    model = rng.choice((ModelProto(), ModelProto(graph=GraphProto()), model_of([])))
    model.ir_version = rng.choice((0, 1, 3, 10, 99, 2**62, -1))
    del model.opset_import[rng.randrange(2) :]
    return model.SerializeToString()


HOSTILE: tuple[Callable[[Random], bytes], ...] = (
    deep_bodies, nested_loops, functions, functions_named_as_operators, wide_node, many_symbols, long_chain,
    many_attributes, many_names, long_names, lying_constants, lying_constants, lying_lengths, large_rank, odd_types,
    no_graph, *SIZES,
)  # fmt: skip
