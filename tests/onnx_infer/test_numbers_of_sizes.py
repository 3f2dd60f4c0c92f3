"""Remainders, bits and equal elements of sizes, against onnxruntime."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from onnx_infer import infer

from .oracle import at
from .sessions import run, session_of
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'
NUMBERS = {"zero": 0, "one": 1, "two": 2, "three": 3, "minus": -1, "low": -8, "far": 2**40}
CONSTANTS = ", ".join(f"int64[1] {name} = {{{number}}}" for name, number in NUMBERS.items())
SIZES = "n = Shape<end=1>(x) m = Shape<start=1>(x)"


def sizes_of(nodes: str, known: bool = True, most: int = 9) -> str:
    """The only size of the result of nodes, as text, which runs confirm; `known`: it depends on sizes alone."""
    model = parsed(f"g (float[N, M] x) => (y) <{CONSTANTS}> {{ {SIZES} {nodes} }}", HEAD)
    result, session = infer(model), session_of(model)
    assert not result.diagnostics
    size = (result.shapes["y"] or ())[-1]
    for n, m in product(range(1, most), repeat=2):
        found = run(session, {"x": np.ones((n, m), np.float32)})
        assert not known or (found is None) == bool(result.check(N=n, M=m))
        if found is not None and known:  # otherwise a run decides
            assert found[0].shape[-1] == at(size, {"N": n, "M": m}), (nodes, n, m)
    return str(size)


@pytest.mark.parametrize("kind", ["1", "11"])
@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ("a, b", "N % M + 20"), ("a, two1", "N % 2 + 20"), ("two1, a", "22 - N*(2//N)"), ("half, one1", "N % 2 + 20"),
        ("half, b", ""), ("back, a", ""), ("back, two1", ""), ("a, back", "_d0"),
    ],
)  # fmt: skip
def test_the_remainder_of_floats_has_the_sign_of_the_dividend(kind: str, operands: str, expected: str) -> None:
    nodes = f"""a = Cast<to={kind}>(n) b = Cast<to={kind}>(m) one1 = Cast<to={kind}>(one) two1 = Cast<to={kind}>(two)
        gap = Sub(m, three) back = Cast<to={kind}>(gap) half = Div(a, two1) r = Mod<fmod=1>({operands})
        up = Ceil(r) c = Cast<to=7>(up) k = Constant<value_ints=[20]>() d = Add(c, k) y = ConstantOfShape(d)"""
    sign_of_divisor_is_known = operands != "a, back"
    found = sizes_of(nodes, known=sign_of_divisor_is_known)
    assert ("_d" not in found) is sign_of_divisor_is_known
    assert expected in ("", found)


BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")


@pytest.mark.parametrize("divisor", ["two", "three", "m", "low"])
def test_an_integer_division_that_compares_signs_by_bits(divisor: str) -> None:
    """The remainder decides whether the truncated quotient is one too large, if the signs differ."""
    nodes = f"""q = Div(n, {divisor}) p = Mul(q, {divisor}) exact = Equal(p, n) rest = Not(exact)
        xor = BitwiseXor(n, {divisor}) differ = Less(xor, zero) both = And(rest, differ) less = Sub(q, one)
        f = Where(both, less, q) g = Abs(f) y = ConstantOfShape(g)"""
    found = sizes_of(nodes)
    assert found == {"two": "N//2", "three": "N//3", "m": "N//M"}.get(divisor, found)


@pytest.mark.parametrize("first", ["n", "back", "gap"])
@pytest.mark.parametrize("second", ["m", "zero", "two", "three", "minus", "low", "far"])
def test_the_sign_of_bits_is_known_where_those_of_the_operands_are(first: str, second: str) -> None:
    """Bits with a mask of low bits, or a complement of one, are known whatever the sign."""
    masks = {"zero", "three", "minus", "low"}
    for name in BITS:
        head = f"back = Neg(n) gap = Sub(n, m) b = {name}({first}, {second})"
        sign = sizes_of(f"{head} c = Less(b, zero) d = Cast<to=7>(c) y = ConstantOfShape(d)", known=first != "gap")
        assert sign in ("0", "1") or first == "gap" or second in masks
        if second in masks and (name != "BitwiseXor" or second in ("zero", "minus")):
            assert "_d" not in sizes_of(f"{head} c = Abs(b) y = ConstantOfShape(c)")


def test_bits_that_only_a_run_knows_are_told() -> None:
    nodes = f"{SIZES} b = BitwiseXor(n, m) y = Expand(one, b)"
    result = infer(parsed(f"g (float[N, M] x) => (y) <{CONSTANTS}> {{ {nodes} }}", HEAD))
    assert (str(result.shapes["y"]), str(result.upper_bounds["y"])) == ("(_d0,)", "(M + N,)")
    assert result.reasons["y"]


FILLS = {
    "Mul(ones, none)": 0, "Equal(zeros, none)": 1, "Greater(ones, none)": 1, "GreaterOrEqual(none, ones)": 0,
    "And(no, some)": 0, "Where(yes, ones, x)": 1, "Where(no, ones, zeros)": 0, "Relu(ones)": 1, "Sqrt(zeros)": 0,
    "Concat<axis=1>(ones, ones)": 2, "Not(no)": 1, "Xor(yes, yes)": 0, "Cast<to=7>(halves)": 0, "Or(yes, some)": 1,
}  # fmt: skip


@pytest.mark.parametrize("nodes", FILLS)
def test_nonzero_of_equal_elements(nodes: str) -> None:
    """All elements count, or none of them."""
    head = """s = Shape(x) none1 = Cast<to=1>(zero) none = Squeeze(none1) ones = ConstantOfShape<value=float[1] {1}>(s)
        zeros = Mul(ones, none) two1 = Cast<to=1>(two) halves = Div(ones, two1) yes = Cast<to=9>(ones) no = Not(yes)
        some = Cast<to=9>(x)"""
    assert sizes_of(f"{head} t = {nodes} y = NonZero(t)", most=4) == ("0", "M*N", "2*M*N")[FILLS[nodes]]


def test_compress_by_equal_elements() -> None:
    for condition, expected in (("yes", "M"), ("no", "0")):
        head = "ones = ConstantOfShape<value=int64[1] {1}>(m) yes = Cast<to=9>(ones) no = Not(yes)"
        assert sizes_of(f"{head} y = Compress<axis=1>(x, {condition})") == expected
