"""The sizes in values that an inference made, and placeholders for them.

Every inference makes sizes of its own. Values that differ only in these have one pattern, with placeholders. So a key
made of patterns finds what an earlier inference remembered.
"""

from __future__ import annotations

from onnx_infer.model.size_texts import GENERATED
from onnx_infer.types.join import variables_in
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value, substitute
from symdim import Expr, Scope, Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.origin import Computed, ValueOf, is_given
from symdim.algebra.variable import make_variable

_placeholders = shared_cache(1 << 10)  # number, bounds, origin, name -> variable


class MadeSizes:
    """The made sizes in some values, in order, and the placeholder of each: `of`."""

    def __init__(self) -> None:
        self.of: dict[Var, Dim] = {}

    def pattern(self, value: Value) -> Value:
        """The value with a placeholder for each such size. Values that differ only in these sizes have one pattern."""
        if type(value) is SymTensor and not value.data and value.fill is None and not value.samples:
            for size in value.shape or ():
                if type(size) is not int and not (type(size) is Var and size.origin is None):
                    break
            else:
                return value
        own = made_sizes(value)
        if not own:
            return value
        for var in own:
            self.enter(var)
        return substitute(value, self.of)

    def enter(self, var: Var) -> None:
        """Enter the variable, after the variables in its bound and its origin."""
        pending = [var]
        while pending:
            var = pending[-1]
            rest = [v for v in variables_within(var) if v not in self.of]
            pending += rest
            if not rest:
                pending.pop()
                if var not in self.of:
                    limit = substituted(var.at_most, self.of) if isinstance(var.at_most, Expr) else var.at_most
                    origin = var.origin
                    if isinstance(origin, Computed):
                        origin = Computed(substituted(origin.size, self.of), origin.why)
                    self.of.setdefault(var, self._instead(var, limit, origin))

    def _instead(self, var: Var, limit: Dim | None, origin: object) -> Var:
        """The placeholder for a variable with this bound and origin."""
        name = "" if GENERATED.fullmatch(var.name) else var.name
        # a text with names of other sizes belongs to this inference only
        origin = GENERATED.sub("_d", origin) if isinstance(origin, str) else origin
        key = len(self.of), var.lo, var.hi, limit, origin, name
        found: Var | None = _placeholders.get(key)
        if found is None:
            made = make_variable(Scope(), f"_{len(self.of)}", var.lo, var.hi, limit, origin)
            found = _placeholders.setdefault(key, made)
        return found


class OwnSizes(MadeSizes):
    """Variables of one result only, with the same names, for the sizes in it. Elements of the main graph stay.

    They stand for themselves, so a replacement that was interrupted, or that two threads make, can be made again.
    """

    def _instead(self, var: Var, limit: Dim | None, origin: object) -> Var:
        if isinstance(origin, ValueOf) and origin.tensor and not origin.semantics:
            return var
        own = Scope().restored(var.name, var.lo, var.hi, limit, origin)
        self.of[own] = own
        return own


def made_sizes(value: Value) -> list[Var]:
    """The variables in a value that an inference made."""
    return [v for v in variables_in(value) if not is_given(v.origin) and v is not UNKNOWN_SIZE]


def variables_within(var: Var) -> list[Var]:
    """The variables in the bound and the origin of a variable that an inference made."""
    parts = (var.at_most, var.origin.size if isinstance(var.origin, Computed) else None)
    return [v for v in variables_of(parts) if not is_given(v.origin) and v is not UNKNOWN_SIZE]
