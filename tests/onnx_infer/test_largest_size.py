"""The largest size within some memory: against brute force, with guards, falling sizes and open symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx.parser
import pytest

from onnx_infer import infer
from onnx_infer.tools.cli.texts import byte_count
from onnx_infer.tools.report.plans import largest_text
from symdim import SymdimError, UnboundName

if TYPE_CHECKING:
    from onnx_infer import InferenceResult

HEAD = '<ir_version: 10, opset_import: ["": 20]> '


def of(text: str, **bounds: tuple[int, int | None]) -> InferenceResult:
    return infer(onnx.parser.parse_model(HEAD + text), bounds=bounds)


MODELS = {
    "grows": "g (float[N, 8] x) => (y) { a = Concat<axis=0>(x, x) y = Relu(a) }",
    "demands": """g (float[N, 8] x) => (y) <int64[3] s = {-1, 4, 16}> { a = Relu(x) y = Reshape(a, s) }""",
    "a table": """g (float[N, 8] x) => (y) <float[50] t = {0}, int64 z = {0}, int64 i = {1}, int64[1] a = {0}> {
        s = Shape(x) n = Gather(s, z) r = Range(z, n, i) e = Gather(t, r) e1 = Unsqueeze(e, i) y = Mul(x, e1) }""",
    "falls": """g (float[N] x) => (y) <int64[1] c = {100}, int64[1] m = {7}, int64[1] o = {1}> {
        s = Shape(x) rest = Mod(s, m) k = Mul(rest, c) p = Concat<axis=0>(k, o) y = ConstantOfShape(p) }""",
}


@pytest.mark.parametrize("name", MODELS)
def test_no_larger_size_fits(name: str) -> None:
    result = of(MODELS[name].replace("float[50] t = {0}", f"float[50] t = {{{', '.join('0' * 50)}}}"), N=(1, 200))
    memory = result.memory(inputs=True, initializers=True, upper=True)

    def fits(size: int, limit: int) -> bool:
        runs = not any(violation.kind == "required" for violation in result.check(N=size))
        return runs and peak(size) <= limit

    def peak(size: int) -> int:
        return memory.peak_of(memory.bytes_at(N=size)).bytes

    for limit in (10, 300, 900, 1500, 3001, 5000, 9_000, 1 << 20):
        found = result.largest_size(limit)
        fitting = [size for size in range(1, 201) if fits(size, limit)]
        assert found.size == max(fitting, default=None)
        assert found.at_most >= max(fitting, default=-1)
        if found.size is not None:
            assert found.peak is not None
            assert found.peak.bytes == peak(found.size)
            assert (found.next == "it is the largest size") == (found.size == 200)
        peaks = [peak(size) for size in range(1, 201)]
        assert not found.grows or peaks == sorted(peaks)
    assert found.grows == (name != "falls")


def test_what_shares_storage_needs_less() -> None:
    """A chain of Relus that are computed in place needs 1,000 bytes for each row, with x."""
    result = of("g (float[N, 250] x) => (y) { a = Relu(x) b = Relu(a) y = Relu(b) }")
    found = result.largest_size(2_500)
    assert (found.size, found.at_most) == (None, 2)
    arena = result.arena(inputs="arena", align=1).at(N=1)
    assert arena.size == 1000  # x ends at the first Relu


def test_why_the_next_size_does_not_fit() -> None:
    result = of("g (float[N, 8] x, float[40, 8] w) => (y) { y = Add(x, w) }")
    assert result.largest_size(10**9).next.endswith("N in (40, 1) is violated (41 and 40)")
    result = of(MODELS["grows"])
    assert result.largest_size(1000).next == "N = 7 needs 1120 bytes at Relu 'y'"


def test_other_symbols_need_sizes() -> None:
    result = of("g (float[N, M] x) => (y) { y = Relu(x) }")
    assert result.largest_size(800, "N", {"M": 10}).size == 10
    assert result.largest_size(800, sizes={"N": 10}).size == 10
    for symbol, sizes in ((None, {}), ("N", {}), ("Q", {"N": 1, "M": 1})):
        with pytest.raises(UnboundName):
            result.largest_size(800, symbol, sizes)
    with pytest.raises(SymdimError, match="every symbol has a size already"):
        result.largest_size(800, sizes={"N": 1, "M": 2})


def test_sizes_that_the_data_decide_count_with_their_upper_bounds() -> None:
    result = of("g (float[N] x) => (y) { y = NonZero(x) }")
    assert result.largest_size(1200).size == 100


@pytest.mark.parametrize("text, count", [("8GB", 8 * 10**9), ("2 kib", 2048), ("0.5MB", 500_000), ("77", 77)])
def test_bytes_with_units(text: str, count: int) -> None:
    assert byte_count(text) == count


@pytest.mark.parametrize("text", ["", "GB", "-1", "8 XB", "8B8", "1e9", "٣"])
def test_what_is_no_number_of_bytes(text: str) -> None:
    import argparse

    with pytest.raises(argparse.ArgumentTypeError):
        byte_count(text)


def test_a_size_that_makes_a_divisor_0_does_not_fit() -> None:
    text = """g (float[N] x) => (y) <int64[1] five = {5}, int64[1] sixty = {60}> {
        s = Shape(x) m = Sub(s, five) q = Div(sixty, m) y = ConstantOfShape(q) }"""
    found = of(text, N=(5, 200)).largest_size(30)
    assert (found.size, found.at_most, found.grows) == (None, -1, False)
    assert largest_text(found, None) == "N: no size fits within 30 B"
    assert of(text, N=(5, 6)).largest_size(10**6).size == 6
    falling = of(text, N=(6, 200)).largest_size(10**6)
    assert (falling.size, falling.grows) == (200, False)
    assert "smaller N may not all fit" in largest_text(falling, None)
