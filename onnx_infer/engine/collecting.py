"""The collector of cyclic garbage waits while an inference runs."""

from __future__ import annotations

import gc
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def collecting_later(call: Callable[P, T]) -> Callable[P, T]:
    """The function, during which the collector does not run. It runs again as soon as a call has ended.

    An inference makes many objects that stay: sizes, types, outcomes. Whenever their number has grown by a quarter, the
    collector of cyclic garbage visits every object of the process: also those of a framework that is loaded, and there
    may be a million. It finds next to nothing, because these objects do not refer to each other in circles.

    Calls may be nested, or at the same time in several threads: the first one that ends turns the collector on. A call
    that finds the collector off leaves it as it is. A call that turns it off turns it on again. So it runs after all of
    them.

    >>> @collecting_later
    ... def is_collecting() -> bool:
    ...     return gc.isenabled()
    >>> is_collecting(), gc.isenabled()
    (False, True)
    """

    @wraps(call)
    def later(*args: P.args, **options: P.kwargs) -> T:
        was_enabled = gc.isenabled()
        try:
            if was_enabled:
                gc.disable()
            return call(*args, **options)
        finally:
            if was_enabled:
                gc.enable()

    return later
