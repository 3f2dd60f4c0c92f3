"""An installed onnx that is older than the model: no node is called malformed, and a warning says what to install."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.defs
import pytest
from onnx import helper

from onnx_infer import infer, infer_shapes, registry
from onnx_infer.operators.later_schemas import LATER, RELEASES, outdated
from onnx_infer.operators.schema import read_schema, schema_of_signature
from onnx_infer.testing import run_case

OLDEST = 21
"""The opset of onnx 1.16, the oldest one supported."""

CASES = Path(__file__).parent / "cases"
LATER_CASES = [
    line.strip()
    for path in sorted(CASES.glob("*.txt"))
    for line in path.read_text(encoding="utf-8").splitlines()
    if line.partition("-")[0] in LATER and "error" not in line
]


@pytest.fixture
def old_onnx(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The installed onnx as if it knew the schemas of opset 21 only."""
    has, get_schema = onnx.defs.has, onnx.defs.get_schema

    def old_has(name: str, version: int = OLDEST, domain: str = "") -> bool:
        return bool(has(name, min(version, OLDEST) if domain == "" else version, domain))

    def old_get_schema(name: str, version: int = OLDEST, domain: str = "") -> Any:
        return get_schema(name, min(version, OLDEST) if domain == "" else version, domain)

    def forget() -> None:
        registry._found.clear()
        registry.generation += 1

    monkeypatch.setattr(onnx.defs, "has", old_has)
    monkeypatch.setattr(onnx.defs, "get_schema", old_get_schema)
    monkeypatch.setattr(onnx.defs, "onnx_opset_version", lambda: min(OLDEST, 21))
    forget()
    yield
    forget()


def model_of(node: onnx.NodeProto, shapes: dict[str, list[Any]], opset: int) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@pytest.mark.usefixtures("old_onnx")
def test_every_case_of_later_operators_is_inferred() -> None:
    assert len(LATER_CASES) > 40
    for line in LATER_CASES:
        found, expected = run_case(line)
        assert found == expected, line


@pytest.mark.usefixtures("old_onnx")
def test_one_warning_says_what_to_install() -> None:
    qkv = {"q": ["B", 8, "S", 64], "k": ["B", 8, "T", 64], "v": ["B", 8, "T", 64]}
    result = infer(model_of(helper.make_node("Attention", ["q", "k", "v"], ["y"]), qkv, 23))
    assert str(result.types["y"]) == "f32[B, 8, S, 64]"
    (told,) = result.diagnostics
    assert told.severity == "warning"
    assert "imports opset 23 of ai.onnx, of which it knows 21" in str(told)
    assert str(told).endswith("install onnx>=1.18")
    assert infer_shapes(model_of(helper.make_node("Relu", ["q"], ["y"]), qkv, 23), strict_mode=True) is not None


@pytest.mark.usefixtures("old_onnx")
@pytest.mark.parametrize(
    "node, opset",
    [
        (helper.make_node("Cast", ["x"], ["y"], to=1, round_mode="up"), 24),
        (helper.make_node("Relu", ["x", "x"], ["y"]), 23),
        (helper.make_node("Dropout", ["x"], ["y", "mask", "more"]), 23),
    ],
    ids=["attribute", "input", "output"],
)
def test_what_a_later_schema_may_have_added_is_no_error(node: onnx.NodeProto, opset: int) -> None:
    result = infer(model_of(node, {"x": ["N", 3]}, opset))
    assert [d.severity for d in result.diagnostics] == ["warning"]
    assert str(result.types["y"]) == "f32[N, 3]"


@pytest.mark.usefixtures("old_onnx")
def test_a_model_that_the_installed_onnx_knows_is_checked() -> None:
    result = infer(model_of(helper.make_node("Relu", ["x", "x"], ["y"]), {"x": ["N", 3]}, OLDEST))
    (told,) = result.diagnostics
    assert (told.severity, told.message) == ("error", "2 inputs where 1 to 1 are allowed")


def test_an_unknown_release_has_a_cure_too() -> None:
    told = outdated({"": 10_000, "ai.onnx.ml": 10_000, "com.acme": 3})
    assert told is not None
    assert told.endswith("install a newer onnx")
    assert "opset 10000 of ai.onnx, of which it knows" in told
    assert "opset 10000 of ai.onnx.ml, of which it knows" in told


def later_than_oldest() -> dict[str, Any]:
    """The newest schemas of the operators of ai.onnx, as far as the installed onnx knows them, that are younger."""
    first: dict[str, int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            first[schema.name] = min(schema.since_version, first.get(schema.name, schema.since_version))
    return {name: onnx.defs.get_schema(name, domain="") for name, since in first.items() if since > OLDEST}


def test_the_table_has_every_later_operator_as_onnx_describes_it() -> None:
    found = later_than_oldest()
    assert found.keys() <= LATER.keys()
    if onnx.defs.onnx_opset_version() >= max(RELEASES):
        assert found.keys() == LATER.keys()
        for name, schema in found.items():
            theirs, ours = read_schema(schema), schema_of_signature(name, 1, LATER[name])
            assert (ours.inputs, ours.outputs) == (theirs.inputs, theirs.outputs), name
            assert (ours.min_input, ours.max_input) == (theirs.min_input, theirs.max_input), name
            assert ours.required == theirs.required, name
            assert ours.defaults.keys() == theirs.defaults.keys(), name
            for attribute, default in theirs.defaults.items():
                assert ours.defaults[attribute] == pytest.approx(default), (name, attribute)


def test_the_releases_are_onnx_s() -> None:
    for release, _, opset, *_ in helper.VERSION_TABLE:
        if opset in RELEASES:
            assert RELEASES[opset].split(".") <= release.split(".")[:2]
    known = {opset for _, _, opset, *_ in helper.VERSION_TABLE if opset > OLDEST}
    assert known <= RELEASES.keys()
