"""Guards: conditions that a run needs, from the statements of the operators. They can be checked at given sizes.

`derived_guards.py` makes them of the statements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import ArgumentError
from symdim import UnboundName, Var
from symdim.algebra.evaluate import has_open_function
from symdim.algebra.named_tuple import NamedTuple
from symdim.errors import printable
from symdim.relations.relation import OPPOSITES, SIGNS, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.laws.statements import Kind
    from onnx_infer.model.contract import Condition, Names
    from onnx_infer.values.tensor import Dim, Shape
    from symdim.relations.relation import RelationKind

    Bindings = Mapping[str | Var, int]


class NodeName(NamedTuple):
    """A node: its operator, and its name, or its first output if it has no name."""

    operator: str
    node: str

    def __str__(self) -> str:
        return printable(f"{self.operator} '{self.node}'")


class Guard(NamedTuple):
    """A condition (`symdim.relations`), the law that demands it, and the nodes that state it.

    `kind` is "required" if the model does not run otherwise; "assumed" if the model may run otherwise, but with other
    sizes than inferred; "declared" if only the author of the model says it. A `conditional` guard is from a node after
    a node with an assumption; it is required if all assumptions hold. An assumed guard is required if no size of one
    of the shapes `filled` is 0. The text is a Python condition over the sizes.
    """

    condition: Relation
    law: str
    origins: tuple[NodeName, ...] = ()
    kind: Kind = "required"
    conditional: bool = False
    filled: tuple[Shape, ...] = ()

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
    def relation(self) -> RelationKind:
        """The kind of its relation of two sizes; see `symdim.relations`."""
        return self.condition.kind

    @property
    def lhs(self) -> Dim:
        """The left size of the condition."""
        return self.condition.left

    @property
    def rhs(self) -> Dim:
        """The right size of the condition."""
        return self.condition.right

    def __repr__(self) -> str:
        node = f", {self.origins[0]}" if self.origins else ""
        return f"<Guard {self}, {self.kind}{node}: {printable(self.law)}>"

    def __str__(self) -> str:
        return printable(str(self.condition))

    def variables(self) -> tuple[Var, ...]:
        """The symbols in the condition, in the order of their first occurrence."""
        return self.condition.variables()

    def is_bound(self, bindings: Bindings) -> bool:
        """Whether every symbol in it has a size, and every function in it known values."""
        sides = self.condition.left, self.condition.right
        return all(v in bindings or v.name in bindings for v in self.variables()) and not has_open_function(sides)

    def is_required(self, bindings: Bindings) -> bool:
        """Whether the model needs it at these sizes, provided that all earlier assumptions hold."""
        if self.kind == "required" or self.conditional:
            return True
        demands = [[Relation("at_least", size, 1) for size in sizes] for sizes in self.filled]
        return any(all(demand.holds(bindings) for demand in of_tensor) for of_tensor in demands)

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
        >>> condition = Relation("equal", Var("K"), Var("M"))
        >>> guard = Guard(condition, "inner sizes of the product", (NodeName("MatMul", "scores"),))
        >>> print(guard.violation({"K": 3, "M": 4}))
        MatMul 'scores': inner sizes of the product: K == M is violated (3 != 4)
        """
        head = f"{self.guard.origins[0]}: " if self.guard.origins else ""
        how = "has no value: a divisor is 0" if self.lhs is None else f"is violated ({self._values()})"
        kind = "" if self.kind == "required" else f" ({self.kind})"
        law = f"{self.guard.law}: " if self.guard.law else ""
        return f"{head}{printable(law)}{self.guard} {how}{kind}"

    def _values(self) -> str:
        """How the two sides break the condition."""
        relation = self.guard.relation
        if relation == "divides":
            return f"{self.rhs} % {self.lhs} != 0"
        if relation in OPPOSITES and self.lhs == self.lhs and self.rhs == self.rhs:  # NaN has no order
            return f"{self.lhs} {SIGNS[OPPOSITES[relation]]} {self.rhs}"
        return f"{self.lhs} and {self.rhs}"


def guard_of(condition: Condition, names: Names) -> Guard:
    """The guard of a condition in a file, over variables of these names. Raises `SymdimError` if it is not readable."""
    origins = tuple([NodeName(*node) for node in condition.nodes])
    filled = tuple([tuple(map(names.read, shape)) for shape in condition.filled])
    return Guard(condition.read(names), condition.law, origins, condition.kind, condition.conditional, filled)


def violations(guards: Iterable[Guard], bindings: Bindings) -> list[Violation]:
    """The guards that fail at these sizes. All their symbols must have one.

    The first failing assumption may be required at these sizes, and so may others of its node. Later guards rest on it,
    so they keep their own kind.
    """
    failing = [violation for guard in guards if (violation := guard.violation(bindings)) is not None]
    doubtful: Guard | None = None
    for i, (guard, lhs, rhs, kind) in enumerate(failing):
        if kind != "assumed" or (doubtful and not set(doubtful.origins[:1]).intersection(guard.origins)):
            continue
        if guard.is_required(bindings):
            failing[i] = Violation(guard, lhs, rhs, "required")
        else:
            doubtful = doubtful or guard
    return failing


def refuse_failing(guards: Iterable[Guard], bindings: Bindings, option: str, exact: bool = False) -> None:
    """Raise ArgumentError if a required guard fails, of those whose sizes are all given: the model does not run.

    If it must be `exact`, the same for an assumed guard: tensors may have other sizes than inferred.
    """
    for violation in violations([guard for guard in guards if guard.is_bound(bindings)], bindings):
        if violation.kind == "required":
            raise ArgumentError(f"{option}: the model does not run at these sizes: {violation}")
        if violation.kind == "assumed" and exact:
            raise ArgumentError(f"{option}: tensors may have other sizes than inferred: {violation}")
