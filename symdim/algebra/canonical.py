"""The constructors, and what else the operators and methods of a node call. Expressions are built only here.

Constructors use intervals of variables (`max(N, 1)` is `N` where N >= 1) but never search for a proof. So sums,
products and divisions cost microseconds. A nest of maxima and minima costs up to 30 milliseconds (prover/budget.py).
"""

from __future__ import annotations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.applications import applied
from symdim.algebra.constructors.arithmetic import add, multiply, power, product, subtract, total
from symdim.algebra.constructors.extrema import maximum, minimum
from symdim.algebra.constructors.floordiv import ceildiv, floordiv, mod
from symdim.algebra.evaluate import evaluate, evaluated, substitute, to_int, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Expr

__all__ = [
    "add", "applied", "bounds_of", "ceildiv", "evaluate", "evaluated", "floordiv", "maximum",
    "minimum", "mod", "multiply", "power", "product", "reduced", "substitute",
    "subtract", "to_int", "total", "variables_of",
]  # fmt: skip


def reduced(node: Expr) -> tuple[object, ...]:
    """What `pickle` stores of a node."""
    from symdim.algebra import pickling

    return pickling.rebuilt, pickling.program_of(node)
