"""Shapes as one Python function of the variables' sizes, for use at run time (memory planners, kernels)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

from symdim.errors import SymdimError, UnboundName
from symdim.evaluate import postorder
from symdim.expr import Expr, FloorDiv, Max
from symdim.monomial import powers_of
from symdim.shape import Shape
from symdim.variable import Var

_OPERANDS = 32


@overload
def compile_shape(shapes: Shape, args: Sequence[str | Var]) -> Callable[..., tuple[int, ...]]: ...
@overload
def compile_shape(shapes: Iterable[Shape], args: Sequence[str | Var]) -> Callable[..., tuple[tuple[int, ...], ...]]: ...
def compile_shape(
    shapes: Shape | Iterable[Shape], args: Sequence[str | Var]
) -> Callable[..., tuple[int, ...] | tuple[tuple[int, ...], ...]]:
    """A function from the sizes of the variables `args`, by position, to the tuple(s) of sizes of the shape(s).

    Every expression is computed once, however many sizes it occurs in. Nothing is checked at run time: sizes
    outside the variables' bounds give what the expressions give there, a divisor of 0 a ZeroDivisionError.
    Raises UnboundName for variables that are not among `args`.

    >>> compile_shape(Shape(["N", "(N + 1)//2"]), ["N"])(7)
    (7, 4)
    """
    rows = [shapes] if isinstance(shapes, Shape) else list(shapes)
    if len(set(args)) < len(args):
        raise SymdimError(f"an argument is given twice: {', '.join(map(str, args))}")
    places = {arg: f"a{index}" for index, arg in enumerate(args)}
    variables = dict.fromkeys(variable for row in rows for variable in row.variables())
    if missing := tuple(v.name for v in variables if v not in places and v.name not in places):
        raise UnboundName(missing)
    # Only numbers and the generated names a0, t0, ... enter the source: running it is safe whatever the
    # variables are called.
    held: dict[Expr, str] = {v: places.get(v) or places[v.name] for v in variables}
    statements = [line for row in rows for dim in row if isinstance(dim, Expr) for line in _statements(dim, held)]
    results = [_tuple(_operand(dim, held) for dim in row) for row in rows]
    statements.append("return " + (results[0] if isinstance(shapes, Shape) else _tuple(results)))
    namespace: dict[str, Callable[..., tuple[int, ...]]] = {"max": max}
    exec("\n ".join([f"def sizes({', '.join(places.values())}):", *statements]), namespace)
    return namespace["sizes"]


def _statements(root: Expr, held: dict[Expr, str]) -> Iterator[str]:
    """Assignments that compute an expression, children first; `held` gets the name of each node's value.

    A statement has at most `_OPERANDS` operands, for Python's compiler recurses on the operators of an expression.
    """
    for node in postorder(root):
        if node in held:
            continue
        if node.terms is not None:
            operator = "+"
            operands = [_product(k, held[unit]) for unit, k in node.terms.items()]
            if node.const:
                operands.append(_literal(node.const))
        elif isinstance(node, FloorDiv):
            operator = "//"
            operands = [_operand(part, held) for part in node.parts]
        elif isinstance(node, Max):
            operator = ""
            operands = [f"max({', '.join(_operand(part, held) for part in node.parts)})"]
        else:
            operator = "*"
            operands = [held[x] if n == 1 else f"{held[x]}**{_literal(n)}" for x, n in powers_of(node).items()]
        name = held[node] = f"t{len(held)}"
        for first in range(0, len(operands), _OPERANDS):
            chunk = operands[first : first + _OPERANDS]
            yield f"{name} {operator if first else ''}= {operator.join(chunk)}"


def _operand(dim: int | Expr, held: dict[Expr, str]) -> str:
    return held[dim] if isinstance(dim, Expr) else _literal(dim)


def _tuple(items: Iterable[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


def _product(k: int, name: str) -> str:
    return name if k == 1 else f"{_literal(k)}*{name}"


def _literal(value: int) -> str:
    """In parentheses when negative; in hexadecimal, which Python reads at any length."""
    return f"{value:#x}" if value >= 0 else f"({value:#x})"
