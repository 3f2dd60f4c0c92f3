"""Keeps the speed: whole models against onnx's C++ in the same process, by ratio: `python benchmarks/check.py`.

Exit status 1 if a phase (see `phases.py`) takes more than its multiple of onnx's time. Ratios of the best of several
rounds are steady on noisy machines. The limits leave room for noise, and catch what costs a whole pass over the nodes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from phases import ratios

from tests.onnx_infer import models

LIMITS = {"first sight": 8.0, "later": 1.5, "annotated, first sight": 9.5, "annotated, later": 2.5}
"""Phase -> the largest multiple of onnx's time."""

ROUNDS = 5


def main() -> int:
    """Measure and compare; the exit status."""
    slow = 0
    for name, model in (("decoder of 24 layers", models.decoder(24)), ("CNN of 50 blocks", models.cnn(50))):
        found, _ = ratios(model, ROUNDS)
        for phase, limit in LIMITS.items():
            slow += found[phase] > limit
            print(f"{name}, {phase}: {found[phase]:.2f}x of onnx's C++ (limit {limit})")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
