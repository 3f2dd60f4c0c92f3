"""The fuzzer itself: some models of it, and faults that are planted so that judges find them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from onnx_infer import SymTensor
from onnx_infer.testing import read_value
from onnx_infer.tools.planning.memory import MemoryPlan
from tests.fuzz import judges
from tests.fuzz.models import Judged, judged
from tests.fuzz.runtime import CRASHED, Runtime
from tests.fuzz.shrinking import shrunk
from tests.fuzz.subject import Subject, tried
from tests.fuzz.texts import fault, texts
from tests.nightly import is_nightly
from tests.onnx_infer.texts import parsed


@pytest.mark.parametrize("start", range(0, 100 if is_nightly else 5, 5))
def test_random_models_have_no_fault(start: int, runtime: Runtime) -> None:
    for seed in range(start, start + 5):
        assert judged(seed, runtime).faults == [], seed


def test_a_seed_gives_one_model(runtime: Runtime) -> None:
    first, second = (judged(7, runtime).subject.model for _ in range(2))
    assert first.SerializeToString() == second.SerializeToString()


X = np.zeros((2, 3), np.float32)


def subject(
    runtime: Runtime, text: str = "y = Concat<axis=0>(x, x) z = Transpose(y)", outputs: str = "y, z"
) -> Subject:
    model = parsed(f"g (float[N, M] x) => ({outputs}) {{ {text} }}")
    made = tried(model, [({"N": 2, "M": 3}, {"x": X}), ({"N": 2, "M": 3}, {"x": X + 1})], runtime)
    assert CRASHED not in [run.outcome for run in made.runs]
    return made


def faults(given: Subject, runtime: Runtime) -> set[str]:
    return {name for name, _ in judges.verdict(given, runtime)}


def test_what_is_right_has_no_fault(runtime: Runtime) -> None:
    assert faults(subject(runtime), runtime) == set()


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        (  # runtimes disagree about the slice, and the rank of y depends on it
            "s = Shape(x) first = Constant<value_ints=[1]>() last = Constant<value_ints=[9223372036854775807]>() "
            "step = Constant<value_ints=[-1]>() a = Slice(s, first, last, step, step) b = Sign(a) y = Expand(x, b)",
            "y",
        ),
        (  # onnxruntime infers rank 0 for w, and splits it because the declared rank is 1
            "s = Shape(x) zero = Constant<value_ints=[0]>() last = Constant<value_ints=[9223372036854775807]>() "
            "step = Constant<value_ints=[-2]>() v = Slice(s, zero, last, zero, step) w = ConstantOfShape(v) "
            "parts = Constant<value_ints=[1, 1]>() p, q = Split<axis=0>(w, parts)",
            "float[N] w, p, q",
        ),
        ("s = Size(x) c = Constant<value_int=60>() y = Pow(s, c)", "y"),  # beyond the range of the element type
        (  # the power is beyond what a double holds
            "s = Shape(x) c = Constant<value_int=4>() t = Pow(s, c) d = Constant<value_int=5>() u = Mul(t, d) "
            "e = Constant<value_int=7>() v = Pow(u, e) f = Constant<value_int=101>() y = Mod(v, f)",
            "u, e, v, y",
        ),
        (  # so is one in a branch
            "s = Shape<start=1>(x) k = Constant<value_int=7>() c = Constant<value=bool {1}>() "
            "y = If(c) <then_branch = g1 () => (int64[1] a) { t = Pow(s, k) f = Constant<value_int=5>() "
            "a = Pow(t, f) }, else_branch = g2 () => (int64[1] b) { b = Identity(s) }>",
            "y",
        ),
        (  # onnxruntime takes elements of the wrong operand of a Max beyond 2**31, in a branch, too
            "s = Shape(x) c = Constant<value=bool {1}>() big = Constant<value_ints=[2147483648]>() "
            "y = If(c) <then_branch = g1 () => (int64[2] a) { a = Max(big, s) }, "
            "else_branch = g2 () => (int64[2] b) { b = Identity(s) }>",
            "big, y",
        ),
        ("big = Constant<value_ints=[8589934593]>() y, i = TopK(x, big)", "big, y"),  # it reads the lower 32 bits of K
        (
            "big = Constant<value_ints=[8589934593]>() c = Constant<value=bool {1}>() "
            "y = If(c) <then_branch = g1 () => (float[] a) { a, i = TopK(x, big) }, "
            "else_branch = g2 () => (float[] b) { b = Identity(x) }>",
            "big, y",
        ),
        ("big = Constant<value_ints=[4611686018427387905]>() y = ReduceProd<keepdims=0>(big)", "big, y"),  # a double
        (  # without a turn onnxruntime does not know the rank of what a Loop stacks
            "z = Constant<value=int64 {0}>() c = Constant<value=bool {1}>() k = Constant<value_ints=[1, 1, 1]>() "
            "a, s = Loop(z, c, x) <body = g (int64 i, bool p, float[] d) => (q, e, t) { q = Identity(p) "
            "e = Identity(d) t = Identity(d) }> u = Tile(s, k) y = Neg(x)",
            "y",
        ),
        (  # onnxruntime infers rank 1 for p, and has rank 2: what folds to a known shape is not loaded
            "s = Shape(x) none = Constant<value_int=-1>() n = Gather(s, none) c = Less(none, n) "
            "v = Constant<value=float[3] {1, 2, 3}>() "
            "w = Constant<value=float[1, 3] {1, 2, 3}>() p = PRelu(v, w) "
            "u = If(c) <then_branch = g1 () => (float[] a) { a = Identity(v) }, "
            'else_branch = g2 () => (float[] b) { b = ReduceSum<keepdims=0>(x) }> y = Einsum<equation="a,ba->a">(u, p)',
            "v, p, y",
        ),
        (  # onnxruntime takes a scalar for the shape in the second turn, so the result is not the known one
            "n = Constant<value_int=3>() c = Constant<value=bool {1}>() two = Constant<value_int=2>() "
            "zero = Constant<value_ints=[0]>() y, z, w = Loop(n, c, zero, zero) <body = g (int64 i, bool p, int64[] a, "
            "int64[] b) => (q, f, h, k) { e = Expand(b, b) q = Identity(p) f = Identity(e) h = Identity(two) "
            "k = Identity(b) }>",
            "two, y, z, w",
        ),
        (  # of the element of a sequence only the author tells a shape, and it is wrong
            "t = ReduceMin<keepdims=0>(x) q = SequenceConstruct(x, t) n = Constant<value=float {-1}>() l = Less(t, n) "
            "i = Cast<to=7>(l) y = SequenceAt(q, i)",
            'float[N, "M + 1"] y',
        ),
        (  # onnxruntime runs it, the specification forbids it
            "s = Constant<value_float=1.0>() a = Constant<value_ints=[2]>() y = ReduceSum<keepdims=0>(s, a) z = Neg(x)",
            "y, z",
        ),
        (
            "s = Constant<value_float=1.0>() a = Constant<value_ints=[1]>() v = SequenceConstruct(x, s) "
            "w = SequenceMap(v) <body = g (float[] p) => (float[] r) { r = ReduceSum(p, a) }> i = Size(s) "
            "y = SequenceAt(w, i)",
            "y",
        ),
    ],
)
def test_what_is_known_of_runtimes_is_no_fault(text: str, outputs: str, runtime: Runtime) -> None:
    given = subject(runtime, text, outputs)
    assert faults(given, runtime) == set()


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ("f32[N, M]", {"runs", "planned"}),  # a size
        ("f32[2*N, M, 1]", {"runs", "planned"}),  # the rank
        ("i64[2*N, M]", {"runs"}),  # the element type
        ("f32[2*N, _d0]", set()),  # less is known: that is no fault of one inference
    ],
)
def test_a_wrong_type_is_found(wrong: str, found: set[str], runtime: Runtime) -> None:
    given = subject(runtime)
    value = read_value(wrong)
    assert isinstance(value, SymTensor)
    given.result.types["y"] = value
    if value.shape is not None:
        given.result.shapes["y"] = value.shape
    assert {"runs", "planned"} & faults(given, runtime) == found


def test_a_peak_below_a_value_is_found(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    given = subject(runtime)
    peak = given.result.memory().peak_at(N=2, M=3)
    monkeypatch.setattr(MemoryPlan, "peak_at", lambda *_: peak._replace(bytes=40))
    assert faults(given, runtime) == {"planned"}


def test_a_crash_costs_one_answer(runtime: Runtime) -> None:
    assert runtime.run(b"no model", [{}])[0] != CRASHED
    runtime._process.kill()
    assert runtime.run(b"no model", [{}, {}]) == [CRASHED, CRASHED]
    assert "not loaded" in str(runtime.run(b"no model", [{}])[0])


def test_shrinking_keeps_the_fault(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    given = subject(runtime, "a = Neg(x) b = Relu(a) y = Concat<axis=0>(b, x) z = Transpose(y)", "a, b, y, z")

    def no_relu(found: Subject, _: Runtime) -> Iterator[str]:
        yield from (f"{node.output[0]} is a Relu" for node in found.model.graph.node if node.op_type == "Relu")

    monkeypatch.setattr(judges, "JUDGES", (no_relu,))
    feeds = [(run.sizes, run.feeds) for run in given.runs]
    small, text = shrunk(Judged(0, given, feeds, [], 0), "no_relu", "", runtime)
    assert [node.op_type for node in small.graph.node] == ["Neg", "Relu"]
    assert text == "b is a Relu"


def test_random_dim_params_are_read_or_refused() -> None:
    found = {text: wrong for text in islice(texts(0), 2000) if (wrong := fault(text))}
    assert found == {}
