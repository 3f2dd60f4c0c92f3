"""The sizes that an inference made, as variables of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.types.join import variables_in
from onnx_infer.values.tensor import UNKNOWN_SIZE, substitute
from symdim import Expr, Scope, Var
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.origin import Computed, ValueOf, is_given

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim, Value


class OwnSizes:
    """Variables of one result only, with the same names, for the sizes that its inference made: `of`.

    They stand for themselves, so a replacement that was interrupted, or that two threads make, can be made again.
    Elements of the main graph stay.
    """

    def __init__(self) -> None:
        self.of: dict[Var, Dim] = {}

    def put(self, value: Value) -> Value:
        """The value with its own variables."""
        made = [v for v in variables_in(value) if is_made(v)]
        for var in made:
            self.enter(var)
        return substitute(value, self.of) if made else value

    def enter(self, var: Var) -> None:
        """Enter the variable, after the variables in its bound and its origin."""
        pending = [var]
        while pending:
            var = pending[-1]
            parts = (var.at_most, var.origin.size if isinstance(var.origin, Computed) else None)
            rest = [v for v in variables_of(parts) if is_made(v) and v not in self.of]
            pending += rest
            if not rest:
                pending.pop()
                if var not in self.of:
                    self.of.setdefault(var, self._own(var))

    def _own(self, var: Var) -> Var:
        """The own variable for one whose bound and origin are entered."""
        limit, origin = var.at_most, var.origin
        if isinstance(origin, ValueOf) and origin.tensor and not origin.semantics:
            return var
        if isinstance(origin, Computed):
            origin = Computed(substituted(origin.size, self.of), origin.why)
        limit = substituted(limit, self.of) if isinstance(limit, Expr) else limit
        own = Scope().restored(var.name, var.lo, var.hi, limit, origin)
        self.of[own] = own
        return own


def is_made(var: Var) -> bool:
    """Whether an inference made a variable."""
    return not is_given(var.origin) and var is not UNKNOWN_SIZE
