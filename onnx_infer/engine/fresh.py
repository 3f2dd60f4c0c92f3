"""Fresh sizes replaced by their equals: `_d0 == N` means that `_d0` is replaced by `N` everywhere.

At the end, each result gets variables of its own for the sizes that its inference made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.laws.readable import has_many_names
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.laws.statements import Statement, make_size
from onnx_infer.types.join import variables_in
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Value, substitute
from symdim import BoundsError, DivisionByZero, Expr, Scope, Var, minimum
from symdim.algebra.constructors.long_division import cancelled
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.evaluate import Substitution, parts_first
from symdim.algebra.origin import Computed, Declared, ValueOf, is_given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class FreshSizes(dict[Var, "Dim"]):
    """Fresh sizes and their equals, collected from the statements of the main graph.

    Only a fresh variable is replaced, by an expression without it. Declared names are never merged.
    """

    def add(self, statement: Statement) -> None:
        """Use an equality. One that is not required replaces nothing."""
        if statement.relation != "equal" or statement.kind != "required":
            return
        lhs, rhs = self.resolve(statement.lhs), self.resolve(statement.rhs)
        if lhs is rhs or lhs == rhs or not (is_fresh(lhs) or is_fresh(rhs)):
            return
        for a, b in ((lhs, rhs), (rhs, lhs)):
            if isinstance(a, Var) and is_fresh(a) and not (isinstance(b, Expr) and a in b.variables()):
                self[a] = b
                self.update(_bounded_too(a, b))
                return
        (gap,) = cancelled(lhs - rhs)
        unknown = [v for v in variables_of([gap]) if is_fresh(v)]
        if len(unknown) == 1 and isinstance(gap, Expr) and gap._terms:
            (var,) = unknown
            k = gap._terms.get(var, 0)
            rest = gap - k * var
            if abs(k) == 1 and var not in variables_of([rest]):
                self[var] = -k * rest  # since k * var + rest == 0 for k = 1 or -1

    def resolve(self, dim: Dim) -> Dim:
        """The size with solved variables replaced."""
        solved = [v for v in variables_of([dim]) if v in self] if self else ()
        if not solved:
            return dim
        self._solve(solved)
        size = _possible(dim, {v: self[v] for v in solved if v in self})
        return dim if size is None else size

    def _solve(self, solved: Iterable[Var]) -> None:
        """Give solved variables their final values, which contain no solved variable.

        As in the union-find algorithm, the result is stored for each variable on the way, so a long chain is walked
        once. A value that the variable cannot have in any run is dropped.
        """
        known, pending = self, list(solved)
        while pending:
            var = pending[-1]
            inner = [v for v in variables_of([known.get(var, 0)]) if v in known]
            deeper = [v for v in inner if any(x in known for x in variables_of([known[v]]))]
            pending += deeper
            if not deeper:
                pending.pop()
                if inner:
                    size = _possible(known[var], {v: known[v] for v in inner})
                    if size is None:
                        del known[var]
                    else:
                        known[var] = size

    def rename(self, variables: Mapping[Any, Dim]) -> None:
        """Replace variables by other sizes. A solved variable with a new variable is known under the new one."""
        renamed = {variables.get(var, var): size for var, size in self.items()}
        self.clear()
        self.update((var, substituted(size, variables)) for var, size in renamed.items() if isinstance(var, Var))

    def final(self) -> Substitution:
        """The final value of each solved variable, for use when no more statements follow."""
        self._solve(self)
        return Substitution(self)


def replacing(sizes: Substitution) -> Callable[[Any], Any]:
    """A function that puts these sizes into values and statements; one stays if no run has such sizes."""
    done: dict[Any, Any] = {}

    def replace(whole: Value | Statement) -> Value | Statement:
        new: Value | Statement | None = done.get(whole)
        if new is None:
            try:
                new = whole.substitute(sizes) if isinstance(whole, Statement) else substitute(whole, sizes)
            except (BoundsError, DivisionByZero):
                new = whole
            done[whole] = new
        return new

    return replace


def renew(var: Var, sizes: dict[Var, Dim], name: Var | None = None) -> None:
    """Put the variable, with other sizes in its bound and its origin, into `sizes` if these change.

    With a declared `name` it gets that name and the bounds of both.
    """
    origin, limit = var.origin, None if var.at_most is None else substituted(var.at_most, sizes)
    if isinstance(origin, Computed):
        size = substituted(origin.size, sizes)
        origin = origin if size is origin.size else Computed(size, origin.why)
    if name is not None:
        low = max(var.lo or 0, name.lo or 0)
        high = min((end for end in (var.hi, name.hi) if end is not None), default=None)
        if (new := _new(name.name, low, high, limit, origin)) is not None:
            sizes |= {var: new, name: new}
            return
    if limit is not var.at_most or origin is not var.origin:
        new = _new(var.name, var.lo, var.hi, limit, origin)
        sizes |= {} if new is None else {var: new}


def _new(name: str, low: int | None, high: int | None, limit: Dim | None, origin: object) -> Var | None:
    """A new variable; None if the bounds contradict each other."""
    try:
        return make_size(name, low, high, limit, origin)
    except BoundsError:
        return None


def _possible(dim: Dim, sizes: Mapping[Var, Dim]) -> Dim | None:
    """The size with others in place of variables; None if they contradict bounds or make a divisor 0."""
    try:
        return substituted(dim, sizes)
    except (BoundsError, DivisionByZero):
        return None


def _bounded_too(var: Var, size: Dim) -> dict[Var, Dim]:
    """The fresh variable in a size that `var` equals, with the upper bounds of both; nothing unless it is linear."""
    unknown = [v for v in variables_of([size]) if is_fresh(v)]
    if len(unknown) != 1 or (var.at_most is None and var.hi is None):
        return {}
    (other,) = unknown
    if isinstance(other.origin, Declared):
        return {}  # a declared name keeps its variable
    terms = size._terms if isinstance(size, Expr) and size._terms is not None else {size: 1}
    k = terms.get(other, 0)
    rest = size - k * other
    if k < 1 or other in variables_of([rest]):
        return {}
    limits = [other.at_most, *((end - rest) // k for end in (var.at_most, var.hi) if end is not None)]
    ends = [end for end in limits if isinstance(end, Expr)]
    highs = [end for end in (other.hi, *limits) if isinstance(end, int)]
    limit, high = minimum(*ends) if ends else None, min(highs, default=None)
    if limit is not None and has_many_names(limit):  # in a chain of equal sizes each would have one more
        limit = ends[0]
    new = None if (limit, high) == (other.at_most, other.hi) else _new(other.name, other.lo, high, limit, other.origin)
    return {} if new is None else {other: new}


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
        for part, _ in parts_first(var, self.of, _made_in):
            self.of.setdefault(part, self._own(part))

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


def _made_in(var: Var) -> list[Var]:
    """The variables that an inference made in the bound and the origin of one."""
    parts = (var.at_most, var.origin.size if isinstance(var.origin, Computed) else None)
    return [v for v in variables_of(parts) if is_made(v)]


def is_made(var: Var) -> bool:
    """Whether an inference made a variable."""
    return not is_given(var.origin) and var is not UNKNOWN_SIZE
