"""Reading dimensions and shapes from text, in the dialects of ONNX models. The grammar is in `parser/grammar.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.dims import at_most, variables_of
from symdim.algebra.evaluate import has_open_function
from symdim.algebra.expr import Expr
from symdim.algebra.texts.written import Written
from symdim.algebra.variable import Var
from symdim.errors import ParseError, demand_text, named, refuse_text
from symdim.parser.functions import Meaning
from symdim.parser.grammar import Reader
from symdim.parser.lexemes import Dialect, Lexicon, is_name, is_number, is_word, lexicon
from symdim.parser.rational import Value, exact_integer

T = TypeVar("T")


class NameSpace(Protocol):
    """What makes variables from names, such as `symdim.Scope`."""

    def var(self, name: str, /) -> Var:
        """The variable of this name."""


def parse(
    text: str,
    names: Collection[str] | Mapping[str, Var] = (),
    *,
    dialect: Dialect | None = None,
    scope: NameSpace | None = None,
) -> int | Expr:
    """The dimension that a text denotes: `parse(str(e), e.free_symbols()) is e`.

    A text equal to one of the declared `names` is that variable, whatever it contains. Within longer texts declared
    names take precedence too. Give them as a frozenset if you read many texts, or as a mapping to choose the variables.
    Other variables come from `scope`, by default from `Var(name)`.

    A word that is not an expression, such as `16H` or `a:b`, is a name. If names are declared, `batch-size` is a name
    too, unless `batch` and `size` are both declared; likewise `Concat/axis`. If none are declared, these two are a
    difference and a quotient.

    `dialect` gives the meaning of "/" outside of floor() and similar functions: "floor" and "trunc" round the quotient,
    "exact" does not. In "onnx-light", "^" is a maximum, "&" a minimum, and "/:" the quotient of a multiple by its
    divisor. Raises ParseError, which shows the place, and SymdimError for an unknown dialect.

    >>> parse("floor(H/2 - 1/2) + 1") is parse("(H - 1)//2 + 1")
    True
    >>> parse("H/:2 ^ W + 1", dialect="onnx-light")
    max(H//2, W + 1)
    >>> parse("Min(seq len, 2*seq len)", {"seq len"})
    seq len
    """
    demand_text(text, "what is parsed")
    return part_of(text, names, dialect, scope)


def part_of(
    text: str,
    names: Collection[str] | Mapping[str, Var] = (),
    dialect: Dialect | None = None,
    scope: NameSpace | None = None,
    written: Written | None = None,
    *,
    cautious: bool = False,
) -> int | Expr:
    """The same for a part of a text; the work of its parts is limited together, and `written` is what counts it.

    A `cautious` reader refuses to round a function of which no value is known, and so need not be an integer.
    """
    variable = _variables(names, scope)
    if text in names or text.isidentifier():
        return variable(text)
    declared = lexicon(frozenset(names), dialect)
    if is_word(text, dialect) and _is_undeclared(text, declared, all_known=bool(names)):
        return variable(text)
    return Reader(text, declared, variable, dialect, written, cautious=cautious).read(exact_integer)


def read_value(text: str, variable: Callable[[str], Var], functions: Mapping[str, Meaning]) -> Value:
    """The dimension or exact quotient that a text denotes: "/" is exact everywhere. `functions` are those in it.

    Raises ParseError.
    """
    declared = lexicon(frozenset())
    if text.isidentifier() or (is_word(text, "exact") and _is_undeclared(text, declared, all_known=False)):
        return variable(text)
    return Reader(text, declared, variable, "exact", None, functions).read(lambda value: value)


def check(text: str, names: Collection[str] = (), *, dialect: Dialect | None = None) -> ParseError | None:
    """The error of a text as a message; None if `parse` accepts it.

    >>> print(check("N + * 2"))
    expected an operand before "*" at position 4
        N + * 2
            ^
    """
    try:
        parse(text, names, dialect=dialect)
    except ParseError as error:
        return error
    return None


def read_dim_param(
    text: str,
    names: Collection[str] | Mapping[str, Var] = (),
    *,
    dialect: Dialect | None = None,
    scope: NameSpace | None = None,
) -> int | Expr:
    """The dimension that the `dim_param` of an ONNX model denotes; accepts every text except the empty one.

    As `parse`, with three exceptions. A word with a dash or slash, or a text with a function whose values are unknown,
    is an expression only if every name in it is declared. Nothing may round such a function. A text that is not an
    expression, or is always negative, is a variable with the text as its name.

    >>> read_dim_param("N + 1"), read_dim_param("batch-size"), read_dim_param("N +"), read_dim_param("-1")
    (N + 1, batch-size, N +, -1)
    >>> read_dim_param("f(N + N)", {"N"}), read_dim_param("f(N + N)"), read_dim_param("floor(log(N))", {"N"})
    (f(2*N), f(N + N), floor(log(N)))
    """
    demand_text(text, "a dim_param")
    variable = _variables(names, scope)
    declared = lexicon(frozenset(names), dialect)
    if text in names or (is_word(text, dialect) and _is_undeclared(text, declared, all_known=True)):
        return variable(text)
    try:
        dim = part_of(text, names, dialect, scope, cautious=True)
    except ParseError:
        return variable(text)
    is_of_others = has_open_function((dim,)) and not declared.names.issuperset(v.name for v in variables_of((dim,)))
    return variable(text) if is_of_others or at_most(dim, -1) else dim


def _variables(names: Collection[str], scope: NameSpace | None) -> Callable[[str], Var]:
    if isinstance(names, str):
        refuse_text(names, "names")
    other = Var if scope is None else scope.var
    if not names or not isinstance(names, Mapping):
        return other
    given: Mapping[str, Var] = names
    return lambda name: given[name] if name in given else other(name)


def _is_undeclared(word: str, declared: Lexicon, *, all_known: bool) -> bool:
    """Whether a word (`is_word`) is a name as a whole, and not a number, a difference or a quotient.

    It is a name if a part of it cannot stand in an expression (`16H`, `a:b`). With `all_known` it is also a name if it
    has a dash or slash and one of its parts is not declared.
    """
    parts = [x for x in declared.split(word) if x != "-" and x != "/"]
    unknown = [x for x in parts if x not in declared.names and not is_number(x)]
    if any(not is_name(x) and any(map(str.isalpha, x)) for x in unknown):
        return True
    return bool(unknown) and len(parts) > 1 and all_known


def sizes_of(given: Iterable[int | Expr | str | None]) -> tuple[int | Expr, ...]:
    """Sizes of any kind as dimensions: texts by `read_dim_param`, with the names among them as declared names.

    None is a new variable. An `onnx_ir.SymbolicDim` is its text or None.
    """
    items: Iterable[Any] = items_of(given)
    sizes = [size.value if type(size).__name__ == "SymbolicDim" else size for size in items]
    names = frozenset(size for size in sizes if isinstance(size, str) and is_name(size))
    return tuple([read_dim_param(size, names) if isinstance(size, str) else _dim(size) for size in sizes])


def _dim(size: int | Expr | None) -> int | Expr:
    return Var.fresh("?", origin="not given") if size is None else checked(size)


def items_of(sizes: Iterable[T]) -> Iterable[T]:
    """The sizes. Raises TypeError for what is no sequence, and for a text, whose characters would be taken for sizes.

    >>> items_of("N, 3")
    Traceback (most recent call last):
    ...
    TypeError: sizes are a sequence, not the text 'N, 3': write ['N', '3'], or Shape.parse('[N, 3]')
    """
    if not isinstance(sizes, str):
        if not hasattr(sizes, "__iter__"):
            raise TypeError(f"sizes are a sequence, not {named(sizes)}: write [{sizes!r:.60}]")
        return sizes
    items = [item.strip() for item in sizes[:60].strip("[]() ").split(",")]
    cure = f"write {items}, or Shape.parse('[{', '.join(items)}]')"
    raise TypeError(f"sizes are a sequence, not the text {sizes!r:.60}: {cure}")


def dims_of(text: str, names: Collection[str] | Mapping[str, Var] = ()) -> list[int | Expr]:
    """The dimensions in a text `"[" [sum {"," sum}] "]"`. Raises ParseError.

    >>> dims_of("[N, max(N, 3), 4]")
    [N, max(N, 3), 4]
    """
    demand_text(text, "what is parsed")
    start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
    if text[start : start + 1] != "[" or text[stop - 1 : stop] != "]":
        raise ParseError(text, start, "a shape is written [...]")
    dims: list[int | Expr] = []
    written = Written()
    for first, last in spans_between_commas(text, start + 1, stop - 1, frozenset(names)):
        try:
            dims.append(part_of(text[first:last].strip(), names, written=written))
        except ParseError as error:
            blanks = len(text[first:last]) - len(text[first:last].lstrip())
            raise ParseError(text, first + blanks + error.position, error.message) from None
    return dims


def spans_between_commas(text: str, start: int, stop: int, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The spans of text[start:stop] between commas outside of parentheses and quotes; no spans if it is blank."""
    depth, first = 0, start
    for match in lexicon(names).pattern.finditer(text, start, stop):
        lexeme = match[1]
        depth += (lexeme == "(") - (lexeme == ")")
        if lexeme == "," and depth == 0:
            yield first, match.start(1)
            first = match.end(1)
    if first > start or text[start:stop].strip():
        yield first, stop
