"""Names with control characters through every output: none of them reaches a terminal, a log line, or a page."""

from __future__ import annotations

import json
import logging
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import helper

import onnx_infer
from onnx_infer import contract
from onnx_infer.__main__ import main
from onnx_infer.errors import StrictModeError
from onnx_infer.integrations import onnxruntime as drop_in
from symdim.__main__ import main as symdim_main

if TYPE_CHECKING:
    from pathlib import Path

SIGNS = [
    chr(code) for code in (*range(1, 32), *range(127, 160), 0x2028, 0x2029, *range(0x202A, 0x202F), 0x2066, 0x2069)
]
LINE = "the contract holds"
"""What a name must not make a line of its own."""
FORMS = ("{}", "a{}]0;title", f"a\r\n{LINE}{{}}\n{LINE}\n")
NAMES = [FORMS[i % 3].format(sign) for i, sign in enumerate(SIGNS)]
"""Names with each control character, at the start or inside."""

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def model(names: list[str]) -> onnx.ModelProto:
    """A model in which all texts are hostile: names of values, nodes, symbols, operators, metadata, the contract.

    Products of sizes that differ are its errors, and so are nodes of operators that nobody knows.
    """
    nodes, inputs, guards = [], [], []
    for i, name in enumerate(names):
        x, w, y = f"x{i}{name}", f"w{i}{name}", f"y{i}{name}"
        inputs += [helper.make_tensor_value_info(x, 1, [f"d{i}{name}", f"h{i}{name}" if i % 3 else 5])]
        inputs += [helper.make_tensor_value_info(w, 1, [f"h{i}{name}" if i % 2 else 4, 4])]
        nodes.append(helper.make_node("MatMul", [x, w], [y], f"n{i}{name}", doc_string=name))
        if i % 4 == 0:
            nodes.append(helper.make_node("NonZero", [y], [f"z{i}{name}"], f"m{i}{name}"))
        elif i % 4 == 1:
            nodes.append(helper.make_node(f"Op{name}", [y], [f"z{i}{name}"], f"m{i}{name}", domain=f"dom{i}{name}"))
        else:
            nodes.append(helper.make_node("Relu", [y], [f"z{i}{name}"], f"m{i}{name}", **{f"attribute{name}": name}))
        law = {"law": f"law{name}", "nodes": [["MatMul", y]], "relation": "equal", "left": f"`d{i}{name}`", "right": 3}
        guards.append(law)
    outputs = [helper.make_tensor_value_info(node.output[0], 1, None) for node in nodes if node.op_type != "MatMul"]
    graph = helper.make_graph(nodes, f"g{names[0]}", inputs, outputs, doc_string=names[0])
    graph.metadata_props.add(key="symdim.contract", value=json.dumps({"version": 1, "guards": guards}))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10, producer_name=names[0])
    made.metadata_props.add(key=f"key{names[0]}", value=names[1])
    return made


