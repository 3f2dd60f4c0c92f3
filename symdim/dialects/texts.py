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

from symdim.algebra.application import Application
from symdim.algebra.expr import Expr
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.display import quoted
from symdim.algebra.texts.printing import disambiguated
from symdim.algebra.texts.tree import Operation, terms_in
from symdim.algebra.variable import Var
from symdim.dialects.straight_code import in_order
from symdim.dialects.sympy_texts import sympy_text
from symdim.errors import SymdimError
from symdim.parser.rational import Rational

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.texts.tree import Operator, Part, Power, Product, Tree
    from symdim.parser.rational import Value

Dialect: TypeAlias = Literal["jax", "torch", "sympy"]

_SUM, _PRODUCT, _POWER, _ATOM = range(4)


class _Text(NamedTuple):
    """A text, and how tightly its outermost operator binds."""

    text: str
    level: int

    def within(self, level: int) -> str:
        """The text where operators of this level surround it."""
        return self.text if self.level >= level else f"({self.text})"


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
    held: dict[Expr, _Text] = {}
    assert isinstance(dim, Expr)
    for node, tree in in_order(dim, held):
        held[node] = _text_of(tree, held, dialect)
    return held[dim].text


_NAMES: dict[Dialect, dict[Operator, str]] = {
    "jax": {"//": "floordiv", "%": "mod", "max": "max", "min": "min"},
    "torch": {"//": "FloorDiv", "%": "PythonMod", "max": "Max", "min": "Min"},
}


def _text_of(tree: Tree, held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    if isinstance(tree, Var):
        return _Text(quoted(tree.name), _ATOM)
    if isinstance(tree, int):
        return _Text(str(tree), _ATOM if tree >= 0 else _SUM)
    if isinstance(tree, Application):
        return _application(tree, held, dialect)
    return _call(tree, held, dialect) if isinstance(tree, Operation) else _total(terms_in(tree), held, dialect)


def _part(part: Part, held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    return held[part] if isinstance(part, Expr) else _text_of(part, held, dialect)


def _application(tree: Application, held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    texts: list[str] = []
    for n, d in zip(tree._parts[::2], tree._parts[1::2], strict=True):
        above, below = [_part(part, held, dialect) for part in (n, d)]
        texts.append(above.text if d == 1 else f"{above.within(_PRODUCT)}/{below.within(_POWER)}")
    return _Text(f"{tree.function}({', '.join(texts)})", _ATOM)


def _call(operation: Operation, held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    name = _NAMES[dialect][operation.operator]
    texts = [_part(operand, held, dialect).text for operand in operation.operands]
    if dialect == "jax":  # its maxima have two operands
        text = reduce(lambda left, right: f"{name}({left}, {right})", texts[1:], texts[0])
    else:
        text = f"{name}({', '.join(texts)})"
    return _Text(text, _ATOM)


def _total(terms: Sequence[Product], held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    text = ""
    for k, powers in terms:
        term = _product(abs(k), powers, held, dialect)
        if len(terms) == 1 and k > 0:
            return term
        sign = ("-" if k < 0 else "") if not text else " - " if k < 0 else " + "
        text += sign + term.within(_PRODUCT)
    return _Text(text, _SUM)


def _product(k: int, powers: Sequence[Power], held: dict[Expr, _Text], dialect: Dialect) -> _Text:
    """A product with k >= 1."""
    sign = "^" if dialect == "jax" else "**"
    factors = [
        part if exponent == 1 else _Text(f"{part.within(_ATOM)}{sign}{exponent}", _POWER)
        for part, exponent in [(_part(base, held, dialect), exponent) for base, exponent in powers]
    ]
    if k != 1 or not factors:
        factors.insert(0, _Text(str(k), _ATOM))
    if len(factors) == 1:
        return factors[0]
    return _Text("*".join([factor.within(_POWER) for factor in factors]), _PRODUCT)
