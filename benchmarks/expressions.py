"""Expression workloads in this project and its peers, side by side: `python benchmarks/expressions.py [--rounds 5]`.

Prints the median time of each workload, and how many times that of this project it is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from engines import installed
from timing import SLOW_SECONDS, multiple, seconds_per_run, shown, table
from workloads import ONE_OPERATION, REPEATS, WORKLOADS, CannotDo, mixed_expression

if TYPE_CHECKING:
    from engines import Engine

Times = dict[tuple[str, str], list[float]]


def measure(engines: list[Engine], rounds: int, only: str) -> Times:
    """(workload, engine) -> seconds per run, one sample per round; of slow ones the first round only."""
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
                if seconds >= SLOW_SECONDS:
                    able.remove(engine)
    return times


def check_agreement(engines: list[Engine]) -> None:
    """Every engine gives the same value of the mixed expression, so that all do the same work."""
    sizes = dict(zip(("a", "b", "c", "d"), (7, 11, 13, 17), strict=True))
    values = {e.name: e.evaluate(mixed_expression(e, ""), sizes) for e in engines}
    if len(set(values.values())) != 1:
        raise SystemExit(f"the engines disagree on one expression: {values}")


def import_seconds(module: str, rounds: int) -> float:
    """The least time of a fresh interpreter that imports the module, less that of one that does not."""

    def start(code: str) -> float:
        begin = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return perf_counter() - begin

    times = [(start(f"import {module}"), start("pass")) for _ in range(2 * rounds)]
    return min(t for t, _ in times) - min(t for _, t in times)


def medians(engines: list[Engine], rounds: int, only: str = "") -> dict[str, dict[str, float]]:
    """Workload -> engine -> the median of the rounds in seconds; `import` is one of the workloads."""
    found: dict[str, dict[str, float]] = {}
    for (workload, engine), samples in measure(engines, rounds, only).items():
        found.setdefault(workload, {})[engine] = median(samples)
    if not only:
        found["import"] = {e.name: import_seconds(e.module, rounds) for e in engines}
    return found


def tables(found: dict[str, dict[str, float]]) -> str:
    """Times, and ratios to this project, as Markdown tables."""
    names = list(dict.fromkeys(engine for row in found.values() for engine in row))
    times = [[w, *(shown(row.get(n)) for n in names)] for w, row in found.items()]
    ratios = [[w, *(multiple(row[n] / row[names[0]]) if n in row else "-" for n in names)] for w, row in found.items()]
    return f"{table(['workload', *names], times)}\n\n{table([f'times of {names[0]}', *names], ratios)}"


def main() -> None:
    """Measure and print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    options = parser.parse_args()
    engines = installed()
    check_agreement(engines)
    print(tables(medians(engines, options.rounds, options.only)))


if __name__ == "__main__":
    main()
