"""Smart constructors: the one path that builds expressions, in canonical form and interned.

    sums and products       polynomial.py    over units from monomial.py
    // and %                floordiv.py      with polynomial division from long_division.py
    max and min             extrema.py, lattice.py
    table of live nodes     interning.py

Equal canonical forms are one object. Constructors use intervals of variables (`max(N, 1)` is `N` where N >= 1)
but never search for a proof, so each costs microseconds.
"""

from __future__ import annotations

from symdim.algebra import evaluate as _evaluate
from symdim.algebra import extrema as _extremum
from symdim.algebra import monomial as _monomial
from symdim.algebra.caches import clear_with_caches
from symdim.algebra.display import args_of
from symdim.algebra.evaluate import evaluate, substitute, to_int, variables_of
from symdim.algebra.extrema import maximum, minimum
from symdim.algebra.floordiv import ceildiv, floordiv, mod
from symdim.algebra.intervals import bounds_of
from symdim.algebra.polynomial import add, constant, multiply, power, product, subtract, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from symdim.algebra.expr import Dim, Expr

__all__ = [
    "add",
    "args_of",
    "bounds_of",
    "ceildiv",
    "clear_memo",
    "constant",
    "evaluate",
    "floordiv",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "power",
    "product",
    "reduced",
    "substitute",
    "subtract",
    "to_int",
    "to_text",
    "total",
    "variables_of",
]


def clear_memo() -> None:
    """Forget what the constructors and walks remember."""
    _monomial.clear_memo()
    _extremum.clear_memo()
    _evaluate.clear_memo()


clear_with_caches(clear_memo)


_printer: Callable[[Dim], str] | None = None


def to_text(dim: Dim) -> str:
    """The printed form; text.py is read when something is printed first."""
    global _printer
    if _printer is None:
        from symdim.algebra import printing as text

        _printer = text.to_text
    return _printer(dim)


def reduced(node: Expr) -> tuple[object, ...]:
    """What `pickle` stores of a node; program.py is read when something is pickled first."""
    from symdim.algebra import pickling as program

    return program.rebuilt, (program.program_of(node),)
