"""Where a variable comes from: what its `origin` may be.

| origin                              | the variable is                                                                |
|-------------------------------------|--------------------------------------------------------------------------------|
| None                                | given by the caller: an input size, or any symbol of one's own                 |
| `InputDim(tensor, axis)`            | the size of an axis of an input                                                |
| `ValueOf(tensor, index, semantics)` | one element of a tensor; `semantics` says what an operator takes it for        |
| `Computed(size, why)`               | the size that an operator computes of such elements, by its own arithmetic     |
| `Declared(name)`                    | a name that a model declares, and of which nothing else is known               |
| anything else, such as a text       | decided by the data alone; the text says how                                   |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim


class InputDim(NamedTuple):
    """The size of one axis of an input."""

    tensor: str
    axis: int


class ValueOf(NamedTuple):
    """The integer element of a tensor at a position in row-major order; `semantics` is `operator.input`, or empty.

    >>> print(ValueOf("k", 0, "TopK.K"))
    the value of k[0], TopK.K
    """

    tensor: str
    index: int  # type: ignore[assignment]  # tuples have a method of this name, of no use here
    semantics: str = ""

    def __str__(self) -> str:
        return f"the value of {self.tensor}[{self.index}]" + (f", {self.semantics}" if self.semantics else "")


class Computed(NamedTuple):
    """The size that an operator computes, as an expression over `ValueOf` variables, clamped and rounded as it does.

    >>> from symdim import Var, minimum
    >>> print(Computed(minimum(Var.fresh("end[0]"), 8), "a bound of the slice is not known"))
    a bound of the slice is not known: min(`end[0]`, 8)
    """

    size: Dim
    why: str

    def __str__(self) -> str:
        return f"{self.why}: {self.size!r}"


class Declared(NamedTuple):
    """A name that only a declared type has. What decides its size is not known.

    >>> str(Declared("N"))
    "name appears only in this value's declared shape"
    """

    name: str

    def __str__(self) -> str:
        return "name appears only in this value's declared shape"


def is_given(origin: object) -> bool:
    """Whether sizes of this origin are known before a run."""
    return origin is None or type(origin) is InputDim


def is_data_dependent(origin: object) -> bool:
    """Whether data decide a size of this origin. That is not known of a declared name."""
    return origin is not None and type(origin) not in (InputDim, Declared)
