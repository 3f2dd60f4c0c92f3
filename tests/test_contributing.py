"""What CONTRIBUTING.md asks for is there: its sample family, a case for each operator, a test for each law."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_infer import registry
from tests.pages import ROOT, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

BODIES = {"If", "Loop", "Scan", "SequenceMap"}
"""Operators with graphs, which a line of text cannot give: test files of their own have them."""

ARGUMENTS = {"require": 1, "demand": 1, "unify": 2}
"""What states a law -> the place of its text among the arguments."""

UNSAID = {
    "to is not an element type with bits",
    "the input is optional itself",
    "the input is not an optional, tensor or sequence",
}
"""Laws by which a result is unknown, where the schema's element types have told the error before."""


def test_the_sample_family_has_all_files_that_are_named() -> None:
    guide = text_of("CONTRIBUTING.md")
    (family,) = re.findall(r"^.*`FAMILY` is the family of the operator, for example `(\w+)`", guide, re.M)
    (row,) = re.findall(r"^\| a new operator with a constraint form \| (.*) \|$", guide, re.M)
    files = [name.replace("FAMILY", family) for name in re.findall(r"`([\w/]*FAMILY\.\w+)`", row)]
    assert len(files) == 3
    missing = [name for name in files if not (ROOT / name).is_file()]
    assert not missing, f"CONTRIBUTING.md names the family {family!r} as an example, which has no {missing}"


def with_cases() -> set[tuple[str, str]]:
    """The domains and operators that have a line in `tests/onnx_infer/cases`."""
    lines = [path.read_text("utf-8") for path in (ROOT / "tests" / "onnx_infer" / "cases").glob("*.txt")]
    found = re.findall(r"^(?:([\w.]+)::)?(\w+)-\d+[:(]", "\n".join(lines), re.M)
    return set(found)


def test_every_operator_has_a_case() -> None:
    ours = {
        (domain, name)
        for domain, name, _ in registry.supported()
        if any(rule.module.startswith("onnx_infer.ops.") for rule in registry.versions(domain, name))
    }
    assert len(ours) > 400
    without = sorted(f"{domain}::{name}" for domain, name in ours - with_cases() if name not in BODIES)
    assert not without, f"{without}: write a line for each into tests/onnx_infer/cases"


def laws() -> Iterator[tuple[str, str]]:
    """The file and text of each law that a rule states; of a text with values, its longest part."""
    for path in sorted((ROOT / "onnx_infer" / "ops").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            place = ARGUMENTS.get(getattr(node.func, "id", "")) if isinstance(node, ast.Call) else None
            if place is None or len(node.args) <= place:  # type: ignore[attr-defined]
                continue
            law = node.args[place]  # type: ignore[attr-defined]
            parts = law.values if isinstance(law, ast.JoinedStr) else [law]
            texts = [part.value for part in parts if isinstance(part, ast.Constant)]
            if texts:
                yield path.relative_to(ROOT).as_posix(), max(texts, key=len).strip()


def test_every_law_has_a_test() -> None:
    tests = [path for kind in ("*.py", "*.txt") for path in (ROOT / "tests").rglob(kind)]
    said = "\n".join(path.read_text("utf-8") for path in tests if path != Path(__file__))
    found = list(laws())
    assert len(found) > 250
    without = [f"{file}: {law}" for file, law in found if law not in said and law not in UNSAID]
    assert not without, f"{without}: write a case, or a test, in which each of these laws is broken"
