"""Elements of tensors that are too long to be propagated: what a run refuses for them is foretold, and nothing else."""

from __future__ import annotations

import pickle
import random
from itertools import product

import numpy as np
import pytest

from onnx_infer import infer
from onnx_infer.ops.selection import nonzero
from onnx_infer.testing import read_value
from onnx_infer.tools.report.plain_data import as_json
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import Var

from .sessions import check_guards, counting, run, session_of
from .test_guards import texts
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>'
SIZES = (1, 2, 3, 4, 5, 6)

# from x of shape (N, S) the numbers N and S, and the ranges r = 0, ..., S - 1 and b = 0, ..., N - 1
RANGES = """<int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] second = {1}, int64[1] last = {-1}> {
    s = Shape<start=1>(x)
    n = Shape<start=0, end=1>(x)
    s_ = Squeeze(s)
    n_ = Squeeze(n)
    r = Range(zero, s_, one)
    b = Range(zero, n_, one)
"""

# (inputs beside x, nodes, the guards)
REFUSED = [
    ("float[4, 2] t", "y = Gather(t, r)", ["Gather y: S <= 4"]),
    ("float[4, 2] t", "two = Add(one, one) p = Add(r, two) y = Gather(t, p)", ["Gather y: S <= 2"]),
    ("float[4, 2] t", "p = Neg(r) y = Gather(t, p)", ["Gather y: S <= 5"]),
    ("float[4, 2] t", "p = Cast<to=6>(r) q = Unsqueeze(p, first) y = Gather(t, q)", ["Gather y: S <= 4"]),
    ("float[4, 2] t", "h = Shape(x) e = Expand(r, h) q = Transpose(e) y = Gather(t, q)", ["Gather y: S <= 4"]),
    ("float[4, 2] t", "d = Add(n_, s_) q = Range(n_, d, one) y = Gather(t, q)", ["Gather y: N + S <= 4"]),
    ("float[4, 2] t", "d = Sub(n_, one) m = Neg(one) q = Range(d, m, m) y = Gather(t, q)", ["Gather y: N <= 4"]),
    ("float[4, 2] t", "e = Expand(s, n) y = Gather(t, e)", ["Gather y: S <= 3"]),
    ("float[4, 2] t", "f = ConstantOfShape<value=int64[1] {1}>(s) z = NonZero(f) y = Gather(t, z)",
        ["Gather y: S <= 4"]),
    ("float[4, 2] t", "big = Constant<value_ints=[9223372036854775807]>() q = Slice(r, first, big) y = Gather(t, q)",
        ["Gather y: S <= 4"]),
    ("float[4, 2] t", "f = ConstantOfShape<value=int64[1] {1}>(s) q = CumSum(f, zero) y = Gather(t, q)",
        ["Gather y: S <= 3"]),
    ("float[4, 2] t", "q = Concat<axis=0>(r, b) y = Gather(t, q)", ["Gather y: S <= 4", "Gather y: N <= 4"]),
    ("float[4, 2] t", "c = Unsqueeze(b, second) q = Add(r, c) y = Gather(t, q)", ["Gather y: N + S <= 5"]),
    ("float[4, 2] t", "c = Unsqueeze(b, second) q = Sub(c, r) y = Gather(t, q)",
        ["Gather y: N <= 4", "Gather y: S <= 5"]),
    ("float[M, P] t", "h = Shape<start=1>(t) p = Squeeze(h) c = Mul(b, p) d = Unsqueeze(c, second) q = Add(r, d) "
        "f = Reshape(t, last) g = Shape<end=1>(t) w = Slice(t, first, n) v = Reshape(w, last) y = Gather(v, q)", None),
    ("float[N, P] t", "h = Shape<start=1>(t) p = Squeeze(h) c = Mul(b, p) d = Unsqueeze(c, second) q = Add(r, d) "
        "f = Reshape(t, last) y = Gather(f, q)", ["Gather y: P >= S"]),
    ("float[M, P] t", "h = Shape(x) c = Unsqueeze(b, second) d = Expand(c, h) e = Expand(r, h) "
        "f = Unsqueeze(d, last) g = Unsqueeze(e, last) q = Concat<axis=-1>(f, g) y = GatherND(t, q)",
        ["GatherND y: M >= N", "GatherND y: P >= S"]),
    ("float[N, P] t", "h = Shape(x) q = Expand(r, h) y = GatherElements<axis=1>(t, q)", ["GatherElements y: P >= S"]),
    ("float[N, P] t", "h = Shape(x) q = Expand(r, h) y = ScatterElements<axis=1>(t, q, x)",
        ["ScatterElements y: P >= S"]),
    ("float[4, N] t", "q = Unsqueeze(r, last) u = Transpose(x) y = ScatterND(t, q, u)", ["ScatterND y: S <= 4"]),
    ("", "p = Constant<value_ints=[0, 2, 0, 1]>() y = Pad<mode=\"reflect\">(x, p)", ["Pad y: S >= 3"]),
    ("", "z = Constant<value_ints=[0]>() p = Concat<axis=0>(z, n, z, z) y = Pad<mode=\"reflect\">(x, p)",
        ["Pad y: S >= N + 1"]),
    ("", "p = Constant<value_ints=[0, -2, 0, 1]>() y = Pad<mode=\"edge\">(x, p)", ["Pad y: S >= 3"]),
    ("float[3, 4] w, float[P, 4] t, float[4] g", "c = Cast<to=6>(x) z = Sub(c, c) "
        "y, i = com.microsoft.EmbedLayerNormalization(z, , w, t, , g, g)", None),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "nodes", "expected"), REFUSED)
