"""Claims about elements against what a run produced: which ones are contradicted, and which ones are not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from onnx_infer import SymTensor
from onnx_infer.elements.conditions import Positive
from onnx_infer.elements.ratio import Product, Ratio, Rounded
from symdim import Var
from symdim.dialects.floats import FLOATS
from tests.onnx_infer.oracle import contradictions

N = Var("N")


def test_a_number_beyond_its_type_is_found() -> None:
    (text,) = contradictions(SymTensor(7, (1,), (1 << 70,)), np.zeros(1, np.int64), {})
    assert text == f"element {1 << 70} is 0"


def test_a_product_of_sizes_beyond_its_type_is_no_fault_but_a_multiple_is() -> None:
    given = np.full(1, 2**63 - 1)
    assert list(contradictions(SymTensor(7, (1,), (3 * N**4,)), given, {"N": 1 << 16})) == []
    assert list(contradictions(SymTensor(7, (1,), (N * 2**62,)), given, {"N": 3})) != []
    compared = np.zeros(1, np.bool_)
    assert list(contradictions(SymTensor(9, (1,), (Positive(N**4 - 9),)), compared, {"N": 1 << 16})) == []
    assert list(contradictions(SymTensor(9, (1,), (Positive(N * 2**62 - 9),)), compared, {"N": 3})) != []


@pytest.mark.parametrize(
    ("claimed", "actual"),
    [
        (SymTensor(7, (1,), (10**6 * N,)), np.array([2_000_001])),
        (SymTensor(7, (1,), (2**53,)), np.array([2**53 + 1])),
        (SymTensor(9, (1,), (True,)), np.array([False])),
        (SymTensor(9, (1,), (Positive(N - 2),)), np.array([True])),
        (SymTensor(1, (1,), (2.5,)), np.array([2.500001], np.float32)),
        (SymTensor(1, (1,), (Ratio(N, 3),)), np.array([0.7], np.float32)),
        (SymTensor(1, (1,), (Product(N, 3, whole=True, factors=(N, 1 / 3)),)), np.array([1.0], np.float32)),
        (SymTensor(1, (1,), (Rounded(FLOATS["f32_div"](N, 3)),)), np.array([0.66666672], np.float32)),
        (SymTensor(7, (N,), fill=N), np.array([2, 3])),
        (SymTensor(7, (N,), samples=((0, N - 1),)), np.array([0, 2])),
        (SymTensor(7, (N, 2), samples=((0,), (N,))), np.array([[0, 0], [1, 1]])),
        (SymTensor(1, (1,)), np.array(["a"], object)),
    ],
    ids=str,
)
def test_a_wrong_element_is_found(claimed: SymTensor, actual: np.ndarray[Any, Any]) -> None:
    assert len(list(contradictions(claimed, actual, {"N": 2}))) == 1


@pytest.mark.parametrize(
    ("claimed", "actual"),
    [
        (SymTensor(9, (2,), (Positive(N - 1), Positive(N - Var("M")))), np.array([True, True])),
        (SymTensor(1, (4,), (0.1, Ratio(N, 3), math.nan, None)), np.array([0.1, 2 / 3, math.nan, 7], np.float32)),
        (SymTensor(1, (1,), (Product(N, 3, whole=True, factors=(N, 1 / 3)),)), np.array([0.9], np.float32)),
        (SymTensor(1, (1,), (Rounded(FLOATS["f32_div"](N, 3)),)), np.array([2 / 3], np.float32)),
        (SymTensor(1, (1,), (Rounded(FLOATS["f32_div"](N, N - 2)),)), np.array([np.inf], np.float32)),
        (SymTensor(7, (N, 2), fill=N), np.array([[2, 2], [2, 2]])),
        (SymTensor(7, (N, 2), samples=((0, 1), (N,))), np.array([[1, 5], [0, 2]])),
        (SymTensor(7, (0,), samples=((0, N - 1),)), np.zeros(0, np.int64)),
        (SymTensor(8, (1,)), np.array(["a"], object)),
    ],
    ids=str,
)
def test_a_right_element_is_no_fault(claimed: SymTensor, actual: np.ndarray[Any, Any]) -> None:
    assert list(contradictions(claimed, actual, {"N": 2})) == []
