"""A call for many models: `onnx-infer models/ --jobs 4`, with `--json-lines out.jsonl` to keep the results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, TextIO

from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, WrongCall, inference_options
from onnx_infer.tools.cli.files import failure
from onnx_infer.tools.cli.terminal import annotation, show
from onnx_infer.tools.fleets.fleet import LOST, Totals, run_fleet
from onnx_infer.tools.fleets.journal import ForeignFileError
from onnx_infer.tools.fleets.worker import Limits
from onnx_infer.tools.report.layout import readable_bytes
from symdim.errors import printable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

_BAR = 30
_MOST_LOST = 10

_SHOWN = {"errors": "with errors"}
"""How the summary writes a status, where not as it is."""


def run(options: Namespace) -> int:
    """Infer all models, with a progress bar on a terminal; returns the exit code. Raises WrongCall."""
    progress = _Progress(None if options.quiet else sys.stderr)
    try:
        totals = run_fleet(
            options.models,
            options.json_lines,
            jobs=options.jobs,
            limits=Limits(options.timeout, options.max_worker_memory),
            modules=options.modules,
            whole=options.all,
            force=options.force,
            told=progress.tell,
            **inference_options(options),
        )
    except OSError as error:
        raise failure(options.json_lines or "", error) from None
    except ForeignFileError as error:
        raise WrongCall(f"--json-lines: {error}") from None
    finally:
        progress.clear()
    if not totals.models:
        raise WrongCall(f"{', '.join(options.models)}: has no .onnx file, so nothing was checked")
    wrong = findings(totals, options.fail_on)
    if options.format == "github":
        for what in wrong:
            show(annotation(what.path, what.status, what.told), sys.stdout)
        if not options.quiet:
            show(summary(totals, options.json_lines), sys.stdout)
    elif not options.quiet:
        show(summary(totals, options.json_lines, wrong, None if options.all else _MOST_LOST), sys.stdout)
    elif wrong:
        show("\n".join(map(str, wrong)), sys.stdout)
    return MODEL_ERRORS if wrong else OK


class Finding(NamedTuple):
    """What is wrong with a model of a fleet: its status, or what `--fail-on` finds; its path; and why."""

    status: str
    path: str
    told: str

    def __str__(self) -> str:
        return printable(": ".join(filter(None, self)))


def findings(totals: Totals, fail_on: Sequence[str] = ()) -> list[Finding]:
    """What is wrong with each model that has another status than ok, and what `--fail-on` finds."""
    lines = sorted(totals.lines.items())
    wrong = sorted(Finding(line.status, path, line.told) for path, line in lines if line.status != "ok")
    if "unknown" in fail_on:
        wrong += [
            Finding("unknown", path, f"{line.inexact} of {line.values} values are not exact")
            for path, line in lines
            if line.inexact
        ]
    if "guards" in fail_on:
        for path, line in lines:
            if line.guards:
                others = f" and {line.guards - 1} more" if line.guards > 1 else ""
                wrong.append(Finding("guards", path, f"the model requires {line.guard}{others}"))
    return wrong


def summary(totals: Totals, target: str | None, wrong: Sequence[object] = (), most: int | None = _MOST_LOST) -> str:
    """How many models have which status, how long it took, and the first models that are not as they should be.

    >>> counts = {"ok": 3, "crashed": 1}
    >>> print(summary(Totals(4, 4, 1, 1, 1.5, counts, 150_000_000), "out.jsonl", ["crashed: m.onnx: signal 11"]))
    4 models: 3 ok, 1 crashed
      crashed: m.onnx: signal 11
    processed 3 models in 1.5 s: 2.0 models per second; at most 150 MB per worker
    written: out.jsonl
    >>> print(summary(Totals(4, 4, 0, 4, 0.0, {"ok": 4}, 0), "out.jsonl"))
    4 models: 4 ok
    all 4 results were taken from out.jsonl: no model has changed; use --force to run them again
    """
    counts = sorted(totals.statuses.items(), key=lambda item: (item[0] in LOST, -item[1], item[0]))
    new = totals.done - totals.before
    lines = [
        f"{totals.models} models: {', '.join(f'{count} {_SHOWN.get(status, status)}' for status, count in counts)}"
    ]
    lines += [f"  {line}" for line in wrong[:most]]
    if most is not None and len(wrong) > most:
        lines.append(f"  and {len(wrong) - most} more{f', in {target}' if target else ' (--all)'}")
    if not new:
        taken = (
            f"all {totals.models} results were taken from {target}: no model has changed; use --force to run them again"
        )
        return "\n".join([*lines, taken])
    speed = new / totals.seconds if totals.seconds else 0.0
    memory = f"; at most {readable_bytes(totals.memory)} per worker" if totals.memory else ""
    lines.append(f"processed {new} models in {totals.seconds:.1f} s: {speed:.1f} models per second{memory}")
    return "\n".join([*lines, f"written: {target}"] if target else lines)


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
