"""Elements of tensors that are too long to be propagated, at random. `runs/elements.txt` has what is foretold."""

from __future__ import annotations

import pickle
import random
from itertools import product

import pytest

from onnx_infer import infer
from onnx_infer.ops.selection import nonzero
from onnx_infer.testing import read_value
from onnx_infer.tools.report.plain_data import as_json
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import Var

from .sessions import counting, run, session_of
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

# (inputs, nodes, what the values of inputs decide: the inputs, and how many nodes)
DECIDED = [
    ("float[W, 2] t, int64[N] i", "y = Gather(t, i)", [(("i",), 1)]),
    ("float[W, 2] t, int64[N] i", "n = Neg(i) u = Unsqueeze(n, axis) y = GatherND(t, u)", [(("i",), 1)]),
    ("float[W, 2] t, int64[N] i, int64[N] j", "a = Add(i, j) y = Gather(t, a) z = Gather(t, i)",
        [(("i", "j"), 1), (("i",), 1)]),
    ("float[W, 2] t, int64[N] j, int64[N] i", "a = Add(i, j) c = Add(a, i) y = Gather(t, c) z = Gather(t, a)",
        [(("j", "i"), 2)]),
    ("float[W, 2] t, int64[N] i, int64[N] j", "y = Gather(t, i) c = Cast<to=7>(y) d = Add(j, c) z = Gather(t, d)",
        [(("i",), 1), (("t", "i", "j"), 1)]),
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
    found = nonzero(SymTensor(7, (n,), fill=1))
    assert isinstance(found, SymTensor)
    assert (found.shape, found.samples, found.progressions) == ((1, n), ((0, n - 1),), ((0, 1, n),))
