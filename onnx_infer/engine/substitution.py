"""Sizes in the record of a walk replaced by others: solved ones, shorter ones, declared names, and sizes of its own.

A size chosen by broadcasting may be long although a later node demands that it is `N`. So equations that are required
are solved for the largest part of them, `max(N, M) == N + 3` for `max(N, M)`, and long sizes are rewritten by the
solutions. So are sizes with a division that a node demands to leave no remainder: `2*(c//2)` is `c` then. The equations
stay guards, so a size is right where the guards hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.engine.fresh import is_made, renew, replacing
from onnx_infer.laws.readable import has_many_names, is_long, is_unreadable
from onnx_infer.types.join import sizes, variables_in
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import DivisionByZero, Expr, Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.constructors.long_division import cancelled
from symdim.algebra.dims import at_most, variables_of
from symdim.algebra.evaluate import Substitution, postorder, replaced
from symdim.algebra.expr import Extremum, FloorDiv
from symdim.algebra.order import kind_number, order
from symdim.algebra.origin import is_given
from symdim.algebra.polynomials import divides, exact_quotient
from symdim.algebra.texts.push_down import rounded_outside
from symdim.algebra.texts.written import leaf_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx_infer.engine.record import Record
    from onnx_infer.laws.statements import StatedKind, Statement
    from symdim import Relation


_ROUNDS = 8
_STEPS = 1000  # of the proofs about one size or condition, about 20 ms


def replace_solved(record: Record) -> None:
    """Replace fresh sizes by what they equal."""
    before = dict(record.scope)
    map_values(record, replacing(record.sizes.fresh.final()))
    record.sizes.unsolved = {name: value for name, value in before.items() if record.scope[name] is not value}


def computed_inputs(record: Record) -> dict[str, Value]:
    """The inputs with a size that the model writes as an expression with a division or a clamp, `max(M, 3)`.

    A run that breaks a guard has this size too, so nothing that a guard implies is written into an input.
    """
    inputs = [(name, record.scope.get(name)) for name, _ in record.model.graph.inputs]
    shaped = [(name, value) for name, value in inputs if isinstance(value, SymTensor) and value.shape]
    return {name: value for name, value in shaped if any(isinstance(d, Expr) and d._height for d in value.dims)}


def shorten(record: Record, shorter: Shorter) -> None:
    """Replace long sizes by shorter ones that operators demand to equal them."""
    map_values(record, shorter.put)
    resolve = record.sizes.fresh.resolve
    record.declared.claims = [claim.substitute(shorter.sizes, resolve) for claim in record.declared.claims]


def take_own_sizes(record: Record) -> None:
    """Replace the sizes that the walk made by variables of the same names that no other inference has.

    Doing it again changes nothing.
    """
    own = record.sizes.own
    diagnostics = [d._replace(inputs=tuple([(n, v and own.put(v)) for n, v in d.inputs])) for d in record.diagnostics]
    record.diagnostics[:] = diagnostics
    values = dict.fromkeys(value for scope in record.scopes() for value in scope.values())
    stated = [
        size for statement in record.statements.plain for size in (statement.lhs, statement.rhs, *statement.filled)
    ]
    held = [v for value in values for v in variables_in(value)]
    for var in dict.fromkeys((*record.sizes.created, *held, *variables_of(stated))):
        if is_made(var):
            own.enter(var)
    if own.of:
        rename(record, own.of)


def rename(record: Record, variables: Mapping[Any, Dim], names: Mapping[Var, Var] | None = None) -> None:
    """Replace variables by other sizes: in values, statements and claims, and in the bounds of fresh sizes.

    `names` are declared names for fresh sizes, which keep their bounds and origins.
    """
    new, names = dict(variables), names or {}
    for var in dict.fromkeys((*record.sizes.created, *names)):
        if var not in new:
            renew(var, new, name=names.get(var))
    record.sizes.created = [size for var in record.sizes.created if isinstance(size := new.get(var, var), Var)]
    known, resolve = Substitution(new), record.sizes.fresh.resolve
    renamed = replacing(known)
    map_values(record, renamed)
    record.statements.put([(renamed(statement), node) for statement, node in record.statements.pairs])
    record.declared.claims = [claim.substitute(known, resolve) for claim in record.declared.claims]
    record.sizes.fresh.rename(new)


def map_values(record: Record, change: Callable[[Value], Value]) -> None:
    """Replace the values of all graphs by others, equal ones by the same."""
    changed: dict[Value, Value] = {}
    for scope in record.scopes():
        for name, value in scope.items():
            if value not in changed:
                changed[value] = change(value)
            scope[name] = changed[value]


# -- shorter sizes ---------------------------------------------------------------------------------------------


class Shorter:
    """Shorter sizes for long ones that they equal, `of` each; false if there are none. `put` puts them into a value."""

    __slots__ = ("of", "put", "sizes")

    def __init__(self, of: Mapping[Dim, Dim]) -> None:
        self.of = of
        self.sizes = Substitution({}, of)
        self.put = replacing(self.sizes)

    def __bool__(self) -> bool:
        return bool(self.of)


_NONE = Shorter({})
_shorter = shared_cache(1 << 5)  # (equations, values) of a model -> its Shorter


def shorter_sizes(record: Record, statements: Iterable[Statement] | None = None) -> Shorter:
    """What statements of operators, or all of them, give for the long sizes of all graphs.

    It is remembered for the next inference of the model.
    """
    scopes, resolve = record.scopes(), record.sizes.fresh.resolve
    statements = record.statements.plain if statements is None else statements
    stated = dict.fromkeys(s[:3] for s in statements if s.kind == "required" and is_equation(*s[:3]))
    if not stated:
        return _NONE
    equations = tuple([(relation, resolve(lhs), resolve(rhs)) for relation, lhs, rhs in stated])
    values = tuple(dict.fromkeys(value for scope in scopes for value in scope.values()))
    shorter: Shorter | None = _shorter.get(key := (equations, values))
    if shorter is None:
        shorter = _shorter[key] = Shorter(_shortened(equations, values))
    return shorter


def _shortened(equations: Iterable[tuple[StatedKind, Dim, Dim]], values: Iterable[Value]) -> dict[Dim, Dim]:
    """The long sizes, and those with divisions without a remainder, in some values that equations shorten."""
    held = dict.fromkeys(size for value in values for size in sizes(value))
    composed = [size for size in held if isinstance(size, Expr) and size._height]
    known = Equations()
    for equation in equations if composed else ():
        known.demand(*equation)
    open_to = [size for size in composed if is_long(size) or known.has_multiples(size)]
    shorter = {size: known.rewritten(size) for size in open_to}
    shorter |= {size: known.proved(size) for size, new in shorter.items() if new is not size and is_long(new)}
    # where a size is negative, the equations hold in no run
    return {size: new for size, new in shorter.items() if _is_shorter(new, size) and not at_most(new, -1)}


def is_equation(relation: StatedKind, lhs: Dim, rhs: Dim) -> bool:
    """Whether this is an equation with a maximum, a minimum or a floor division: it may shorten something.

    That a number divides a size is one, too: the remainder is 0.
    """
    if relation == "divides":
        return isinstance(lhs, int) and lhs > 1 and isinstance(rhs, Expr)
    return relation == "equal" and any(isinstance(side, Expr) and side._height > 0 for side in (lhs, rhs))


class Equations:
    """Equations, each solved for its largest part: a maximum, a minimum or a floor division, or a multiple of one.

    >>> from symdim import Var, maximum
    >>> N, M = Var("N"), Var("M")
    >>> known = Equations()
    >>> known.add(maximum(N, M) * N, N * N + 3 * N)
    >>> known.demand("divides", 4, M)
    >>> known.rewritten((maximum(N, M) - 3) * M // 2), known.rewritten(maximum(8 * (M // 4), N))
    (M*N//2, max(2*M, N))
    """

    def __init__(self) -> None:
        self._of: dict[Expr, Dim] = {}
        self._times: dict[Expr, tuple[int, Dim]] = {}  # a unit -> a number, and what so many times the unit equal
        self._added: list[tuple[Dim, Dim]] = []

    def __bool__(self) -> bool:
        return bool(self._of or self._times)

    def demand(self, relation: StatedKind, lhs: Dim, rhs: Dim) -> None:
        """Use a condition of which `is_equation` holds."""
        if relation == "divides":
            lhs, rhs = self.rewritten(rhs) % lhs, 0
        self.add(lhs, rhs)

    def add(self, lhs: Dim, rhs: Dim) -> None:
        """Use an equation. If its largest part has a factor, only multiples by this factor are replaced.

        An equation that would bring a size that the data decide into sizes without it replaces nothing.
        """
        (gap,) = cancelled(self.rewritten(lhs) - self.rewritten(rhs))
        if not isinstance(gap, Expr):
            return
        self._added.append((lhs, rhs))
        terms = {gap: 1} if gap._terms is None else gap._terms
        part = max(terms, key=lambda part: _rank(part, terms[part]))
        number = abs(terms[part])
        rest = number * part - terms[part] // number * gap  # since k * part + other terms == 0
        if not part._height or not _unknown(rest).issubset(part.variables()):
            return
        if number > 1:
            self._times[part] = number, rest
            return
        self._of[part] = rest

    def rewritten(self, size: Dim) -> Dim:
        """The size with solved parts replaced, and those that this makes. No run has a size whose divisor becomes 0."""
        try:
            for _ in range(_ROUNDS):
                new = replaced(size, self._of, {})
                new = replaced(new, self._quotients(new), {})
                new = replaced(new, self._multiples(new), {})
                if new is size or is_unreadable(new):
                    break
                size = new
        except DivisionByZero:
            pass
        return size

    def imply(self, relation: Relation) -> bool:
        """Whether the equations prove an equality or that a number or size divides another one."""
        kind, left, right, _ = relation
        if not self._of or kind not in ("equal", "divides") or (kind == "divides" and left == 0):
            return False
        return self.proved(left - right if kind == "equal" else right % left) == 0

    def proved(self, size: Dim) -> Dim:
        """The size as short as the equations prove it to be."""
        from symdim import Facts, Relation, simplify  # few models need it

        facts = Facts(Relation("equal", lhs, rhs) for lhs, rhs in self._added)
        return simplify(size, facts, budget=_STEPS)

    def has_multiples(self, size: Dim) -> bool:
        """Whether an equation replaces a multiple of a part of a size."""
        return bool(self._times and self._multiples(size))

    def _quotients(self, size: Dim) -> dict[Expr, Dim]:
        """The maxima of quotients, `max(N//2, M//2)`, of which an equation replaces the dividend `max(N, M)`."""
        quotients: dict[Expr, Dim] = {}
        for node in postorder(size) if self._of and isinstance(size, Expr) else ():
            quotient = rounded_outside(node) if isinstance(node, Extremum) else None
            if quotient is not None:
                n, d = quotient.operands
                new = replaced(n, self._of, {})
                if new is not n:
                    quotients[node] = new // d
        return quotients

    def _multiples(self, size: Dim) -> dict[Expr, Dim]:
        """The sums in a size that have multiples of a part which an equation replaces, with the replacements."""
        sums: dict[Expr, Dim] = {}
        for node in postorder(size) if self._times and isinstance(size, Expr) else ():
            for unit, k in (node._terms or {}).items():
                for part, (number, rest) in self._times.items():
                    if k % number == 0 and divides(part, unit):
                        factor = exact_quotient(unit, part)
                        new = k // number * rest * (1 if factor is None else factor) - k * unit
                        sums[node] = sums.get(node, node) + new
                        break
        return sums


def _is_shorter(dim: Dim, than: Dim) -> bool:
    """Whether a size has fewer variables, or as many and a shorter text, or no size that the data decide.

    A number takes the place of a long text only. The next inference uses it only if no node demands it.
    """
    if isinstance(dim, int):
        return has_many_names(than)
    fewer = leaf_count(dim) - leaf_count(than)
    if fewer or dim is than:
        return fewer < 0
    return (bool(_unknown(dim)), len(str(dim))) < (bool(_unknown(than)), len(str(than)))


def _unknown(dim: Dim) -> set[Var]:
    """The sizes in an expression that only the data decide."""
    return {v for v in variables_of([dim]) if not is_given(v.origin)}


def _rank(part: Expr, factor: int) -> tuple[object, ...]:
    """A sort key under which an atom comes after everything that it contains.

    Of parts that are equally large the one counts whose factor is 1 or -1; of these a minimum or a maximum before a
    floor division, then the one with larger numbers in it. Only then names decide.
    """
    form: tuple[object, ...] = ()
    if isinstance(part, (Extremum, FloorDiv)):
        form = kind_number(part), sorted([x if isinstance(x, int) else x._const for x in part._parts])
    return leaf_count(part), part._height, bool(_unknown(part)), abs(factor) == 1, form, order(part)
