"""The printed form of a dimension. It is public and stable: equal dimensions print equally in every process.

    sum      = term (" + " term | " - " term)*         by degree, then names; the constant last, a positive term first
             | term                                    a product of sums, where that has fewer names and numbers
    term     = ["-"] factor ("*" factor)*  |  operand "//" factor  |  operand " % " factor
    factor   = name | number | power | "max(" sum ("," sum)+ ")" | "min(" ... ")" | "(" sum ")"
    power    = factor "**" number

A name that is no dotted identifier stands in backticks inside of an expression; a backtick in it is doubled. A variable
that is the whole expression prints as its name. A text means the same in Python's grammar. If several variables of one
name occur, all except the oldest have a number: `x`, `x#2`. So different variables have different texts.
"""

from __future__ import annotations

import re
from itertools import accumulate, count

from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.expr import Add, Const, Expr, Extremum, FloorDiv, Max, Mod, Mul
from symdim.algebra.order import order
from symdim.algebra.texts.display import factors_of, operands_of, product_of, summands_of
from symdim.algebra.texts.inward import readings
from symdim.algebra.texts.written import Written, leaf_count
from symdim.algebra.variable import Scope, Var, make_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from symdim.algebra.expr import Dim
    from symdim.algebra.texts.display import Product

    Piece: TypeAlias = "str | tuple[Expr, int]"
    Write: TypeAlias = Callable[[Dim, int], Piece]

_TERM, _OPERAND, _FACTOR, _BASE = 1, 2, 3, 4  # the place of a node in its surroundings; _BASE: of a power
_WORD = re.compile(r"\w+|-(?=\S)")
_SHALLOW = 4  # nodes up to this height are printed recursively
_MOST_BITS = 13_280  # of a number that is printed: 4,000 digits can be read again (grammar.py)
_MOST_REBUILT = 1 << 17  # steps to build a dimension in which variables of one name are told apart

MOST_NAMES = 10_000
"""The most names in the text of a dimension, where a number counts one name for each 64 bits."""


def to_text(dim: Dim) -> str:
    """The text of a dimension. One of more than 10,000 names, or with a number of over 4,000 digits, is cut.

    `parse` refuses the cut text, see `brief.py`.

    >>> from symdim import Var, maximum
    >>> H, s = Var("H"), Var("seq len")
    >>> to_text(5 - H), to_text(2 * ((H + 1) // 3)), to_text(s), to_text(maximum(H, 3) * s % 4)
    ('5 - H', '2*((H + 1)//3)', 'seq len', 'max(H, 3)*`seq len` % 4')
    """
    if isinstance(dim, int):
        return _number(dim)
    if dim._text is None:
        if is_too_long(dim):
            return brief.brief(dim)
        dim._text = "".join(pieces_of(dim, _piece))
    return dim._text


def is_too_long(dim: Expr) -> bool:
    """Whether the text of a dimension is cut.

    So is that of one with several variables of one name that is much work to build, because it is built once more.
    """
    if dim.height == 0 and dim.terms is not None and len(dim.terms) < 99 and not dim.const.bit_length() >> 6:
        return any(k.bit_length() > _MOST_BITS for k in dim.terms.values())
    written = Written()
    if written.length(dim) > MOST_NAMES or written.longest_number > _MOST_BITS:
        return True
    return written.work > _MOST_REBUILT and len(dim.free_symbols()) < len(dim.variables())


def beginning_of(dim: Expr) -> Iterator[str]:
    """The text of a dimension piece by piece, without long ones before they are needed."""
    return pieces_of(dim, _piece_of_a_long_text if is_too_long(dim) else _piece)


