"""The test vectors of docs/dim_param.md: what symdim answers, and that there are enough of each kind."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.symdim.dim_param_vectors import PATH, answered, load

VECTORS = load()["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['group']}: {vector['text']}")
def test_symdim_answers_as_the_vector_says(vector: dict[str, Any]) -> None:
    assert answered(vector) == vector


def test_there_are_vectors_of_each_kind() -> None:
    count = Counter(vector["reads"] for vector in VECTORS)
    kinds = Counter(vector.get("kind") for vector in VECTORS)
    assert min(count["expression"], 300) == 300
    assert min(count["name"], count["nothing"], kinds["syntax"], kinds["function"], kinds["value"]) >= 8
    assert all(vector["values"] for vector in VECTORS if vector["reads"] == "expression")
    texts = [(v["text"], str(v.get("declared")), v.get("dialect")) for v in VECTORS]
    assert len(set(texts)) == len(texts)


def test_the_document_says_how_many_there_are() -> None:
    assert PATH.with_suffix(".md").with_name("dim_param.md").read_text("utf-8").count(f"{len(VECTORS)} ") == 2


def test_the_second_reader_is_short_and_uses_nothing_of_this_package() -> None:
    source = Path(__file__).with_name("test_second_reader.py").read_text("utf-8")
    assert len(source.splitlines()) <= 240
    imported = re.findall(r"^\s*(?:from|import) (\w+)", source, re.M)
    assert set(imported) == {"fractions", "json", "math", "pathlib", "pytest", "re"}
