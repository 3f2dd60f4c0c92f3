"""Operators of other distributions: the entry-point group `onnx_infer.ops`, loaded at the first unknown operator."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import helper

from onnx_infer import OpShapeInferenceRegistry, infer, rules
from onnx_infer.operators import registration as registration_module
from onnx_infer.operators.registration import registry
from tests.pages import toml_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]


class Entry:
    """An installed entry point, as `importlib.metadata` gives it."""

    dist = None

    def __init__(self, register: Callable[[], object], name: str = "widen") -> None:
        self.register, self.loaded, self.name, self.value = register, 0, name, f"plugin_{name}"

    def load(self) -> object:
        self.loaded += 1
        return self.register()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Entry]:
    """A plug-in with a rule for `com.plugin::Widen`, installed for one test."""

    def register() -> object:
        return registry.op("Widen", domain="com.plugin", replace=True)(lambda X, by=1: (*X.dims[:-1], X.dims[-1] * by))

    entry = Entry(register)

    def entry_points(*, group: str) -> list[Any]:
        return [entry] if group == "onnx_infer.ops" else []

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    monkeypatch.setattr(registry, "_plugins", registration_module._load_plugins)
    monkeypatch.setattr(registry, "_remembered", {})
    yield entry
    registry._rules.pop(("com.plugin", "Widen"), None)


def model_of(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", 1, ["N", 3])
    graph = helper.make_graph(nodes, "g", [x], [onnx.ValueInfoProto(name="y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.plugin", 1)])


def test_an_unknown_operator_loads_the_plugins_once(installed: Entry) -> None:
    known = infer(model_of(helper.make_node("Relu", ["x"], ["y"])))
    assert (str(known.types["y"]), installed.loaded) == ("f32[N, 3]", 0)
    widen = model_of(helper.make_node("Widen", ["x"], ["y"], domain="com.plugin", by=2))
    assert str(infer(widen).types["y"]) == "f32[N, 6]"
    other = infer(model_of(helper.make_node("Narrow", ["x"], ["y"], domain="com.plugin")))
    assert "unsupported operator com.plugin::Narrow" in other.notes["y"]
    assert installed.loaded == 1


def test_a_plugin_that_fails_is_named_and_the_others_load(installed: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise ImportError("no module named 'acme_runtime'")

    entries = [Entry(fails, "first"), installed, Entry(fails, "last")]
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: entries)
    widen = model_of(helper.make_node("Widen", ["x"], ["y"], domain="com.plugin", by=2))
    with pytest.warns(RuntimeWarning) as told:
        assert str(infer(widen).types["y"]) == "f32[N, 6]"
    assert [str(warning.message) for warning in told] == [
        f"the plug-in '{name}' (plugin_{name}) cannot be loaded: ImportError: no module named 'acme_runtime'; "
        "its operators have no rules"
        for name in ("first", "last")
    ]


BLOCK = re.compile(r"^`([^`\n]+)`\..*?\n```\w+\n(.*?)^```", re.S | re.M)

PROGRAM = """
import onnx, onnx_infer, warnings
model = onnx.parser.parse_model('''<ir_version: 10, opset_import: ["": 20, "com.acme": 1]>
g (float[N, 3] a, float[N, H] b, bool[N] m) => (c, k) {
    c = com.acme.Interleave <axis: int = 1> (a, b)
    k = com.acme.Keep (c, m)
}''')
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    result = onnx_infer.infer(model)
print(result.types["c"], result.types["k"], [str(w.message) for w in told], result.diagnostics)
"""

TRAITS = """
import onnx, onnx_infer, warnings
warnings.simplefilter("ignore")
model = onnx.parser.parse_model('''<ir_version: 10, opset_import: ["": 20, "com.acme": 1]>
g (int32[N, 2] x, bool c) => (y) <int32[2, 2] a = {1, 2, 3, 4}, int32[2, 3] b = {1, 0, 2, 0, 1, 2}> {
    w = com.acme.Combine (a, b)
    unread = com.acme.Combine (x, a)
    y = com.acme.Combine (x, w)
}''')
folded = onnx_infer.fold(model)
print(onnx_infer.infer(model).costs().multiply_adds, onnx_infer.infer(folded).costs().multiply_adds)
print([node.op_type for node in folded.graph.node], onnx.numpy_helper.to_array(folded.graph.initializer[0]).tolist())
"""


def test_the_package_of_the_documentation(tmp_path: Path) -> None:
    """Installed as an installer does it, beside a broken one; its own test passes."""
    files = dict(BLOCK.findall((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")))
    assert sorted(files) == ["acme_ops.py", "pyproject.toml", "test_acme_ops.py"]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    project = toml_of(files["pyproject.toml"])["project"]
    install(tmp_path, project["name"], project["version"], project["entry-points"]["onnx_infer.ops"])
    install(tmp_path, "broken-ops", "2.0", {"broken": "no_such_module"})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    cause = "ModuleNotFoundError: No module named 'no_such_module'; its operators have no rules"
    warning = f"the plug-in 'broken' of broken-ops 2.0 (no_such_module) cannot be loaded: {cause}"
    assert run("-c", PROGRAM).strip() == f"f32[N, H + 3] i64[_d0] {[warning]} []"
    run("-c", "import test_acme_ops; test_acme_ops.test_cases()")
    assert run("-c", TRAITS).splitlines() == ["10*N + 12 6*N", "['Combine'] [[1, 2, 6], [3, 4, 14]]"]


def install(folder: Path, name: str, version: str, entries: dict[str, str]) -> None:
    """Write what an installer writes about a distribution."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"{entry} = {value}" for entry, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[onnx_infer.ops]", *lines, ""]))


def test_all_that_the_documentation_uses_is_in_one_place() -> None:
    words = set(re.findall(r"\w+", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    used = {"SymTensor", "AnyRank", "Variadic", "Ints", "Dim", "Graph", "Unknown", "lift", "SAME", "unify", "demand",
            "require", "fresh", "element"}  # fmt: skip
    assert used <= words
    assert used <= set(rules.__all__)
    assert all(hasattr(rules, name) for name in rules.__all__)


def test_a_plugin_that_fails_to_load_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise ImportError("a plug-in without its dependency")

    own = OpShapeInferenceRegistry(plugins=fails)
    with pytest.raises(ImportError, match="without its dependency"):
        own.get("com.plugin", "Widen", 1)


def test_the_command_imports_a_module_from_its_folder(tmp_path: Path) -> None:
    files = dict(BLOCK.findall((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")))
    (tmp_path / "acme_ops.py").write_text(files["acme_ops.py"])
    (tmp_path / "broken_ops.py").write_text("1 / 0")
    text = """<ir_version: 10, opset_import: ["": 20, "com.acme": 1]> g (float[N, 3] a) => (c)
    { c = com.acme.Interleave <axis: int = 1> (a, a) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        program = "import sys; sys.path.remove(''); from onnx_infer.__main__ import main; sys.exit(main())"
        command = [sys.executable, "-c", program, "m.onnx", *options]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    assert "f32[N, 6]" in run("--import", "acme_ops").stdout
    for name, cause in (("broken_ops", "ZeroDivisionError"), ("no_such_ops", "ModuleNotFoundError")):
        done = run("--import", "acme_ops", "--import", name)
        assert done.returncode == 2
        assert f"onnx-infer: --import {name}: {cause}: " in done.stderr
