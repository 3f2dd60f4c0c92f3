"""Readers of the texts that options take. argparse shows their errors."""

from __future__ import annotations

import argparse
import re
from typing import Any

_UNITS: dict[str, int] = {"": 1, **{f"{prefix}B": 1000**i for i, prefix in enumerate(("", "K", "M", "G", "T"))}}
_UNITS |= {f"{prefix}iB": 1024**i for i, prefix in enumerate(("K", "M", "G", "T"), 1)}


def byte_count(text: str) -> int:
    """The bytes of `8GB` (8 * 10**9), `512MiB` (512 * 2**20) or `4096`.

    >>> byte_count("8GB"), byte_count("1.5KiB"), byte_count("4096")
    (8000000000, 1536, 4096)
    """
    match = re.fullmatch(r"([0-9]{1,20})(?:\.([0-9]{1,9}))? ?([A-Za-z]*)", text)
    units = {unit.lower(): factor for unit, factor in _UNITS.items()}
    if match is None or match[3].lower() not in units:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 8GB, 512MiB or 4096")
    whole, part = int(match[1]), match[2] or "0"
    factor, tenths = units[match[3].lower()], int(10 ** len(part))
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


def binding(text: str) -> tuple[str, int | str]:
    """The name and size of `N=4` or `H=32*h`; a name may contain `=`.

    >>> binding("seq len=128"), binding("H=32*h")
    (('seq len', 128), ('H', '32*h'))
    """
    name, _, size = text.rpartition("=")
    if not name or not size.strip() or size.strip().startswith("-"):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=SIZE, such as seq=128")
    return name, int(size) if size.isdecimal() else size.strip()


def bindings(text: str) -> list[tuple[str, int | str]]:
    """The names and sizes of `batch=8,seq=128`. A comma in parentheses, or before no `=`, belongs to a name or size.

    >>> bindings("batch=8,H=min(W, 6)"), bindings("a,b=3")
    ([('batch', 8), ('H', 'min(W, 6)')], [('a,b', 3)])
    """
    parts = _parts(text)
    return [binding(part) for part in parts] if all("=" in part for part in parts) else [binding(text)]


def input_shape(text: str) -> tuple[str, list[int | str | None]]:
    """The name and sizes of `x:1,3,H,W`; a name may contain `:`. None, for `?`, is what the model has.

    >>> input_shape("ids:0:batch,?"), input_shape("x:8,32*h,min(W, max(H, 6))"), input_shape("scalar:")
    (('ids:0', ['batch', None]), ('x', [8, '32*h', 'min(W, max(H, 6))']), ('scalar', []))
    """
    name, _, sizes = text.rpartition(":")
    if not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form INPUT:SIZES, such as x:1,3,224,224")
    parts = _parts(sizes) if sizes.strip() else []
    if "" in parts:
        raise argparse.ArgumentTypeError(f"{text!r} has an axis without a size; write ? for what the model has")
    return name, [None if part == "?" else int(part) if part.isdecimal() else part for part in parts]


def _parts(sizes: str) -> list[str]:
    """The texts between the commas that stand in no parentheses."""
    parts, depth = [""], 0
    for sign in sizes:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def sizes(text: str) -> dict[str, int]:
    """The sizes of `batch=8,seq=512`.

    >>> sizes("batch=8,seq=512")
    {'batch': 8, 'seq': 512}
    """
    pairs = [part.rpartition("=") for part in text.split(",")]
    sizes = {name.strip(): int(size) for name, _, size in pairs if name and re.fullmatch(" *[0-9]{1,19} *", size)}
    if len(sizes) < len(pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=SIZE,..., such as batch=8,seq=512")
    return sizes


def identifier(text: str) -> str:
    """A name in C.

    >>> identifier("decoder_v2")
    'decoder_v2'
    """
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid C identifier")
    return text


def renaming(text: str) -> tuple[str, str]:
    """The names of `s17=batch`.

    >>> renaming("s17=batch")
    ('s17', 'batch')
    """
    old, _, new = text.rpartition("=")
    if not old or not new:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form OLD=NEW, such as s77=batch")
    return old, new


def interval(text: str) -> tuple[str, tuple[int, int | None]]:
    """The name and bounds of `N=1..64`; the upper end may be left out.

    >>> interval("N=1..64"), interval("seq=0..")
    (('N', (1, 64)), ('seq', (0, None)))
    """
    name, _, ends = text.rpartition("=")
    low, dots, high = ends.partition("..")
    if not name or not dots or not low.isdecimal() or not (high.isdecimal() or not high):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=LO..HI, such as seq=1..64")
    return name, (int(low), int(high) if high else None)


def intervals(text: str) -> list[tuple[str, tuple[int, int | None]]]:
    """The names and bounds of `batch=1..8,seq=1..128`. A comma before no `=` belongs to a name.

    >>> intervals("batch=1..8,seq=1.."), intervals("a,b=3..4")
    ([('batch', (1, 8)), ('seq', (1, None))], [('a,b', (3, 4))])
    """
    parts = text.split(",")
    return [interval(part) for part in parts] if all("=" in part for part in parts) else [interval(text)]


def input_value(text: str) -> tuple[str, Any]:
    """The name and value of `sr=16000`. The value is JSON: `[1, 2]` is a vector, `true` a bool.

    >>> input_value("sr=16000"), input_value("axes=[0, 1]")
    (('sr', 16000), ('axes', [0, 1]))
    """
    import json

    name, _, value = text.rpartition("=")
    try:
        data = json.loads(value)
    except ValueError:
        data = None
    if not name or not isinstance(data, (int, float, list)):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form INPUT=VALUE, such as sr=16000")
    return name, data
