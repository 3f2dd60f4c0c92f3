"""A worker process, controlled by its parent. It gets one model at a time. There is an answer even if it crashes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from threading import Timer
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from onnx_infer.tools.fleets.child import NO_MEMORY
from onnx_infer.tools.fleets.journal import Setting, stamp_of
from symdim import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = 1
"""The version of the fields of a line: docs/json.md."""

_START_SECONDS = 300.0
_MOST_SAID = 1_000
_FIELDS: dict[str, Any] = {
    "data": [], "message": None, "inputs": {}, "outputs": {}, "nodes": None, "values": None, "exact": None,
    "data_dependent": None, "unknown": None, "guards": [], "errors": None, "diagnostics": [], "seconds": None,
    "worker_memory": None,
}  # fmt: skip


class Limits(NamedTuple):
    """What a model may take in a worker: seconds, and bytes of the process (None: any number)."""

    seconds: float = 300.0
    memory: int | None = None


DEFAULT_LIMITS = Limits()


class Worker:
    """A worker process. It is started for the first model, and again after it ended."""

    def __init__(self, setting: Setting, limits: Limits) -> None:
        self.setting, self.limits = setting, limits
        self._setup = json.dumps({"timeout": limits.seconds, "memory": limits.memory, **setting._asdict()})
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `__exit__`)
        self._is_late = self._is_stopped = False

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._errors.close()

    def line(self, path: str) -> dict[str, Any]:
        """The line of a model. Raises nothing for a model, however bad; RuntimeError if no worker can be started."""
        head = {"schema_version": SCHEMA_VERSION, "onnx_infer_version": __version__, "path": path}
        file = stamp_of(path)  # before the model is read: what changes meanwhile is another content
        fields = self._ask(path)
        status = fields.pop("status")
        head |= {"status": status, "options": self.setting.options, "modules": self.setting.modules, "file": file}
        return {**head, **_FIELDS, **fields}

    def stop(self) -> None:
        """End the work on the current model; another thread may call this."""
        self._is_stopped = True
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _start(self) -> subprocess.Popen[str]:
        """A process. It can import what this one can."""
        self._errors.seek(0)
        self._errors.truncate()
        return subprocess.Popen(
            [sys.executable, "-m", "onnx_infer.tools.fleets.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="ascii",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )

    def _ask(self, path: str) -> dict[str, Any]:
        if self._process is None:
            self._process = self._start()
            if not self._answer(self._process, self._setup, _START_SECONDS):
                return self._loss(self._process, _START_SECONDS)
        process = self._process
        answer = self._answer(process, json.dumps(path), self.limits.seconds)
        if not answer:
            return self._loss(process, self.limits.seconds)
        fields: dict[str, Any] = json.loads(answer)
        if fields["status"] == "memory limit":
            self.close()
        return fields

    def _answer(self, process: subprocess.Popen[str], question: str, seconds: float) -> str:
        """The answer to a question; empty if the process ends, or takes longer and is ended."""
        assert process.stdin is not None
        assert process.stdout is not None
        self._is_late = False
        if self._is_stopped:
            process.kill()
        clock = Timer(seconds, self._end, [process])
        clock.start()
        try:
            process.stdin.write(f"{question}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:  # the process died before it could read
            return ""
        finally:
            clock.cancel()
        return answer if answer.endswith("\n") else ""

    def _end(self, process: subprocess.Popen[str]) -> None:
        self._is_late = True
        process.kill()

    def _loss(self, process: subprocess.Popen[str], seconds: float) -> dict[str, Any]:
        """Why a process gave no answer."""
        code = process.wait()
        self.close()
        if self._is_late:
            return {"status": "time limit", "message": f"no result after {seconds:g} seconds"}
        if code == NO_MEMORY:
            return {"status": "memory limit", "message": "the memory did not suffice"}
        return {"status": "crashed", "message": f"{_ending(code)}{self._said()}"}

    def _said(self) -> str:
        """The end of what the process wrote to standard error."""
        size = self._errors.seek(0, 2)
        self._errors.seek(max(size - _MOST_SAID, 0))
        said = self._errors.read().decode("utf-8", "replace").strip()
        return f": {said}" if said else ""


def _ending(code: int) -> str:
    """How a process ended.

    >>> _ending(-11), _ending(3)
    ('the worker ended by SIGSEGV', 'the worker ended with exit code 3')
    """
    if code >= 0:
        return f"the worker ended with exit code {code}"
    try:
        return f"the worker ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the worker ended by signal {-code}"


def lines_of(
    paths: Iterable[str], limits: Limits = DEFAULT_LIMITS, *, whole: bool = False, **options: Any
) -> list[dict[str, Any]]:
    """The lines of models, by one worker process, which is started again if a model ends it.

    `options` are those of `infer`. This is what schedulers of other machines map over parts of a list.
    """
    with Worker(Setting(options, [], whole).checked(), limits) as worker:
        return [worker.line(str(path)) for path in paths]
