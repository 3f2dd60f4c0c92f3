"""Expressions as flat programs, for `pickle`: each step builds one node from earlier ones, so depth does not matter."""

from __future__ import annotations

from symdim.evaluate import children, postorder
from symdim.expr import Expr, FloorDiv, Mul
from symdim.extremum import maximum_atom
from symdim.floordiv import quotient_atom
from symdim.monomial import powers_of, unit_of
from symdim.polynomial import constant, sum_of
from symdim.variable import Var, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.expr import Dim

    Step = tuple[object, ...]


def program_of(root: Expr) -> list[Step]:
    """The steps that build a node; a step names a dimension by ("int", value) or by the number of an earlier step."""
    nodes = _with_limits(root)
    number = {node: i for i, node in enumerate(nodes)}

    def place(dim: Dim) -> tuple[bool, int]:
        return (True, dim) if isinstance(dim, int) else (False, number[dim])

    steps: list[Step] = []
    for node in nodes:
        if isinstance(node, Var):
            limit = None if node.at_most is None else place(node.at_most)
            scope = node.scope.owner, node.scope.serial
            steps.append(("var", scope, node.name, node.lo, node.hi, limit, node.origin))
        elif node.terms is not None:
            steps.append(("sum", node.const, [(number[unit], k) for unit, k in node.terms.items()]))
        elif isinstance(node, Mul):
            steps.append(("mul", [(number[atom], e) for atom, e in powers_of(node).items()]))
        else:
            kind = "div" if isinstance(node, FloorDiv) else "max"
            steps.append((kind, [place(part) for part in children(node)]))
    return steps


def _with_limits(root: Expr) -> list[Expr]:
    """All nodes below the root in building order, those in upper bounds of variables too."""
    done: dict[Expr, None] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        pending: list[Expr] = []
        for child in postorder(node):
            if isinstance(child, Var) and isinstance(child.at_most, Expr) and child.at_most not in done:
                pending.append(child.at_most)
        if pending:
            stack += pending
        else:
            done.update(dict.fromkeys(postorder(stack.pop())))
    return list(done)


def rebuilt(steps: list[Step]) -> Expr:
    """The node a program builds: the very same one while it is alive in this process."""
    nodes: list[Expr] = []

    def dim(place: tuple[bool, int]) -> Dim:
        is_number, value = place
        return value if is_number else nodes[value]

    for step in steps:
        kind = step[0]
        if kind == "var":
            _, (owner, serial), name, lo, hi, limit, origin = step  # type: ignore[misc]
            at_most = None if limit is None else dim(limit)  # type: ignore[has-type]
            node = scope_of(owner, serial).restored(name, lo, hi, at_most, origin)  # type: ignore[has-type]
        elif kind == "sum":
            _, const, terms = step
            made = sum_of({nodes[i]: k for i, k in terms}, const)  # type: ignore[arg-type, attr-defined]
            node = constant(made) if isinstance(made, int) else made
        elif kind == "mul":
            made = unit_of({nodes[i]: e for i, e in step[1]})  # type: ignore[attr-defined]
            node = made  # type: ignore[assignment]
        else:
            parts = tuple([dim(place) for place in step[1]])  # type: ignore[attr-defined]
            node = quotient_atom(*parts) if kind == "div" else maximum_atom(parts)
        nodes.append(node)
    return nodes[-1]
