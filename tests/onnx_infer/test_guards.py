"""What must hold for a model to run: where a guard fails the run fails, where all hold it runs."""

from __future__ import annotations

import pickle

import numpy as np
import onnx
import pytest

from onnx_infer import infer
from onnx_infer.errors import ShapeInferenceError, UnknownSymbol
from onnx_infer.result import InferenceResult
from onnx_infer.results.guards import Guard, Violation
from symdim import BoundsError, UnboundName, Var
from symdim.relations.relation import Relation

from .sessions import REFUSED, session_of, shape_at
from .texts import parsed

N, M, K = Var("N"), Var("M"), Var("K")


def with_dims(model: onnx.ModelProto, **texts: str) -> onnx.ModelProto:
    """The model with other texts for some symbols of its inputs: the text format has names only."""
    for dim in (d for value in model.graph.input for d in value.type.tensor_type.shape.dim):
        if dim.dim_param in texts:
            dim.dim_param = texts[dim.dim_param]
    return model


def texts(result: InferenceResult) -> list[str]:
    return [f"{guard.operator} {guard.node}: {guard}" for guard in result.guards]


@pytest.mark.parametrize(("kernel", "stride"), [(2, 2), (3, 2), (4, 3), (3, 1), (7, 2), (9, 3)])
def test_a_pool_has_the_size_inferred_where_its_guard_holds(kernel: int, stride: int) -> None:
    """Where the window exceeds the input, onnxruntime's truncating division has one place more than the law."""
    pool = f"y = MaxPool<kernel_shape=[{kernel}], strides=[{stride}]>(x)"
    model = parsed(f"g (float[1, 1, H] x) => (y) {{ {pool} }}", '<ir_version: 8, opset_import: ["": 18]>')
    result = infer(model)
    assumed = [kernel] if stride > 1 else []
    assert texts(result) == [f"MaxPool y: H >= {n}" for n in [kernel - 2 * stride + 1, *assumed] if n > 1]
    session = session_of(model)
    for size in range(1, 9):
        feeds = {"x": np.zeros((1, 1, size), np.float32)}
        failing = {violation.kind for violation in result.check(H=size)}
        if "required" in failing:
            with pytest.raises(REFUSED, match="negative"):
                session.run(None, feeds)
        elif not failing:
            (y,) = session.run(None, feeds)
            assert y.shape == shape_at(result, "y", {"H": size})


def test_a_violation_says_which_node_and_both_values() -> None:
    result = infer(parsed("g (float[N, K] a, float[M, P] b) => (y) { y = MatMul(a, b) }"))
    (found,) = result.check(N=2, K=3, M=4, P=5)
    assert isinstance(found, Violation)
    assert (found.lhs, found.rhs, found.guard.law) == (3, 4, "inner sizes of the product")
    assert str(found) == "MatMul 'y': inner sizes of the product: K == M is violated (3 != 4)"
    assert result.check({K: 4, "N": 1, "M": 4, "P": 1}) == []


@pytest.mark.parametrize("graph", ["y = MatMul(a, b)", "y = Neg(a)"], ids=["a guard", "none"])
def test_sizes_are_checked_whether_a_guard_needs_them_or_not(graph: str) -> None:
    result = infer(parsed(f"g (float[N, K] a, float[M, P] b) => (y) {{ {graph} }}"))
    for call in (result.check, pickle.loads(pickle.dumps(result)).check, result.planner()):
        with pytest.raises(UnboundName, match=r"no value for 'M', 'P'"):
            call(N=2, K=3)
        with pytest.raises(BoundsError, match="'K' is at least 1, not 0"):
            call(N=2, K=0, M=1, P=1)
        with pytest.raises(UnknownSymbol, match=r"no symbol 'k'; its symbols are .*'K'.*; do you mean 'K'\?"):
            call(N=2, K=3, M=3, P=1, k=3)
        call(N=2, K=3, M=3, P=1)
    assert result.check({"N": 2, "K": 3, "M": 3, "P": 1, "other": 3}) == []


def test_a_symbol_that_bounds_make_a_number_may_still_be_given() -> None:
    result = infer(parsed("g (float[N, K] a) => (y) { y = Neg(a) }"), bounds={"K": (3, 3)})
    assert result.check(N=2, K=3) == []
    with pytest.raises(BoundsError, match="'K' is from 3 to 3, not 4"):
        result.check(N=2, K=4)


