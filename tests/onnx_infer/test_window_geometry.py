"""Resize's law against float arithmetic, and kernels that may be empty."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from onnx_infer import infer
from onnx_infer.elements.scaling import as_fraction, scaled
from onnx_infer.laws.statements import Mode, Trace
from onnx_infer.ops.resize import kept_aspect
from onnx_infer.values.tensor import Dim
from symdim import Expr, Var

from .texts import parsed

H = Var("H")


def scaled_in(mode: Mode, size: Dim, scale: float) -> Dim:
    """The scaled size in a call of this mode."""
    with Trace(mode):
        return scaled(size, scale)


def at(dim: int | Expr, size: int) -> int:
    return dim if isinstance(dim, int) else dim.to_int({"H": size})


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_scaled_size_is_the_float32_product_and_in_cautious_walks_the_exact_one_too(*, everywhere: bool) -> None:
    scales = sorted({float(np.float32(p / q)) for p in range(1, 40) for q in range(1, 30)})
    claimed, H = 0, Var.fresh("H", 1, 4095)
    for scale in scales:
        symbolic = scaled_in(Mode(everywhere), H, scale)
        for size in (1, 2, 3, 7, 10, 49, 64, 190, 224, 1000, 3001, 4095):
            single = int(np.floor(np.float32(size) * np.float32(scale)))
            right = {single, int(Fraction(scale) * size)} if everywhere else {single}
            if symbolic.variables() == (H,):
                claimed += 1
                assert {at(symbolic, size)} == right, (size, scale)
            concrete = scaled_in(Mode(everywhere), size, scale)
            assert not isinstance(concrete, int) or {concrete} == right, (size, scale)
    assert claimed > 3000


def test_a_scale_with_a_rest_is_a_fraction_for_all_sizes_up_to_the_first_that_rounds_otherwise() -> None:
    rng = random.Random(5)
    scales = [float(np.float32(x)) for x in (0.7, 1.3, 2.1, 0.71, *(rng.uniform(0.01, 8) for _ in range(60)))]
    for scale in scales:
        found = as_fraction(scale)
        for size in (*range(1, 200), *rng.choices(range(1, found.most + 1), k=50)):
            if size <= found.most:
                single = int(np.floor(np.float32(size) * np.float32(scale)))
                assert size * found.above // found.below == single, (size, scale)
                assert not found.everywhere or single == int(Fraction(scale) * size), (size, scale)
    assert as_fraction(float(np.float32(1.3))).most == 89
    assert int(np.float32(90) * np.float32(1.3)) == 116


@pytest.mark.parametrize(
    ("scale", "most"), [(1.0, 2**24), (2.0, 2**24), (3.0, 5592406), (1000.0, 134218), (0.5, 2**24 + 2), (1.5, 5592408)]
)
def test_a_scale_that_is_a_float_is_exact_up_to_the_first_size_that_float32_rounds(scale: float, most: int) -> None:
    sizes = np.arange(most - 5000, most + 2)
    right = np.floor(sizes.astype(np.float32) * np.float32(scale)) == np.floor(sizes * scale)
    assert (as_fraction(scale).most, right[:-1].all(), right[-1]) == (most, True, False)
    # a fresh size: no bound shows that H is so small
    assert isinstance(scaled_in(Mode(is_cautious=True), H, scale), Var)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_the_kept_aspect_is_that_of_float_and_double(policy: str) -> None:
    choose = min if policy == "not_larger" else max
    claimed = 0
    for sizes in product((1, 2, 4, 6, 46, 69), repeat=2):
        for targets in product((1, 3, 5, 7, 100), repeat=2):
            for float_type in (np.float32, np.float64):
                scale = choose(float_type(t) / float_type(s) for s, t in zip(sizes, targets, strict=True))
                run = [int(np.floor(scale * float_type(s) + float_type(0.5))) for s in sizes]
                for size, found in zip(kept_aspect(sizes, targets, policy), run, strict=True):
                    claimed += isinstance(size, int)
                    assert not isinstance(size, int) or size == found, (sizes, targets, run)
    assert claimed > 3000


@pytest.mark.parametrize("least", [0, 1])
def test_a_kernel_has_some_element(least: int) -> None:
    """onnxruntime refuses a kernel of size 0, or crashes: a size that may be 0 is a guard."""
    graph = "g (float[B, 3, S] x, float[8, 3, K] w) => (y) { y = Conv (x, w) }"
    guards = {str(guard): guard.kind for guard in infer(parsed(graph), min_dim=least).guards}
    assert guards == {**({} if least else {"K >= 1": "assumed"}), "S >= K": "required"}