def test_the_model_runs_exactly_where_all_guards_hold(inputs: str, nodes: str, expected: list[str] | None) -> None:
    given = f"float[N, S] x{', ' if inputs else ''}{inputs}"
    model = parsed(f"g ({given}) => (y) {RANGES} {nodes} }}", HEAD)
    result = infer(model)
    assert not result.diagnostics
    if expected is not None:
        assert texts(result) == expected
    check_guards(model, result, SIZES)


# nodes that look like one of those above: nothing is known of the largest index
SILENT = [
    "two = Constant<value_ints=[2]>() q = Slice(r, first, two) y = Gather(t, q)",
    "q = Slice(r, second, n) y = Gather(t, q)",
    "d = Sub(s_, one) e = Sub(d, r) q = Mul(e, r) y = Gather(t, q)",
    "c = Cast<to=7>(x) q = ReduceSum(c, last) y = Gather(t, q)",
    "a = Abs(r) k = Mod(a, one) y = Gather(t, k)",
]


@pytest.mark.parametrize("nodes", SILENT)
def test_of_a_part_of_the_elements_nothing_is_foretold(nodes: str) -> None:
    assert infer(parsed(f"g (float[N, S] x, float[4, 2] t) => (y) {RANGES} {nodes} }}", HEAD)).guards == []


# (inputs, nodes, what the values of inputs decide: the inputs, and how many nodes)
DECIDED = [
    ("float[W, 2] t, int64[N] i", "y = Gather(t, i)", [(("i",), 1)]),
    ("float[W, 2] t, int64[N] i", "n = Neg(i) u = Unsqueeze(n, axis) y = GatherND(t, u)", [(("i",), 1)]),
    ("float[W, 2] t, int64[N] i, int64[N] j", "a = Add(i, j) y = Gather(t, a) z = Gather(t, i)",
        [(("i", "j"), 1), (("i",), 1)]),
    ("float[W, 2] t, int64[N] j, int64[N] i", "a = Add(i, j) c = Add(a, i) y = Gather(t, c) z = Gather(t, a)",
        [(("i", "j"), 2)]),
    ("float[W, 2] t, int64[N] i, int64[N] j", "y = Gather(t, i) c = Cast<to=7>(y) d = Add(j, c) z = Gather(t, d)",
        [(("i",), 1), (("j", "t", "i"), 1)]),
    ("float[W, 2] t, int64[N] i", "y = Gather(t, i) z = Gather(t, i)", [(("i",), 2)]),
    ("float[W, 2] t, int64[N] i", "s = Shape(i) y = Gather(t, s)", []),
    ("float[W, 2] t, float[N] x", "i = ArgMax(x) y = Gather(t, i)", []),
    ("float[W, 2] t, int64[N] i", "z = Sub(i, i) y = Gather(t, axis)", []),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "nodes", "expected"), DECIDED)
