"""What must hold for the model to run: the facts that its operators state, each with its nodes, checked at sizes."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import Fact
from onnx_infer.results.sources import without_computed
from symdim import DivisionByZero, Expr, UnboundName

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from onnx_infer.engine.engine import Engine
    from onnx_infer.model.graph import Node
    from onnx_infer.values.tensor import Dim
    from symdim import Var

    Bindings = Mapping[str | Var, int]


class Origin(NamedTuple):
    """A node that states a fact: its operator, and its name, or its first output where it has none."""

    operator: str
    node: str

    def __str__(self) -> str:
        return f"{self.operator} '{self.node}'"


class Guard(NamedTuple):
    """A fact without which some nodes do not run; `kind`, `lhs`, `rhs` and `law` are those of a `Fact`.

    The text is a Python condition over the sizes.
    """

    kind: str
    lhs: Dim
    rhs: Dim
    law: str
    origins: tuple[Origin, ...] = ()

    @property
    def operator(self) -> str:
        """The operator of the first node that states it."""
        return self.origins[0].operator if self.origins else ""

    @property
    def node(self) -> str:
        """The first node that states it."""
        return self.origins[0].node if self.origins else ""

    @property
    def text(self) -> str:
        """The condition."""
        return str(self)

    def __str__(self) -> str:
        return str(Fact(self.kind, self.lhs, self.rhs, self.law))

    def variables(self) -> tuple[Var, ...]:
        """The symbols of the condition, in the order of their first occurrence."""
        found = (v for side in (self.lhs, self.rhs) if isinstance(side, Expr) for v in side.variables())
        return tuple(dict.fromkeys(found))

    def is_bound(self, bindings: Bindings) -> bool:
        """Whether every symbol of it has a size."""
        return all(v in bindings or v.name in bindings for v in self.variables())

    def violation(self, bindings: Bindings) -> Violation | None:
        """How it fails at these sizes, None where it holds.

        Raises UnboundName for symbols without a size, BoundsError for sizes outside the bounds of a symbol: of these
        inference says nothing.
        """
        if missing := tuple(v.name for v in self.variables() if v not in bindings and v.name not in bindings):
            raise UnboundName(missing)
        try:
            lhs, rhs = _value(self.lhs, bindings), _value(self.rhs, bindings)
        except DivisionByZero:
            return Violation(self, None, None)
        return None if _HOLDS[self.kind](lhs, rhs) else Violation(self, lhs, rhs)


class Violation(NamedTuple):
    """A guard that fails, with the values of its two sides; None where a divisor in them is 0."""

    guard: Guard
    lhs: int | None
    rhs: int | None

    def __str__(self) -> str:
        """
        >>> from symdim import Var
        >>> guard = Guard("equal", Var("K"), Var("M"), "inner sizes of the product", (Origin("MatMul", "scores"),))
        >>> print(guard.violation({"K": 3, "M": 4}))
        MatMul 'scores': inner sizes of the product: K == M fails for 3 and 4
        """
        head = f"{self.guard.origins[0]}: " if self.guard.origins else ""
        how = "fails, a divisor is 0" if self.lhs is None else f"fails for {self.lhs} and {self.rhs}"
        return f"{head}{self.guard.law}: {self.guard} {how}"


_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "equal": lambda a, b: a == b,
    "at_least": lambda a, b: a >= b,
    "divides": lambda a, b: a != 0 and b % a == 0,
    "broadcast": lambda a, b: a == b or 1 in (a, b),
    "broadcast_to": lambda a, b: a in (b, 1),
}


def _value(side: Dim, bindings: Bindings) -> int:
    return side if isinstance(side, int) else side.to_int(bindings)


def guards_of(engine: Engine) -> list[Guard]:
    """The facts of an inference as guards, in the order of the nodes.

    Those that the bounds of the symbols prove are left out, equal ones are one guard with several origins.
    """

    def settled(size: Dim) -> Dim:
        return without_computed(engine.solution.resolve(size))

    found: dict[Hashable, Guard] = {}
    for fact, node in zip(engine.facts, engine.fact_nodes, strict=True):
        guard = _plain(Guard(fact.kind, settled(fact.lhs), settled(fact.rhs), fact.law))
        if _is_trivial(guard):
            continue
        key = _key(guard)
        known = found.get(key, guard)
        origin = _origin(node)
        found[key] = known if origin in known.origins else known._replace(origins=(*known.origins, origin))
    equalities = {key[1:] for key in found if isinstance(key, tuple) and key[0] == "equal"}
    implied = {
        key for key, g in found.items() if g.kind == "broadcast" and _key(g._replace(kind="equal"))[1:] in equalities
    }
    return [guard for key, guard in found.items() if key not in implied]


def violations(guards: Iterable[Guard], bindings: Bindings) -> list[Violation]:
    """The guards that fail at these sizes of all their symbols."""
    failed = (guard.violation(bindings) for guard in guards)
    return [violation for violation in failed if violation is not None]


def _origin(node: Node) -> Origin:
    op_type, domain, _, outputs, _, handle = node
    return Origin(f"{domain}::{op_type}" if domain else op_type, handle.name or next(iter(outputs), ""))


def _plain(guard: Guard) -> Guard:
    """The guard as it reads best: `N == 5` for `5 == N`, `H >= 4` for `H + 1 >= 5`, `N % 2 == 0` for `3*N % 6 == 0`.

    Sizes that broadcast, of which the bounds say that neither is 1, are equal.
    """
    kind, lhs, rhs = guard.kind, guard.lhs, guard.rhs
    if kind == "broadcast" and at_least(lhs, 2) and at_least(rhs, 2):
        kind = "equal"
    if kind in ("equal", "broadcast") and isinstance(lhs, int):
        lhs, rhs = rhs, lhs
    if kind in ("equal", "at_least") and isinstance(rhs, int) and isinstance(lhs, Expr):
        offset = lhs.const
        lhs, rhs = lhs - offset, rhs - offset
    if kind == "divides" and isinstance(lhs, int) and isinstance(rhs, Expr):
        shared = gcd(lhs, _content(rhs)) or 1
        lhs, rhs = lhs // shared, rhs // shared
    return guard._replace(kind=kind, lhs=lhs, rhs=rhs)


def _content(size: Dim) -> int:
    """The greatest common divisor of the coefficients."""
    return size if isinstance(size, int) else gcd(*(size.terms or {size: 1}).values(), size.const)


def _is_trivial(guard: Guard) -> bool:
    kind, lhs, rhs = guard.kind, guard.lhs, guard.rhs
    if kind == "equal":
        return lhs == rhs
    if kind == "at_least":
        return at_least(lhs - rhs, 0)
    if kind == "divides":
        return at_least(lhs, 1) and rhs % lhs == 0
    return lhs == rhs or lhs == 1 or (rhs == 1 and kind == "broadcast")


def _key(guard: Guard) -> tuple[Hashable, ...]:
    """What equal guards have in common: `2*N == 2*M` is `N == M`, and `M == N` too."""
    kind, lhs, rhs = guard.kind, guard.lhs, guard.rhs
    if kind in ("divides", "broadcast_to"):
        return kind, lhs, rhs
    gap = lhs - rhs
    if kind == "at_least":
        return kind, gap
    if kind == "equal":
        reduced = gap // max(_content(gap), 1)
        return kind, frozenset((reduced, -reduced))
    return kind, frozenset((lhs, rhs))
