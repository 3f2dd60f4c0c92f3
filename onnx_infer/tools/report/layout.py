"""Texts within a width. Sentences are wrapped, names are cut at the left, and sizes are never cut.

What does not fit beside its name stands on a line of its own. Numbers have three digits and a unit of 1,000; JSON has
them exactly.
"""

from __future__ import annotations

from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.values.text import printable
from symdim.algebra.texts.printing import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx_infer.values.tensor import Dim, Value

    Write: TypeAlias = Callable[[Any], str]

WIDTH = 120
"""The width of texts without a terminal."""

_LONGEST = 4000
"""Characters of a line that is wrapped. A longer one has a hostile name in it, and its middle is left out."""

_DOTS = "..."
_SHORTEST = 16
_INDENT = 4


def cut_names(names: Sequence[str], most: int | None) -> list[str]:
    """Names of at most this many characters, cut at the left; a name that another one would equal then stays whole.

    >>> cut_names(["encoder/layer.3/attention/MatMul", "encoder/layer.4/attention/MatMul", "y"], 28)
    ['...layer.3/attention/MatMul', '...layer.4/attention/MatMul', 'y']
    >>> cut_names(["encoder/layer.3/attention/MatMul", "encoder/layer.4/attention/MatMul"], 19)
    ['encoder/layer.3/attention/MatMul', 'encoder/layer.4/attention/MatMul']
    """
    if most is None:
        return list(names)
    short = {name: _without_start(name, most) for name in names}
    counts = Counter(short.values())
    return [short[name] if counts[short[name]] == 1 else name for name in names]


def _without_start(name: str, most: int) -> str:
    """The end of a name, from a separator on if there is one near."""
    if len(name) <= most:
        return name
    tail = name[-max(most - len(_DOTS), 1) :]
    places = [place for sign in "/._:" if 0 <= (place := tail.find(sign)) < len(tail) // 4]
    return f"{_DOTS}{tail[min(places) + 1 if places else 0 :]}"


def wrapped(line: str, width: int | None) -> list[str]:
    """A line in several if it is too wide: broken at its last colon that fits, then at blanks, the rest set in.

    >>> wrapped("MatMul 'y': inner sizes differ: past + seq != seq", 40)
    ["MatMul 'y': inner sizes differ:", '    past + seq != seq']
    >>> wrapped("  a run fails where a token is outside of the table", 30)
    ['  a run fails where a token is', '      outside of the table']
    """
    line = shortened(line, _LONGEST, _LONGEST // 2)
    if width is None or len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + _INDENT)
    place = line.rfind(": ", 0, width)
    if place > len(indent) - _INDENT:
        head, rest = [line[: place + 1]], line[place + 2 :]
    else:
        head, rest = [], line.lstrip()
    start = indent if head else indent[_INDENT:]
    return head + wrap(
        rest, max(width, len(indent) + _SHORTEST), initial_indent=start, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def beside(first: str, rest: str, width: int | None) -> list[str]:
    """Two parts in one line, or the second one in lines of its own.

    >>> beside("  N == M   ", "Add 'y': broadcast", 40), beside("  N == M   ", "Add 'y': broadcast", 25)
    (["  N == M   Add 'y': broadcast"], ['  N == M', "      Add 'y': broadcast"])
    """
    if width is None or len(first) + len(rest) <= width:
        return [first + rest]
    indent = " " * (len(first) - len(first.lstrip()) + _INDENT)
    return [*wrapped(first.rstrip(), width), *wrapped(indent + rest, width)]


def lines_of(lines: Sequence[tuple[str, Value]], width: int | None, write: Write = str) -> list[list[str]]:
    """The lines of each name with its type, in two columns. Names take at most two fifths of the width.

    A type that does not fit stands below its name. `write` makes the texts of sizes.
    """
    widest = None if width is None else max(width * 2 // 5, _SHORTEST)
    names = cut_names([printable(name) for name, _ in lines], widest)
    fitting = [len(name) for name in names if widest is None or len(name) <= widest + len(_DOTS)]
    column = max(fitting, default=0)
    types = [printable(value.spelled(write)) for _, value in lines]
    return [
        beside(f"  {name:{column}}  ", kind, width) if len(name) <= column else [f"  {name}", f"      {kind}"]
        for name, kind in zip(names, types, strict=True)
    ]


def text_of(sections: Iterable[list[str]], width: int | None) -> str:
    """The sections with empty lines between them. Empty sections are left out, and long lines are wrapped."""
    lines = [line for section in sections if section for line in ["", *section]][1:]
    return "\n".join(part for line in lines for part in wrapped(printable(line), width))


def limited(lines: list[str], limit: int | None) -> list[str]:
    """At most this many lines, then the number of the others."""
    return lines if limit is None or len(lines) <= limit else [*lines[:limit], more(len(lines) - limit)]


def more(count: int, what: str = "") -> str:
    """A line with the number of lines that are left out."""
    return f"  ... and {count} more{what} (--all)"


# -- numbers -----------------------------------------------------------------------------------------------------------

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
