"""Work that is counted: function calls, which are the same on every machine and under any load."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from symdim import clear_caches

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def calls_of(action: Callable[[], object], first: Callable[[], object] | None = None) -> int:
    """The number of function calls that an action makes, those of built-in functions too.

    The action runs twice, and the second time is counted: modules that load when they are first needed are there by
    then. The caches are emptied in between, and `first` fills what is meant to be there. The collector does not run.
    Functions named `_sweep` do not count: they drop dead entries from the tables of live objects, and when that is due
    depends on all objects of the process.

    >>> calls_of(lambda: abs(abs(-1)))
    3
    """
    count = sweeping = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count, sweeping
        if frame.f_code.co_name == "_sweep" and event in ("call", "return"):
            sweeping += 1 if event == "call" else -1
        elif not sweeping:
            count += event in ("call", "c_call")

    action()
    clear_caches()
    if first is not None:
        first()
    gc.collect()
    gc.disable()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count - 1  # without that of `setprofile`
