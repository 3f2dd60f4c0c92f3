"""Try a sample of mutants: `python -m tests.mutation --count 200 --seed 1 symdim/prover onnx_infer/ops`.

Without a room, all of them. A second start with the same `--out` goes on where the first one ended. Some survivors
change no answer, so they are to be read, not counted; each is printed with the number of tests that ran it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.mutation.mutants import mutants_of, sample
from tests.mutation.session import Session
from tests.mutation.tracing import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.mutation.mutants import Mutant
    from tests.mutation.trial import Outcome

ROOT = Path(__file__).parents[2]

PACKAGES = ("symdim", "onnx_infer")

TESTS = ["symdim", "onnx_infer", "tests", "docs", "README.md"]

SURVIVED = ("survived", "untested")

FLAGS = ["-o", "addopts=", "--doctest-modules", "--doctest-glob=*.md", "-qq", "-s", "--tb=no"]
FLAGS += ["-p", "no:cacheprovider", "-p", "no:xdist"]

ROOMS = [
    *(f"symdim/{room}" for room in ("algebra", "prover", "relations", "store", "parser", "parsing.py", "einsum")),
    *(f"symdim/{top}.py" for top in ("compile", "facts", "guarantee", "prove", "rows", "shape")),
    "onnx_infer/ops",
    "onnx_infer/laws",
]


def main() -> int:
    """Try the sample and print the scores."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="folders or files")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="mutants with this text in their names")
    parser.add_argument("--tests", nargs="*", default=[], help="these tests in place of all")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"), help="outcomes, a line each")
    parser.add_argument("--again", action="store_true", help="in place of a sample, try those that survived in --out")
    parser.add_argument("--learned", type=Path, default=Path("mutants.trace"), help="which tests run which line")
    options = parser.parse_args()
    at_import = lines_of(import_all, [str(ROOT / package) for package in PACKAGES])
    mutants = [
        mutant
        for path in files_in(options.rooms or ROOMS)
        for mutant in mutants_of((ROOT / path).read_text(encoding="utf-8"), path)
        if options.only in mutant.name
    ]
    outcomes = Outcomes(options.out)

    def draw(possible: Sequence[Mutant]) -> list[Mutant]:
        drawn = outcomes.survivors(possible) if options.again else sample(possible, options.seed, options.count)
        return outcomes.missing(drawn)

    session = Session(ROOT, files_in(ROOMS), mutants, at_import, draw, outcomes.add, options.learned, options.jobs)
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    pytest.main([*FLAGS, *(options.tests or TESTS)], plugins=[session])
    return outcomes.show()


def import_all() -> None:
    """Import every module of both packages."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.stem != "__main__":
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))


def files_in(rooms: Sequence[str]) -> list[str]:
    """The files of rooms, each of which is a file or a folder."""
    places = [ROOT / room for room in rooms]
    paths = [path for place in places for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]
    return [path.relative_to(ROOT).as_posix() for path in paths]


class Outcomes:
    """The outcomes of the sample, kept in a file; those of a former start are read from it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self._former = {(line := json.loads(text))["mutant"]: (line["outcome"], line["tests"]) for text in lines}
        self._outcomes: dict[str, tuple[Mutant, str, object]] = {}

    def survivors(self, possible: Sequence[Mutant]) -> list[Mutant]:
        """Those that survived formerly, which are now forgotten."""
        found = [mutant for mutant in possible if self._former.get(mutant.name, ("",))[0] in SURVIVED]
        for mutant in found:
            del self._former[mutant.name]
        return found

    def missing(self, drawn: Sequence[Mutant]) -> list[Mutant]:
        """Those of the sample that are to be tried, because no former start has."""
        for mutant in drawn:
            if mutant.name in self._former:
                self._outcomes[mutant.name] = mutant, *self._former[mutant.name]
        return [mutant for mutant in drawn if mutant.name not in self._outcomes]

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep an outcome."""
        self._outcomes[mutant.name] = mutant, outcome.what, outcome.tests
        line = {
            "mutant": mutant.name,
            "line": mutant.line,
            "outcome": outcome.what,
            "by": outcome.by,
            "tests": outcome.tests,
        }
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def show(self) -> int:
        """Print the survivors and a table of scores; 1 if one survives."""
        rooms: dict[str, Counter[str]] = {}
        survivors = []
        for name, (mutant, what, tests) in self._outcomes.items():
            rooms.setdefault(room_of(mutant.path), Counter())[what] += 1
            if what in SURVIVED:
                survivors.append(f"{what} at line {mutant.line}: {name} ({tests} tests ran it)")
        print(*sorted(survivors), sep="\n")
        for room, counts in sorted(rooms.items()):
            print(f"{room:40} {score(counts)}")
        print(f"{'all':40} {score(sum(rooms.values(), Counter()))}")
        return 1 if survivors else 0


def score(counts: Counter[str]) -> str:
    """The share of the mutants that tests have found.

    >>> score(Counter(killed=7, hung=1, survived=1, untested=1))
    '80.0 %  8 of 10 found'
    """
    found = counts["killed"] + counts["hung"] + counts["died"]
    tried = found + counts["survived"] + counts["untested"]
    return f"{100 * found / max(tried, 1):.1f} %  {found} of {tried} found"


def room_of(path: str) -> str:
    """The room of a file; in `ops` the family.

    >>> room_of("symdim/store/rows.py"), room_of("symdim/rows.py"), room_of("onnx_infer/ops/joining.py")
    ('symdim/store', 'symdim', 'onnx_infer/ops/joining.py')
    """
    return path if path.startswith("onnx_infer/ops/") else path.rpartition("/")[0]


if __name__ == "__main__":
    sys.exit(main())