def test_where_elements_of_inputs_decide_the_result_names_them(
    inputs: str, nodes: str, expected: list[tuple[tuple[str, ...], int]]
) -> None:
    result = infer(parsed(f"g ({inputs}) => (y) <int64[1] axis = {{1}}> {{ {nodes} }}", HEAD))
    assert [(law.inputs, len(law.origins)) for law in result.data_laws] == expected
    assert pickle.loads(pickle.dumps(result)).data_laws == result.data_laws
    assert [law["inputs"] for law in as_json(result)["data_laws"]] == [list(names) for names, _ in expected]
    assert ("also fails at run time if indices are out of bounds" in result.table()) is bool(expected)


def attention(seed_of_caches: str) -> str:
    return f"""g (float[B, S, 32] q, float[B, S, 16] k, float[B, S, 16] v, float[B, 2, P, {seed_of_caches}] c,
        float[B, T] m) => (y, d, e) <int64[1] axis = {{1}}, float zero = {{0.0}}> {{
        h = Shape<start=1>(m)
        i = Squeeze(h)
        total = Cast<to=6>(i)
        ones = Shape<start=0, end=1>(m)
        less = Sub(h, axis)
        w = Cast<to=6>(less)
        lengths = Expand(w, ones)
        y, d, e = com.microsoft.GroupQueryAttention<num_heads=4, kv_num_heads=2>(q, k, v, c, c, lengths, total)
    }}"""


def test_grouped_attention_has_room_in_the_past() -> None:
    model = parsed(attention("D"), HEAD)
    result = infer(model)
    assert "GroupQueryAttention y: D == 8" in [text.replace("com.microsoft::", "") for text in texts(result)]
    model = parsed(attention("8"), HEAD)
    result, session = infer(model), session_of(model)
    for batch, length, past, total in product((1, 2), (1, 2, 3), (1, 2, 4), (1, 2, 3, 4, 5, 6)):
        sizes = {"B": batch, "S": length, "P": past, "T": total}
        assert (run(session, counting(result, sizes)) is None) is bool(result.check(sizes)), sizes


# -- positions behind an unknown one -----------------------------------------------------------------------------------

# from x of shape (N, S) and the integers p and q, of which only a run knows the values
BEHIND = [
    ("e = Add(p, s) y = Range(p, e, one)", "i64[S]"),
    ("e = Add(p, s) f = Sub(e, one) g = Sub(p, one) m = Neg(one) y = Range(f, g, m)", "i64[S]"),
    ("ten = Mul(one, two) e = Add(ten, p) y = Range(p, e, one)", "i64[2]"),
    ("t = Mul(s, two) e = Add(p, t) y = Range(p, e, two)", "i64[S]"),
    ("a = Squeeze(q) b = Cast<to=7>(a) e = Add(s, b) y = Range(b, e, one)", "i64[S]"),
    ("e = Sub(p, s) y = Range(p, e, one)", "i64[0]={}"),
    ("e = Add(p, p) y = Range(p, e, one)", "i64[_d0]"),
    ("a = Squeeze(q) b = Cast<to=7>(a) e = Add(s, b) y = Range(p, e, one)", "i64[_d0]"),
    ("y = Range(p, s, one)", "i64[_d0]"),
]


