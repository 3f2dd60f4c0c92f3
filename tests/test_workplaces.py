"""Where people work: the hook of pre-commit, the action for GitHub, and the release. Their files are read and run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
import yaml

from onnx_infer.__main__ import main
from tests.pages import ROOT, blocks_of, toml_of

PROJECT = toml_of((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[N, 3] x, float[{}, 5] w) => (y) {{ y = MatMul (x, w) }}"""


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a good model and one with an error."""
    for name, inner in (("good", 3), ("bad, 100%", 4)):
        onnx.save(onnx.parser.parse_model(MODEL.format(inner)), tmp_path / f"{name}.onnx")
    return tmp_path


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run with an `onnx-infer` of this checkout on the path."""
    programs = folder / ".programs"
    programs.mkdir(exist_ok=True)
    program = programs / "onnx-infer"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m onnx_infer "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


has_bash = shutil.which("bash") is not None and sys.platform != "win32"
needs_bash = pytest.mark.skipif(not has_bash, reason="the system has no bash, which the action needs")


@needs_bash
def test_the_hook_fails_for_a_model_with_an_error(models: Path) -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    files = sorted(path.name for path in models.iterdir() if re.search(hook["files"], path.name))
    assert files == ["bad, 100%.onnx", "good.onnx"]
    failed = run([*shlex.split(hook["entry"]), *files], models)
    assert (failed.returncode, failed.stdout.count("\n")) == (1, 1)
    assert failed.stdout.startswith("errors: bad, 100%.onnx: MatMul (opset 13) 'y': inner sizes")
    for given in (["good.onnx"], ["good.onnx", "good.onnx"]):
        assert (done := run([*shlex.split(hook["entry"]), *given], models)).returncode == 0, done.stderr
        assert done.stdout + done.stderr == ""
    assert hook["language"] == "python"
    extras = {package.strip(".[]") for package in hook["additional_dependencies"]}
    assert extras <= PROJECT["optional-dependencies"].keys()


@needs_bash
def test_the_action_annotates_errors(models: Path) -> None:
    action = read("action.yml")
    install, infer = action["runs"]["steps"]
    extra = re.search(r"\$\{ACTION\}\[(\w+)\]", install["run"])
    assert extra is not None
    assert extra[1] in PROJECT["optional-dependencies"]
    assert install["env"] == {"ACTION": "${{ github.action_path }}"}

    def done(**given: str) -> subprocess.CompletedProcess[str]:
        inputs = {name: given.get(name, field["default"]) for name, field in action["inputs"].items()}
        known = {f"${{{{ inputs.{name} }}}}": text for name, text in inputs.items()}
        environment = {name: known[text] for name, text in infer["env"].items()}
        return run([infer["shell"], "-e", "-c", infer["run"]], models, **environment)

    failed = done()
    first, *rest = failed.stdout.splitlines()
    assert first.startswith("::error file=bad%2C 100%25.onnx,title=errors::MatMul (opset 13) 'y': inner sizes"), failed
    assert rest[0] == "2 models: 1 with errors, 1 ok"
    assert failed.returncode == 1
    assert done(path="good.onnx").returncode == 0
    strict = done(path="good.onnx", arguments="--fail-on unknown --bind N=4")
    assert (strict.returncode, strict.stdout) == (0, "3 values: 3 exact\n")


def test_errors_of_one_model_are_annotations(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(models / "bad, 100%.onnx")
    assert main([path, "--format", "github"]) == 1
    error, counts = capsys.readouterr().out.splitlines()
    assert error.startswith("::error file=")
    assert "inner sizes of the product differ: 3 != 4%0A  inputs: " in error
    assert counts.startswith("1 error; 3 values")
    assert main([str(models / "good.onnx"), "--format", "github", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit):
        main([path, "--format", "github", "--json"])
    assert "annotations are for one table or for many models" in capsys.readouterr().err


def test_the_release_builds_tests_and_attests() -> None:
    jobs = read(".github/workflows/release.yml")["jobs"]
    order = {name: job.get("needs") for name, job in jobs.items()}
    assert order == {"build": None, "test": "build", "attest": "test", "publish": "attest"}
    steps = {name: " ".join(step.get("uses") or step["run"] for step in job["steps"]) for name, job in jobs.items()}
    assert "python -m build" in steps["build"]
    assert "dist/*.whl" in steps["test"]
    assert all((ROOT / path).is_file() for path in re.findall(r"(?:tests/)?[\w/]+\.(?:py|md)\b", steps["test"]))
    assert "actions/attest-build-provenance" in steps["attest"]
    assert jobs["attest"]["permissions"]["attestations"] == "write"


def test_the_page_names_inputs_and_hooks_that_exist() -> None:
    action, hook = (yaml.safe_load(block.text) for block in blocks_of("docs/fleets.md") if block.language == "yaml")
    (step,) = [step for step in action if "uses" in step and "onnx-symdim" in step["uses"]]
    assert set(step["with"]) <= set(read("action.yml")["inputs"])
    assert {each["id"] for each in hook["repos"][0]["hooks"]} <= {each["id"] for each in read(".pre-commit-hooks.yaml")}
