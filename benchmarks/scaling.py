"""How time grows with size: `python benchmarks/scaling.py`. The last column is near 1 where growth is linear.

It is the time of the row divided by that of the row above, divided by the growth of the size.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from onnx import TensorProto, helper
from timing import shown, table

from onnx_infer import infer_shapes
from symdim import Var, clear_caches, maximum, parse
from tests.onnx_infer import models

if TYPE_CHECKING:
    from collections.abc import Callable

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


def main() -> None:
    """Measure every case at every size, three times, and print the table of the fastest."""
    rows = []
    for name, (prepare, sizes) in CASES.items():
        before = None
        for n in sizes:
            seconds = min(_once(prepare(n)) for _ in range(3))
            growth = f"{seconds / before[1] / (n / before[0]):.2f}" if before else "-"
            rows.append([name, str(n), shown(seconds), growth])
            before = (n, seconds)
    print(table(["case", "size", "time", "growth"], rows))


def _once(run: Callable[[], object]) -> float:
    clear_caches()
    start = perf_counter()
    run()
    return perf_counter() - start


if __name__ == "__main__":
    main()