def is_clean(text: str) -> bool:
    """Whether a text has no control characters but its line breaks, and no line that a name has made."""
    found = sorted(set(CONTROL.findall(text)))
    assert found == [], [line for line in text.split("\n") if CONTROL.search(line)][:3]
    assert f"\n{LINE}" not in text
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the hostile model, and with one of sizes that are free."""
    made = tmp_path_factory.mktemp("hostile")
    onnx.save(model(NAMES), made / "m.onnx")
    other = model(NAMES)
    for info in other.graph.input:
        del info.type.tensor_type.shape.dim[0]
    onnx.save(other, made / "other.onnx")
    return made


EXPLAINED = f"z0{NAMES[0]}"
CALLS = [
    [],
    ["--all", "--full"],
    ["--json"],
    ["--check", "--bind", f"d0{NAMES[0]}=2"],
    ["--check", "--json"],
    ["--costs", "--all"],
    ["--memory", "--all"],
    ["--arena", "--all"],
    ["--costs", "--memory", "--json"],
    ["--explain", EXPLAINED],
    ["--explain", EXPLAINED, "--json"],
    ["--explain", NAMES[7]],
    ["--fits", "1MB"],
    ["--max-memory", "1MB"],
    ["--lint"],
    ["--dynamic", f"w0{NAMES[0]}:1=K{NAMES[1]}"],
    ["--dynamic", f"{NAMES[5]}:1=K"],
    ["--bind", f"{NAMES[3]}=3"],
    ["--rename", f"{NAMES[3]}={NAMES[4]}"],
    ["--assume", f"{NAMES[3]} == "],
    ["--bounds", f"{NAMES[3]}=1..3"],
    ["--value", f"{NAMES[3]}=1"],
    ["--input-shape", f"{NAMES[3]}:1,2"],
    [f"--{NAMES[2]}"],
    ["--import", f"m{NAMES[6]}"],
    ["--dialect", "torch", "--all"],
    ["--fail-on", "guards", "--fail-on", "unknown"],
    *(["--emit", language] for language in ("c", "js")),
]


def called(argv: list[str]) -> None:
    with suppress(SystemExit):
        main(argv)


@pytest.mark.parametrize("options", CALLS, ids=[" ".join(map(ascii, call))[:40] or "table" for call in CALLS])
def test_the_command_prints_no_control_character(
    options: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    called([str(folder / "m.onnx"), *options])
    said = capsys.readouterr()
    assert said.out + said.err
    assert is_clean(said.out)
    assert is_clean(said.err)
    if "--json" in options:
        json.loads(said.out)


def test_files_have_no_control_character(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page, lines, out = (str(folder / "m.onnx"), tmp_path / "p.html", tmp_path / "l.jsonl", tmp_path / "o.onnx")
    called([path, "--html", str(page)])
    called([path, "--json-lines", str(lines), "--all"])
    called([path, "--fold", "-o", str(out)])
    called([path, "--diff", str(folder / "other.onnx")])
    drop_in.main(["--input", path, "--output", str(tmp_path / f"a{NAMES[1]}" / "o.onnx"), "--verbose", "1"])
    said = capsys.readouterr()
    assert is_clean(said.out)
    assert is_clean(said.err)
    assert is_clean(page.read_text("utf-8"))
    assert is_clean(lines.read_text("utf-8"))
    assert json.loads(lines.read_text("utf-8"))["status"]


@pytest.mark.parametrize("name", NAMES[:3])
def test_paths_are_printed_without_them(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"m{name.replace('/', '')}.onnx"
    called([str(path)])
    path.write_bytes(b"no model")
    called([str(path)])
    called([str(path), "--json-lines", str(tmp_path / "l.jsonl")])
    called([str(path), "--jobs", name])
    onnx.save(model(NAMES[:4]), path)
    called([str(path), "--html", str(path.with_suffix(".html")), "-o", str(path)])
    symdim_main(["check", f"{name} +"])
    symdim_main(["check", f"`{name}` + 1", "--name", name])
    symdim_main(["check", f"`{name}` + 1", "--name", name, "--json"])
    symdim_main(["vendor", str(path)])
    said = capsys.readouterr()
    assert is_clean(said.out)
    assert is_clean(said.err)
    assert is_clean(path.with_suffix(".html").read_text("utf-8"))


def test_python_shows_and_logs_none(caplog: pytest.LogCaptureFixture) -> None:
    made = model(NAMES[:20])
    result = onnx_infer.infer(made)
    shown = [
        result,
        *result.types.values(),
        *result.guards,
        *result.data_guards,
        *result.diagnostics,
        *result.data_laws,
    ]
    shown += [reason for reasons in result.reasons.values() for reason in reasons]
    shown += [result.memory(upper=True), result.costs(), result.arena(), result.planner(), result.symbols]
    feeds = dict.fromkeys(result.inputs, (3, 7))
    shown += [contract.check(made, feeds), *contract.check(made, feeds).broken]
    for told in map(str, shown):
        assert is_clean(told)
    for told in (repr(result), repr(list(result.types.values())), repr(list(result.guards)), repr(result.shapes)):
        assert is_clean(told)
    assert is_clean(result._repr_html_())
    assert is_clean(result.planner()._repr_html_())
    with caplog.at_level(logging.WARNING):
        drop_in.SymbolicShapeInference.infer_shapes(made, verbose=1)
    with pytest.raises(StrictModeError) as raised:
        onnx_infer.infer_shapes(made, strict_mode=True)
    assert caplog.messages
    assert all(map(is_clean, [*caplog.messages, str(raised.value)]))
