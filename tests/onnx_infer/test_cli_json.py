"""The JSON of an inference: every field that docs/json.md names, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

from onnx_infer.__main__ import main
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK
from onnx_infer.tools.fleets import lines_of
from symdim import parse

TEXT = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")


def documented() -> dict[str, dict[str, str]]:
    """The tables of the page: heading -> field -> what it says of it."""
    found: dict[str, dict[str, str]] = {}
    heading = ""
    for line in TEXT.splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        elif row := re.match(r"\| `(\w+)` \| (.*) \|$", line):
            found.setdefault(heading, {})[row[1]] = row[2]
    return found


FIELDS = documented()

PARTS = {
    ("The result", "values"): "A value", ("The result", "symbols"): "A symbol", ("The result", "guards"): "A guard",
    ("The result", "data_guards"): "A guard", ("The result", "diagnostics"): "A diagnostic",
    ("A value", "guarantees"): "A guarantee", ("A value", "reason"): "A reason", ("A value", "elem"): "A type",
    ("A type", "elem"): "A type", ("A type", "value"): "A type", ("A value", "value"): "A type",
    ("An explanation", "steps"): "A step", ("A step", "type"): "A type", ("A step", "operands"): "A type",
    ("A step", "symbols"): "A symbol", ("A step", "guards"): "A guard", ("A step", "diagnostics"): "A diagnostic",
    ("A step", "reason"): "A reason", ("A plan", "costs"): "The costs", ("A plan", "memory"): "The memory",
    ("A plan", "arena"): "The arena", ("The arena", "buffers"): "A buffer",
    ("The arena", "steps"): "A step of the arena",
    ("The arena", "placed"): "A placed arena", ("A plan", "fits"): "The answer to fits",
    ("A plan", "largest_size"): "The largest size", ("The costs", "layers"): "A layer",
    ("The costs", "nodes"): "The cost of a node", ("The memory", "peak"): "A peak", ("The memory", "layers"): "A layer",
    ("A comparison", "inputs"): "A difference", ("A comparison", "outputs"): "A difference",
    ("A comparison", "values"): "A difference", ("A comparison", "operators"): "The number of an operator",
    ("A comparison", "nodes"): "A different node", ("A comparison", "initializers"): "A different constant",
    ("A comparison", "diagnostics_first"): "A diagnostic", ("A comparison", "diagnostics_second"): "A diagnostic",
    ("A comparison", "guards_first"): "A guard", ("A comparison", "guards_second"): "A guard",
    ("A line of a fleet", "file"): "The stamp of a file", ("A line of a fleet", "data"): "The stamp of a file",
    ("A line of a fleet", "diagnostics"): "A diagnostic", ("A line of a fleet", "result"): "The result",
    ("A check", "broken"): "A broken statement",
    ("A freed model", "changes"): "A change", ("A freed model", "pins"): "A pin",
    ("A difference", "first_type"): "A type", ("A difference", "second_type"): "A type",
}  # fmt: skip
"""Which table describes the objects in a field."""

SOMETIMES = {"A type": {"dtype", "shape", "data", "elem", "key", "value"}, "A line of a fleet": {"result"},
             "The stamp of a file": {"path"}}  # fmt: skip
"""Fields that only types of some kinds have, and that are not always asked for."""


def check(found: Any, table: str, seen: set[tuple[str, str]]) -> None:
    """Compare an object with a table of the page, and what is in it."""
    fields = {**(FIELDS["A type"] if table == "A value" else {}), **FIELDS[table]}
    assert found.keys() <= fields.keys(), table
    missing = fields.keys() - found.keys()
    assert missing <= SOMETIMES.get("A type" if table == "A value" else table, set()), (table, missing)
    for field, content in found.items():
        seen.add((table, field))
        if fields[field].startswith("one of "):
            assert f"`{content}`" in fields[field], (table, field, content)
        part = PARTS.get((table, field))
        if part is not None and content is not None:
            check_all(content, part, seen)


def check_all(content: Any, part: str, seen: set[tuple[str, str]]) -> None:
    """Check one object, or those of a list or by name."""
    if isinstance(content, list):
        objects = content
    else:
        objects = [content] if content.keys() & FIELDS[part].keys() else list(content.values())
    for found in objects:
        check(found, part, seen)


MODELS = {
    "all kinds": """<ir_version: 10, opset_import: ["": 20, "com.acme": 1]>
        g (float[N, H] x, float[M, 4] w, seq(float[N]) q, optional(float[N]) o) => (y, k, e)
        <int64[1] one = {1}> {
            y = MatMul (x, w)  k = NonZero (y)  u = com.acme.Mystery (y)  r = Relu (u)  p = SequenceLength(q)
            c = Constant <value = int64[1] {2}> ()  e = Concat <axis: int = 1> (w, one)  t = Identity (q)
            v = Identity (o) s = Shape(y) }""",
    "assumed": """<ir_version: 10, opset_import: ["": 20]>
        g (float[1, 1, H] x, float[1, 1, 2] w) => (y) {
            c = Conv(x, w) y = MaxPool<kernel_shape=[4], strides=[2]>(c) }""",
}


@pytest.mark.parametrize(
    "name, explained",
    [*((name, None) for name in MODELS), ("assumed", "y"), ("all kinds", "y"), ("all kinds", "r"), ("all kinds", "k")],
)
def test_the_output_has_the_documented_fields(
    name: str, explained: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODELS[name]), path)
    assert main([str(path), "--json", *(["--explain", explained] if explained else [])]) in (OK, MODEL_ERRORS)
    data = json.loads(capsys.readouterr().out)
    assert data["schema_version"] == 1
    seen: set[tuple[str, str]] = set()
    check(data, "The result" if explained is None else "An explanation", seen)
    assert len(seen) > 15


def test_sizes_can_be_read_and_inputs_have_no_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODELS["all kinds"]), path)
    main([str(path), "--json"])
    data = json.loads(capsys.readouterr().out)
    values = data["values"]
    for value in values.values():
        for size in value.get("shape") or ():
            assert isinstance(size, int) or str(parse(size)) == size
    assert values["x"]["node"] is None
    assert values["c"]["node"] == {"operator": "Constant", "node": "c"}
    assert values["r"]["node"] == {"operator": "Relu", "node": "r"}
    assert values["u"]["node"]["operator"] == "com.acme::Mystery"
    assert values["r"]["reason"] == {
        "kind": "no rule",
        "text": "unsupported operator com.acme::Mystery",
        "node": "u",
        "names": ["com.acme::Mystery"],
    }
    assert values["e"]["reason"]["kind"] == "error"


@pytest.mark.parametrize("binds", [[], ["H=8", "N=2"]])
def test_plans_have_the_documented_fields(binds: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODELS["all kinds"]), path)
    main([str(path), "--json", "--costs", "--memory", *(f"--bind={bind}" for bind in binds)])
    data = json.loads(capsys.readouterr().out)
    check(data, "A plan", set())
    assert data["largest_size"] is None
    main([str(path), "--json", "--max-memory", "1KB", "--bind=H=4", "--bind=M=4"])
    data = json.loads(capsys.readouterr().out)
    check(data, "A plan", set())
    assert (data["costs"], data["memory"], data["largest_size"]["symbol"]) == (None, None, "N")
    main([str(path), "--json", "--arena", "--fits", "1KB", *(f"--bind={bind}" for bind in binds)])
    data = json.loads(capsys.readouterr().out)
    seen: set[tuple[str, str]] = set()
    check(data, "A plan", seen)
    assert {("A buffer", "below"), ("A placed arena", "offsets"), ("The answer to fits", "verdict")} <= seen


def test_a_comparison_has_the_documented_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(tmp_path / f"{i}.onnx") for i in range(2)]
    for path, text in zip(paths, MODELS.values(), strict=True):
        onnx.save(onnx.parser.parse_model(text), path)
    assert main([paths[0], "--diff", paths[1], "--json"]) == MODEL_ERRORS
    seen: set[tuple[str, str]] = set()
    check(json.loads(capsys.readouterr().out), "A comparison", seen)
    assert {("A difference", "first"), ("A guard", "kind"), ("The number of an operator", "first")} <= seen
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (y) <float[2] w = {1, 2}> {
            t = Add(x, w) y = Softmax<axis = 0>(t) }"""
    )
    onnx.save(model, paths[0])
    model.graph.initializer[0].float_data[0] = 3
    model.graph.node[1].attribute[0].i = 1
    onnx.save(model, paths[1])
    main([paths[0], "--diff", paths[1], "--json"])
    check(json.loads(capsys.readouterr().out), "A comparison", seen)
    assert {("A different node", "kind"), ("A different constant", "what"), ("A diagnostic", "message")} <= seen


