"""Scan and SequenceMap in models."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_infer import fold, infer

from .sessions import run, session_of, shape_at
from .texts import parsed

# -- Scan -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new_state", "min_dim", "final", "stacked", "guards"),
    [
        ("Neg(w)", 1, "f32[2, 8]", "f32[T, S + 4, 8]", ["T == 1"]),
        ("Neg(w)", 0, "f32[S*max(T, 1) - S*T - 2*min(T, 1) + 4, 8]", "f32[T, S + 4, 8]", ["T <= 1"]),
        ("Reshape(w, flat)", 1, "f32[16]", "f32[T, S + 4, 8]", ["T == 1"]),
        ("Reshape(w, flat)", 0, "f32[...]", "f32[T, S + 4, 8]", ["T <= 1"]),
        ("Neg(s)", 1, "f32[S + 4, 8]", "f32[T, S + 4, 8]", []),
    ],
)
def test_a_state_whose_shape_the_first_iteration_changes(
    new_state: str, min_dim: int, final: str, stacked: str, guards: list[str]
) -> None:
    """There is no second iteration. onnxruntime makes the first one if it does not see the other shape before."""
    text = f"""g (float[S, 8] h, float[T] x, float[2, 8] w) => (y, z) {{ flat = Constant<value_ints=[-1]>()
        grown = Concat<axis=0>(h, w, w) y, z = Scan<num_scan_inputs=1,
        body = b (float[u, v] s, float i) => (t, o) {{ t = {new_state} o = Neg(s) }}>(grown, x) }}"""
    result = infer(parsed(text), min_dim=min_dim)
    assert "error" not in [d.severity for d in result.diagnostics]
    assert (str(result.types["y"]), str(result.types["z"])) == (final, stacked)
    assert [(str(g), g.kind) for g in result.guards] == [(guard, "required") for guard in guards]
    if "Reshape" in new_state:
        return  # a rank that onnxruntime sees
    session = session_of(parsed(text))
    for turns in (1, 2):
        feeds = {"h": np.ones((3, 8)), "x": np.ones(turns), "w": np.ones((2, 8))}
        outputs = run(session, {name: array.astype(np.float32) for name, array in feeds.items()})
        assert (outputs is None) is bool(result.check({"S": 3, "T": turns}))
        for name, output in zip("yz", outputs or (), strict=False):
            assert shape_at(result, name, {"S": 3, "T": turns}) == output.shape


@pytest.mark.parametrize("state", ["Identity(w)", "Concat<axis=0>(h, w)", "Neg(grown)"])
def test_a_scan_whose_state_changes_its_shape_ends_without_assumptions(state: str) -> None:
    text = f"""g (float[S, 8] h, float[T] x, float[K, 8] w) => (y) {{ y = Scan<num_scan_inputs=1,
        body = b (float[u, 8] s, float i) => (s1) {{ grown = Concat<axis=0>(s, w) s1 = {state} }}>(h, x) }}"""
    assert [node.op_type for node in fold(parsed(text)).graph.node] == ["Scan"]
