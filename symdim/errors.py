"""Errors of symdim: every one is a `ValueError` and names the values involved."""

from __future__ import annotations

_CONTEXT = 60
_MOST_NAMES = 12


class SymdimError(ValueError):
    """The base of all errors raised by symdim."""


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
        start = max(0, self.position - _CONTEXT)
        stop = self.position + _CONTEXT
        before = "..." if start else ""
        after = "..." if stop < len(self.text) else ""
        line = "".join(c if c.isprintable() else " " for c in self.text[start:stop])
        caret = " " * (len(before) + self.position - start) + "^"
        return f"{self.message} at position {self.position}\n    {before}{line}{after}\n    {caret}"


class BoundsError(SymdimError):
    """Bounds contradict each other, or a value lies outside the bounds of its variable."""


class DivisionByZero(SymdimError, ZeroDivisionError):  # noqa: N818
    """The divisor of `//` or `%` is zero."""


class UnboundName(SymdimError):  # noqa: N818
    """An evaluation needs variables for which the bindings have no value: `names`. The message has the first of them.

    >>> print(UnboundName(("M", "N")))
    no value for 'M', 'N'
    >>> print(UnboundName(tuple(f"N{i}" for i in range(15))))
    no value for 'N0', 'N1', 'N2', 'N3', 'N4', 'N5', 'N6', 'N7', 'N8', 'N9', 'N10', 'N11' and 3 more
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self.names = names

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.names[:_MOST_NAMES]))
        rest = len(self.names) - _MOST_NAMES
        return f"no value for {shown}" + (f" and {rest} more" if rest > 0 else "")


class NegativeSize(SymdimError):  # noqa: N818
    """The size of an axis is negative."""


class NotDivisible(SymdimError):  # noqa: N818
    """A division that must be exact leaves a remainder."""


class ReshapeError(SymdimError):
    """A reshape target does not fit the shape it is applied to."""


class BroadcastError(SymdimError):
    """Two sizes of one axis cannot be broadcast."""


class SizeOverflow(SymdimError, OverflowError):  # noqa: N818
    """A size does not fit into 64 bits."""


class RankError(SymdimError):
    """A shape does not have the rank that its consumer needs."""


class UnsupportedDynamicShape(SymdimError):  # noqa: N818
    """A consumer needs an exact size and gets one that is not: the operator, its field, and what was `observed`."""

    def __init__(self, op: str, field: str, observed: str, found: str) -> None:
        super().__init__(op, field, observed, found)
        self.op, self.field, self.observed, self.found = op, field, observed, found

    def __str__(self) -> str:
        return f"{self.op}: {self.field} must be exact, but {self.found}"
