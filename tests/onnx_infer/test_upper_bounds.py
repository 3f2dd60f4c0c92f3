"""Data-dependent sizes: their bounds hold in runs, and what elements of inputs decide is computed of these."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

from onnx_infer import SymTensor, infer
from onnx_infer.results.guarantees import guarantees, with_values
from symdim import BoundsError, Expr, Var

from .oracle import at
from .sessions import session_of

ELEMENTS = {"k": "1..4", "n": "0..5", "reps": "1..3", "ends": "-9..9", "starts": "-9..9", "pads": "0..2"}
"""The inputs of integers, and from which range their elements are taken."""

# a model: inputs, nodes, the guarantees of values, the values whose sizes elements of inputs alone decide
MODELS = {
    "NonZero": ("float[N, M] x", "a = NonZero (x)", {"a": "2 <=M*N"}, ""),
    "NonZero, reshaped": (
        "float[N, M] x, float[K] w",
        """
        a = NonZero (x)
        t = Transpose (a)
        f = Cast <to = 1> (t)
        c = Concat <axis = 0> (f, f)
        shape = Constant <value_ints = [-1]> ()
        r = Reshape (c, shape)
        cut = Concat <axis = 0> (r, w)
        """,
        {"t": "<=M*N 2", "c": "<=2*M*N 2", "r": "<=4*M*N", "cut": "<=4*M*N + K"},
        "",
    ),
    "Compress": ("float[N, M] x, bool[N] c", "a = Compress <axis = 0> (x, c)", {"a": "<=N M"}, ""),
    "Compress of all": ("float[N, M] x, bool[P] c", "a = Compress (x, c)", {"a": "<=min(M*N, P)"}, ""),
    "Unique": ("int64[N] x", "a, b, c, d = Unique (x)", {"a": "<=N", "b": "<=N", "c": "N", "d": "<=N"}, ""),
    "Unique, chained": (
        "float[N] x",
        "a = Unique (x)\n b = NonZero (a)\n o = Constant <value_ints=[0]> ()\n i = Squeeze (b, o)\n g = Gather (x, i)",
        {"b": "1 <=N", "g": "<=N"},
        "",
    ),
    "TopK": (
        "float[N, M] x, int64[1] k",
        "a, b = TopK (x, k)\n c, d = TopK <axis = 0> (x, k)\n s = Concat <axis = 0> (a, b2)\n b2 = Cast <to = 1> (b)",
        {"a": "N <=M", "c": "<=M M", "s": "2*N <=M"},
        "a c s",
    ),
    "Slice": (
        "float[N] x, int64[1] ends, int64[1] starts",
        """
        zero = Constant <value_ints = [0]> ()
        two = Constant <value_ints = [2]> ()
        a = Slice (x, zero, ends)
        b = Slice (x, starts, ends)
        c = Slice (x, two, ends)
        d = Slice (x, starts, ends, zero, two)
        e = Concat <axis = 0> (a, a, x)
        """,
        {"a": "<=N", "b": "<=N", "c": "<=max(N, 2) - 2", "d": "<=(N + 1)//2", "e": "<=3*N"},
        "a b c d e",
    ),
    "Range": (
        "int64 n",
        """
        zero = Constant <value_int = 0> ()
        two = Constant <value_int = 2> ()
        a = Range (zero, n, two)
        b = Range (n, two, two)
        """,
        {"a": "?", "b": "?"},
        "a b",
    ),
    "Tile": ("float[N, 2] x, int64[2] reps", "a = Tile (x, reps)", {"a": "? ?"}, "a"),
    "Expand": ("float[1, 1] x, int64[3] reps", "a = Expand (x, s)\n s = Mul (reps, reps)", {"a": "? ? ?"}, ""),
    "Expand of one": ("float[1, 1] x, int64[2] reps", "a = Expand (x, reps)", {"a": "? ?"}, "a"),
    "ConstantOfShape": ("int64[2] reps", "a = ConstantOfShape (reps)", {"a": "? ?"}, "a"),
    "OneHot": (
        "int64[N] i, int64 n, float[2] v",
        "one = Constant <value_int = 1> ()\n depth = Add (n, one)\n a = OneHot (i, depth, v)",
        {"a": "N ?"},
        "",
    ),
    "Pad": ("float[N, M] x, int64[4] pads", "a = Pad (x, pads)", {"a": "? ?"}, "a"),
    "one value, read twice": (
        "float[N, M] x, int64[1] k",
        "a, b = TopK (x, k)\n c, d = TopK <largest = 0> (x, k)\n s = Add (a, c)",
        {"s": "N <=M"},
        "s",
    ),
    "Where": (
        "float[N] x, float[1] y, int64[1] k",
        "a, b = TopK (x, k)\n zero = Constant <value_float = 0.0> ()\n c = Greater (a, zero)\n w = Where (c, a, y)",
        {"w": "<=N"},
        "w",
    ),
    "If": (
        "float[N] x, float[M] y, bool c",
        """
        a = If (c) <then_branch = t () => (float[P] p) { p = Concat <axis = 0> (x, x) },
                    else_branch = e () => (float[Q] q) { q = Identity (y) }>
        """,
        {"a": "<=max(M, 2*N)"},
        "",
    ),
    "Loop": (
        "int64 n, float[N] x",
        """
        go = Constant <value = bool {1}> ()
        a, b = Loop (n, go, x) <body = body (int64 i, bool c, float[S] u) => (bool d, float[T] v, float[R] w)
            { d = Identity (c) v = Concat <axis = 0> (u, x) w = Identity (x) }>
        """,
        {"a": "?", "b": "? N"},
        "a b",
    ),
    "Loop that stops": (
        "float[N] x",
        """
        ten = Constant <value_int = 10> ()
        go = Constant <value = bool {1}> ()
        a, b = Loop (ten, go, x) <body = body (int64 i, bool c, float[S] u) => (bool d, float[T] v, float[R] w)
            { s = ReduceSum <keepdims = 0> (x)
              z = Constant <value_float = 0.0> ()
              d = Greater (s, z)
              v = Identity (u)
              w = Identity (x) }>
        """,
        {"a": "N", "b": "<=10 N"},
        "",
    ),
    "NonMaxSuppression": (
        "float[1, N, 4] x, float[1, C, N] y, int64 n",
        "a = NonMaxSuppression (x, y, n)",
        {"a": "<=C*N 3"},
        "",
    ),
    "MelWeightMatrix": (
        "int64 n",
        """
        bins = Constant <value_int = 1> ()
        rate = Constant <value_int = 8000> ()
        low = Constant <value_float = 0.0> ()
        high = Constant <value_float = 1000.0> ()
        a = MelWeightMatrix (bins, n, rate, low, high)
        """,
        {"a": "? 1"},
        "a",
    ),
    "pooled": (
        "float[1, 1, N] x, int64[1] k",
        "a, b = TopK <axis = 2> (x, k)\n c = MaxPool <kernel_shape = [2], strides = [2], pads = [1, 0]> (a)",
        {"c": "1 1 <=(N + 1)//2"},
        "c",
    ),
    "matrix product": (
        "float[N, M] x, float[M, K] y, int64[1] k",
        "a, b = TopK <axis = 0> (x, k)\n c = MatMul (a, y)\n r = ReduceSum (c)",
        {"c": "<=N K"},
        "c",
    ),
}


def model_of(inputs: str, nodes: str, shown: list[str]) -> onnx.ModelProto:
    """The model whose outputs are the values shown, of any type."""
    text = f'<ir_version: 10, opset_import: ["": 20]> g ({inputs}) => () {{ {nodes} }}'
    model = onnx.parser.parse_model(text)
    types = infer(model).types
    for name in shown:
        value = types[name]
        assert isinstance(value, SymTensor)
        model.graph.output.append(helper.make_tensor_value_info(name, value.dtype or 1, None))
    return model


def feeds_of(model: onnx.ModelProto, sizes: dict[str, int], rng: np.random.Generator) -> dict[str, Any]:
    """Data for the inputs; the elements of those that are sizes from small ranges."""
    feeds: dict[str, Any] = {}
    for info in model.graph.input:
        kind = info.type.tensor_type
        shape = [d.dim_value or sizes[d.dim_param] for d in kind.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if info.name in ELEMENTS:
            low, high = map(int, ELEMENTS[info.name].split(".."))
            feeds[info.name] = rng.integers(low, high + 1, shape).astype(dtype)
        elif kind.elem_type == TensorProto.FLOAT:
            feeds[info.name] = np.round(rng.normal(size=shape)).astype(dtype)
        else:
            feeds[info.name] = rng.integers(0, 2, shape).astype(dtype)
    return feeds


@pytest.mark.parametrize("name", MODELS)
def test_bounds_and_run_time_values_hold_in_runs(name: str) -> None:
    inputs, nodes, expected, decided = MODELS[name]
    model = model_of(inputs, nodes, list(expected))
    result = infer(model)
    for value, text in expected.items():
        assert " ".join(map(str, result.guarantees[value])) == text, value
    known = {i.name for i in model.graph.input} & ELEMENTS.keys()
    for value in decided.split():
        assert {g.kind for g in guarantees(result, known)[value]} == {"exact"}, value
    session, rng = session_of(model), np.random.default_rng(0)
    for n, m in ((7, 5), (4, 6), (6, 6), (5, 4)):
        sizes = {"N": n, "M": m, "K": 3, "P": 4, "C": 2, "S": 3}
        feeds = feeds_of(model, sizes, rng)
        elements = {x: feeds[x].ravel().tolist() if feeds[x].ndim else int(feeds[x]) for x in known}
        for value, actual in zip(expected, session.run(None, feeds), strict=True):
            for axis, (g, size, dim) in enumerate(
                zip(result.guarantees[value], actual.shape, result.shapes[value], strict=True)
            ):
                top = at(g.size, sizes)
                assert top is None or (top == size if g.kind == "exact" else size <= top), (value, axis, g, feeds)
                if value in decided.split():
                    assert at(with_values(dim, elements), sizes) == size, (value, axis, dim, feeds)


def test_every_shape_whose_sizes_are_bounded_has_an_upper_bound() -> None:
    result = infer(model_of("float[N, M] x, int64 n", MODELS["NonZero"][1] + "\n r = Range (n, n, n)", ["a", "r"]))
    bounds = {name: str(shape) for name, shape in result.upper_bounds.items()}
    assert bounds == {"x": "(N, M)", "n": "()", "a": "(2, M*N)"}


def test_one_value_has_one_size_and_two_have_two() -> None:
    nodes = "a, b = TopK (x, k)\n c, d = TopK (x, k)\n e, f = TopK (x, n)"
    result = infer(model_of("float[N] x, int64[1] k, int64[1] n", nodes, ["a", "c", "e"]))
    a, c, e = (result.shapes[name][0] for name in "ace")
    assert a is c
    assert a is not e


def test_a_bound_is_found_whichever_use_comes_first() -> None:
    nodes = "a = ConstantOfShape (k)\n b, c = TopK (x, k)"
    result = infer(model_of("float[N] x, int64[1] k", nodes, ["a", "b"]))
    assert [str(result.guarantees[name][0]) for name in "ab"] == ["<=N", "<=N"]
    assert result.shapes["a"] == result.shapes["b"]


def test_declared_names_keep_what_is_known_of_the_sizes_they_name() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["": 20]>
        g (float[N] x, int64[1] k) => (float[kept] a, int64[1, found] b, float[both] d) {
            a, i = TopK (x, k)
            b = NonZero (a)
            d = Concat <axis = 0> (a, a)
        }""")
    result = infer(model)
    assert str(result.shapes["b"]) == "(1, found)"
    assert [str(result.guarantees[name][-1]) for name in "abd"] == ["<=N", "<=N", "<=2*N"]
    assert [guarantees(result, {"k"})[name][-1].kind for name in "abd"] == ["exact", "upper_bound", "exact"]


