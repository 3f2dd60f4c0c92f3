"""Whether all sizes within bounds fit into some memory: against brute force, with guards and with unknown bytes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from onnx_infer import infer
from onnx_infer.errors import UnknownSymbol
from onnx_infer.tools.report.plans import fits_text
from symdim import BoundsError

from .texts import parsed

if TYPE_CHECKING:
    from onnx_infer import InferenceResult

MODELS = {
    "grows": "g (float[N, 8] x, float[8, M] w) => (y) { a = MatMul(x, w) y = Relu(a) }",
    "demands": "g (float[N, M] x) => (y) <int64[3] s = {-1, 4, 16}> { a = Relu(x) y = Reshape(a, s) }",
    "is equal": "g (float[N, 4] x, float[M, 4] z) => (y) { a = Add(x, z) y = Exp(a) }",
    "falls": """g (float[N] x, float[M] w) => (y) <int64[1] c = {100}, int64[1] m = {7}, int64[1] o = {1}> {
        s = Shape(x) rest = Mod(s, m) k = Mul(rest, c) p = Concat<axis=0>(k, o) y = ConstantOfShape(p) }""",
    "a branch": """g (float[N, M] x, bool b) => (y) { y = If (b)
        <then_branch = t () => (p) { p = Exp(x) },
         else_branch = e () => (q) { u = Exp(x) q = Concat<axis=0>(u, x) }> }""",
}


def peaks(result: InferenceResult, high: int) -> dict[tuple[int, int], int]:
    """The peak at all sizes up to a number at which no required guard fails."""
    memory = result.memory(inputs=True, initializers=True, upper=True)
    names = {v.name for v in memory.symbols}
    found = {}
    for n, m in product(range(1, high + 1), repeat=2):
        sizes = {"N": n, "M": m}
        if not any(v.kind == "required" for v in result.check(sizes)):
            counts = memory.bytes_at({name: size for name, size in sizes.items() if name in names})
            found[n, m] = memory.peak_of(counts).bytes
    return found


@pytest.mark.parametrize("name", MODELS)
def test_the_verdict_is_that_of_all_sizes(name: str) -> None:
    result, high = infer(parsed(MODELS[name])), 24
    found = peaks(result, high)
    most = max(found.values())
    for limit in sorted({0, most // 5, most - 1, most, most + 1, *(list(found.values())[::40])}):
        answer = result.fits(limit, {"N": (1, high), "M": (1, high)})
        assert answer.verdict == ("proved" if most <= limit else "exceeded"), limit
        if answer.verdict == "exceeded":
            assert answer.sizes is not None
            assert answer.peak is not None
            assert limit < answer.peak.bytes == found[answer.sizes["N"], answer.sizes["M"]]


def test_without_an_upper_end() -> None:
    result = infer(parsed(MODELS["grows"]), bounds={"N": (1, 8)})
    answer = result.fits(10**9)
    assert (answer.verdict, answer.sizes) == ("exceeded", {"N": 8, "M": 1 << 24})
    assert result.fits(10**9, {"M": (1, 10**6)}).verdict == "proved"
    assert fits_text(answer, None).startswith(
        "does not fit: 1.61 GB needed at N = 8, M = 16777216 (limit 1 GB)\n  the peak"
    )


@pytest.mark.parametrize(("bounds", "error"), [({"K": (1, 2)}, UnknownSymbol), ({"N": (3, 2)}, BoundsError)])
def test_bounds_are_checked(bounds: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="bounds: "):
        infer(parsed(MODELS["grows"])).fits(100, bounds)
