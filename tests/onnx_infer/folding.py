"""Models folded, and run in onnxruntime before and after: equal outputs bit for bit, equal refusals."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import onnx

from onnx_infer import fold
from onnx_infer.tools.transforms.draft import count_nodes

from .sessions import REFUSED, session_of
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18]>'
SIZES = (0, 1, 2, 3, 4, 6, 7)


def model_of(text: str, head: str = HEAD) -> onnx.ModelProto:
    """The model `g (...) => (...) {...}`."""
    return parsed(f"g {text}", head)


def operators(model: onnx.ModelProto) -> str:
    """The operators of the main graph, in order."""
    return " ".join(node.op_type for node in model.graph.node)


def folded(text: str, head: str = HEAD, sizes: tuple[int, ...] = SIZES, **facts: Any) -> onnx.ModelProto:
    """The folded model, which does what the original does at all these sizes."""
    model = model_of(text, head)
    before = model.SerializeToString(deterministic=True)
    found = fold(model, **facts)
    assert model.SerializeToString(deterministic=True) == before
    assert count_nodes(found) <= count_nodes(model)
    assert found.graph.input == model.graph.input
    assert found.graph.output == model.graph.output
    assert not lost_in_casts(found, model)
    onnx.checker.check_model(found)
    compare(model, found, sizes)
    return found


def compare(model: onnx.ModelProto, found: onnx.ModelProto, sizes: tuple[int, ...]) -> None:
    """Run both models at all combinations of sizes."""
    symbols = list(dict.fromkeys(d.dim_param for i in model.graph.input for d in dims(i) if d.dim_param))
    runs = session_of(model), session_of(found)
    ends: Counter[bool] = Counter()
    for chosen in product(sizes, repeat=len(symbols)):
        feeds = inputs(model, dict(zip(symbols, chosen, strict=True)))
        first, second = (outcome(run, feeds) for run in runs)
        assert first == second, (dict(zip(symbols, chosen, strict=True)), first, second)
        ends[first is None] += 1
    assert ends[False], "no run is accepted"


MOVING = ("Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Tile", "Unsqueeze")


def lost_in_casts(changed: onnx.ModelProto, given: onnx.ModelProto) -> list[str]:
    """The Casts of the changed model that change a number of a constant that the given model does not have."""
    old = {tensor.name for tensor in given.graph.initializer}
    held = {t.name: t for t in changed.graph.initializer if t.name not in old}
    held.update((n.output[0], n.attribute[0].t) for n in changed.graph.node if n.op_type == "Constant")
    numbers = {name: onnx.numpy_helper.to_array(tensor).ravel() for name, tensor in held.items()}
    lost = []
    for node in changed.graph.node:
        read = [numbers[name] for name in node.input if name in numbers]
        if node.op_type in MOVING and read:
            numbers[node.output[0]] = np.concatenate(read)
        elif node.op_type == "Cast" and read:
            found = read[0].astype(onnx.helper.tensor_dtype_to_np_dtype(node.attribute[0].i))
            numbers[node.output[0]] = found
            lost += [f"{node.output[0]}: {a} becomes {b}" for a, b in zip(read[0], found, strict=True) if a != b]
    return lost


def dims(info: onnx.ValueInfoProto) -> Any:
    return info.type.tensor_type.shape.dim


def inputs(model: onnx.ModelProto, sizes: dict[str, int]) -> dict[str, np.ndarray[Any, Any]]:
    """Elements for the inputs at these sizes."""
    random = np.random.default_rng(0)
    found = {}
    for info in model.graph.input:
        shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in dims(info)]
        kind = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        found[info.name] = random.integers(0, 2, shape).astype(kind) + (kind == np.float32) * np.float32(0.25)
        found[info.name] = np.asarray(found[info.name], kind)
    return found


def outcome(run: Any, feeds: dict[str, np.ndarray[Any, Any]]) -> list[tuple[str, tuple[int, ...], bytes]] | None:
    """The outputs as bytes; None if the run is refused."""
    try:
        found = run.run(None, {i.name: feeds[i.name] for i in run.get_inputs()})
    except REFUSED:
        return None
    return [(value.dtype.str, value.shape, value.tobytes()) for value in map(np.asarray, found)]
