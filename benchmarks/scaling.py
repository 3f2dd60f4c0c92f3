"""How time grows with size: `python benchmarks/scaling.py`.

`growth` is the time of a row divided by that of the row above and by the growth of the size: near 1 where it is linear.
The second table is the time per node of whole models of up to 200,000 nodes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from time import process_time
from typing import TYPE_CHECKING

from inference import ENGINES, installed
from onnx import TensorProto, helper
from timing import shown, table

from onnx_infer import infer_shapes
from symdim import Var, clear_caches, maximum, parse
from tests.onnx_infer import models

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import ModelProto


def long_sum(n: int) -> Callable[[], object]:
    """A text of n different terms, read and printed."""
    text = " + ".join(f"{i + 1}*x{i}" for i in range(n))
    return lambda: str(parse(text))


def nested_divisions(n: int) -> Callable[[], object]:
    """(...((x + 1)//2 + y)//2 + 1 ...): n levels that do not collapse into each other."""
    x, y = Var("x"), Var("y")

    def run() -> object:
        size = x
        for i in range(n):
            size = maximum((size + y) // (i % 5 + 2), i % 7)
        return size

    return run


def deep_chain(n: int) -> ModelProto:
    """n nodes in a row, of which every second concatenates, so that sizes grow to large multiples."""
    nodes = []
    for i in range(n):
        attributes = {"axis": 1} if i % 64 == 0 else {}
        kind, inputs = ("Concat", [f"v{i}", "v0"]) if attributes else ("Relu", [f"v{i}"])
        nodes.append(helper.make_node(kind, inputs, [f"v{i + 1}"], **attributes))
    inputs = [helper.make_tensor_value_info("v0", TensorProto.FLOAT, ["N", "H"])]
    outputs = [helper.make_tensor_value_info(f"v{n}", TensorProto.FLOAT, None)]
    return helper.make_model(helper.make_graph(nodes, "chain", inputs, outputs))


def inferring(make: Callable[[int], ModelProto]) -> Callable[[int], Callable[[], object]]:
    """Inference of a model of size n; making the model is not timed."""

    def prepare(n: int) -> Callable[[], object]:
        model = make(n)
        return lambda: infer_shapes(model)

    return prepare


CASES: dict[str, tuple[Callable[[int], Callable[[], object]], tuple[int, ...]]] = {
    "sum, read and printed": (long_sum, (1_000, 8_000, 64_000)),
    "nested // and max": (nested_divisions, (10, 100, 1_000)),
    "chain of nodes": (inferring(deep_chain), (1_000, 10_000, 100_000)),
    "decoder layers": (inferring(models.decoder), (2, 8, 32)),
    "convolution blocks": (inferring(models.cnn), (16, 64, 256)),
}


SIZES = (1_000, 5_000, 20_000, 100_000, 200_000)
SLOW = {"onnx-shape-inference": 5_000, "onnxruntime script": 5_000}
"""Engines that take minutes for more nodes than so many."""


def first_sight(engine: str, nodes: int) -> float:
    """Seconds per node for decoder layers of so many nodes in all, once a small model has loaded the operators."""
    infer = ENGINES[engine][1]()
    infer(models.decoder(1))
    layers = 1 + nodes // (len(models.decoder(2).graph.node) - len(models.decoder(1).graph.node))
    model = models.decoder(layers)
    start = process_time()
    infer(model)
    return (process_time() - start) / len(model.graph.node)


def per_node(sizes: Sequence[int] = SIZES) -> dict[str, dict[int, float]]:
    """Engine -> number of nodes -> seconds per node, each in a process of its own, the best of three."""
    found: dict[str, dict[int, float]] = {}
    for engine in installed():
        for nodes in sizes:
            if nodes <= SLOW.get(engine, nodes):
                command = [sys.executable, __file__, "--worker", engine, str(nodes)]
                runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
                found.setdefault(engine, {})[nodes] = min(float(run.stdout) for run in runs)
    return found


def tables(found: dict[str, dict[int, float]]) -> str:
    """Time per node, a row for each number of nodes."""
    sizes = sorted({nodes for points in found.values() for nodes in points})
    rows = [[f"{n:,}", *(shown(points.get(n)) for points in found.values())] for n in sizes]
    return table(["nodes", *(f"{engine}, per node" for engine in found)], rows)


def growth() -> str:
    """Every case at every size, the fastest of three times."""
    rows = []
    for name, (prepare, sizes) in CASES.items():
        before = None
        for n in sizes:
            seconds = min(_once(prepare(n)) for _ in range(3))
            rows.append(
                [name, str(n), shown(seconds), f"{seconds / before[1] / (n / before[0]):.2f}" if before else "-"]
            )
            before = (n, seconds)
    return table(["case", "size", "time", "growth"], rows)


def _once(run: Callable[[], object]) -> float:
    clear_caches()
    start = process_time()
    run()
    return process_time() - start


def main() -> None:
    """Measure and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=2, metavar=("ENGINE", "NODES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(first_sight(options.worker[0], int(options.worker[1])))
    else:
        print(f"{growth()}\n\n{tables(per_node())}")


if __name__ == "__main__":
    main()
