"""`lint`: each rule finds what onnx's checker or onnxruntime refuses, and a healthy model has no finding."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

import onnx_infer
from onnx_infer.__main__ import main
from onnx_infer.protobuf.lint import RULES
from tests.onnx_infer.sessions import REFUSED, session_of

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '<ir_version: 8, opset_import: ["": 17]>'
BRANCHES = """ g (float[2] x, bool c) => (float[2] y) {
    t = Relu (x)  s = Neg (t)
    y = If (c) <then_branch = a () => (float[2] %s) { %s }, else_branch = b () => (float[2] v) { v = Neg (s) }>
}"""


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def found(model: onnx.ModelProto | str) -> list[tuple[str, str, str]]:
    return [tuple(finding) for finding in onnx_infer.lint(model)]


def refused(model: onnx.ModelProto) -> bool:
    """Whether the checker of onnx or a session of onnxruntime refuses a model."""
    try:
        onnx.checker.check_model(model)
        session_of(model)
    except (onnx.checker.ValidationError, *REFUSED):
        return True
    return False


def test_bodies() -> None:
    healthy = parsed(BRANCHES % ("u", "w = Neg (t)  u = Neg (w)"))
    assert found(healthy) == []
    assert not refused(healthy)
    shadowed = parsed(BRANCHES % ("u", "t = Neg (x)  u = Neg (t)"))
    assert found(shadowed) == [("shadowed-name", "If 'y' then_branch", "t")]
    assert refused(shadowed)
    returned = parsed(BRANCHES % ("t", ""))
    assert found(returned) == [("outer-value-returned", "If 'y' then_branch", "t")]
    assert refused(returned)


def test_a_name_that_comes_later_around_a_body_is_not_visible_in_it() -> None:
    model = parsed(""" g (float[2] x, bool c) => (float[2] y) {
    z = If (c) <then_branch = a () => (float[2] u) { y = Neg (x)  u = Neg (y) },
                else_branch = b () => (float[2] v) { v = Neg (x) }>
    y = Neg (z)
}""")
    assert found(model) == []


def test_bodies_in_bodies_and_inputs_of_bodies() -> None:
    model = parsed(""" g (float[2] x, bool c) => (float[2] y) {
    k = Constant <value = int64 {3}> ()  t = Relu (x)
    y = Loop (k, c, t) <body = b (int64 i, bool go, float[2] t) => (bool more, float[2] r) {
        more = Identity (go)
        r = If (go) <then_branch = d () => (float[2] x) { x = Neg (t) }, else_branch = e () => (float[2] go) {}>
    }>
}""")
    assert found(model) == [
        ("shadowed-name", "Loop 'y' body", "t"),
        ("shadowed-name", "Loop 'y' body, If 'r' then_branch", "x"),
        ("outer-value-returned", "Loop 'y' body, If 'r' else_branch", "go"),
    ]


def test_names() -> None:
    model = parsed(" g (float[2] x) => (float[2] y) { t = Relu (x)  y = Neg (t) }")
    for kind in (1, 10):
        model.graph.value_info.append(onnx.helper.make_tensor_value_info("t", kind, [2]))
    assert found(model) == [("repeated-value-info", "graph", "t")]
    assert refused(model)
    del model.graph.value_info[1]
    assert found(model) == []
    assert not refused(model)
    model.graph.node[0].name = model.graph.node[1].name = "n"
    assert found(model) == [("repeated-node-name", "graph", "n")]
    assert refused(model)


def test_initializers_of_old_models() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 3, opset_import: ["": 9]> g (float[2] x) => (float[2] y) { y = Add (x, w) }'
    )
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    assert found(model) == [("initializer-not-input", "graph", "w")]
    assert refused(model)


@pytest.fixture
def weighted(tmp_path: Path) -> Path:
    """The path of a model with weights beside it."""
    model = parsed(" g (float[300] x) => (float[300] y) { y = Add (x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(300, np.float32), "w"))
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path


def test_files_of_weights(weighted: Path) -> None:
    path, weights, blob = str(weighted), weighted.parent / "w.bin", weighted.parents[1] / "blob"
    assert found(path) == []
    link = weighted.parents[1] / "linked"
    link.symlink_to(weighted.parent)
    assert found(str(link / "m.onnx")) == []  # the folder is a link, and the file beside the model is none
    os.link(weights, blob)
    assert found(path) == [("linked-weights", "external data", "w.bin")]
    weights.unlink()
    assert found(path) == [("missing-weights", "external data", "w.bin")]
    weights.symlink_to(blob)
    assert found(path) == [("linked-weights", "external data", "w.bin")]
    model = onnx.load(path, load_external_data=False)
    for location in (str(blob), "../blob"):
        next(e for e in model.graph.initializer[0].external_data if e.key == "location").value = location
        assert found(model) == [("outside-weights", "external data", location)]


def test_the_command(weighted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(weighted), "--lint"]) == 0
    assert capsys.readouterr().out == "nothing found that onnx or onnxruntime refuses\n"
    (weighted.parent / "w.bin").unlink()
    assert main([str(weighted), "--lint"]) == 1
    problem, cure = RULES["missing-weights"]
    assert capsys.readouterr().out == f"missing-weights: external data: 'w.bin': {problem}; {cure}\n"
    assert main([str(weighted), "--lint", "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    expected = {"rule": "missing-weights", "place": "external data", "name": "w.bin", "problem": problem, "cure": cure}
    assert finding == expected
