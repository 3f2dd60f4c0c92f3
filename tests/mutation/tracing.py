"""Which tests run which statement, and how long they take: learned once and kept in a file.

Each statement of a function notes its place before it runs. The noting code is put in place as a mutant is, so the
tests run almost as fast as without it.
"""

from __future__ import annotations

import ast
import sys
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

Place = tuple[str, int]
"""A file and the first line of a statement."""

NOTE = "__note__"


@dataclass
class Trace:
    """What a run of all tests has shown: seconds, tests that cannot be used, and the tests of each place."""

    seconds: dict[int, float] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    tests: dict[Place, array[int]] = field(default_factory=dict)

    def add(self, other: Trace) -> None:
        """Add what other tests have shown."""
        self.seconds.update(other.seconds)
        self.left_out |= other.left_out
        for place, tests in other.tests.items():
            self.tests.setdefault(place, array("H")).extend(tests)

    def renumbered(self, numbers: Mapping[int, int]) -> Trace:
        """The same of some tests, under other numbers."""
        places = {
            place: array("H", [numbers[test] for test in tests if test in numbers])
            for place, tests in self.tests.items()
        }
        seconds = {numbers[test]: time for test, time in self.seconds.items() if test in numbers}
        return Trace(seconds, {numbers[test] for test in self.left_out if test in numbers}, places)

    def quickest(self, place: Place) -> list[int]:
        """The tests that were at a place, quickest first."""
        tests = [test for test in self.tests.get(place, ()) if test not in self.left_out]
        return sorted(tests, key=lambda test: (self.seconds[test], test))

    def within(self, seconds: float, tests: Sequence[int]) -> list[int]:
        """The first of some tests, and those others that fit into the time. A slow test does not keep out quick ones.

        >>> Trace(seconds={0: 9.0, 1: 0.5, 2: 99.0, 3: 0.25}).within(10.0, [0, 2, 1, 3])
        [0, 1, 3]
        """
        chosen, spent = list(tests[:1]), sum(self.seconds[test] for test in tests[:1])
        for test in tests[1:]:
            if spent + self.seconds[test] < seconds:
                chosen.append(test)
                spent += self.seconds[test]
        return chosen


def noting(source: str, path: str, number: Callable[[Place], int]) -> Any:
    """The code of a module whose functions call `__note__` with the number of each statement before it runs."""
    tree = ast.parse(source)

    def note(node: ast.stmt | ast.expr) -> ast.Call:
        call = ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(number((path, node.lineno)))], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    for node in list(ast.walk(tree)):
        if isinstance(node, ast.Lambda):
            node.body = ast.copy_location(ast.BoolOp(ast.Or(), [note(node.body), node.body]), node.body)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    blocks = {id(block): block for function in functions for block in _blocks(function)}
    for block in blocks.values():
        block[:] = [new for old in block for new in (ast.copy_location(ast.Expr(note(old)), old), old)]
    return compile(tree, path, "exec", dont_inherit=True)


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    """The blocks of statements in a function."""
    fields = [value for node in ast.walk(function) for _, value in ast.iter_fields(node)]
    return [value for value in fields if isinstance(value, list) and value and isinstance(value[0], ast.stmt)]


def lines_of(action: Callable[[], object], folders: Sequence[str]) -> set[Place]:
    """The lines of code below some folders that an action runs."""
    lines: set[Place] = set()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(tuple(folders)):
            return None
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(None)
    return lines


class Spawning:
    """Whether a process was started since `begin`."""

    def __init__(self) -> None:
        self.seen = False
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _: object) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec"):
            self.seen = True
