"""Dimensions as SymPy's expressions, both ways. SymPy is imported only when one of the functions is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symdim.algebra.evaluate import parts_first
from symdim.algebra.expr import Add, Expr, FloorDiv, Max, Min, Mod, Mul
from symdim.algebra.texts.display import factors_of, operands_of, summands_of
from symdim.algebra.texts.printing import told_apart
from symdim.algebra.variable import Var
from symdim.compile import in_order
from symdim.dialects.straight_code import displayed_parts
from symdim.errors import SymdimError
from symdim.parser.functions import FUNCTIONS
from symdim.parser.rational import Value, divide, exact_integer, power, product_of, sum_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symdim.algebra.expr import Dim


def to_sympy(dim: Dim) -> Any:
    """The SymPy expression of a dimension. Symbols are integers with the signs that the bounds of the variables give.

    `(H + 1)//2` is `floor(H/2 + 1/2)`. Raises ImportError without SymPy.
    """
    import sympy

    if isinstance(dim, int):
        return sympy.Integer(dim)
    (dim,) = told_apart((dim,))
    assert isinstance(dim, Expr)
    held: dict[Expr, Any] = {}

    def product(k: int, powers: Sequence[tuple[Expr, int]]) -> Any:
        return sympy.Mul(k, *[sympy.Pow(held[base], exponent) for base, exponent in powers])

    for node in in_order(dim, held, displayed_parts):
        kind = type(node)
        if isinstance(node, Var):
            low = node.lo
            signs = {"positive": True} if low is not None and low > 0 else {"nonnegative": True} if low == 0 else {}
            held[node] = sympy.Symbol(node.name, integer=True, **signs)
        elif kind is Mul:
            held[node] = product(*factors_of(node))
        elif kind is Add:
            held[node] = sympy.Add(*[product(*term) for term in summands_of(node)])
        else:
            operands = [sympy.Integer(x) if isinstance(x, int) else held[x] for x in operands_of(node)]
            operations = {Mod: sympy.Mod, Max: sympy.Max, Min: sympy.Min}
            held[node] = sympy.floor(operands[0] / operands[1]) if kind is FloorDiv else operations[kind](*operands)
    return held[dim]


def from_sympy(expression: Any, names: Mapping[str, Var] | None = None) -> Dim:
    """The dimension of a SymPy expression; symbols become the variables of their names, sizes of at least 1.

    `names` gives other variables for names. Functions are those that `parse` reads, of SymPy or of torch: `floor`,
    `ceiling`, `Mod`, `Max`, `FloorDiv`, `PythonMod`, ... Raises SymdimError for other functions, and for an expression
    that need not be an integer.
    """
    given = names or {}
    held: dict[Any, Value] = {}
    for node, parts in parts_first(expression, held, lambda node: list(getattr(node, "args", ()))):
        held[node] = _value(node, [held[part] for part in parts], given)
    return exact_integer(held[expression])


def _value(node: Any, arguments: Sequence[Value], names: Mapping[str, Var]) -> Value:
    if getattr(node, "is_Symbol", False):
        return names[node.name] if node.name in names else Var(node.name)
    if isinstance(node, int) or getattr(node, "is_Rational", False):
        return divide(int(getattr(node, "p", node)), int(getattr(node, "q", 1)))
    name = type(node).__name__
    if name == "Add":
        return sum_of(list(arguments))
    if name == "Mul":
        return product_of(list(arguments))
    if name == "Pow":
        base, exponent = arguments
        if isinstance(exponent, int) and exponent < 0:
            return divide(1, power(base, -exponent))
        return power(base, exponent)
    function = FUNCTIONS.get(name.lower())
    if function is None or not function.fewest <= len(arguments) <= (function.most or len(arguments)):
        raise SymdimError(f"{node}: {name} has no exact meaning on integers")
    return function.apply(*arguments)
