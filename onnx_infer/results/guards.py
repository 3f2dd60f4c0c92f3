"""Guards: conditions that a run needs, from the statements of the operators. They can be checked at given sizes.

`guards_of` writes them as a person would: solved for a symbol (`symdim.conditions`), without repetitions and without
implied ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.results.assumed import resting
from onnx_infer.results.sources import without_computed
from symdim import UnboundName, Var
from symdim.conditions.condition import Condition
from symdim.conditions.solving import solve

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping

    from onnx_infer.engine.engine import Engine
    from onnx_infer.laws.statements import Kind
    from onnx_infer.model.graph import Node
    from onnx_infer.values.tensor import Dim
    from symdim.conditions.condition import Relation

    Bindings = Mapping[str | Var, int]


class NodeName(NamedTuple):
    """A node: its operator, and its name, or its first output if it has no name."""

    operator: str
    node: str

    def __str__(self) -> str:
        return f"{self.operator} '{self.node}'"


class Guard(NamedTuple):
    """A condition (`symdim.conditions`), the law that demands it, and the nodes that state it.

    `kind` is "required" if the model does not run otherwise; "assumed" if the model may run otherwise, but with other
    sizes than inferred; "declared" if only the author of the model says it. A `conditional` guard is from a node after
    a node with an assumption; it is required if all assumptions hold. An assumed guard is required if its `volume` is
    not 0, which is the number of elements of tensors that may be empty. The text is a Python condition over the sizes.
    """

    relation: Relation
    lhs: Dim
    rhs: Dim
    law: str
    origins: tuple[NodeName, ...] = ()
    kind: Kind = "required"
    conditional: bool = False
    volume: Dim = 0

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

    @property
    def condition(self) -> Condition:
        """The condition alone."""
        return Condition(self.relation, self.lhs, self.rhs)

    def __str__(self) -> str:
        return str(self.condition)

    def variables(self) -> tuple[Var, ...]:
        """The symbols in the condition, in the order of their first occurrence."""
        return self.condition.variables()

    def is_bound(self, bindings: Bindings) -> bool:
        """Whether every symbol in it has a size."""
        return all(v in bindings or v.name in bindings for v in self.variables())

    def is_required(self, bindings: Bindings) -> bool:
        """Whether the model needs it at these sizes, provided that all earlier assumptions hold."""
        volume = Condition("at_least", self.volume, 1)
        bound = all(v in bindings or v.name in bindings for v in volume.variables())
        return self.kind == "required" or self.conditional or (bound and volume.holds(bindings))

    def violation(self, bindings: Bindings) -> Violation | None:
        """Its violation at these sizes, or None if it holds.

        Raises UnboundName for symbols without a size. Raises BoundsError for sizes outside the bounds of a symbol,
        because inference says nothing about them.
        """
        if missing := tuple(v.name for v in self.variables() if v not in bindings and v.name not in bindings):
            raise UnboundName(missing)
        if self.condition.holds(bindings):
            return None
        lhs, rhs = self.condition.sides(bindings) or (None, None)
        return Violation(self, lhs, rhs, self.kind)


class Violation(NamedTuple):
    """A guard that fails, with the values of its two sides; None if a divisor in them is 0.

    If its `kind` is "required", the model does not run at these sizes; otherwise it may run.
    """

    guard: Guard
    lhs: int | None
    rhs: int | None
    kind: Kind = "required"

    def __str__(self) -> str:
        """
        >>> guard = Guard("equal", Var("K"), Var("M"), "inner sizes of the product", (NodeName("MatMul", "scores"),))
        >>> print(guard.violation({"K": 3, "M": 4}))
        MatMul 'scores': inner sizes of the product: K == M fails for 3 and 4
        """
        head = f"{self.guard.origins[0]}: " if self.guard.origins else ""
        how = "fails, a divisor is 0" if self.lhs is None else f"fails for {self.lhs} and {self.rhs}"
        kind = "" if self.kind == "required" else f" ({self.kind})"
        return f"{head}{self.guard.law}: {self.guard} {how}{kind}"


def violations(guards: Iterable[Guard], bindings: Bindings) -> list[Violation]:
    """The guards that fail at these sizes. All their symbols must have one.

    The first failing assumption may be required at these sizes. Later guards rest on it, so they keep their own kind.
    """
    found = [violation for guard in guards if (violation := guard.violation(bindings)) is not None]
    for i, (guard, lhs, rhs, kind) in enumerate(found):
        if kind == "assumed" and guard.is_required(bindings):
            found[i] = Violation(guard, lhs, rhs, "required")
        elif kind == "assumed":
            break
    return found


# -- from statements to guards --------------------------------------------------------------------------------------


def guards_of(engine: Engine) -> list[Guard]:
    """The statements of an inference as guards, in the order of the nodes, without those that bounds prove."""
    assumed = {i for i, statement in enumerate(engine.statements) if statement.kind == "assumed"}
    while True:
        stated = _stated(engine, assumed)
        guards = _simplified(guard for statement in dict.fromkeys(stated) for guard in _solved(statement))
        required = [guard for guard in guards if guard.kind == "required"]
        doubtful = {i for i in assumed if _open(stated[i], required) and not _is_certain(stated[i], required)}
        if doubtful == assumed:
            return guards
        assumed = doubtful  # the others hold in every run


def _simplified(solved: Iterable[Guard]) -> list[Guard]:
    """Guards in plain form, without those that others imply."""
    guards = _combined(solved)
    guards = _combined(simpler for guard in guards for simpler in _under_bounds(guard, guards))
    return [guard for guard in guards if not _is_implied(guard, guards)]


def _open(guard: Guard, required: list[Guard]) -> list[Guard]:
    """The part of a guard that does not follow from the required ones."""
    found = [simpler for plain in _solved(guard) for simpler in _under_bounds(plain, required)]
    return [guard for guard in found if not _is_implied(guard, required)]


def _is_certain(guard: Guard, required: list[Guard]) -> bool:
    """Whether the required guards imply that the tensors which may be empty are not empty."""
    filled = Guard("at_least", guard.volume, 1, guard.law, kind="required")
    return guard.volume != 0 and not _open(filled, required)


def _stated(engine: Engine, assumed: Collection[int]) -> list[Guard]:
    """The statements as guards, one by one. Statements that rest on the `assumed` ones are at most assumed.

    A statement of the kind "assumed" that is not in `assumed` has turned out to be required.
    """
    conditional = resting(engine, assumed)

    def settled(size: Dim) -> Dim:
        return without_computed(engine.fresh_sizes.resolve(size))

    found: list[Guard] = []
    sizes: dict[Dim, Dim] = {}
    for i, (statement, node) in enumerate(zip(engine.statements, engine.statement_nodes, strict=True)):
        relation, lhs, rhs, law, kind, volume = statement
        assert relation != "undecided"
        if kind == "assumed" and i not in assumed:
            kind, volume = "required", 0
        for size in (lhs, rhs, volume):
            if size not in sizes:
                sizes[size] = settled(size)
        is_conditional = i in conditional and kind == "required"
        kind = "assumed" if is_conditional else kind
        origins = (_origin(node),)
        found.append(Guard(relation, sizes[lhs], sizes[rhs], law, origins, kind, is_conditional, sizes[volume]))
    return found


def _origin(node: Node) -> NodeName:
    op_type, domain, _, outputs, _, handle = node
    return NodeName(f"{domain}::{op_type}" if domain else op_type, handle.name or next(iter(outputs), ""))


def _solved(guard: Guard) -> list[Guard]:
    """The guard in plain form. A guard that never holds stays unchanged."""
    found = solve(guard.condition)
    return [guard] if found is None else _with(guard, found)


def _with(guard: Guard, conditions: Iterable[Condition]) -> list[Guard]:
    return [guard._replace(relation=relation, lhs=lhs, rhs=rhs) for relation, lhs, rhs in conditions]


def _strength(guard: Guard) -> int:
    """A guard may be simplified, or left out, only because of guards that are at least as strong."""
    if guard.kind == "assumed":
        return 1 if guard.conditional else 2 if guard.volume != 0 else 3
    return 0 if guard.kind == "declared" else 4


def _combined(guards: Iterable[Guard]) -> list[Guard]:
    """Equivalent guards merged into one with the nodes of all, the strongest first."""
    found: dict[Hashable, Guard] = {}
    for guard in guards:
        key = _key(guard)
        if key not in found:
            found[key] = guard
            continue
        first, second = sorted((found[key], guard), key=_strength, reverse=True)
        found[key] = first._replace(origins=tuple(dict.fromkeys([*first.origins, *second.origins])))
    return list(found.values())


def _key(guard: Guard) -> tuple[Hashable, ...]:
    """A key that equivalent guards share: `M == N` and `N == M` have the same."""
    relation, lhs, rhs = guard.condition
    if relation in ("divides", "broadcast_to"):
        return relation, lhs, rhs
    if relation == "broadcast":
        return relation, frozenset((lhs, rhs))
    gap = lhs - rhs
    if relation == "equal":
        return relation, frozenset((gap, -gap))
    return "at_least", gap if relation == "at_least" else -gap


# -- implied guards -------------------------------------------------------------------------------------------------


def _under_bounds(guard: Guard, guards: list[Guard]) -> list[Guard]:
    """The guard, simplified within the bounds that others demand of its symbols; an empty list if these imply it."""
    if _bound_of(guard) is not None:
        return [guard]
    narrow: dict[Var, Dim] = {}
    for variable in guard.variables():
        low, high = _demanded(variable, guard, guards)
        if (low, high) != (variable.lo, variable.hi) and low is not None and (high is None or low <= high):
            narrow[variable] = low if low == high else Var.fresh(variable.name, low, high)
    found = solve(guard.condition.substitute(narrow)) if narrow else None
    if found is None:
        return [guard]
    original = {new: old for old, new in narrow.items() if isinstance(new, Var)}
    simpler = [condition.substitute(original) for condition in found]
    return _with(guard, simpler) if len("; ".join(map(str, simpler))) < len(str(guard)) else [guard]


def _demanded(variable: Var, weak: Guard, guards: Iterable[Guard]) -> tuple[int | None, int | None]:
    """The bounds of a variable that follow from guards which are at least as strong as `weak`."""
    low, high = variable.lo, variable.hi
    for guard in guards:
        if guard.lhs is variable and _strength(guard) >= _strength(weak):
            least, most = _bound_of(guard) or (None, None)
            low = least if low is None or (least is not None and least > low) else low
            high = most if high is None or (most is not None and most < high) else high
    return low, high


def _bound_of(guard: Guard) -> tuple[int | None, int | None] | None:
    """The interval that a guard gives to the variable on its left; None for other guards."""
    relation, lhs, rhs = guard.condition
    if not isinstance(lhs, Var) or not isinstance(rhs, int) or relation not in ("equal", "at_least", "at_most"):
        return None
    return None if relation == "at_most" else rhs, None if relation == "at_least" else rhs


def _is_implied(guard: Guard, guards: Iterable[Guard]) -> bool:
    """Whether a guard that is at least as strong says more: equality of sizes that broadcast, or a tighter bound."""
    others = [g for g in guards if g is not guard and _strength(g) >= _strength(guard)]
    if guard.relation == "broadcast":
        equality = _key(guard._replace(relation="equal"))
        return any(g.relation == "equal" and _key(g) == equality for g in others)
    bound = _bound_of(guard)
    if bound is None or guard.relation == "equal":
        return False
    low, high = bound
    for other in others:
        least, most = (_bound_of(other) if other.lhs is guard.lhs else None) or (None, None)
        if low is not None and least is not None and least >= low:
            return True
        if high is not None and most is not None and most <= high:
            return True
    return False
