"""Sizes of all values at given input sizes: the compiled planner against evaluating expression by expression.

`python benchmarks/planner.py [models]`. Both give the shape and the bytes of every value; numbers are taken as they are
on both sides. *compile* is the time to make the planner, *function* the plain function, *call* the same with
checked sizes and results by name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import onnx
from timing import shown, table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from onnx_infer import infer
from onnx_infer.tools.planning.planner import byte_size
from symdim import Expr
from tests.onnx_infer import models

ROUNDS = 15


def best(run: Callable[[], object]) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times)


def row(name: str, model: onnx.ModelProto) -> list[str]:
    """One line of the table."""
    result = infer(model)
    compiling = best(result.planner)
    planner = result.planner()
    sizes = dict.fromkeys(planner.args, 64)
    shapes = {value: result.shapes[value] for value in planner.names}
    counts = {value: byte_size(result.types[value]) for value in planner.names}

    def evaluated() -> tuple[dict[str, tuple[int, ...]], dict[str, int | None]]:
        return (
            {v: tuple([d.to_int(sizes) if isinstance(d, Expr) else d for d in shape]) for v, shape in shapes.items()},
            {v: count.to_int(sizes) if isinstance(count, Expr) else count for v, count in counts.items()},
        )

    assert evaluated() == tuple(map(dict, planner(*sizes.values())))
    slow = best(evaluated)
    function, call = best(lambda: planner.function(*sizes.values())), best(lambda: planner(*sizes.values()))
    ratios = [f"{slow / function:.0f}x", f"{slow / call:.0f}x"]
    return [name, str(len(shapes)), shown(compiling), shown(slow), shown(function), shown(call), *ratios]


def main() -> None:
    """Print the table."""
    chosen = {Path(path).stem: onnx.load(path, load_external_data=False) for path in sys.argv[1:]} or {
        "decoder, 24 layers": models.decoder(24),
        "decoder, 2 layers": models.decoder(2),
        "CNN, 50 blocks": models.cnn(50),
        "U-Net, 4 levels": models.unet(4),
        "windows": models.windows(),
    }
    head = ["model", "values", "compile", "by expression", "function", "call", "function", "call"]
    print(table(head, [row(name, model) for name, model in chosen.items()]))


if __name__ == "__main__":
    main()
