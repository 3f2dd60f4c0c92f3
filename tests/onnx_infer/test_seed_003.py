"""Exact sizes, upper bounds and run-time scalars in models, and what passes may do with them. Rows `3.n` of the list of
features; what the algebra alone does of them is in tests/symdim/test_guarantee.py.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

from onnx_infer import infer
from onnx_infer.results.guarantees import guarantees, with_values
from onnx_infer.tools.materialization import materialize
from symdim import Expr, Shape, UnboundName, Var, minimum
from symdim.algebra.origin import Computed, Declared, ValueOf
from symdim.errors import UnsupportedDynamicShape
from symdim.guarantee import require_exact, require_exact_shape


def model(text: str) -> onnx.ModelProto:
    """A model of the default domain."""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 20]> {text}')


TRUNCATED = model("""
    g (float[N, M] x, int64[1] size, float[M, P] w) => (float[A, B] best, float[C, D] y, float[1, E] r) {
        best, where = TopK <axis = 0> (x, size)
        y = MatMul (best, w)
        t = Transpose (best)
        s = Exp (t)
        shape = Constant <value_ints = [1, -1]> ()
        r = Reshape (y, shape)
    }""")


def kinds(result, name, available=()):
    return [g.kind for g in guarantees(result, available)[name]]


def test_3_2_exact_does_not_mean_constant():
    result = infer(TRUNCATED)
    assert result.guarantees["x"] == (("exact", Var("N")), ("exact", Var("M")))
    assert require_exact_shape(result.shapes["x"], "Reshape") == (Var("N"), Var("M"))


def test_3_3_upper_bounds_are_never_sizes():
    result = infer(model("g (float[N] x) => (int64[1, K] y) { y = NonZero (x) }"))
    assert str(result.guarantees["y"][1]) == "<=N"
    with pytest.raises(UnsupportedDynamicShape):
        require_exact(result.shapes["y"][1], "Reshape", "shape[1]")


def test_3_4_unknown_sizes_have_a_note():
    result = infer(model("g (int64 n) => (int64[K] y) { one = Constant <value_int = 1> () y = Range (one, n, one) }"))
    assert kinds(result, "y") == ["unknown"]
    assert "range" in result.notes["y"]


def test_3_7_and_3_11_a_truncated_size_is_the_value_of_the_scalar():
    result = infer(TRUNCATED)
    truncated, kept = result.shapes["best"]
    assert kept is Var("M")
    assert truncated.origin == ValueOf("size", 0, "TopK.K")
    assert kinds(result, "best") == ["upper_bound", "exact"]
    assert kinds(result, "best", {"size"}) == ["exact", "exact"]
    assert [str(g) for g in result.guards if g.operator == "TopK"] == [f"N >= {truncated}"]


def test_3_11_a_known_scalar_is_the_size():
    known = onnx.ModelProto.FromString(TRUNCATED.SerializeToString())
    del known.graph.input[1]
    known.graph.initializer.append(onnx.numpy_helper.from_array(np.array([3]), "size"))
    result = infer(known)
    assert result.shapes["best"] == (3, Var("M"))
    assert kinds(result, "r") == ["exact", "exact"]


@pytest.mark.parametrize("x, ends", [(10, -3), (10, 3), (4, 9), (4, -9)])
def test_3_12_semantics_say_how_an_element_becomes_a_size(x, ends):
    result = infer(model("g (float[N] x, int64[1] e) => (float[K] y) "
                         "{ o = Constant <value_ints = [0]> () y = Slice (x, o, e) }"))  # fmt: skip
    (size,) = result.shapes["y"]
    assert isinstance(size.origin, Computed)
    found = with_values(size, {"e": [ends]})
    assert (found if isinstance(found, int) else found.evaluate(N=x)) == len(range(x)[:ends])


@pytest.mark.parametrize("op", ["Expand", "Reshape"])
def test_3_16_and_3_17_targets_are_exact_or_the_pass_is_refused(op):
    shape = infer(TRUNCATED).shapes["best"]
    with pytest.raises(UnsupportedDynamicShape, match="<=N") as caught:
        require_exact_shape(shape, op)
    assert (caught.value.op, caught.value.field, caught.value.observed) == (op, "shape[0]", "upper_bound")
    assert require_exact_shape(shape, op, available={"size"}) == shape


@pytest.mark.parametrize("seed", range(20))
def test_3_21_no_size_with_a_data_dependent_variable_is_exact(seed):
    rng = np.random.default_rng(seed)
    result = infer(TRUNCATED)
    dims = [d for name in ("best", "y", "r", "t") for d in result.shapes[name]]
    data = [d for d in dims if isinstance(d, Expr) and any(isinstance(v.origin, ValueOf) for v in d.variables())]
    size = data[rng.integers(len(data))]
    for _ in range(6):
        other = dims[rng.integers(len(dims))]
        size = [size + other, size * (other + 1), (size + other) // 3, minimum(size, 7) + size, size - other][
            rng.integers(5)
        ]
        if isinstance(size, Expr) and any(isinstance(v.origin, ValueOf) for v in size.variables()):
            assert size.as_exact() is None
            assert size.guarantee().kind != "exact"


def test_3_22_errors_name_the_operator_the_field_and_what_was_observed():
    named = model("g (float[N] x) => (float[rows] y) { y = com.acme.Op (x) }")
    (rows,) = infer(named).shapes["y"]
    assert rows.origin == Declared("rows")
    with pytest.raises(UnsupportedDynamicShape, match=r"Gather: slice_sizes\[0\].*rows is only \?.*declared shape"):
        require_exact(rows, "Gather", "slice_sizes[0]")


def test_3_23_symbolic_parameters_are_resolved_before_dispatch():
    slice_sizes = infer(TRUNCATED).shapes["best"]
    put = [with_values(d, {"size": [3]}) for d in slice_sizes]
    assert Shape(put).bind(N=7, M=5).concrete() == (3, 5)
    with pytest.raises(UnboundName):
        Shape(slice_sizes).bind(N=7, M=5)


def test_3_24_sizes_become_nodes_that_compute_them():
    result = infer(TRUNCATED)
    found = materialize([result.shapes["x"][0] * result.shapes["x"][1]], result)
    assert sorted(n.op_type for n in found.nodes) == ["Mul", "Shape", "Shape"]


def test_3_25_passes_refuse_upper_bounds_as_parameters():
    result = infer(TRUNCATED)
    assert kinds(result, "best")[0] != "exact"
    counted = infer(model("g (float[N] x) => (int64[1, K] y) { y = NonZero (x) }"))
    with pytest.raises(UnsupportedDynamicShape):
        materialize(counted.shapes["y"], counted)
