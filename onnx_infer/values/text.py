"""The texts of a model: reading, writing, and showing.

Strings in a message should be UTF-8, but protobuf parsers accept others and return them as `bytes`. Here each invalid
byte becomes a lone surrogate (Python's `surrogateescape`). So different texts stay different, equal names stay equal,
and every text is written back byte for byte. All texts of a model are read through this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.texts.printing import shortened
from symdim.errors import printable as printable

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
    """The bytes of a text in a message; the inverse of `text`.

    >>> encoded("x\\udcff"), encoded("x\\ud800")
    (b'x\\xff', b'x\\xed\\xa0\\x80')
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other surrogates, in a text of the caller
        return text.encode("utf-8", "surrogatepass")


MOST_CHARACTERS = 400
"""The most characters of a message, a note or a reason. Names and expressions in it may be longer."""
_AT_THE_END = 100


def bounded(text: str) -> str:
    """The text; of a long one the beginning and the end, and between them how much is left out.

    >>> bounded("short"), bounded("a" * 400 + "b" * 700)[240:299]
    ('short', 'aaaaaaaaaa... (750 more characters) ...bbbbbbbbbbbbbbbbbbbb')
    """
    return shortened(text, MOST_CHARACTERS, _AT_THE_END)


def node_message(operator: str, node: str, message: str) -> str:
    """A message about a node, which names the operator with its version first; about no node, the message alone.

    >>> node_message("MatMul-13", "scores", "inner sizes differ")
    "MatMul (opset 13) 'scores': inner sizes differ"
    """
    name, _, version = operator.rpartition("-")
    title = f"{name} (opset {version})" if name and version.isdecimal() else operator
    return f"{title} '{node}': {message}" if title else message
