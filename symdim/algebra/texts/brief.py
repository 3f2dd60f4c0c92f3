"""Short texts: the beginning of a long text, and how much of it is left out.

`repr`, messages, guards and facts show dimensions in this form, so they never take long. A text that is cut has `...`
in it, and `parse` refuses it.
"""

from __future__ import annotations

import re

from symdim.algebra.expr import Expr
from symdim.algebra.texts import printing
from symdim.algebra.texts.written import Written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.expr import Dim

LEFT_OUT = "..."
"""Stands for what is left out of a text."""
MOST_CHARACTERS = 200
"""The most characters of a text in a message."""
_MOST_COUNTED = 10**9  # of larger numbers the length is told

_NAME = re.compile(r"`(?:[^`]|``)*`?|(?!(?:max|min)\()[^\W\d][\w.]*")
_PART_OF_A_WORD = re.compile(r"(?<=\W)[\w.]+\Z")


def brief(dim: Dim, most: int = MOST_CHARACTERS) -> str:
    """The text of a dimension; of a long one the beginning, and how many names are left out.

    >>> from symdim import Var, total
    >>> brief(Var("N") // 2), brief(total(Var(f"length_{i}") for i in range(1000)), 30)
    ('N//2', 'length_0 + length_1 + ... (998 more names)')
    """
    if not isinstance(dim, Expr):
        return printing.to_text(dim) if abs(dim) < 10**most else shortened(printing.to_text(dim), most)
    if dim._text is not None and len(dim._text) <= most:
        return dim._text
    pieces: list[str] = []
    length = 0
    for piece in printing.beginning_of(dim):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            break
    text = "".join(pieces)
    if length <= most:
        return text
    shown = _PART_OF_A_WORD.sub("", text[:most])
    rest = Written().length(dim) - len(_NAME.findall(shown))
    if rest < 1:  # one long name or number
        return shortened(text, most)
    return f"{shown}{LEFT_OUT} ({_counted(rest)} more name{'s' if rest > 1 else ''})"


def brief_list(dims: Sequence[Dim]) -> str:
    """The text of a list of dimensions, or its beginning.

    >>> from symdim import Var
    >>> brief_list([Var("seq len"), 3])
    '[`seq len`, 3]'
    """
    return shortened(printing.text_of_list(dims))


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text, or its beginning and how many characters are left out.

    >>> shortened("a" * 9, 9), shortened("b" * 1020, 10)
    ('aaaaaaaaa', 'bbbbbbbbbb... (1,010 more characters)')
    """
    rest = len(text) - most
    if rest <= 0:
        return text
    return f"{text[:most]}{LEFT_OUT} ({rest:,} more character{'s' if rest > 1 else ''})"


def _counted(number: int) -> str:
    """A number of things; of a very large one the size."""
    return f"{number:,}" if number <= _MOST_COUNTED else f"more than 2**{number.bit_length() - 1}"
