"""Reports of a result: reasons for what is unknown, first errors and what follows from them, guards with nodes."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest

import onnx_infer
from onnx_infer.__main__ import main
from onnx_infer.results.reasons import Reasons
from onnx_infer.tools.cli.arguments import MODEL_ERRORS
from onnx_infer.tools.report.explanation import explain
from onnx_infer.tools.report.table import table
from tests.counting import calls_of


def model(graph: str, *without_rank: str) -> onnx.ModelProto:
    found = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 20, "com.acme": 1]> {graph}')
    for info in found.graph.input:
        if info.name in without_rank:
            info.type.tensor_type.ClearField("shape")
    return found


BROKEN = """g (float[2, 3] x, float[N, H] y, float[3, 64, 3, 3] w) => (z, n) {{
    c = Conv (y, w)  {chain}  z = Add (v{last}, y)  s = Shape (v{last})  e = Expand (y, s)  n = NonZero (y)
}}"""


def broken(length: int) -> onnx.ModelProto:
    """A Conv of a matrix, which has an error, and a chain of nodes behind it."""
    chain = "v0 = Relu (c) " + " ".join(f"v{i + 1} = Relu (v{i})" for i in range(length))
    return model(BROKEN.format(chain=chain, last=length))


def test_errors_come_first_and_what_follows_is_counted() -> None:
    lines = table(onnx_infer.infer(broken(60))).splitlines()
    assert lines[0].startswith("error: Conv (opset 11) 'c': the rank must be at least 3: 2")
    assert lines[2].endswith(" values that depend on it are unknown")
    assert sum("the rank must be" in line for line in lines) == 3  # the error, the reason of the output z, the end
    assert lines[-3:] == ["1 error:", f"  {lines[0].removeprefix('error: ')}", "  next: --explain c"]
    assert not any(" v30 " in line for line in lines)
    assert any("that an error leaves unknown (use --all to list them)" in line for line in lines)


def test_headings_are_in_order() -> None:
    text = table(onnx_infer.infer(broken(3)))
    places = [
        text.index(heading) for heading in ("error:", "values:", "\ninputs:", "\noutputs:", "\nintermediate values:")
    ]
    assert places == sorted(places)


def test_an_error_behind_another_is_counted_and_spelled_out_on_demand() -> None:
    graph = """g (float[2, 3] x, float[3, 64, 3, 3] w) => (z) {
        c = Conv (x, w)  d = Transpose <perm = [0, 0]> (c)  z = Relu (d) }"""
    result = onnx_infer.infer(model(graph))
    (root,) = Reasons(result).roots()
    assert (root.diagnostic.node, [error.node for error in root.behind], root.values) == ("c", ["d"], 3)
    assert "  1 more error follows from it\n  3 values that depend on it are unknown\n\n" in table(result)
    assert "\n    error: Transpose (opset 13) 'd': " in table(result, None)


def test_equal_errors_are_one_line() -> None:
    found = onnx_infer.infer(
        model("g (float[N, 128] x, float[1, 64] y) => (c) { a = Add (x, y)  b = Add (x, y)  c = Add (x, y) }")
    )
    (root,) = Reasons(found).roots()
    assert (root.diagnostic.node, root.alike) == ("a", 3)
    assert table(found).splitlines()[0].endswith("128 and 64 (and 2 more nodes alike)")


@pytest.mark.parametrize(
    ("graph", "without_rank", "name", "kind", "text"),
    [
        ("g (float[N] x) => (y) { y = NonZero (x) }", [], "y", "data", "the number of non-zero elements"),
        ("g (float x) => (y) { a = Relu (x)  y = NonZero (a) }", ["x"], "y", "undeclared", "--bidirectional"),
        ("g (float x) => (y) { a = Shape (x)  y = Expand (x, a) }", ["x"], "y", "undeclared", "'x' declares no rank"),
        ("g (float[N] x) => (y) { a = com.acme.Foo (x)  y = Relu (a) }", [], "y", "no rule", "com.acme::Foo"),
        ("g (float[N] x, float[2] w) => (y) { a = Conv (x, w)  y = Relu (a) }", [], "y", "error", "Conv 'a': "),
        ("g (float[N] x, int64[1] k) => (y) { y, i = TopK (x, k) }", [], "y", "value", "the value of input 'k'"),
        ("g (float[N] x, int64[1] k = {3}) => (y) { y, i = TopK (x, k) }", [], "y", "value", "--initializers constant"),
    ],
)
def test_the_cause_of_what_is_unknown(graph: str, without_rank: list[str], name: str, kind: str, text: str) -> None:
    result = onnx_infer.infer(model(graph, *without_rank))
    reason = Reasons(result).of(name)
    assert reason is not None
    assert reason.kind == kind
    assert text in reason.text
    shown = table(result)
    assert text in shown
    assert ("data-dependent" in shown) == (kind in ("data", "value"))


def test_a_wrong_declared_type_is_no_reason_of_what_the_data_decide() -> None:
    result = onnx_infer.infer(model("g (float[N] x) => (float[3] y) { y = NonZero (x) }"))
    assert [error.node for error in result.diagnostics] == ["y", "y"]
    assert [reason.kind for reason in result.reasons["y"]] == ["data"]


def test_an_explanation_goes_back_through_elements_to_an_input_without_rank() -> None:
    graph = (
        """g (float x, float[M] y) => (e) <int64[1] i = {0}> { s = Shape (x)  f = Gather (s, i)  e = Expand (y, f) }"""
    )
    shown = explain(onnx_infer.infer(model(graph, "x")), "e")
    assert "x: f32[...]" in shown


def test_an_erroneous_value_shows_its_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(model("g (float[N, 128] x, float[1, 64] y) => (c) { a = Add (x, y)  c = Relu (a) }"), path)
    assert main([str(path), "--explain", "a"]) == MODEL_ERRORS
    assert "  error: Add (opset 14) 'a': sizes do not broadcast: 128 and 64\n" in capsys.readouterr().out
    assert main([str(path), "--explain", "a", "--json"]) == MODEL_ERRORS
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert [error["message"] for error in step["diagnostics"]] == ["sizes do not broadcast: 128 and 64"]


def test_guards_name_their_nodes() -> None:
    graph = "g (float[N, K] x, float[M, 4] w) => (y) { y = MatMul (x, w)  z = MatMul (x, w) }"
    assert "  K == M   MatMul 'y': inner sizes of the product (and 1 more node)" in table(
        onnx_infer.infer(model(graph))
    )


def test_reports_of_one_result_share_the_work() -> None:
    names = [f"v{i}" for i in range(60)]
    nodes = " ".join(f"{name} = NonZero (x)" for name in names)
    result = onnx_infer.infer(model(f"g (float[N, H] x) => ({', '.join(names)}) {{ {nodes} }}"))
    first = calls_of(lambda: onnx_infer.infer(model("g (float[N] x) => (y) { y = NonZero (x) }")).explain("y"))
    assert result.explain("v0")
    assert calls_of(lambda: result.explain("v1")) < 3 * first


def test_a_table_with_many_values_that_an_error_leaves_unknown() -> None:
    def told(count: int) -> str:
        names = ", ".join(f"v{i}" for i in range(count))
        text = f"g (float[N] x) => (z) {{ {names} = Split <axis = 3> (x) z = Neg (v7) }}"
        return table(onnx_infer.infer(model(text)))

    assert "  100 intermediate values that an error leaves unknown" in told(100)
    assert calls_of(lambda: told(400)) < 2.7 * calls_of(lambda: told(200))
