"""Sizes that are computed: a run refuses them below 0, or below 1, and the guards say so; nothing else is refused."""

from __future__ import annotations

import pytest

from onnx_infer import infer
from onnx_infer.laws.statements import Mode, Trace
from onnx_infer.ops.reshaping import reshaped
from symdim import Var

from .sessions import all_sizes, check_guards, counting, run, session_of, shape_at
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'
SIZES = tuple(range(1, 9))

# n is N - 3 in a vector, m is N - 3 as a scalar; x: (N, S)
GIVEN = """<int64[1] three = {3}, int64[1] one = {1}, int64[1] zero = {0}, int64[1] two = {2}, int64 hop = {1},
    int64[1] last = {-1}, int64 minus = {-2},
    int64[1] far = {9223372036854775807}, float[1] f = {1.0}, float[2] off_on = {0.0, 1.0}> {
    h = Shape<start=0, end=1>(x) s = Shape<start=1>(x) n = Sub(h, three) m = Squeeze(n) """

# (nodes, the guards)
REFUSED = [
    ("y = Expand(f, n)", ["N >= 3"]),
    ("t = Concat<axis=0>(one, n) r = Expand(f, n) y = Expand(r, t)", ["N >= 3"]),
    ("y = ConstantOfShape(n)", ["N >= 3"]),
    ("t = Concat<axis=0>(n, zero) y = ConstantOfShape(t)", ["N >= 3"]),
    ("t = Concat<axis=0>(n, one) y = Tile(x, t)", ["N >= 3"]),
    ("r = Sub(h, n) t = Concat<axis=0>(n, r) y, z = Split<axis=0>(x, t)", ["N >= 3"]),
    ("p = Sub(n, s) t = Concat<axis=0>(zero, p, zero, zero) y = Pad(x, t)", ["N >= 3"]),
    ("y, z = TopK(x, n)", ["N >= 3", "S + 3 >= N"]),
    ("i = Cast<to=7>(x) y = OneHot(i, n, off_on)", ["N >= 4"]),
    ("y = HannWindow(m)", ["N >= 3"]),
    ("u = Unsqueeze(x, last) y = DFT<axis=1>(u, m)", ["N >= 4"]),
    ("u = Unsqueeze(x, zero) t = Concat<axis=0>(one, n, two) y = Resize(u, , , t)", ["N >= 4"]),
    (
        "u = Unsqueeze(x, zero) t = Concat<axis=0>(one, n, two) c = Cast<to=1>(t) y = Resize(u, , c)",
        ["N >= 4", "S <= 16777216"],
    ),
    ("q = SplitToSequence<axis=1>(x) two_ = Constant<value_int=2>() y = SequenceAt(q, two_)", ["S >= 3"]),
    ("q = SplitToSequence<axis=1>(x) y = SequenceAt(q, minus)", ["S >= 2"]),
    ("q = SplitToSequence<axis=1>(x) r = SequenceErase(q, hop) y = ConcatFromSequence<axis=1>(r)", ["S >= 2"]),
    ("t = Concat<axis=0>(n, s) y = CenterCropPad(x, t) d = Shape<end=1>(y) z = Sub(d, one) v = Expand(f, z)",
        ["N >= 4"]),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "expected"), REFUSED)
def test_a_computed_size_that_a_run_refuses_is_a_guard(nodes: str, expected: list[str]) -> None:
    model = parsed(f"g (float[N, S] x) => (y) {GIVEN} {nodes} }}", HEAD)
    result = infer(model)
    assert not result.diagnostics
    assert list(map(str, result.guards)) == expected
    check_guards(model, result, SIZES)


def test_a_frame_has_an_element() -> None:
    nodes = "u = Unsqueeze(x, last) w = Expand(f, n) y = STFT(u, hop, w)"
    result = infer(parsed(f"g (float[N, S] x) => (y) {GIVEN} {nodes} }}", HEAD))
    assert list(map(str, result.guards)) == ["S + 3 >= N", "N >= 4"]  # an empty frame ends onnxruntime's process


