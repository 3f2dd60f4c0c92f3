"""SymPy under `onnx_ir.SymbolicDim`, and symdim there: a chain of convolutions, and onnx-shape-inference.

    python benchmarks/symbolic_dim.py [FOLDER [NAME ...]]

The chain is the sizes of twenty convolutions, each of which is printed. FOLDER has `.onnx` files, each of which is
inferred. Both do everything in each of three rounds (the chain in fifteen), with empty caches; the table has the
medians of processor time, and how many characters the longest size has.
"""

from __future__ import annotations

import logging
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir as ir
from sympy.core.cache import clear_cache
from timing import shown, table

from onnx_infer.integrations import symbolic_dim
from symdim import clear_caches

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 3
PROGRAMS = {"SymPy": nullcontext, "symdim": symbolic_dim.installed}


def chain() -> int:
    """Compute and print the sizes of twenty convolutions; the length of the longest one."""
    size: Any = ir.SymbolicDim("H")
    longest = 0
    for i in range(20):
        size = (size + 2 * 1 - 3) // (2 if i % 4 == 3 else 1) + 1
        longest = max(longest, len(str(size)))
    return longest


def inferred(model: ir.Model) -> int:
    """Infer a model; the length of its longest size."""
    import onnx_shape_inference

    onnx_shape_inference.infer_symbolic_shapes(model, warn_on_missing=False)
    values = [value for node in model.graph for value in node.outputs if value.shape is not None]
    return max((len(str(size)) for value in values for size in value.shape or ()), default=0)


def measured(work: Callable[[], int], program: str) -> tuple[float, int]:
    """The seconds of one run, and its longest size."""
    clear_cache()
    clear_caches()
    with PROGRAMS[program]():
        start = process_time()
        longest = work()
        return process_time() - start, longest


def row(name: str, prepare: Callable[[], Callable[[], int]], rounds: int, total: dict[str, float]) -> list[str]:
    """A row of the table; its times are added to the total."""
    runs: dict[str, list[tuple[float, int]]] = {program: [] for program in PROGRAMS}
    for _ in range(rounds):
        for program, found in runs.items():
            found.append(measured(prepare(), program))
    times = {program: median(seconds for seconds, _ in found) for program, found in runs.items()}
    for program, seconds in times.items():
        total[program] += seconds
    lengths = [str(found[0][1]) for found in runs.values()]
    return [name, *map(shown, times.values()), f"{times['SymPy'] / times['symdim']:.1f}", *lengths]


def main(folder: str = "", *names: str) -> None:
    """Print the table."""
    logging.disable(logging.WARNING)
    rows = [row("twenty convolutions", lambda: chain, 5 * ROUNDS, dict.fromkeys(PROGRAMS, 0.0))]
    total = dict.fromkeys(PROGRAMS, 0.0)
    for path in sorted(Path(folder).glob("*.onnx")) if folder else ():
        if not names or path.stem in names:
            model = onnx.load(path, load_external_data=False)
            rows.append(row(path.stem, lambda m=model: partial(inferred, ir.from_proto(m)), ROUNDS, total))  # type: ignore[misc]
    if folder:
        rows.append(["all models", *map(shown, total.values()), f"{total['SymPy'] / total['symdim']:.1f}", "", ""])
    print(table(["what", "SymPy", "symdim", "times faster", "longest size, SymPy", "longest size, symdim"], rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
