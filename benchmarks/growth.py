"""How inference grows with one part of a model at a time: `python benchmarks/growth.py [--onnx] [WORD ...]`.

Each case makes a model that is large in one way only: one wide node, one long constant, a deep nest. `slope` is that of
the time against the size between the two largest sizes, on logarithmic scales: 1 is linear, 2 quadratic. Only times
well above those of an empty model say anything of it. `--onnx` adds the times of onnx's C++; words choose cases.
"""

from __future__ import annotations

import argparse
from math import log
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from timing import shown, table

from onnx_infer import infer_shapes
from symdim import clear_caches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

    Make = Callable[[int], ModelProto]

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
WIDE = (1_000, 10_000, 100_000)
"""Sizes of what should take a few microseconds for each part."""


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


def reversed_nodes(n: int) -> ModelProto:
    nodes = [node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(n)]
    return model(nodes[::-1], [value("v0", ["N"])], [f"v{n}"])


def forced_equal(n: int) -> ModelProto:
    """n sizes that only the data decide; products force each to be its neighbour."""
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


def data_dependent(n: int) -> ModelProto:
    """n sizes that only the data decide."""
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


def doubling_calls(n: int) -> ModelProto:
    """Each function calls the one below twice, with another size: 2**n signatures in all."""

    def body(i: int) -> list[NodeProto]:
        return [
            helper.make_node(f"f{i - 1}", ["x"], ["a"], domain="d"),
            node("Constant", "", "p", value_ints=[0, 1]),
            node("Pad", "ap", "b"),
            helper.make_node(f"f{i - 1}", ["b"], ["y"], domain="d"),
        ]

    return functions(n, body)


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


CASES: dict[str, tuple[Make, tuple[int, ...]]] = {
    "Concat of n symbols": (concat_of_symbols, WIDE),
    "Concat of n sizes": (concat_of_sizes, WIDE),
    "Sum of n symbols": (variadic("Sum", lambda i: f"N{i}"), WIDE),
    "Max of n equal shapes": (variadic("Max", lambda i: "N"), WIDE),
    "Mean of n operands": (variadic("Mean", lambda i: i % 2 * 6 + 1), WIDE),
    "Einsum of n operands": (einsum_of_many, WIDE),
    "Split by n sizes": (split_by_sizes, WIDE),
    "Split of a symbol by n sizes": (split_of_symbol, WIDE),
    "Split by n unknown sizes": (split_of_unknown, WIDE),
    "Split into n parts": (split_equally, WIDE),
    "num_outputs of Split n, 4 outputs": (split_in_more_than_there_are, WIDE),
    "n axes": (high_rank, WIDE),
    "Constant of n integers": (constant_vector, WIDE),
    "ConstantOfShape n x n": (constant_of_shape, WIDE),
    "ConstantOfShape of n axes": (shape_of_ones, WIDE),
    "Gather with n indices": (gather_many, WIDE),
    "Reshape to n axes": (reshape_to_many, WIDE),
    "Expand to n axes": (expand_to_many, WIDE),
    "Slice of n axes": (slice_by_many, WIDE),
    "Pad of n axes": (pad_by_many, WIDE),
    "Range of n": (range_of, WIDE),
    "n nodes, last first": (reversed_nodes, (1_000, 10_000, 100_000)),
    "n sizes forced equal": (forced_equal, (100, 400, 1_600)),
    "n sizes forced equal, last first": (forced_equal_backwards, (100, 400, 1_600)),
    "n sums of all before": (chained_sums, (100, 400, 1_600)),
    "n symbols": (many_symbols, WIDE),
    "n sizes of the data": (data_dependent, WIDE),
    "names of n characters": (long_names, WIDE),
    "dim_param of n terms": (long_dim_param, WIDE),
    "sequence of n": (sequence_of, WIDE),
    "n insertions": (sequence_by_insertion, (100, 1_000, 10_000)),
    "SplitToSequence by n sizes": (split_to_sequence, WIDE),
    "each of a sequence of n": (sequence_at_each, (100, 1_000, 10_000)),
    "functions that call twice, n deep": (doubling_calls, (10, 12, 14)),
    "the same with one signature": (equal_calls, (10, 100, 1_000)),
    "a function called n times": (one_function, WIDE),
    "If n deep": (nested_if, (4, 8, 16)),
    "Loop n deep": (nested_loop, (2, 4, 8, 16)),
    "n times If": (many_subgraphs, (100, 1_000, 10_000)),
    "Loop that carries n values": (wide_body, (100, 400, 1_600)),
    "If of n outputs": (wide_if, (100, 400, 1_600)),
    "Loop of n iterations": (counted_loop, WIDE),
}
"""Name of a case -> the function that makes its model, and the sizes."""


def seconds(run: Callable[[], object]) -> float:
    """Processor time of a run with empty caches; the better of two where that is soon done."""
    found = []
    for _ in range(2):
        clear_caches()
        start = process_time()
        run()
        found.append(process_time() - start)
        if found[0] > 1:
            break
    return min(found)


def with_onnx(made: ModelProto) -> object:
    """Inference by onnx; what it says of a model that it refuses counts too."""
    try:
        return onnx.shape_inference.infer_shapes(made, data_prop=True)
    except Exception as e:
        return e


def measured(case: str, by_onnx: bool, most: float) -> list[str]:
    """The row of a case; what follows a size that takes longer than `most` seconds is left out."""
    make, sizes = CASES[case]
    done: list[tuple[int, float, float | None]] = []
    for n in sizes:
        made = make(n)
        done.append(
            (n, seconds(lambda m=made: infer_shapes(m)), seconds(lambda m=made: with_onnx(m)) if by_onnx else None)
        )
        if done[-1][1] > most:
            break
    (m, before, _), (n, after, _) = done[-2] if len(done) > 1 else done[-1], done[-1]
    slope = f"{log(after / before) / log(n / m):.2f}" if n > m else "-"
    row = [case, " / ".join(f"{n:,}" for n, *_ in done), " / ".join(shown(t) for _, t, _ in done), slope]
    return [*row, " / ".join(shown(t) for *_, t in done)] if by_onnx else row


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--onnx", action="store_true", help="times of onnx's C++ too")
    parser.add_argument(
        "--most", type=float, default=2.0, metavar="SECONDS", help="larger sizes are left out from here on"
    )
    parser.add_argument("words", nargs="*", help="cases whose names contain one of these")
    options = parser.parse_args()
    infer_shapes(concat_of_symbols(2))
    head = ["case", "n", "time", "slope", *(["onnx"] if options.onnx else [])]
    chosen = [case for case in CASES if not options.words or any(word in case for word in options.words)]
    print(table(head, [measured(case, options.onnx, options.most) for case in chosen]))


if __name__ == "__main__":
    main()