# (nodes, the shape): sizes that are clamped
ACCEPTED = [
    ("t = Concat<axis=0>(n, s) y = CenterCropPad(x, t)", "(max(N, 3) - 3, S)"),
    ("y = Range(hop, m, hop)", "(max(N, 4) - 4,)"),
    ("k = Sub(h, one) y = Expand(f, k)", "(N - 1,)"),
    ("k = Sub(h, one) t = Concat<axis=0>(k, s) y = ConstantOfShape(t)", "(N - 1, S)"),
]


@pytest.mark.parametrize(("nodes", "shape"), ACCEPTED)
def test_a_size_that_is_clamped_or_not_negative_is_no_guard(nodes: str, shape: str) -> None:
    model = parsed(f"g (float[N, S] x) => (y) {GIVEN} {nodes} }}", HEAD)
    result, session = infer(model), session_of(model)
    assert (result.guards, str(result.shapes["y"])) == ([], shape)
    for bindings in all_sizes(result, SIZES):
        (y,) = run(session, counting(result, bindings)) or [None]
        assert y is not None
        assert y.shape == shape_at(result, "y", bindings), bindings


# (nodes, the shape): what the element count leaves beside S, for a target N - 3, 4*N - 12, ...
TARGETS = [
    ("a = Slice(x, three, far, zero) t = Concat<axis=0>(n, s) y = Reshape(a, t)", "(max(N, 3) - 3, S)"),
    ("a = Slice(x, three, far, zero) b = Concat<axis=0>(a, a) k = Add(n, n) t = Concat<axis=0>(k, s) "
        "y = Reshape(b, t)",
        "(2*N - 6, S)"),
    ("a = Slice(x, two, far, zero) t = Concat<axis=0>(n, s) y = Reshape(a, t)", "(N - 2, S)"),
    ("t = Concat<axis=0>(n, s) y = Reshape(x, t)", "(N, S)"),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "shape"), TARGETS)
def test_a_computed_target_is_what_the_element_count_leaves(nodes: str, shape: str) -> None:
    """A 0 copies a size and a -1 is the rest, so a run may go on there."""
    model = parsed(f"g (float[N, S] x) => (y) {GIVEN} {nodes} }}", HEAD)
    result, session = infer(model), session_of(model)
    assert str(result.shapes["y"]) == shape
    outcomes = set()
    for bindings in all_sizes(result, SIZES):
        fails = bool(result.check(bindings))
        outcomes.add(fails)
        made = run(session, counting(result, bindings))
        assert (made is None) is fails, bindings
        assert made is None or made[0].shape == shape_at(result, "y", bindings), bindings
    assert outcomes == {True, False}


# what is left after the axis is cut to at most 0, 1, 2, ... elements, in both axes
EMPTY = """g (float[N, S] x) => (y) <int64[2] least = {-2, -2}, int64[2] start = {0, 0}> {
    h = Shape(x) n = Add(h, least) e = Slice(x, start, n) p = Constant<value_ints=[PADS]>()
    y = Pad<mode="MODE">(e, p) }"""


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize(
    "pads", ["0, 1, 0, 0", "0, 1, 0, 2", "1, 0, 0, 1", "0, -1, 0, 0", "0, 2, 0, -1", "2, -1, -1, 0", "-1, 2, 0, -2"]
)
def test_pads_that_copy_elements_of_a_tensor_that_may_be_empty(mode: str, pads: str) -> None:
    model = parsed(EMPTY.replace("MODE", mode).replace("PADS", pads), HEAD)
    result, session = infer(model), session_of(model)
    refused = 0
    for bindings in all_sizes(result, SIZES):
        failing = [guard for guard in result.check(bindings) if guard.kind == "required"]
        ran = run(session, counting(result, bindings))
        refused += ran is None
        assert (ran is None) is bool(failing), (bindings, list(map(str, failing)))
        if ran is not None:
            assert ran[0].shape == shape_at(result, "y", bindings)
    assert refused


def test_of_two_sizes_of_a_target_one_is_minus_1() -> None:
    # the other one is then not -1, also where nothing is assumed; without `allowzero` it may still copy a size
    n = Var("N") - 5
    with Trace(Mode(is_cautious=True)):
        whole, *rest = reshaped((Var("A"), Var("B")), (n, -1), 1)
        assert whole is n
        assert len(rest) == 1
        assert n not in reshaped((Var("A"), Var("B")), (n, -1))