@pytest.mark.parametrize(("nodes", "expected"), BEHIND)
def test_a_range_from_an_unknown_element_on(nodes: str, expected: str) -> None:
    head = """<int64 one = {1}, int64 two = {2}> { h = Shape<start=1>(x) s = Squeeze(h)"""
    model = parsed(f"g (float[N, S] x, int64 p, int32[1] q) => (y) {head} {nodes} }}", HEAD)
    result = infer(model)
    assert not result.diagnostics
    assert str(result.types["y"]).partition("=")[0] == expected.partition("=")[0]
    session = session_of(model)
    for s, p in product((1, 2, 5), (0, 1, 7, -3)):
        feeds = {"x": np.zeros((2, s), np.float32), "p": np.array(p, np.int64), "q": np.array([p + 4], np.int32)}
        found = session.run(None, {k: v for k, v in feeds.items() if k in {i.name for i in session.get_inputs()}})[0]
        (size,) = result.shapes["y"] or ()
        if "_d0" not in expected:
            assert len(found) == (size if isinstance(size, int) else size.to_int({"S": s}))


# -- at random ---------------------------------------------------------------------------------------------------------

STEPS = [
    "{o} = Add({i}, one)", "{o} = Sub({i}, one)", "{o} = Sub(s_, {i})", "{o} = Mul({i}, two)", "{o} = Div({i}, two)",
    "{o} = Neg({i})", "{o} = Abs({i})", "{o} = Add({i}, n_)", "{o} = Cast<to=6>({i})  {o}c = Cast<to=7>({o})",
    "{o} = Unsqueeze({i}, last)", "{o} = Unsqueeze({i}, first)", "{o} = Add({i}, b)", "{o} = Mul({i}, r)",
    "{o} = Add({i}, {i})", "{o} = Reshape({i}, last)", "{o} = Clip({i}, one, s_)", "{o} = Min({i}, two)",
    "{o}c = Reshape({i}, last) {o} = Slice({o}c, second, last)", "{o}c = Less({i}, two) {o} = Where({o}c, {i}, one)",
    "{o}c = Reshape({i}, last) {o} = Concat<axis=0>({o}c, b)", "{o} = Transpose({i})", "{o} = Mod({i}, s_)",
    "{o}c = Reshape({i}, last) {o} = CumSum({o}c, zero)", "{o}c = Reshape({i}, last) {o} = Expand({o}c, both)",
    "{o}c = Unsqueeze({i}, last) {o} = Concat<axis=-1>({o}c, {o}c)", "{o}c = Equal({i}, {i}) {o} = NonZero({o}c)",
    "{o}c = Reshape({i}, last) {o}d = Slice({o}c, last, back, first, last) {o} = Add({o}d, one)",
]  # fmt: skip


def random_model(rng: random.Random) -> str:
    nodes = ["two = Add(one, one) h = Shape(x) m = Unsqueeze(two, first) both = Concat<axis=0>(m, last) "
             "back = Constant<value_ints=[-2147483648]>()"]  # fmt: skip
    value = rng.choice("rb")
    for i in range(rng.randint(1, 4)):
        step = rng.choice(STEPS).replace("both", "s")
        nodes.append(step.format(i=value, o=f"v{i}"))
        value = f"v{i}c" if step.endswith("Cast<to=7>({o})") else f"v{i}"
    nodes.append(f"y = Gather(t, {value})")
    return f"g (float[N, S] x, float[{rng.randint(2, 6)}, 2] t) => (y) {RANGES} {' '.join(nodes)} }}"


