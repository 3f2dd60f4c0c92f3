"""Functions of elements: on whole tensors they give what they give on arrays that numpy broadcasts."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

from onnx_infer.elements.lifting import SAME, Lifted, lift, lift_lenient
from onnx_infer.testing import const_value, infer_node, read_value
from onnx_infer.values.tensor import SymTensor
from symdim import Var

SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (1, 1), (0,), (2, 0)]


def tensor(shape: tuple[int, ...], start: int) -> SymTensor:
    return SymTensor(7, shape, range(start, start + int(np.prod(shape))))


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SHAPES, SHAPES)))
def test_on_tensors_as_on_arrays(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        return
    x, y = tensor(a, 3), tensor(b, 40)
    found: Any = lift(operator.sub, 2).of(shape, (x, y))
    expected = np.broadcast_to(np.asarray(x.array) - np.asarray(y.array), shape)
    assert list(np.asarray(found, dtype=object).ravel()) == list(expected.ravel())


def test_an_unknown_element_stays_unknown_unless_the_function_decides() -> None:
    x = SymTensor(7, (3,), (1, None, Var("N")))
    assert lift(operator.neg, 1).of((3,), (x,)) == [-1, None, -Var("N")]
    assert lift_lenient(lambda e: e is None, 1).of((3,), (x,)) == [False, True, False]


def test_the_same_elements_in_another_shape() -> None:
    assert isinstance(SAME, Lifted)
    assert SAME.of((3, 2), (tensor((6,), 0),)) == [0, 1, 2, 3, 4, 5]
    assert SAME.of((2,), (SymTensor(7, (2,)),)) is None
    (found,) = infer_node("Reshape", [tensor((2, 3), 0), const_value([3, -1])], version=21)
    assert str(found) == "i64[3, 2]={0, 1, 2, 3, 4, 5}"
    (found,) = infer_node("Reshape", [read_value("i64[2, 3]"), const_value([3, -1])], version=21)
    assert str(found) == "i64[3, 2]"
