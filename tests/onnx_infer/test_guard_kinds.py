"""The kinds of guards: required, assumed, and what follows from both."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import onnx
import pytest
from onnxruntime import InferenceSession

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.result import InferenceResult
from symdim import Var

from .sessions import all_sizes, counting, run, session_of, shape_at
from .test_guards import texts, with_dims
from .texts import parsed

N, M, K = Var("N"), Var("M"), Var("K")


def kinds(result: InferenceResult) -> list[str]:
    return [f"{guard.kind} {guard}" for guard in result.guards]


def outcome(session: InferenceSession, result: InferenceResult, sizes: dict[str, int]) -> str:
    """Whether onnxruntime runs the model at these sizes, and has the sizes inferred."""
    values = run(session, counting(result, sizes))
    if values is None:
        return "refused"
    right = [y.shape for y in values] == [shape_at(result, name, sizes) for name in result.outputs]
    return "as inferred" if right else "other sizes"


# (the graph, the sizes that its symbols take, the guards with their kinds, the outcomes met)
KINDS = [
    (
        "g (float[1, 1, H] x) => (y) { y = MaxPool<kernel_shape=[3], strides=[2]>(x) }",
        (1, 2, 3, 4),
        ["assumed H >= 3"],
        {"as inferred", "other sizes"},
    ),
    (  # a convolution behind the pool: the size of the pool is not the one inferred, and may still be too small for it
        """g (float[1, 1, H] x, float[1, 1, 1] w, float[1, 1, 3] v) => (y) {
            h = Conv(x, w) p = AveragePool<kernel_shape=[5], strides=[3]>(h) y = Conv<pads=[1, 1]>(p, v)
        }""",
        (1, 2, 3, 4, 5, 8),
        ["assumed H >= 5"],
        {"as inferred", "other sizes", "refused"},
    ),
    (  # two pools, each of which may have other sizes
        """g (float[1, 1, H] x, float[1, 1, 2] w) => (y) {
            p = MaxPool<kernel_shape=[3], strides=[2]>(x) q = MaxPool<kernel_shape=[3], strides=[2]>(p)
            y = Conv<pads=[0, 1]>(q, w)
        }""",
        (1, 2, 3, 4, 5, 6, 7, 8),
        ["assumed H >= 7"],
        {"as inferred", "other sizes", "refused"},
    ),
    (  # as in a network of skip connections
        """g (float[1, 1, H] x) => (y) <float[3] twice = {1.0, 1.0, 2.0}> {
            p = MaxPool<kernel_shape=[2], strides=[2]>(x) q = MaxPool<kernel_shape=[2], strides=[2]>(p)
            u = Resize<mode="nearest">(q, , twice) y = Concat<axis=1>(p, u)
        }""",
        (1, 2, 3, 4, 5, 6, 7, 8),
        None,
        {"as inferred", "refused"},
    ),
    (
        "g (float[N, A] a, float[half, B] b) => (y) { y = Concat<axis=0>(a, b) }",
        (1, 2, 3),
        ["assumed A == B"],
        {"as inferred", "refused"},
    ),
    (
        "g (float[half, A] a, float[N, 3] b, float[M, C] c) => (y) { y = Concat<axis=0>(a, b, c) }",
        (1, 2, 3),
        ["required C == 3", "assumed A == 3"],
        {"as inferred", "refused"},
    ),
    (
        """g (float[half, A] a, float[N, B] b) => (y) {
            q = SequenceConstruct(a, b) y = ConcatFromSequence<axis=0>(q)
        }""",
        (1, 2, 3),
        ["assumed B == A"],
        {"as inferred", "refused"},
    ),
]


@pytest.mark.parametrize(("graph", "sizes", "expected", "met"), KINDS)
def test_where_no_required_guard_fails_the_model_runs_and_where_none_fails_sizes_are_right(
    graph: str, sizes: tuple[int, ...], expected: list[str] | None, met: set[str]
) -> None:
    model = with_dims(parsed(graph, '<ir_version: 8, opset_import: ["": 18]>'), half="N//2")
    result = infer(model)
    assert expected is None or sorted(kinds(result)) == sorted(expected)
    session, outcomes = session_of(model), set()
    for bindings in all_sizes(result, sizes):
        failing = {violation.kind for violation in result.check(bindings)}
        found = outcome(session, result, bindings)
        outcomes.add(found)
        assert found == "refused" if "required" in failing else failing or found == "as inferred", bindings
    assert outcomes == met


@pytest.mark.parametrize(("opset", "kind"), [(24, "required"), (25, "assumed")])
def test_attention_is_run_by_a_function_that_broadcasts_since_version_25(opset: int, kind: str) -> None:
    graph = "g (float[B, 2, S, 4] q, float[C, 2, T, 4] k, float[D, 2, U, 4] v) => (y) { y = Attention(q, k, v) }"
    model = parsed(graph, f'<ir_version: 10, opset_import: ["": {opset}]>')
    result, session = infer(model), session_of(model)
    assert kinds(result) == [f"{kind} {law}" for law in ("B == C", "B == D", "T == U")]
    for sizes in all_sizes(result, (1, 2)):
        found = outcome(session, result, sizes)
        fails = result.check(sizes)
        assert found == "as inferred" if not fails else found == "refused" or kind == "assumed", sizes


def test_a_computed_element_of_a_target_is_assumed_to_be_a_size() -> None:
    """A 0 in the target copies a size: 5 rows are reshaped to 5 rows."""
    graph = """g (float[N, 6] x) => (y) <
        int64[1] five = {5}, int64[1] rest = {-1}, int64[1] none = {0}, int64[1] one = {1}
    > {
        s = Shape(x) n = Slice(s, none, one) d = Sub(n, five) t = Concat<axis=0>(d, rest) y = Reshape(x, t)
    }"""
    model = parsed(graph, '<ir_version: 8, opset_import: ["": 18]>')
    result = infer(model)
    assert kinds(result) == ["required N >= 4", "assumed N >= 6", "assumed 6*N % (N - 5) == 0"]
    session = session_of(model)
    assert [y.shape for y in run(session, counting(result, {"N": 5})) or ()] == [(5, 6)]
    for n in (1, 3, 4, 6, 7, 8):
        assert outcome(session, result, {"N": n}) == ("refused" if n < 5 else "as inferred")


def test_elements_of_a_target_that_no_size_can_be_are_not_taken_for_sizes() -> None:
    graph = """g (float[L] x) => (t, y) <int64 eight = {8}, int64 four = {4}, int64[1] none = {0}> {
        s = Shape(x) q = Div(s, four) n = Neg(q) p = Neg(s) t = Concat<axis=0>(n, none) y = Reshape(t, n)
    }"""
    result = infer(parsed(graph))
    assert kinds(result) == ["required L <= 7"]
    assert result.shapes["y"] == (2,)


def test_a_sum_with_an_empty_result_is_not_refused() -> None:
    graph = """g (float[N, 3, 8, 8] x, float[4, 3, 1, 1] w, float[1, 4, 8, 8] z) => (y) {
        y = com.microsoft.FusedConv(x, w, , z)
    }"""
    model = parsed(graph, '<ir_version: 8, opset_import: ["": 18, "com.microsoft": 1]>')
    result = infer(model, min_dim=0)
    assert kinds(result) == ["assumed N == 1"]
    assert kinds(infer(model)) == ["required N == 1"]
    session = session_of(model)
    assert [outcome(session, result, {"N": n}) for n in (0, 1, 2)] == ["other sizes", "as inferred", "refused"]


def test_parameters_of_an_empty_product_are_not_read() -> None:
    graph = "g (uint8[N, 4] a, uint8[4, 3] b, uint8[M] z) => (y) { y = MatMulInteger(a, b, , z) }"
    model = parsed(graph, '<ir_version: 8, opset_import: ["": 18]>')
    assert texts(infer(model)) == ["MatMulInteger y: M in (3, 1)"]
    assert texts(infer(model, min_dim=0)) == []


def test_a_required_guard_behind_an_assumed_one_is_assumed() -> None:
    graph = """g (float[1, 1, H] x, float[1, 1, 4] w) => (y) {
        p = MaxPool<kernel_shape=[3], strides=[2]>(x) y = Conv(p, w)
    }"""
    result = infer(parsed(graph, '<ir_version: 8, opset_import: ["": 18]>'))
    assert kinds(result) == ["assumed H >= 3", "assumed H >= 9"]


def test_what_one_node_assumes_of_one_tensor_does_not_rest_on_what_it_assumes_of_another() -> None:
    """Where H == 1, parts of the second rows are empty and skipped; those of the first rows must agree all the same."""
    graph = """g (float[1, H, W] x) => (y) <int64[3] axes = {0, 1, 2}, int64[3] steps = {1, 2, 2},
        int64[3] a = {0, 0, 0}, int64[3] b = {0, 1, 0}, int64[3] c = {0, 0, 1}, int64[3] d = {0, 1, 1},
        int64[3] end = {9999999999, 9999999999, 9999999999}> {
        p = Slice(x, a, end, axes, steps) q = Slice(x, b, end, axes, steps)
        r = Slice(x, c, end, axes, steps) s = Slice(x, d, end, axes, steps) y = Concat<axis=0>(p, q, r, s)
    }"""
    model = parsed(graph)
    result = infer(model)
    met = set()
    session = session_of(model)
    for height, width in product((1, 2, 3, 4), repeat=2):
        sizes = {"H": height, "W": width}
        failing = {violation.kind for violation in result.check(sizes)}
        met.add((outcome(session, result, sizes), *sorted(failing)))
    assert met == {
        ("as inferred",),
        ("as inferred", "assumed"),
        ("refused", "assumed", "required"),
        ("refused", "required"),
    }


def test_what_is_assumed_of_tensors_that_may_be_empty_is_required_where_they_are_not() -> None:
    joined = "y = Concat<axis=0>(a, b)"
    inputs = "float[N, A] a, float[half, B] b"
    result = infer(with_dims(parsed(f"g ({inputs}) => (y) {{ {joined} }}"), half="N//2"))
    assert [v.kind for v in result.check(N=1, A=2, B=3)] == ["assumed"]
    assert [v.kind for v in result.check(N=2, A=2, B=3)] == ["required"]
    filled = f"g ({inputs}, float[1, 1, N] x, float[1, 1, 2] w) => (y, c) {{ {joined} c = Conv(x, w) }}"
    assert kinds(infer(with_dims(parsed(filled), half="N//2"))) == ["required A == B", "required N >= 2"]


def test_what_required_guards_imply_is_not_assumed() -> None:
    graph = """g (float[1, 1, H] x, float[1, 1, 5] w, float[1, 1, 3] v) => (y) {
        c = Conv(x, w) p = MaxPool<kernel_shape=[5], strides=[2]>(x) y = Conv<pads=[1, 1]>(p, v)
    }"""
    assert kinds(infer(parsed(graph))) == ["required H >= 5"]


def test_an_assumed_equality_replaces_no_fresh_size() -> None:
    graph = """g (float[N, M] a, float[K] x) => (y, t) {
        i = NonZero(x) t = Cast<to=1>(i) y = Concat<axis=0>(a, t)
    }"""
    result = infer(parsed(graph))
    assert [str(d) for d in result.shapes["t"]] == ["1", "_d0"]
    assert [(g.kind, {v.name for v in g.variables()}) for g in result.data_guards] == [("assumed", {"M", "_d0"})]


def test_implied_guards_are_left_out_and_others_read_within_the_bounds_demanded() -> None:
    convs = " ".join(f"v{i + 1} = Conv<strides=[2], pads=[1, 1]>(v{i}, w)" for i in range(4))
    graph = f"g (float[1, 1, H] v0, float[1, 1, 4] w) => (v4) {{ {convs} }}"
    assert texts(infer(parsed(graph))) == ["Conv v4: H >= 16"]
    # under L >= 16 `max(L//8, 1)` is `L//8`, which is not 0
    inputs = "float[1, 1, most] u, float[1, 1, 2] w, float[N, left] a, float[right, N] b, float[P, Q, L] s"
    graph = f"g ({inputs}) => (c, y) {{ c = Conv(u, w) y = MatMul(a, b) }}"
    result = infer(with_dims(parsed(graph), most="max(L//8, 1)", left="P*max(L//8, 1)", right="L//8*Q"))
    assert kinds(result) == ["required L >= 16", "required P == Q"]


def test_a_broadcast_between_a_size_and_its_clamp_is_a_bound() -> None:
    graph = """g (float[1, 64] table, float[1, S] x) => (y) <int64[1] zero = {0}, int64[1] one = {1}> {
        shape = Shape<start=1>(x) part = Slice(table, zero, shape, one) y = Add(x, part)
    }"""
    assert kinds(infer(parsed(graph))) == ["required S <= 64"]


def test_the_kind_is_shown_by_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = """g (float[1, 1, H] x, float[1, 1, 2] w) => (y) {
        c = Conv(x, w) y = MaxPool<kernel_shape=[4], strides=[2]>(c)
    }"""
    path = tmp_path / "model.onnx"
    onnx.save(parsed(graph), path)
    main([str(path)])
    table = capsys.readouterr().out
    assert (
        "required conditions (guards):\n  H >= 2   Conv 'c': a kernel fits into the padded input (and 1 more node)\n"
        in table
    )
    assert "has these sizes only where:\n  H >= 5   MaxPool 'y': a window fits into the padded input\n" in table
    main([str(path), "--json"])
    window = {
        "condition": "H >= 5",
        "kind": "assumed",
        "law": "a window fits into the padded input",
        "nodes": [{"operator": "MaxPool", "node": "y"}],
    }
    assert json.loads(capsys.readouterr().out)["guards"][1] == window
    main([str(path), "--explain", "y"])
    assert "  assumed: H >= 5 (a window fits into the padded input)" in capsys.readouterr().out


def test_the_least_size_that_only_data_decide_is_a_guard_of_the_data() -> None:
    result = infer(
        parsed(
            """g (float[N] x) => (y) <int64[3] all = {1, 1, -1}> {
                k = NonZero(x) f = Cast<to=1>(k) h = Reshape(f, all) y = MaxPool<kernel_shape=[3], strides=[2]>(h) }"""
        )
    )
    assert [f"{guard.kind} {guard}" for guard in result.data_guards] == ["assumed _d0 >= 3"]
