"""onnxruntime in a process of its own: some models crash it, and some runs do not end."""

from __future__ import annotations

import resource
import time
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

Feeds = dict[str, Any]
Outcome = list[Any] | str
"""The outputs of a run, or the text of the refusal."""

CRASHED = "crashed: no answer"
"""The outcome if the process died or used up its time."""

TOO_LARGE = ("Failed to allocate memory", "SafeIntOnOverflow")
"""What onnxruntime says in its refusal if a tensor is too large: for the memory, or its bytes for an integer."""

_LONGEST_WAIT = 120.0
"""The most seconds until there is an answer, or until onnxruntime is loaded."""


class Runtime:
    """Runs models without optimisation. The process starts with the first model, and anew after a crash.

    A model has `seconds` of processor time: what a model does must not depend on what else the machine does.
    """

    def __init__(self, seconds: int = 10) -> None:
        self.seconds = seconds
        self._process: Any = None
        self._pipe: Connection[Any, Any] | None = None

    def run(self, model: bytes, feeds: Sequence[Mapping[str, Any]]) -> list[Outcome]:
        """One outcome for each set of inputs. A model that cannot be loaded refuses all of them."""
        if self._pipe is None:
            self._start()
        assert self._pipe is not None
        try:
            self._pipe.send((model, list(feeds)))
            if self._pipe.poll(_LONGEST_WAIT):
                answer: list[Outcome] = self._pipe.recv()
                return answer
        except (EOFError, OSError):
            pass  # the process is dead: there will be no answer below
        self.stop()
        return [CRASHED for _ in feeds]

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self.seconds), daemon=True)
        self._process.start()
        other.close()
        if not self._pipe.poll(_LONGEST_WAIT):
            raise RuntimeError(
                f"onnxruntime was not loaded in {_LONGEST_WAIT:.0f} s; try again when the machine has time"
            )
        self._pipe.recv()  # None, when it is loaded. Raises EOFError if the process ended, so no run can be judged


def _serve(pipe: Connection[Any, Any], seconds: int) -> None:
    """Answer until the pipe is closed."""
    import onnxruntime as ort

    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    pipe.send(None)
    while True:
        try:
            model, feeds = pipe.recv()
        except EOFError:
            return
        limits = int(time.process_time()) + 1 + seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, limits)
        try:
            session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has many kinds
            pipe.send([f"not loaded: {error}" for _ in feeds])
            continue
        names = {i.name for i in session.get_inputs()}
        pipe.send([_outcome(session, {k: v for k, v in given.items() if k in names}) for given in feeds])


def _outcome(session: Any, feeds: Feeds) -> Outcome:
    try:
        outputs: list[Any] = session.run(None, feeds)
    except Exception as error:  # the refusal is the outcome, of whatever kind
        return f"refused: {error}"
    return outputs
