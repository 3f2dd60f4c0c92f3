"""The printed form of a dimension. It is public and stable: equal dimensions print equally in every process.

    sum      = term (" + " term | " - " term)*         by degree, then names; the constant last, a positive term first
    term     = ["-"] factor ("*" factor)*  |  operand "//" factor  |  operand " % " factor
    factor   = name | number | power | "max(" sum ("," sum)+ ")" | "min(" ... ")" | "(" sum ")"
    power    = factor "**" number

A name inside an expression that is no dotted identifier stands in backticks, and a backtick in it is doubled. A
variable on its own prints as its name, whatever that is. Everything printed means the same in Python's grammar.
"""

from __future__ import annotations

from symdim.expr import Add, Const, Expr, FloorDiv, Max, Min, Mul
from symdim.tree import factors_of, operands_of, summands_of
from symdim.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from symdim.expr import Dim
    from symdim.tree import Product

    Piece: TypeAlias = "str | tuple[Dim, int]"

_TERM, _OPERAND, _FACTOR, _BASE = 1, 2, 3, 4  # what a node stands for in its surroundings; _BASE: of a power


def to_text(dim: Dim) -> str:
    """The text of a dimension.

    >>> from symdim import Var, maximum
    >>> H, s = Var("H"), Var("seq len")
    >>> to_text(5 - H), to_text(2 * ((H + 1) // 3)), to_text(s), to_text(maximum(H, 3) * s % 4)
    ('5 - H', '2*((H + 1)//3)', 'seq len', 'max(H, 3)*`seq len` % 4')
    """
    if isinstance(dim, int):
        return str(dim)
    if isinstance(dim, Var):
        return dim.name
    out: list[str] = []
    stack = _pieces(dim, 0)[::-1]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
        else:
            node, place = piece
            stack += _pieces(node, place)[::-1]
    return "".join(out)


def quoted(name: str) -> str:
    """A name as it stands inside an expression.

    >>> quoted("input.1"), quoted("seq len"), quoted("a`b")
    ('input.1', '`seq len`', '`a``b`')
    """
    if name.isidentifier() and name.isascii():
        return name
    head = name[:1]
    if (head.isalpha() or head == "_") and all(c.isalnum() or c in "_." for c in name):
        return name
    return "`" + name.replace("`", "``") + "`"


def _pieces(node: Dim, place: int) -> list[Piece]:
    """The text of a node as strings and nodes still to print, in parentheses where its surroundings need them."""
    pieces: list[Piece]
    if isinstance(node, Var):
        return [quoted(node.name)]
    if isinstance(node, Const):
        node = node.value
    if isinstance(node, int):
        return [f"({node})" if node < 0 and place >= _OPERAND else str(node)]
    if isinstance(node, (Max, Min)):
        pieces = ["max(" if isinstance(node, Max) else "min("]
        for arg in operands_of(node):
            pieces += [(arg, 0), ", "]
        pieces[-1] = ")"
        return pieces
    if isinstance(node, Mul):
        coefficient, powers = factors_of(node)
        pieces = _product(coefficient, powers)
        is_power = coefficient == 1 == len(powers)
        free = place <= _TERM or (place == _OPERAND and coefficient > 0) or (place == _FACTOR and is_power)
    elif isinstance(node, Add):
        pieces = _sum(summands_of(node))
        free = place == 0
    else:
        left, right = operands_of(node)
        pieces = [(left, _OPERAND), "//" if isinstance(node, FloorDiv) else " % ", (right, _FACTOR)]
        free = place <= _TERM
    return pieces if free else ["(", *pieces, ")"]


def _sum(summands: list[Product]) -> list[Piece]:
    pieces: list[Piece] = []
    for coefficient, powers in summands:
        leading_minus = not pieces and coefficient < 0
        if leading_minus:
            pieces.append("-")
        elif pieces:
            pieces.append(" + " if coefficient > 0 else " - ")
        pieces += _product(abs(coefficient), powers, leading_minus)
    return pieces


def _product(coefficient: int, powers: list[tuple[Expr, int]], negated: bool = False) -> list[Piece]:
    if not powers:
        return [str(coefficient)]
    pieces: list[Piece] = []
    if coefficient == -1:
        pieces.append("-")
    elif coefficient != 1:
        pieces += [str(coefficient), "*"]
    alone = len(powers) == 1 and coefficient == 1 and not negated
    for base, exponent in powers:
        if exponent == 1:
            pieces.append(quoted(base.name) if isinstance(base, Var) else (base, _TERM if alone else _FACTOR))
        else:
            pieces += [(base, _BASE), f"**{exponent}"]
        pieces.append("*")
    pieces.pop()
    return pieces
