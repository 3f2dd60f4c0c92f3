"""The shortest tree of an expression, which a reader sees, and trees as texts. The grammar is in `printing.py`."""

from __future__ import annotations

import re

from symdim.algebra.application import Application
from symdim.algebra.caches import remembered
from symdim.algebra.expr import Expr, Extremum
from symdim.algebra.texts.factoring import factored
from symdim.algebra.texts.push_down import pushed_down, rounded_outside
from symdim.algebra.texts.tree import Operation, Product, Sum, factors_of, plain_tree, terms_in, value_of
from symdim.algebra.texts.written import leaf_count
from symdim.algebra.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from symdim.algebra.texts.tree import Part, Tree

    Piece: TypeAlias = "str | tuple[Expr, int]"
    Write: TypeAlias = Callable[[Part, int], Piece]

_TERM, _OPERAND, _FACTOR, _BASE = 1, 2, 3, 4  # the place of a part in its surroundings; _BASE: of a power
_WORD = re.compile(r"\w+|-(?=\S)")
_SHALLOW = 4  # the trees of nodes up to this height are compared by their texts, which are made recursively
_KEPT = 1 << 12

LEFT_OUT = "..."
"""Stands for what is left out of a text."""
MOST_BITS = 13_280
"""The most bits of a number that is printed: its 4,000 digits can be read again (grammar.py)."""


def tree_of(node: Expr) -> Tree:
    """The tree with the fewest names, numbers and signs in its text; the stored form, if others are no shorter.

    >>> from symdim import Var, minimum
    >>> N, x = Var("N"), Var("x")
    >>> tree_of(x % 4)
    Operation(operator='%', operands=(x, 4))
    >>> tree_of(2 * N * x**2 - 1)
    Sum(terms=(Product(coefficient=2, powers=((N, 1), (x, 2))), Product(coefficient=-1, powers=())))
    >>> tree_of(minimum(N, x + 3) - x)
    Operation(operator='min', operands=(N - x, 3))
    """
    return _shown(node)[0]


@remembered(_KEPT)
def _shown(node: Expr) -> tuple[Tree, str | None]:
    """The tree, and its text if that was made to compare it with others."""
    if isinstance(node, Extremum):
        rounded = rounded_outside(node)
        if rounded is not None:
            return rounded, None
    best = plain_tree(node)
    if not isinstance(best, Sum):
        return best, None
    factors = factored(node)
    if node._height > _SHALLOW:  # a text would be much work
        if factors is None:
            return best, None
        product = _product(factors)
        names = sum([leaf_count(value_of(base)) * exponent for base, exponent in product.powers])
        return (product if names < leaf_count(node) else best), None
    others: list[Tree] = [] if factors is None else [_product(factors)]
    if node._height:
        size = leaf_count(node)  # the tree of a longer rest may need that of this node
        forms = [form for form in pushed_down(node) if all(part is not node for part in form[2].operands)]
        others += [_beside(*form) for form in forms if leaf_count(form[3]) < size]
    if not others:
        return best, None
    text = _text_of_tree(best)
    words, length = least = _length_of(text)
    for tree in others:
        other = _text_of_tree(tree)
        short = _length_of(other)
        if short < least and short[0] < words and short[1] < length:
            least, best, text = short, tree, other
    return best, text


def _product(factors: tuple[int, Expr | None, list[Expr]]) -> Product:
    coefficient, monomial, sums = factors
    return Product(coefficient, (*factors_of(monomial), *[(factor, 1) for factor in sums]))


def _beside(k: int, factor: Expr | None, operation: Operation, rest: int | Expr) -> Tree:
    """`k*factor*operation + rest`; the operation comes first if it is added to a number or to a negative sum."""
    term = Product(k, (*factors_of(factor), (operation, 1)))
    if rest == 0:
        return operation if k == 1 and factor is None else term
    others = terms_in(rest if isinstance(rest, int) else tree_of(rest))
    first = k > 0 and (isinstance(rest, int) or others[0].coefficient < 0)
    return Sum((term, *others) if first else (*others, term))


def _length_of(text: str) -> tuple[int, int]:
    """The number of names, numbers and signs in a text, and its length."""
    return len(_WORD.findall(text)), len(text)


@remembered(_KEPT)
def _text_of(node: Expr) -> str:
    """The text of a shallow node, in which variables of one name look alike."""
    tree, text = _shown(node)
    return _text_of_tree(tree) if text is None else text


