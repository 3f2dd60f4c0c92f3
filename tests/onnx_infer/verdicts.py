"""What onnx and onnxruntime say of one-node models, asked in a process of its own: both crash on some malformed nodes.

As a program it reads questions from stdin and writes answers to stdout.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from math import ceil
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CRASH = "crash"
_BATCH = 1000
_SECONDS = 1
"""Seconds of processor time for a question: onnx does not come back from some nodes."""
_PATIENCE = 60.0
"""Seconds for a batch, where the system does not limit processor time."""


class Question(NamedTuple):
    """`who` is `onnx` or `onnxruntime`; the model, the types and the constants of its node's inputs as bytes."""

    who: str
    model: bytes
    types: dict[str, bytes]
    data: dict[str, bytes]


def answers(questions: Sequence[Question]) -> Iterator[str | None]:
    """For each question None where the node is accepted, else why it is not; `crash` where no answer came."""
    at = 0
    while at < len(questions):
        batch = questions[at : at + _BATCH]
        lines = _ask(pickle.dumps(batch)).splitlines()[: len(batch)]
        yield from (None if line == b"ok" else line.decode() for line in lines)
        at += len(lines)
        if len(lines) < len(batch):
            yield CRASH
            at += 1


def _ask(questions: bytes) -> bytes:
    """The answers of this file as a program, up to a crash."""
    command = [sys.executable, "-m", "tests.onnx_infer.verdicts"]
    root = Path(__file__).parents[2]
    try:
        return subprocess.run(
            command, input=questions, capture_output=True, check=False, timeout=_PATIENCE, cwd=root
        ).stdout
    except subprocess.TimeoutExpired as expired:
        return expired.stdout or b""


def by_onnx(question: Question) -> None:
    """Strict inference of the node by onnx, which also checks it against its schema."""
    import onnx

    model = onnx.ModelProto.FromString(question.model)
    node = model.graph.node[0]
    version = next(o.version for o in model.opset_import if o.domain == node.domain)
    onnx.shape_inference.infer_node_outputs(
        onnx.defs.get_schema(node.op_type, version, node.domain),
        node,
        {name: onnx.TypeProto.FromString(x) for name, x in question.types.items()},
        {name: onnx.TensorProto.FromString(x) for name, x in question.data.items()},
    )


def by_onnxruntime(question: Question) -> None:
    """A run of the model by onnxruntime, on ones."""
    import numpy as np
    import onnx

    from tests.onnx_infer.sessions import session_of

    model = onnx.ModelProto.FromString(question.model)
    session = session_of(model)
    feeds: dict[str, Any] = {}
    for info in model.graph.input:
        tensor = info.type.tensor_type
        if not info.type.HasField("tensor_type") or not tensor.HasField("shape"):
            raise NotImplementedError("inputs that are no tensors of known shape")
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        feeds[info.name] = np.ones([d.dim_value for d in tensor.shape.dim], dtype)
    session.run(None, feeds)


def allow(seconds: int) -> None:
    """Let this process have so many more seconds of processor time."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(process_time()) + seconds, most))


def main() -> None:
    """Answer what is asked on stdin, each answer on a line as soon as it is there."""
    ask = {"onnx": by_onnx, "onnxruntime": by_onnxruntime}
    for question in pickle.load(sys.stdin.buffer):
        allow(_SECONDS)
        try:
            ask[question.who](question)
            text = "ok"
        except Exception as error:  # the answer is the error, of whatever kind
            text = " ".join(f"{type(error).__name__}: {error}".split())
        print(text, flush=True)


if __name__ == "__main__":
    # the classes of this file as they are named where the questions were pickled
    sys.modules["tests.onnx_infer.verdicts"] = sys.modules["__main__"]
    main()
