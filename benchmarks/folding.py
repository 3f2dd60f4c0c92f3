"""onnxscript's constant folding with onnx's inference of each node, and with this package's.

    python benchmarks/folding.py FOLDER [NAME ...]

FOLDER has `.onnx` files. Every model is folded in each of seven rounds without inference, with onnx's, and twice with
this package's, first with empty caches. The table has the medians of processor time that inference adds, how many nodes
of the folded models differ, and how many values have a shape without unknown sizes.
"""

from __future__ import annotations

import gc
import logging
import sys
from contextlib import nullcontext
from itertools import zip_longest
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

import onnx
import onnx_ir as ir
from onnxscript import optimizer
from timing import shown, table

from onnx_infer.integrations import onnxscript
from symdim import clear_caches

ROUNDS = 7
PROGRAMS = {
    "none": nullcontext,
    "onnx": nullcontext,
    "onnx_infer, first": onnxscript.installed,
    "onnx_infer, later": onnxscript.installed,
}


class Folded(NamedTuple):
    """One run: its seconds, the nodes that are left, and how many of their values have a shape that is known."""

    seconds: float
    nodes: list[tuple[object, ...]]
    known: int


def folded(path: Path, program: str) -> Folded:
    """Fold the model of a file."""
    model = ir.from_proto(onnx.load(path, load_external_data=False))
    optimizer.inline(model)
    if program != "onnx_infer, later":
        clear_caches()
    gc.collect()
    with PROGRAMS[program]():
        start = process_time()
        optimizer.fold_constants(model, onnx_shape_inference=program != "none")
        seconds = process_time() - start
    nodes = [(n.op_type, *(v and v.name for v in n.inputs), *(v.name for v in n.outputs)) for n in model.graph]
    shapes = [v.shape for node in model.graph for v in node.outputs if v.shape is not None]
    known = sum(all(isinstance(d, int) or d.value is not None for d in shape) for shape in shapes)
    return Folded(seconds, nodes, known)


def main(folder: str, *names: str) -> None:
    """Print the table."""
    logging.disable(logging.CRITICAL)
    rows = []
    totals = [0.0, 0.0, 0.0]
    for path in sorted(Path(folder).glob("*.onnx")):
        if names and path.stem not in names:
            continue
        runs: dict[str, list[Folded]] = {program: [] for program in PROGRAMS}
        for _ in range(ROUNDS):
            for program, found in runs.items():
                found.append(folded(path, program))
        without, *with_inference = (median(run.seconds for run in found) for found in runs.values())
        added = [max(seconds - without, 0.0) for seconds in with_inference]
        totals = [total + seconds for total, seconds in zip(totals, added, strict=True)]
        _, other, found, _ = (found[-1] for found in runs.values())
        others = sum(a != b for a, b in zip_longest(other.nodes, found.nodes))
        counts = str(other.known), str(found.known), str(len(found.nodes))
        rows.append([path.stem, *map(shown, added), str(others), *counts])
    rows.append(["all", *map(shown, totals), "", "", "", ""])
    print(table(["model", *list(PROGRAMS)[1:], "other nodes", "known, onnx", "known, onnx_infer", "nodes"], rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