def test_random_indices_are_refused_where_that_is_foretold() -> None:
    rng, foretold, refused = random.Random(5), 0, 0
    for _ in range(60):
        text = random_model(rng)
        model = parsed(text, HEAD)
        result, session = infer(model), session_of(model)
        for n, s in ((1, 1), (1, 3), (2, 2), (3, 3), (2, 5), (5, 2), (6, 6)):
            fails = bool(result.check({"N": n, "S": s}))
            ran = run(session, counting(result, {"N": n, "S": s})) is not None
            assert not (fails and ran), (text, n, s, [str(g) for g in result.guards])
            refused, foretold = refused + (not ran), foretold + (fails and not ran)
    assert foretold > refused // 3, (foretold, refused)


def test_positions_that_count_tokens_are_in_bounds_of_a_long_table() -> None:
    """With fewer tokens than positions a longer input may run, too: that is what the input decides."""
    model = parsed(
        """g (int64[N, S] ids, float[9, 2] t) => (y) {
        pad = Constant<value_int=1>() one = Constant<value=int32[1] {1}>() axis = Constant<value_int=1>()
        is_pad = Equal(ids, pad) keep = Not(is_pad) m = Cast<to=6>(keep) c = CumSum(m, axis) k = Mul(c, m)
        p = Cast<to=7>(k) at = Add(p, pad) y = Gather(t, at) }""",
        HEAD,
    )
    result, session = infer(model), session_of(model)
    assert list(map(str, result.data_laws)) == [
        "input 'ids' decides: index out of bounds, as it is where S <= 7 (Gather 'y')"
    ]
    table = np.zeros((9, 2), np.float32)
    for length in (1, 6, 7, 8, 12):
        full = run(session, {"ids": np.zeros((2, length), np.int64), "t": table})
        assert (full is None) is (length > 7)
        assert run(session, {"ids": np.ones((2, length), np.int64), "t": table}) is not None
    assert infer(model, bounds={"S": (1, 7)}).data_laws == []


FRAMES = """g (float[L] x) => (y) {
    zero = Constant<value_int=0>() one = Constant<value_int=1>() step = Constant<value_int=4>()
    width = Constant<value_int=8>() first = Constant<value_ints=[0]>() rows = Constant<value_ints=[-1, 4]>()
    last = Constant<value_ints=[1]>() s = Shape(x) n = Squeeze(s) room = Sub(n, width) q = Div(room, step)
    more = Add(q, one) count = Max(zero, more) r = Range(zero, count, one) column = Unsqueeze(r, last)
    at = Add(column, pair) parts = Div(n, step) used = Mul(parts, step) end = Unsqueeze(used, first)
    kept = Slice(x, first, end) cut = Reshape(kept, rows) y = Gather(cut, at) }"""


def test_a_signal_shorter_than_one_frame() -> None:
    """Truncation gives one frame for lengths from 5 to 7, and its second half is missing. Up to 4 there is no frame."""
    model = parsed(FRAMES.replace("=> (y)", "=> (y) <int64[1, 2] pair = {0, 1}>"), HEAD)
    result, session = infer(model), session_of(model)
    assert [(str(guard), guard.kind) for guard in result.guards] == [("L >= 8", "assumed")]
    for length in (*range(1, 14), 31, 32):
        sizes = {"L": length}
        refused = any(violation.kind == "required" for violation in result.check(sizes))
        assert (run(session, counting(result, sizes)) is None) is refused is (5 <= length <= 7), length


# -- tensors -----------------------------------------------------------------------------------------------------------


def test_samples_belong_to_the_identity_of_a_tensor() -> None:
    s = Var("S")
    plain, known = SymTensor(7, (s,)), SymTensor(7, (s,), samples=((0, s - 1),))
    assert plain is not known
    assert SymTensor(7, (s,), samples=((0, s - 1),)) is known
    assert known.without_data() is plain
    assert substitute(known, {s: 5}) is SymTensor(7, (5,), samples=((0, 4),))
    assert read_value("i64[S]") is plain


def test_positions_of_ones_are_the_numbers_from_0_on() -> None:
    n = Var("N")
    assert nonzero(SymTensor(7, (n,), fill=1)) is SymTensor(7, (1, n), samples=((0, n - 1),))
