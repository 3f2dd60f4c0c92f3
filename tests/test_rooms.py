"""The order of the rooms: which folder may import which, and that no two files import each other.

Every import counts: at the top of a file, inside of functions, for type checkers only, and by `import_module`. In the
algebra those for type checkers do not: nodes name types of every room there.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from symdim.vendoring import CORE

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]

ROOMS = {
    "symdim": [
        "errors outputs",
        "algebra",
        "relations",
        "parser parsing",
        "dialects",
        "shape compile",
        "prover prove facts",
        "guarantee",
        "store rows",
        "einsum",
        "vendoring",
        "__main__",
    ],
    "symdim.algebra": [
        "caches intervals named_tuple origin",
        "expr",
        "application",
        "interning order",
        "polynomials",
        "corners bounds",
        "variable",
        "constructors",
        "magnitude",
        "evaluate",
        "bindings dims pickling",
        "texts",
        "canonical",
    ],
    "onnx_infer": [
        "errors",
        "values",
        "laws",
        "elements",
        "types",
        "model",
        "operators",
        "ops constraints",
        "engine diagnostics",
        "bidirectional inference",
        "results",
        "protobuf",
        "contract",
        "result api node incremental testing rules",
        "tools",
        "integrations",
        "__main__",
    ],
    "onnx_infer.tools": [
        "materialization nodes_of_sizes",
        "planning",
        "arena",
        "emission",
        "report",
        "comparison",
        "page",
        "transforms",
        "fleets",
        "cli",
    ],
}
"""Each room imports only those above it and itself. Files of one line are one room. A top imports any room."""

FREE = {"symdim", "onnx_infer", "symdim.algebra"}
"""Files of no room: tops give names of every room, and any room may ask them. That of the algebra binds operators."""

EXCEPTIONS = {
    ("symdim.shape", "symdim.guarantee"): "`Shape.guarantees`, likewise",
    ("onnx_infer.api", "onnx_infer.integrations.onnx_ir"): "`infer_symbolic_shapes` takes a model of either front end",
    ("onnx_infer.contract.checking", "onnx_infer.integrations.onnx_ir_reader"): "likewise `check`",
    ("onnx_infer.operators.registration", "onnx_infer.ops"): "the families register themselves at a look-up",
}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources(package: str) -> dict[str, str]:
    return {module_of(path): path.read_text(encoding="utf-8") for path in sorted((ROOT / package).rglob("*.py"))}


def imports(text: str, known: set[str]) -> set[str]:
    """The modules that a source imports, wherever in it. Relative imports are banned by the linter."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & known
            if not names <= known:
                found.add(node.module or "")
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            found.add(re.sub(r"\.?\{.*", "", ast.unparse(node.args[0]).lstrip("f").strip("'\"")))
    return found & known


@pytest.fixture(scope="module")
def graph() -> dict[str, frozenset[str]]:
    """Module -> the modules that it imports."""
    texts = {**sources("symdim"), **sources("onnx_infer")}
    known = set(texts)
    # a package that a file lies in is imported before the file, so this is no choice of the file
    texts.update({m: without_types(text) for m, text in texts.items() if m.startswith("symdim.algebra.")})
    return {m: frozenset(imports(text, known) - {m, m.rpartition(".")[0]}) for m, text in texts.items()}


def floor(module: str) -> tuple[bool, int, int]:
    """The place of a module's room in the order: symdim first. In `tools/` and the algebra, there are rooms, too."""

    def place(package: str) -> int:
        room = module.removeprefix(f"{package}.").partition(".")[0]
        (number,) = (i for i, rooms in enumerate(ROOMS[package]) if room in rooms.split())
        return number

    package = module.partition(".")[0]
    inner = next((p for p in ("onnx_infer.tools", "symdim.algebra") if module.startswith(f"{p}.")), "")
    return package == "onnx_infer", place(package), place(inner) if inner else -1


def without_types(text: str) -> str:
    """A source without what it imports for type checkers only."""
    kept = [
        node
        for node in ast.parse(text).body
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    ]
    return "\n".join(map(ast.unparse, kept))


def in_core(module: str) -> bool:
    """Whether a file of onnx_infer is part of the inference, without tools on top of it."""
    return module.startswith("onnx_infer.") and floor(module) < floor("onnx_infer.tools")


def upward(edges: Mapping[str, frozenset[str]]) -> set[tuple[str, str]]:
    """The imports of a room above."""
    return {
        (module, other)
        for module, others in edges.items()
        for other in others
        if not {module, other} & FREE and floor(other) > floor(module) and not loads_tools(module, other)
    }


def loads_tools(module: str, other: str) -> bool:
    """Whether this is the one way from the core to a tool: a method of `InferenceResult` that loads it when called."""
    return module == "onnx_infer.result" and other.startswith("onnx_infer.tools.")


