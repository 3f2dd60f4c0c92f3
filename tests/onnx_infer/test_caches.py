"""One call empties what both packages remember, and answers stay the same."""

from __future__ import annotations

from onnx_infer import infer
from onnx_infer.cli.demo import demo_model
from onnx_infer.engine import engine
from onnx_infer.protobuf import nodes
from symdim import clear_caches
from symdim.algebra import expr
from symdim.algebra.caches import Cache


def test_one_call_empties_the_caches_of_both_packages() -> None:
    before = {name: str(value) for name, value in infer(demo_model()).types.items()}
    assert engine._remembered
    assert nodes._interned
    assert expr._sums
    clear_caches()
    assert not engine._remembered
    assert not nodes._interned
    assert not expr._sums
    assert {name: str(value) for name, value in infer(demo_model()).types.items()} == before


def test_a_full_cache_is_emptied_before_the_next_entry() -> None:
    cache = Cache(3)
    for n in range(10):
        cache[n] = n
        assert len(cache) <= 3
        assert cache[n] == n
