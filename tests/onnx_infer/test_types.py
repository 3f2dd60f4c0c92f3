"""Values of types other than plain tensors, and values of inputs that are refused."""

from __future__ import annotations

import pickle

import pytest

from onnx_infer.errors import UnknownRank
from onnx_infer.model.input_values import with_value
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import SymTensor, Value, substitute
from symdim import Var

F32 = dt.FLOAT
N, M = Var("N"), Var("M")


@pytest.mark.parametrize("name", ["dims", "rank", "size"])
def test_a_tensor_of_unknown_rank_says_that_it_has_no_sizes(name: str) -> None:
    with pytest.raises(UnknownRank, match=r"the rank of f32\[\.\.\.\] is not known, so it has no sizes: ask first"):
        getattr(SymTensor(F32), name)
    assert SymTensor(F32).shape is None


@pytest.mark.parametrize(
    "value",
    [Sequence(SymTensor(F32, (N,)), 2), Optional(SymTensor(F32), False), Map(dt.INT64), Sparse(F32, (N, 3))],
    ids=str,
)
def test_values_can_be_pickled_and_substituted(value: Value) -> None:
    assert pickle.loads(pickle.dumps(value)) is value
    assert str(substitute(value, {N: 4})) == str(value).replace("N", "4")


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (Sequence(SymTensor(F32)), 1, "not declared as a tensor"),
        (SymTensor(dt.INT64, (2,)), [1, [2]], "neither a number nor a list"),
        (SymTensor(dt.INT64, (2,)), [1, 2, 3], "does not match the declared"),
        (SymTensor(dt.UINT8, ()), 256, "is not an element of u8"),
    ],
)
def test_values_that_do_not_fit_an_input_are_refused(kind: Value, given: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_value("x", kind, given)  # type: ignore[arg-type]


def test_values_are_elements_of_the_type_of_their_input() -> None:
    assert with_value("x", SymTensor(dt.BOOL, ()), True).data == (True,)
    assert with_value("x", SymTensor(F32, (2,)), [0.1, 2]).data == (0.10000000149011612, 2.0)
