"""onnx-shape-inference with SymPy under `onnx_ir.SymbolicDim`, and with symdim there.

    python benchmarks/symbolic_dim.py FOLDER [NAME ...]

FOLDER has `.onnx` files. Every model is inferred by both in each of three rounds, with empty caches; the table has the
medians of processor time, and how many characters the longest size of a value has.
"""

from __future__ import annotations

import logging
import sys
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from time import process_time

import onnx
import onnx_ir as ir
import onnx_shape_inference
from sympy.core.cache import clear_cache
from timing import shown, table

from onnx_infer.integrations import symbolic_dim
from symdim import clear_caches

ROUNDS = 3
PROGRAMS = {"SymPy": nullcontext, "symdim": symbolic_dim.installed}


def inferred(path: Path, program: str) -> tuple[float, int]:
    """The seconds of one inference, and the length of the longest size in the model."""
    model = ir.from_proto(onnx.load(path, load_external_data=False))
    clear_cache()
    clear_caches()
    with PROGRAMS[program]():
        start = process_time()
        onnx_shape_inference.infer_symbolic_shapes(model, warn_on_missing=False)
        seconds = process_time() - start
    values = [value for node in model.graph for value in node.outputs if value.shape is not None]
    return seconds, max((len(str(size)) for value in values for size in value.shape), default=0)


def main(folder: str, *names: str) -> None:
    """Print the table."""
    logging.disable(logging.WARNING)
    rows = []
    total = dict.fromkeys(PROGRAMS, 0.0)
    for path in sorted(Path(folder).glob("*.onnx")):
        if names and path.stem not in names:
            continue
        runs: dict[str, list[tuple[float, int]]] = {program: [] for program in PROGRAMS}
        for _ in range(ROUNDS):
            for program, found in runs.items():
                found.append(inferred(path, program))
        times = {program: median(seconds for seconds, _ in found) for program, found in runs.items()}
        for program, seconds in times.items():
            total[program] += seconds
        lengths = [str(found[0][1]) for found in runs.values()]
        rows.append([path.stem, *map(shown, times.values()), f"{times['SymPy'] / times['symdim']:.1f}", *lengths])
    rows.append(["all", *map(shown, total.values()), f"{total['SymPy'] / total['symdim']:.1f}", "", ""])
    print(table(["model", "SymPy", "symdim", "times faster", "longest size, SymPy", "longest size, symdim"], rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
