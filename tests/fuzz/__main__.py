"""Random models for some minutes: `python -m tests.fuzz --minutes 10 --seed 1`; or texts: `--texts 100000`.

Damaged models: `--damaged 1000`, of the fuzzer's own ones or of those in a folder (`--models-from DIR`).

Exit code 1 if a fault was found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from tests.fuzz import damaged
from tests.fuzz.models import judged
from tests.fuzz.runtime import Runtime
from tests.fuzz.shrinking import shrunk
from tests.fuzz.texts import fault, texts

if TYPE_CHECKING:
    from tests.fuzz.models import Judged

MOST_FAULTS_OF_A_JUDGE = 4


def main() -> int:
    """Judge models until the time is over; print faults and what was covered."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; each model has its own")
    parser.add_argument("--models", type=int, default=10**9, help="stop after so many models")
    parser.add_argument("--texts", type=int, help="judge so many dim_params in place of models")
    parser.add_argument(
        "--damaged", type=int, help="judge so many damaged and hostile models, through every entry point"
    )
    parser.add_argument("--models-from", type=Path, metavar="DIR", help="with --damaged: the models that are damaged")
    options = parser.parse_args()
    if options.damaged is not None:
        return 1 if damaged.run(options.seed, options.damaged, options.models_from, partial(print, flush=True)) else 0
    if options.texts is not None:
        return judge_texts(options.seed, options.texts)
    end = time.monotonic() + 60 * options.minutes
    counts: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    operators: Counter[tuple[str, str]] = Counter()
    with Runtime() as runtime:
        seed = options.seed
        while time.monotonic() < end and seed < options.seed + options.models:
            one = judged(seed, runtime)
            seed += 1
            count(one, counts, operators)
            for judge, text in one.faults:
                faults[judge] += 1
                if faults[judge] <= MOST_FAULTS_OF_A_JUDGE:
                    show(one, judge, text, runtime)
    print(f"seeds {options.seed} to {seed - 1}: {dict(counts)}")
    print(f"{len(operators)} operators; refused and foretold {counts['foretold']} of {counts['refused']} runs")
    print(f"faults: {dict(faults) or 'none'}")
    return 1 if faults else 0


def judge_texts(seed: int, number: int) -> int:
    """Judge random dim_params; print the faults and the slowest text."""
    found, slowest = 0, (0.0, "")
    for text in islice(texts(seed), number):
        start = time.process_time()
        wrong = fault(text)
        slowest = max(slowest, (time.process_time() - start, text))
        if wrong is not None:
            found += 1
            print(f"{text!r}: {wrong}", flush=True)
    print(f"seed {seed}: {number} texts, {found} faults; the slowest took {slowest[0]:.3f} s: {slowest[1]!r}")
    return 1 if found else 0


def count(one: Judged, counts: Counter[str], operators: Counter[tuple[str, str]]) -> None:
    """Add what a model covers."""
    subject = one.subject
    counts["models"] += 1
    counts["nodes"] += len(subject.model.graph.node)
    counts[f"opset {subject.model.opset_import[0].version}"] += 1
    operators.update((node.domain, node.op_type) for node in subject.model.graph.node)
    for run in subject.runs:
        counts["runs" if run.succeeded else "refused"] += 1
    counts["foretold"] += one.foretold


def show(one: Judged, judge: str, text: str, runtime: Runtime) -> None:
    """Print a fault with a small model that has it."""
    small, found = shrunk(one, judge, text, runtime)
    print(f"\n== seed {one.seed}, {judge}: {found}\n{onnx.printer.to_text(small)}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