def test_lines_of_fleets_have_the_documented_fields(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(MODELS["all kinds"]), tmp_path / "a.onnx")
    (tmp_path / "b.onnx").write_bytes(b"no model")
    for line in lines_of([str(tmp_path / f"{name}.onnx") for name in "abc"], whole=True):
        data = json.loads(json.dumps(line))
        assert (data["schema_version"], "result" in data) == (1, data["path"].endswith("a.onnx"))
        check(data, "A line of a fleet", set())


def test_a_freed_model_has_the_documented_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 10, opset_import: ["": 20]> g (float[2, 3] x) => (y)
        <int64[2] s = {3, 2}, int64[2] u = {2, 3}, float[2, 1] t = {1, 5}> {
            a = Add(x, t) y = Reshape(a, s) b = Reshape(x, u) }"""
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    assert main([str(path), "--dynamic", "x:0=N", "--json"]) == MODEL_ERRORS
    seen: set[tuple[str, str]] = set()
    check(json.loads(capsys.readouterr().out), "A freed model", seen)
    assert {("A pin", "why"), ("A change", "kind")} <= seen


def test_a_check_has_the_documented_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, typed = str(tmp_path / "model.onnx"), str(tmp_path / "typed.onnx")
    onnx.save(onnx.parser.parse_model(MODELS["all kinds"]), path)
    main([path, "-o", typed, "--contract", "--bounds", "N=1..8"])
    capsys.readouterr()
    assert (
        main([typed, "--check", "--bind", "N=9", "--input-shape", "x:?,4", "--bind", "M=4", "--json"]) == MODEL_ERRORS
    )
    seen: set[tuple[str, str]] = set()
    check(json.loads(capsys.readouterr().out), "A check", seen)
    assert {("A check", "unchecked"), ("A broken statement", "kind")} <= seen


def test_the_tables_of_the_page_are_all_used() -> None:
    tops = {"The result", "An explanation", "A plan", "A comparison", "A line of a fleet", "A freed model", "A check"}
    assert set(FIELDS) == tops | set(PARTS.values())
