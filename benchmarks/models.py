"""Whole models against other engines: `python benchmarks/models.py [--models DIR_OR_FILE ...] [--rounds 5]`.

Without `--models`, models are generated: decoders of 2 and 24 layers, convolution nets of 8 and 50 blocks, a U-net. The
first run of a fresh process and later runs are told apart; every engine takes a loaded ModelProto without value infos
and gives a new one. "known" is the share of node outputs of which all sizes are functions of the input sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

import onnx
from inference import ENGINES, installed, known_share
from timing import shown, table

from tests.onnx_infer import models

WORKER_SECONDS = 10.0
"""No further run is begun in a process after so long."""


class Measured(NamedTuple):
    """Medians over the processes: seconds of the first run, of later ones, and the share of known outputs."""

    first: float
    later: float | None
    known: float


def work(engine: str, path: str, runs: int) -> Measured:
    """What one process measures: the first run, and the median of the later ones."""
    model = onnx.load(path, load_external_data=False)
    del model.graph.value_info[:]
    infer = ENGINES[engine][1]()
    times: list[float] = []
    while len(times) <= runs and sum(times) < WORKER_SECONDS:
        start = process_time()
        inferred = infer(model)
        times.append(process_time() - start)
    return Measured(times[0], median(times[1:]) if len(times) > 1 else None, known_share(inferred))


def in_fresh_process(engine: str, path: Path, runs: int) -> Measured | None:
    """`work` in a process of its own; None where the engine fails on the model."""
    command = [sys.executable, __file__, "--worker", engine, "--runs", str(runs), "--models", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Measured(*json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else None


def generated(folder: Path) -> list[Path]:
    """The generated models, written to a folder."""
    made = {
        "decoder, 24 layers": models.decoder(24),
        "decoder, 2 layers": models.decoder(2),
        "CNN, 50 blocks": models.cnn(50),
        "CNN, 8 blocks": models.cnn(8),
        "U-Net, 4 levels": models.unet(4),
    }
    for name, model in made.items():
        onnx.save(model, folder / f"{name}.onnx")
    return [folder / f"{name}.onnx" for name in made]


def files(paths: list[Path]) -> list[Path]:
    """The models among the paths: files, and all `.onnx` files below folders."""
    return [f for p in paths for f in (sorted(p.rglob("*.onnx")) if p.is_dir() else [p])]


def measure(paths: list[Path], rounds: int, runs: int) -> dict[str, dict[str, Measured]]:
    """Model -> engine -> medians of the rounds, which are interleaved; the key tells the number of nodes."""
    found: dict[str, dict[str, Measured]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in files(paths) or generated(Path(folder)):
            samples: dict[str, list[Measured]] = {engine: [] for engine in installed()}
            for _ in range(rounds):
                for engine in list(samples):
                    sample = in_fresh_process(engine, path, runs)
                    if sample is None:
                        del samples[engine]
                    else:
                        samples[engine].append(sample)
            nodes = len(onnx.load(path, load_external_data=False).graph.node)
            found[f"{path.stem} ({nodes} nodes)"] = {
                engine: Measured(
                    median(s.first for s in done),
                    median(later) if (later := [s.later for s in done if s.later is not None]) else None,
                    median(s.known for s in done),
                )
                for engine, done in samples.items()
            }
    return found


def tables(found: dict[str, dict[str, Measured]]) -> str:
    """Three Markdown tables: first run, later runs, known outputs."""
    names = [engine for engine in ENGINES if any(engine in row for row in found.values())]
    texts = []
    for title, cell in (
        ("first run of a process", lambda m: shown(m.first)),
        ("later runs", lambda m: shown(m.later)),
        ("outputs known in the symbols of the inputs", lambda m: f"{m.known:.0%}"),
    ):
        rows = [[model, *(cell(row[n]) if n in row else "-" for n in names)] for model, row in found.items()]
        texts.append(table([title, *names], rows))
    return "\n\n".join(texts)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", type=Path, default=[], help="files, or folders of .onnx files")
    parser.add_argument("--rounds", type=int, default=5, help="fresh processes per engine and model")
    parser.add_argument("--runs", type=int, default=20, help="later runs within each process")
    parser.add_argument("--worker", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.worker, str(options.models[0]), options.runs)))
    else:
        print(tables(measure(options.models, options.rounds, options.runs)))


if __name__ == "__main__":
    main()
