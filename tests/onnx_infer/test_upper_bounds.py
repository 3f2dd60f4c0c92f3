"""Data-dependent sizes: their bounds, and what elements of inputs decide. `runs/upper_bounds.txt` runs them."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper

from onnx_infer import SymTensor, infer
from onnx_infer.results.guarantees import guarantees, with_values
from symdim import BoundsError, Expr, Var


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


def test_every_shape_whose_sizes_are_bounded_has_an_upper_bound() -> None:
    result = infer(model_of("float[N, M] x, int64 n", "a = NonZero (x)\n r = Range (n, n, n)", ["a", "r"]))
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
