"""What an expression is not: a truth value, a number, a member of an order, a quotient with a remainder.

Python would answer some of these in silence: every object without a length is true. So each of them raises `TypeError`
with the call that answers the question.
"""

from __future__ import annotations

TYPE_CHECKING = False


class Symbolic:
    """The operations that no expression has; most of them do not exist for type checkers."""

    __slots__ = ()

    def _unordered(self, other: object) -> bool:
        raise TypeError("sizes have no < or >: ask symdim.at_least(a, b), and write symdim.maximum for max")

    __lt__ = __le__ = __gt__ = __ge__ = _unordered

    if not TYPE_CHECKING:

        def __bool__(self):
            raise TypeError(
                f"{self!r} is true or false only at given sizes: ask symdim.equal({self!r}, 0), which is True, False "
                "or None (not known); `a is b` tells whether two expressions are the same, `is None` that there is none"
            )

        def _no_number(self, *ignored):
            names = ", ".join(f"{name}=..." for name in sorted(self.free_symbols())[:4] if name.isidentifier())
            raise TypeError(f"{self!r} is a number only at given sizes: write .to_int({names or '{name: size}'})")

        __int__ = __float__ = __complex__ = __index__ = __round__ = _no_number

        def __truediv__(self, other):
            if not isinstance(other, Symbolic) and not hasattr(other, "__index__"):
                return NotImplemented
            raise TypeError(
                f"{self!r} is an integer, so / is not defined: use // (rounded down) or symdim.ceildiv (up)"
            )

        __rtruediv__ = __truediv__
