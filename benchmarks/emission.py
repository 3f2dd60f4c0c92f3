"""Emitted code against the algebra: all distinct sizes and guards of models, at random sizes of their symbols.

`python benchmarks/emission.py [MODELS ...]` takes .onnx files, by default the models of the tests. It uses the
compilers that are installed. An *overflow* is counted apart: C reports it where a step leaves 64 bits.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import onnx
from timing import table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from integration_tests.emitted_code import found_languages, run
from integration_tests.test_emission import MODELS, expected, random_sizes
from onnx_infer import infer
from onnx_infer.tools.emission.code import source_of
from onnx_infer.tools.emission.content import Content, content_of

LARGEST = (3, 16, 300, 5_000, 10**6, 10**9, 10**13)


def compared(content: Content, name: str) -> dict[str, Counter[str]]:
    """For each language the number of equal and of different results, and of overflows."""
    random = Random(name)
    bindings = [random_sizes(content, random, largest) for largest in LARGEST for _ in range(2)]
    wanted = [expected(content, given) for given in bindings]
    counts = {}
    for language in found_languages():
        with TemporaryDirectory() as folder:
            found = run(language, source_of(content, language), bindings, Path(folder))
        counts[language] = Counter(kind for pair in zip(found, wanted, strict=True) for kind in kinds(content, *pair))
    return counts


def kinds(content: Content, found: Any, wanted: Any) -> Iterator[str]:
    """How each size and each guard compares. A guard is compared if its sides are no overflows."""
    (sizes, holds), (values, held) = found, wanted
    for size, value in zip(sizes, values, strict=True):
        yield "overflow" if size == "overflow" else "equal" if size == value else "different"
    for guard, here, there in zip(content.guards, holds, held, strict=True):
        if "overflow" not in (sizes[guard.lhs], sizes[guard.rhs]):
            yield "equal" if here == there else "different"


def main(paths: list[str]) -> None:
    """Print one row for each language, summed over the models."""
    models = {path: onnx.load(path, load_external_data=False) for path in paths} or {m.__name__: m() for m in MODELS}
    totals: dict[str, Counter[str]] = {}
    for name, model in models.items():
        for language, counts in compared(content_of(infer(model)), name).items():
            totals.setdefault(language, Counter()).update(counts)
    rows = [[language, *(str(counts[kind]) for kind in ("equal", "different", "overflow"))]
            for language, counts in totals.items()]  # fmt: skip
    print(table(["language", "equal", "different", "overflow"], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
