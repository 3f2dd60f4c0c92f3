"""Nodes before and after `fold`, beside onnxslim in the same run.

    python benchmarks/fold.py FOLDER [NAME ...]

FOLDER has `.onnx` files. Counted are the nodes of all graphs and functions without constants. onnxslim also fuses
operators (BatchNormalization into Conv, MatMul and Add into Gemm), which changes the last bits of results and is no
part of folding. Models that it cannot read are left out of the means.
"""

from __future__ import annotations

import sys
from importlib import import_module
from math import exp, log
from pathlib import Path
from time import process_time

import onnx

from onnx_infer import fold
from onnx_infer.tools.transforms.draft import count_nodes


def slimmed(path: Path) -> int | None:
    """The nodes that onnxslim leaves; None if it is not installed or fails."""
    try:
        return count_nodes(import_module("onnxslim").slim(onnx.load(path)))
    except Exception as error:  # another program's errors are its result
        print(f"{path.stem}: onnxslim: {type(error).__name__}")
        return None


def mean(shares: list[float]) -> float:
    """The geometric mean."""
    return exp(sum(map(log, shares)) / len(shares)) if shares else 1.0


def main(folder: str, *names: str) -> None:
    """Print a line for each model, and the geometric means of the shares of nodes that are left."""
    ours: list[float] = []
    theirs: list[float] = []
    seconds = 0.0
    paths = [path for path in sorted(Path(folder).glob("*.onnx")) if not names or path.stem in names]
    for path in paths:
        model = onnx.load(path, load_external_data=False)
        before, start = count_nodes(model), process_time()
        after = count_nodes(fold(model))
        seconds += process_time() - start
        slim = slimmed(path)
        print(f"{path.stem:40} {before:6} {after:6} {'' if slim is None else slim:>6}", flush=True)
        if slim and before:
            ours.append(max(after, 1) / before)
            theirs.append(slim / before)
    print(
        f"{len(ours)} models: fold leaves {mean(ours):.3f} of the nodes, onnxslim {mean(theirs):.3f}; {seconds:.0f} s"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
