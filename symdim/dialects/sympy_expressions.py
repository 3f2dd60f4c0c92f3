"""Dimensions as SymPy's expressions, both ways. SymPy is imported only when one of the functions is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symdim.algebra.evaluate import parts_first
from symdim.algebra.expr import Expr
from symdim.algebra.texts.printing import disambiguated
from symdim.algebra.variable import Var
from symdim.dialects.functions import MEANINGS
from symdim.dialects.trees import written
from symdim.errors import SymdimError
from symdim.parser.functions import FUNCTIONS, function
from symdim.parser.rational import Rational, Value, divide, exact_integer, power, product_of, sum_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symdim.algebra.expr import Dim


def to_sympy(dim: Value) -> Any:
    """The SymPy expression of a dimension, or of a quotient of dimensions.

    Symbols are integers with the signs that the bounds of the variables give.

    `(H + 1)//2` is `floor(H/2 + 1/2)`. Raises ImportError without SymPy.
    """
    import sympy

    if isinstance(dim, int):
        return sympy.Integer(dim)
    if isinstance(dim, Rational):
        return to_sympy(dim.numerator) / to_sympy(dim.denominator)
    (dim,) = disambiguated((dim,))
    assert isinstance(dim, Expr)
    names = ("Add", "Mul", "Pow", "Mod", "Max", "Min", "ceiling", "floor", "sqrt")
    classes = {name: getattr(sympy, name) for name in names}

    def leaf(number: int | Var) -> Any:
        if isinstance(number, int):
            return sympy.Integer(number)
        low = number.lo
        signs = {"positive": True} if low is not None and low > 0 else {"nonnegative": True} if low == 0 else {}
        return sympy.Symbol(number.name, integer=True, **signs)

    def call(domain: str, name: str, arguments: list[Any]) -> Any:
        if not domain and name in ("FloorDiv", "Div"):
            quotient = arguments[0] / arguments[1]
            return sympy.floor(quotient) if name == "FloorDiv" else quotient
        full = f"{domain}.{name}" if domain else name
        return (classes.get(full) or sympy.Function(full))(*arguments)

    return written(dim, leaf, call)


def from_sympy(expression: Any, names: Mapping[str, Var] | None = None) -> Dim:
    """The dimension of a SymPy expression; symbols become the variables of their names, sizes of at least 1.

    `names` gives other variables for names. Functions are those that `parse` reads, of SymPy or of torch: `floor`,
    `ceiling`, `Mod`, `Max`, `FloorDiv`, `PythonMod`, ... An undefined function is `symdim.function` of its name. Raises
    SymdimError for other functions, and for an expression that need not be an integer.
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
    meaning = FUNCTIONS.get(name.lower()) or MEANINGS.get(name.lower())
    if meaning is None and type(type(node)).__name__ == "UndefinedFunction":
        domain, _, word = name.rpartition(".")
        return function(word, domain)(*arguments)
    if meaning is None or not meaning.fewest <= len(arguments) <= (meaning.most or len(arguments)):
        raise SymdimError(f"{node}: {name} has no exact meaning on integers")
    return (meaning.apply or divide)(*arguments)
