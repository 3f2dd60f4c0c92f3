"""`Incremental`: a model that grows has the types, guards and diagnostics of the whole model."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import onnx_infer
from onnx_infer import ArgumentError, Incremental, InferenceResult, ShapeInferenceError

from . import models
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "f": 1, "acme": 1]>'
MODELS = {
    "data-dependent sizes": """g (float[N] x, float[4] w, bool[N] c) => (float[A] y) {
        k = NonZero(x) e = Compress<axis=0>(x, c) d = Neg(e) y = Add(e, w) b = MatMul(d, w) l = NonZero(y) }""",
    "elements of a run": """g (float[N] x, int64[1] k, int64[1] one) => (v, y) {
        v, i = TopK(x, k) m = Add(k, one) u, j = TopK(x, m) y = Concat<axis=0>(v, u) t = NonZero(y) }""",
    "graphs and functions": """g (float[N, 2] x, float[M, 2] w, bool c, int64 n) => (y, z) {
        a = Add(x, w) y = If(c) <then_branch = t () => (p) { p = Concat<axis=0>(a, x) },
            else_branch = e () => (q) { k = NonZero(a) q = Neg(a) }>
        u = f.F(a) s = Loop(n, c, u) <body = b (int64 i, bool go, v) => (on, o) {
            on = Identity(go) o = Concat<axis=0>(v, v) }> z = f.F(s) }
        <domain: "f", opset_import: ["": 18]> F (x) => (y) { k = NonZero(x) y = Neg(x) }""",
    "errors, claims and unknown operators": """g (float[N, 3] x, float[4] w) => (float[K] y, float[N] z) {
        a = acme.Top(x) b = MatMul(x, w) s = Shape(a) y = Reshape(x, s) c = acme.Low(b) z = Neg(y) }""",
}

SMALL = {
    "decoder": models.decoder(),
    "cnn": models.cnn(),
    "unet": models.unet(),
    "windows": models.windows(),
    "detector": models.detector(),
    **{name: parsed(text, HEAD) for name, text in MODELS.items()},
}


def told(result: InferenceResult) -> tuple[object, ...]:
    """All that an inference finds, as texts."""
    types = {name: str(value) for name, value in result.types.items()}
    rest = result.guards, result.data_guards, result.diagnostics, result.found_inputs, result.reasons
    return types, *map(str, rest)


def tensor(*sizes: int | str) -> onnx.TypeProto:
    return helper.make_tensor_type_proto(TensorProto.FLOAT, sizes)


@pytest.mark.parametrize("name", SMALL)
def test_a_model_that_is_handed_over_part_by_part_has_the_same_result(name: str) -> None:
    model = SMALL[name]
    building = Incremental.replay(model)
    assert told(building.finish()) == told(onnx_infer.infer(model))
    assert told(building.finish()) == told(onnx_infer.infer(model)), "a second time"


@pytest.mark.parametrize("name", SMALL)
def test_the_result_writes_what_the_result_of_the_whole_model_writes(name: str) -> None:
    model = SMALL[name]
    copies = [onnx.ModelProto.FromString(model.SerializeToString()) for _ in range(2)]
    Incremental.replay(model).finish().apply(copies[0])
    onnx_infer.infer(model).apply(copies[1])
    assert copies[0] == copies[1]


@pytest.mark.parametrize("options", [{"bounds": {"N": (4, 8)}}, {"min_dim": 0}, {"broadcast": "strict"}], ids=str)
def test_options_are_those_of_the_whole_model(options: dict[str, object]) -> None:
    for name in ("data-dependent sizes", "graphs and functions"):
        model = SMALL[name]
        found = Incremental.replay(model, **options).finish()  # type: ignore[arg-type]
        assert told(found) == told(onnx_infer.infer(model, **options))  # type: ignore[arg-type]


def test_bounds_in_metadata_count() -> None:
    model = parsed("g (float[N, 3] x) => (y) { y = Add(x, x) }")
    model.graph.metadata_props.add(key="symdim.contract", value='{"version": 1, "bounds": {"N": [2, 4]}}')
    assert Incremental.replay(model).finish().symbols["N"].bounds() == (2, 4)


def test_each_node_tells_its_types_and_errors_at_once() -> None:
    building = Incremental({"": 20})
    building.input("x", tensor("N", 4))
    building.initializer(numpy_helper.from_array(numpy_helper.np.array([2, -1]), "shape"))
    assert str(building.node("Reshape", ["x", "shape"], ["r"])) == "[f32[2, 2*N]]"
    (size,) = building.node("Shape", ["r"], ["s"])
    assert str(size) == "i64[2]={2, 2*N}"
    (literal,) = building.node("Constant", [], ["c"], {"value": helper.make_tensor("", TensorProto.INT64, [1], [7])})
    assert str(literal) == "i64[1]={7}"
    building.check()
    building.node("Gemm", ["x", "x", "x"], ["g"], {"alpha": 2.0}, name="wrong")
    assert not building.diagnostics
    building.node("Concat", ["x", "s"], ["bad"], {"axis": 0}, name="bad one")
    (diagnostic,) = building.diagnostics
    assert "bad one" in str(diagnostic)
    with pytest.raises(ShapeInferenceError, match="bad one"):
        building.check()
    assert str(building.type("shape")) == "i64[2]={2, -1}"
    with pytest.raises(KeyError):
        building.type("nothing")


def test_subgraphs_and_functions_are_given_whole() -> None:
    twice = onnx.parser.parse_function(
        '<domain: "f", opset_import: ["": 20]> Twice (x) => (y) { y = Concat<axis = 0> (x, x) }'
    )
    branches = [
        helper.make_graph(
            [helper.make_node(op, ["t"], ["r"])], op, [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)]
        )
        for op in ("Neg", "Abs")
    ]
    building = Incremental({"": 20, "f": 1}, functions=[twice])
    building.input("x", tensor("N", 4))
    building.input("c", helper.make_tensor_type_proto(TensorProto.BOOL, []))
    assert str(building.node("Twice", ["x"], ["t"], domain="f")) == "[f32[2*N, 4]]"
    attributes = {"then_branch": branches[0], "else_branch": branches[1]}
    assert str(building.node("If", ["c"], ["y"], attributes)) == "[f32[2*N, 4]]"
    building.rename({"t": "twice"})
    building.output("y")
    result = building.finish()
    assert str(result.types["y"]) == "f32[2*N, 4]"
    assert "twice" in result.types
    assert "t" not in result.types


def test_what_comes_after_the_first_node_counts_from_the_start() -> None:
    building = Incremental({"": 20})
    building.input("x", tensor("2*N", 4))
    building.node("Neg", ["x"], ["y"])
    building.input("w", tensor("N", "M"))
    building.node("Concat", ["x", "w"], ["z"], {"axis": 0})
    assert str(building.type("z")) == "f32[3*N, 4]"
    building.output("z", tensor("a", "b"))
    assert [str(guard) for guard in building.guards] == ["M == 4"]


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (("Neg", ["nothing"], ["z"]), "input 'nothing' is not defined yet"),
        (("Neg", ["x"], ["y"]), "output 'y' is already defined"),
        (("Neg", ["x"], ["x"]), "output 'x' is already defined"),
        (("Split", ["x"], ["z", "z"]), "output 'z' is already defined"),
        (("Constant", [], ["y"], {"value": helper.make_tensor("", TensorProto.FLOAT, [1], [7])}), "already defined"),
    ],
    ids=str,
)
def test_a_node_that_reads_or_gives_a_wrong_name_is_not_added(node: tuple[object, ...], told: str) -> None:
    building = Incremental({"": 20})
    building.input("x", tensor("N", 4))
    building.node("Neg", ["x"], ["y"])
    with pytest.raises(ArgumentError, match=told):
        building.node(*node)  # type: ignore[arg-type]
    assert sorted(building.finish().types) == ["x", "y"]


def test_renamed_values() -> None:
    building = Incremental({"": 20})
    building.input("x", tensor("N", 4))
    building.node("NonZero", ["x"], ["y"])
    before = building.checkpoint()
    building.rename({"x": "image", "y": "found"})
    assert sorted(building.finish().types) == ["found", "image"]
    with pytest.raises(ArgumentError, match="no value 'x'"):
        building.rename({"x": "z"})
    with pytest.raises(ArgumentError, match="a value 'image' already"):
        building.rename({"found": "image"})
    building.rollback(before)
    assert sorted(building.finish().types) == ["x", "y"]


STEPS = {
    "Neg": lambda b, a, n: b.node("Neg", [a], [n]),
    "NonZero": lambda b, a, n: b.node("NonZero", [a], [n]),
    "MatMul": lambda b, a, n: b.node("MatMul", [a, "w"], [n]),
    "unknown": lambda b, a, n: b.node("Own", [a], [n], domain="acme"),
    "call": lambda b, a, n: b.node("Found", [a], [n], domain="f"),
    "constant": lambda b, a, n: b.initializer(helper.make_tensor(n, TensorProto.INT64, [2], [len(n), -1])),
    "Reshape": lambda b, a, n: b.node("Reshape", ["x", a], [n]),
    "input": lambda b, a, n: b.input(n, tensor("N", "M", n)),
    "output": lambda b, a, n: b.output(a, tensor("A", "B")),
    "rename": lambda b, a, n: b.rename({a: n}),
}
FOUND = onnx.parser.parse_function(
    '<domain: "f", opset_import: ["": 20]> Found (x) => (y) { k = NonZero(x) y = Neg(k) }'
)

calls = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5)), max_size=7)


def called(building: Incremental, names: list[str], steps: list[tuple[str, int]]) -> list[str]:
    """The names after these calls, new ones last. A call that is refused changes nothing."""
    names = list(names)
    for kind, index in steps:
        name, new = names[index % len(names)], f"v{len(names)}"
        try:
            STEPS[kind](building, name, new)
        except ArgumentError:
            continue
        if kind == "rename":
            names[names.index(name)] = new
        if kind != "output":
            names.append(new)
    return names


@settings(deadline=None, max_examples=150)
@given(calls, calls, calls)
def test_what_is_rolled_back_was_never_called(
    before: list[tuple[str, int]], undone: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    def begun() -> Incremental:
        building = Incremental({"": 20, "f": 1, "acme": 1}, functions=[FOUND])
        building.input("x", tensor("N", 4))
        building.input("w", tensor("M", 4))
        return building

    one, two = begun(), begun()
    names = called(one, ["x", "w"], before)
    assert called(two, ["x", "w"], before) == names
    mark = two.checkpoint()
    for _ in range(2):
        called(two, names, undone)
        two.finish() if len(undone) % 3 == 2 else two.diagnostics
        two.rollback(mark)
    assert called(one, names, after) == called(two, names, after)
    assert list(map(str, one.diagnostics)) == list(map(str, two.diagnostics))
    assert told(one.finish()) == told(two.finish())


def test_a_checkpoint_that_a_rollback_has_forgotten_is_refused() -> None:
    building = Incremental({"": 20})
    building.input("x", tensor("N", 4))
    start = building.checkpoint()
    building.node("Concat", ["x", "x"], ["a"], {"axis": 0})
    later = building.checkpoint()
    building.node("Neg", ["a"], ["b"])
    building.rollback(later)
    building.rollback(start)
    building.node("Concat", ["x", "x"], ["p"], {"axis": 1})
    building.node("Abs", ["p"], ["q"])
    with pytest.raises(ArgumentError, match="lies after an earlier rollback"):
        building.rollback(later)
    assert list(building.finish().types) == ["x", "p", "q"]
    building.rollback(start)
    assert list(building.finish().types) == ["x"]
