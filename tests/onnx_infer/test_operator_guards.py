"""What single operators refuse: a required guard fails at exactly the sizes at which onnxruntime refuses the run."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.reference
import pytest

from onnx_infer import infer

from .sessions import all_sizes, run, session_of, shape_at
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'
QMATMUL = "g (uint8[M, 2] a, float[{0}] b, uint8[{1}] c, uint8[2, 3] d, float[{2}] e, uint8[{3}] f, float[{4}] h, "
QMATMUL += "uint8[{5}] i) => (y) {{ y = QLinearMatMul(a, b, c, d, e, f, h, i) }}"
QCONV = "g (uint8[1, 1, 5, 5] a, float[{0}] b, uint8[{1}] c, uint8[3, 1, 3, 3] d, float[{2}] e, uint8[{3}] f, "
QCONV += "float[{4}] h, uint8[{5}] i) => (y) {{ y = QLinearConv(a, b, c, d, e, f, h, i) }}"


def with_symbol(text: str, place: int) -> str:
    """The graph in which only the parameter at a place is not a single element."""
    return text.format(*["P" if i == place else 1 for i in range(6)])


GRAPHS = [
    "g (float[N, P, K] x, int64[N, Q, 1] i) => (y) { y = GatherND<batch_dims=1>(x, i) }",
    "g (float[N, K] x, int64[Q, 1] i) => (y) { y = GatherND(x, i) }",
    "g (float[N, K] x, int64[P] i) => (y) { y = Gather(x, i) }",
    "g (float[N, K] x, int64[P, 2] i) => (y) { y = GatherElements(x, i) }",
    "g (float[N, K] x, int64[Q, 1] i, float[Q, K] u) => (y) { y = ScatterND(x, i, u) }",
    "g (float[N, 2] x, int64[P, 2] i, float[P, 2] u) => (y) { y = ScatterElements<axis=0>(x, i, u) }",
    "g (uint8[M, K] a, uint8[K, N] b, uint8[Z] z) => (y) { y = MatMulInteger(a, b, z) }",
    "g (uint8[1, 1, H, 8] x, uint8[2, 1, 3, 3] w, uint8[Z] z) => (y) { y = ConvInteger(x, w, z) }",
    "g (uint8[1, 1, H, 8] x, uint8[2, 1, 3, 3] w, uint8[1] v, uint8[Z] z) => (y) { y = ConvInteger(x, w, v, z) }",
    *[with_symbol(QMATMUL, place) for place in (0, 1, 4, 5)],
    *[with_symbol(QCONV, place) for place in range(6)],
    *[
        f"""g (float[1, 1, H, 8] x, float[1, 1, 3, 3] w) => (y) {{
            y = ConvTranspose<strides=[{stride}, 2], output_shape=[{size}, 16]>(x, w) }}"""
        for stride, size in ((2, 4), (2, 1), (2, 12), (1, 3))
    ],
    """g (float[1, 1, H, 8] x, float[1, 1, 3, 3] w) => (y) {
        y = ConvTranspose<strides=[2, 2], output_padding=[1, 1], output_shape=[6, 16]>(x, w) }""",
    'g (float[1, 1, H, 8] x, float[1, 1, 3, 3] w) => (y) { y = Conv<auto_pad="SAME_LOWER", strides=[2, 2]>(x, w) }',
    "g (float[N, 4] x) => (y) { y = ArgMax<axis=0>(x) }",
    "g (float[N, M] x) => (y) { y = ArgMin<axis=-2, keepdims=0>(x) }",
    *[
        f"g (float[N, M] x) => (y) <int64[{1 + target.count(',')}] t={{{target}}}> {{ y = Reshape(x, t) }}"
        for target in ("0, -1", "-1, 0", "0, 0, -1")
    ],
    "g (float[N, M, 4] x) => (y) <int64[4] t={0, 0, 2, -1}> { y = Reshape(x, t) }",
    """g (float[N, 4, M] x) => (y) <int64[2] t={4, -1}> {
        s = Shape<start=0, end=1>(x) u = Concat<axis=0>(s, t) y = Reshape(x, u) }""",
    "g (float[N, 3] x) => (y) { s = SplitToSequence(x) y = ConcatFromSequence<axis=0>(s) }",
    """g (float[N, 3] x) => (y) {
        s = SplitToSequence<axis=0, keepdims=0>(x) y = ConcatFromSequence<axis=0, new_axis=1>(s) }""",
    "g (float[N, 3] x) => (y) <int64 k={2}> { s = SplitToSequence(x, k) y = ConcatFromSequence<axis=0>(s) }",
]


def mistakes(graph: str, sizes: tuple[int, ...] = (0, 1, 2, 3, 5)) -> list[tuple[dict[str, int], list[str]]]:
    """The sizes at which a guard is false or missing, with the guards that fail."""
    model = parsed(graph, HEAD)
    result, session, found = infer(model, min_dim=0), session_of(model), []
    dtypes = {name: onnx.helper.tensor_dtype_to_np_dtype(result.types[name].dtype) for name in result.inputs}
    for at in all_sizes(result, sizes):
        feeds = {name: np.zeros(shape_at(result, name, at), dtype) for name, dtype in dtypes.items()}
        failing = [str(violation.guard) for violation in result.check(at) if violation.kind == "required"]
        if (run(session, feeds) is None) is not bool(failing):
            found.append((at, failing))
    return found


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_required_guard_fails_exactly_where_the_run_is_refused(graph: str) -> None:
    assert not mistakes(graph, (0, 1, 2, 3) if graph.count("[") > 4 else (0, 1, 2, 3, 5))


def test_batches_that_differ_are_refused_only_where_there_is_a_result() -> None:
    """Missing remain the runs at which batches of another number are accepted, with other sizes."""
    graph = "g (float[N, P, K] x, int64[M, Q, 1] i) => (y) { y = GatherND<batch_dims=1>(x, i) }"
    assert not [at for at, failing in mistakes(graph, (0, 1, 2)) if failing]


def test_dilation_beside_same_padding_is_refused_at_all_sizes() -> None:
    """The specification allows it, and gives the sizes; onnxruntime does not run it."""
    graph = """g (float[1, 1, H, 8] x, float[1, 1, 3, 3] w) => (y) {
        y = Conv<auto_pad="SAME_UPPER", dilations=[2, 2]>(x, w) }"""
    assert not mistakes(graph)
    result = infer(parsed(graph, HEAD))
    assert str(result.types["y"]) == "f32[1, 1, H, 8]"
    assert [str(d) for d in result.diagnostics] == [
        "Conv (opset 11) 'y': the dilation, which onnxruntime does not allow beside SAME padding: 2 == 1 holds at no sizes"
    ]


@pytest.mark.parametrize("number", ["uint8[4] z", "uint8[3] z", "uint8[4, 1] z"])
def test_a_known_number_of_zero_points_is_no_error(number: str) -> None:
    """The specification allows one for each row of A, and the reference evaluator those that broadcast to A."""
    graph = f"g (uint8[4, 3] a, uint8[3, 2] b, {number}) => (y) {{ y = MatMulInteger(a, b, z) }}"
    assert infer(parsed(graph, HEAD)).diagnostics == []


def test_batches_of_1_broadcast_in_the_function_of_attention() -> None:
    """Runtimes run version 25 by its function, in which a batch of K may be 1. It is cached as it is."""
    graph = """g (float[2, 4, 3, 8] q, float[1, 4, 5, 8] k, float[2, 4, 5, 8] v) => (y, pk, pv) {
        y, pk, pv = Attention(q, k, v) }"""
    model = parsed(graph, HEAD.replace("18", "25").replace("ir_version: 8", "ir_version: 11"))
    result = infer(model)
    assert not result.diagnostics
    feeds = {name: np.zeros(result.shapes[name], np.float32) for name in "qkv"}
    made = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    assert [x.shape for x in made] == [result.shapes[name] for name in ("y", "pk", "pv")]


def test_parts_without_their_axis_are_assumed() -> None:
    """The specification keeps the axis of parts of a given size, and onnxruntime does not."""
    model = parsed(
        """g (float[M, N, 4] x) => (y) <int64 zero={0}, int64 two={2}> {
            s = SplitToSequence<axis=0, keepdims=0>(x, two) y = SequenceAt(s, zero) }""",
        HEAD,
    )
    result, session = infer(model), session_of(model)
    assert [(str(guard), guard.kind) for guard in result.guards] == [("M == 1", "assumed")]
    for rows in (1, 2, 4):
        x = np.zeros((rows, 3, 4), np.float32)
        (told,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
        assert told.ndim == 3
        made = run(session, {"x": x})
        assert (made is not None) is (rows == 1)
        if made is not None:
            assert made[0].shape == shape_at(result, "y", {"M": rows, "N": 3})