def test_sizes_for_the_largest_size_are_checked() -> None:
    result = infer(parsed("g (float[N, K] a) => (y) { y = Neg(a) }"))
    with pytest.raises(UnknownSymbol, match="'k'"):
        result.largest_size(1000, "N", {"K": 3, "k": 3})
    with pytest.raises(BoundsError, match="'K'"):
        result.largest_size(1000, "N", {"K": 0})


def test_equal_guards_are_one_with_all_its_nodes() -> None:
    graph = """g (float[2, N] a, float[2, M] b) => (p, q, r, s) <int64[1] minus = {-1}> {
        u = Transpose<perm=[1, 0]>(b)
        p = MatMul(a, u)
        v = Concat<axis=1>(a, a)
        w = Concat<axis=1>(b, b)
        q = Concat<axis=0>(w, v)
        r = Add(a, b)
        s = Reshape(a, minus)
    }"""
    (guard,) = infer(parsed(graph)).guards
    assert str(guard) == guard.text == "N == M"
    assert [str(origin) for origin in guard.origins] == ["MatMul 'p'", "Concat 'q'"]
    assert (guard.operator, guard.node) == ("MatMul", "p")


def test_what_bounds_prove_is_no_guard() -> None:
    graph = "g (float[1, 2, H] x, float[1, 2, 3] w) => (y) { y = Conv(x, w) }"
    assert [str(g) for g in infer(parsed(graph)).guards] == ["H >= 3"]
    assert infer(parsed(graph), bounds={"H": (3, None)}).guards == []
    wide = infer(parsed("g (float[N] a, float[M] b) => (y) { y = Add(a, b) }"), bounds={"N": (2, 9), "M": (3, 4)})
    assert [str(g) for g in wide.guards] == ["N == M"]


def test_guards_of_sizes_that_the_data_decide_are_apart() -> None:
    graph = """g (float[N] x, float[M, 1] w) => (y) {
        where = NonZero(x)
        t = Transpose<perm=[1, 0]>(where)
        f = Cast<to=1>(t)
        y = Add(f, w)
    }"""
    result = infer(parsed(graph))
    assert result.guards == []
    (guard,) = result.data_guards
    assert [v.name for v in guard.variables()] == ["_d0", "M"]
    assert result.check(N=4, M=3) == []
    assert [str(v) for v in result.check({"N": 4, "M": 3, guard.lhs: 2})] == [
        "Add 'y': broadcast sizes: _d0 == M or 1 in (_d0, M) is violated (2 and 3)"
    ]


def test_guards_of_elements_take_part_where_these_are_given() -> None:
    result = infer(parsed("g (float[N] x, int64[1] k) => (v) { v, i = TopK(x, k) }"))
    (guard,) = result.guards
    element = next(v for v in guard.variables() if v.name != "N")
    assert (guard.node, guard.relation) == ("v", "at_least")
    assert result.check(N=3) == []
    assert [bool(result.check({"N": 3, element: k})) for k in (2, 3, 4)] == [False, False, True]


def test_a_divisor_of_zero_is_a_violation() -> None:
    guard = Guard(Relation("equal", N // (M - 1), 3), "law")
    assert str(guard.violation({"N": 3, "M": 1})) == "law: N//(M - 1) == 3 has no value: a divisor is 0"
    assert guard.violation({"N": 3, "M": 2}) is None


def test_sizes_of_symbols_from_shapes_of_inputs() -> None:
    graph = "g (float[N, twice] a, float[sum] b, float[3] c, float[H] d) => (y) { y = Identity(a) }"
    result = infer(with_dims(parsed(graph), twice="2*H", sum="N + H"))
    assert result.sources.bindings({"a": (4, 6), "b": (7,), "c": (3,)}) == {Var("N"): 4, Var("H"): 3}
    assert result.sources.bindings({"b": (7,)}) == {}
    for shapes, message in (
        ({"a": (4, 7), "b": (7,)}, r"a.shape\[1\] is 2\*H, which is never 7"),
        ({"a": (4, 6), "b": (8,)}, r"b.shape\[0\] is H \+ N, so 7, and not 8"),
        ({"c": (4,)}, r"c.shape\[0\] is 3, and not 4"),
        ({"c": (4, 1)}, r"c has the rank 1, f32\[3\], and not 2"),
    ):
        with pytest.raises(ShapeInferenceError, match=message):
            result.sources.bindings(shapes)