def circles(edges: Mapping[str, frozenset[str]]) -> set[frozenset[str]]:
    """The sets of files that import one another, directly or through others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            new = edges[todo.pop()] - seen
            seen |= new
            todo += new
        return seen

    reach = {module: reached(module) for module in edges}
    return {
        frozenset(other for other in reach[module] if module in reach[other])
        for module in edges
        if module in reach[module]
    }


def cure(module: str, other: str, edges: Mapping[str, frozenset[str]]) -> str:
    """What to write in place of an import from a room above."""
    allowed = sorted(m for m in edges[other] if m not in FREE and floor(m) <= floor(module))
    instead = (
        f"import from where its names are defined: {', '.join(allowed)}" if allowed else "move what both need down"
    )
    return f"{module} imports {other}, which is a room above it: {instead}"


def test_a_room_imports_only_those_above_it(graph: dict[str, frozenset[str]]) -> None:
    found = upward(graph)
    assert [cure(*pair, graph) for pair in sorted(found - set(EXCEPTIONS))] == []
    assert set(EXCEPTIONS) <= found, "an exception that is none any more"


def test_the_cure_names_the_place_of_a_name(graph: dict[str, frozenset[str]]) -> None:
    text = cure("onnx_infer.ops.joining", "onnx_infer.rules", graph)
    assert "onnx_infer.laws.sizes" in text
    assert "onnx_infer.testing" not in text


def test_an_import_turned_round_is_found(graph: dict[str, frozenset[str]]) -> None:
    assert "onnx_infer.values.tensor" in graph["onnx_infer.laws.sizes"]
    edges = {**graph, "onnx_infer.values.tensor": graph["onnx_infer.values.tensor"] | {"onnx_infer.laws.sizes"}}
    assert ("onnx_infer.values.tensor", "onnx_infer.laws.sizes") in upward(edges)


def test_the_circle_of_the_constructors_stays_small(graph: dict[str, frozenset[str]]) -> None:
    edges = {module: others for module, others in graph.items() if module.startswith("symdim.algebra.")}
    (circle,) = circles({module: others & set(edges) for module, others in edges.items()})
    assert {module.rpartition(".")[0] for module in circle} == {"symdim.algebra.constructors"}
    assert len(circle) <= 12


def test_the_core_uses_nothing_else_and_stays_small() -> None:
    """An embedder can take the algebra and the parser alone."""
    texts = sources("symdim")
    core = {m: text for m, text in texts.items() if m.partition(".")[2].partition(".")[0] in CORE}
    found = {(m, other) for m, text in core.items() for other in imports(without_types(text), set(texts))}
    assert [pair for pair in sorted(found) if pair[1] not in {*core, "symdim"}] == []
    assert sum(len(text.splitlines()) for text in core.values()) <= 8000


def test_no_files_import_each_other_outside_the_algebra(graph: dict[str, frozenset[str]]) -> None:
    edges = {module: others - FREE for module, others in graph.items() if module not in FREE}
    for module, other in EXCEPTIONS:
        edges[module] -= {other}
    edges = {module: frozenset(o for o in others if not loads_tools(module, o)) for module, others in edges.items()}
    assert not [circle for circle in circles(edges) if not all(x.startswith("symdim.algebra.") for x in circle)]


def test_an_inference_loads_no_tool() -> None:
    program = (
        "import sys, onnx, onnx_infer; from onnx import parser;"
        'model = parser.parse_model(\'<ir_version: 10, opset_import: ["": 21]> g (float[N] x) => (float[M] y) '
        "{y = Concat <axis = 0> (x, x)}');"
        "result = onnx_infer.infer(model); result.guards, result.reasons, result.guarantees, result.apply(model);"
        "sys.exit([m for m in sys.modules if m.startswith('onnx_infer.tools')])"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stderr.strip() in ("", "[]")


@pytest.mark.parametrize("room", ["ops", "constraints"])
def test_rules_know_neither_engine_nor_protobuf(room: str) -> None:
    for path in (ROOT / "onnx_infer" / room).rglob("*.py"):
        assert not re.search(
            r"^\s*(import onnx\b|from onnx\b)|onnx_infer\.(engine|protobuf)", path.read_text(encoding="utf-8"), re.M
        ), path


def test_symdim_knows_nothing_of_onnx_infer() -> None:
    for module, text in sources("symdim").items():
        assert "onnx_infer" not in text, module


@pytest.mark.parametrize("package", ["symdim", "onnx_infer"])
def test_only_type_checkers_need_what_later_pythons_have(package: str) -> None:
    for module, text in sources(package).items():
        assert "typing_extensions" not in text or not imports(without_types(text), {"typing_extensions"}), module


@pytest.mark.parametrize("package", ["symdim", "onnx_infer"])
def test_a_file_is_read_in_one_sitting(package: str) -> None:
    paths = [path for path in (ROOT / package).rglob("*.*") if path.suffix in (".py", ".js", ".css", ".c", ".rs")]
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in paths}
    assert len(lengths) > 100
    assert [path for path, length in lengths.items() if length > 350] == []


@pytest.mark.parametrize("package", ["symdim", "onnx_infer"])
def test_only_faces_lie_on_the_tops(package: str) -> None:
    assert len(list((ROOT / package).glob("*.py"))) <= 12


MOST_ATTRIBUTES, MOST_PARAMETERS = 15, 8


def attributes_of(node: ast.ClassDef) -> set[str]:
    """The fields of a class: those that it declares, those that a method sets, and those that are computed once."""
    found = {
        part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    for part in ast.walk(node):
        is_set = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        if is_set and isinstance(part.value, ast.Name) and part.value.id == "self":
            found.add(part.attr)
        if isinstance(part, ast.FunctionDef) and any("cached" in ast.unparse(name) for name in part.decorator_list):
            found.add(part.name)
    return found


@pytest.mark.parametrize("path", [*(ROOT / "onnx_infer" / "engine").glob("*.py"), ROOT / "onnx_infer" / "inference.py"])
def test_the_engine_has_small_records_and_short_calls(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "threading" not in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            assert len(attributes_of(node)) <= MOST_ATTRIBUTES, node.name
        if isinstance(node, ast.FunctionDef):
            given = node.args
            assert len([*given.posonlyargs, *given.args, *given.kwonlyargs]) <= MOST_PARAMETERS, node.name
