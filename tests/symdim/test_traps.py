"""Mistakes that Python would accept in silence are errors, and the message says how to write what was meant."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from symdim import (
    Bindings,
    Facts,
    Relation,
    Row,
    Shape,
    Store,
    Var,
    broadcast_shapes,
    ceildiv,
    compile_shape,
    equal,
    maximum,
    parse,
    product,
    prove,
    total,
)
from symdim.einsum import EinsumSpec

if TYPE_CHECKING:
    from collections.abc import Callable

H, N = Var("H"), Var("N")
NUMBERS: list[Callable[[Any], Any]] = [int, float, round, range, complex, lambda x: [0] * x, lambda x: "text"[x]]


@pytest.mark.parametrize("call", NUMBERS)
def test_an_expression_is_no_number(call: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"H - N is symbolic and has no number yet; use .to_int\(H=..., N=...\)"):
            call(H - N)


@pytest.mark.parametrize("call", [bool, lambda x: not x, lambda x: 1 if x else 0, lambda x: x or 1, lambda x: any([x])])
def test_an_expression_is_neither_true_nor_false(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"use symdim.equal\(H - 1, 0\), which is True, False or None"):
        call(H - 1)
    assert equal(H - 1, 0) is None or equal(H - 1, 0) is False
    assert (H == 3, H != 3, H in [3, H], {H: 1}[H]) == (False, True, True, 1)


TEXTS: dict[str, Callable[[], Any]] = {
    "sizes": lambda: Shape("N, 3"),
    "a row": lambda: Row.of("N, 3"),
    "broadcast": lambda: broadcast_shapes("N, 3"),
    "a target": lambda: Shape(["N"]).resolve_reshape("2, 3"),
    "einsum": lambda: EinsumSpec("ij->ji").infer("N, 3"),
    "facts": lambda: Facts("H % 8 == 0"),
    "names": lambda: parse("seq len", "seq len"),
    "arguments": lambda: compile_shape(Shape(["N"]), "N"),
    "available": lambda: N.guarantee("x"),
    "a sum": lambda: total("NM"),
    "a maximum": lambda: maximum("N", 3),
    "store.eq": lambda: Store().eq("N", 3),
    "store.bounds": lambda: Store().bounds("N", 3),
    "store.concat": lambda: Store().concat(N, ["a", "b"]),
    "store.divisible": lambda: Store().divisible("N", 3),
    "store.refine": lambda: Store().refine("N", N),
    "store.eq_row": lambda: Store().eq_row("[N]", Row.of([1])),
    "a fact": lambda: Facts().assume(Relation("equal", "N", 3)),
    "a question": lambda: prove.equal(N, "3"),
}


@pytest.mark.parametrize("call", TEXTS.values(), ids=TEXTS)
def test_a_text_is_no_sequence_and_no_size(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"not (the text )?'.*'.*: write "):
        call()


THREE = np.int64(3)
INTEGERS: list[Callable[[Any], Any]] = [
    lambda k: N + k, lambda k: k + N, lambda k: N - k, lambda k: k - N, lambda k: N * k, lambda k: N // k,
    lambda k: k // N, lambda k: N % k, lambda k: k % N, lambda k: N**k, lambda k: divmod(N, k),
    lambda k: maximum(N, k), lambda k: total([N, k]), lambda k: product([N, k]), lambda k: ceildiv(N, k),
    lambda k: ceildiv(k, 2), lambda k: Shape([k, N]).dims,
    lambda k: N.evaluate(N=k), lambda k: N.to_int({"N": k}), lambda k: N.substitute({"N": k}), lambda k: Bindings(N=k),
    lambda k: Shape([N]).bind(N=k).dims, lambda k: Var("Q", k, k).bounds(), lambda k: Var.fresh("Q", 0, at_most=k).hi,
    lambda k: prove.equal(N, k), lambda k: prove.divides(k, k * N), lambda k: Row.of([k]).dims,
]  # fmt: skip


@pytest.mark.parametrize("call", INTEGERS)
def test_integers_of_numpy_are_ints(call: Callable[[Any], Any]) -> None:
    expected, found = call(3), call(THREE)
    assert repr(found) == repr(expected)
    assert found == expected
    assert type(found) is type(expected)


def test_a_store_takes_integers_of_numpy() -> None:
    store, k = Store(), Var("K")
    store.eq(N, THREE)
    store.bounds(k, THREE, np.int32(5))
    store.divisible(k, np.int8(4))
    assert (store.value(N), store.value(k), type(store.value(N))) == (3, 4, int)


@pytest.mark.parametrize("wrong", [True, np.bool_(True), 3.0, np.float32(3), None, [3], np.array([3, 4])])
def test_what_is_no_integer_is_no_size(wrong: object) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: maximum(N, wrong),
        lambda: N.evaluate(N=wrong),
        lambda: Var("Q", max=wrong),
    ]
    for call in calls if wrong is not None else calls[:1]:
        with pytest.raises(TypeError):
            call()


def test_no_float_finds_the_result_of_an_integer_of_numpy() -> None:
    assert N + np.int64(77) is N + 77
    with pytest.raises(TypeError):
        N + 77.0
