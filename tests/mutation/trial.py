"""One mutant in a process of its own: the changed code is put in place, and tests run until one fails."""

from __future__ import annotations

import gc
import os
import resource
import signal
import tempfile
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from mmap import mmap
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from symdim import clear_caches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

MEMORY = 8 << 30
"""Bytes of address space. A mutant that needs more is found."""

BOARD = 64
"""Bytes that a trial can write on its board, which its parent sees."""

WALL = 600
"""Seconds after which a trial ends, for one that waits and does not compute."""


@dataclass(frozen=True)
class Test:
    """A test that a trial can run: it tells whether it passed."""

    name: str
    seconds: float
    passes: Callable[[], bool]


class Functions:
    """All live functions of this process by their code, and their caches."""

    def __init__(self) -> None:
        self._by_code: dict[CodeType, list[FunctionType]] = {}
        self._caches: list[Any] = []
        for thing in gc.get_objects():
            if type(thing) is FunctionType:
                self._by_code.setdefault(thing.__code__, []).append(thing)
            elif type(thing) is _lru_cache_wrapper:
                self._caches.append(thing)

    def replace(self, old: CodeType, new: CodeType) -> int:
        """Give the code of a changed module to the functions of the module: how many were changed."""
        count = 0
        for before, after in _pairs(old, new):
            if not after.co_freevars:  # the function keeps the cells of outer variables, also of the class of `super()`
                after = after.replace(co_freevars=before.co_freevars)
            for function in self._by_code.get(before, ()):
                function.__code__ = after
                count += 1
        self.forget()
        return count

    def forget(self) -> None:
        """Empty the caches, so that a test runs all that it needs."""
        for cache in self._caches:
            cache.cache_clear()
        clear_caches()


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The codes of functions that differ, old and new. A lambda that is left out has no partner."""
    waiting = [(old, new)]
    while waiting:
        before, after = waiting.pop()
        if before == after:
            continue
        yield before, after
        first, second = ([c for c in code.co_consts if isinstance(c, CodeType)] for code in (before, after))
        if len(first) != len(second):
            ends = {(c.co_qualname, c.co_firstlineno): c for c in second}
            first = [c for c in first if (c.co_qualname, c.co_firstlineno) in ends]
            second = [ends[c.co_qualname, c.co_firstlineno] for c in first]
        waiting.extend(zip(first, second, strict=True))


@dataclass(frozen=True)
class Outcome:
    """What came of a trial: `killed` by a test, `hung` or `died` in one, `survived`; `unplaced` if nothing runs it."""

    what: str
    by: str = ""
    tests: int = 0

    @property
    def found(self) -> bool:
        """Whether tests have found the mutant."""
        return self.what in ("killed", "hung", "died")


def silence() -> None:
    """Print nothing in this process from now on."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def start(place: Callable[[], int], tests: Sequence[Test], scratch: Path) -> tuple[int, mmap]:
    """Fork a process that places a mutant and runs the tests: its id and the board that it writes on."""
    board = mmap(-1, BOARD)
    child = os.fork()
    if child:
        return child, board
    try:
        silence()
        (directory := scratch / str(os.getpid())).mkdir()
        os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(directory)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(WALL)
        _try(place, tests, board)
    finally:
        os._exit(0)


def _try(place: Callable[[], int], tests: Sequence[Test], board: mmap) -> None:
    def write(what: str, number: int) -> None:
        board[:] = f"{what} {number}".encode().ljust(BOARD)

    try:
        placed = place()
    except ValueError:  # the change needs other variables of an outer function
        placed = 0
    if not placed:
        return write("unplaced", 0)
    for number, test in enumerate(tests, 1):
        write("running", number)
        signal.setitimer(signal.ITIMER_PROF, 2 + 10 * test.seconds)
        if not test.passes():
            return write("killed", number)
    return write("survived", len(tests))


def ended(status: int, board: mmap, tests: Sequence[Test]) -> Outcome:
    """The outcome of a process that has ended."""
    what, _, number = board[:].decode().strip("\0 ").partition(" ")
    board.close()
    if what == "unplaced":
        return Outcome(what)
    if what == "survived":
        return Outcome(what, tests=int(number))
    if what != "killed":
        hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM)
        what = "hung" if hung else "died"
    count = int(number or 0)
    return Outcome(what, tests[count - 1].name if count else "", count)
