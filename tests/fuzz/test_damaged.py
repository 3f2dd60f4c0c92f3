"""Damaged and hostile models: what a call with one may raise, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from onnx_infer import infer
from tests.fuzz.damaged import Call, Damaged, measured, too_costly
from tests.fuzz.entry_points import ENTRY_POINTS, Given, drawn
from tests.fuzz.hostile import HOSTILE
from tests.fuzz.runtime import Runtime
from tests.onnx_infer.texts import parsed


@pytest.mark.parametrize("start", range(0, 100, 50))
def test_damaged_models_cause_documented_errors_only(start: int, runtime: Runtime, tmp_path: Path) -> None:
    models = Damaged(None, runtime)
    for seed in range(start, start + 50):
        name, data = models.model(seed)
        if len(data) > 10_000:
            continue
        given = Given(data, tmp_path, Random(seed))
        for entry_point in drawn(Random(f"asked {seed}"), 1):
            assert measured(name, entry_point, given).fault is None, (seed, entry_point)


@pytest.mark.parametrize("maker", dict.fromkeys(HOSTILE), ids=lambda maker: maker.__name__)
def test_hostile_models_go_through_every_entry_point(maker: Callable[[Random], bytes], tmp_path: Path) -> None:
    data = min((maker(Random(seed)) for seed in range(6)), key=lambda made: abs(len(made) - 1000))
    given = Given(data, tmp_path, Random(0))
    for entry_point in drawn(Random(0), None):
        assert measured(maker.__name__, entry_point, given).fault is None, entry_point


def test_what_is_wrong_with_a_call_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Given(parsed("g (float[N] x) => (y) { y = Relu(x) }").SerializeToString(), tmp_path, Random(0))

    def raising(_: Given) -> None:
        raise RecursionError("too deep")

    monkeypatch.setitem(ENTRY_POINTS, "infer", raising)
    assert "too deep" in str(measured("a", "infer", given).fault)
    monkeypatch.setitem(ENTRY_POINTS, "infer", lambda _: infer(b"no model"))
    assert measured("a", "infer", given).fault is None
    assert too_costly(Call(2.5, 0, "a", "infer", None), 1.0) is not None
    assert too_costly(Call(2.5, 0, "a", "infer", None), 2.0) is None
    assert too_costly(Call(0.1, 101 << 20, "a", "infer", None), 1.0) is not None
