"""Many models: each gets one line, in as many worker processes as there are jobs. See `journal.py` for their file."""

from __future__ import annotations

import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.tools.fleets.journal import Brief, Journal, Setting, brief
from onnx_infer.tools.fleets.worker import DEFAULT_LIMITS, Limits, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

LOST = frozenset(("no model", "unreadable", "refused", "failed", "crashed", "time limit", "memory limit"))
"""The statuses without a result."""

_TICK = 0.2


class Totals(NamedTuple):
    """The progress of a fleet: models in all, with a line, lost, and done before this start; seconds, statuses.

    `memory`: the most bytes that a worker has had. `lines`: path -> what its line says in short.
    """

    models: int
    done: int
    lost: int
    before: int
    seconds: float
    statuses: dict[str, int]
    memory: int
    lines: Mapping[str, Brief] = {}


def files_of(paths: Iterable[str]) -> list[str]:
    """The model files: the given ones, and all `.onnx` files in the given folders and below, in sorted order.

    Raises FileNotFoundError for a path that does not exist.
    """
    files: dict[str, None] = {}
    for path in paths:
        if not os.path.lexists(path):
            raise FileNotFoundError(2, os.strerror(2), path)
        if not os.path.isdir(path):
            files[os.path.normpath(path)] = None
            continue
        for folder, inner, names in os.walk(path):
            inner.sort()
            models = sorted(name for name in names if name.lower().endswith(".onnx"))
            files.update((os.path.normpath(os.path.join(folder, name)), None) for name in models)
    return list(files)


def run_fleet(
    paths: Iterable[str],
    target: str | None,
    *,
    jobs: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    modules: Iterable[str] = (),
    whole: bool = False,
    force: bool = False,
    told: Callable[[Totals], object] = lambda totals: None,
    **options: Any,
) -> Totals:
    """Write one line of JSON per model of files and folders into the file `target`; return the totals.

    Models with a line there are left out, as long as they and their files of weights have the same content, so a second
    start goes on where the first one ended; with `force` all are inferred again. Without a target no line is kept.
    `options` are those of `infer`; `modules` are imported by the workers, for their rules; `whole` adds every value to
    the lines. `told` is called with the totals about five times a second. Raises OSError, and `ForeignFileError` for a
    target with anything but lines of these options, and for one that is not a regular file or one of the models.
    """
    setting, files = Setting(options, list(modules), whole).checked(), files_of(paths)
    with Journal(target, setting, files, force) as journal:
        fleet = _Fleet(files, journal)
        workers = [Worker(setting, limits) for _ in range(max(jobs, 1))]
        with ThreadPoolExecutor(len(workers)) as pool:
            slots = [pool.submit(fleet.work, worker) for worker in workers]
            try:
                while wait(slots, _TICK).not_done and not any(slot.done() and slot.exception() for slot in slots):
                    told(fleet.totals())
            finally:
                fleet.stop()
                for worker in workers:  # some still work if this is interrupted, or if a slot failed
                    worker.stop()
        for slot in slots:
            slot.result()
        told(fleet.totals())
        return fleet.totals()


class _Fleet:
    """The models without a line, which slots take one after the other."""

    _is_stopped = False

    def __init__(self, files: list[str], journal: Journal) -> None:
        self._files, self._journal = files, journal
        self._lines = {path: journal.done[path] for path in files if path in journal.done}
        self._before = len(self._lines)
        self._pending: Iterator[str] = iter([path for path in files if path not in journal.done])
        self._lock, self._start, self._memory = Lock(), time.perf_counter(), 0

    def work(self, worker: Worker) -> None:
        """Take models and write their lines until there are no more."""
        with worker:
            while (path := self._next()) is not None:
                line = worker.line(path)
                with self._lock:
                    if self._is_stopped:
                        return
                    self._journal.write(line)
                    self._lines[path] = brief(line)
                    self._memory = max(self._memory, line["worker_memory"] or 0)

    def stop(self) -> None:
        """From now on slots begin nothing and write nothing."""
        with self._lock:
            self._is_stopped = True

    def _next(self) -> str | None:
        with self._lock:
            return None if self._is_stopped else next(self._pending, None)

    def totals(self) -> Totals:
        """The progress so far."""
        with self._lock:
            statuses = Counter(line.status for line in self._lines.values())
            lost = sum(count for status, count in statuses.items() if status in LOST)
            seconds = time.perf_counter() - self._start
            lines = {path: self._lines[path] for path in self._files if path in self._lines}
            done = len(lines)
            return Totals(len(self._files), done, lost, self._before, seconds, dict(statuses), self._memory, lines)
