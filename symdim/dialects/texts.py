"""Expressions as texts that JAX, torch and SymPy write and read. `symdim.parse` reads all of them.

| meaning        | symdim      | jax              | torch             | sympy          |
|----------------|-------------|------------------|-------------------|----------------|
| floor division | a//b        | floordiv(a, b)   | FloorDiv(a, b)    | floor(a/b)     |
| remainder      | a % b       | mod(a, b)        | PythonMod(a, b)   | Mod(a, b)      |
| maximum        | max(a, b, c)| max(max(a, b), c)| Max(a, b, c)      | Max(a, b, c)   |
| power          | a**2        | a^2              | a**2              | a**2           |

A name that is no identifier stands in backticks, as in symdim's own form; the other readers know no such names. They
read other functions only as far as they have one of that name.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Literal, TypeAlias

from symdim.algebra.expr import Expr
from symdim.algebra.texts.display import piece, pieces_of_tree, stands
from symdim.algebra.texts.printing import disambiguated
from symdim.algebra.texts.tree import Operation
from symdim.algebra.variable import Var
from symdim.dialects.straight_code import in_order
from symdim.dialects.sympy_texts import sympy_text
from symdim.errors import SymdimError
from symdim.parser.rational import Rational

if TYPE_CHECKING:
    from symdim.algebra.texts.display import Piece
    from symdim.algebra.texts.tree import Operator, Part, Tree
    from symdim.parser.rational import Value

Dialect: TypeAlias = Literal["jax", "torch", "sympy"]


def text_in(dim: Value, dialect: Dialect) -> str:
    """The text of a dimension in another dialect. In SymPy's it is `str(to_sympy(dim))`, also for a quotient.

    >>> from symdim import Var, maximum
    >>> H, W = Var("H"), Var("W")
    >>> for dialect in "jax", "torch", "sympy":
    ...     print(text_in(maximum(H, W, 3) * ((H + 1) // 2) - W**2 + H % 4, dialect))
    floordiv(H + 1, 2)*max(max(H, W), 3) - W^2 + mod(H, 4)
    FloorDiv(H + 1, 2)*Max(H, W, 3) - W**2 + PythonMod(H, 4)
    -W**2 + Mod(H, 4) + floor(H/2 + 1/2)*Max(3, H, W)
    """
    if dialect != "sympy" and dialect not in _NAMES:
        raise SymdimError(f"no dialect is named {dialect!r}; choose one of 'jax', 'torch', 'sympy'")
    if isinstance(dim, (int, Var)):
        return str(dim)
    if dialect == "sympy":
        return sympy_text(dim)
    if isinstance(dim, Rational):
        raise SymdimError(f"the dialect {dialect!r} has no exact quotients")
    (dim,) = disambiguated((dim,))
    held: dict[Expr, tuple[Tree, str]] = {}

    def write(part: Part, place: int) -> Piece:
        if isinstance(part, int):
            return piece(part, place)
        tree, text = held[part] if isinstance(part, Expr) else (part, text_of(part))
        return text if isinstance(tree, Operation) or stands(tree, place) else f"({text})"

    def text_of(tree: Tree) -> str:
        if not isinstance(tree, Operation):
            return "".join([_power(part, dialect) for part in pieces_of_tree(tree, write)])
        name = _NAMES[dialect][tree.operator]
        operands = [str(write(operand, 0)) for operand in tree.operands]
        if dialect == "jax":  # its maxima have two operands
            return reduce(lambda left, right: f"{name}({left}, {right})", operands)
        return f"{name}({', '.join(operands)})"

    assert isinstance(dim, Expr)
    for node, tree in in_order(dim, held):
        held[node] = tree, text_of(tree)
    return held[dim][1]


def _power(part: Piece, dialect: Dialect) -> str:
    """A piece of a text. One that begins with the sign of a power is an exponent."""
    text = str(part)
    return f"^{text[2:]}" if dialect == "jax" and text.startswith("**") else text


_NAMES: dict[Dialect, dict[Operator, str]] = {
    "jax": {"//": "floordiv", "%": "mod", "max": "max", "min": "min"},
    "torch": {"//": "FloorDiv", "%": "PythonMod", "max": "Max", "min": "Min"},
}
