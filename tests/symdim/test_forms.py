"""The canonical forms of random expressions are those of yesterday: `forms.txt` has a checksum of each text.

CHANGELOG.md lists every change of a printed form, so none may happen by accident. After a change that is meant,
`python -m tests.symdim.test_forms` prints the forms that are new, and writes the file anew. That each form has the
right value is tested in `test_canonical.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

from symdim import Scope
from symdim.algebra.variable import make_variable
from tests.symdim.test_canonical import BOUNDS, built, tree

FILE = Path(__file__).with_name("forms.txt")
CHUNKS, EXPRESSIONS = 60, 50


def forms(chunk: int) -> Iterator[tuple[str, str]]:
    """Expressions and their forms; those that divide by 0 are left out."""
    random = Random(f"forms {chunk}")
    count = 0
    while count < EXPRESSIONS:
        bounds = {name: random.choice(BOUNDS) for name in "xyz"}
        scope = Scope()
        raw = tree(random, random.randint(2, 6))
        try:
            dim = built(raw, {name: make_variable(scope, name, *bounds[name]) for name in "xyz"}, 0)
        except ZeroDivisionError:
            continue
        count += 1
        yield f"{raw} for {bounds}", str(dim)


def checksum(text: str) -> str:
    return f"{crc32(text.encode()):08x}"


def known() -> list[list[str]]:
    return [line.split() for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("chunk", "checksums"), list(enumerate(known())))
def test_forms_stay(chunk: int, checksums: list[str]) -> None:
    changed = [found for found, old in zip(forms(chunk), checksums, strict=True) if checksum(found[1]) != old]
    assert changed == []


def main() -> None:
    """Print the forms that are new, and write the checksums of today."""
    former = known() if FILE.exists() else []
    lines = []
    for chunk in range(CHUNKS):
        found = list(forms(chunk))
        lines.append([checksum(text) for _, text in found])
        for place, (question, text) in enumerate(found):
            if chunk < len(former) and former[chunk][place] != lines[-1][place]:
                print(f"{question}\n    {text}")
    FILE.write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
