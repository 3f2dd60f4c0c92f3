"""Sizes that onnxruntime's own operators refuse: a required guard foretells each refusal, and no run that succeeds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from onnx_infer import infer
from symdim.guarantee import guarantee_of

from .oracle import at
from .sessions import REFUSED, VERSION, all_sizes, run, session_of, shape_at
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>'

NODES = {
    "a slice of an axis": ("float[N, L, 3] x", "UnfoldTensor<dim=1, size=2>(x)"),
    "the sum of FusedConv": (
        "float[N, 2, 3] x, float[K, 2, 1] w, float[N, M, L] z",
        "FusedConv(x, w, , z)",
    ),
    "the mask of a pool": (
        "float[1, N, K] x, int32[M, 1, L] m",
        "MaxpoolWithMask<kernel_shape=[1]>(x, m)",
    ),
    "the router of experts": (
        "float[N, K, 2] x, float[L, 2] p, float[2, 4, 2] v, float[M, 2, 4] w",
        'MoE<k=1, activation_type="relu">(x, p, v, , w)',
    ),
    "the inner size of experts": (
        "float[1, 3, 2] x, float[3, 2] p, float[2, L, 2] v, float[2, 2, M] w",
        'MoE<k=1, activation_type="relu">(x, p, v, , w)',
    ),
    "the inner size of experts whose weights are swapped": (
        "float[1, 3, 8] x, float[3, 2] p, float[2, 8, L] v, float[2, M, 8] w",
        'MoE<k=1, activation_type="relu">(x, p, v, , w)',
    ),
    "the inner size of gated experts": (
        "float[1, 3, 2] x, float[3, 2] p, float[2, L, 2] v, float[2, 2, M] w",
        'MoE<k=1, activation_type="swiglu", swiglu_fusion=1>(x, p, v, , w)',
    ),
    "scales, zero points and the bias of columns": (
        "float[1, 3, 2] x, float[K] s, int8[L] z, float[M] b, int8[2, 4] v",
        "DynamicQuantizeMatMul(x, v, s, z, b)",
    ),
    "channels of a causal convolution": (
        "float[N, K, 3] x, float[M, 1, 2] w",
        "CausalConvWithState(x, w)",
    ),
    "channels of a causal convolution, last": (
        "float[N, 3, 2, K] x, float[L, 1, 2] w",
        "CausalConvWithState<channels_last=1>(x, w)",
    ),
    "the gate of a sum": (
        "float[N, K, 2] x, float[M, L, 1] g",
        "GatedAdd(x, x, g)",
    ),
    "scores of repeated tokens": (
        "int64[N, 2] i, float[L, 3] s",
        "NGramRepeatBlock<ngram_size=2>(i, s)",
    ),
    "gates": (
        "float[N, K, 2] x, float[M, L] p",
        "HyperConnectionPreMix(x, p)",
    ),
    "gates of each element": (
        "float[N, K, 2] x, float[M, L, 2] p",
        "HyperConnectionPreMix(x, p)",
    ),
    "gates of joined streams": (
        "float[N, 4] x, float[M, 4] p",
        "HyperConnectionPreMix<num_branches=2>(x, p)",
    ),
    "the output of a block": (
        "float[N, 2, K] x, float[M, L] h, float[N, 2] p",
        "HyperConnectionPostMix(x, h, p)",
    ),
    "mixes of streams": (
        "float[N, K, 2] x, float[N, 2] h, float[N, K] p, float[M, K, L] s",
        "HyperConnectionPostMix(x, h, p, s)",
    ),
}
if VERSION >= (1, 32):
    NODES |= {
        "the router of groups of experts": (
            "float[N, K, L] x, float[M] b",
            "MoEGroupRouter<top_k=1>(x, b)",
        ),
        "groups of experts": (
            "float[N, K, L] x, float[L] b",
            "MoEGroupRouter<top_k=2, n_group=2>(x, b)",
        ),
        "decays of each head": (
            "float[N, K, 1, 2] x, float[N, L, M, 2] v, float[N, K, 1] d, float[N, 1, 2, 2] s",
            "GatedDeltaNet(x, x, v, , d, d, s)",
        ),
        "decays of each element of a key": (
            "float[N, 2, 1, K] x, float[N, 2, M, 2] v, float[N, 2, M, L] d, float[N, 2, M] b, float[N, M, 2, 2] s",
            "GatedDeltaNet(x, x, v, , d, b, s)",
        ),
        "heads of values": (
            "float[1, 2, K, 2] x, float[1, 2, L, M] v, float[1, 2, L] b, float[N, 4, 2, 2] s",
            "GatedDeltaNet(x, x, v, , b, b, s)",
        ),
    }
DTYPES = {1: np.float32, 3: np.int8, 6: np.int32, 7: np.int64}


def test_tokens_are_predicted_from_the_source() -> None:
    text = """g (int64[N] s, int64[M] c, int64[1] p, int64[K] t) => (o, e) {
        o, e = com.microsoft.BifurcationDetector(s, c, p, t) }"""
    assert [str(g) for g in infer(parsed(text, HEAD)).guards if g.kind == "required"] == ["N + 1 >= K"]


def test_the_total_of_padded_queries_is_an_upper_bound() -> None:
    """It need not be the sum of the past and the new tokens. onnxruntime before 1.32 has no padded queries."""
    text = """g (float[B, S, 16] q, float[B, S, 8] k, float[B, 1, P, 8] c, int32[B] l, int32[B] n) => (y, d, e)
        <int32 t = {3}> { y, d, e = com.microsoft.GroupQueryAttention
            <num_heads=2, kv_num_heads=1>(q, k, k, c, c, l, t, , , , , , , , , , n) }"""
    model = parsed(text, HEAD)
    result = infer(model)
    assert [str(guard) for guard in result.guards] == ["S <= 3"]
    session = session_of(model) if VERSION >= (1, 32) else None
    for sizes in all_sizes(result, (1, 2, 3, 4)):
        feeds = {name: np.zeros(shape_at(result, name, sizes), np.float32) for name in "qkc"}
        feeds |= {"l": np.zeros(sizes["B"], np.int32), "n": np.ones(sizes["B"], np.int32)}
        outputs = run(session, feeds) if session is not None else None
        assert session is None or (outputs is None) is bool(result.check(sizes)), sizes
        for name, array in zip("yde", outputs or [], strict=False):
            assert array.shape == shape_at(result, name, sizes)


def test_the_rotary_caches_reach_to_the_total_length() -> None:
    """Also where the heads do not rotate. The heads have 16 elements each."""
    inputs = "float[1, 1, 32] q, float[1, 1, 16] k, float[1, 1, P, 16] c, int32[1] l, float[M, K] r, float[R, K] s"
    text = f"""g ({inputs}) => (y)
        <int64 one = {{1}}, int64[1] axis = {{0}}> {{
            past = Shape<start=2, end=3>(c)  sum = Add(past, one)  flat = Squeeze(sum, axis)  total = Cast<to=6>(flat)
            y, d, e = com.microsoft.GroupQueryAttention<num_heads=2, kv_num_heads=1>(q, k, k, c, c, l, total, r, s)
        }}"""
    model = parsed(text, HEAD)
    result = infer(model)
    assert [str(g) for g in result.guards] == ["M == R", "K % 8 == 0", "K <= 8", "M >= P + 1"]
    session = session_of(model)
    for p, m, r, k in product((1, 2, 3), (2, 3, 4), (3, 4), (4, 8, 16)):
        sizes = {"P": p, "M": m, "R": r, "K": k}
        feeds = {name: np.zeros(shape_at(result, name, sizes), np.float32) for name in "qkcrs"}
        outputs = run(session, {**feeds, "l": np.array([p], np.int32)})
        assert (outputs is None) is bool(result.check(sizes)), sizes


@pytest.mark.parametrize(("inputs", "node"), NODES.values(), ids=NODES)
def test_guards_tell_what_onnxruntime_refuses(inputs: str, node: str) -> None:
    made = "y, state" if node.startswith("CausalConv") else "y"
    model = parsed(f"g ({inputs}) => (float[] y) {{ {made} = com.microsoft.{node} }}", HEAD)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    result = infer(model)
    assert result.diagnostics == []
    session = session_of(model)
    for sizes in product((1, 2), (1, 2), (1, 2), (1, 2, 4)):
        known = dict(zip("NKML", sizes, strict=True))
        feeds = {
            info.name: np.ones(
                [known.get(d.dim_param, d.dim_value) for d in info.type.tensor_type.shape.dim],
                DTYPES[info.type.tensor_type.elem_type],
            )
            for info in model.graph.input
        }
        try:
            session.run(None, feeds)
            runs = True
        except REFUSED:
            runs = False
        assert runs == (not any(v.guard.kind == "required" for v in result.check(known))), known


def test_the_path_through_an_empty_table_is_empty() -> None:
    model = parsed("g (float[M, N] x) => (y) { y = com.microsoft.DynamicTimeWarping(x) }", HEAD)
    sizes = {"M": (0, None), "N": (0, None)}
    path = infer(model, bounds=sizes).shapes["y"][1]
    for rows, columns in ((0, 0), (0, 1), (1, 0), (3, 4)):
        found = at(guarantee_of(path).size, {"M": rows, "N": columns})
        assert found == max(rows + columns - 1, 0)
        made = run(session_of(model), {"x": np.ones((rows, columns), np.float32)})
        assert made is not None
        assert made[0].shape[1] <= found


def test_onnxruntime_looks_at_no_heads_of_an_empty_tensor() -> None:
    """The hidden size must be a multiple of the heads unless the batch or the length is 0."""
    text = "g (float[B, S, H] x) => (y) { y = com.microsoft.MultiHeadAttention<num_heads=2>(x, x, x) }"
    model = parsed(text, HEAD)
    session, result = session_of(model), infer(model, min_dim=0)
    for sizes in all_sizes(result, [0, 1, 3, 4]):
        if sizes["H"] == 0:  # this crashes onnxruntime
            continue
        ran = run(session, {"x": np.zeros(shape_at(result, "x", sizes), np.float32)}) is not None
        broken = [violation.guard.kind for violation in result.check(sizes)]
        assert broken == [] if sizes["H"] % 2 == 0 else "required" not in broken if ran else broken, sizes
    assert [guard.kind for guard in infer(model).guards] == ["required"]