def _text_of_tree(tree: Tree) -> str:
    return "".join(pieces_of_tree(tree, piece))  # type: ignore[arg-type]


def piece(part: Part, place: int) -> Piece:
    """The text of a part, or a node with its place if it is higher than _SHALLOW; then the caller prints it."""
    if isinstance(part, int):
        return f"({number_text(part)})" if part < 0 and place >= _OPERAND else number_text(part)
    if isinstance(part, Var):
        return quoted(part.name)
    if isinstance(part, Operation):
        text, tree = _text_of_tree(part), part
    elif part._height > _SHALLOW:
        return part, place
    else:
        text, tree = _text_of(part), tree_of(part)  # type: ignore[assignment]
    return text if stands(tree, place) else f"({text})"


def stands(tree: Tree, place: int) -> bool:
    """Whether a tree needs no parentheses in its surroundings."""
    if place == 0 or isinstance(tree, (Var, int, Application)):
        return True
    if isinstance(tree, Operation):
        return place <= _TERM or tree.operator == "max" or tree.operator == "min"
    if isinstance(tree, Product):
        is_power = tree.coefficient == 1 == len(tree.powers)
        return (place == _OPERAND and tree.coefficient > 0) or (place == _FACTOR and is_power)
    return False


def pieces_of_tree(tree: Tree, write: Write) -> list[Piece]:
    """The text of a tree, as strings and as nodes that are still to be printed."""
    if isinstance(tree, Sum):
        return _sum(tree.terms, write)
    if isinstance(tree, Operation):
        return _operation(tree, write)
    if isinstance(tree, Application):
        return _application(tree, write)
    if isinstance(tree, Product):
        return _sum((tree,), write) if tree.coefficient < 0 else _factors(tree, write)
    return [quoted(tree.name) if isinstance(tree, Var) else number_text(tree)]


def _operation(tree: Operation, write: Write) -> list[Piece]:
    if tree.operator == "//" or tree.operator == "%":
        left, right = tree.operands
        return [write(left, _OPERAND), "//" if tree.operator == "//" else " % ", write(right, _FACTOR)]
    pieces = [piece for dim in tree.operands for piece in (write(dim, 0), ", ")]
    return [f"{tree.operator}(", *pieces[:-1], ")"]


def _application(tree: Application, write: Write) -> list[Piece]:
    """A function with its arguments; an exact quotient has a `/`."""
    pieces: list[Piece] = [f"{tree.function}("]
    for n, d in zip(tree._parts[::2], tree._parts[1::2], strict=True):
        pieces += [write(n, 0), ", "] if d == 1 else [write(n, _OPERAND), "/", write(d, _FACTOR), ", "]
    return [*pieces[:-1], ")"]


def _sum(terms: Iterable[Product], write: Write) -> list[Piece]:
    pieces: list[Piece] = []
    for coefficient, powers in terms:
        if pieces:
            pieces.append(" + " if coefficient > 0 else " - ")
        elif coefficient < 0:
            pieces.append("-")
        is_negated = len(pieces) == 1
        pieces += _factors(Product(abs(coefficient), powers), write, is_negated)
    return pieces


def _factors(product: Product, write: Write, is_negated: bool = False) -> list[Piece]:
    """The text of a product with a coefficient >= 1."""
    coefficient, powers = product
    if not powers:
        return [number_text(coefficient)]
    pieces: list[Piece] = [] if coefficient == 1 else [f"{number_text(coefficient)}*"]
    place = _TERM if len(powers) == 1 and not pieces and not is_negated else _FACTOR
    for base, exponent in powers:
        pieces.append(write(base, place if exponent == 1 else _BASE))
        pieces.append("*" if exponent == 1 else f"**{exponent}*")
    pieces[-1] = str(pieces[-1])[:-1]
    return pieces


def number_text(k: int) -> str:
    """A number; of a very long one the size."""
    bits = k.bit_length()
    return str(k) if bits <= MOST_BITS else f"({LEFT_OUT} a number of {bits:,} bits)"


def quoted(name: str) -> str:
    """A name as it is printed inside of an expression.

    >>> quoted("input.1"), quoted("seq len"), quoted("a`b")
    ('input.1', '`seq len`', '`a``b`')
    """
    if name.isidentifier() and name.isascii():
        return name
    if name and name[0] != "." and not name[0].isdecimal() and all(c.isalnum() or c in "_." for c in name):
        return name
    return "`" + name.replace("`", "``") + "`"