def pieces_of(dim: Expr, write: Write) -> Iterator[str]:
    """The text of a dimension, where `write` makes the piece of a part."""
    if isinstance(dim, Var):
        yield dim.name
        return
    told = told_apart((dim,))[0] if write is _piece else dim
    stack = _pieces(told, write)[::-1] if isinstance(told, Expr) else [str(told)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            yield piece
        else:
            node, place = piece
            pieces = _pieces(node, write)[::-1]
            stack += pieces if _stands(node, place) else [")", *pieces, "("]


def quoted(name: str) -> str:
    """A name as it is printed inside of an expression.

    >>> quoted("input.1"), quoted("seq len"), quoted("a`b")
    ('input.1', '`seq len`', '`a``b`')
    """
    if name.isidentifier() and name.isascii():
        return name
    head = name[:1]
    if (head.isalpha() or head == "_") and all(c.isalnum() or c in "_." for c in name):
        return name
    return "`" + name.replace("`", "``") + "`"


def listed(dim: Dim) -> str:
    """The text of a dimension in a list. A single name is quoted if needed, so that the list can be read again."""
    return quoted(dim.name) if isinstance(dim, Var) else to_text(dim)


def text_of_list(dims: Sequence[Dim]) -> str:
    """The text of a list of dimensions, in brackets."""
    return f"[{', '.join(map(listed, told_apart(dims)))}]"


def told_apart(dims: Sequence[Dim]) -> Sequence[Dim]:
    """The dimensions as they are printed together: of variables with one name, all except the oldest have a number.

    In a scope, one with the bounds that `Var(name)` has counts as the oldest.

    They stay as they are where one is too long to print.

    >>> x, other = Var("x"), Var.fresh("x")
    >>> x - other, told_apart((other, x, other + 1))
    (x - `x#2`, [x#2, x, `x#2` + 1])
    """
    variables = variables_of(dims)
    names = {variable.name for variable in variables}
    if len(names) == len(variables) or any(isinstance(dim, Expr) and is_too_long(dim) for dim in dims):
        return dims
    renamed: dict[Var, Dim] = {}
    seen: set[str] = set()
    for v in sorted(variables, key=lambda v: (v.scope.serial, (v.lo, v.hi) != (1, None), order(v))):
        if v.name in seen:
            name = next(name for n in count(2) if (name := f"{v.name}#{n}") not in names)
            names.add(name)
            renamed[v] = make_variable(Scope(), name, v.lo, v.hi)
        seen.add(v.name)
    return [substituted(dim, renamed) for dim in dims]


def _piece(dim: Dim, place: int) -> Piece:
    """The text of a node, or the node with its place if it is higher than _SHALLOW; then the caller prints it."""
    if type(dim) is Var:
        return quoted(dim.name)
    if isinstance(dim, int):
        return f"({_number(dim)})" if dim < 0 and place >= _OPERAND else _number(dim)
    if dim.height > _SHALLOW:
        return dim, place
    text = dim._text
    if text is None:  # no variables of one name are in it: they are told apart before
        text = dim._text = "".join(_pieces(dim))  # type: ignore[arg-type]
    return text if _stands(dim, place) or (place < _BASE and _is_call(text)) else f"({text})"


def _piece_of_a_long_text(dim: Dim, place: int) -> Piece:
    """The text of a variable or number, or the node with its place: then the caller may stop before it."""
    return (dim, place) if isinstance(dim, Expr) and not isinstance(dim, Var) else _piece(dim, place)


def _number(k: int) -> str:
    bits = k.bit_length()
    return str(k) if bits <= _MOST_BITS else f"({brief.LEFT_OUT} a number of {bits:,} bits)"


def _stands(node: Expr, place: int) -> bool:
    """Whether a node needs no parentheses in its surroundings."""
    kind = type(node)
    if place == 0 or isinstance(node, Extremum):
        return True
    if kind is Mul:
        coefficient, powers = factors_of(node)
        return (place == _OPERAND and coefficient > 0) or (place == _FACTOR and coefficient == 1 == len(powers))
    return kind is not Add and place <= _TERM


def _pieces(node: Expr, write: Write = _piece) -> list[Piece]:
    """The text of a node, as strings and as nodes that are still to be printed."""
    kind = type(node)
    if kind is Add:
        found = _sum(summands_of(node), write)
        return _shorter(node, found) if write is _piece else found
    if kind is Mul:
        return _product(*factors_of(node), write=write)
    if kind is Const:
        return [_number(node.const)]
    if isinstance(node, Extremum):
        return ["max(" if kind is Max else "min(", *_joined(operands_of(node), write), ")"]
    left, right = operands_of(node)
    return [write(left, _OPERAND), "//" if kind is FloorDiv else " % ", write(right, _FACTOR)]


def _shorter(node: Expr, pieces: list[Piece]) -> list[Piece]:
    """The text of a sum: `pieces`, or another form with fewer names and numbers. A high one may print as a product."""
    ways: list[list[Piece]] = []
    found = product_of(node)
    if found is not None:
        coefficient, powers = found
        ways.append([*(["-"] if coefficient < 0 else []), *_product(abs(coefficient), powers)])
    if node.height > _SHALLOW:
        names = sum(leaf_count(base) * exponent for base, exponent in found[1]) if found is not None else 0
        return ways[0] if found is not None and names < leaf_count(node) else pieces
    if node.height:
        size = leaf_count(node)  # the text of a longer rest may need that of this node
        known = [reading for reading in readings(node) if all(part is not node for part in reading[2])]
        ways += [_inward(*reading) for reading in known if leaf_count(reading[3]) < size]
    words, length = _length_of(pieces)
    least = words, length
    for way in ways:
        short = _length_of(way)
        if short < least and short[0] < words and short[1] < length:
            least, pieces = short, way
    return pieces


def _length_of(pieces: list[Piece]) -> tuple[int, int]:
    """The number of names, numbers and signs in a text, and its length."""
    text = "".join(pieces)  # type: ignore[arg-type]
    return len(_WORD.findall(text)), len(text)


def _inward(k: int, kind: type[Expr], parts: tuple[Dim, ...], rest: Dim) -> list[Piece]:
    """The text of `k*kind(*parts) + rest`."""
    divides = kind is FloorDiv or kind is Mod
    if divides:
        sign = "//" if kind is FloorDiv else " % "
        head: list[Piece] = [_piece(parts[0], _OPERAND), sign, _piece(parts[1], _FACTOR)]
    else:
        head = ["max(" if kind is Max else "min(", *_joined(parts), ")"]
    if abs(k) != 1:
        head = [f"{_number(abs(k))}*(", *head, ")"] if divides else [f"{_number(abs(k))}*", *head]
    if k > 0 and isinstance(rest, int):
        return [*head, f" {'+' if rest > 0 else '-'} {_number(abs(rest))}"] if rest else head
    if rest == 0:
        return ["-(", *head, ")"] if divides and k == -1 else ["-", *head]
    beside = str(_piece(rest, 0))
    if k > 0 and beside.startswith("-"):  # then all its terms are negative
        return [*head, " - ", beside[1:]]
    return [beside, " + " if k > 0 else " - ", *head]


def _is_call(text: str) -> bool:
    """Whether a text is one maximum or minimum."""
    if not text.startswith(("max(", "min(")):
        return False
    opened = list(accumulate([(c == "(") - (c == ")") for c in text[3:]]))
    return 0 not in opened[:-1]


def _joined(dims: Sequence[Dim], write: Write = _piece) -> list[Piece]:
    pieces = [piece for dim in dims for piece in (write(dim, 0), ", ")]
    return pieces[:-1]


def _sum(summands: list[Product], write: Write) -> list[Piece]:
    pieces: list[Piece] = []
    for coefficient, powers in summands:
        if pieces:
            pieces.append(" + " if coefficient > 0 else " - ")
            pieces += _product(abs(coefficient), powers, write=write)
        elif coefficient > 0:
            pieces = _product(coefficient, powers, write=write)
        else:
            pieces = ["-", *_product(-coefficient, powers, negated=True, write=write)]
    return pieces


def _product(
    coefficient: int, powers: list[tuple[Expr, int]], *, negated: bool = False, write: Write = _piece
) -> list[Piece]:
    if not powers:
        return [_number(coefficient)]
    pieces: list[Piece] = [] if coefficient == 1 else ["-" if coefficient == -1 else f"{_number(coefficient)}*"]
    place = _TERM if len(powers) == 1 and not pieces and not negated else _FACTOR
    for base, exponent in powers:
        pieces.append(write(base, place if exponent == 1 else _BASE))
        pieces.append("*" if exponent == 1 else f"**{exponent}*")
    last = powers[-1][1]
    if last == 1:
        del pieces[-1]
    else:
        pieces[-1] = f"**{last}"
    return pieces


from symdim.algebra.texts import brief  # noqa: E402  (it prints the beginning of a text)
