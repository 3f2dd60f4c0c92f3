"""What comes back of models whose inputs have lost their shapes: `python benchmarks/erased.py [MODEL.onnx ...]`.

Of each model the shapes of all inputs are deleted, with `--outputs` those of outputs and value infos too, and it is
inferred in both directions. Without arguments: the models that the tests make by script.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import onnx
from timing import table

from onnx_infer import SymTensor, infer
from tests.onnx_infer import models


def erased(model: onnx.ModelProto, outputs: bool) -> onnx.ModelProto:
    """A copy without the shapes of inputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    infos = [*copy.graph.input]
    if outputs:
        del copy.graph.value_info[:]
        infos += copy.graph.output
    constants = {tensor.name for tensor in model.graph.initializer}
    for info in infos:
        if info.type.HasField("tensor_type") and info.name not in constants:
            info.type.tensor_type.ClearField("shape")
    return copy


def row(name: str, model: onnx.ModelProto, outputs: bool) -> list[str]:
    """The counts of one model: ranks of inputs, their fixed sizes, and the values whose rank is known."""
    start = perf_counter()
    result = infer(erased(model, outputs), bidirectional=True)
    seconds = perf_counter() - start
    before, after = infer(model), result.shapes
    inputs = [n for n in result.inputs if n in before.shapes]
    numbers = [sum(isinstance(d, int) for n in inputs for d in shapes.get(n, ())) for shapes in (after, before.shapes)]
    tensors = [n for n, value in result.types.items() if isinstance(value, SymTensor)]
    ranks = sum(n in after for n in inputs)
    return [name, f"{ranks} of {len(inputs)}", f"{numbers[0]} of {numbers[1]}", f"{len(after)} of {len(tensors)}",
            f"{seconds:.2f} s"]  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--outputs", action="store_true")
    arguments = parser.parse_args()
    given = [(path.stem, onnx.load(path, load_external_data=False)) for path in arguments.paths]
    made = [(make.__name__, make()) for make in (models.decoder, models.cnn, models.unet, models.windows)]
    rows = [row(name, model, arguments.outputs) for name, model in given or made]
    print(table(["model", "ranks of inputs", "fixed sizes of inputs", "values of known rank", "time"], rows))
