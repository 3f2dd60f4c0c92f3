"""Numbers for people: three digits and a unit of 1,000. JSON has them exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.values.tensor import Dim

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def readable_bytes(count: int) -> str:
    """A number of bytes.

    >>> readable_bytes(999), readable_bytes(1359192), readable_bytes(8 * 10**9), readable_bytes(999_999)
    ('999 B', '1.36 MB', '8 GB', '1 MB')
    """
    return _scaled(count, "B")


def readable_count(count: int) -> str:
    """A number of things that have no unit.

    >>> readable_count(0), readable_count(177_152), readable_count(182_976_512)
    ('0', '177 k', '183 M')
    """
    return _scaled(count, "").rstrip()


def bytes_text(size: Dim | None) -> str:
    """A number of bytes, or the expression that gives it."""
    return _text(size, readable_bytes)


def count_text(size: Dim | None) -> str:
    """A number of things, or the expression that gives it."""
    return _text(size, readable_count)


def share(part: Dim | None, whole: Dim) -> str:
    """How much of a whole a part is; nothing where a size is not a number.

    >>> share(1, 3), share(0, 3), share(None, 3), share(3, 0)
    ('33.3%', '0%', '', '')
    """
    if not isinstance(part, int) or not isinstance(whole, int) or whole <= 0:
        return ""
    return f"{100 * part / whole:.1f}%" if part else "0%"


def _text(size: Dim | None, write: Callable[[int], str]) -> str:
    return "not known" if size is None else write(size) if isinstance(size, int) else str(size)


def _scaled(count: int, unit: str) -> str:
    last = len(_PREFIXES) - 1
    scale = next(i for i in range(last + 1) if i == last or float(f"{count / 1000**i:.{3 if i else 4}g}") < 1000)
    return f"{count / 1000**scale:.3g} {_PREFIXES[scale]}{unit}" if scale else f"{count} {unit}"
