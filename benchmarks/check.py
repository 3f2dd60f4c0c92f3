"""Keeps the speed: whole models against onnx's C++ in the same process, by ratio: `python benchmarks/check.py`.

Exit status 1 where the best of the rounds is slower than LIMIT times onnx's best. Ratios of minima are steady on noisy
machines; the limit leaves room for the rest, and catches what costs a whole pass over the nodes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from onnx_infer import infer_shapes
from tests.onnx_infer import models

LIMIT = 2.0
ROUNDS = 15


def theirs(model: onnx.ModelProto) -> onnx.ModelProto:
    """onnx's C++ inference, with data propagation."""
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def best(engines: dict[str, Callable[[onnx.ModelProto], object]], model: onnx.ModelProto) -> dict[str, float]:
    """The shortest time of each engine in seconds, rounds interleaved."""
    shortest = dict.fromkeys(engines, float("inf"))
    for _ in range(ROUNDS):
        for name, run in engines.items():
            begun = time.perf_counter()
            run(model)
            shortest[name] = min(shortest[name], time.perf_counter() - begun)
    return shortest


def main() -> int:
    """Measure and compare; the exit status."""
    slow = 0
    for name, model in (("decoder of 24 layers", models.decoder(24)), ("CNN of 50 blocks", models.cnn(50))):
        times = best({"onnx": theirs, "ours": infer_shapes}, model)
        ratio = times["ours"] / times["onnx"]
        slow += ratio > LIMIT
        print(f"{name}, {len(model.graph.node)} nodes: {ratio:.2f}x of onnx's C++ (limit {LIMIT})")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
