"""Interleaved timing: every engine runs each workload in every round, so that a slow minute slows all of them.

What is measured is processor time: other work on the machine disturbs it less.
"""

from __future__ import annotations

import gc
from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BATCH_SECONDS = 0.003
MAX_BATCH = 2000
SLOW_SECONDS = 0.05


def seconds_per_run(prepare: Callable[[str], Callable[[], object]], tag: str) -> float:
    """The time of one run; each run is prepared apart, with names of its own, and only the runs are timed.

    As many are prepared as take `BATCH_SECONDS` together, judged by the first two, of which the first warms up. Of what
    takes `SLOW_SECONDS` one run is enough.
    """
    gc.collect()
    gc.disable()
    try:
        warming = _timed([prepare(f"{tag}_w")])
        if warming >= SLOW_SECONDS:
            return warming
        first = _timed([prepare(f"{tag}_f")])
        count = max(1, min(MAX_BATCH, int(BATCH_SECONDS / max(first, 1e-7))))
        thunks = [prepare(f"{tag}_{i}") for i in range(count)]
        return _timed(thunks) / count
    finally:
        gc.enable()


def _timed(thunks: Sequence[Callable[[], object]]) -> float:
    start = process_time()
    for thunk in thunks:
        thunk()
    return process_time() - start


def shown(seconds: float | None) -> str:
    """A time with a fitting unit.

    >>> shown(0.00123), shown(4.5e-7), shown(None)
    ('1.23 ms', '0.45 us', '-')
    """
    if seconds is None:
        return "-"
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def multiple(ratio: float) -> str:
    """A ratio in two digits or whole.

    >>> multiple(0.0312), multiple(1.46), multiple(1234.5)
    ('0.031x', '1.5x', '1,234x')
    """
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.2g}x"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, columns aligned for reading as text."""
    cells = [list(head), *map(list, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)
