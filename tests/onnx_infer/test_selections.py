"""Selections written with numbers, `a*[c] + b*[not c]`, are the Where that they mean: against onnxruntime."""

from __future__ import annotations

import random

import numpy as np
import pytest

from onnx_infer import infer

from .oracle import at, contradictions
from .sessions import run, session_of
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'
NUMBERS = {"zero": 0, "one": 1, "three": 3, "minus": -1}
CONSTANTS = ", ".join(f"int64[1] {name} = {{{number}}}" for name, number in NUMBERS.items())

PADDED = """h = Shape<start={first}>(x) r = Mod(h, stride) s = Sub(stride, r) crop = Mod(s, stride)
    pads = Concat<axis=0>({before}, crop) p = Pad(x, pads) is0 = Equal(crop, nothing) back = Neg(crop)"""
ENDS = {
    "numbers": """other = Not(is0) a = Cast<to=7>(other) b = Neg(a) left = Mul(crop, b) c = Cast<to=7>(is0)
        right = Mul(far, c) end = Add(left, right)""",
    "one minus": "a = Cast<to=7>(is0) b = Sub(unit, a) c = Mul(b, back) d = Mul(a, far) end = Add(c, d)",
    "a step": "a = Cast<to=7>(is0) gap = Sub(far, back) b = Mul(gap, a) end = Add(b, back)",
    "floats": """a = Cast<to=11>(is0) b = Cast<to=11>(far) c = Mul(a, b) d = Not(is0) e = Cast<to=11>(d)
        f = Cast<to=11>(back) g = Mul(e, f) i = Add(c, g) end = Cast<to=7>(i)""",
    "Where": "end = Where(is0, far, back)",
}


@pytest.mark.parametrize("stride", [2, 3, 4])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("axes", [1, 2])
def test_a_crop_to_the_end_gives_the_size_before_the_pad(end: str, stride: int, axes: int) -> None:
    """As tf2onnx writes BatchToSpaceND: the end is -crop, or the largest integer where there is nothing to crop."""

    def vector(name: str, *numbers: int) -> str:
        return f"int64[{len(numbers)}] {name} = {{{', '.join(map(str, numbers))}}}"

    each = {"stride": stride, "far": 2**31 - 1, "nothing": 0, "unit": 1}
    constants = [vector(name, *[n] * axes) for name, n in each.items()] + [vector("at", *range(2 - axes, 2))]
    padded = PADDED.format(first=2 - axes, before="nothing" if axes == 2 else "nothing, nothing, nothing")
    body = f"{padded} {ENDS[end]} y = Slice(p, nothing, end, at)"
    model = parsed(f"g (float[N, H] x) => (y) <{', '.join(constants)}> {{ {body} }}", HEAD)
    result, session = infer(model), session_of(model)
    assert (str(result.types["y"]), result.guards) == ("f32[N, H]", [])
    for size in (1, 2, 3, 4, 7, 8, 12):
        (found,) = session.run(None, {"x": np.zeros((size + 1, size), np.float32)})
        assert found.shape == (size + 1, size)


@pytest.mark.parametrize("kind", [7, 1])
def test_a_choice_of_two_sizes_is_their_maximum(kind: int) -> None:
    body = f"""n = Shape<end=1>(x) c = Greater(n, three) d = Not(c) a = Cast<to={kind}>(c) b = Cast<to={kind}>(d)
        m = Cast<to={kind}>(n) k = Cast<to={kind}>(three) p = Mul(m, a) q = Mul(b, k) s = Add(p, q)
        t = Cast<to=7>(s) y = ConstantOfShape(t)"""
    model = parsed(f"g (float[N, M] x) => (y) <{CONSTANTS}> {{ {body} }}", HEAD)
    assert str(infer(model).types["y"]) == "f32[max(N, 3)]"


def test_an_if_selects_as_a_where_does() -> None:
    body = """h = Shape<start=1>(x) two = Add(one, one) crop = Mod(h, two) pads = Concat<axis=0>(zero, zero, zero, crop)
        p = Pad(x, pads) is0 = Equal(crop, zero) c = Squeeze(is0) end = If(c) <
            then_branch = t () => (a) { a = Constant<value_ints = [2147483647]>() },
            else_branch = e () => (b) { b = Neg(crop) }>
        y = Slice(p, zero, end, one)"""
    model = parsed(f"g (float[N, H] x) => (y) <{CONSTANTS}> {{ {body} }}", HEAD)
    assert str(infer(model).types["y"]) == "f32[N, H]"


