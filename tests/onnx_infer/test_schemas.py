"""Schemas without onnx: the record of them, an installed onnx that is older than a model, and one that is newer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.defs
import pytest
from onnx import helper

from onnx_infer import infer, infer_shapes, registry
from onnx_infer.operators.known_schemas import exists, find_schema, outdated, read_schema, record, schema_at
from onnx_infer.operators.schema import NEWEST
from onnx_infer.testing import run_case

OLDEST = 21
"""The opset of onnx 1.16, the oldest one supported."""

CASES = Path(__file__).parent / "cases"
LATER_CASES = [
    line.strip()
    for path in sorted(CASES.glob("*.txt"))
    for line in path.read_text(encoding="utf-8").splitlines()
    if min(record().versions("", line.partition("-")[0]), default=0) > OLDEST and "error" not in line
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
        registry._remembered.clear()
        registry.generation += 1

    monkeypatch.setattr(onnx.defs, "has", old_has)
    monkeypatch.setattr(onnx.defs, "get_schema", old_get_schema)
    monkeypatch.setattr(onnx.defs.C, "schema_version_map", lambda: {"": (1, OLDEST), "ai.onnx.ml": (1, 5)})
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
def test_a_model_of_a_later_opset_is_checked_without_a_warning() -> None:
    qkv = {"q": ["B", 8, "S", 64], "k": ["B", 8, "T", 64], "v": ["B", 8, "T", 64]}
    result = infer(model_of(helper.make_node("Attention", ["q", "k", "v"], ["y"]), qkv, 23))
    assert str(result.types["y"]) == "f32[B, 8, S, 64]"
    assert result.diagnostics == []
    (told,) = infer(model_of(helper.make_node("Attention", ["q", "k"], ["y"]), qkv, 23)).diagnostics
    assert (told.severity, told.message) == ("error", "takes 3 to 6 inputs, not 2")


UNKNOWN = 10_000
"""An opset that nobody knows."""


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("Cast", ["x"], ["y"], to=1, colour="red"),
        helper.make_node("Relu", ["x", "x"], ["y"]),
        helper.make_node("Dropout", ["x"], ["y", "mask", "more"]),
    ],
    ids=["attribute", "input", "output"],
)
def test_what_a_later_schema_may_have_added_is_no_error(node: onnx.NodeProto) -> None:
    result = infer(model_of(node, {"x": ["N", 3]}, UNKNOWN))
    (told,) = result.diagnostics
    assert told.severity == "warning"
    assert f"imports opset {UNKNOWN} of ai.onnx, of which" in str(told)
    assert str(result.types["y"]) == "f32[N, 3]"
    assert infer_shapes(model_of(helper.make_node("Relu", ["x"], ["y"]), {"x": ["N"]}, UNKNOWN), strict_mode=True)


@pytest.mark.usefixtures("old_onnx")
def test_a_model_that_the_installed_onnx_knows_is_checked() -> None:
    result = infer(model_of(helper.make_node("Relu", ["x", "x"], ["y"]), {"x": ["N", 3]}, OLDEST))
    (told,) = result.diagnostics
    assert (told.severity, told.message) == ("error", "takes 1 input, not 2")


def test_the_warning_names_each_domain_and_the_cure() -> None:
    told = outdated({"": UNKNOWN, "ai.onnx.ml": UNKNOWN, "com.acme": 3})
    assert told is not None
    assert told.endswith("install a newer onnx")
    assert f"opset {UNKNOWN} of ai.onnx, of which {record().opsets['']} is the newest known" in told
    assert f"opset {UNKNOWN} of ai.onnx.ml, of which" in told


SCHEMAS = onnx.defs.get_all_schemas_with_history()
IS_RECORDED = {domain: newest for domain, (_, newest) in onnx.defs.C.schema_version_map().items()}.items() >= (
    record().opsets.items()
)
"""Whether the installed onnx is of the release that the record was made from."""


def test_every_recorded_schema_is_read_as_onnx_describes_it() -> None:
    ours = {s: record().find(s.domain, s.name, s.since_version) for s in SCHEMAS}
    assert sum(schema is not None for schema in ours.values()) > 500
    for theirs, found in ours.items():
        if IS_RECORDED or found is not None:
            expected = read_schema(theirs)
            # errors of a release in the allowed types were mended in a later one
            assert found == (expected if IS_RECORDED else expected._replace(constraints=found.constraints))


def test_an_operator_has_the_schema_that_onnx_gives_it_at_each_opset() -> None:
    for domain, name in sorted({(s.domain, s.name) for s in SCHEMAS}):
        known = range(-1, min(record().opsets[domain], onnx.defs.C.schema_version_map()[domain][1]) + 1)
        for version in (*known, *((NEWEST, 2**40) if IS_RECORDED else ())):
            theirs, ours = find_schema(domain, name, version), schema_at(domain, name, version)
            assert (ours and ours.since_version) == (theirs and theirs.since_version), (domain, name, version)
            assert exists(domain, name, version) == (theirs is not None), (domain, name, version)


def test_a_schema_that_a_user_registers_with_onnx_is_used() -> None:
    schema = onnx.defs.OpSchema(
        "Fold", "com.acme.folding", 3, inputs=[onnx.defs.OpSchema.FormalParameter("X", "tensor(float)")]
    )
    onnx.defs.register_schema(schema)
    try:
        found = schema_at("com.acme.folding", "Fold", 3)
        assert found is not None
        assert (found.title, found.inputs[0].name) == ("com.acme.folding::Fold-3", "X")
        assert not exists("com.acme.folding", "Fold", 2)
        assert exists("com.acme.folding", "Other", 3)
    finally:
        onnx.defs.deregister_schema("Fold", 3, "com.acme.folding")
