"""The JavaScript reader of `docs/dim_param_reader.js` gives what every test vector of docs/dim_param.md says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.pages import blocks_of
from tests.symdim.dim_param_vectors import load

READER = Path(__file__).parents[2] / "docs" / "dim_param_reader.js"
VECTORS = load()["vectors"]
NODE = shutil.which("node")

SCRIPT = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const { read } = await import(pathToFileURL(process.argv[1]));
const floor = (x) => typeof x === "bigint" ? x : x.n / x.d - (x.n % x.d < 0n ? 1n : 0n);
const unknown = (name) => (...xs) => xs.reduce((sum, x, i) => sum + BigInt(i + 1) * floor(x), BigInt([...name].length));
const functions = new Proxy({}, { get: (_, name) => unknown(name) });
const answered = (vector) => {
  const { reads, kind, position, names, value } = read(vector.text, vector);
  const values = value ? (vector.values ?? []).map(([sizes]) => value(sizes, functions)) : [];
  return { reads, kind, position, names, values: values.map((x) => x === null ? null : String(x)) };
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(answered)));
"""


def answers(vectors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the reader says of each text, in one process; values are texts."""
    assert NODE is not None
    command = [NODE, "--input-type=module", "--eval", SCRIPT, str(READER)]
    done = subprocess.run(command, input=json.dumps(vectors), capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(NODE is None, reason="the system has no node")
def test_it_answers_as_the_vectors_say() -> None:
    differences = []
    for vector, found in zip(VECTORS, answers(VECTORS), strict=True):
        values = [None if value is None else str(value) for _, value in vector.get("values", ())]
        expected = (vector["reads"], vector.get("kind"), values)
        if (found["reads"], found.get("kind"), found["values"]) != expected:
            differences.append((vector["text"], found, expected))
    assert differences == []


LIMITS = [
    (" + ".join(["N"] * 1024), "expression", None),  # 4,093 characters
    ("(" * 100 + "N" + ")" * 100, "expression", None),
    ("(" * 5000 + "N" + ")" * 5000, "error", "syntax"),
    ("2**" * 5000 + "2", "error", "syntax"),
    ("-" * 100 + "N", "expression", None),
    ("-" * 15_000 + "N", "error", "syntax"),
    ("N*" * 100_000 + "N", "error", "syntax"),
    ("9**9**9", "error", "value"),
    ("1e1000000", "error", "value"),
    ("(N + 18446744073709551616)*18446744073709551616", "expression", None),
]


@pytest.mark.skipif(NODE is None, reason="the system has no node")
def test_what_is_too_long_or_too_large_is_an_error() -> None:
    found = answers([{"text": text} for text, *_ in LIMITS])
    assert [(x["reads"], x.get("kind")) for x in found] == [(reads, kind) for _, reads, kind in LIMITS]


@pytest.mark.skipif(NODE is None, reason="the system has no node")
def test_the_example_of_the_page() -> None:
    (example,) = (block.text for block in blocks_of("docs/dim_param.md") if block.language == "js")
    command = [str(NODE), "--input-type=module", "--eval", example]
    done = subprocess.run(command, cwd=READER.parent, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == example.strip().partition("  // ")[2]


@pytest.mark.skipif(NODE is None, reason="the system has no node")
def test_errors_have_a_position_in_characters() -> None:
    found = answers([{"text": text} for text in ("N + * 2", "größe + 𝔸 + )", "(N", "N M")])
    assert [x["position"] for x in found] == [4, 12, 2, 2]


def test_it_is_short_and_needs_nothing() -> None:
    source = READER.read_text("utf-8")
    code = [line for line in source.splitlines() if line.strip() and not line.strip().startswith("//")]
    assert len(code) <= 200
    assert max(map(len, source.splitlines())) <= 120
    assert not any(line.startswith(("import", "const require")) for line in source.splitlines())
