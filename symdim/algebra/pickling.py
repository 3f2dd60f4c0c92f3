"""Expressions as flat programs, for `pickle`. Each step builds a node from earlier ones, so nothing recurses.

Variables are pickled as objects of their own, so that many expressions share them. The upper bound of a variable may
contain other variables, whose bounds contain others. A program lists all of these, in building order, before it needs
them: so `pickle` has met each variable before it meets a bound that contains it, and does not recurse either.
"""

from __future__ import annotations

from functools import partial

from symdim.algebra.application import Application
from symdim.algebra.constructors.applications import application_atom
from symdim.algebra.constructors.arithmetic import sum_of
from symdim.algebra.constructors.extrema import extremum_atom
from symdim.algebra.constructors.floordiv import quotient_atom
from symdim.algebra.evaluate import children, postorder
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max, Min, Mul
from symdim.algebra.polynomials import powers_of, unit_of
from symdim.algebra.variable import Var, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    from symdim.algebra.application import Function
    from symdim.algebra.expr import Dim

    Place = tuple[bool, int]  # (True, a number) or (False, the index of an earlier step)
    Step = tuple[Any, ...]


def program_of(root: Expr) -> tuple[list[Var], list[Step]]:
    """The variables below a node, and the steps that build it from them.

    Each step is of the form (kind, *arguments of its builder below). The variables count as the first steps.
    """
    variables = [v for v in limits_first(root) if v is not root]
    known = set(variables)
    nodes = [node for node in postorder(root) if node not in known]
    number = {node: i for i, node in enumerate((*variables, *nodes))}

    def place(dim: Dim) -> Place:
        return (True, dim) if isinstance(dim, int) else (False, number[dim])

    steps: list[Step] = []
    for node in nodes:
        if isinstance(node, Var):
            scope = node.scope.owner, node.scope.serial
            steps.append(("var", scope, node.name, node.lo, node.hi, node.at_most, node.origin))
        elif node._terms is not None:
            steps.append(("sum", node._const, [(number[monomial], k) for monomial, k in node._terms.items()]))
        elif isinstance(node, Mul):
            steps.append(("mul", [(number[atom], e) for atom, e in powers_of(node).items()]))
        elif isinstance(node, Application):
            steps.append(("apply", node.function, *[place(part) for part in node._parts]))
        else:
            kind = "div" if isinstance(node, FloorDiv) else "max" if isinstance(node, Max) else "min"
            steps.append((kind, *[place(part) for part in children(node)]))
    return variables, steps


def limits_first(root: Expr, known: Container[object] = ()) -> list[Var]:
    """The variables in an expression and in upper bounds of them, each after those in its own bound.

    Those in `known` are left out, and what is only in their bounds.
    """
    done: dict[Var, None] = {}
    stack = [v for v in root.variables() if v not in known]
    while stack:
        pending = [v for v in _direct(stack[-1]) if v not in done and v not in known]
        if pending:
            stack += pending
        else:
            done[stack.pop()] = None
    return list(done)


def _direct(variable: Var) -> tuple[Var, ...]:
    """The variables in the upper bound of a variable."""
    return variable.at_most.variables() if isinstance(variable.at_most, Expr) else ()


def rebuilt(variables: list[Var], steps: list[Step]) -> Expr:
    """The node that a program builds. If that node is alive in this process, it is the same object."""
    nodes: list[Expr] = list(variables)
    for step in steps:
        nodes.append(_BUILDERS[step[0]](nodes, *step[1:]))
    return nodes[-1]


def _dim(nodes: list[Expr], place: Place) -> Dim:
    is_number, value = place
    return value if is_number else nodes[value]


def _var(
    nodes: list[Expr],
    scope: tuple[int | str, int],
    name: str,
    lo: int | None,
    hi: int | None,
    at_most: Dim | None,
    origin: object,
) -> Expr:
    return scope_of(*scope).restored(name, lo, hi, at_most, origin)


def _sum(nodes: list[Expr], const: int, terms: list[tuple[int, int]]) -> Expr:
    made = sum_of({nodes[i]: k for i, k in terms}, const)
    assert isinstance(made, Expr)
    return made


def _mul(nodes: list[Expr], powers: list[tuple[int, int]]) -> Expr:
    made = unit_of({nodes[i]: exponent for i, exponent in powers})
    assert made is not None
    return made


def _div(nodes: list[Expr], numerator: Place, divisor: Place) -> Expr:
    return quotient_atom(_dim(nodes, numerator), _dim(nodes, divisor))


def _extremum(kind: type[Extremum], nodes: list[Expr], *parts: Place) -> Expr:
    return extremum_atom(kind, tuple([_dim(nodes, place) for place in parts]))


def _apply(nodes: list[Expr], function: Function, *parts: Place) -> Expr:
    return application_atom(function, tuple([_dim(nodes, place) for place in parts]))


_BUILDERS: dict[str, Callable[..., Expr]] = {
    "var": _var,
    "sum": _sum,
    "mul": _mul,
    "div": _div,
    "max": partial(_extremum, Max),
    "min": partial(_extremum, Min),
    "apply": _apply,
}
