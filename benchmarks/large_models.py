"""Models that are large in one way only: one wide node, one long constant, a chain, a deep nest. For `growth.py`."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

    Make = Callable[[int], ModelProto]

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name: str, sizes: Sequence[int | str] | None = (), kind: int = FLOAT) -> ValueInfoProto:
    """A tensor among the inputs or outputs of a graph."""
    return helper.make_tensor_value_info(name, kind, sizes)


def node(kind: str, inputs: Iterable[str], outputs: Iterable[str] = ("y",), **attributes: object) -> NodeProto:
    """A node; its names are given as an iterable, `"ab"` for two names of one letter."""
    return helper.make_node(kind, list(inputs), list(outputs), **attributes)


def graph(
    nodes: Sequence[NodeProto], inputs: Sequence[ValueInfoProto], outputs: Sequence[str] = ("y",), **constants: object
) -> GraphProto:
    """A graph whose outputs have no declared type; constants become initializers of int64."""
    tensors = [numpy_helper.from_array(np.asarray(x, dtype=np.int64), name) for name, x in constants.items()]
    return helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(o) for o in outputs], tensors)


def model(
    nodes: Sequence[NodeProto], inputs: Sequence[ValueInfoProto], outputs: Sequence[str] = ("y",), **constants: object
) -> ModelProto:
    """A model of one graph."""
    return helper.make_model(
        graph(nodes, inputs, outputs, **constants), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )


def names(n: int, stem: str = "x") -> list[str]:
    """n names."""
    return [f"{stem}{i}" for i in range(n)]


# -- one wide node ----------------------------------------------------------------------------------------------------


def concat_of_symbols(n: int) -> ModelProto:
    return model([node("Concat", names(n), axis=0)], [value(x, [f"N{x}"]) for x in names(n)])


def concat_of_sizes(n: int) -> ModelProto:
    """n sizes of one axis each, concatenated to the target of a Reshape."""
    parts = [node("Shape", "x", [f"s{i}"], start=i % 2, end=i % 2 + 1) for i in range(n)]
    return model([*parts, node("Concat", names(n, "s"), axis=0)], [value("x", ["N", "M"])])


def variadic(kind: str, size: Callable[[int], int | str]) -> Make:
    def make(n: int) -> ModelProto:
        return model([node(kind, names(n))], [value(x, [size(i), 4]) for i, x in enumerate(names(n))])

    return make


def einsum_of_many(n: int) -> ModelProto:
    return model([node("Einsum", names(n), equation=",".join(["i"] * n) + "->i")], [value(x, ["N"]) for x in names(n)])


def split_by_sizes(n: int) -> ModelProto:
    return model([node("Split", ["x", "sizes"], names(n, "y"), axis=0)], [value("x", [3 * n])], ["y0"], sizes=[3] * n)


def split_of_symbol(n: int) -> ModelProto:
    return model(
        [node("Split", ["x", "sizes"], names(n, "y"), axis=0)], [value("x", ["N"])], ["y0"], sizes=list(range(n))
    )


def split_of_unknown(n: int) -> ModelProto:
    inputs = [value("x", ["N"]), value("sizes", [n], INT64)]
    return model([node("Split", ["x", "sizes"], names(n, "y"), axis=0)], inputs, ["y0"])


def split_equally(n: int) -> ModelProto:
    return model([node("Split", "x", names(n, "y"), axis=0, num_outputs=n)], [value("x", [3 * n])], ["y0"])


def split_in_more_than_there_are(n: int) -> ModelProto:
    return model([node("Split", "x", names(4, "y"), axis=0, num_outputs=n)], [value("x", [3 * n])], ["y0"])


def high_rank(n: int) -> ModelProto:
    """An axis for each symbol."""
    return model([node("Transpose", "x", "a"), node("Add", "xa")], [value("x", names(n, "N"))])


# -- long constants ---------------------------------------------------------------------------------------------------


def constant_vector(n: int) -> ModelProto:
    return model([node("Constant", "", "c", value_ints=range(n)), node("Neg", "c")], [])


def constant_of_shape(n: int) -> ModelProto:
    return model([node("ConstantOfShape", ["s"], "c"), node("Relu", "c")], [], s=[n, n])


def shape_of_ones(n: int) -> ModelProto:
    return model([node("ConstantOfShape", ["s"], "y")], [], s=[1] * n)


def gather_many(n: int) -> ModelProto:
    return model(
        [node("Shape", "x", "s"), node("Gather", ["s", "at"])], [value("x", ["N", "M"])], at=[i % 2 for i in range(n)]
    )


def reshape_to_many(n: int) -> ModelProto:
    return model([node("Reshape", ["x", "s"])], [value("x", ["N", 2])], s=[*[1] * n, 2, -1])


def expand_to_many(n: int) -> ModelProto:
    return model([node("Expand", ["x", "s"])], [value("x", ["N"])], s=[2] * n)


def slice_by_many(n: int) -> ModelProto:
    nodes = [node("Slice", ["x", "a", "b", "c"])]
    return model(nodes, [value("x", names(n, "N"))], a=[1] * n, b=[9] * n, c=range(n))


def pad_by_many(n: int) -> ModelProto:
    return model([node("Pad", ["x", "p"])], [value("x", names(n, "N"))], p=[1] * 2 * n)


def range_of(n: int) -> ModelProto:
    return model([node("Range", ["a", "n", "d"])], [], a=0, n=n, d=1)


# -- chains -----------------------------------------------------------------------------------------------------------


def ordered_nodes(n: int) -> ModelProto:
    nodes = [node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(n)]
    return model(nodes, [value("v0", ["N"])], [f"v{n}"])


def shuffled_nodes(n: int) -> ModelProto:
    nodes = list(ordered_nodes(n).graph.node)
    random.Random(0).shuffle(nodes)
    return model(nodes, [value("v0", ["N"])], [f"v{n}"])


def reversed_nodes(n: int) -> ModelProto:
    nodes = [node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(n)]
    return model(nodes[::-1], [value("v0", ["N"])], [f"v{n}"])


def forced_equal(n: int) -> ModelProto:
    """n data-dependent sizes; products force each to be its neighbour."""
    nodes = [node("NonZero", [f"x{i}"], [f"z{i}"]) for i in range(n)]
    nodes += [node("Cast", [f"z{i}"], [f"f{i}"], to=FLOAT) for i in range(n)]
    nodes += [node("Transpose", [f"f{i}"], [f"t{i}"]) for i in range(n)]
    nodes += [node("Add", [f"z{i}", f"z{i + 1}"], [f"y{i}"]) for i in range(n - 1)]
    nodes += [node("MatMul", [f"f{i}", f"t{i + 1}"], [f"m{i}"]) for i in range(n - 1)]
    return model(nodes, [value(f"x{i}", [f"N{i}"]) for i in range(n)], [f"z{i}" for i in range(n)])


def forced_equal_backwards(n: int) -> ModelProto:
    """As `forced_equal`, the last pair first."""
    made = forced_equal(n)
    products = [x for x in made.graph.node if x.op_type == "MatMul"]
    others = [x for x in made.graph.node if x.op_type not in ("MatMul", "Add")]
    del made.graph.node[:]
    made.graph.node.extend([*others, *products[::-1]])
    return made


def chained_sums(n: int) -> ModelProto:
    """Each size is the sum of all before."""
    nodes = [node("Concat", [f"v{i}", f"x{i + 1}"], [f"v{i + 1}"], axis=0) for i in range(n - 1)]
    return model(nodes, [value("v0", ["N0"]), *(value(f"x{i}", [f"N{i}"]) for i in range(1, n))], [f"v{n - 1}"])


def many_symbols(n: int) -> ModelProto:
    """Nodes of n symbols, each of its own."""
    nodes = [node("Flatten", [f"x{i}"], [f"y{i}"]) for i in range(n)]
    return model(nodes, [value(f"x{i}", [f"N{i}", 3, f"M{i}"]) for i in range(n)], names(n, "y"))


def joined_symbols(n: int) -> ModelProto:
    """A chain of products by factors with a symbol each: all of these must be equal, or 1."""
    nodes = [node("Mul", [f"y{i}", f"x{i}"], [f"y{i + 1}"]) for i in range(n)]
    inputs = [value("y0", ["N"]), *(value(f"x{i}", [f"N{i}", f"M{i % 7}"]) for i in range(n))]
    return model(nodes, inputs, [f"y{n}"])


def data_dependent(n: int) -> ModelProto:
    """n data-dependent sizes."""
    nodes = [node("NonZero", ["x"], [f"y{i}"]) for i in range(n)]
    return model(nodes, [value("x", ["N"])], names(n, "y"))


def long_names(n: int) -> ModelProto:
    return model([node("Relu", ["x" * n], ["y" * n])], [value("x" * n, ["N" * n])], ["y" * n])


def long_dim_param(n: int) -> ModelProto:
    return model([node("Relu", "x")], [value("x", [" + ".join(f"N{i}" for i in range(n))])])


def sequence_of(n: int) -> ModelProto:
    nodes = [node("SequenceConstruct", names(n), "s"), node("ConcatFromSequence", "s", axis=0)]
    return model(nodes, [value(x, [i + 1, "N"]) for i, x in enumerate(names(n))])


def sequence_by_insertion(n: int) -> ModelProto:
    nodes = [node("SequenceEmpty", "", ["s0"])]
    nodes += [node("SequenceInsert", [f"s{i}", "x"], [f"s{i + 1}"]) for i in range(n)]
    return model([*nodes, node("SequenceLength", [f"s{n}"])], [value("x", ["N"])])


def split_to_sequence(n: int) -> ModelProto:
    nodes = [node("SplitToSequence", ["x", "sizes"], "s", axis=0), node("SequenceAt", ["s", "at"])]
    return model(nodes, [value("x", ["N"])], sizes=list(range(1, n + 1)), at=3)


def sequence_at_each(n: int) -> ModelProto:
    """Each element of a sequence of n by itself."""
    nodes = [node("SequenceConstruct", names(n), "s")]
    nodes += [node("SequenceAt", ["s", f"i{i}"], [f"y{i}"]) for i in range(n)]
    at = {f"i{i}": i for i in range(n)}
    return model(nodes, [value(x, [i + 1]) for i, x in enumerate(names(n))], names(n, "y"), **at)


# -- functions and subgraphs ------------------------------------------------------------------------------------------


def functions(n: int, body: Callable[[int], list[NodeProto]]) -> ModelProto:
    """A call of the last of n functions f1, f2, ... of one value; f0 is Relu."""
    made = model([helper.make_node(f"f{n}", ["x"], ["y"], domain="d")], [value("x", ["N"])])
    made.opset_import.append(helper.make_opsetid("d", 1))
    imports = list(made.opset_import)
    made.functions.append(helper.make_function("d", "f0", ["x"], ["y"], [node("Relu", "x")], imports))
    for i in range(1, n + 1):
        made.functions.append(helper.make_function("d", f"f{i}", ["x"], ["y"], body(i), imports))
    return made


def doubling_calls(kind: str, constant: Sequence[int]) -> Make:
    """Each function calls the one below twice, with what a node makes of a result: 2**n signatures in all."""

    def body(i: int) -> list[NodeProto]:
        return [
            helper.make_node(f"f{i - 1}", ["x"], ["a"], domain="d"),
            node("Constant", "", "p", value_ints=constant),
            node(kind, "ap", "b"),
            helper.make_node(f"f{i - 1}", ["b"], ["y"], domain="d"),
        ]

    return lambda n: functions(n, body)


def equal_calls(n: int) -> ModelProto:
    """Each function calls the one below twice with one signature."""

    def body(i: int) -> list[NodeProto]:
        return [helper.make_node(f"f{i - 1}", [a], [b], domain="d") for a, b in ("xa", "ay")]

    return functions(n, body)


def one_function(n: int) -> ModelProto:
    """A function called n times, each time with another size."""
    made = functions(1, lambda i: [node("Relu", "x", "a"), node("Concat", "aa", axis=0)])
    del made.graph.node[:], made.graph.input[:]
    made.graph.node.extend(helper.make_node("f1", [f"x{i}"], [f"y{i}"], domain="d") for i in range(n))
    made.graph.input.extend(value(f"x{i}", [f"N{i}"]) for i in range(n))
    return made


def nested(kind: str, n: int) -> ModelProto:
    """n graphs in each other, of which each has the next one as the body of a node."""
    inner = graph([node("Concat", ["x", "x"], axis=0)], [])
    for _ in range(n):
        if kind == "If":
            inner = graph([node("If", "c", then_branch=inner, else_branch=graph([node("Relu", "x")], []))], [])
            continue
        body_inputs = [value("i", [], INT64), value("go", [], BOOL), value("v", None)]
        below = list(inner.node)
        below[-1].output[0] = "w"
        if below[-1].op_type == "Loop":
            below[-1].input[2] = "v"
        else:
            below = [node("Concat", "vv", "w", axis=0)]
        body = graph([*below, node("Identity", ["go"], ["on"])], body_inputs, ["on", "w"])
        inner = graph([node("Loop", "mcx", body=body)], [])
    return model(inner.node, [value("x", ["N"]), value("c", [], BOOL), value("m", [], INT64)])


def nested_if(n: int) -> ModelProto:
    return nested("If", n)


def nested_loop(n: int) -> ModelProto:
    return nested("Loop", n)


def many_subgraphs(n: int) -> ModelProto:
    branches = [(graph([node("Relu", "x")], []), graph([node("Concat", "xx", axis=0)], [])) for _ in range(n)]
    nodes = [node("If", "c", [f"y{i}"], then_branch=a, else_branch=b) for i, (a, b) in enumerate(branches)]
    return model(nodes, [value("x", ["N"]), value("c", [], BOOL)], names(n, "y"))


def wide_body(n: int) -> ModelProto:
    """A Loop that carries n values."""
    body_inputs = [value("i", [], INT64), value("go", [], BOOL), *(value(f"a{i}", None) for i in range(n))]
    nodes = [node("Concat", [f"a{i}", f"a{i}"], [f"b{i}"], axis=0) for i in range(n)]
    body = graph([*nodes, node("Identity", ["go"], ["on"])], body_inputs, ["on", *names(n, "b")])
    inputs = [value("m", [], INT64), *(value(x, ["N"]) for x in names(n))]
    return model([node("Loop", ["m", "", *names(n)], names(n, "y"), body=body)], inputs, names(n, "y"))


def wide_if(n: int) -> ModelProto:
    """An If of n outputs whose branches differ in each."""
    yes = graph([node("Identity", [f"x{i}"], [f"a{i}"]) for i in range(n)], [], names(n, "a"))
    no = graph([node("Identity", [f"x{(i + 1) % n}"], [f"b{i}"]) for i in range(n)], [], names(n, "b"))
    inputs = [value("c", [], BOOL), *(value(x, [f"N{x}"]) for x in names(n))]
    return model([node("If", "c", names(n, "y"), then_branch=yes, else_branch=no)], inputs, names(n, "y"))


def counted_loop(n: int) -> ModelProto:
    """A Loop of n iterations."""
    body_inputs = [value("i", [], INT64), value("go", [], BOOL), value("v", None)]
    nodes = [node("Concat", "vv", "w", axis=0), node("Identity", ["go"], ["on"])]
    body = graph(nodes, body_inputs, ["on", "w"])
    return model([node("Loop", ["m", "", "x"], body=body)], [value("x", ["N"])], m=n)
