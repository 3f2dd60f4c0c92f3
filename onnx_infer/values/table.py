"""The table of live values: equal values are one object. References are weak, so unused values are freed."""

from __future__ import annotations

from typing import Any, TypeVar
from weakref import ref

from symdim.algebra.caches import clear_with_caches
from symdim.algebra.interning import shared_lock

TABLE: dict[tuple[Any, ...], ref[Any]] = {}
"""Key -> the live value."""

T = TypeVar("T")

_lock = shared_lock()
_capacity = 1 << 10


def find(key: tuple[Any, ...]) -> Any:
    """The live value with this key, or None."""
    entry = TABLE.get(key)
    return None if entry is None else entry()


def interned(kind: type[T], **fields: Any) -> T:
    """The only live value of this kind with these fields."""
    key = (kind, *fields.values())
    found = find(key)
    if found is None:
        found = object.__new__(kind)
        for name, field in fields.items():
            setattr(found, name, field)
        found = publish(key, found)
    value: T = found
    return value


def publish(key: tuple[Any, ...], value: Any) -> Any:
    """The only live value with this key: `value`, unless there was one before."""
    value.wire = None
    entry = ref(value)
    if TABLE.setdefault(key, entry) is not entry:  # `setdefault` is atomic
        with _lock:
            other = find(key)
            if other is not None:
                return other
            TABLE[key] = entry
    if len(TABLE) > _capacity:
        with _lock:
            _sweep()
    return value


def _sweep() -> None:
    """Drop the entries of dead values, whose keys hold sizes. It runs when the table has doubled, and with
    `clear_caches`, so it costs O(1) for each new value."""
    global _capacity
    for made in list(TABLE):  # a copy: a finalizer may run now and make values
        entry = TABLE.get(made)
        if entry is not None and entry() is None:
            del TABLE[made]
    _capacity = max(1 << 10, 2 * len(TABLE))


def _clear() -> None:
    with _lock:
        _sweep()


clear_with_caches(_clear)  # this file is imported before those whose caches hold values, so it is called after them
