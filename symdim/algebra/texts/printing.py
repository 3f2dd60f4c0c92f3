"""The printed form of a dimension. It is public and stable: equal dimensions print equally in every process.

    sum      = term (" + " term | " - " term)*         by degree, then names; the constant last, a positive term first
             | term                                    a product of sums, where that has fewer names and numbers
    term     = ["-"] factor ("*" factor)*  |  operand "//" factor  |  operand " % " factor
    factor   = name | number | power | "max(" sum ("," sum)+ ")" | "min(" ... ")" | "(" sum ")"
             | function "(" argument ("," argument)* ")"     argument = sum | operand "/" factor, which is exact
    power    = factor "**" number

A name that is no dotted identifier stands in backticks inside of an expression; a backtick in it is doubled. A variable
that is the whole expression prints as its name. A text means the same in Python's grammar. If several variables of one
name occur, all except the oldest have a number: `x`, `x#2`. So different variables have different texts.

A long text is cut: `repr`, messages, guards and facts show the beginning of a long dimension, so they never take long.
A text that is cut has `...` in it, and `parse` refuses it.
"""

from __future__ import annotations

import re
from itertools import count

from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.expr import Expr
from symdim.algebra.order import order
from symdim.algebra.texts.display import (
    LEFT_OUT,
    MOST_BITS,
    number_text,
    piece,
    pieces_of_tree,
    quoted,
    stands,
    tree_of,
)
from symdim.algebra.texts.tree import plain_tree
from symdim.algebra.texts.written import Written
from symdim.algebra.variable import Scope, Var, make_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symdim.algebra.expr import Dim
    from symdim.algebra.texts.display import Piece
    from symdim.algebra.texts.tree import Part

MOST_NAMES = 10_000
"""The most names in the text of a dimension, where a number counts one name for each 64 bits."""
MOST_CHARACTERS = 200
"""The most characters of a text in a message."""
_BETWEEN = 50  # the most characters that tell how much is left out before an ending
_MOST_REBUILT = 1 << 17  # steps to build a dimension in which variables of one name are told apart
_MOST_COUNTED = 10**9  # of larger numbers the length is told

_NAME = re.compile(r"`(?:[^`]|``)*`?|[^\W\d][\w.]*(?![\w.(])")
_PART_OF_A_WORD = re.compile(r"(?<=\W)[\w.]+\Z")


def to_text(dim: Dim) -> str:
    """The text of a dimension. One of more than 10,000 names, or with a number of over 4,000 digits, is cut.

    >>> from symdim import Var, maximum
    >>> H, s = Var("H"), Var("seq len")
    >>> to_text(5 - H), to_text(2 * ((H + 1) // 3)), to_text(s), to_text(maximum(H, 3) * s % 4)
    ('5 - H', '2*((H + 1)//3)', 'seq len', 'max(H, 3)*`seq len` % 4')
    """
    if isinstance(dim, int):
        return number_text(dim)
    if dim._text is None:
        if is_too_long(dim):
            return brief(dim)
        dim._text = "".join(_pieces(dim))
    return dim._text


def brief(dim: Dim, most: int = MOST_CHARACTERS) -> str:
    """The text of a dimension; of a long one the beginning, and how many names are left out.

    >>> from symdim import Var, total
    >>> brief(Var("N") // 2), brief(total(Var(f"length_{i}") for i in range(1000)), 30)
    ('N//2', 'length_0 + length_1 + ... (998 more names)')
    """
    if not isinstance(dim, Expr):
        return to_text(dim) if abs(dim) < 10**most else shortened(to_text(dim), most)
    if dim._text is not None and len(dim._text) <= most:
        return dim._text
    text = ""
    for part in _pieces(dim, whole=not is_too_long(dim)):
        text += part
        if len(text) > most:
            break
    else:
        return text
    shown = _PART_OF_A_WORD.sub("", text[:most])
    rest = Written().length(dim) - len(_NAME.findall(shown))
    if rest < 1:  # one long name or number
        return shortened(text, most)
    return f"{shown}{LEFT_OUT} ({_counted(rest)} more name{'s' if rest > 1 else ''})"


