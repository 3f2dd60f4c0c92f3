"""Inference or arithmetic of this package in place of another library's, for the time of a block."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized


@contextmanager
def while_installed(install: Callable[[], None], uninstall: Callable[[], None], former: Sized) -> Iterator[None]:
    """What `install` does, inside of the block. If `former` has something, it is installed already and stays."""
    is_outer = not former
    install()
    try:
        yield
    finally:
        if is_outer:
            uninstall()
