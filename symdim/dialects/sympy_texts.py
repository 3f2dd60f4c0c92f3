"""The texts that SymPy's printer writes: `str(to_sympy(dim))`, without SymPy.

SymPy keeps quotients exact and multiplies a number into a sum: (N + 1)//2 is `floor(N/2 + 1/2)`. It orders terms and
factors by sort keys. The keys here have the same order: (class, (count, keys of the arguments), exponent, coefficient).
Terms come in lexicographic order of the exponents of their bases, the highest first; `10 - N` is its one exception.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from symdim.algebra.application import Application
from symdim.algebra.caches import shared_cache
from symdim.algebra.expr import Expr
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.display import quoted
from symdim.algebra.texts.printing import disambiguated
from symdim.algebra.texts.tree import Operation, terms_in
from symdim.algebra.variable import Var
from symdim.dialects.straight_code import in_order
from symdim.parser.rational import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.texts.tree import Part, Tree
    from symdim.parser.rational import Value

_DEEP = 40
"""From this height on a key is the text, so that no comparison of keys nests deep."""

_KEPT = 1 << 12
_tables = shared_cache(1)
"""The terms of nodes of earlier texts: a size that is computed step by step is printed after each step.

A text works with one table from its start to its end, whatever other threads do. A new one follows on a large table.
"""


class _Atom(NamedTuple):
    """A factor of a product: a variable, a function, or a sum in parentheses."""

    text: str
    key: Any
    is_remainder: bool = False


_Powers: TypeAlias = tuple[tuple[_Atom, int], ...]
_Terms: TypeAlias = dict[_Powers, Fraction]
_Held: TypeAlias = dict[Expr, _Terms]
_NAMES = {"//": "floor", "%": "Mod", "max": "Max", "min": "Min"}
_CLASSES = {"floor": (4, 10000, "floor"), "Mod": (4, 10000, "Mod"), "Max": (5, 0, "Max"), "Min": (5, 0, "Min")}
_MUL, _ADD, _TEXT = (3, 0, "Mul"), (3, 1, "Add"), (9, 0, "")


def sympy_text(value: Value) -> str:
    """The text of a dimension or a quotient of dimensions."""
    if isinstance(value, (int, Var)):
        return str(value)
    held: _Held | None = _tables.get(_Terms)
    if held is None or len(held) > _KEPT:
        held = _tables[_Terms] = {}
    return _sum_text(_divided(*[_terms(part, held) for part in disambiguated(parts_of(value))]))


def _terms(part: Part, held: _Held) -> _Terms:
    """The terms of a dimension."""
    if isinstance(part, int):
        return {(): Fraction(part)} if part else {}
    if isinstance(part, Operation):
        return _call(part, held)
    if part not in held:
        for node, tree in in_order(part, held):
            held[node] = _terms_of_tree(tree, held)
    return held[part]


def _terms_of_tree(tree: Tree, held: _Held) -> _Terms:
    if isinstance(tree, Var):
        return _of_atom(_Atom(quoted(tree.name), _key((2, 0, "Symbol"), (tree.name,))))
    if isinstance(tree, Operation):
        return _call(tree, held)
    if isinstance(tree, Application):
        return _of_atom(_application(tree, held))
    terms: _Terms = {}
    for coefficient, powers in terms_in(tree):
        factors = [(_terms(base, held), exponent) for base, exponent in powers]
        if len(factors) == 1 and factors[0][1] == 1:  # a number is multiplied into a sum
            _add(terms, factors[0][0], Fraction(coefficient))
        else:
            _add(terms, _product(factors), Fraction(coefficient))
    return terms


def _application(node: Application, held: _Held) -> _Atom:
    """The atom of a function. A root is a power to SymPy."""
    terms = [_terms(part, held) for part in node._parts]
    arguments = list(map(_divided, terms[::2], terms[1::2]))
    name = str(node.function)
    text = f"{name}({', '.join(map(_sum_text, arguments))})"
    if node._height > _DEEP:
        return _Atom(text, _key(_TEXT, (text,)))
    keys = tuple(map(_sum_key, arguments))
    if name != "sqrt":
        return _Atom(text, _key((4, 10000, name), keys))
    return _Atom(text, (*keys[0][:2], _number_key(Fraction(1, 2)), keys[0][3]))


def _add(terms: _Terms, others: _Terms, factor: Fraction) -> None:
    for powers, coefficient in others.items():
        total = terms.pop(powers, 0) + factor * coefficient
        if total:
            terms[powers] = total


def _product(factors: Sequence[tuple[_Terms, int]]) -> _Terms:
    """The product of powers. A factor that is a sum becomes an atom."""
    exponents: dict[_Atom, int] = {}
    coefficient = Fraction(1)
    for terms, exponent in factors:
        ((powers, k),) = terms.items() if len(terms) == 1 else _of_atom(_in_parentheses(terms)).items()
        coefficient *= k**exponent
        for atom, inner in powers:
            exponents[atom] = exponents.get(atom, 0) + inner * exponent
    powers = tuple(sorted(((a, e) for a, e in exponents.items() if e), key=lambda power: _power_key(*power)))
    return {powers: coefficient}


def _divided(numerator: _Terms, denominator: _Terms) -> _Terms:
    """The exact quotient. A number divides each term; any other divisor stands under the whole sum."""
    if set(denominator) == {()}:
        return {powers: k / denominator[()] for powers, k in numerator.items()}
    return _product([(numerator, 1), (denominator, -1)]) if numerator else {}


def _call(operation: Operation, held: _Held) -> _Terms:
    name = _NAMES[operation.operator]
    operands = [_terms(operand, held) for operand in operation.operands]
    whole: _Terms = {}
    if name == "floor":
        quotient = _divided(*operands)
        whole = {powers: k for powers, k in quotient.items() if _is_integer(powers, k)}  # stands beside the floor
        operands = [{powers: k for powers, k in quotient.items() if powers not in whole}]
    elif name == "Mod":
        x, modulus = operation.operands
        operands[0] = _reduced(operands[0], operands[1], x, modulus)
    else:
        operands.sort(key=_sum_key)
    text = f"{name}({', '.join(map(_sum_text, operands))})"
    height = max((x._height for x in operation.operands if isinstance(x, Expr)), default=0)
    key = _key(_TEXT, (text,)) if height > _DEEP else _key(_CLASSES[name], tuple(map(_sum_key, operands)))
    return _of_atom(_Atom(text, key, name == "Mod")) | whole


def _is_integer(powers: _Powers, coefficient: Fraction) -> bool:
    return coefficient.denominator == 1 and all(exponent > 0 for _, exponent in powers)


def _reduced(terms: _Terms, modulus: _Terms, x: Part, m: Part) -> _Terms:
    """What has the same remainder by a number: the coefficient of one term modulo the number.

    It stays where this would be another expression in symdim, because a text is read as the expression that it is of.
    """
    if len(terms) != 1 or set(modulus) != {()}:
        return terms
    ((powers, coefficient),) = terms.items()
    is_left = coefficient.denominator != 1 or (len(powers) == 1 and powers[0][0].is_remainder)
    if is_left:
        return terms
    k, rest = int(coefficient), coefficient % modulus[()]
    is_other = isinstance(x, Expr) and isinstance(m, int) and int(rest) * (x // k) % m is not x % m
    return terms if is_other else {powers: rest}


# -- texts ------------------------------------------------------------------------------------------------------------


def _of_atom(atom: _Atom) -> _Terms:
    return {((atom, 1),): Fraction(1)}


def _in_parentheses(terms: _Terms) -> _Atom:
    return _Atom(f"({_sum_text(terms)})", _sum_key(terms))


def _sum_text(terms: _Terms) -> str:
    text = ""
    for powers, coefficient in _ordered(terms):
        sign = ("-" if coefficient < 0 else "") if not text else " - " if coefficient < 0 else " + "
        text += sign + _term_text(abs(coefficient), powers, coefficient < 0)
    return text or "0"


def _term_text(coefficient: Fraction, powers: _Powers, is_negative: bool) -> str:
    is_alone = coefficient == 1 and len(powers) == 1 and powers[0][1] > 0
    texts = [_power_text(atom, exponent, is_alone or is_negative) for atom, exponent in powers]
    above = [text for text, (_, exponent) in zip(texts, powers, strict=True) if exponent > 0]
    below = [text for text, (_, exponent) in zip(texts, powers, strict=True) if exponent < 0]
    if coefficient.numerator != 1 or not above:
        above.insert(0, str(coefficient.numerator))
    if coefficient.denominator != 1:
        below.insert(0, str(coefficient.denominator))
    divisor = "*".join(below)
    return "*".join(above) + (f"/({divisor})" if len(below) > 1 else f"/{divisor}" if below else "")


def _power_text(atom: _Atom, exponent: int, is_bare: bool) -> str:
    """The power without its sign. `Mod` has parentheses among factors, unless the product is negative."""
    exponent = abs(exponent)
    text = f"({atom.text})" if atom.is_remainder and not (is_bare and exponent == 1) else atom.text
    return text if exponent == 1 else f"{text}**{exponent}"


# -- order ------------------------------------------------------------------------------------------------------------


def _number_key(number: Fraction | int) -> Any:
    return (1, 0, "Number"), (0, ()), (), number


_ONE = _number_key(1)


def _key(kind: tuple[int, int, str], arguments: tuple[Any, ...]) -> Any:
    return kind, (len(arguments), arguments), _ONE, 1


def _power_key(atom: _Atom, exponent: int) -> Any:
    kind, arguments, inner, coefficient = atom.key
    return kind, arguments, _number_key(exponent * inner[3]) if inner else inner, coefficient


def _term_key(powers: _Powers, coefficient: Fraction) -> Any:
    if not powers:
        return _number_key(coefficient)
    keys = tuple([_power_key(*power) for power in powers])
    kind, arguments, exponent, _ = keys[0] if len(keys) == 1 else _key(_MUL, keys)
    return kind, arguments, exponent, coefficient


def _sum_key(terms: _Terms) -> Any:
    keys = tuple([_term_key(*term) for term in _ordered(terms)])
    return keys[0] if len(keys) == 1 else _key(_ADD, keys)


def _ordered(terms: _Terms) -> list[tuple[_Powers, Fraction]]:
    if len(terms) == 2 and terms.get((), 0) > 0:
        ((powers, coefficient),) = [term for term in terms.items() if term[0]]
        if len(powers) == 1 and coefficient < 0 and coefficient != 0:
            return [((), terms[()]), (powers, coefficient)]
    bases = sorted({atom for powers in terms for atom, _ in powers}, key=lambda atom: atom.key)
    places = {atom: place for place, atom in enumerate(bases)}

    def exponents(term: tuple[_Powers, Fraction]) -> list[int]:
        negated = [0] * len(bases)
        for atom, exponent in term[0]:
            negated[places[atom]] = -exponent
        return negated

    return sorted(terms.items(), key=exponents)
