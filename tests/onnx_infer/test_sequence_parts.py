"""The parts of an axis that is cut by SplitToSequence with one size: the last one may be smaller, as in onnxruntime."""

from __future__ import annotations

import re

import numpy as np
import pytest

from onnx_infer import ShapeInferenceError, infer, infer_shapes
from onnx_infer.testing import infer_node
from onnx_infer.values.tensor import UNKNOWN_SIZE, Sequence, SymTensor
from symdim import Var

from .oracle import contradictions
from .sessions import run, session_of
from .texts import messages, parsed

HEAD = """g (float[N, M] x, float[T] t, int64 p) => (y) { h = Shape(t) c = Squeeze(h) k = Constant<value_int=3>()
    one = Constant<value_int=1>() less = Sub(c, one) minus = Neg(c) yes = Constant<value=bool {1}>() """

LOOP = """y = Loop({trips}, yes, x) <body = b (int64 i, bool go, float[A, B] w) => (bool on, float[C, D] o) {{
    on = Identity(go) o = SequenceAt(s, i) }}> }}"""

# (nodes, the result, the guards)
RESULTS = [
    ("s = SplitToSequence(x, k) y = ConcatFromSequence<axis=0>(s)", "(N, M)", []),
    ("s = SplitToSequence(x, c) y = ConcatFromSequence<axis=-2>(s)", "(N, M)", []),
    ("s = SplitToSequence<axis=1>(x, c) y = ConcatFromSequence<axis=1>(s)", "(N, M)", []),
    ("s = SplitToSequence(x, k) y = SequenceAt(s, one)", "(min(N, 6) - 3, M)", ["N >= 4"]),
    ("s = SplitToSequence(x, k) y = SequenceAt(s, less)", "(N - max(N, 3*T) + 3, M)", ["N + 2 >= 3*T"]),
    ("n = Neg(one) s = SplitToSequence(x, c) y = SequenceAt(s, n)", "((N - 1) % T + 1, M)", []),
    ("s = SplitToSequence(x, k) y = SequenceAt(s, minus)", None, ["N + 2 >= 3*T"]),
    ("s = SplitToSequence(x, k) n = SequenceLength(s) " + LOOP.format(trips="n")[:-2], "(3 - (-N) % 3, M)", []),
    ("s = SplitToSequence(x, k) " + LOOP.format(trips="c")[:-2], "(N - max(N, 3*T) + 3, M)", ["N + 2 >= 3*T"]),
    # as many parts as T has elements, all of one size
    ("e = Expand(one, h) s = SplitToSequence(x, e) y = ConcatFromSequence<axis=0>(s)", "(T, M)", ["T == N"]),
    ("e = Expand(k, h) s = SplitToSequence(x, e) y = SequenceAt(s, less)", "(3, M)", ["3*T == N"]),
    ("e = Expand(c, h) s = SplitToSequence(x, e) y = ConcatFromSequence<axis=0>(s)", "(T**2, M)", ["T**2 == N"]),
    # sizes that are not known: the position is an input, the sequence is another one, the parts are joined elsewhere
    ("s = SplitToSequence(x, k) y = SequenceAt(s, p)", "(_d, M)", []),
    ("s = SplitToSequence(x, k) r = SequenceErase(s, p) y = ConcatFromSequence<axis=0>(r)", "(_d, M)", ["N >= 4"]),
    ("s = SplitToSequence(x, k) r = SequenceInsert(s, x) y = ConcatFromSequence<axis=0>(r)", "(_d, M)", []),
    ("s = SplitToSequence(x, k) y = ConcatFromSequence<axis=1>(s)", "(_d, M*((N + 2)//3))", []),
]


@pytest.mark.parametrize(("nodes", "shape", "guards"), RESULTS)
def test_parts(nodes: str, shape: str | None, guards: list[str]) -> None:
    model = parsed(f"{HEAD} {nodes} }}")
    result, session = infer(model), session_of(model)
    assert not messages(result)
    if shape is not None:
        assert re.sub(r"_d\d+", "_d", str(result.shapes["y"])) == shape
    assert list(map(str, result.guards)) == guards
    again = infer(infer_shapes(model))
    assert not messages(again)
    assert str(again.shapes["y"]) == str(result.shapes["y"])
    ran = 0
    for rows in (1, 2, 3, 4, 6, 7, 12):
        for turns in (1, 2, 4):
            sizes = {"N": rows, "M": 2, "T": turns}
            feeds = {"x": np.ones((rows, 2), np.float32), "t": np.ones(turns, np.float32), "p": np.array(0)}
            outputs = run(session, feeds)
            assert outputs is None or not result.check(sizes), sizes
            if outputs is not None:
                ran += 1
                assert not list(contradictions(result.types["y"], outputs[0], sizes)), (sizes, outputs[0].shape)
    assert ran > 1


