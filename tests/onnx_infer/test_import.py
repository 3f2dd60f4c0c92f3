"""What importing costs: which modules are loaded, in a fresh interpreter."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(
    path.parent.relative_to(ROOT).as_posix()
    for top in ("symdim", "onnx_infer")
    for path in (ROOT / top).rglob("__init__.py")
    if "ops" not in path.parts
)
"""Every room. Operator families are listed in docs/operators.md instead."""


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded after running the code in a fresh interpreter, site packages' hooks aside."""
    program = f"import sys; before = set(sys.modules); {code}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_symdim_loads_no_heavy_module() -> None:
    loaded = loaded_by("import symdim")
    assert "symdim" in loaded
    assert not loaded & {"numpy", "onnx", "sympy", "dataclasses", "inspect", "typing", "re", "onnx_infer"}


@pytest.mark.parametrize("package", ["symdim", "onnx_infer"])
def test_an_import_leaves_the_import_system_as_it_was(package: str) -> None:
    hooks = "[*map(id, (*sys.meta_path, *sys.path_hooks))]"
    assert package in loaded_by(f"import sys; first = {hooks}; import {package}; assert {hooks} == first")


@pytest.mark.parametrize("name", ["prove", "einsum"])
def test_modules_of_the_top_are_loaded_when_they_are_asked_for(name: str) -> None:
    assert f"symdim.{name}" not in loaded_by("import symdim")
    assert f"symdim.{name}" in loaded_by(f"import symdim; symdim.{name}")


def test_symdim_loads_only_the_standard_library() -> None:
    tops = {
        name.partition(".")[0] for name in loaded_by("import symdim; symdim.parse('(H - 1)//2'); symdim.Shape(['N'])")
    }
    assert tops - {"symdim"} <= sys.stdlib_module_names


def test_onnx_infer_loads_nothing_beyond_onnx_and_numpy() -> None:
    loaded = loaded_by("import onnx, numpy; base = set(sys.modules); import onnx_infer; before |= base")
    tops = {name.partition(".")[0] for name in loaded}
    assert tops - {"symdim", "onnx_infer"} <= sys.stdlib_module_names
    assert not loaded & {"onnx.reference", "onnx.checker.test", "sympy", "argparse"}


@pytest.mark.parametrize("package", ["symdim", "onnx_infer"])
def test_public_names_are_listed_before_they_load(package: str) -> None:
    code = f"import {package} as p; assert set(p.__all__) <= set(dir(p)); [getattr(p, name) for name in p.__all__]"
    assert package in loaded_by(code)


def test_parsing_printing_and_proving_load_no_constraints_and_no_plans() -> None:
    steps = [
        "from symdim import Facts, equal, parse, simplify",
        "e = parse('(H + 1)//2 + max(H, 3)'); str(e); equal(e, e + 1); simplify(e, Facts())",
    ]
    loaded = loaded_by("; ".join(steps))
    assert "symdim.prove" in loaded
    assert not {name for name in loaded if name.startswith(("symdim.store", "symdim.einsum"))}


def test_constraints_load_no_guesses_and_equations_no_plans() -> None:
    assert "symdim.store.closing" not in loaded_by("from symdim import Row, Store; Store().row(Row.unknown())")
    code = "from symdim.einsum.constraints import state; from symdim.einsum.reader import parse_subscripts"
    einsum = {name.removeprefix("symdim.einsum.") for name in loaded_by(code) if name.startswith("symdim.einsum.")}
    assert einsum == {"constraints", "reader", "spec"}


def test_inference_loads_only_what_the_model_needs() -> None:
    model = """<ir_version: 8, opset_import: ["": 18]> g (float[N, 3] x) => (float[N, 3] y) { y = Relu(x) }"""
    steps = [
        "from onnx import parser, shape_inference",
        "before = set(sys.modules)",
        "from onnx_infer import infer_shapes",
        f"infer_shapes(parser.parse_model({model!r}))",
    ]
    rare = {"fractions", "decimal", "filecmp", "symdim.parsing", "symdim.relations", "symdim.shape"}
    rare |= {"onnx_infer.engine.subgraph", "onnx_infer.engine.calls"}
    rare |= {f"onnx_infer.protobuf.{name}" for name in ("former_names",)}
    rare |= {"onnx_infer.elements.scaling", "onnx_infer.results.sources"}
    loaded = loaded_by("; ".join(steps))
    assert "onnx_infer.engine.walk" in loaded
    assert not loaded & rare


def test_a_family_loads_at_the_first_look_up_of_one_of_its_operators() -> None:
    assert not families_loaded_by("import onnx_infer")
    look_up = "from onnx_infer import registry; registry.get({!r}, {!r}, 20)"
    assert families_loaded_by(look_up.format("", "Reshape")) == {"movement", "reshaping"}
    layouts = families_loaded_by(look_up.format("com.microsoft.nchwc", "Conv"))
    assert "contrib.window" in layouts
    assert not layouts & {"elementwise", "ml"}
    assert "ml" in families_loaded_by(look_up.format("com.acme", "Unknown"))


def families_loaded_by(code: str) -> set[str]:
    """The modules of rules that are loaded after running the code in a fresh interpreter."""
    start = "onnx_infer.ops."
    return {name.removeprefix(start) for name in loaded_by(code) if name.startswith(start)} - {"families"}


@pytest.mark.parametrize("module", ["onnx", "numpy"])
def test_onnx_infer_says_what_it_needs(module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; "
    cure = "onnx_infer needs onnx 1.16 or newer: pip install 'onnx>=1.16'"
    call = "import onnx_infer.__main__; sys.exit(onnx_infer.__main__.main(['--demo']))"
    for what, said, status in (
        ("from onnx_infer import infer", f"ImportError: {cure}", 1),
        (call, f"onnx-infer: {cure}", 2),
    ):
        done = subprocess.run([sys.executable, "-c", code + what], capture_output=True, text=True, check=False)
        assert (done.stderr.splitlines()[-1], done.returncode) == (said, status)
    assert (done.stderr.count("\n"), done.stdout) == (1, "")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_docstring_of_a_package_is_a_map_of_its_modules(package: str) -> None:
    folder = ROOT / package
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert modules | packages <= set(re.findall(r"\w+", text))
    assert set(re.findall(r"(\w+)\.py\b", text)) <= modules
    assert "/" not in package or re.search(r"\b[Bb]egin (with|there)\b", text)
