"""Whole models against onnx's C++ inference: `python benchmarks/models.py [model.onnx ...] [--rounds 5]`.

Without paths, models are generated: decoders of 2 and 24 layers, convolution nets of 8 and 50 blocks, a U-net. The
first run of a fresh process and later runs are told apart; both engines take a loaded ModelProto and give a new one.
"known" is the share of node outputs whose rank and sizes are all functions of the input sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import onnx
from timing import shown, table

from symdim import Expr, SymdimError, parse
from tests.onnx_infer import models

if TYPE_CHECKING:
    from collections.abc import Callable

ENGINES = ("onnx", "onnx_infer")


def inference(engine: str) -> Callable[[onnx.ModelProto], onnx.ModelProto]:
    """The function under test, imported before anything is timed."""
    if engine == "onnx":
        import onnx.shape_inference

        return lambda model: onnx.shape_inference.infer_shapes(model, data_prop=True)
    from onnx_infer import infer_shapes

    return infer_shapes


def known_share(model: onnx.ModelProto) -> float:
    """The share of node outputs of which everything is a function of the input sizes."""
    symbols = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}

    def known(dim: onnx.TensorShapeProto.Dimension) -> bool:
        if not dim.dim_param:
            return dim.HasField("dim_value")
        try:
            size = parse(dim.dim_param, symbols)
        except SymdimError:
            return False
        return not isinstance(size, Expr) or size.free_symbols() <= symbols

    types = {info.name: info.type.tensor_type for info in (*model.graph.value_info, *model.graph.output)}
    outputs = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output if name]
    complete = [n for n in outputs if n in types and types[n].HasField("shape") and all(map(known, types[n].shape.dim))]
    return len(complete) / max(1, len(outputs))


def work(engine: str, path: str, runs: int) -> dict[str, float]:
    """What one process measures: the first run, and the median of the later ones."""
    model = onnx.load(path, load_external_data=False)
    del model.graph.value_info[:]
    infer = inference(engine)
    times = []
    for _ in range(runs + 1):
        start = perf_counter()
        inferred = infer(model)
        times.append(perf_counter() - start)
    return {"first": times[0], "later": median(times[1:]), "known": known_share(inferred)}


def in_fresh_process(engine: str, path: Path, runs: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", engine, "--runs", str(runs), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def generated(folder: Path) -> list[Path]:
    """The generated models, written to a folder."""
    made = {
        "decoder_2": models.decoder(2),
        "decoder_24": models.decoder(24),
        "cnn_8": models.cnn(8),
        "cnn_50": models.cnn(50),
        "unet_4": models.unet(4),
    }
    for name, model in made.items():
        onnx.save(model, folder / f"{name}.onnx")
    return [folder / f"{name}.onnx" for name in made]


def main() -> None:
    """Measure, rounds interleaved, and print the table of medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5, help="fresh processes per engine and model")
    parser.add_argument("--runs", type=int, default=20, help="later runs within each process")
    parser.add_argument("--worker", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.worker, str(options.paths[0]), options.runs)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in options.paths or generated(Path(folder)):
            samples: dict[str, list[dict[str, float]]] = {engine: [] for engine in ENGINES}
            for _ in range(options.rounds):
                for engine in ENGINES:
                    samples[engine].append(in_fresh_process(engine, path, options.runs))
            middle = {(e, k): median(s[k] for s in samples[e]) for e in ENGINES for k in ("first", "later", "known")}
            row = [path.stem, str(len(onnx.load(path, load_external_data=False).graph.node))]
            for kind in ("first", "later"):
                theirs, ours = middle["onnx", kind], middle["onnx_infer", kind]
                row += [shown(theirs), shown(ours), f"{ours / theirs:.2f}"]
            rows.append([*row, *(f"{middle[e, 'known']:.0%}" for e in ENGINES)])
    head = ["model", "nodes", "onnx first", "ours first", "ratio", "onnx later", "ours later", "ratio"]
    print(table([*head, "onnx known", "ours known"], rows))


if __name__ == "__main__":
    main()