def test_a_loop_may_carry_them() -> None:
    nodes = """s = SequenceEmpty() r = Loop(c, yes, s) <body = b (int64 i, bool go, seq(float[A, B]) v) =>
        (bool on, seq(float[C, D]) w) { on = Identity(go) w = SplitToSequence(x, k) }> y = SequenceAt(r, p)"""
    shape = infer(parsed(f"{HEAD} {nodes} }}")).shapes["y"]
    assert shape is not None
    assert str(shape[1]) == "M"


@pytest.mark.parametrize(
    ("inserted", "sequence", "first"),
    [
        ("N, 5", "seq(f32[N, 5]; 3)", "f32[N, 5]"),
        ("M, 5", "seq(f32[?, 5]; 3)", "f32[_d2, 5]"),
        ("N, 5, 1", "seq(f32[...]; 3)", "f32[...]"),
    ],
)
def test_a_loop_that_inserts_other_shapes_knows_what_they_share(inserted: str, sequence: str, first: str) -> None:
    graph = f"""g (float[N, 5] a, float[{inserted}] x) => (r, y) {{
        two = Constant<value_int=2>() zero = Constant<value_int=0>() yes = Constant<value = bool {{1}}>()
        s = SequenceConstruct(a)
        r = Loop(two, yes, s) <body = b (int64 i, bool go, seq(float[]) v) => (bool on, seq(float[]) w) {{
            on = Identity(go) w = SequenceInsert(v, x) }}>
        y = SequenceAt(r, zero) }}"""
    types = infer(parsed(graph)).types
    assert (str(types["r"]), str(types["y"])) == (sequence, first)


def test_an_assumption_may_leave_no_smaller_part() -> None:
    graph = "g (float[N] x) => (s) { four = Constant <value_int = 4> ()  s = SplitToSequence (x, four) }"
    assert str(infer(parsed(graph), assume=["N % 4 == 0"]).types["s"]) == "seq(f32[4]; N//4)"
    assert str(infer(parsed(graph)).types["s"]) == "seq(f32[?]; (N + 3)//4)"


def test_a_tensor_is_no_sequence_whatever_its_element_type() -> None:
    with pytest.raises(ShapeInferenceError, match=r"^the input is not a sequence: \?\[3\]"):
        infer_node("SequenceLength", [SymTensor(None, (3,))], {}, version=11)


def test_what_is_not_known_of_a_joined_axis() -> None:
    for sequence, why in ((Sequence(SymTensor(1, (2, 3))), "number of elements"),
                          (Sequence(SymTensor(1, (UNKNOWN_SIZE, 3)), 4), "size of each element")):  # fmt: skip
        (joined,) = infer_node("ConcatFromSequence", [sequence], {"axis": 0}, version=11)
        assert isinstance(joined, SymTensor)
        assert isinstance(joined.dims[0], Var)
        assert f"the {why} of the sequence is not known" in str(joined.dims[0].origin)


@pytest.mark.parametrize("count", [511, 512, 513])
def test_elements_of_joined_parts_are_known_up_to_1024(count: int) -> None:
    ints = ", ".join("7" for _ in range(count))
    found = infer(
        parsed(
            f"""g () => (y) {{ a = Constant<value_ints=[{ints}]>() s = SequenceConstruct(a, a)
            y = ConcatFromSequence<axis=0>(s) }}"""
        )
    ).types["y"]
    assert isinstance(found, SymTensor)
    assert found.shape == (2 * count,)
    assert found.data == ((7,) * 2 * count if count <= 512 else None)


@pytest.mark.parametrize(
    ("body", "first", "joined"),
    [
        ("o = Concat<axis=1>(e, e)", "f32[min(N, 3), 2*M]", "f32[N, 2*M]"),
        ("o = Concat<axis=0>(e, e, h)", "f32[K + 2*min(N, 3), M]", "f32[K*((N + 2)//3) + 2*N, M]"),
        ("o = Add(e, x)", None, None),  # the parts that broadcast are not known
        ("z = NonZero(e) o = Cast<to=1>(z)", "f32[2, _d]", "f32[2*((N + 2)//3), _d]"),
    ],
)
def test_a_body_for_each_part(body: str, first: str | None, joined: str | None) -> None:
    text = f"""g (float[N, M] x, float[K, M] h) => (y, f) {{ k = Constant<value_int=3>() i = Constant<value_int=0>()
        s = SplitToSequence(x, k) t = SequenceMap(s) <body = b (float[] e) => (float[] o) {{ {body} }}>
        y = ConcatFromSequence<axis=0>(t) f = SequenceAt(t, i) }}"""
    model = parsed(text)
    result = infer(model)
    if first is not None:
        assert [re.sub(r"_d\d+", "_d", str(result.types[name])) for name in "fy"] == [first, joined]
    for rows in (1, 2, 3, 4, 7):
        sizes = {"N": rows, "M": 2, "K": 2}
        outputs = run(session_of(model), {"x": np.ones((rows, 2), np.float32), "h": np.ones((2, 2), np.float32)})
        for name, made in zip("yf", outputs or (), strict=False):
            assert not list(contradictions(result.types[name], made, sizes)), (name, sizes)