def test_elements_of_a_subgraph_are_not_those_of_the_graph() -> None:
    """Each iteration has another k: the sizes are bounded, and no element of a tensor of that name decides them."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["": 20]>
        g (float[N] x, int64[T, 1] ks) => (float[P] y) {
            y = Scan <num_scan_inputs = 1, body = b (int64[1] k) => (float[S] v)
                      { t, i = TopK (x, k) v = ReduceSum (t) }> (ks)
        }""")
    found: list[Expr] = []
    result = infer(model)
    for _, scope in result._record.inner:
        found += [d for d in scope["t"].shape if isinstance(d, Expr)]  # type: ignore[attr-defined]
    assert [str(d.guarantee()) for d in found] == ["<=N"]
    assert [d.guarantee({"k"}).kind for d in found] == ["upper_bound"]


def test_elements_of_a_function_are_not_those_of_the_graph() -> None:
    """Two calls of a function, whose inputs have one name: their sizes are two."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["": 20, "here": 1]>
        g (float[N] x, int64[1] k, int64[1] n) => (float[A] a, float[B] b) {
            a = here.first (x, k)
            b = here.first (x, n)
        }
        <domain: "here", opset_import: ["": 20]> first (v, many) => (best) { best, i = TopK (v, many) }""")
    result = infer(model)
    (a,), (b,) = result.shapes["a"], result.shapes["b"]
    assert a is not b
    assert [str(d.guarantee({"many", "k", "n"})) for d in (a, b)] == ["<=N", "<=N"]


