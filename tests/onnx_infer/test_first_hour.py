"""What a user meets first: reprs, tables, pickles and explanations of results, and arguments of a wrong kind."""

from __future__ import annotations

import inspect
import pickle
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir
import pytest
from onnx import helper

import onnx_infer
from onnx_infer import Node, OpUsageError, ShapeInferenceContext, ShapeInferenceError, ValueInfo, infer, registry
from onnx_infer.inference import Options
from onnx_infer.testing import const_value, ts
from symdim import Dim, Expr, Var

from . import models
from .texts import parsed

if TYPE_CHECKING:
    from collections.abc import Callable

GRAPH = """g (float[N, 8] x, float[8, 4] w) => (y, z) {
    m = MatMul (x, w)
    y = Relu (m)
    z = NonZero (y)
    broken = Concat <axis: int = 5> (x, x)
}"""
HEAD = '<ir_version: 10, opset_import: ["": 20]>'


@pytest.fixture(scope="module")
def result() -> onnx_infer.InferenceResult:
    return infer(parsed(GRAPH, HEAD))


def test_a_result_shows_what_was_found(result: onnx_infer.InferenceResult) -> None:
    start = "InferenceResult(x: f32[N, 8], w: f32[8, 4] -> y: f32[N, 4], z: i64[2, _d0]; 1 error; 6 values: 4 exact, "
    assert repr(result).startswith(start)
    many = infer(parsed(f"g ({', '.join(f'float[N] x{i}' for i in range(5))}) => (y) {{ y = Sum (x0, x1) }}", HEAD))
    assert repr(many).startswith("InferenceResult(x0: f32[N], x1: f32[N], x2: f32[N], ... -> y: f32[N]; ")


def test_a_notebook_shows_a_table(result: onnx_infer.InferenceResult) -> None:
    html = result._repr_html_()
    assert "<tr><td>y</td><td>f32[N, 4]</td><td></td></tr>" in html
    assert "<td>z</td><td>i64[2, _d0]</td><td>NonZero &#x27;z&#x27;: the number of" in html
    assert "Concat (opset 13) &#x27;broken&#x27;" in html
    titles = re.findall("<details( open)?><summary>([^:]*)", html)
    order = ["errors", "symbols", "inputs", "outputs", "intermediate values that are not exact", "intermediate values"]
    assert titles == [(" open" if title != "intermediate values" else "", title) for title in order]
    planner = result.planner()
    assert repr(planner) == "Planner(N: 4 values, 2 left out)"
    assert "<td>y</td><td>[N, 4]</td>" in planner._repr_html_()


def test_memory_and_costs_show_their_sums(result: onnx_infer.InferenceResult) -> None:
    assert repr(result.memory()) == "MemoryPlan(4 steps, 4 values)"
    sizes = dict.fromkeys(result.memory().symbols, 2)
    assert repr(result.memory().peak_at(sizes)).startswith("<Peak ")
    assert repr(result.planner()(N=2)) == "<PlannedSizes of 4 values>"
    assert repr(result.layers()[0]) == "<Layer (no layer): 4 nodes, parameters=0, multiply_adds=32*N>"
    assert repr(result.costs()) == "Costs(4 nodes: parameters=0, multiply_adds=32*N)"


def test_table_and_explanation_are_methods(result: onnx_infer.InferenceResult) -> None:
    assert "y" in result.table()
    assert "_d0" in result.table(limit=None)
    assert "NonZero" in result.explain("z")
    with pytest.raises(KeyError):
        result.explain("no such value")


@pytest.mark.parametrize("name", ["control", "decoder", "detector", "windows", "errors"])
def test_a_result_is_pickled_as_data(name: str) -> None:
    model = {
        "control": lambda: parsed("g (bool c, float[N] x) => (y) { y = If (c) <then_branch = a () => (t) "
                                  "{ t = Neg (x) }, else_branch = b () => (e) { e = Relu (x) }> }", HEAD),
        "decoder": lambda: models.decoder(layers=1),
        "detector": models.detector,
        "windows": models.windows,
        "errors": lambda: parsed(GRAPH, HEAD),
    }[name]()  # fmt: skip
    found = infer(model)
    again: onnx_infer.InferenceResult = pickle.loads(pickle.dumps(found))
    assert dict(again.types) == dict(found.types)
    for attribute in ("inputs", "outputs", "shapes", "values", "symbols", "notes", "diagnostics", "found_inputs"):
        assert getattr(again, attribute) == getattr(found, attribute), attribute
    assert (again.guards, again.data_guards) == (found.guards, found.data_guards)
    assert (again.guarantees, again.upper_bounds) == (found.guarantees, found.upper_bounds)
    assert (repr(again), again._repr_html_()) == (repr(found), found._repr_html_())
    assert again.table(None) == found.table(None)
    assert [again.explain(name) for name in found.types] == [found.explain(name) for name in found.types]
    sizes: dict[Any, int] = {v: v.bounds()[0] or 0 for v in found.sources.symbols}
    assert again.check(sizes) == found.check(sizes)
    assert repr(pickle.loads(pickle.dumps(again))) == repr(found)


