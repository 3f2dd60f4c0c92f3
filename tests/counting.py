"""Work that is counted: function calls, which are the same on every machine and under any load."""

from __future__ import annotations

import gc
from cProfile import Profile
from typing import TYPE_CHECKING

from symdim import clear_caches

if TYPE_CHECKING:
    from collections.abc import Callable


def calls_of(action: Callable[[], object], first: Callable[[], object] | None = None) -> int:
    """The number of function calls that an action makes, those of built-in functions too.

    The action runs twice, and the second time is counted: modules that load when they are first needed are there by
    then. The caches are emptied in between, and `first` fills what is meant to be there. The collector does not run.
    Functions named `_sweep` do not count: they drop dead entries from the tables of live objects, and when that is due
    depends on all objects of the process.

    >>> calls_of(lambda: abs(abs(-1)))
    3
    """
    action()
    clear_caches()
    if first is not None:
        first()
    gc.collect()
    gc.disable()
    profile = Profile()
    profile.enable()
    try:
        action()
    finally:
        profile.disable()
        gc.enable()
    calls = 0
    for entry in profile.getstats():
        calls += entry.callcount
        if getattr(entry.code, "co_name", "") == "_sweep":
            calls -= entry.callcount + sum(called.callcount for called in entry.calls or ())
        elif "disable" in str(entry.code) and "_lsprof" in str(entry.code):
            calls -= entry.callcount
    return calls
