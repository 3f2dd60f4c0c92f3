"""The worker process: requests on standard input, one line of JSON each; answers likewise on the pipe of its output.

What a model or a library prints goes to standard error. Limits are set by the operating system where it has them. The
parent ends a worker that takes too long; the alarm here is for a worker whose parent is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from typing import IO, Any

NO_MEMORY = 77
"""The exit code of a worker whose memory does not even suffice for an answer."""

_GRACE = 30


def main() -> None:
    """Answer requests until standard input is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too and ends its workers
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    setup = json.loads(sys.stdin.readline())
    for module in setup["modules"]:
        import_module(module)
    from onnx_infer.tools.fleets.examine import examine  # onnx is imported here

    _limit_memory(setup["memory"])
    options = setup["options"]
    _tell(answers, {})  # from now on the time counts
    for line in sys.stdin:
        path = json.loads(line)
        _set_alarm(setup["timeout"])
        try:
            answer = {**examine(path, options, setup["whole"]), "worker_memory": peak_memory()}
            _tell(answers, answer)
        except MemoryError:
            _leave(answers)
        _set_alarm(None)


def _leave(answers: IO[str]) -> None:
    """End the process, because a model has filled its memory."""
    try:
        _tell(answers, {"status": "memory limit", "message": "the memory did not suffice"})
    finally:
        os._exit(NO_MEMORY)


def _tell(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(f"{json.dumps(answer)}\n")
    answers.flush()


def _set_alarm(seconds: float | None) -> None:
    """End the process if it works on one model much longer than the time limit, or remove this alarm."""
    if hasattr(signal, "alarm"):
        signal.alarm(0 if seconds is None else int(seconds) + _GRACE)


def _limit_memory(limit: int | None) -> None:
    """Let the process have at most this many bytes of its own; nothing where the system has no such limit."""
    if limit is None:
        return
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def peak_memory() -> int | None:
    """The most bytes of memory that this process has had; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    main()