def test_what_a_pickle_does_not_hold_is_refused_with_the_cure(result: onnx_infer.InferenceResult) -> None:
    again: onnx_infer.InferenceResult = pickle.loads(pickle.dumps(result))
    for ask in (again.memory, again.costs, lambda: again.apply(parsed(GRAPH, HEAD)), lambda: again.memory(inputs=True)):
        with pytest.raises(ValueError, match="read from a pickle, which holds no model: infer the model anew"):
            ask()


def test_a_planner_is_pickled(result: onnx_infer.InferenceResult) -> None:
    planner = result.planner()
    again = pickle.loads(pickle.dumps(planner))
    assert again(N=3).shapes == planner(N=3).shapes
    assert (repr(again), again.missing) == (repr(planner), planner.missing)


def of_onnx_ir() -> onnx_infer.InferenceResult:
    return onnx_infer.integrations.onnx_ir.infer(onnx_ir.from_proto(parsed(GRAPH, HEAD)))  # type: ignore[attr-defined, no-any-return]


def test_a_result_of_onnx_ir_is_pickled() -> None:
    found = of_onnx_ir()
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


@pytest.mark.parametrize("of", [lambda: infer(parsed(GRAPH, HEAD)), of_onnx_ir])
def test_each_part_of_a_result_is_pickled(of: Callable[[], onnx_infer.InferenceResult]) -> None:
    found = of()
    names = [name for name in dir(found) if not name.startswith("_") and not callable(getattr(found, name))]
    parts = {name: getattr(found, name) for name in names}
    parts |= {"memory": found.memory(), "costs": found.costs(), "layers": found.layers(), "check": found.check(N=1)}
    parts |= {"compare": found.compare(found)}
    assert {"types", "guards", "sources", "guarantees", "diagnostics"} <= parts.keys()
    for name, part in parts.items():
        again = pickle.loads(pickle.dumps(part))
        assert repr(again) == repr(part) or name in ("sources", "compare"), name
    assert pickle.loads(pickle.dumps(found.types)) == dict(found.types)


@pytest.mark.parametrize(
    "options, cure",
    [
        ({"bounds": {"N": 4}}, r"write bounds=\{'N': \(4, 4\)\}"),
        ({"bounds": {"N": (1, 2, 3)}}, r"write \(1, 64\), or \(1, None\)"),
        ({"bounds": {"N": (1.5, 2)}}, "two integers"),
        ({"bounds": {"N": "1..4"}}, "two integers"),
        ({"bounds": {Var("N"): (1, 4)}}, "a symbol is given by its name, write 'N'"),
        ({"bounds": [("N", 1, 4)]}, "bounds are a dict"),
        ({"assume": "H % 2 == 0"}, r"relations are a list, write assume=\['H % 2 == 0'\]"),
        ({"assume": [Var("N")]}, "a list of texts"),
        ({"assume": 3}, "a list of texts"),
    ],
    ids=str,
)
def test_an_option_of_a_wrong_kind_gets_the_cure(options: dict[str, Any], cure: str) -> None:
    model = parsed(GRAPH, HEAD)
    calls = [lambda: infer(model, **options), lambda: onnx_infer.infer_shapes(model, **options)]
    for call in (*calls, lambda: onnx_infer.integrations.onnx_ir.infer(onnx_ir.from_proto(model), **options)):  # type: ignore[attr-defined]
        with pytest.raises(TypeError, match=cure) as caught:
            call()
        assert isinstance(caught.value, onnx_infer.ArgumentError)


@pytest.mark.parametrize("call", [infer, onnx_infer.infer_shapes, onnx_infer.infer_symbolic_shapes])
def test_what_is_no_model_gets_the_cure(call: Any) -> None:
    model = parsed(GRAPH, HEAD)
    for wrong, cure in [
        (model.graph, r"not GraphProto: wrap it by onnx.helper.make_model\(graph\)"),
        (model.graph.node[0], "call onnx_infer.infer_node_outputs"),
        (None, "not NoneType"),
        ([model], "not list"),
    ]:
        with pytest.raises(onnx_infer.ArgumentError, match=cure):
            call(wrong)
    if call is not onnx_infer.infer_symbolic_shapes:
        with pytest.raises(TypeError, match=r"onnx_infer\.integrations\.onnx_ir\.infer"):
            call(onnx_ir.from_proto(model))


