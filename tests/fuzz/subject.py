"""A model with its runs: what judges look at."""

from __future__ import annotations

from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx

import onnx_infer
from onnx_infer import InferenceResult
from symdim import Var, parse
from tests.fuzz.growing import BASE_SIZES, OTHER_SIZES, Input
from tests.onnx_infer.oracle import at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.fuzz.runtime import Feeds, Outcome, Runtime


PLANNING = "Shape mismatch attempting to re-use buffer"
"""onnxruntime's own shape inference was wrong."""


def no_turns(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A Loop without turns: the sizes of its stacked outputs are not known."""
    if node.op_type != "Loop":
        return False
    if any(not arrays[name].any() for name in node.input[:2] if name in arrays):
        return True
    return any(getattr(arrays.get(o), "shape", ())[:1] == (0,) for o in node.output)


def empty_reduction(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A reduction of nothing, or a function or subgraph that may reduce nothing: the axis becomes one of size 0."""
    if _may_have_inside(node, "Reduce", "Arg"):
        return any(getattr(arrays.get(name), "size", 1) == 0 for name in (*node.input, *node.output))
    return node.op_type.startswith(("Reduce", "Arg")) and getattr(arrays.get(node.input[0]), "size", 1) == 0


def _may_have_inside(node: onnx.NodeProto, *starts: str) -> bool:
    """Whether there may be an operator whose name starts like this in the function or in the graphs of a node."""
    graphs = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    while graphs:
        for inner in graphs.pop().node:
            if inner.op_type.startswith(starts):
                return True
            graphs += [attribute.g for attribute in inner.attribute if attribute.HasField("g")]
    return node.domain == "local"


def empty_product(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A product of matrices without inner elements: the leading axes of the first operand are not broadcast."""
    return node.op_type == "MatMul" and getattr(arrays.get(node.input[0]), "shape", (1,))[-1:] == (0,)


OF_INTEGERS = {"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"}
OF_INTEGERS |= {"DynamicQuantizeMatMul", "MatMulIntegerToFloat", "QGemm"}
RECURRENT = {"GRU", "LSTM", "RNN"}


def empty_sum(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A sum of nothing, of integers or in a recurrent layer: the result is memory that nobody has written."""
    sums = node.op_type in OF_INTEGERS | RECURRENT
    return sums and any(getattr(arrays.get(name), "size", 1) == 0 for name in node.input)


def other_heads(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """An Attention with values of other sizes than keys: a part of its cache is memory that nobody has written."""
    sizes = {size for a in node.attribute if a.name == "qkv_hidden_sizes" for size in a.ints}
    return node.op_type == "Attention" and len(node.output) > 1 and len(sizes) > 1


def broadcast_groups(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A GroupNormalization with one element of scale or bias for all groups."""
    return node.op_type == "GroupNormalization" and any(
        getattr(arrays.get(name), "shape", None) == (1,) for name in node.input[1:]
    )


def large_slope(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A PRelu with a slope that does not broadcast to X: the result has the shape of both."""
    if node.op_type != "PRelu":
        return False
    data, result = (getattr(arrays.get(name), "shape", None) for name in (node.input[0], node.output[0]))
    return data != result


def large_extremum(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A Max or Min of 64-bit integers beyond 32 bits: some elements are taken from the wrong operand."""
    return node.op_type in ("Max", "Min") and _has_large(_possible(node.input, arrays), 2**31)


def empty_part(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A Concat with a part of another rank that has no elements: onnxruntime leaves it out, the specification not."""
    parts = [arrays.get(name) for name in node.input] if node.op_type == "Concat" else []
    if node.op_type == "ConcatFromSequence":
        parts = arrays.get(node.input[0], [])
    ranks = {getattr(part, "ndim", None) for part in parts}
    return len(ranks) > 1 and any(getattr(part, "size", 1) == 0 for part in parts)


def scalar_shape(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """An Expand whose shape is a scalar: the specification demands a vector, onnxruntime does not look."""
    return node.op_type == "Expand" and any(getattr(a, "ndim", 1) == 0 for a in _possible(node.input[1:], arrays))


def backward_to_the_end(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A Slice with a step below 0 that ends at the largest integer: it goes to the first element.

    onnx infers that it has no elements, so onnxruntime may not load a model in which more of it is known.
    """
    if node.op_type != "Slice" or len(node.input) < 5:
        return False
    end, step = (arrays.get(node.input[i], np.zeros(1)) for i in (2, 4))
    return step.min(initial=0) < 0 and _largest(end) >= 2**31 - 1


def large_count(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A TopK whose K is beyond 32 bits: only the lower 32 bits are read."""
    return node.op_type == "TopK" and _has_large(_possible(node.input[1:], arrays), 2**32)


def large_reduction(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A sum or a product of 64-bit integers beyond 2**53: it is computed as a double."""
    if node.op_type not in ("ReduceSum", "ReduceProd"):
        return False
    return _has_large([*_possible(node.input[:1], arrays), arrays.get(node.output[0])], 2**53)


def _possible(names: Iterable[str], arrays: Mapping[str, Any]) -> list[Any]:
    """The values of these names. In a body they may not be known: then all values of the model."""
    found = [arrays.get(name) for name in names]
    return list(arrays.values()) if any(value is None for value in found) else found


def _has_large(values: Iterable[Any], least: int) -> bool:
    """Whether a tensor of 64-bit integers has a magnitude of `least` or more."""
    return any(_largest(a) >= least for a in values if getattr(a, "dtype", None) == np.int64)


def _largest(array: np.ndarray[Any, Any]) -> float:
    return float(np.abs(array.astype(float)).max(initial=0))


ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Pow": np.power}


def overflow(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """Integers that leave the range of their type, where inference assumes that sizes are too small for that.

    onnxruntime computes a power as a double, so this is rounded beyond 2**53.
    """
    numbers = [arrays[name] for name in node.input if name in arrays]
    if node.op_type not in ARITHMETIC or len(numbers) != 2 or any(a.dtype.kind not in "iu" for a in numbers):
        return False
    with np.errstate(all="ignore"):
        exact = ARITHMETIC[node.op_type](*[a.astype(float) for a in numbers])
    most = np.iinfo(numbers[0].dtype).max
    return _largest(exact) >= (min(most, 2**53) if node.op_type == "Pow" else most)


def large_power_inside(node: onnx.NodeProto, arrays: Mapping[str, Any]) -> bool:
    """A function or subgraph that may compute a power of integers beyond 2**53: it is computed as a double."""
    return _may_have_inside(node, "Pow") and _has_large(map(arrays.get, (*node.input, *node.output)), 2**53)


QUIRKS = (
    no_turns, empty_reduction, empty_product, empty_sum, other_heads, broadcast_groups, large_slope,
    large_extremum, empty_part, scalar_shape, backward_to_the_end, large_count, large_reduction, overflow,
    large_power_inside,
)  # fmt: skip
"""Where onnxruntime departs from the specification, or a run from what inference assumes."""
INNER_QUIRKS = (no_turns, large_extremum, scalar_shape, backward_to_the_end, large_count, large_reduction)
"""Those that are looked for in bodies, too. Few values in a body are known."""


DEAD_BRANCH = "Op (If) [TypeInferenceError] Graph attribute inferencing failed"
SHAPES = "[ShapeInferenceError]"


class Run(NamedTuple):
    """The sizes of the symbols, the inputs, and what onnxruntime made of them."""

    sizes: dict[str, int]
    feeds: Feeds
    outcome: Outcome

    @property
    def succeeded(self) -> bool:
        """Whether there are outputs."""
        return not isinstance(self.outcome, str)


class Subject:
    """A model, its inference and its runs. Inference happens once, when it is first asked for."""

    def __init__(self, model: onnx.ModelProto, runs: Sequence[Run]) -> None:
        self.model = model
        self.runs = [run for run in runs if not self._is_unclear(run)]

    @cached_property
    def result(self) -> InferenceResult:
        """What is inferred of the model."""
        return self.infer(self.model)

    def infer(self, model: Any, **options: Any) -> InferenceResult:
        """What is inferred of a model with these symbols."""
        return onnx_infer.infer(model, **self.options, **options)

    @cached_property
    def options(self) -> dict[str, int]:
        """Symbols may be 0 if one is 0 in a run."""
        return {"min_dim": 0} if any(0 in run.sizes.values() for run in self.runs) else {}

    def outputs(self, run: Run) -> dict[str, Any]:
        """The outputs of a run that succeeded, by name."""
        assert not isinstance(run.outcome, str)
        named = zip((o.name for o in self.model.graph.output), run.outcome, strict=True)
        return {name: array for name, array in named if array is not None}  # some kernels give nothing for no elements

    def sizes(self, run: Run, result: InferenceResult) -> dict[str, int]:
        """The sizes of the symbols of a result in a run."""
        shapes = {name: array.shape for name, array in run.feeds.items()}
        return {v if isinstance(v, str) else v.name: n for v, n in result.sources.bindings(shapes).items()} | run.sizes

    def _is_unclear(self, run: Run) -> bool:
        """Whether a run says nothing about inference: see `QUIRKS`, or the author declares a wrong rank or number.

        So it is with a wrong size of what only the author tells. A node behind a Loop without turns may refuse a run.
        """
        if run.succeeded and (self.is_misdeclared(run, {}) or self.is_misdeclared(run, run.sizes, self._untold)):
            return True
        arrays = {**run.feeds, **(self.outputs(run) if run.succeeded else {})}
        arrays |= {t.name: onnx.numpy_helper.to_array(t) for t in self.model.graph.initializer if t.name}
        nodes, inner = self.model.graph.node, list(_inner_nodes(self.model))
        arrays |= {node.output[0]: array for node in (*nodes, *inner) for array in _constant(node)}
        arrays |= {name: np.zeros(1) for node in (*nodes, *inner) for name in _counter(node)}
        if not run.succeeded:
            return PLANNING in str(run.outcome) or any(no_turns(node, arrays) for node in (*nodes, *inner))
        return any(quirk(node, arrays) for node in nodes for quirk in QUIRKS) or any(
            quirk(node, arrays) for node in inner for quirk in INNER_QUIRKS
        )

    @cached_property
    def _untold(self) -> list[onnx.ValueInfoProto]:
        """The outputs of which nothing is inferred, not even the rank, and their author declares symbols."""
        named = [o for o in self.model.graph.output if any(d.dim_param for d in o.type.tensor_type.shape.dim)]
        found = onnx_infer.infer(self.model, policy="override", min_dim=0).shapes if named else {}
        return [output for output in named if found.get(output.name) is None]

    def is_misdeclared(
        self, run: Run, symbols: Mapping[str, int], among: Sequence[onnx.ValueInfoProto] | None = None
    ) -> bool:
        """Whether an output has another rank than its author declares, or another size than a number or a symbol."""
        outputs = self.outputs(run)
        declared = self.model.graph.output if among is None else among
        return any(_is_wrong(info, outputs.get(info.name), symbols) for info in declared)

    def lost_branches(self, run: Run, folded: onnx.ModelProto) -> bool:
        """Whether onnxruntime does not load the model because of a branch of which the folded model has less.

        It infers branches that no run takes and nodes that nothing reads, too. The folded model does not have them.
        Before If-11 it takes the sizes of one branch for both, and later those of one if the other has unknown ones.
        """
        opset = next(o.version for o in self.model.opset_import if o.domain in ("", "ai.onnx"))
        texts = (DEAD_BRANCH, SHAPES) if opset < 11 else (DEAD_BRANCH,)
        is_refused = any(text in str(run.outcome) for text in texts)
        return is_refused and not _in_bodies(self.model) <= _in_bodies(folded)

    def failing(self, run: Run, result: InferenceResult | None = None) -> list[onnx_infer.Violation]:
        """The guards that fail at the sizes of a run."""
        result = result or self.result
        known = {v.name for v in result.sources.symbols}
        return result.check({name: size for name, size in run.sizes.items() if name in known})


def _in_bodies(model: onnx.ModelProto) -> set[tuple[str, ...]]:
    """The outputs of each node in a function or a subgraph."""
    return {tuple(node.output) for node in _inner_nodes(model)}


def _inner_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """The nodes of functions and of subgraphs."""
    bodies = [list(f.node) for f in model.functions]
    outer = list(model.graph.node)
    while bodies or outer:
        bodies += [list(a.g.node) for node in outer for a in node.attribute if a.HasField("g")]
        outer = bodies.pop() if bodies else []
        yield from outer


def _constant(node: onnx.NodeProto) -> list[Any]:
    """The tensor of a Constant."""
    found = [a.t for a in node.attribute if a.name == "value"] if node.op_type == "Constant" else []
    return [onnx.numpy_helper.to_array(tensor) for tensor in found]


def _counter(node: onnx.NodeProto) -> list[str]:
    """The number of the iteration in the body of a Loop, which is 0 at first."""
    bodies = [a.g for a in node.attribute if a.name == "body"] if node.op_type == "Loop" else []
    return [body.input[0].name for body in bodies if body.input]


def _is_wrong(info: onnx.ValueInfoProto, actual: Any, symbols: Mapping[str, int]) -> bool:
    tensor, shape = info.type.tensor_type, getattr(actual, "shape", None)
    if shape is None or not tensor.HasField("shape"):
        return False
    if len(tensor.shape.dim) != len(shape):
        return True
    dims = zip(tensor.shape.dim, shape, strict=True)
    says = [(d.dim_value if d.HasField("dim_value") else _value(d.dim_param, symbols), size) for d, size in dims]
    return any(declared not in (None, size) for declared, size in says)


def _value(text: str, symbols: Mapping[str, int]) -> int | None:
    """The value of a symbol, or of a sum with one; None if it is not known."""
    known = {name: Var.fresh(name, 0) for name in symbols if name.isidentifier()}
    found = at(parse(text, known), symbols) if text and known else None
    return found if isinstance(found, int) else None


def tried(model: onnx.ModelProto, feeds: Sequence[tuple[dict[str, int], Feeds]], runtime: Runtime) -> Subject:
    """The model with its runs on these inputs."""
    used = {i.name for i in model.graph.input}
    given = [(sizes, {k: v for k, v in arrays.items() if k in used}) for sizes, arrays in feeds]
    outcomes = runtime.run(model.SerializeToString(), [arrays for _, arrays in given])
    return Subject(model, [Run(*pair, outcome) for pair, outcome in zip(given, outcomes, strict=True)])


def chosen_feeds(inputs: Sequence[Input], sizes: Mapping[str, int], rng: Random) -> list[tuple[dict[str, int], Feeds]]:
    """Inputs at the base sizes and at two other choices, two sets of elements each."""
    out = []
    choices = [dict(sizes)]
    for pool in (OTHER_SIZES, OTHER_SIZES + BASE_SIZES):
        choices.append({name: size if rng.random() < 0.3 else rng.choice(pool) for name, size in sizes.items()})
    for choice in choices:
        for _ in range(2):
            try:
                arrays = {i.name: i.array(choice, rng) for i in inputs}
            except ValueError:  # an input has a negative size there
                break
            # an expression of symbols that no axis gives alone is a symbol itself
            texts = {str(d): n for i in inputs for d, n in zip(i.dims, arrays[i.name].shape, strict=True)}
            out.append(({**texts, **choice}, arrays))
    return out
