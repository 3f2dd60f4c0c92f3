"""What operators demand of sizes, changed one by one: a run is refused exactly where a required guard fails."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession

from onnx_infer import infer
from symdim import ceildiv

from .sessions import VERSION, run, session_of, shape_at
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 23, "com.microsoft": 1, "ai.onnx.ml": 3]>'
DTYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.INT32: np.int32, onnx.TensorProto.INT64: np.int64}

# a tree that compares feature 2; the features of its leaves do not count
TREE = (
    'nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_featureids=[2, 7, 7], nodes_values=[0.5, 0.0, 0.0], '
    "nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0]"
)

# a Loop of T turns
TURNS = "float[T] u"
LOOP = (
    "h = Shape(u) m = Squeeze(h) t = Constant<value=bool {{1}}>() one = Constant<value_int=1>() y = Loop(m, t, x) "
    "<body = g (int64 i, bool b, float[A, B] c) => (bool d, float[G, H] o) {{ d = Identity(b) {} o = Identity(n) }}>"
)

# the same body for each element of a sequence
MAPPED = "s = {} y = SequenceMap(s) <body = g (float[G, H] e) => (float[I, J] o) {{ o = {} }}>"

# (inputs, nodes, sizes at which the model runs; of integer inputs all elements are 0)
DEMANDS = [
    ("float[A, B] x, int64[C, D] i", "y = GatherElements<axis=1>(x, i)", "A=3 B=3 C=3 D=4"),
    ("float[A, B] x, int64[C, D] i, float[E, F] u", "y = ScatterElements<axis=0>(x, i, u)", "A=3 B=3 C=1 D=3 E=1 F=3"),
    ("float[A, B] x, int64[C, D] i, float[E, F] u", "y = ScatterND(x, i, u)", "A=3 B=4 C=1 D=1 E=1 F=4"),
    ("float[A, B] x, int64[C, D] i, float[E] u", "y = ScatterND(x, i, u)", "A=3 B=4 C=1 D=2 E=1"),
    ("float[A, B, N] x, int64[C, D, 1] i", "y = GatherND<batch_dims=1>(x, i)", "A=2 B=3 C=2 D=3 N=2"),
    ("float[A, B] x, int64[C] i", "y = NegativeLogLikelihoodLoss(x, i)", "A=3 B=4 C=3"),
    ("float[A, B, C] x", "y = DFT(x)", "A=2 B=4 C=2"),
    ("float[1, A, B] x, float[C] w", "i = Constant<value_int=2>() y = STFT(x, i, w)", "A=5 B=1 C=4"),
    ("float[1, 1, A] x, float[1, 1, 2] w", "y = ConvTranspose<pads=[2, 2]>(x, w)", "A=5"),
    ("float[1, 1, A] x", "y = MaxPool<kernel_shape=[7], strides=[2]>(x)", "A=8"),
    ("float[1, 1, A] x", "y = AveragePool<kernel_shape=[4]>(x)", "A=5"),
    ("float[B, 4, S, D] q, float[B, N, T, D] k, float[B, N, T, D] v", "y = Attention(q, k, v)", "B=2 N=2 S=3 D=4 T=5"),
    ("float[B, 2, S, 4] q, float[B, 2, T, 4] k, float[M, H, S, T] m", "y = Attention(q, k, k, m)",
        "B=2 S=3 T=5 M=2 H=2"),
    ("float[B, 2, S, 4] q, float[B, 2, T, 4] k, float[M, L] m", "y = Attention(q, k, k, m)", "B=2 S=3 T=5 M=3 L=5"),
    ("float[B, 2, S, 8] x, float[P, 4] c, float[P, 4] s, int64[B, S] i", "y = RotaryEmbedding(x, c, s, i)",
        "B=2 S=3 P=5"),
    ("float[B, 2, P, D] c, float[B, 2, S, E] u", "y = TensorScatter(c, u)", "B=2 P=5 D=3 S=3 E=3"),
    ("float[B, 2, S, D] x, float[P, Q, E] c, float[P, Q, E] s", "y = RotaryEmbedding(x, c, s)",
        "B=2 S=3 D=8 P=2 Q=3 E=4"),
    ("float[B, S, 8] x, float[P, E] c, float[Q, F] s, int64[C, T] i",
        "y = com.microsoft.RotaryEmbedding<num_heads=2>(x, i, c, s)", "B=2 S=3 P=6 E=2 Q=6 F=2 C=2 T=3"),
    ("float[A, B] x, float[C] s", "y = PRelu(x, s)", "A=3 B=4 C=4"),
    ("float[A, B, 5] x, float[C, 1] s", "y = PRelu(x, s)", "A=3 B=4 C=4"),
    ("float[B, S, H] x, float[C] b", "y = com.microsoft.FastGelu(x, b)", "B=2 S=3 H=4 C=4"),
    ("float[A, S, H] x, float[B, T, K] s, float[G] g", "y = com.microsoft.SkipSimplifiedLayerNormalization(x, s, g)",
        "A=2 B=2 S=3 T=3 H=4 K=4 G=4"),
    ("float[B, S, H] q, float[C, T, K] k, float[D, U, V] v, float[E, F, I, J] a",
        "y = com.microsoft.MultiHeadAttention<num_heads=2>(q, k, v, , , a)",
        "B=2 S=3 H=8 C=2 T=4 K=8 D=2 U=4 V=8 E=2 F=2 I=3 J=4"),
    ("float[B, S, H] q, float[C, T, K] k, float[D, U, V] v, int32[M, L] m",
        "y = com.microsoft.MultiHeadAttention<num_heads=2>(q, k, v, , m)",
        "B=2 S=3 H=8 C=2 T=4 K=8 D=2 U=4 V=8 M=2 L=4"),
    ("float[B, S, 8] q, float[B, S, V] v, float[B, 2, P, 4] p, float[B, 2, Q, D] r",
        "y, z, w = com.microsoft.MultiHeadAttention<num_heads=2>(q, q, v, , , , p, r)", "B=2 S=3 V=8 P=5 Q=5 D=4"),
    ("float[B, S, I] x, float[J, H] w, float[K] b, int32[C, M] m",
        "y = com.microsoft.Attention<num_heads=2>(x, w, b, m)",
        "B=2 S=3 I=6 J=6 H=24 K=24 C=2 M=3"),
    ("float[A, F] x", "i = Constant<value_ints=[2, 0]>() y = ai.onnx.ml.ArrayFeatureExtractor(x, i)", "A=2 F=4"),
    ("float[A, F] x", "y = ai.onnx.ml.Scaler<scale=[1.0, 2.0, 3.0], offset=[0.0, 0.0, 0.0]>(x)", "A=2 F=3"),
    ("float[A, F] x", "y = ai.onnx.ml.LinearRegressor<targets=2, coefficients=[1.0, 2.0, 3.0, 4.0, 5.0]>(x)",
        "A=2 F=2"),
    ("float[F] x", "y, z = ai.onnx.ml.LinearClassifier<coefficients=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "
        "intercepts=[0.0, 0.0], classlabels_ints=[0, 1]>(x)", "F=3"),
    ("float[A, F] x", "y = ai.onnx.ml.SVMRegressor<coefficients=[1.0, 2.0, 3.0], rho=[0.0], "
        "kernel_params=[1.0, 0.0, 3.0]>(x)", "A=2 F=3"),
    ("float[A, F] x", "y = ai.onnx.ml.SVMRegressor<n_supports=2, support_vectors=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "
        "coefficients=[1.0, 2.0], rho=[0.0], kernel_type=\"RBF\", kernel_params=[1.0, 0.0, 3.0]>(x)", "A=2 F=3"),
    ("float[A, F] x", "y, z = ai.onnx.ml.SVMClassifier<coefficients=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], rho=[0.0], "
        "classlabels_ints=[0, 1], kernel_params=[1.0, 0.0, 3.0]>(x)", "A=2 F=3"),
    ("float[A, F] x", f"y = ai.onnx.ml.TreeEnsembleRegressor<{TREE}, n_targets=1, target_ids=[0, 0], "
        "target_nodeids=[1, 2], target_treeids=[0, 0], target_weights=[1.0, 2.0]>(x)", "A=2 F=3"),
    ("float[A, F] x", f"y, z = ai.onnx.ml.TreeEnsembleClassifier<{TREE}, class_ids=[0, 1], class_nodeids=[1, 2], "
        "class_treeids=[0, 0], class_weights=[1.0, 2.0], classlabels_int64s=[0, 1]>(x)", "A=2 F=3"),
    ("float[S, A] x, float[T, B] w", "y = Scan<num_scan_inputs=2, body=g (float[C] r, float[D] q) => (float[E] o) "
        "{ o = Sub(r, q) }>(x, w)", "S=3 T=3 A=4 B=4"),
    (f"float[N, D] x, float[M, E] w, {TURNS}", LOOP.format("n = Concat<axis=0>(c, w)"), "N=2 D=3 M=4 E=3 T=2"),
    (f"float[N, D] x, float[M, E] w, {TURNS}", LOOP.format("r = Gather(w, i) n = Sum(c, r)"), "N=2 D=3 M=5 E=3 T=4"),
    (f"float[N, D] x, float[M] w, {TURNS}", LOOP.format("s = Constant<value_ints=[-1, 6]>() r = Reshape(c, s) "
        "p = ReduceSum<keepdims=1>(r) n = Concat<axis=1>(c, x)"), "N=3 D=2 M=2 T=3"),
    (f"float[N, D] x, float[M] w, {TURNS}", LOOP.format("k = Add(i, one) d = Less(k, m) r = Gather(w, k) n = Sum(c, r)")
        .replace("(m, t, x)", '("", t, x)').replace("d = Identity(b) ", ""), "N=3 D=5 M=5 T=3"),
    (f"float[N, D] x, float[M, E] w, {TURNS}", LOOP.format("two = Constant<value_int=2>() n = Loop(two, b, c) "
        "<body = inner (int64 j, bool e, float[U, V] f) => (bool g, float[P, Q] o) "
        "{ g = Identity(e) o = Concat<axis=1>(f, w) }>"), "N=2 D=3 M=2 E=1 T=2"),
    ("float[N, D] x, float[K, C] z, float[M, E] w", MAPPED.format("SequenceConstruct(x, z)", "MatMul(e, w)"),
        "N=2 D=3 K=4 C=3 M=3 E=4"),
    ("float[N, D] x, float[M, E] w", MAPPED.format("SplitToSequence<axis=0>(x)", "Concat<axis=0>(e, w)"),
        "N=3 D=2 M=4 E=2"),
]  # fmt: skip


def refused(session: InferenceSession, model: onnx.ModelProto, sizes: dict[str, int]) -> bool:
    feeds = {}
    for entry in model.graph.input:
        kind = entry.type.tensor_type
        shape = [sizes[dim.dim_param] if dim.dim_param else dim.dim_value for dim in kind.shape.dim]
        feeds[entry.name] = np.zeros(shape, DTYPES[kind.elem_type])
    return run(session, feeds) is None


@pytest.mark.parametrize(("inputs", "nodes", "base"), DEMANDS)
def test_a_run_is_refused_exactly_where_a_required_guard_fails(inputs: str, nodes: str, base: str) -> None:
    opset = HEAD.replace("23", "18") if "DFT" in nodes or "com.microsoft" in nodes else HEAD
    opset = HEAD.replace("23", "24") if "TensorScatter" in nodes else opset
    model = parsed(f"g ({inputs}) => (y) {{ {nodes} }}", opset)
    result = infer(model)
    assert not result.diagnostics
    session = session_of(model)
    runs = {name: int(size) for name, _, size in (part.partition("=") for part in base.split())}
    assert not refused(session, model, runs)
    outcomes = set()
    for name, size in runs.items():
        for other in sorted({1, 2, size - 1, size, size + 1, 2 * size} - {0}):
            sizes = {**runs, name: other}
            fails = any(violation.kind == "required" for violation in result.check(sizes))
            outcomes.add(fails)
            assert refused(session, model, sizes) is fails, (name, other, [str(v) for v in result.check(sizes)])
    assert outcomes == {True, False}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_last_part_of_a_split_may_be_empty(count: int) -> None:
    """onnxruntime before 1.32 refuses it."""
    parts = ", ".join(f"y{i}" for i in range(count))
    nodes = f"{{ {parts} = Split<num_outputs={count}>(x) }}"
    model = parsed(f"g (float[A] x) => ({parts}) {nodes}", HEAD.replace("23", "18"))
    result, session = infer(model, min_dim=0), session_of(model)
    for size in range(15):
        last = size - (count - 1) * ceildiv(size, count)
        assert bool(result.check({"A": size})) is (last < 0), size
        outputs = run(session, {"x": np.zeros(size, np.float32)})
        assert (outputs is None) is (last < (1 if VERSION < (1, 32) else 0)), size
        for i, part in enumerate(outputs or []):
            assert part.shape == shape_at(result, f"y{i}", {"A": size})


def test_a_mask_is_as_long_as_the_cache_and_the_keys() -> None:
    inputs = "float[B, 2, S, 4] q, float[B, 2, T, 4] k, float[B, 2, P, 4] c, float[S, L] m"
    model = parsed(f"g ({inputs}) => (y) {{ y, p, v = Attention(q, k, k, m, c, c) }}", HEAD)
    assert [str(guard) for guard in infer(model).guards] == ["L == P + T"]
