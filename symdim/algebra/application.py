"""Functions of sizes, and their applications: atoms of which only equality of equal arguments is known.

The law is congruence: equal arguments have equal values. A function may have more: bounds of its values, and rules.

    meaning(*arguments)      the value as a dimension where it is known, else None
    interval(*intervals)     bounds of the value, from intervals of the arguments; of a quotient that of its floor
    is_open                  whether there are numbers of which no value is known; so there are without a meaning

A kind of functions, such as that of floats (`symdim.dialects.floats`), is a class that says more: whether its values
are sizes, what they are for numbers, and bounds that depend on the arguments themselves.

The rules are asked whenever the function is applied, also when sizes are put in. So `f(N)` with 16 for N is `f(16)`,
and that is a number if the meaning tells one. Arguments are ints, expressions and quotients (`symdim.Rational`).
"""

from __future__ import annotations

from symdim.algebra.expr import Expr
from symdim.algebra.intervals import meet, quotient
from symdim.errors import SymdimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from symdim.algebra import canonical
    from symdim.algebra.expr import Dim, Interval
    from symdim.parser.rational import Value

    Key = tuple[str, str, int | None, int | None, object, object]


class Function:
    """A function whose values are integers, at least `low` and at most `high`. Call it to apply it.

    Functions are equal if all that is given here is equal. The name is a word; a domain may have dots. Raises
    SymdimError for another one.

    >>> from symdim import Rational, Var
    >>> N, f = Var("N"), Function("Sqrt", "com.microsoft", low=0)
    >>> f(N + 1) is f(1 + N), f(N) + 2, f(Rational(N, 2), 3), f(N).bounds(), f(2 * N).substitute({"N": 8})
    (True, com.microsoft.Sqrt(N) + 2, com.microsoft.Sqrt(N/2, 3), (0, None), com.microsoft.Sqrt(16))
    >>> (f(N) + 2).evaluate({f: lambda n: n // 4}, N=9)
    4
    """

    __slots__ = ("domain", "high", "interval", "is_open", "is_size", "low", "meaning", "name")

    def __init__(
        self,
        name: str,
        domain: str = "",
        low: int | None = None,
        high: int | None = None,
        meaning: Callable[..., Dim | None] | None = None,
        interval: Callable[..., Interval] | None = None,
        is_open: bool = False,
    ) -> None:
        if not all(map(_is_word, [name, *(domain.split(".") if domain else ())])):
            raise SymdimError(f"no name of a function: {name!r} in the domain {domain!r}")
        self.name, self.domain = name, domain
        self.low, self.high = low, high
        self.meaning, self.interval = meaning, interval
        self.is_open = is_open or meaning is None
        self.is_size = True  # else a value stands only in functions that take such values

    def key(self) -> Key:
        """What functions are compared by."""
        return self.domain, self.name, self.low, self.high, self.meaning, self.interval

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __str__(self) -> str:
        return f"{self.domain}.{self.name}" if self.domain else self.name

    def __repr__(self) -> str:
        return f"Function({str(self)!r})"

    def __call__(self, *arguments: Value) -> Dim:
        return canonical.applied(self, [part for argument in arguments for part in _numerator_and_divisor(argument)])

    def of_numbers(self, parts: Sequence[Any]) -> int | float | None:
        """The value for numerators and divisors in turn, where it is no dimension's; None for what `meaning` says."""
        return None

    def bounds(self, ranges: Sequence[Interval], parts: Sequence[Dim] = ()) -> Interval:
        """Bounds of the value, from intervals of the numerators and divisors in turn, and from these themselves."""
        if self.interval is None:
            return self.low, self.high
        pairs = zip(ranges[::2], ranges[1::2], strict=True)
        return meet((self.low, self.high), self.interval(*[n if d == (1, 1) else quotient(n, d) for n, d in pairs]))


class Application(Expr):
    """The value of a function; `_parts` are the numerators and divisors of the arguments in turn."""

    __slots__ = ("function",)
    _parts: tuple[Dim, ...]
    function: Function

    @property
    def arguments(self) -> tuple[Value, ...]:
        """The arguments: ints, expressions and quotients."""
        return tuple(arguments_of(self._parts))


def arguments_of(parts: Sequence[Dim]) -> Iterable[Value]:
    """The arguments with these numerators and divisors in turn."""
    from symdim import Rational

    return [n if d == 1 else Rational(n, d) for n, d in zip(parts[::2], parts[1::2], strict=True)]


def _numerator_and_divisor(argument: Any) -> tuple[Dim, Dim]:
    is_quotient = hasattr(argument, "denominator") and not hasattr(argument, "__index__")
    return (argument.numerator, argument.denominator) if is_quotient else (argument, 1)


def _is_word(name: str) -> bool:
    """Whether texts can have this name, or this part of a dotted one."""
    return (name[:1].isalpha() or name[:1] == "_") and all(c.isalnum() or c == "_" for c in name)
