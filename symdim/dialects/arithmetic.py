"""Exact arithmetic for emitted Python. Sizes are ints; a size without a value is None, because a divisor was 0."""

from __future__ import annotations


def floordiv(a: int, b: int) -> int | None:
    """floor(a / b)."""
    return None if b == 0 else a // b


def mod(a: int, b: int) -> int | None:
    """a - b*floor(a / b): it has the sign of b."""
    return None if b == 0 else a % b


# Relations of sizes; none holds for a size without a value.


def equal(a: int | None, b: int | None) -> bool:
    """a == b"""
    return a is not None and a == b


def at_least(a: int | None, b: int | None) -> bool:
    """a >= b"""
    return a is not None and b is not None and a >= b


def at_most(a: int | None, b: int | None) -> bool:
    """a <= b"""
    return a is not None and b is not None and a <= b


def divides(a: int | None, b: int | None) -> bool:
    """b % a == 0"""
    return a is not None and b is not None and a != 0 and b % a == 0


def broadcast(a: int | None, b: int | None) -> bool:
    """a == b or 1 in (a, b)"""
    return a is not None and b is not None and (a == b or 1 in (a, b))


def broadcast_to(a: int | None, b: int | None) -> bool:
    """a in (b, 1)"""
    return a is not None and b is not None and a in (b, 1)
