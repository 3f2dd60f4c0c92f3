"""What a model costs when it is new and when it is known, against onnx's C++: `python benchmarks/phases.py [FILES]`.

Four phases, each as a multiple of onnx's time for the same model in the same rounds:

    first sight   the process is warm: all is imported and operators are bound; caches are empty, so nothing is known of
                  the model, nor of any model like it
    later         the model was inferred before
    annotated     the model already declares what inference finds: at first sight, and later

Below the table are the geometric means, and what the shell costs: processor time of whole processes, with bytecode.
`--rounds` is the number of rounds, of which the best counts. FILES are models, or folders of `.onnx` files; without
them models are generated.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import tempfile
from math import exp, log
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import onnx
from models import files, generated
from timing import multiple, shown, table

from onnx_infer import infer_shapes
from symdim import clear_caches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ROOT = Path(__file__).resolve().parents[1]
PHASES = ("first sight", "later", "annotated, first sight", "annotated, later")


def by_onnx(model: onnx.ModelProto) -> onnx.ModelProto:
    """onnx's C++ inference, with data propagation."""
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def seconds(infer: Callable[[onnx.ModelProto], object], model: onnx.ModelProto) -> float:
    """The processor time of one run."""
    start = process_time()
    infer(model)
    return process_time() - start


def ratios(model: onnx.ModelProto, rounds: int) -> tuple[dict[str, float], float]:
    """Phase -> the best time as a multiple of onnx's best; and onnx's seconds for the model without declared types."""
    plain = onnx.ModelProto()
    plain.CopyFrom(model)
    del plain.graph.value_info[:]
    annotated = infer_shapes(plain)
    best: dict[str, float] = {}

    def note(name: str, time: float) -> None:
        best[name] = min(time, best.get(name, time))

    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for kind, given in (("", plain), ("annotated, ", annotated)):
            clear_caches()
            note(f"{kind}first sight", seconds(infer_shapes, given))
            for _ in range(3):  # the second run remembers what the third and fourth find
                note(f"{kind}onnx", seconds(by_onnx, given))
                note(f"{kind}later", seconds(infer_shapes, given))
    gc.enable()
    of_onnx = {phase: best["annotated, onnx" if phase.startswith("annotated") else "onnx"] for phase in PHASES}
    return {phase: best[phase] / of_onnx[phase] for phase in PHASES}, best["onnx"]


def geometric_mean(numbers: Iterable[float]) -> float:
    """The geometric mean.

    >>> round(geometric_mean([1, 4]), 9)
    2.0
    """
    logarithms = [log(x) for x in numbers]
    return exp(sum(logarithms) / len(logarithms))


def measure(paths: list[Path], rounds: int) -> dict[str, tuple[float, dict[str, float]]]:
    """Model -> onnx's seconds, and phase -> the multiple of them; without paths models are generated."""
    found: dict[str, tuple[float, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in files(paths) or generated(Path(folder)):
            model = onnx.load(path, load_external_data=False)
            multiples, of_onnx = ratios(model, rounds)
            found[f"{path.stem} ({len(model.graph.node)} nodes)"] = of_onnx, multiples
    return found


def tables(found: Mapping[str, tuple[float, Mapping[str, float]]]) -> str:
    """The table of models, and the means."""
    rows = [[name, shown(of_onnx), *(multiple(m[p]) for p in PHASES)] for name, (of_onnx, m) in found.items()]
    means = [multiple(geometric_mean(m[phase] for _, m in found.values())) for phase in PHASES]
    return table(["multiples of onnx's time", "onnx C++", *PHASES], [*rows, ["geometric mean", "", *means]])


def in_shell(path: Path, rounds: int) -> str:
    """The table of whole processes."""
    load = f"m = onnx.load({str(path)!r}, load_external_data=False)"
    commands = {
        "python -c 'import onnx'": ["-c", "import onnx"],
        "the same, and inference by onnx": ["-c", f"import onnx; {load}; onnx.shape_inference.infer_shapes(m)"],
        "the same, and inference by onnx_infer": [
            "-c", f"import onnx; {load}; from onnx_infer import infer_shapes; infer_shapes(m)",
        ],
        f"onnx-infer {path.name}": ["-m", "onnx_infer", str(path)],
        "onnx-infer --help": ["-m", "onnx_infer", "--help"],
        "onnx-infer --version": ["-m", "onnx_infer", "--version"],
        "python -c 'import symdim'": ["-c", "import symdim"],
        "python -c pass": ["-c", "pass"],
    }  # fmt: skip
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as compiled:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": compiled}
        for _ in range(rounds + 1):  # the first one compiles
            for name, arguments in commands.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(
                    [sys.executable, *arguments], env=environment, cwd=compiled, stdout=subprocess.DEVNULL, check=True
                )
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                time = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                best[name] = min(time, best.get(name, time))
    return table(["process", "processor time"], [[name, shown(time)] for name, time in best.items()])


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path, help="models, or folders of .onnx files")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(tables(measure(options.models, options.rounds)))
    with tempfile.TemporaryDirectory() as folder:
        print("\n" + in_shell(generated(Path(folder))[0], options.rounds))


if __name__ == "__main__":
    main()
