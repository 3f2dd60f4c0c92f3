"""Texts within a width: a type keeps its rank; an expression is cut in the middle and never wrapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor, Value
from onnx_infer.values.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeAlias

    Write: TypeAlias = Callable[[Any], str]

WIDTH = 120
"""The width of texts without a terminal."""

_GAP = " ... "
_SHORTEST = 16
_SLACK = 12


def cut(text: str, width: int | None) -> str:
    """The text, with its middle left out if it is too wide. It is cut at spaces if there are any near.

    >>> cut("heads*(batch + 1) + seq//2 + past//2 + 1", 24)
    'heads*(bat ... + 1'
    >>> cut("short", 24)
    'short'
    """
    if width is None or len(text) <= width:
        return text
    room = max(width - len(_GAP), 2)
    head, tail = text[: (room + 1) // 2], text[len(text) - room // 2 :]
    space = head.rfind(" ")
    if space > len(head) - _SLACK and space > 0:
        head = head[:space]
    space = tail.find(" ")
    if 0 <= space < min(_SLACK, len(tail) - 1):
        tail = tail[space + 1 :]
    return f"{head}{_GAP}{tail}"


def folded(text: str, width: int | None) -> list[str]:
    """A message in two lines if it is too wide for one, the second set in: broken at its last colon that fits.

    >>> folded("MatMul 'y': inner sizes differ: past + seq != seq", 40)
    ["MatMul 'y': inner sizes differ:", '    past + seq != seq']
    >>> folded("short: text", 40)
    ['short: text']
    """
    if width is None or len(text) <= width or text.startswith(" ") or (place := text.rfind(": ", 0, width)) < 0:
        return [text]
    return [text[: place + 1], f"    {text[place + 2 :]}"]


def type_text(value: Value, width: int | None, write: Write = str) -> str:
    """A type within a width: long sizes are cut, so the rank and the short sizes stay. `write` makes texts of sizes.

    >>> from symdim import Var
    >>> B, S = Var("batch"), Var("sequence")
    >>> type_text(SymTensor(1, (B, (B * S + 7 * S + 3 * B + 1) // 2, 64)), 36)
    'f32[batch, batch + ... sequence, 64]'
    """
    whole = value.spelled(write)
    if width is None or len(whole) <= width or not isinstance(value, SymTensor) or not value.shape:
        return cut(whole, width)
    sizes = [printable(write(size)) for size in value.shape]
    head = dt.text(value.dtype)
    longest = min(max(map(len, sizes)), width + 2 * _SLACK)  # a cut takes up to `_SLACK` characters from each part
    while longest > _SHORTEST:
        longest -= 1
        text = f"{head}[{', '.join([cut(size, longest) for size in sizes])}]"
        if len(text) <= width:
            return text
    return cut(whole, width)


def rows(lines: Sequence[tuple[str, Value]], width: int | None, write: Write = str) -> list[str]:
    """Names and types in two columns; names take at most two fifths of the width."""
    widest = None if width is None else max(width * 2 // 5, _SHORTEST)
    names = [cut(printable(name), widest) for name, _ in lines]
    column = max(map(len, names), default=0)
    rest = None if width is None else width - column - 4
    return [
        f"  {name:{column}}  {type_text(value, rest, write)}" for name, (_, value) in zip(names, lines, strict=True)
    ]


def text_of(sections: Iterable[list[str]], width: int | None) -> str:
    """The sections with empty lines between them. Empty sections are left out, and long lines are cut."""
    lines = [line for section in sections if section for line in ["", *section]][1:]
    return "\n".join(cut(printable(line), width) for line in lines)


def limited(lines: list[str], limit: int | None) -> list[str]:
    """At most this many lines, then the number of the others."""
    return lines if limit is None or len(lines) <= limit else [*lines[:limit], more(len(lines) - limit)]


def more(count: int, what: str = "") -> str:
    """A line with the number of lines that are left out."""
    return f"  ... and {count} more{what} (--all)"
