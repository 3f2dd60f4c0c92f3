"""`lint`: each rule finds what onnx's checker or onnxruntime refuses, and a healthy model has no finding."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnx import numpy_helper

import onnx_infer
from onnx_infer.__main__ import main
from onnx_infer.protobuf.lint import NOTHING_FOUND, RULES
from tests.onnx_infer.lint_cases import CASES, PLAIN, broken
from tests.onnx_infer.sessions import NOT_LOADED, VERSION, session_of

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '<ir_version: 8, opset_import: ["": 17]>'
BRANCHES = """ g (float[2] x, bool c) => (float[2] y) {
    t = Relu (x)  s = Neg (t)
    y = If (c) <then_branch = a () => (float[2] %s) { %s }, else_branch = b () => (float[2] v) { v = Neg (s) }>
}"""


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def found(model: onnx.ModelProto | str) -> list[tuple[str, ...]]:
    return [tuple(finding)[:3] for finding in onnx_infer.lint(model)]


def refusing(model: onnx.ModelProto) -> str:
    """Who refuses a model: the checker of onnx, a session of onnxruntime, both or none."""
    who = {(True, False): "onnx", (False, True): "ort", (True, True): "both", (False, False): "none"}
    by_onnx = by_ort = False
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError:
        by_onnx = True
    try:
        session_of(model)
    except NOT_LOADED:
        by_ort = True
    return who[by_onnx, by_ort]


def refused(model: onnx.ModelProto) -> bool:
    return refusing(model) != "none"


@pytest.mark.parametrize("title", CASES)
def test_each_fault_is_found_and_refused(title: str) -> None:
    who, rules, base, change = CASES[title]
    model = broken(base, change)
    findings = onnx_infer.lint(model)
    assert (sorted({finding.rule for finding in findings}), findings.unseen) == (sorted(rules.split()), ())
    if VERSION >= (1, 32) and onnx.__version__ >= "1.23":
        assert refusing(model) == who


def test_every_rule_has_a_case() -> None:
    of_files = {"external-entry", "cut-weights", "linked-weights", "outside-weights", "missing-weights"}
    of_bodies = {"shadowed-name", "outer-value-returned", "repeated-value-info", "repeated-node-name"}
    assert {rule for _, rules, *_ in CASES.values() for rule in rules.split()} == {*RULES} - of_files - of_bodies


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
    model = parsed(" g (float[N] x) => (float[N] y) { y = Add (x, w) }")
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
        assert onnx_infer.lint(model).unseen == ("files of weights: the folder of the model is not given",)


@pytest.mark.parametrize(
    ("entries", "rule", "told"),
    [
        ({"location": "w.bin"}, "", ""),
        ({"location": "w.bin", "offset": "4", "length": "16"}, "", ""),
        ({"location": "w.bin", "offset": "8"}, "cut-weights", "16 bytes from 8, and the file has 20"),
        ({"location": "w.bin", "offset": "8", "length": "16"}, "cut-weights", "16 bytes from 8, and the file has 20"),
        (
            {"location": "w.bin", "length": "12"},
            "cut-weights",
            "its length is 12 bytes, and its type and shape need 16",
        ),
        ({"location": "w.bin", "offset": "-4"}, "external-entry", "its offset is '-4', and no number of bytes"),
        ({"location": "w.bin", "length": "abc"}, "external-entry", "its length is 'abc', and no number of bytes"),
        ({"location": "w.bin", "offset": str(2**70)}, "external-entry", f"its offset is '{2**70}', and no number"),
        ({"location": "w.bin", "size": "1"}, "external-entry", "onnxruntime knows no key 'size'"),
        ({"location": ""}, "external-entry", "it has no location"),
        ({}, "external-entry", "it has no location"),
    ],
)
def test_where_weights_are(tmp_path: Path, entries: dict[str, str], rule: str, told: str) -> None:
    model = onnx.parser.parse_model(PLAIN)
    weight = model.graph.initializer[0]
    weight.ClearField("float_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, value in entries.items():
        weight.external_data.add(key=key, value=value)
    (tmp_path / "w.bin").write_bytes(bytes(20))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    findings = onnx_infer.lint(path)
    assert [finding.rule for finding in findings] == ([rule] if rule else [])
    assert all(finding.detail.startswith(told) for finding in findings)
    assert not findings.unseen
    if rule:
        with pytest.raises(NOT_LOADED):
            ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    else:
        ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def test_what_was_not_looked_at_is_no_verdict(weighted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = onnx.load(weighted, load_external_data=False)
    findings = onnx_infer.lint(model)
    assert not findings
    assert findings.unseen == (
        "files of weights: the folder of the model is not given",
        "what only onnx's checker knows: with weights in files it needs the path of the model",
    )
    assert main([str(weighted), "--lint", "--rename", "N=M"]) == 1
    assert capsys.readouterr().out.startswith("not checked: what only onnx's checker knows: ")


def test_the_command(weighted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(weighted), "--lint"]) == 0
    assert capsys.readouterr().out == f"{NOTHING_FOUND}\n"
    (weighted.parent / "w.bin").unlink()
    assert main([str(weighted), "--lint"]) == 1
    problem, cure = RULES["missing-weights"]
    assert capsys.readouterr().out == f"missing-weights: external data: 'w.bin': {problem}; {cure}\n"
    assert main([str(weighted), "--lint", "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding == {
        "rule": "missing-weights", "place": "external data", "name": "w.bin", "detail": "", "problem": problem,
        "cure": cure,
    }  # fmt: skip
