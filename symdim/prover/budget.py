"""The work that a proof may take, counted in steps, so answers never depend on the speed of the machine.

A step is about 20 microseconds of work. All arithmetic is counted in *words*: a coefficient of b bits has 1 + b//64
words. A step pays for 64 words: 64 small coefficients, or one of 4,000 bits.

Replacements multiply coefficients, round after round. The prover skips a replacement that makes a number of more than
256 bits, if this is also more than twice the bits of the largest number in the question.
"""

from __future__ import annotations

from symdim.algebra.constructors.arithmetic import MAX_TERMS, multiply
from symdim.algebra.polynomials import terms_of
from symdim.algebra.texts.written import work_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim.algebra.expr import Dim, Expr

_WORDS = 64  # in one step
_STEP = 20  # microseconds
_BITS = 256


class OutOfBudget(Exception):  # noqa: N818
    """A search has used up its steps."""


class TooLarge(OutOfBudget):
    """A replacement makes larger numbers than are allowed."""


class Budget:
    """The steps that are left of this budget, and of the larger budget that contains it."""

    __slots__ = ("_leaves", "bits", "steps", "within", "words")

    def __init__(self, steps: int, within: Budget | None = None) -> None:
        self.steps = steps
        self.words = 0  # spent since the last full step
        self.bits = _BITS  # the size of the largest number that a replacement may make
        self.within = within
        self._leaves: dict[Expr, int] = {}

    def spend(self, steps: int = 1) -> None:
        """Take steps; raises `OutOfBudget` when none are left."""
        self.steps -= steps
        if self.within is not None:
            self.within.spend(steps)
        if self.steps < 0:
            raise OutOfBudget

    def work(self, words: int) -> None:
        """Take the steps for this many words of arithmetic; raises `OutOfBudget`."""
        steps, self.words = divmod(self.words + words, _WORDS)
        if steps:
            self.spend(steps)

    def build(self, node: Expr, times: int = 1) -> None:
        """Take the steps for making a node anew from other parts, in advance; raises `OutOfBudget`."""
        self.work(times * _WORDS * work_of(node, self._leaves) // _STEP)

    def affords(self, nodes: Iterable[Expr], times: int = 1) -> bool:
        """Take the steps for making some nodes anew so many times; return whether there are so many."""
        try:
            for node in nodes:
                self.build(node, times)
        except OutOfBudget:
            return False
        return True

    def charge(self, dims: Iterable[Dim]) -> None:
        """Take the steps for building or reading each sum once; raises `OutOfBudget`."""
        self.work(sum([words_of(dim) for dim in dims]))

    def product(self, a: Dim, b: Dim) -> Dim:
        """a*b. The steps for all products of terms are taken first, so `OutOfBudget` is raised before the work."""
        self.work(words_of(a) * words_of(b))
        return multiply(a, b)

    def expand(self, powers: dict[Dim, int]) -> None:
        """Take the steps for multiplying out powers of sums, in advance; raises `OutOfBudget`.

        A power of a sum of t terms gains about t terms with each factor, until it is so long that it stays factored.
        """
        for dim, exponent in powers.items():
            terms, const = terms_of(dim)
            size = len(terms) + (const != 0)
            if size > 1:
                self.work(size * min(exponent, MAX_TERMS) ** 2)

    def admit(self, dims: Iterable[Dim]) -> None:
        """Allow numbers with twice as many bits as those in the question."""
        self.bits = max([self.bits, *[2 * bits_of(dim) for dim in dims]])

    def replace(self, dims: list[Dim]) -> None:
        """As `charge`, for the results of a replacement; raises `TooLarge` if one of their numbers is too large."""
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