def test_a_choice_with_a_common_element_is_one_of_two_under_both_conditions() -> None:
    """`3 if N > 5 else (3 if N <= M % 2 else M)`: the elements are functions of both conditions."""
    body = """n = Shape<end=1>(x) m = Shape<start=1>(x) two = Add(one, one) odd = Mod(m, two) six = Add(three, three)
        c = Less(odd, n) one_of = Where(c, m, three) d = Less(n, six) w = Where(d, one_of, three)
        y = ConstantOfShape(w)"""
    model = parsed(f"g (float[N, M] x) => (y) <{CONSTANTS}> {{ {body} }}", HEAD)
    (size,) = infer(model).shapes["y"] or ()
    session = session_of(model)
    for n, m in ((1, 1), (1, 2), (1, 5), (4, 5), (5, 7), (6, 7), (7, 1), (9, 9)):
        (found,) = session.run(None, {"x": np.zeros((n, m), np.float32)})
        assert found.shape == (at(size, {"N": n, "M": m}),)


CONDITIONS = ("Greater({0}, {1})", "Equal({0}, {1})", "LessOrEqual({0}, {1})", "Equal(odd, zero)", "Less(odd, {0})")
VALUES = ("n", "m", "half", "gap", "far", "zero", "one", "three", "minus", "odd")
USES = (
    "y = Slice(x, zero, {0}, zero)",
    "y = Slice(x, {0}, far, one)",
    "y = Slice(x, {0}, {1}, zero)",
    "a = Abs({0}) b = Min(a, three) y = ConstantOfShape(b)",
    "a = Concat<axis=0>({0}, {1}) b = Abs(a) c = Min(b, three) y = ConstantOfShape(c)",
    "a = Max({0}, one) b = Min(a, m) c = Concat<axis=0>(one, b, one) y = Expand(x, c)",
    "a = Div({0}, three) y = Slice(x, a, {1}, one)",
    "y = Gather<axis=1>(x, {0})",
)


def random_selection(rng: random.Random) -> str:
    """Two choices of elements, which may depend on each other, and a node that makes a size of them."""
    lines = ["n = Shape<end=1>(x) m = Shape<start=1>(x) gap = Sub(n, m) two = Add(one, one) half = Div(n, two)"]
    lines += ["odd = Mod(m, two)"]
    known = list(VALUES)
    for i in range(2):
        condition = rng.choice(CONDITIONS).format(*rng.sample(["n", "m", "three", "half"], 2))
        lines.append(f"c{i} = {condition}" if i == 0 or rng.random() < 0.6 else f"c{i} = Not(c0)")
        first, second = rng.sample(known, 2)
        if rng.random() < 0.5:
            lines.append(f"w{i} = Where(c{i}, {first}, {second})")
        else:
            lines.append(f"d{i} = Not(c{i}) e{i} = Cast<to=7>(c{i}) f{i} = Cast<to=7>(d{i})")
            lines.append(f"p{i} = Mul(e{i}, {first}) q{i} = Mul({second}, f{i}) w{i} = Add(p{i}, q{i})")
        known.append(f"w{i}")
    use = rng.choice(USES).format("w1", rng.choice(["w0", *VALUES]))
    constants = f"{CONSTANTS}, int64[1] far = {{4294967296}}"
    return f"g (float[N, M] x) => (y) <{constants}> {{ {' '.join(lines)} {use} }}"


@pytest.mark.parametrize("seed", range(4))
def test_random_selections(seed: int) -> None:
    rng = random.Random(seed)
    known = 0
    for _ in range(15):
        model = parsed(random_selection(rng), HEAD)
        result, session = infer(model), session_of(model)
        for _ in range(8):
            sizes = {name: rng.randint(1, 8) for name in "NM"}
            if result.check(sizes):
                continue
            found = run(session, {"x": np.zeros((sizes["N"], sizes["M"]), np.float32)})
            if found is not None:
                assert not list(contradictions(result.types["y"], found[0], sizes)), (model, sizes)
                known += all(isinstance(at(size, sizes), int) for size in result.shapes["y"] or ())
    assert known > 20
