"""Real models: what inference and `fold` say of each is what `tests/data/golden_results.tar.xz` says.

After a change that is meant, `python -m tests.onnx_infer.golden --write` prints what is new and stores it.
"""

from __future__ import annotations

import pytest

from tests.onnx_infer.golden import MODELS, RESULTS, changes, contents, summary


def test_every_model_has_a_result() -> None:
    assert contents(MODELS).keys() == contents(RESULTS).keys()


@pytest.mark.parametrize("name", sorted(contents(RESULTS)))
def test_what_is_inferred_stays(name: str) -> None:
    lines = changes(name)
    assert not lines, f"{summary(name, lines)}\nif this is meant: python -m tests.onnx_infer.golden --write"
