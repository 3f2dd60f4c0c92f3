"""Many models: each gets one line in a file, in as many worker processes as there are jobs.

Models with a line are done; an incomplete last line is removed."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.tools.fleets.worker import DEFAULT_LIMITS, Limits, Worker
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import BinaryIO

_START = b'{"schema_version": '


class ForeignFileError(ValueError):
    """The file is not one of these lines, or of other options, or another fleet writes it. It was not changed."""


class Journal:
    """The lines of a fleet in a file. `done` are the paths that have a line, with their status.

    Each line is written at once, with its end. A process that is killed leaves at most one line without its end, and
    this line is removed when the file is opened again. Raises OSError, and `ForeignFileError` for a file with anything
    else.
    """

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        self.path = path
        self.done: dict[str, str] = {}
        self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115  (closed by `close`)
        try:
            self._lock()
            self._file.truncate(self._read(json.loads(json.dumps(options))))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, line: Mapping[str, Any]) -> None:
        """Add a line."""
        self.done[line["path"]] = line["status"]
        rest = memoryview(f"{printable(json.dumps(line))}\n".encode("ascii"))
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def _lock(self) -> None:
        """Keep out other fleets, where the system can; the lock ends with the process."""
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ForeignFileError(f"{self.path}: another fleet writes this file") from None

    def _read(self, options: Mapping[str, Any]) -> int:
        """Read the lines; the place after the last whole one."""
        self._file.seek(0)
        end = 0
        with open(self.path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    if not (line.startswith(_START) or _START.startswith(line)):
                        raise ForeignFileError(f"{self.path}: line {number} is no line of a fleet")
                    break
                self._enter(line, number, options)
                end += len(line)
        return end

    def _enter(self, line: bytes, number: int, options: Mapping[str, Any]) -> None:
        try:
            found = json.loads(line)
            path, status, given = found["path"], found["status"], found["options"]
        except (ValueError, KeyError, TypeError):
            raise ForeignFileError(f"{self.path}: line {number} is no line of a fleet") from None
        if given != options:
            raise ForeignFileError(
                f"{self.path}: line {number} was written with the options {given}, not {options}; choose another file"
            )
        self.done[path] = status


LOST = frozenset(("no model", "unreadable", "refused", "failed", "crashed", "time limit", "memory limit"))
"""The statuses without a result."""

_TICK = 0.2


class Totals(NamedTuple):
    """The progress of a fleet: models in all, with a line, lost, and done before this start; seconds, statuses.

    `memory`: the most bytes that a worker has had.
    """

    models: int
    done: int
    lost: int
    before: int
    seconds: float
    statuses: dict[str, int]
    memory: int


def files_of(paths: Iterable[str]) -> list[str]:
    """The model files: the given ones, and all `.onnx` files in the given folders and below, in sorted order.

    Raises FileNotFoundError for a path that does not exist.
    """
    found: dict[str, None] = {}
    for path in paths:
        if not os.path.lexists(path):
            raise FileNotFoundError(2, os.strerror(2), path)
        if not os.path.isdir(path):
            found[os.path.normpath(path)] = None
            continue
        for folder, inner, names in os.walk(path):
            inner.sort()
            models = sorted(name for name in names if name.lower().endswith(".onnx"))
            found.update((os.path.normpath(os.path.join(folder, name)), None) for name in models)
    return list(found)


def run_fleet(
    paths: Iterable[str],
    target: str,
    *,
    jobs: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    modules: Iterable[str] = (),
    whole: bool = False,
    told: Callable[[Totals], object] = lambda totals: None,
    **options: Any,
) -> Totals:
    """Write one line of JSON per model of files and folders into the file `target`; return the totals.

    Models that have a line there already are left out, so a second start goes on where the first one ended. `options`
    are those of `infer`; `modules` are imported by the workers, for their rules; `whole` adds every value to the lines.
    `told` is called with the totals about five times a second. Raises OSError, and `ForeignFileError` for a target with
    anything but lines of these options.
    """
    if options:
        from onnx_infer.inference import Options  # this loads onnx, which otherwise only the workers need
        from onnx_infer.options import check_options

        check_options(options, Options.__annotations__)
    files = files_of(paths)
    with Journal(target, options) as journal:
        fleet = _Fleet(files, journal)
        workers = [Worker(options, limits, modules, whole) for _ in range(max(jobs, 1))]
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
        self._models, self._journal = len(files), journal
        self._before = sum(path in journal.done for path in files)
        self._statuses = Counter(journal.done[path] for path in files if path in journal.done)
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
                    self._statuses[line["status"]] += 1
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
            done = self._statuses.total()
            lost = sum(count for status, count in self._statuses.items() if status in LOST)
            seconds = time.perf_counter() - self._start
            return Totals(self._models, done, lost, self._before, seconds, dict(self._statuses), self._memory)
