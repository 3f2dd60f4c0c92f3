"""Damaged and hostile models through every entry point: `python -m tests.fuzz --damaged 1000 --seed 1`.

The models that are damaged come from the fuzzer, or from the `.onnx` files of a folder (`--models-from DIR`): small
ones mostly, none above a megabyte. Every sixteenth model is made to be hostile (`hostile.py`). What must hold:

- only documented errors are raised, and nothing is reported as a defect;
- a call takes at most `MOST_SECONDS` of processor time and `MOST_BYTES` of memory for a model of up to a megabyte, and
  that much for each megabyte of a larger one.
"""

from __future__ import annotations

import gc
import heapq
import signal
import traceback
from collections import Counter
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz.damage import Damage
from tests.fuzz.entry_points import DOCUMENTED, ENTRY_POINTS, Given, drawn, with_needed
from tests.fuzz.hostile import HOSTILE
from tests.fuzz.models import grown
from tests.fuzz.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MEGABYTE = 1 << 20
MOST_SECONDS = 2.0
MOST_BYTES = 100 * MEGABYTE
PATIENCE = 20
"""Seconds of processor time after which a call is broken off."""

BLOCK = 20
"""So many seeds one after the other damage the same model."""

ASKED = 2
"""Entry points that are asked about each model, besides `infer`."""

SHOWN = 10
"""The slowest and the largest calls that are listed."""


class TooLong(BaseException):
    """A call is broken off. No code of the library catches this."""


class Call(NamedTuple):
    """What a call cost, and what is wrong with it."""

    seconds: float
    memory: int
    name: str
    entry_point: str
    fault: str | None


class Damaged:
    """The damaged models of a folder, or of the fuzzer; each seed has one."""

    def __init__(self, folder: Path | None, runtime: Runtime) -> None:
        self._runtime = runtime
        self._files = [] if folder is None else sorted(folder.glob("**/*.onnx"))
        self._files = [path for path in self._files if path.stat().st_size <= MEGABYTE]
        self._weights = [(path.stat().st_size + 4_000) ** -1.5 for path in self._files]
        self._of_block = lru_cache(maxsize=1)(self._made)

    def model(self, seed: int) -> tuple[str, bytes]:
        """The name and the bytes of the model of a seed."""
        rng = Random(f"damaged {seed}")
        if seed % 16 == 15:
            maker = rng.choice(HOSTILE)
            return maker.__name__, maker(rng)
        name, damage = self._of_block(seed // BLOCK)
        data = damage.draw(rng)
        return name, data[: rng.randrange(len(data))] if data and rng.random() < 0.02 else data

    def _made(self, block: int) -> tuple[str, Damage]:
        if not self._files:
            return f"grown {block}", Damage(grown(block, self._runtime).model().SerializeToString())
        (path,) = Random(f"block {block}").choices(self._files, self._weights)
        return path.stem, Damage(path.read_bytes())


def calls(seed: int, name: str, data: bytes, folder: Path, asked: int | None = ASKED) -> Iterator[Call]:
    """The calls of some entry points, or of all, with a model."""
    allowed = max(1.0, len(data) / MEGABYTE)
    given = Given(data, folder, Random(seed))
    for entry_point in drawn(Random(f"asked {seed}"), asked):
        call = measured(name, entry_point, given)
        if call.fault is None and too_costly(call, allowed):
            gc.collect()  # garbage of former calls, or another process: only what takes long twice is slow
            again = Given(data, folder, Random(seed))
            second = [measured(name, x, again) for x in with_needed([entry_point])][-1]
            call = min(call, second)
            call = call._replace(fault=call.fault or too_costly(call, allowed))
        yield call


def too_costly(call: Call, allowed: float) -> str | None:
    """The fault of a call that takes too long or too much memory."""
    if call.seconds <= MOST_SECONDS * allowed and call.memory <= MOST_BYTES * allowed:
        return None
    return f"{call.seconds:.1f} s, {call.memory / MEGABYTE:.0f} MB, {allowed:.1f} times as much are allowed"


def measured(name: str, entry_point: str, given: Given) -> Call:
    """One call, and what it costs."""
    fault = None
    before = _memory("VmRSS") if _forget_peak() else 0
    start = process_time()
    try:
        with _limited():
            ENTRY_POINTS[entry_point](given)
    except DOCUMENTED as error:
        str(error).encode("utf-8", "surrogateescape")
    except TooLong:
        fault = f"takes more than {PATIENCE} s: {traceback.format_exc(-12)}"
    except Exception:  # any other is the fault that is looked for
        fault = traceback.format_exc(-12)
    seconds = process_time() - start
    return Call(seconds, _memory("VmHWM") - before if before else 0, name, entry_point, fault)


@contextmanager
def _limited() -> Iterator[None]:
    """Raise `TooLong` where the system has timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise TooLong

    former = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE, 1)  # again and again: what is raised in a finalizer is lost
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def _forget_peak() -> bool:
    """Let the peak of memory begin anew. Only Linux can do this; elsewhere memory is not measured."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _memory(kind: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind):
            return int(line.split()[1]) << 10
    return 0


def run(seed: int, number: int, models_from: Path | None, tell: Callable[[str], None]) -> int:
    """Judge so many models; tell of each fault at once, and at the end what was tried. Returns the number of faults."""
    counts: Counter[str] = Counter()
    slowest: list[Call] = []
    largest: list[Call] = []
    with Runtime() as runtime, TemporaryDirectory() as folder:
        models = Damaged(models_from, runtime)
        for one in range(seed, seed + number):
            name, data = models.model(one)
            counts["models"] += 1
            for call in calls(one, f"seed {one}, {name}, {len(data):,} bytes", data, Path(folder)):
                counts["calls"] += 1
                if call.fault is not None:
                    counts["faults"] += 1
                    tell(f"== {call.name}, {call.entry_point}: {call.fault}")
                _keep(slowest, call)
                _keep(largest, call._replace(seconds=call.memory / MEGABYTE))
            if counts["models"] % 1000 == 0:
                tell(f"{dict(counts)}")
    tell(f"seeds {seed} to {seed + number - 1}: {dict(counts)}")
    for title, unit, kept in (("slowest", "s", slowest), ("largest", "MB", largest)):
        tell(f"{title}:")
        for call in sorted(kept, reverse=True):
            tell(f"  {call.seconds:7.2f} {unit}  {call.entry_point}: {call.name}")
    return counts["faults"]


def _keep(kept: list[Call], call: Call) -> None:
    """Keep the calls with the largest costs."""
    (heapq.heappush if len(kept) < SHOWN else heapq.heappushpop)(kept, call)
