"""Random selections, by Where and by numbers, against onnxruntime. `runs/selections.txt` has chosen ones."""

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
