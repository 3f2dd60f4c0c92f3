"""Errors of symdim: every one is a `ValueError` and names the values involved.

A name or a text that somebody else has chosen may have any character in it. It is shown as `printable` writes it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CONTEXT = 60
_MOST_NAMES = 12
_LONGEST_NAME = 64  # the part of a name that is compared with others

_UNPRINTABLE = [(0x00, 0x1F), (0x7F, 0x9F), (0x2028, 0x202E), (0x2066, 0x2069), (0xD800, 0xDFFF)]
"""Control characters, the other ends of lines, what changes the direction of all text behind it, and bytes that are not
UTF-8."""
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """A text in one line that any terminal, log or file accepts: control characters become escapes, as in JSON.

    >>> print(printable("N\\x1b[2J\\r\\n"), printable("x\\udcff"))
    N\\u001b[2J\\r\\n x\\udcff
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(sign: str) -> str:
    if sign.isprintable() or not any(first <= ord(sign) <= last for first, last in _UNPRINTABLE):
        return sign
    return _ESCAPES.get(sign) or f"\\u{ord(sign):04x}"


def printable_lines(text: str) -> str:
    """The same for a text of several lines. Those after the first one are set in, so no name can begin a line."""
    return "\n  ".join(map(printable, text.split("\n  ")))


class SymdimError(ValueError):
    """The base of all errors raised by symdim."""

    def __str__(self) -> str:
        return printable_lines(super().__str__())


class ParseError(SymdimError):
    """A text is not a dimension expression.

    >>> print(ParseError("N + )", 4, "expected an operand"))
    expected an operand at position 4
        N + )
            ^
    """

    def __init__(self, text: str, position: int, message: str) -> None:
        super().__init__(text, position, message)
        self.text = text
        self.position = position
        self.message = message

    def __str__(self) -> str:
        if not self.text.strip():
            return f"{printable(self.message)} (the text is empty)"
        start = max(0, self.position - _CONTEXT)
        stop = self.position + _CONTEXT
        before = "..." if start else ""
        after = "..." if stop < len(self.text) else ""
        line = "".join(c if c.isprintable() else " " for c in self.text[start:stop])
        caret = " " * (len(before) + self.position - start) + "^"
        return f"{printable(self.message)} at position {self.position}\n    {before}{line}{after}\n    {caret}"


class BoundsError(SymdimError):
    """Bounds contradict each other, or a value lies outside the bounds of its variable."""


class DivisionByZero(SymdimError, ZeroDivisionError):  # noqa: N818
    """The divisor of `//` or `%` is zero."""


class UnboundName(SymdimError):  # noqa: N818
    """An evaluation needs variables for which the bindings have no value: `names`. The message has the first of them.

    `unused` are the names in the bindings that do not occur, one of which may be misspelt.

    >>> print(UnboundName(("M", "N")), "|", UnboundName(("M", "N"), ("n", "H")))
    no value for 'M', 'N' | no value for 'M', 'N'; 'n', 'H' do not occur: do you mean 'N'?
    >>> print(UnboundName(tuple(f"N{i}" for i in range(15))))
    no value for 'N0', 'N1', 'N2', 'N3', 'N4', 'N5', 'N6', 'N7', 'N8', 'N9', 'N10', 'N11' and 3 more
    """

    def __init__(self, names: tuple[str, ...], unused: tuple[str, ...] = ()) -> None:
        super().__init__(names, unused)
        self.names, self.unused = names, unused

    def __str__(self) -> str:
        said = f"no value for {_listed(self.names)}"
        if self.unused:
            said += f"; {_listed(self.unused)} {'does' if len(self.unused) == 1 else 'do'} not occur"
            meant = dict.fromkeys(similar for name in self.unused if (similar := nearest(name, self.names)))
            said += f": do you mean {_listed(tuple(meant))}?" if meant else ""
        return said


class UnboundFunction(UnboundName):
    """An evaluation needs the value of a function that has none for these numbers, and none is given.

    >>> print(UnboundFunction("f(16)", "f"))
    no value for f(16): give the function, as in evaluate({symdim.function('f'): ...})
    """

    def __init__(self, application: str, function: str) -> None:
        super().__init__((application,))
        self.args = application, function
        self.function = function

    def __str__(self) -> str:
        domain, _, name = self.function.rpartition(".")
        function = f"{name!r}, {domain!r}" if domain else repr(name)
        cure = f"give the function, as in evaluate({{symdim.function({function}): ...}})"
        return f"no value for {printable(self.names[0])}: {cure}"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of some names of which another is a misspelling; None if none is alike enough to be meant.

    At most one character in four is dropped, added, replaced or swapped with its neighbour; of a short name one is
    dropped or added. Case does not count. Of equally near names it is the first.

    >>> nearest("assum", ["assume", "values"]), nearest("h", ["W", "H"]), nearest("x", ["y"])
    ('assume', 'H', None)
    >>> nearest("LayerNormalizationGrad", ["SkipLayerNormalization"]), nearest("N1", ["N2"]), nearest("bidn", ["bind"])
    (None, None, 'bind')
    """
    wanted, best, least = name[:_LONGEST_NAME].casefold(), None, _LONGEST_NAME
    for other in names:
        folded = other[:_LONGEST_NAME].casefold()
        gap, longest = abs(len(folded) - len(wanted)), max(len(folded), len(wanted))
        most = min(max(longest // 4, int(gap == 1 and longest > 1)), least - 1)
        if gap <= most and (count := _edits(wanted, folded, most)) <= most:
            best, least = other, count
    return best


def _edits(a: str, b: str, most: int) -> int:
    """The number of characters to drop, add, replace or swap with a neighbour (optimal string alignment).

    It is a number above `most` if it is not at most that.
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            count = min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and (x, a[i - 2]) == (b[j - 2], y):
                count = min(count, last[j - 2] + 1)
            row.append(count)
        if min(row) > most and min(before) > most:
            return most + 1
    return row[-1]


def refuse_text(given: object, what: str) -> None:
    """Raise `TypeError` for what is no sequence, and for one text: Python would take it character by character.

    >>> refuse_text("seq", "names")
    Traceback (most recent call last):
    ...
    TypeError: names are a sequence, not the text 'seq': write ['seq']
    """
    if isinstance(given, str):
        raise TypeError(f"{what} are a sequence, not the text {given!r:.60}: write [{given!r:.60}]")
    if given is not None and not hasattr(given, "__iter__"):
        raise TypeError(f"{what} are a sequence, not {named(given)}")


def demand_text(given: object, what: str, cure: str = "") -> None:
    """Raise `TypeError` for what is no text.

    >>> demand_text(3, "a size to be read")
    Traceback (most recent call last):
    ...
    TypeError: a size to be read is a text, not the int 3
    """
    if not isinstance(given, str):
        raise TypeError(f"{what} is a text, not {named(given)}{cure}")


def named(given: object) -> str:
    """A value with its type, for messages.

    >>> named(3), named(None)
    ('the int 3', 'None')
    """
    return "None" if given is None else f"the {type(given).__name__} {given!r:.60}"


def _listed(names: tuple[str, ...]) -> str:
    rest = len(names) - _MOST_NAMES
    return ", ".join(map(repr, names[:_MOST_NAMES])) + (f" and {rest} more" if rest > 0 else "")


class NegativeSize(SymdimError):  # noqa: N818
    """The size of an axis is negative."""


class NotDivisible(SymdimError):  # noqa: N818
    """A division that must be exact leaves a remainder."""


class ReshapeError(SymdimError):
    """A reshape target does not fit the shape it is applied to."""


class BroadcastError(SymdimError):
    """Two sizes of one axis cannot be broadcast."""


class SizeOverflow(SymdimError, OverflowError):  # noqa: N818
    """A size does not fit into 64 bits, or a number that is computed on the way to it has too many."""


class RankError(SymdimError):
    """A shape does not have the rank that its consumer needs."""


class UnsupportedDynamicShape(SymdimError):  # noqa: N818
    """A consumer needs an exact size and gets one that is not: the operator, its field, and what was `observed`."""

    def __init__(self, op: str, field: str, observed: str, found: str) -> None:
        super().__init__(op, field, observed, found)
        self.op, self.field, self.observed, self.found = op, field, observed, found

    def __str__(self) -> str:
        return printable(f"{self.op}: {self.field} must be exact, but {self.found}")
