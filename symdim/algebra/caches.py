"""Bounded caches: the one kind of cache of both packages, and the call that empties all of them.

A cache only saves time. Answers are the same when it is empty, and when another thread empties it at any moment: so a
value is taken by one look-up, never by a test and a second look-up.
"""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

_put = dict.__setitem__

_clearings: list[Callable[[], None]] = []


class Cache(dict):  # type: ignore[type-arg]  # a generic base would cost import time
    """A dict of at most `limit` entries. A full one is emptied before the next entry is added.

    A look-up is that of a dict. An item assignment and `setdefault` are the ways in.

    >>> squares = Cache(2)
    >>> for n in (1, 2, 3):
    ...     squares[n] = n * n
    >>> squares
    {3: 9}
    """

    __slots__ = ("limit",)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: Hashable, value: Any) -> None:
        if len(self) >= self.limit:
            self.clear()
        _put(self, key, value)  # a third faster than by `super()`; caches are filled very often

    def setdefault(self, key: Hashable, value: Any) -> Any:  # type: ignore[override]  # a value is always given
        """The value that is kept under the key: this one, unless another thread was first."""
        if len(self) >= self.limit and key not in self:
            self.clear()
        return super().setdefault(key, value)


def shared_cache(limit: int) -> Cache:
    """A cache of the whole process: `clear_caches` empties it."""
    cache = Cache(limit)
    clear_with_caches(cache.clear)
    return cache


def remembered(limit: int) -> Callable[[F], F]:
    """A decorator for functions of one result for equal arguments: the results of the last calls are kept.

    Callers must not change a result.
    """

    def decorated(function: F) -> F:
        kept = lru_cache(limit)(function)
        clear_with_caches(kept.cache_clear)
        return kept  # type: ignore[return-value]

    return decorated


def clear_with_caches(clear: Callable[[], None]) -> None:
    """Let `clear_caches` call this function, too, before those of earlier calls: a `cache_clear`, for example."""
    _clearings.append(clear)


def clear_caches() -> None:
    """Forget all that both packages remember to save time. Expressions that nobody else holds are freed."""
    for clear in reversed(_clearings):
        clear()


__all__ = ["Cache", "clear_caches", "clear_with_caches", "remembered", "shared_cache"]
