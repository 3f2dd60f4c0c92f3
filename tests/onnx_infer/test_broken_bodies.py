"""Bodies in which a node breaks its law whatever the sizes are: no run comes to them, or every run fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_infer import infer

from .sessions import run, session_of
from .texts import parsed

if TYPE_CHECKING:
    from onnx_infer import InferenceResult


def required(result: InferenceResult) -> list[str]:
    return [str(g) for g in result.guards if g.kind == "required"]


@pytest.mark.parametrize(("min_dim", "runs"), [(1, False), (0, True)])
def test_an_assumed_law_that_one_element_breaks_is_an_error(min_dim: int, runs: bool) -> None:
    """If there may be no rows, the law is assumed: onnxruntime skips a part without elements."""
    text = """g (float[N, 1] x) => (seq(float[]) y) <float[2, 2] w = {1, 2, 3, 4}> { s = SequenceConstruct(w, x)
        y = SequenceMap(s) <body = b (float[] c) => (float[] n) { n = Concat<axis=0>(c, w) }> }"""
    model = parsed(text)
    result = infer(model, min_dim=min_dim)
    assert [(d.severity, d.operator) for d in result.diagnostics] == [("error", "SequenceMap-17")]
    assert "Concat (opset 13) 'n': sizes at axis 1 differ: " in result.diagnostics[0].message
    assert (run(session_of(model), {"x": np.ones((min_dim, 1), np.float32)}) is not None) is runs


@pytest.mark.parametrize("size", [0, 1])
def test_a_law_that_one_element_breaks_is_not_told_beside_one_that_all_break(size: int) -> None:
    """Without rows the second law is an assumed one, too."""
    text = f"""g (float[N, 1] x, float[{size}, 3] f) => (seq(float[]) y) <float[2, 2] w = {{1, 2, 3, 4}}> {{
        s = SequenceConstruct(w, x) y = SequenceMap(s) <body = b (float[] c) => (float[] n) {{
            n = Concat<axis=0>(c, w) q = Concat<axis=0>(w, f) }}> }}"""
    assert [d.node for d in infer(parsed(text), min_dim=0).diagnostics] == ["q"]
