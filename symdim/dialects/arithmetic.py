"""Exact arithmetic for emitted Python. Sizes are ints; a size without a value is None, because a divisor was 0."""

from __future__ import annotations

from math import ceil, floor, isfinite, nan, trunc
from struct import pack, unpack


def floordiv(a: int, b: int) -> int | None:
    """floor(a / b)."""
    return None if b == 0 else a // b


def mod(a: int, b: int) -> int | None:
    """a - b*floor(a / b): it has the sign of b."""
    return None if b == 0 else a % b


# Floats, each result rounded to its type. What is infinite or has no value is not a number, nor is what comes of it.


def f64(x: float) -> float:
    """x, if it is finite."""
    return x if isfinite(x) else nan


def f32(x: float) -> float:
    """The nearest single."""
    try:
        single: float = unpack("f", pack("f", x))[0]
    except OverflowError:
        return nan
    return single


def f64_of(a: int | None) -> float:
    """The nearest double to an integer."""
    try:
        return nan if a is None else float(a)
    except OverflowError:
        return nan


def f32_of(a: int | None) -> float:
    """The nearest single to an integer. Of a long one, the last bit kept tells whether there are more."""
    if a is None:
        return nan
    rest = max(a.bit_length() - 50, 0)
    return f32(f64_of((a >> rest | (a % (1 << rest) != 0)) << rest))


def divided(x: float, y: float) -> float:
    """x / y."""
    return nan if y == 0 else x / y


def least(x: float, y: float) -> float:
    """The lesser one."""
    return x if x != x or x < y else y


def greatest(x: float, y: float) -> float:
    """The greater one."""
    return x if x != x or x > y else y


def rounded_down(x: float) -> int | None:
    """The floor."""
    return floor(x) if x == x else None


def rounded_up(x: float) -> int | None:
    """The ceiling."""
    return ceil(x) if x == x else None


def rounded_zero(x: float) -> int | None:
    """The integer towards 0."""
    return trunc(x) if x == x else None


def rounded_even(x: float) -> int | None:
    """The nearest integer, the even one of two."""
    return round(x) if x == x else None


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
