"""Expression workloads in this project and its peers, side by side: `python benchmarks/expressions.py [--rounds 5]`.

Prints the median time of each workload and the ratio to SymPy (SymPy's time divided by the engine's; higher is faster).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from engines import installed
from timing import middle, seconds_per_run, shown, table
from workloads import ONE_OPERATION, REPEATS, WORKLOADS, CannotDo, mixed_expression

if TYPE_CHECKING:
    from engines import Engine

Times = dict[tuple[str, str], list[float]]


def measure(engines: list[Engine], rounds: int, only: str) -> Times:
    """(workload, engine) -> seconds per run, one sample per round."""
    times: Times = {}
    for workload in WORKLOADS:
        if only not in workload.name:
            continue
        able = list(engines)
        for round_number in range(rounds):
            for engine in list(able):
                engine.clear()
                tag = f"_{workload.name}_{round_number}"
                try:
                    seconds = seconds_per_run(lambda t, e=engine, w=workload: w.prepare(e, t), tag)
                except (CannotDo, NotImplementedError):
                    able.remove(engine)
                    continue
                share = REPEATS if workload.name in ONE_OPERATION else 1
                times.setdefault((workload.name, engine.name), []).append(seconds / share)
    return times


def check_agreement(engines: list[Engine]) -> None:
    """Every engine gives the same value of the mixed expression, so that all do the same work."""
    sizes = dict(zip(("a", "b", "c", "d"), (7, 11, 13, 17), strict=True))
    values = {e.name: e.evaluate(mixed_expression(e, ""), sizes) for e in engines}
    if len(set(values.values())) != 1:
        raise SystemExit(f"the engines disagree on one expression: {values}")


def import_seconds(module: str, rounds: int) -> float | None:
    """The median time of a fresh interpreter that imports the module, less that of one that does not."""

    def start(code: str) -> float:
        begin = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return perf_counter() - begin

    samples = [start(f"import {module}") - start("pass") for _ in range(rounds)]
    return middle(samples)


def main() -> None:
    """Measure and print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    arguments = parser.parse_args()
    engines = installed()
    check_agreement(engines)
    times = measure(engines, arguments.rounds, arguments.only)
    names = [e.name for e in engines]
    medians = {key: middle(samples) for key, samples in times.items()}
    workloads = [w.name for w in WORKLOADS if any((w.name, n) in medians for n in names)]
    rows = [[w, *(shown(medians.get((w, n))) for n in names)] for w in workloads]
    if not arguments.only:
        rows.append(["import", *(shown(import_seconds(e.module, arguments.rounds)) for e in engines)])
    print(table(["workload", *names], rows))
    print("\nratio to sympy (higher is faster)")
    ratios = []
    for workload in workloads:
        base = medians.get((workload, "sympy"))
        cells = [medians.get((workload, n)) for n in names]
        ratios.append([workload, *(f"{base / c:.1f}x" if base and c else "-" for c in cells)])
    print(table(["workload", *names], ratios))


if __name__ == "__main__":
    main()
