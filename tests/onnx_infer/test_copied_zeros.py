"""A computed size of 0 in the target of a Reshape: there 0 copies a size of the input, or fails beyond its rank."""

from __future__ import annotations

import pytest

from onnx_infer import fold, infer

from .folding import operators
from .sessions import check_guards, counting, run, session_of
from .texts import parsed

HEAD = "g (float[{}] x, float[{}] z) => (y) {{ t = Shape(z) h = {}(x, t) y = Abs({}) }}"

# (the sizes of x, those of z, the guards)
REFUSED = [
    ("1, M", "M, 1", ["M >= 1"]),
    ("M", "1, M", ["M >= 1"]),
    ("1, M", "M", ["M >= 1"]),
    ("M, K", "1, M, K", ["M >= 1", "K >= 1"]),
    ("2, 5, M", "5, M, 2", ["M >= 1"]),
    ('3, "N - 2"', '"N - 2", 3', ["N >= 3"]),
]

ACCEPTED = [
    ("1, M", "M, 1", "Reshape<allowzero=1>"),
    ("M", "1, M", "Reshape<allowzero=1>"),
    ("M, 3", "M, 3", "Reshape"),
    ("3, M, M", "3, M, M", "Reshape"),
    ("M, 3", "M, 1, 3", "Reshape"),
]


@pytest.mark.parametrize(("x", "z", "guards"), REFUSED)
def test_a_zero_that_copies_another_size_is_foretold(x: str, z: str, guards: list[str]) -> None:
    model = parsed(HEAD.format(x, z, "Reshape", "h"))
    result = infer(model, min_dim=0)
    assert sorted(str(guard) for guard in result.guards) == sorted(guards)
    check_guards(model, result, (0, 1, 2, 3, 5))
    assert infer(model, min_dim=3).guards == []


@pytest.mark.parametrize(("x", "z", "operator"), ACCEPTED)
def test_a_zero_that_copies_0_or_nothing_is_accepted(x: str, z: str, operator: str) -> None:
    model = parsed(HEAD.format(x, z, operator, "h"))
    result = infer(model, min_dim=0)
    assert result.guards == []
    for m in (0, 1, 2):
        assert run(session_of(model), counting(result, {"M": m})) is not None


@pytest.mark.parametrize(("x", "z", "guards"), REFUSED)
def test_fold_keeps_a_reshape_that_refuses(x: str, z: str, guards: list[str]) -> None:
    """Nothing reads the Reshape. It stays, because it refuses a size of 0; if no size is 0 it goes."""
    model = parsed(HEAD.format(x, z, "Reshape", "x"))
    assert operators(fold(model)) == "Shape Reshape Abs"
    assert operators(fold(model, min_dim=3)) == "Abs"
