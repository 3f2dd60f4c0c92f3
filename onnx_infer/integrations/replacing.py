"""Methods of this package in place of another library's."""

from __future__ import annotations

from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_ABSENT = object()


class Replacement:
    """What is replaced while somebody wants it: after `install`, and in blocks `with installed():`.

    Blocks may overlap, in threads and tasks. What was there before comes back when the last block has ended and
    `uninstall` was called after `install`. `replace` replaces it, and returns the function that takes this back.
    """

    def __init__(self, replace: Callable[[], Callable[[], None]]) -> None:
        self._replace = replace
        self._take_back: Callable[[], None] | None = None
        self._blocks, self._is_installed = 0, False
        self._lock = RLock()

    def install(self) -> None:
        """Replace them until `uninstall`. A second call does nothing."""
        with self._lock:
            self._update(self._blocks, True)

    def uninstall(self) -> None:
        """Take `install` back. Blocks that have not ended keep what they need."""
        with self._lock:
            self._update(self._blocks, False)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Replace them inside of the block."""
        with self._lock:
            self._update(self._blocks + 1, self._is_installed)
        try:
            yield
        finally:
            with self._lock:
                self._update(self._blocks - 1, self._is_installed)

    def _update(self, blocks: int, is_installed: bool) -> None:
        is_wanted = bool(blocks or is_installed)
        if is_wanted and self._take_back is None:
            self._take_back = self._replace()
        elif self._take_back is not None and not is_wanted:
            self._take_back()
            self._take_back = None
        self._blocks, self._is_installed = blocks, is_installed


def replace_members(members: Mapping[tuple[Any, str], Any]) -> Callable[[], None]:
    """Set members of objects, by object and name. Returns the function that takes this back."""
    former = {(owner, name): vars(owner).get(name, _ABSENT) for owner, name in members}
    _set(members)
    return lambda: _set(former)


def _set(members: Mapping[tuple[Any, str], Any]) -> None:
    for (owner, name), member in members.items():
        if member is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, member)