def test_nodes_out_of_order_share_a_value_too() -> None:
    model = model_of("float[N] x, int64[1] k", "d = Add (a, c)\n a, b = TopK (x, k)\n c = ConstantOfShape (k)", ["d"])
    result = infer(model)
    assert result.shapes["a"] == result.shapes["c"] == result.shapes["d"]
    assert str(result.guarantees["d"][0]) == "<=N"


def test_elements_of_floats_say_nothing() -> None:
    """A depth of OneHot may be a float: it is truncated, and no integer variable stands for it."""
    result = infer(model_of("int64[N] i, float depth, float[2] v", "a = OneHot (i, depth, v)", ["a"]))
    assert guarantees(result, {"depth"})["a"][1].kind == "unknown"


def test_elements_may_be_sizes() -> None:
    (rows, _) = infer(model_of("float[N, M] x, int64[1] k", "a, b = TopK <axis = 0> (x, k)", ["a"])).shapes["a"]
    assert with_values(rows, {"k": [Var("N") // 2]}) is Var("N") // 2
    assert with_values(rows, {"k": np.array([3])}) == 3
    assert with_values(rows, {"other": [3]}) is rows
    with pytest.raises(BoundsError):
        with_values(rows, {"k": [-1]})


def test_bounds_of_symbols_in_the_metadata() -> None:
    model = model_of("float[seq] x", "s = Shape (x)\n m = Constant <value_ints = [4096]> ()\n n = Min (s, m)\n"
                     "y = ConstantOfShape (n)", ["y"])  # fmt: skip
    assert str(infer(model).shapes["y"]) == "(min(seq, 4096),)"
    entry = model.graph.metadata_props.add(key="symdim.contract", value='{"version": 1, "bounds": {"seq": [1, 2048]}}')
    assert str(infer(model).shapes["y"]) == "(seq,)"
    assert str(infer(model, bounds={"seq": (1, 5000)}).shapes["y"]) == "(min(seq, 4096),)"
    for wrong in ("{", "[1]", '{"seq": [2, 1]}', '{"version": 1, "bounds": {"seq": [true, 3]}}'):
        entry.value = wrong
        result = infer(model)
        assert str(result.shapes["y"]) == "(min(seq, 4096),)"
        assert result.diagnostics[0].severity == "warning"
        assert "symdim.contract" in str(result.diagnostics[0])
