"""A call for many models: `onnx-infer models/ --jobs 4 --json-lines out.jsonl`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, TextIO

from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, WrongCall, inference_options
from onnx_infer.tools.cli.files import failure
from onnx_infer.tools.cli.terminal import show
from onnx_infer.tools.fleets.fleet import LOST, ForeignFileError, Totals, files_of, run_fleet
from onnx_infer.tools.fleets.worker import Limits
from symdim.errors import printable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

_BAR = 30
_MOST_LOST = 10


def run(options: Namespace) -> int:
    """Infer all models, with a progress bar on a terminal; returns the exit code. Raises WrongCall."""
    progress = _Progress(sys.stderr)
    try:
        totals = run_fleet(
            options.models,
            options.json_lines,
            jobs=options.jobs,
            limits=Limits(options.timeout, options.max_worker_memory),
            modules=options.modules,
            whole=options.all,
            told=progress.tell,
            **inference_options(options),
        )
    except OSError as error:
        raise failure(options.json_lines, error) from None
    except ForeignFileError as error:
        raise WrongCall(f"--json-lines: {error}") from None
    finally:
        progress.clear()
    lost = [] if totals.statuses.keys() <= {"ok"} else not_ok(options.json_lines, files_of(options.models))
    show(summary(totals, options.json_lines, lost), sys.stdout)
    return OK if totals.statuses.keys() <= {"ok"} else MODEL_ERRORS


def not_ok(target: str, paths: Iterable[str]) -> list[str]:
    """The models that have another status than ok, each with its status and what is told of it."""
    paths, found = set(paths), []
    with open(target, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["path"] in paths and line["status"] != "ok":
                errors = [told["message"] for told in line.get("diagnostics") or () if told["severity"] != "warning"]
                told = (line.get("message") or next(iter(errors), "")).partition("\n")[0]
                told = told.removeprefix(f"{line['path']}: ")
                found.append(printable(f"{line['status']}: {line['path']}{': ' * bool(told)}{told}"))
    return sorted(found)


def summary(totals: Totals, target: str, lost: Sequence[str] = ()) -> str:
    """How many models have which status, how long it took, and the first models that are not ok.

    >>> counts = {"ok": 3, "crashed": 1}
    >>> print(summary(Totals(4, 4, 1, 1, 1.5, counts, 150_000_000), "out.jsonl", ["crashed: m.onnx: signal 11"]))
    4 models: 3 ok, 1 crashed
      crashed: m.onnx: signal 11
    3 of them now, in 1.5 s: 2.0 models per second; at most 150 MB in a worker
    written: out.jsonl
    >>> print(summary(Totals(4, 4, 0, 4, 0.0, {"ok": 4}, 0), "out.jsonl"))
    4 models: 4 ok
    all of them are in out.jsonl already; delete lines there to run these models again
    """
    counts = sorted(totals.statuses.items(), key=lambda item: (item[0] in LOST, -item[1], item[0]))
    new = totals.done - totals.before
    head = f"{totals.models} models: {', '.join(f'{count} {status}' for status, count in counts) or 'none'}"
    more = [f"  and {len(lost) - _MOST_LOST} more, in {target}"] if len(lost) > _MOST_LOST else []
    lines = [head, *(f"  {line}" for line in lost[:_MOST_LOST]), *more]
    if totals.models and not new:
        return "\n".join([*lines, f"all of them are in {target} already; delete lines there to run these models again"])
    speed = new / totals.seconds if totals.seconds else 0.0
    memory = f"; at most {totals.memory / 1e6:.0f} MB in a worker" if totals.memory else ""
    return "\n".join(
        [
            *lines,
            f"{new} of them now, in {totals.seconds:.1f} s: {speed:.1f} models per second{memory}",
            f"written: {target}",
        ]
    )


class _Progress:
    """A bar on a terminal; nothing elsewhere."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._is_shown = False

    def tell(self, totals: Totals) -> None:
        """Show the progress of the fleet."""
        if self._stream is None or not totals.models:
            return
        filled = _BAR * totals.done // totals.models
        lost = f", {totals.lost} lost" if totals.lost else ""
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {totals.done}/{totals.models}{lost}, {totals.seconds:.0f} s"
        self._stream.write(f"\r{bar}\x1b[K")
        self._stream.flush()
        self._is_shown = True

    def clear(self) -> None:
        """Take the bar away."""
        if self._stream is not None and self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
