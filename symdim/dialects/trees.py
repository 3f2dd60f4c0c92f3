"""Expressions as plain nested data, for JSON and for viewers.

    tree = int | name | {"domain": text, "name": text, "arguments": [tree, ...]}        "domain" may be left out

Names of the default domain mean what they mean in texts (`symdim.parser.functions`); `Div` is the exact quotient. An
expression is written with `Add`, `Mul`, `Pow`, `FloorDiv`, `Mod`, `Max` and `Min`, and `Div` in arguments of functions.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from symdim.algebra.application import Application
from symdim.algebra.expr import Expr
from symdim.algebra.texts.printing import disambiguated, is_too_long
from symdim.algebra.texts.tree import Operation, terms_in
from symdim.algebra.variable import Var
from symdim.dialects.straight_code import in_order
from symdim.errors import ParseError, SymdimError
from symdim.parser.grammar import MAX_LENGTH
from symdim.parser.lexemes import is_function
from symdim.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from symdim.algebra.expr import Dim
    from symdim.algebra.texts.tree import Part, Product, Tree
    from symdim.parsing import NameSpace

Data: TypeAlias = "int | str | dict[str, Any]"
Place: TypeAlias = "tuple[()] | tuple[Place, int]"  # that of the operation around it, and the number of the argument

T = TypeVar("T")

MAX_NESTED = 200
"""Dicts in dicts of a tree: encoders and decoders of JSON recurse on them."""
_SHOWN = 8  # the most parts of a path in a message
_NAMES = {"//": "FloorDiv", "%": "Mod", "max": "Max", "min": "Min"}


def to_tree(dim: Dim) -> Data:
    """The tree of an expression, as in its text. Raises SymdimError for one whose text is cut, or that nests too deep.

    >>> from symdim import parse
    >>> to_tree(parse("com.microsoft.Sqrt(N) - 1"))["arguments"]
    [{'domain': 'com.microsoft', 'name': 'Sqrt', 'arguments': ['N']}, -1]
    """
    if isinstance(dim, int):
        return dim
    if is_too_long(dim):
        raise SymdimError(f"too long for a tree, as for a text: {dim!r}")
    (dim,) = disambiguated((dim,))
    assert isinstance(dim, Expr)
    depth, data = written(dim, lambda leaf: (0, leaf.name if isinstance(leaf, Var) else leaf), _data_of_call)
    if depth > MAX_NESTED:
        raise SymdimError(f"nested deeper than {MAX_NESTED}: give a part of it a name")
    return data


def _data_of_call(domain: str, name: str, arguments: list[tuple[int, Data]]) -> tuple[int, Data]:
    """The data of a call, and how deep it is nested."""
    depth = 1 + max([depth for depth, _ in arguments])
    return depth, {"domain": domain, "name": name, "arguments": [data for _, data in arguments]}


def written(dim: Expr, leaf: Callable[[Any], T], call: Callable[[str, str, list[T]], T]) -> T:
    """An expression as calls of names in domains, as its data has them. A `leaf` is an int or a variable."""
    held: dict[Expr, T] = {}

    def part_of(part: Part) -> T:
        return held[part] if isinstance(part, Expr) else of_tree(part)

    def of_tree(tree: Tree) -> T:
        if isinstance(tree, int | Var):
            return leaf(tree)
        if isinstance(tree, Operation):
            return call("", _NAMES[tree.operator], list(map(part_of, tree.operands)))
        if isinstance(tree, Application):
            pairs = zip(tree._parts[::2], tree._parts[1::2], strict=True)
            arguments = [part_of(n) if d == 1 else call("", "Div", [part_of(n), part_of(d)]) for n, d in pairs]
            domain = tree.function.domain
            return call(domain, str(tree.function).removeprefix(f"{domain}."), arguments)
        return joined("Add", [of_product(term) for term in terms_in(tree)])

    def of_product(term: Product) -> T:
        factors = [part_of(base) if k == 1 else call("", "Pow", [part_of(base), leaf(k)]) for base, k in term.powers]
        if term.coefficient != 1 or not factors:
            factors.insert(0, leaf(term.coefficient))
        return joined("Mul", factors)

    def joined(name: str, parts: list[T]) -> T:
        return parts[0] if len(parts) == 1 else call("", name, parts)

    for node, tree in in_order(dim, held):
        held[node] = of_tree(tree)
    return held[dim]


def from_tree(
    data: Any, names: Collection[str] | Mapping[str, Var] = (), *, scope: NameSpace | None = None
) -> int | Expr:
    """The dimension of a tree; names become variables as in `symdim.parse`. Raises SymdimError, which names the place.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> from_tree(to_tree(N // 2 + 1)) is N // 2 + 1
    True
    >>> from_tree({"name": "Add", "arguments": ["N", {"name": "Mod", "arguments": ["N", 0]}]})
    Traceback (most recent call last):
    symdim.errors.SymdimError: in .arguments[1]: the divisor of (N) // 0 is zero
    """
    pieces, places = _written(data)
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    try:
        return parse("".join(pieces), names, scope=scope)
    except ParseError as error:
        place = places[min(bisect_right(starts, error.position), len(places)) - 1]
        raise SymdimError(f"in {_shown(place)}: {error.message}") from None


def _written(data: Any) -> tuple[list[str], list[Place]]:
    """A tree as a text with a call for each operation, in pieces, and the place in the tree of each piece."""
    pieces: list[str] = []
    places: list[Place] = []
    length = 0
    pending: list[tuple[Place, Any, bool]] = [((), data, False)]
    while pending:
        place, item, is_text = pending.pop()
        inner: list[tuple[Place, Any, bool]] = []
        if is_text:
            text = item
        elif type(item) is int:
            text = f"({item})" if item < 0 else str(item)
        elif isinstance(item, str):
            text = "`" + item.replace("`", "``") + "`"
        else:
            text, arguments = _call_of(item, place)
            for i, argument in enumerate(arguments):
                inner += [(place, ", ", True)] if i else []
                inner.append(((place, i), argument, False))
            inner.append((place, ")", True))
        length += len(text)
        if length > MAX_LENGTH:  # a list may contain itself
            raise SymdimError(f"the tree has more than {MAX_LENGTH} characters as a text")
        pieces.append(text)
        places.append(place)
        pending += inner[::-1]
    return pieces, places


def _call_of(item: Any, place: Place) -> tuple[str, list[Any]]:
    """The beginning of a call, and its arguments."""
    if not isinstance(item, dict):
        raise SymdimError(f"in {_shown(place)}: an int, a name or a dict is expected, not {item!r:.60}")
    domain, name, arguments = item.get("domain", ""), item.get("name"), item.get("arguments")
    if not isinstance(domain, str) or not isinstance(name, str) or not isinstance(arguments, list) or not arguments:
        raise SymdimError(f"in {_shown(place)}: a name and arguments are expected, not {item!r:.60}")
    full = f"{domain}.{name}" if domain else "IntTrueDiv" if name.lower() == "div" else name
    if not is_function(full):
        raise SymdimError(f"in {_shown(place)}: {full!r:.60} is not a function name")
    return f"{full}(", arguments


def _shown(place: Place) -> str:
    """The place as a path, the last parts of a long one."""
    parts: list[str] = []
    while place and len(parts) < _SHOWN:
        place, i = place
        parts.append(f".arguments[{i}]")
    return ("..." if place else "") + "".join(parts[::-1]) or "the tree"
