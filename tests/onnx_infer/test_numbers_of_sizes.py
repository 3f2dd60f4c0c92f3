"""Signs of bits of sizes, against onnxruntime. `runs/numbers.txt` has remainders and equal elements."""

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


BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")


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
