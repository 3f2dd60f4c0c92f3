"""What happens between two steps of a computation: an interrupt, or another thread. The step is chosen by its number.

Python looks for signals where a function begins and where a built-in function returns. Threads take turns there and
between any two lines.
"""

from __future__ import annotations

import sys
from inspect import CO_GENERATOR
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

T = TypeVar("T")

_ROOT = Path(__file__).parents[1]
_PACKAGES = tuple(str(_ROOT / package) for package in ("symdim", "onnx_infer"))


def interrupted(action: Callable[[], object], step: int) -> bool:
    """Whether the action was stopped by a KeyboardInterrupt at this step; False if it has fewer steps.

    >>> interrupted(list, 1)
    False
    """
    left = step

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        if _is_step(frame, event):
            left -= 1
            if not left:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def interleaved(action: Callable[[], T], other: Callable[[], object], first: int, every: int) -> T:
    """The result of an action before whose lines `first`, `first + every`, ... another action runs to its end.

    >>> interleaved(lambda: 3, list, 1, 1)
    3
    """
    left = first

    def line(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if not left:
                left = every
                sys.settrace(None)
                other()
                sys.settrace(call)
        return line

    def call(frame: FrameType, event: str, argument: object) -> Any:
        return line if frame.f_code.co_filename.startswith(_PACKAGES) else None

    sys.settrace(call)
    try:
        return action()
    finally:
        sys.settrace(None)


def number_of_steps(action: Callable[[], object]) -> int:
    """How many steps `interrupted` counts."""
    count = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += _is_step(frame, event)

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def _is_step(frame: FrameType, event: str) -> bool:
    """Whether an interrupt is raised here. A generator may be called to be closed: Python ignores exceptions then."""
    if event == "call" and frame.f_code.co_flags & CO_GENERATOR:
        return False
    return event in ("call", "c_return") and frame.f_code.co_filename.startswith(_PACKAGES)
