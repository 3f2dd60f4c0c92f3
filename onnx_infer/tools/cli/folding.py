"""A call with `--fold`: what became smaller, and with `--check` whether both models run alike in onnxruntime."""

from __future__ import annotations

import sys
from collections import Counter
from math import prod
from typing import TYPE_CHECKING, Any

from onnx_infer.api import infer
from onnx_infer.tools.cli.arguments import WrongCall, inference_options
from onnx_infer.tools.emission.content import content_of
from onnx_infer.tools.page.page import start_sizes
from onnx_infer.tools.transforms.draft import all_graphs
from onnx_infer.tools.transforms.folding import Facts, fold
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from onnx_infer.values.text import printable, text
from symdim import Expr, Var

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from onnx import ModelProto

    from onnx_infer.result import InferenceResult

_MOST_OPERATORS = 12
_CONSTANT = "Constant"


def folded(model: ModelProto, options: Namespace, limit: int | None) -> tuple[ModelProto, list[str]]:
    """The smaller model, and a table: operators whose number of nodes differs, all nodes, constants."""
    facts: Any = {name: value for name, value in inference_options(options).items() if name in Facts.__annotations__}
    smaller = fold(model, keep_guards=options.keep_guards, **facts)
    if options.contract:
        infer(smaller, **inference_options(options)).apply(smaller, contract=True)
    before, after = (Counter(_operators(m)) for m in (model, smaller))
    changed = sorted(
        (op for op in before | after if before[op] != after[op]), key=lambda op: (after[op] - before[op], op)
    )
    rows = [(op, before[op], after[op]) for op in changed if op != _CONSTANT]
    shown = rows if limit is None else rows[:_MOST_OPERATORS]
    lines = [("folded", "before", "after"), *((op, str(old), str(new)) for op, old, new in shown)]
    if len(shown) < len(rows):
        lines.append((f"{len(rows) - len(shown)} other operators", "", ""))
    nodes = [counts.total() - counts[_CONSTANT] for counts in (before, after)]
    (count, size), (count_after, size_after) = _constants(model), _constants(smaller)
    lines += [
        ("all nodes", str(nodes[0]), str(nodes[1])),
        ("constants", str(count), str(count_after)),
        ("bytes of constants in the file", str(size), str(size_after)),
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    return smaller, [f"{name:{widths[0]}}  {old:>{widths[1]}}  {new:>{widths[2]}}" for name, old, new in lines]


def _operators(model: ModelProto) -> Iterator[str]:
    """The operator of each node, in all graphs and functions."""
    return (printable(text(node.op_type)) for graph in all_graphs(model) for node in graph.node)


def _constants(model: ModelProto) -> tuple[int, int]:
    """The number of constants: initializers and Constant nodes; the bytes of the initializers that are not external."""
    initializers = [tensor for graph in all_graphs(model) for tensor in getattr(graph, "initializer", ())]
    bits = [prod(x.dims) * dt.BITS.get(x.data_type, 0) for x in initializers if not x.external_data]
    return len(initializers) + sum(op == _CONSTANT for op in _operators(model)), sum(-(-count // 8) for count in bits)


def check(source: str, target: str, result: InferenceResult) -> tuple[str, bool]:
    """Run two files at a few sizes, with random elements; what to tell, and whether all outputs are equal bit for bit.

    A run that one of them refuses must be refused by the other one. Raises WrongCall without onnxruntime.
    """
    try:
        import onnxruntime
    except ImportError:
        raise WrongCall(f"--check: needs onnxruntime: {sys.executable} -m pip install onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # each node as it stands
    try:
        sessions = [
            onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]) for path in (source, target)
        ]
    except Exception as error:  # onnxruntime has no class that all its errors share
        raise WrongCall(f"--check: onnxruntime does not load the models: {str(error).strip()}") from None
    runs, refused = 0, 0
    for sizes in _sizes(result):
        feeds = _feeds(result, sizes)
        first, second = (_run(session, feeds) for session in sessions)
        at = ", ".join(f"{name}={size}" for name, size in sizes.items()) or "its sizes"
        if (first is None) != (second is None):
            refuses = "the model" if first is None else "the folded model"
            return f"error: at {at}, {refuses} is refused by onnxruntime, and the other one runs", False
        if first is None or second is None:
            refused += 1
            continue
        runs += 1
        for output, a, b in zip(sessions[0].get_outputs(), first, second, strict=True):
            if not _equal(a, b):
                return f"error: at {at}, the outputs {output.name!r} of the two models differ", False
    if not runs:
        return "not checked: onnxruntime refuses both models at all sizes that were tried", True
    told = f", {refused} refused by both" if refused else ""
    return f"checked: {runs} runs of both models in onnxruntime, all outputs are equal bit for bit{told}", True


def _sizes(result: InferenceResult) -> Iterator[dict[str | Var, int]]:
    """Usual sizes of the symbols, the next larger ones, small ones."""
    symbols = content_of(result, values=False).symbols
    required = [symbol for symbol in symbols if not symbol.optional]
    usual = {
        s.name: size for s, size in zip(symbols, start_sizes(result, symbols, {}), strict=True) if size is not None
    }
    tried: list[dict[str | Var, int]] = []
    for most, more in ((16, 0), (16, 1), (1 << 30, 0)):
        sizes: dict[str | Var, int] = {}
        for symbol in required:
            low, high = symbol.variable.bounds()
            size = max(min(usual.get(symbol.name, 1), most) + more, low or 0)
            sizes[symbol.name] = size if high is None else min(size, high)
        if sizes not in tried:
            tried.append(sizes)
            yield sizes


def _feeds(result: InferenceResult, sizes: dict[str | Var, int]) -> dict[str, Any]:
    """Random elements of the inputs: 0 and 1 for integers, since they may be indices."""
    import numpy as np
    from onnx.helper import tensor_dtype_to_np_dtype

    rng, feeds = np.random.default_rng(0), {}
    for name in result.inputs:
        value = result.types.get(name)
        if not isinstance(value, SymTensor) or value.shape is None or value.dtype is None:
            raise WrongCall(f"--check: input {name!r} is {value}, of which no example can be made")
        shape = [size.to_int(sizes) if isinstance(size, Expr) else size for size in value.shape]
        if value.dtype == dt.STRING:
            feeds[name] = np.full(shape, "a", object)
        elif value.dtype in dt.FLOATS:
            feeds[name] = rng.standard_normal(shape).astype(tensor_dtype_to_np_dtype(value.dtype))
        else:
            feeds[name] = rng.integers(0, 2, shape).astype(tensor_dtype_to_np_dtype(value.dtype))
    return feeds


def _run(session: Any, feeds: dict[str, Any]) -> list[Any] | None:
    """The outputs, or None where onnxruntime refuses the run."""
    from onnxruntime.capi import onnxruntime_pybind11_state as errors

    try:
        outputs: list[Any] = session.run(None, feeds)
    except (errors.Fail, errors.InvalidArgument, errors.RuntimeException, errors.EPFail):
        return None
    return outputs


def _equal(a: Any, b: Any) -> bool:
    """Whether two outputs have the same bits: tensors, lists of them, or maps."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_equal, a, b))
    if hasattr(a, "tobytes") and a.dtype != object:
        return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())
    return bool((a == b).all() if hasattr(a, "shape") else a == b)
