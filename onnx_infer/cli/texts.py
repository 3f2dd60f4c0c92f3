"""Readers of options: texts with units. argparse shows their errors."""

from __future__ import annotations

import argparse
import re

_UNITS: dict[str, int] = {"": 1, **{f"{prefix}B": 1000**i for i, prefix in enumerate(("", "K", "M", "G", "T"))}}
_UNITS |= {f"{prefix}iB": 1024**i for i, prefix in enumerate(("K", "M", "G", "T"), 1)}


def byte_count(text: str) -> int:
    """The bytes of `8GB` (8 * 10**9), `512MiB` (512 * 2**20) or `4096`.

    >>> byte_count("8GB"), byte_count("1.5KiB"), byte_count("4096")
    (8000000000, 1536, 4096)
    """
    found = re.fullmatch(r"([0-9]{1,20})(?:\.([0-9]{1,9}))? ?([A-Za-z]*)", text)
    units = {unit.lower(): factor for unit, factor in _UNITS.items()}
    if found is None or found[3].lower() not in units:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 8GB, 512MiB or 4096")
    whole, part = int(found[1]), found[2] or "0"
    factor, tenths = units[found[3].lower()], int(10 ** len(part))
    return whole * factor + int(part) * factor // tenths


def positive(text: str) -> int:
    """A number of at least 1.

    >>> positive("4")
    4
    """
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def freed_axis(text: str) -> tuple[str, int, str]:
    """The input, axis and symbol of `images:0=batch`. The name of the input may have colons.

    >>> freed_axis("images:0=batch"), freed_axis("x:0:1=N")
    (('images', 0, 'batch'), ('x:0', 1, 'N'))
    """
    where, _, symbol = text.rpartition("=")
    name, _, axis = where.rpartition(":")
    if not name or not re.fullmatch("[0-9]{1,4}", axis) or not symbol:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form INPUT:AXIS=SYMBOL, such as images:0=batch")
    return name, int(axis), symbol
