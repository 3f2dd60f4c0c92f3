"""The texts of a model: read, written, and shown.

Strings of a message are UTF-8, but parsers of protobuf do not refuse one that is not: it comes as `bytes`. Here such
bytes become lone surrogates (Python's `surrogateescape`), one for each: no two texts become one, a name stays the same
name wherever it stands, and it is written back byte for byte. Every text of a model is read through this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def text(string: str | bytes) -> str:
    """The text of a protobuf string.

    >>> text("x"), text(b"x"), text(b"x\\xff")
    ('x', 'x', 'x\\udcff')
    """
    return string if isinstance(string, str) else string.decode("utf-8", "surrogateescape")


def texts(strings: Iterable[str | bytes]) -> list[str]:
    """The texts of protobuf strings."""
    return [text(s) for s in strings]


def encoded(text: str) -> bytes:
    """The bytes of a text in a message: those that it was read from.

    >>> encoded("x\\udcff"), encoded("x\\ud800")
    (b'x\\xff', b'x\\xed\\xa0\\x80')
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that no bytes of a model became, from a text of the caller's
        return text.encode("utf-8", "surrogatepass")


def printable(text: str) -> str:
    """The text as any terminal or file takes it, the bytes that are no UTF-8 as escapes.

    >>> printable("x\\udcff")
    'x\\\\udcff'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
