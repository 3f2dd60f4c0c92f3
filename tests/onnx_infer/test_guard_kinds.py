"""The kinds of guards: required, assumed, and what follows from both."""

from __future__ import annotations

import json
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


def test_what_is_assumed_of_tensors_that_may_be_empty_is_required_where_they_are_not() -> None:
    joined = "y = Concat<axis=0>(a, b)"
    inputs = "float[N, A] a, float[half, B] b"
    result = infer(with_dims(parsed(f"g ({inputs}) => (y) {{ {joined} }}"), half="N//2"))
    assert [v.kind for v in result.check(N=1, A=2, B=3)] == ["assumed"]
    assert [v.kind for v in result.check(N=2, A=2, B=3)] == ["required"]


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
    assert "(elsewhere the model may run with other sizes):\n  H >= 5   MaxPool 'y': a window fits into the" in table
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
