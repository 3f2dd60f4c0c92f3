"""Keeps the speed: whole models against onnx's C++ in the same process, by ratio: `python benchmarks/check.py`.

Exit status 1 if a phase (see `phases.py`) takes more than its multiple of onnx's time. Ratios of the best of several
rounds are steady on noisy machines. The limits leave room for noise, and catch what costs a whole pass over the nodes.
A model that is too slow is measured again, because another process may have disturbed one of the two.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from phases import ratios

from tests.onnx_infer import models

if TYPE_CHECKING:
    from onnx import ModelProto

LIMITS = {"first sight": 8.0, "later": 1.5, "annotated, first sight": 9.5, "annotated, later": 2.5}
"""Phase -> the largest multiple of onnx's time."""

ROUNDS = 5

MOST_MEASURES = 3
"""What is slow in each of so many measures is too slow."""


def main() -> int:
    """Measure and compare; the exit status."""
    slow = False
    for name, model in (("decoder of 24 layers", models.decoder(24)), ("CNN of 50 blocks", models.cnn(50))):
        slow |= not any(is_fast(name, model) for _ in range(MOST_MEASURES))
    return int(slow)


def is_fast(name: str, model: ModelProto) -> bool:
    """Measure a model once, and print what was found: whether all phases keep their limits."""
    found, _ = ratios(model, ROUNDS)
    for phase, limit in LIMITS.items():
        print(f"{name}, {phase}: {found[phase]:.2f}x of onnx's C++ (limit {limit})")
    return all(found[phase] <= limit for phase, limit in LIMITS.items())


if __name__ == "__main__":
    sys.exit(main())
