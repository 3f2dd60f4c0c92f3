"""Lower bounds of input sizes that operators imply: the input of a convolution must be at least as large as its kernel.

If a result depends on the sign of a value that is computed from sizes (an integer Div rounds towards zero), inference
is repeated under these bounds, because they hold in every valid run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim import Expr, FloorDiv, Var

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from onnx_infer.laws.statements import Statement
    from onnx_infer.values.tensor import Dim

_LARGEST = 1 << 40


class Undecided(Exception):  # noqa: N818  (a signal inside the engine)
    """A sign is undecided, but the bounds implied so far may decide it. So it is worth starting the walk again."""


class UndecidedSigns:
    """The sizes with undecided signs in one walk, and the bounds that its statements imply for symbols in them."""

    def __init__(self, symbols: Collection[str]) -> None:
        self._symbols = symbols
        self._variables: set[Var] = set()
        self.forget()

    def add(self, size: Dim) -> None:
        """Record a size with an undecided sign."""
        if isinstance(size, Expr):
            self._variables.update(v for v in size.variables() if v.name in self._symbols)

    def forget(self) -> None:
        """Read all statements again next time, because some of them were withdrawn."""
        self._read, self._bounds = 0, dict[Var, int]()

    def implied(self, statements: Sequence[Statement]) -> dict[Var, int]:
        """The implied lower bounds of the symbols in these sizes, if they exceed the known ones."""
        if not self._variables:
            return {}
        for variable, least in implied_bounds(statements[self._read :]).items():
            self._bounds[variable] = max(least, self._bounds.get(variable, least))
        self._read = len(statements)
        return {v: least for v, least in self._bounds.items() if v in self._variables}


def implied_bounds(statements: Iterable[Statement]) -> dict[Var, int]:
    """The least value of each variable under `at_least` statements that contain only this variable.

    >>> from symdim import Var
    >>> from onnx_infer.laws.statements import Statement
    >>> H = Var("H")
    >>> implied_bounds([Statement("at_least", H, 10, "Conv"), Statement("at_least", (H - 10) // 5 + 1, 3, "Conv")])
    {H: 20}
    """
    found: dict[Var, int] = {}
    for statement in statements:
        if (
            statement.relation != "at_least"
            or not isinstance(statement.rhs, int)
            or not isinstance(statement.lhs, Expr)
        ):
            continue
        variables = statement.lhs.variables()
        if len(variables) == 1 and is_monotone(statement.lhs):
            least = _least(statement.lhs, variables[0], statement.rhs)
            if least is not None and least > found.get(variables[0], variables[0].lo or 0):
                found[variables[0]] = least
    return found


def is_monotone(expression: Expr) -> bool:
    """Whether an expression never decreases as its variables grow: sums with positive coefficients, and their `//`.

    >>> from symdim import Var
    >>> H = Var("H")
    >>> is_monotone((H - 7) // 3 + 1), is_monotone(H - H // 3)
    (True, False)
    """
    pending = [expression]
    while pending:
        node = pending.pop()
        if node.terms is not None:
            if any(k < 0 for k in node.terms.values()):
                return False
            pending += node.terms
        elif isinstance(node, FloorDiv):
            numerator, divisor = node.parts
            if not isinstance(divisor, int) or divisor < 1:
                return False
            if isinstance(numerator, Expr):
                pending.append(numerator)
        elif not isinstance(node, Var):
            return False
    return True


def _least(expression: Expr, variable: Var, target: int) -> int | None:
    """The smallest value of the variable at which a monotone expression reaches the target, or None.

    For k, d >= 1: k*u + c >= t if u >= ceil((t - c)/k), and n//d >= t if n >= t*d. Sums are solved by bisection.
    """
    while expression is not variable:
        if isinstance(expression, FloorDiv) and expression.terms is None:
            numerator, divisor = expression.parts
            assert isinstance(numerator, Expr)
            assert isinstance(divisor, int)
            expression, target = numerator, target * divisor
        elif expression.terms is not None and len(expression.terms) == 1:
            ((unit, k),) = expression.terms.items()
            expression, target = unit, -((expression.const - target) // k)
        else:
            return _bisected(expression, variable, target)
    least = max(target, variable.lo or 0)
    return least if variable.hi is None or least <= variable.hi else None


def _bisected(expression: Expr, variable: Var, target: int) -> int | None:
    low, high = variable.lo or 0, _LARGEST if variable.hi is None else variable.hi
    if expression.to_int({variable: high}) < target:
        return None
    while low < high:
        middle = (low + high) // 2
        if expression.to_int({variable: middle}) >= target:
            high = middle
        else:
            low = middle + 1
    return low
