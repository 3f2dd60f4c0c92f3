"""Joins and merges of types other than plain tensors, and values of inputs that are refused."""

from __future__ import annotations

import pickle
from itertools import product

import pytest
from onnx import TypeProto

from onnx_infer.elements.conditions import Positive, positive
from onnx_infer.errors import UnknownRank
from onnx_infer.model.attributes import value_type
from onnx_infer.model.input_values import with_value
from onnx_infer.protobuf.wire import type_bytes
from onnx_infer.tools.report.plain_data import type_json
from onnx_infer.types.branches import of_branches
from onnx_infer.types.join import NOTHING, join, kind_of, sizes, varying
from onnx_infer.types.merge import Conflict, ShapeMergePolicy, merge
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, OneOf, Optional, Sequence, Sparse
from onnx_infer.values.tensor import SymTensor, Value, substitute
from symdim import Var

F32 = dt.FLOAT
N, M = Var("N"), Var("M")


def merged(declared: Value, inferred: Value, policy: ShapeMergePolicy = "refine") -> tuple[Value, list[str]]:
    told: list[Conflict] = []
    return merge(declared, inferred, policy, told.append), [text for text, _ in told]


@pytest.mark.parametrize(
    ("declared", "inferred", "expected"),
    [
        (Sequence(SymTensor(F32, (2,))), Sequence(SymTensor(F32), 3), Sequence(SymTensor(F32, (2,)), 3)),
        (Sequence(SymTensor(F32)), Sequence(SymTensor(F32, (2,)), 3), Sequence(SymTensor(F32, (2,)), 3)),
        (Sequence(SymTensor(F32)), Sequence(None, 3), Sequence(SymTensor(F32))),
        (Optional(SymTensor(F32, (2,))), Optional(SymTensor(F32), True), Optional(SymTensor(F32, (2,)), True)),
        (Sparse(F32, (2, 3)), Sparse(F32), Sparse(F32, (2, 3))),
        (Map(dt.INT64, SymTensor(F32, ())), SymTensor(None), Map(dt.INT64, SymTensor(F32, ()))),
        (SymTensor(None), Map(dt.INT64), Map(dt.INT64)),
    ],
    ids=str,
)
def test_declared_containers_are_merged_part_by_part(declared: Value, inferred: Value, expected: Value) -> None:
    assert merged(declared, inferred) == (expected, [])


@pytest.mark.parametrize("name", ["dims", "rank", "size"])
def test_a_tensor_of_unknown_rank_says_that_it_has_no_sizes(name: str) -> None:
    with pytest.raises(UnknownRank, match=r"the rank of f32\[\.\.\.\] is not known, so it has no sizes: ask first"):
        getattr(SymTensor(F32), name)
    assert SymTensor(F32).shape is None


def test_two_kinds_of_values_contradict_each_other() -> None:
    declared, inferred = Sequence(SymTensor(F32)), SymTensor(F32, (2,))
    found, told = merged(declared, inferred)
    assert found is inferred
    assert told == ["declared seq(f32[...]) but inferred f32[2]"]
    assert merged(declared, inferred, "skip")[0] is declared


def test_a_declared_rank_selects_one_of_two_tensors() -> None:
    first, second = SymTensor(F32, (3,)), SymTensor(F32, (N, 3))
    either = OneOf(positive(N - 1), first, second, SymTensor(F32))
    assert merged(SymTensor(F32, (3,)), either) == (first, [])
    assert merged(SymTensor(F32, (N, 3)), either) == (second, [])
    assert merged(SymTensor(F32), either) == (either, [])
    assert merged(SymTensor(F32, (1, 2, 3)), either) == (either, ["declared rank 3 but inferred rank 1 or 2"])


def test_values_of_different_kinds_have_no_join() -> None:
    assert join(Map(dt.INT64), Sequence(SymTensor(F32)), varying) is NOTHING
    assert join(Sparse(F32, (2, 3)), Sparse(F32, (2, 4)), varying) == Sparse(F32, (2, *varying_shape()))


def varying_shape() -> tuple[object, ...]:
    joined = join(SymTensor(F32, (3,)), SymTensor(F32, (4,)), varying)
    assert isinstance(joined, SymTensor)
    return joined.dims


def test_a_branch_in_a_branch_is_one_of_two_tensors() -> None:
    """If(a){If(b){x}{y}}{x or y}, evaluated at all sizes."""
    x, y = SymTensor(F32, (3,)), SymTensor(F32, (1, 3))
    inner, outer = positive(M - 2), positive(N - 2)
    assert isinstance(inner, Positive)
    assert isinstance(outer, Positive)
    either = of_branches(x, y, inner, varying)
    for other, reverse in product((x, y), (False, True)):
        sides = (other, either) if reverse else (either, other)
        found = of_branches(*sides, outer, varying)
        assert isinstance(found, OneOf)
        for n, m in product(range(1, 5), repeat=2):
            taken = sides[0 if n > 2 else 1]
            expected = other if taken is other else x if m > 2 else y
            assert substitute(found, {N: n, M: m}) is expected


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


@pytest.mark.parametrize(
    "value",
    [
        Sparse(F32, (2, 3)),
        Sparse(F32),
        Map(dt.INT64, SymTensor(F32, (2,))),
        Sequence(SymTensor(F32, (2,))),
        Optional(Sequence(SymTensor(F32, ()))),
    ],
)
def test_a_written_type_is_read_again(value: Value) -> None:
    assert value_type(TypeProto.FromString(type_bytes(value))) == value


def test_containers_of_which_less_is_known() -> None:
    tensor = SymTensor(F32, (N,))
    assert join(Sequence(None), Sequence(tensor), varying) == Sequence(None)
    assert join(Optional(tensor), Optional(None), varying) == Optional(None)
    assert str(join(Sequence(tensor, 0), Sequence(SymTensor(F32, (2,)), 3), varying)) == "seq(f32[2]; ?)"
    assert kind_of(Sparse(F32, (N, 2))) == Sparse(F32)
    assert kind_of(Map(dt.INT64, tensor)) == Map(dt.INT64, tensor)
    assert [list(sizes(value)) for value in (Sparse(F32, (N, 2)), Sequence(tensor, M), None)] == [[N, 2], [M, N], []]


def test_types_as_plain_data() -> None:
    tensor = SymTensor(F32, (N, 2))
    inner = {"kind": "tensor", "dtype": "f32", "shape": ["N", 2]}
    assert type_json(tensor) == inner
    assert type_json(Sparse(F32, (N, 2))) == {**inner, "kind": "sparse"}
    assert type_json(Sequence(tensor)) == {"kind": "sequence", "elem": inner}
    assert type_json(Optional(Sequence(None))) == {
        "kind": "optional",
        "elem": {"kind": "sequence", "elem": {"kind": "unknown"}},
    }
    assert type_json(Map(dt.INT64, tensor)) == {"kind": "map", "key": "i64", "value": inner}
