"""All measurements: `python benchmarks/report.py` prints the tables and draws the pictures of docs/peers.md.

What was measured is kept in `benchmarks/results.json`; `--draw` draws that again, `--only` measures some parts anew.
Pictures need matplotlib; they are written to `docs/images`, each for a light and a dark page.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import expressions
import memory
import models
import phases
import prover
import scaling
from engines import installed
from timing import shown

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("results.json")
IMAGES = ROOT / "docs" / "images"
VERDICTS = {"proved": "#2f9e44", "refuted": "#1971c2", "unknown": "#868e96", "error": "#f08c00", "UNSOUND": "#e03131"}
NORMALISING = ("symdim", "sympy", "onnx_ir", "torch", "jax", "tinygrad")


def measured_expressions() -> Any:
    """Workload -> engine -> seconds."""
    engines = installed()
    expressions.check_agreement(engines)
    return expressions.medians(engines, rounds=3)


MEASURE: dict[str, Callable[[], Any]] = {
    "expressions": measured_expressions,
    "models": lambda: models.measure([], rounds=3, runs=10),
    "phases": lambda: phases.measure([], rounds=8),
    "scaling": scaling.per_node,
    "memory": lambda: memory.measure(memory.heavy_model(1024)),
    "prover": lambda: prover.measure(prover.cases_of(prover.CASES)),
}


def printed(name: str, found: Any) -> str:
    """The tables of one part, from what was measured or read from the file."""
    match name:
        case "expressions":
            return expressions.tables(found)
        case "models":
            return models.tables({m: {e: models.Measured(*v) for e, v in row.items()} for m, row in found.items()})
        case "phases":
            return phases.tables(found)
        case "scaling":
            return scaling.tables({e: {int(n): s for n, s in points.items()} for e, points in found.items()})
        case "memory":
            return memory.tables(found)
    return prover.tables({engine: prover.Verdicts(*v) for engine, v in found.items()})


def draw(results: dict[str, Any]) -> None:
    """Write the pictures of all parts that were measured."""
    from plots import Picture, bars, curves, dots, stacked

    IMAGES.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):

        def save(picture: Picture, name: str, theme: str = theme) -> None:
            picture.save(IMAGES / f"{name}-{theme}.svg")

        if rows := results.get("expressions"):
            engines = [e for e in NORMALISING if any(e in row for row in rows.values())]
            ratios = {w: {e: row[e] / row["symdim"] for e in engines if e in row} for w, row in rows.items()}
            picture = Picture(theme, 5.6, "Expressions: time as a multiple of symdim's (right of the line: slower)")
            dots(picture, ratios, engines)
            save(picture, "expressions")
        if rows := results.get("models"):
            engines = list(dict.fromkeys(e for row in rows.values() for e in row))
            picture = Picture(theme, 4.6, "Whole models: time of a later run in a process")
            later = {m: {e: v[1] for e, v in row.items() if v[1]} for m, row in rows.items()}
            bars(picture, later, engines, shown)
            save(picture, "models")
        if rows := results.get("scaling"):
            picture = Picture(theme, 3.8, "Decoder layers, seen for the first time: microseconds per node")
            lines = {e: {int(n): s * 1e6 for n, s in points.items()} for e, points in rows.items()}
            curves(picture, lines, "nodes of the model", "")
            save(picture, "scaling")
        if rows := results.get("memory"):
            engines = ["onnx_infer, in place", "onnx_infer, a copy", "onnx"]
            row = {e: max(1.0, rows[e]["extra"]) for e in engines if e in rows}
            picture = Picture(theme, 2.0, "Memory on top of a loaded model with 1 GB of weights")
            bars(picture, {"": row}, engines, lambda megabytes: f"{megabytes:,.0f} MB", log=False)
            save(picture, "memory")
        if rows := results.get("prover"):
            picture = Picture(theme, 2.6, "286 statements about sizes, 38 of them false: answers")
            stacked(picture, {engine: row[0] for engine, row in rows.items()}, VERDICTS)
            save(picture, "prover")


def main() -> None:
    """Measure what is asked for, keep it, print the tables, draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=MEASURE, default=list(MEASURE), help="measure these anew")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in () if options.draw else options.only:
        results[name] = json.loads(json.dumps(MEASURE[name]()))
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    for name, found in results.items():
        print(f"\n## {name}\n\n{printed(name, found)}")
    try:
        draw(results)
    except ImportError as missing:
        print(f"\nno pictures: {missing}")


if __name__ == "__main__":
    main()
