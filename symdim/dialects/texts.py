"""Expressions as texts that JAX, torch and SymPy write and read. `symdim.parse` reads all of them.

| meaning        | symdim      | jax              | torch             | sympy          |
|----------------|-------------|------------------|-------------------|----------------|
| floor division | a//b        | floordiv(a, b)   | FloorDiv(a, b)    | floor((a)/(b)) |
| remainder      | a % b       | mod(a, b)        | PythonMod(a, b)   | Mod(a, b)      |
| maximum        | max(a, b, c)| max(max(a, b), c)| Max(a, b, c)      | Max(a, b, c)   |
| power          | a**2        | a^2              | a**2              | a**2           |

A name that is no identifier stands in backticks, as in symdim's own form; the other readers know no such names.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from symdim.algebra.expr import Add, Expr, FloorDiv, Max, Min, Mod, Mul
from symdim.algebra.texts.display import factors_of, operands_of, summands_of
from symdim.algebra.texts.printing import quoted, told_apart
from symdim.algebra.variable import Var
from symdim.compile import in_order
from symdim.dialects.straight_code import displayed_parts
from symdim.errors import SymdimError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.expr import Dim
    from symdim.algebra.texts.display import Product

Dialect: TypeAlias = Literal["jax", "torch", "sympy"]

_SUM, _PRODUCT, _POWER, _ATOM = range(4)


class _Text(NamedTuple):
    """A text, and how tightly its outermost operator binds."""

    text: str
    level: int

    def within(self, level: int) -> str:
        """The text where operators of this level surround it."""
        return self.text if self.level >= level else f"({self.text})"


def text_in(dim: Dim, dialect: Dialect) -> str:
    """The text of a dimension in another dialect.

    >>> from symdim import Var, maximum
    >>> H, W = Var("H"), Var("W")
    >>> for dialect in "jax", "torch", "sympy":
    ...     print(text_in(maximum(H, W, 3) * ((H + 1) // 2) - W**2 + H % 4, dialect))
    floordiv(H + 1, 2)*max(max(H, W), 3) - W^2 + mod(H, 4)
    FloorDiv(H + 1, 2)*Max(H, W, 3) - W**2 + PythonMod(H, 4)
    floor((H + 1)/2)*Max(H, W, 3) - W**2 + Mod(H, 4)
    """
    if dialect not in _NAMES:
        raise SymdimError(f"no dialect is named {dialect!r}; choose one of {', '.join(map(repr, _NAMES))}")
    if isinstance(dim, (int, Var)):
        return str(dim)
    (dim,) = told_apart((dim,))
    held: dict[Expr, _Text] = {}
    assert isinstance(dim, Expr)
    for node in in_order(dim, held, displayed_parts):
        held[node] = _text_of(node, held, dialect)
    return held[dim].text


_NAMES: dict[Dialect, dict[type[Expr], str]] = {
    "jax": {FloorDiv: "floordiv", Mod: "mod", Max: "max", Min: "min"},
    "torch": {FloorDiv: "FloorDiv", Mod: "PythonMod", Max: "Max", Min: "Min"},
    "sympy": {FloorDiv: "floor", Mod: "Mod", Max: "Max", Min: "Min"},
}


def _text_of(node: Expr, held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    kind = type(node)
    if isinstance(node, Var):
        return _Text(quoted(node.name), _ATOM)
    if kind is Add or kind is Mul:
        return _total(summands_of(node) if kind is Add else [factors_of(node)], held, dialect)
    operands = [_Text(str(x), _ATOM if x >= 0 else _SUM) if isinstance(x, int) else held[x] for x in operands_of(node)]
    return _Text(_call(kind, operands, dialect), _ATOM)


def _call(kind: type[Expr], operands: Sequence[_Text], dialect: Dialect) -> str:
    name = _NAMES[dialect][kind]
    if dialect == "sympy" and kind is FloorDiv:
        numerator, divisor = operands
        return f"{name}({numerator.within(_PRODUCT)}/{divisor.within(_POWER)})"
    texts = [operand.text for operand in operands]
    if dialect == "jax":  # its maxima have two operands
        return reduce(lambda text, operand: f"{name}({text}, {operand})", texts[1:], texts[0])
    return f"{name}({', '.join(texts)})"


def _total(terms: Sequence[Product], held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    text = ""
    for k, powers in terms:
        term = _product(abs(k), powers, held, dialect)
        if len(terms) == 1 and k > 0:
            return term
        sign = ("-" if k < 0 else "") if not text else " - " if k < 0 else " + "
        text += sign + term.within(_PRODUCT)
    return _Text(text, _SUM)


def _product(k: int, powers: Sequence[tuple[Expr, int]], held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    """A product with k >= 1."""
    sign = "^" if dialect == "jax" else "**"
    factors = [
        held[base] if exponent == 1 else _Text(f"{held[base].within(_ATOM)}{sign}{exponent}", _POWER)
        for base, exponent in powers
    ]
    if k != 1 or not factors:
        factors.insert(0, _Text(str(k), _ATOM))
    if len(factors) == 1:
        return factors[0]
    return _Text("*".join([factor.within(_POWER) for factor in factors]), _PRODUCT)
