"""The sampler itself: faults of one function, how they are drawn, and a session that finds some of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.__main__ import ROOT
from tests.mutation.mutants import mutants_of, sample
from tests.mutation.survivors import justified
from tests.mutation.trial import Functions

SOURCE = """
def first(x, low=0):
    if low < x and not x % 2:
        raise ValueError(f"{x + 1}")
    return max(x, low)

class C:
    def second(self): return [y for y in self.z if y]

third = lift(lambda a: a // 3)
"""


def test_what_may_change_in_a_function() -> None:
    assert [mutant.name.removeprefix("m.py ") for mutant in mutants_of(SOURCE, "m.py")] == [
        "first: if low < x and (not x % 2): -> if not (low < x and (not x % 2)):",
        "first: low < x and (not x % 2) -> low < x or not x % 2",
        "first: low < x and (not x % 2) -> not x % 2",
        "first: low < x and (not x % 2) -> low < x",
        "first: low < x -> low <= x",
        "first: low < x -> low >= x",
        "first: not x % 2 -> x % 2",
        "first: x % 2 -> x // 2",
        "first: x % 2 -> x % 3",
        "first: x % 2 -> x % 1",
        "first: raise ValueError(f'{x + 1}') -> pass",
        "first: return max(x, low) -> return None",
        "first: max(x, low) -> min(x, low)",
        "C.second: return [y for y in self.z if y] -> return None",
        "C.second: for y in self.z if y -> for y in self.z",
        "third.lambda: a // 3 -> a * 3",
        "third.lambda: a // 3 -> a // 4",
        "third.lambda: a // 3 -> a // 2",
    ]


def test_a_sample_is_drawn_evenly_over_the_functions() -> None:
    mutants = mutants_of(SOURCE, "m.py")
    assert sorted(mutant.function for mutant in sample(mutants, 0, 5)) == sorted(
        ["first", "C.second", "third.lambda"] + [mutant.function for mutant in sample(mutants, 0, 5)[3:]]
    )
    assert sample(mutants, 3, 9) == sample(mutants, 3, 9) != sample(mutants, 4, 9)
    assert set(sample(mutants, 0, 99)) == set(mutants)


def test_every_mutant_of_the_list_is_in_the_code() -> None:
    reasons = justified()
    paths = {name.split(" ")[0] for name in reasons}
    names = {mutant.name for path in paths for mutant in mutants_of((ROOT / path).read_text("utf-8"), path)}
    assert sorted(reasons.keys() - names) == []
    assert all(reasons.values())


def test_a_change_may_leave_out_the_last_use_of_an_outer_variable() -> None:
    source = "class C(dict):\n    def __init__(self, given):\n        super().__init__(given)\n        self.n = 1\n"
    names: dict[str, Any] = {}
    (mutant,) = [m for m in mutants_of(source, "m.py") if m.before == "super().__init__(given)"]
    exec(old := compile(source, "m.py", "exec"), names)
    assert Functions().replace(old, mutant.compiled("m.py")) == 1
    made = names["C"]({1: 2})
    assert (made, made.n) == ({}, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_session_finds_what_tests_can_find(tmp_path: Path) -> None:
    (tmp_path / "test_few.py").write_text(
        "from symdim.algebra.dims import differ\n"
        "def test_differ(): assert differ(1, 2) and not differ(2, 2)\n"
        "def test_other(): assert not differ(2, 2)\n",
        encoding="utf-8",
    )
    out = tmp_path / "out.jsonl"
    command = [
        sys.executable,
        "-m",
        "tests.mutation",
        "symdim/algebra/dims.py",
        "--only",
        "dims.py differ",
        "--count",
        "99",
    ]
    files = ["--tests", str(tmp_path / "test_few.py"), "--out", str(out), "--learned", str(tmp_path / "trace")]
    ended = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    outcomes = {line["mutant"].partition("differ: ")[2]: line for line in map(json.loads, out.read_text().splitlines())}
    assert ended.returncode == 1, ended.stderr
    assert "2 of 11 found, 0 justified" in ended.stdout
    assert {
        name: line["outcome"]
        for name, line in outcomes.items()
        if not name.startswith(("if ", "return excludes", "excludes("))
    } == {
        "isinstance(a, int) and isinstance(b, int) -> isinstance(a, int) or isinstance(b, int)": "survived",
        "isinstance(a, int) and isinstance(b, int) -> isinstance(b, int)": "survived",
        "isinstance(a, int) and isinstance(b, int) -> isinstance(a, int)": "survived",
        "return a != b -> return None": "killed",
        "a != b -> a == b": "killed",
        "a - b -> a + b": "untested",
    }
    # both tests can find it, and the quicker one is tried first
    assert outcomes["a != b -> a == b"]["by"].endswith(("test_few.py::test_differ", "test_few.py::test_other"))