def _counted(number: int) -> str:
    """A number of things; of a very large one the size."""
    return f"{number:,}" if number <= _MOST_COUNTED else f"more than 2**{number.bit_length() - 1}"


def shortened(text: str, most: int = MOST_CHARACTERS, ending: int = 0) -> str:
    """A text, or its beginning, how many characters are left out, and its last `ending` ones.

    With an ending the result has at most `most` characters in all.

    >>> shortened("a" * 9, 9), shortened("b" * 1020, 10), shortened("c" * 100 + "d" * 900, 60, ending=4)
    ('aaaaaaaaa', 'bbbbbbbbbb... (1,010 more characters)', 'cccccc... (990 more characters) ...dddd')
    """
    if len(text) <= most:
        return text
    start = max(most - ending - _BETWEEN, 0) if ending else most
    rest = len(text) - start - ending
    end = f" {LEFT_OUT}{text[-ending:]}" if ending else ""
    return f"{text[:start]}{LEFT_OUT} ({rest:,} more character{'s' if rest > 1 else ''}){end}"


def is_too_long(dim: Expr) -> bool:
    """Whether the text of a dimension is cut.

    So is that of one with several variables of one name that is much work to build, because it is built once more.
    """
    if dim._height == 0 and dim._terms is not None and len(dim._terms) < 99 and not dim._const.bit_length() >> 6:
        return any(k.bit_length() > MOST_BITS for k in dim._terms.values())
    if dim._terms is not None and len(dim._terms) > MOST_NAMES:
        return True
    written = Written()
    if written.length(dim) > MOST_NAMES or written.longest_number > MOST_BITS:
        return True
    return written.work > _MOST_REBUILT and len(dim.free_symbols()) < len(dim.variables())


def _pieces(dim: Expr, whole: bool = True) -> Iterator[str]:
    """The text of a dimension piece by piece. If it will not be used as a whole, no part is printed before its turn."""
    if isinstance(dim, Var):
        yield dim.name
        return
    write, shown = (piece, tree_of) if whole else (_later, plain_tree)
    (told,) = disambiguated((dim,)) if whole else (dim,)
    stack = [write(told, 0)]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            yield part
        else:
            node, place = part
            tree = shown(node)
            pieces = pieces_of_tree(tree, write)[::-1]
            stack += pieces if stands(tree, place) else [")", *pieces, "("]


def _later(part: Part, place: int) -> Piece:
    """The text of a variable or number, or the node with its place: then the caller may stop before it."""
    return (part, place) if isinstance(part, Expr) and not isinstance(part, Var) else piece(part, place)


def disambiguated(dims: Sequence[Dim]) -> Sequence[Dim]:
    """The dimensions as they are printed together: of variables with one name, all except the oldest have a number.

    In a scope, one with the bounds that `Var(name)` has counts as the oldest. They stay as they are where one is too
    long to print.

    >>> x, other = Var("x"), Var.fresh("x")
    >>> x - other, disambiguated((other, x, other + 1))
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


def listed(dim: Dim) -> str:
    """The text of a dimension in a list. A single name is quoted if needed, so that the list can be read again."""
    return quoted(dim.name) if isinstance(dim, Var) else to_text(dim)


def text_of_list(dims: Sequence[Dim]) -> str:
    """The text of a list of dimensions, in brackets."""
    return f"[{', '.join(map(listed, disambiguated(dims)))}]"


def brief_list(dims: Sequence[Dim]) -> str:
    """The text of a list of dimensions, or its beginning.

    >>> from symdim import Var
    >>> brief_list([Var("seq len"), 3])
    '[`seq len`, 3]'
    """
    return shortened(text_of_list(dims))
