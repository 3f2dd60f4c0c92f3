"""The work a proof may take, counted in steps, so that answers never depend on the speed of a machine.

A step is about 20 microseconds of work. All arithmetic is counted in *words*: a coefficient of b bits has 1 + b//64 of
them. So a step pays for 64 small coefficients that are computed, or for one of 4,000 bits, whichever layer of the
prover computes it.

Replacements multiply coefficients, round after round. One that makes a number of more than 256 bits, and of more than
twice the bits of the largest number in the question, is not made.
"""

from __future__ import annotations

from symdim.algebra.monomial import terms_of
from symdim.algebra.polynomial import MAX_TERMS, multiply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim.algebra.expr import Dim

_WORDS = 64  # in one step
_BITS = 256


class OutOfBudget(Exception):  # noqa: N818
    """A search has used up its steps."""


class TooLarge(OutOfBudget):
    """A replacement makes larger numbers than are allowed."""


class Budget:
    """Steps that are left, of this budget and of the larger one that it is a part of."""

    __slots__ = ("bits", "steps", "within", "words")

    def __init__(self, steps: int, within: Budget | None = None) -> None:
        self.steps = steps
        self.words = 0  # less than a step
        self.bits = _BITS  # of the largest number that a replacement may make
        self.within = within

    def spend(self, steps: int = 1) -> None:
        """Take steps; raises `OutOfBudget` when none are left."""
        self.steps -= steps
        if self.within is not None:
            self.within.spend(steps)
        if self.steps < 0:
            raise OutOfBudget

    def work(self, words: int) -> None:
        """Take the steps that so many words of arithmetic cost; raises `OutOfBudget`."""
        steps, self.words = divmod(self.words + words, _WORDS)
        if steps:
            self.spend(steps)

    def charge(self, dims: Iterable[Dim]) -> None:
        """Take the steps that some sums cost, each of which is built or read once; raises `OutOfBudget`."""
        self.work(sum([words_of(dim) for dim in dims]))

    def product(self, a: Dim, b: Dim) -> Dim:
        """a*b, at the price of its products of terms; raises `OutOfBudget` before they are made."""
        self.work(words_of(a) * words_of(b))
        return multiply(a, b)

    def expand(self, powers: dict[Dim, int]) -> None:
        """Take the steps that powers of sums cost, before they are multiplied out; raises `OutOfBudget`.

        A power of t terms gains about t of them with each factor, until it is so long that it stays factored.
        """
        for dim, exponent in powers.items():
            terms, const = terms_of(dim)
            size = len(terms) + (const != 0)
            if size > 1:
                self.work(size * min(exponent, MAX_TERMS) ** 2)

    def admit(self, dims: Iterable[Dim]) -> None:
        """Allow numbers of twice the bits of those in the question."""
        self.bits = max([self.bits, *[2 * bits_of(dim) for dim in dims]])

    def replace(self, dims: list[Dim]) -> None:
        """As `charge`, for what a replacement made; raises `TooLarge` where a number in it is."""
        self.charge(dims)
        if any(bits_of(dim) > self.bits for dim in dims):
            raise TooLarge


def words_in(numbers: Iterable[int]) -> int:
    """The words of some coefficients."""
    return sum([1 + k.bit_length() // 64 for k in numbers])


def words_of(dim: Dim) -> int:
    """The words of a sum's coefficients and of its constant.

    >>> from symdim import Var
    >>> words_of(Var("x") + 1), words_of(2**128 * Var("x") + Var("y"))
    (2, 5)
    """
    terms, const = terms_of(dim)
    return 1 + const.bit_length() // 64 + words_in(terms.values())


def bits_of(dim: Dim) -> int:
    """The bits of the largest number in a sum."""
    terms, const = terms_of(dim)
    return max([const.bit_length(), *[k.bit_length() for k in terms.values()]])
