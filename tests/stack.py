"""A short stack: what is deeper than Python's stack is then not deep, and made in little time."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def short_stack(frames: int = 200) -> Iterator[None]:
    """Leave Python's stack so many frames.

    >>> def deep(levels):
    ...     return levels and deep(levels - 1)
    >>> with short_stack(200):  # doctest: +ELLIPSIS
    ...     deep(300)
    Traceback (most recent call last):
    RecursionError: maximum recursion depth exceeded...
    """
    before, depth = sys.getrecursionlimit(), 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
