"""A sample of mutants, tried in a pytest session that has imported and collected everything."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
from array import array
from collections import Counter
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zlib import crc32

from tests.mutation.tracing import NOTE, Spawning, Trace, noting
from tests.mutation.trial import Functions, Outcome, Test, ended, silence, start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set
    from mmap import mmap
    from types import CodeType

    import pytest

    from tests.mutation.mutants import Mutant
    from tests.mutation.tracing import Place

PART = 100
"""So many tests are traced in one process."""

QUICK, QUICK_SECONDS = 40, 1.0
"""So many tests in the first trial of a mutant, and so long. A mutant that survives is tried with the others."""

SECONDS = 30.0
"""The tests of the second trial take so long at most."""

KILLERS = 10
"""So many tests that found other mutants of the file come first."""


class Session:
    """A pytest plug-in whose loop tries mutants in place of running the tests.

    `draw` takes those that tests can try. `report` is called with each one drawn, and its outcome.
    """

    def __init__(
        self,
        root: Path,
        files: Sequence[str],
        mutants: Sequence[Mutant],
        at_import: Set[Place],
        draw: Callable[[Sequence[Mutant]], list[Mutant]],
        report: Callable[[Mutant, Outcome], None],
        learned: Path,
        jobs: int,
    ) -> None:
        self.root, self.files, self.mutants, self.at_import = root, files, mutants, at_import
        self.draw, self.report = draw, report
        self.learned, self.jobs = learned, jobs
        self._killers: dict[str, Counter[int]] = {}
        self._sound: set[int] = set()
        self._failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notice a failure."""
        self._failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn which tests run what, then try the mutants."""
        self._items = session.items
        with TemporaryDirectory() as scratch:
            self._scratch = Path(scratch)
            self._functions = Functions()
            gc.collect()
            gc.freeze()
            self._trace = self._known()
            self._try(self.draw([mutant for mutant in self.mutants if not self._only_at_import(mutant)]))
        return True

    def _known(self) -> Trace:
        """What the tests run. It is kept in the file; tests that are new since then are traced now.

        If the code has changed, all tests are.
        """
        names = [item.nodeid for item in self._items]
        key = crc32("".join((self.root / path).read_text(encoding="utf-8") for path in self.files).encode())
        trace = Trace()
        if self.learned.exists():
            former, kept, known = pickle.loads(self.learned.read_bytes())
            place = {name: i for i, name in enumerate(kept)}
            if former == key:
                trace = known.renumbered({place[name]: i for i, name in enumerate(names) if name in place})
        missing = [i for i in range(len(names)) if i not in trace.seconds]
        if missing:
            learner = os.fork()
            if not learner:
                try:
                    self._learn(missing, trace)
                    self.learned.write_bytes(pickle.dumps((key, names, trace)))
                finally:
                    os._exit(0)
            os.waitpid(learner, 0)
            _, _, trace = pickle.loads(self.learned.read_bytes())
        return trace

    def _learn(self, missing: Sequence[int], trace: Trace) -> None:
        """Trace tests, some at a time in processes of their own. Tests whose process dies are left out."""
        spawning, hits = Spawning(), set[int]()
        places = self._note_places(hits)
        waiting = [missing[start : start + PART] for start in range(0, len(missing), PART)]
        running: dict[int, Sequence[int]] = {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                tests = waiting.pop()
                child = os.fork()
                if not child:
                    try:
                        silence()
                        part = self._traced(tests, spawning, hits, places)
                        (self._scratch / f"{os.getpid()}.trace").write_bytes(pickle.dumps(part))
                    finally:
                        os._exit(0)
                running[child] = tests
            child, _ = os.wait()
            tests, file = running.pop(child), self._scratch / f"{child}.trace"
            lost = Trace(seconds=dict.fromkeys(tests, 0.0), left_out=set(tests))
            trace.add(pickle.loads(file.read_bytes()) if file.exists() else lost)

    def _note_places(self, hits: set[int]) -> list[Place]:
        """Let the code add the number of each statement to `hits`: the places by their numbers."""
        numbers: dict[Place, int] = {}
        for path in self.files:
            file = str(self.root / path)
            source = Path(file).read_text(encoding="utf-8")
            module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            vars(sys.modules[module])[NOTE] = hits.add
            old = compile(source, file, "exec", dont_inherit=True)
            self._functions.replace(old, noting(source, file, lambda place: numbers.setdefault(place, len(numbers))))
        return list(numbers)

    def _traced(self, tests: Sequence[int], spawning: Spawning, hits: set[int], places: Sequence[Place]) -> Trace:
        """The statements of tests. Tests that start processes are left out."""
        trace = Trace()
        for test in tests:
            self._functions.forget()
            hits.clear()
            spawning.seen = False
            begun = time.process_time()
            self._run(test, None)
            trace.seconds[test] = time.process_time() - begun
            if spawning.seen:
                trace.left_out.add(test)
            for number in list(hits):  # a finalizer may add one meanwhile
                trace.tests.setdefault(places[number], array("H")).append(test)
        return trace

    def _run(self, number: int, following: int | None) -> bool:
        """Run a test: whether it passed. What it shares with the following one stays."""
        self._failed = False
        item = self._items[number]
        nextitem = None if following is None else self._items[following]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        return not self._failed

    def _only_at_import(self, mutant: Mutant) -> bool:
        place = (str(self.root / mutant.path), mutant.line)
        return place in self.at_import and place not in self._trace.tests

    def _try(self, mutants: Sequence[Mutant]) -> None:
        waiting = [(mutant, 1) for mutant in reversed(mutants)]
        running: dict[int, tuple[Mutant, int, list[int], list[Test], mmap]] = {}
        sources: dict[str, CodeType] = {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                mutant, trial = waiting.pop()
                numbers = self._selected(mutant, trial)
                if not numbers:
                    self.report(mutant, Outcome("survived" if trial == 2 else "untested"))
                    continue
                tests = self._tests(numbers)
                path = str(self.root / mutant.path)
                if path not in sources:
                    sources[path] = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
                place = lambda: self._functions.replace(sources[path], mutant.compiled(path))  # noqa: B023, E731
                child, board = start(place, tests, self._scratch)
                running[child] = mutant, trial, numbers, tests, board
            if not running:
                break
            child, status = os.wait()
            mutant, trial, numbers, tests, board = running.pop(child)
            rmtree(self._scratch / str(child), ignore_errors=True)
            outcome = ended(status, board, tests)
            if outcome.what == "survived" and trial == 1:
                waiting.insert(0, (mutant, 2))
                print(f"not found by quick tests: {mutant.name}", flush=True)
                continue
            if outcome.what == "killed":
                if not self._passes_alone(numbers[outcome.tests - 1]):
                    waiting.append((mutant, trial))
                    continue
                self._killers.setdefault(mutant.path, Counter())[numbers[outcome.tests - 1]] += 1
            self.report(mutant, outcome)

    def _passes_alone(self, number: int) -> bool:
        """Whether a test passes without a mutant; asked once of each test that found one. If not, it is left out."""
        if number not in self._sound:
            tests = self._tests([number])
            child, board = start(lambda: 1, tests, self._scratch)
            _, status = os.waitpid(child, 0)
            rmtree(self._scratch / str(child), ignore_errors=True)
            if ended(status, board, tests).what != "survived":
                self._trace.left_out.add(number)
                return False
            self._sound.add(number)
        return True

    def _selected(self, mutant: Mutant, trial: int) -> list[int]:
        """The tests of a trial, all of which run the statement: first some quick ones, then those of the package."""
        quickest = self._trace.quickest((str(self.root / mutant.path), mutant.line))
        at_line = self._in_turns(quickest)
        at_all = set(at_line)
        killers = [test for test, _ in self._killers.get(mutant.path, Counter()).most_common(KILLERS) if test in at_all]
        first = dict.fromkeys([*killers, *self._trace.within(QUICK_SECONDS, at_line[:QUICK])])
        if trial == 1:
            return list(first)
        package = mutant.path.partition("/")[0]
        own = (f"{package}/", f"tests/{package}/")
        rest = [test for test in quickest if test not in first]
        rest.sort(key=lambda test: not self._items[test].nodeid.startswith(own))
        return self._trace.within(SECONDS, rest)

    def _in_turns(self, tests: Sequence[int]) -> list[int]:
        """One case of each test function, then a second one of each, and so on: what is different finds more."""
        turns: Counter[str] = Counter()
        turn: dict[int, int] = {}
        for test in tests:
            name = self._items[test].nodeid.partition("[")[0]
            turn[test] = turns[name]
            turns[name] += 1
        return sorted(tests, key=turn.__getitem__)

    def _tests(self, numbers: Sequence[int]) -> list[Test]:
        following = [*numbers[1:], None]
        return [
            Test(self._items[n].nodeid, self._trace.seconds[n], lambda n=n, then=then: self._run(n, then))
            for n, then in zip(numbers, following, strict=True)
        ]