def test_infer_symbolic_shapes_takes_a_model_of_either_front_end() -> None:
    model = onnx_ir.from_proto(parsed(GRAPH, HEAD))
    assert onnx_infer.infer_symbolic_shapes(model, policy="refine") is model
    assert str(model.graph.outputs[0].shape) == "[N,4]"
    proto = parsed(GRAPH, HEAD)
    assert onnx_infer.infer_symbolic_shapes(proto) is proto


def test_bounds_make_another_variable_and_the_result_gives_it() -> None:
    found = infer(parsed(GRAPH, HEAD), bounds={"N": (1, 64)})
    size = found.shapes["x"][0]
    assert size is found.symbols["N"]
    assert size != Var("N")
    assert isinstance(size, Expr)
    assert size is Var("N", 1, 64)
    assert (str(size - Var("N")), str(Var("N") - size)) == ("`N#2` - N", "N - `N#2`")


def test_dim_is_public() -> None:
    assert onnx_infer.Dim == Dim
    assert "Dim" in onnx_infer.__all__


# -- as the design of onnx_ir.shape_inference writes it ---------------------------------------------------------------


def test_rules_are_called_as_functions() -> None:
    ctx, y = ShapeInferenceContext({"": 20}), ValueInfo("y")
    rule = registry.get("", "Reshape", 20)
    assert rule is not None
    rule(ctx, Node("Reshape", [ValueInfo("x", ts(1, ["N", 6])), ValueInfo("s", const_value([-1, 3], "s"))], [y]))
    assert str(y) == "y: f32[2*N, 3]"
    with pytest.raises(OpUsageError, match="takes 2 inputs, not 0"):
        rule(ctx, Node("Reshape", [], [y]))
    concat = registry.get("", "Concat", 20)
    assert concat is not None
    operands = [ValueInfo("a", ts(1, [2, 3])), ValueInfo("b", ts(1, [3, 3]))]
    with pytest.raises(ShapeInferenceError, match=r"Concat: .*2 != 3"):
        concat(ctx, Node("Concat", operands, [ValueInfo("c")], {"axis": 1}))
    quiet = ShapeInferenceContext({"": 20}, policy="skip")
    concat(quiet, Node("Concat", operands, [ValueInfo("c")], {"axis": 1}))
    assert len(quiet.errors) == 1


def test_a_rule_on_the_context_is_called_as_a_function() -> None:
    own = onnx_infer.OpShapeInferenceRegistry()

    @own.register("com.acme", "Keep", since_version=1)
    def keep(ctx: ShapeInferenceContext, node: Node) -> None:
        ctx.set_shape_and_dtype(node.outputs[0], [ctx.new_symbolic_dim(prefix="kept")], 1)

    rule, y = own.get("com.acme", "Keep", 1), ValueInfo("y")
    assert rule is not None
    rule(ShapeInferenceContext(), Node("Keep", [], [y]))
    assert str(y) == "y: f32[kept0]"


def test_the_names_of_sizes_in_a_model_do_not_depend_on_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(ctx: ShapeInferenceContext, node: Node) -> None:
        ctx.set_shape_and_dtype(node.outputs[0], [ctx.new_symbolic_dim(prefix="kept")], 1)

    registry.register("com.acme", "KeepSome", since_version=1)(keep)
    try:
        node = helper.make_node("KeepSome", ["x"], ["y"], domain="com.acme")
        x = helper.make_tensor_value_info("x", 1, ["N"])
        graph = helper.make_graph([node], "g", [x], [onnx.ValueInfoProto(name="y")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("com.acme", 1)])
        assert str(infer(model).types["y"]) == "f32[_d0]"
    finally:
        registry._rules.pop(("com.acme", "KeepSome"))


def test_constants_have_names() -> None:
    assert const_value([2, 3], "shape", 6) is const_value([2, 3], 6) is const_value([2, 3], dtype=6)
    assert const_value([2, 3], "shape") is const_value([2, 3])


def test_paths_are_models(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(parsed(GRAPH, HEAD), path)
    assert repr(infer(path)) == repr(infer(str(path)))


def test_every_option_is_a_parameter_with_a_line_in_the_docstring() -> None:
    parameters = inspect.signature(infer).parameters
    assert parameters.keys() - {"model"} == Options.__annotations__.keys()
    for name in parameters:
        assert f"\n        {name}: " in (infer.__doc__ or ""), name
