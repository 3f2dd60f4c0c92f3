"""From traced sizes to free ones. A program makes a model for any sizes, with constants: the trace at some sizes.

The model that was traced at one size, freed, must give at other sizes what the trace at those sizes gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

from onnx_infer import ArgumentError, make_dynamic
from onnx_infer.tools.transforms.dynamic.meant_targets import meant_target, remember
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = '<ir_version: 8, opset_import: ["": 17]> '
SIZES = [(1, 8), (3, 4), (2, 12)]


def ints(*values: int) -> str:
    return ", ".join(map(str, values))


def attention(b: int, s: int) -> str:
    return f"""g (float[{b}, {s}, 6] x) => (y)
    <int64[4] split = {{{b}, {s}, 2, 3}}, int64[3] flat = {{{2 * b}, {s}, 3}}, int64[4] back = {{{b}, 2, {s}, 3}},
     int64[3] joined = {{{b}, {s}, 6}}> {{
        h = Reshape(x, split) t = Transpose<perm=[0, 2, 1, 3]>(h) f = Reshape(t, flat)
        k = Transpose<perm=[0, 2, 1]>(f) scores = MatMul(f, k) w = Softmax(scores) m = MatMul(w, f)
        u = Reshape(m, back) v = Transpose<perm=[0, 2, 1, 3]>(u) y = Reshape(v, joined) }}"""


def class_token(b: int, s: int) -> str:
    return f"""g (float[{b}, {s}, 2] x) => (y)
    <float[1, 1, 2] token = {{0.5, -2.0}}, int64[3] target = {{{b}, 1, 2}}, int64[3] whole = {{{b}, {s}, 2}}> {{
        c = Expand(token, target) j = Concat<axis=1>(c, x) e = Expand(x, whole) y = Concat<axis=1>(j, e) }}"""


def slices(b: int, s: int) -> str:
    return f"""g (float[{b}, {s}, 2] x, float[20, 2] table) => (y)
    <int64[1] zero = {{0}}, int64[1] end = {{{s}}}, int64[1] one = {{1}}> {{
        a = Slice(x, zero, end, one) p = Slice(table, zero, end) y = Add(a, p) }}"""


def masks(b: int, s: int) -> str:
    return f"""g (float[{b}, {s}] x) => (y, z)
    <int64[2] shape = {{{b}, {s}}}, float[1, {s}] mask = {{{ints(*[7] * s)}}}, int64 zero = {{0}}, int64 end = {{{s}}},
     int64 step = {{1}}, int64[2] repeats = {{1, {s}}}, float[{b}, 1] w = {{{ints(*[2] * b)}}}> {{
        o = ConstantOfShape<value = float[1] {{3.0}}>(shape) a = Add(x, o) m = Mul(a, mask)
        r = Range(zero, end, step) f = Cast<to=1>(r) y = Add(m, f) t = Tile(w, repeats) z = Add(x, t) }}"""


def indices(b: int, s: int) -> str:
    return f"""g (float[{b}, {s}] x, float[{b}, {s}, 20] data) => (y, z, w)
    <int64[1] all = {{-1}}, int64[{b}, {s}] places = {{{ints(*range(b * s))}}}, int32[{s}] at = {{{ints(*range(s))}}},
     int64[1, {s}, 1] odd = {{{ints(*range(3, 3 + 5 * s, 5))}}}> {{
        flat = Reshape(x, all) g = Gather(flat, places) y = Add(g, x)
        f = Cast<to=1>(at) z = Add(x, f) c = Cast<to=1>(odd) w = Add(data, c) }}"""


def pixels(b: int, s: int) -> str:
    return f"""g (float[{b}, 4, {s}, {s}] x) => (y)
    <int64[2] rows = {{{b * s * s}, 4}}, int64[4] back = {{{b}, {s}, {s}, 4}}, int64[3] tokens = {{{b}, {s * s}, 4}}> {{
        t = Transpose<perm=[0, 2, 3, 1]>(x) r = Reshape(t, rows) n = Neg(r) i = Reshape(n, back)
        y = Reshape(i, tokens) }}"""


def skip(b: int, s: int) -> str:
    return f"""g (float[{b}, 1, {s}, 4] x) => (y) <int64[4] sizes = {{{b}, 1, {s}, 4}}> {{
        d = AveragePool<kernel_shape=[2, 1], strides=[2, 1]>(x) u = Resize<mode="nearest">(d, , , sizes)
        y = Concat<axis=1>(u, x) }}"""


def groups(b: int, s: int) -> str:
    return f"""g (float[{b}, 4, {s}, {s}] x) => (y)
    <int64[3] split = {{{b}, 2, -1}}, int64[4] back = {{{b}, 4, {s}, {s}}}> {{
        r = Reshape(x, split) n = Neg(r) y = Reshape(n, back) }}"""


def recurrent(b: int, s: int) -> str:
    return f"""g (float[{s}, {b}, 1] x) => (y, last, end) <float[1, {b}, 1] start = {{{ints(*[0] * b)}}},
    float[1, {b}, 1] two = {{{ints(*[2] * b)}}},
    float[1, 3, 1] w = {{1, -1, 0.5}}, float[1, 3, 1] r = {{0.5, 1, -2}}> {{
        y = GRU<hidden_size=1>(x, w, r, , , start) , last = GRU<hidden_size=1>(x, w, r, , , two)
        , end = GRU<hidden_size=1>(x, r, w, , , two) }}"""


def sort(b: int, s: int) -> str:
    return f"""g (float[{b}, {s}] x) => (y, i) <int64[1] k = {{{s}}}> {{ y, i = TopK(x, k) }}"""


def gathered(b: int, s: int) -> str:
    return f"""g (float[{b}, {s}] x) => (y) <int64[1, 20] t = {{{ints(*range(20))}}}, int64[2] all = {{{b}, 20}}> {{
        e = Expand(t, all) c = Cast<to=7>(x) z = Sub(c, c) y = GatherElements<axis=1>(e, z) }}"""


def causal(b: int, s: int) -> str:
    square = ints(*(int(j > i) for _ in range(2) for i in range(s) for j in range(s)))
    lower = ints(*(int(j <= i) for i in range(s) for j in range(s)))
    wide = ints(*(int(j > i + 3) for i in range(s) for j in range(s + 3)))
    return f"""g (float[{b}, 2, {s}, {s}] x, float[{b}, {s}, {s}] z, float[{b}, 3, {s}] c) => (y, w, u, v)
    <float[1, 2, {s}, {s}] m = {{{square}}}, float[1, {s}, {s + 3}] n = {{{wide}}},
     bool[{s}, {s}] b = {{{lower}}}, float16[{s}, {s}] h = {{{lower}}}> {{
        y = Sub(x, m) j = Concat<axis=1>(c, z) t = Transpose<perm=[0, 2, 1]>(j) w = Mul(t, n)
        k = Cast<to=9>(z) u = And(k, b) q = Cast<to=10>(z) v = Add(q, h) }}"""


PROGRAMS: list[Callable[[int, int], str]] = [
    attention,
    class_token,
    slices,
    masks,
    indices,
    pixels,
    skip,
    groups,
    recurrent,
    sort,
    gathered,
    causal,
]
FREE: dict[str, dict[str, dict[int, str]]] = {
    "slices": {"x": {0: "batch", 1: "S"}}, "masks": {"x": {0: "batch", 1: "S"}},
    "indices": {"x": {0: "batch", 1: "S"}, "data": {0: "batch", 1: "S"}},
    "causal": {"x": {0: "batch", 2: "S", 3: "S"}, "z": {0: "batch", 1: "S", 2: "S"}, "c": {0: "batch", 2: "S"}},
    "groups": {"x": {0: "batch", 2: "H", 3: "W"}}, "recurrent": {"x": {0: "S", 1: "batch"}},
    "pixels": {"x": {0: "batch", 2: "H", 3: "W"}}, "skip": {"x": {0: "batch", 2: "H"}},
}  # fmt: skip


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)  # type: ignore[no-any-return]


def feeds_of(model: onnx.ModelProto) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


CASES = [(program, traced) for program in PROGRAMS for traced in SIZES if program is not indices or traced[0] != 1]
"""At a batch of 1 nothing tells an index of all elements from one of a row."""


@pytest.mark.parametrize("program, traced", CASES)
def test_a_freed_model_is_the_trace_at_every_size(program: Callable[[int, int], str], traced: tuple[int, int]) -> None:
    axes = FREE.get(program.__name__, {"x": {0: "batch", 1: "S"}})
    model = parsed(program(*traced))
    before = model.SerializeToString()
    made = make_dynamic(model, axes, apply=True)
    assert model.SerializeToString() == before
    assert made.is_free, made.pins
    onnx.checker.check_model(made.model, full_check=True)
    for size in SIZES:
        other = parsed(program(*size))
        feeds = feeds_of(other)
        for mine, theirs in zip(run(made.model, feeds), run(other, feeds), strict=True):
            assert np.array_equal(mine, theirs)


def test_without_apply_the_changes_are_proposals() -> None:
    model = parsed(attention(1, 8))
    made = make_dynamic(model, {"x": {0: "batch", 1: "S"}})
    assert list(made.model.graph.node) == list(model.graph.node)
    assert [str(change) for change in made.changes][:2] == [
        "Reshape 'h': operand 'split': 1 at index 0 becomes 0",
        "Reshape 'h': operand 'split': 8 at index 1 becomes 0",
    ]
    assert (made.pins, made.traced) == ([], {"batch": 1, "S": 8})
    assert [d.dim_param for d in made.model.graph.input[0].type.tensor_type.shape.dim][:2] == ["batch", "S"]


PINS = {
    "weights": (
        "g (float[1, 4, 8] x) => (y) { f = Flatten(x) w = Constant<value = float[32, 2] {1}>() y = MatMul(f, w) }",
        {1: "H"},
        "of shape [32, 2] has 32 at axis 0; it should have 8*H there",
    ),
    "positions": (
        "g (float[1, 3, 2] x) => (y) <float[1, 3, 2] p = {1, 2, 3, 4, 5, 7}> { y = Add(x, p) }",
        {1: "S"},
        "constant 'p' of shape [1, 3, 2] has 3 at axis 1; it should have S there",
    ),
    "a constant inside": (
        "g (float[3] x, bool c) => (y) { y = If<then_branch = t () => (u) <int64[1] s = {3}> { u = Reshape(x, s) },"
        " else_branch = e () => (v) { v = Neg(x) }>(c) }",
        {0: "N"},
        "Reshape 'u': the element counts; it runs only where 3 == N",
    ),
    "a constant in a function": (
        'g (float[3] x) => (y) { y = d.f(x) } <domain: "d", opset_import: ["": 17]>'
        " f (a) => (b) { s = Constant<value = int64[1] {3}>() b = Reshape(a, s) }",
        {0: "N"},
        "Reshape 'b': the element counts; it runs only where N == 3",
    ),
    "another input": (
        "g (float[1, 3] x, float[1, 3] z) => (y) { n = Neg(z) y = Add(x, n) }",
        {1: "S"},
        "input 'z' has 3 at axis 1; free it too: z:1=S",
    ),
    "several places": (
        "g (float[2, 6] x) => (y) <int64[3] t = {2, 2, 3}> { f = Flatten<axis=0>(x) y = Reshape(f, t) }",
        {0: "N"},
        "the target [2, 2, 3] has traced sizes, and several places could take the free ones",
    ),
    "two steps": (
        "g (float[2, 3] x) => (y) <int64[2, 1] t = {4, 9}> { c = Cast<to=1>(t) y = Add(x, c) }",
        {0: "N"},
        "constant 't' of shape [2, 1] has 2 at axis 0",
    ),
    "a step that is a traced size": (
        "g (float[3, 5] x) => (y) <int64[3, 1] t = {0, 5, 10}> { c = Cast<to=1>(t) y = Add(x, c) }",
        {0: "N", 1: "S"},
        "constant 't' of shape [3, 1] has 3 at axis 0",
    ),
    "an index at a batch of 1": (indices(1, 8), {0: "batch", 1: "S"}, "constant indices ['1', 'S'] go over an axis"),
    "an operator that is not followed": (
        "g (float[1, 3] x, float[1, 5] q) => (y) <bool[3] c = {1, 1, 1}> { t = Compress<axis=1>(q, c) y = Add(x, t) }",
        {1: "S"},
        "it should be S",
    ),
}


@pytest.mark.parametrize("name", PINS)
def test_what_no_change_frees_is_a_pin(name: str) -> None:
    text, axes, said = PINS[name]
    made = make_dynamic(parsed(text), {"x": axes}, apply=True)
    assert not made.is_free
    assert any(said in str(pin) for pin in made.pins), [str(pin) for pin in made.pins]


def test_a_guard_of_the_changed_model_is_a_pin() -> None:
    made = make_dynamic(
        parsed("g (float[1, 3] x, float[3, 3] w) => (y) { y = Gemm(x, w) }"), {"x": {1: "S"}}, apply=True
    )
    assert [str(pin) for pin in made.pins] == [
        "input 'w' has 3 at axis 0; free it too: w:0=S",
        "Gemm 'y': inner sizes of the product; it runs only where S == 3",
    ]


def test_old_opsets_and_ir_versions() -> None:
    model = parsed(
        "g (float[2, 3] x) => (y) <float[2, 1] m = {4, 4}, int64[2] s = {2, 3}> { a = Reshape(x, s) y = Add(a, m) }"
    )
    model.ir_version, model.opset_import[0].version = 3, 9
    for tensor in model.graph.initializer:
        model.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    made = make_dynamic(model, {"x": {0: "N"}}, apply=True)
    (pin,) = made.pins
    assert pin.cure == "cannot be written: Slice has the inputs that are needed from opset 10 on, not in 9"
    model.opset_import[0].version = 12
    made = make_dynamic(model, {"x": {0: "N"}}, apply=True)
    assert made.is_free
    onnx.checker.check_model(made.model, full_check=True)
    assert np.array_equal(run(made.model, {"x": np.ones((5, 3), np.float32)})[0], np.full((5, 3), 5, np.float32))


def test_stale_types_go_in_inner_graphs_too() -> None:
    text = """g (float[2] x, bool c) => (float[2] y) { y = If<then_branch = t () => (float[2] u) { u = Neg(x) },
        else_branch = e () => (float[2] v) { w = Abs(x) v = Add(w, x) }>(c) }"""
    made = make_dynamic(parsed(text), {"x": {0: "N"}}, apply=True)
    assert made.is_free
    assert str(made.result.types["y"]) == "f32[N]"
    assert not any("\0" in name for name in made.result.types)
    run(made.model, {"x": np.ones(5, np.float32), "c": np.array(True)})


@pytest.mark.parametrize(
    "axes, said",
    [
        ({}, "no axis is to be freed"),
        ({"z": {0: "N"}}, "the model has no input 'z'; its inputs are 'x'"),
        ({"x": {3: "N"}}, "input 'x' has 2 axes, so no axis 3"),
        ({"x": {0: "N", 1: "N"}}, "'N' would be both 3 and 4"),
        ({"x": {0: "2*N"}}, "'2*N' is not a symbol name"),
    ],
)
def test_what_cannot_be_freed(axes: dict[str, dict[int, str]], said: str) -> None:
    with pytest.raises(ArgumentError, match=said.replace("*", r"\*")):
        make_dynamic(parsed("g (float[3, 4] x) => (y) { y = Neg(x) }"), axes)


def test_only_a_message_is_freed() -> None:
    with pytest.raises(TypeError, match="ModelProto"):
        make_dynamic("model.onnx", {"x": {0: "N"}})  # type: ignore[arg-type]


def test_an_axis_without_a_number() -> None:
    with pytest.raises(ArgumentError, match="axis 0 of input 'x' has no number"):
        make_dynamic(parsed("g (float[M] x) => (y) { y = Neg(x) }"), {"x": {0: "N"}})


def test_a_size_that_is_merged_with_itself() -> None:
    merged: dict[Any, Any] = {}
    N = Var("N")
    remember(merged, (N, N), (N * N,), {N: 4})
    remember(merged, (N * N, 2), (N, 2 * N), {N: 4})
    remember(merged, (N, 3), (4 * N,), {N: 4})  # the numbers of elements differ
    assert merged == {N * N: (N, N), 2 * N: (N, 2)}


@pytest.mark.parametrize(
    "operand, target, meant",
    [
        ("N, S, 768", (1, 8, 768), "N, S, 768"),
        ("12*N, S", (1, 12, 8), "N, 12, S"),
        ("N, 12, S", (12, 8), "12*N, S"),
        ("N, S, 6", (8, 6), "N*S, 6"),
        ("S, 6", (16, 3), "2*S, 3"),
        ("N, S*S", (1, 8, 8), "N, S, S"),
        ("N, N", (1, 1, 1), None),
        ("N, 6", (1, 2, 3), "N, 2, 3"),
        ("N, S", (0, 8), None),
        ("S + 1, 6", (9, 2, 3), "S + 1, 2, 3"),
        ("N, S", (3, 8), None),
        ("N", (), None),
        ("N*A*B*C*D*E*F", (1, 1, 1, 1, 1), None),
    ],
)
def test_meant_targets(operand: str, target: tuple[int, ...], meant: str | None) -> None:
    from symdim import Shape

    sizes = tuple(Shape(operand.split(", ")))
    found = meant_target(sizes, target, {Var("S"): 8, **{Var(name): 1 for name in "NABCDEF"}})
    assert found == (None if meant is None else tuple(Shape(meant.split(", "))))


def test_a_target_that_the_model_computes_stays() -> None:
    text = """g (float[2, 16] x) => (y) <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2},
        int64[1] rest = {-1}, int64[1] four = {4}> { s = Shape(x) b = Slice(s, zero, one) h = Slice(s, one, two)
        q = Div(h, four) t = Concat<axis=0>(b, q, rest) y = Reshape<allowzero=1>(x, t) }"""
    made = make_dynamic(parsed(text), {"x": {0: "N", 1: "S"}}, apply=True)
    assert (made.changes, made.pins, made.model.graph.node) == ([], [], parsed(text).graph.node)
