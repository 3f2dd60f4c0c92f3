"""Assumptions of the caller about the symbols of a model: `"H % 32 == 0"`, `"total == past + seq"`."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from onnx_infer.engine.substitution import map_values
from onnx_infer.errors import UnknownSymbol
from onnx_infer.laws.bounds import Bounds, Known, holds
from onnx_infer.model.given import Narrowed, interval_text
from onnx_infer.types.join import symbols_of
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, Facts, ParseError, Var, parse, simplify
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.order import leading, sorted_units
from symdim.algebra.polynomials import terms_of
from symdim.relations.relation import SIGNS, Relation
from symdim.relations.solving import solve
from symdim.store import Origin, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_infer.engine.record import Record
    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.given import Given
    from onnx_infer.model.graph import Node
    from onnx_infer.values.tensor import Dim, Value

_SIGN = re.compile(r"(==|!=|<=|>=|<|>)")
_MOST_ROUNDS = 8  # of narrowing symbols by relations, each within the bounds that the others give


def drop_implied(record: Record) -> None:
    """Drop the statements that the assumptions imply."""
    answers: dict[Relation, bool] = {}
    kept: list[tuple[Statement, Node]] = []
    for statement, node in record.statements.pairs:
        kind, lhs, rhs, _ = statement.condition
        condition = Relation(kind, record.sizes.fresh.resolve(lhs), record.sizes.fresh.resolve(rhs))
        if condition not in answers:
            answers[condition] = _is_implied(condition)
        if not answers[condition]:
            kept.append((statement, node))
    record.statements.put(kept)


def _is_implied(condition: Relation) -> bool:
    """Whether a condition always holds."""
    kind, a, b, _ = condition
    if kind == "divides":
        return a != 0 and holds(b % a, "==", 0)
    if kind in ("broadcast", "broadcast_to"):
        pairs = ((a, b), (a, 1), (b, 1)) if kind == "broadcast" else ((a, b), (a, 1))
        return any(holds(x, "==", y) for x, y in pairs)
    return holds(a, SIGNS[kind], b)


class AssumedBounds(NamedTuple):
    """The bounds within which relations hold, those that say more than bounds, and the text of one that cannot hold."""

    bounds: Bounds
    open: list[Relation]
    impossible: str = ""

    def intervals(self) -> Iterator[tuple[Var, tuple[int, int | None]]]:
        """The intervals of symbols. No size is negative."""
        return ((v, (low or 0, high)) for v, (low, high) in self.bounds.of.items())


def assumed_bounds(relations: Sequence[Relation]) -> AssumedBounds:
    """The bounds of symbols within which all relations hold, each used within the bounds that the others give.

    >>> H, W = Var("H"), Var("W")
    >>> given = [Relation("at_least", H // 2, 3), Relation("divides", 8, H), Relation("greater", W, H)]
    >>> bounds = assumed_bounds(given)
    >>> dict(bounds.intervals()), len(bounds.open)
    ({H: (8, None), W: (9, None)}, 2)
    """
    bounds = Bounds()
    left: list[Relation] = []
    for _ in range(_MOST_ROUNDS):
        before, left = dict(bounds.of), []
        for relation in relations:
            is_equivalent = bounds.narrow_within(relation)
            if is_equivalent is None:
                return AssumedBounds(bounds, left, text_of(relation))
            if not is_equivalent:
                left.append(relation)
        if bounds.of == before:
            break
    return AssumedBounds(bounds, left)


class Assumptions:
    """Relations between the `symbols` of a model, read like its `dim_param`s. Each has its text as its origin.

    Relations with other symbols are left out; the names of these symbols are `unknown`. A relation about a symbol for
    which an expression stands (`meaning`) is one about the expression.

    >>> assumed = Assumptions(["H % 8 == 0", "total == past + seq"])
    >>> H, past, seq = Var("H"), Var("past"), Var("seq")
    >>> assumed.simplest(8 * (H // 8) + 1), assumed.simplest(2 * past + 2 * seq + 1)
    (H + 1, 2*total + 1)
    """

    def __init__(
        self,
        texts: Iterable[str],
        symbols: Mapping[str, Var] | None = None,
        meaning: Callable[[Dim], Dim] = lambda size: size,
    ) -> None:
        self.relations: list[Relation] = []
        self.symbols = dict(symbols or {})
        self.unknown: set[str] = set()
        for relation in (relation for text in texts for relation in _read(text, symbols or {})):
            new = set() if symbols is None else {v.name for v in relation.variables()} - symbols.keys()
            self.unknown |= new
            said = relation._replace(left=meaning(relation.left), right=meaning(relation.right))
            is_solved = said != relation and said.kind == "equal" and said.left == said.right
            if not new and not is_solved:
                self.relations.append(said)
        self._known: dict[Dim, Dim] = {}

    @cached_property
    def bounds(self) -> AssumedBounds:
        """The intervals that the relations give to symbols, and the relations that say more."""
        return assumed_bounds(self.relations)

    @cached_property
    def facts(self) -> Facts:
        """The relations that say more than the bounds of their symbols."""
        return Facts(self.bounds.open)

    def known(self) -> Known:
        """The facts in the form that rules ask."""
        return Known(self.facts)

    def names(self) -> set[str]:
        """The names of the symbols in the relations."""
        return {v.name for relation in self.relations for v in relation.variables()}

    def contradiction(self) -> str | None:
        """A message about assumptions that cannot hold together, or None."""
        conflict = Facts(self.relations).contradiction() or ()
        if len(conflict) > 1:
            return "assumptions contradict each other: " + "; ".join(map(str, conflict))
        wrong = text_of(conflict[0]) if conflict else self.bounds.impossible
        if not wrong:
            return None
        besides = _said_besides(self.relations, wrong)
        return f"the assumption {wrong} contradicts {besides or 'the given sizes'}"

    def state(self, store: Store) -> None:
        """State the relations into a store."""
        for relation in self.relations:
            kind, a, b, _ = relation
            origin = Origin(text=f"assumed: {text_of(relation)}")
            if kind == "equal":
                plain = solve(relation)
                if plain is not None and [part.kind for part in plain] == ["divides"]:
                    store.divisible(plain[0].right, plain[0].left, origin=origin)
                else:
                    store.eq(a, b, origin=origin)
            elif kind != "unequal":
                store.bounds(relation.normal().left, 0, origin=origin)

    def simplest(self, dim: Dim) -> Dim:
        """The shortest form of the size that equals it under the relations."""
        if not isinstance(dim, Expr):
            return dim
        simplest = self._known.get(dim)
        if simplest is None:
            simplest = simplify(dim, self.facts)
            for kind, a, b, _ in self.bounds.open:
                if kind == "equal" and isinstance(a, Var):
                    simplest = _with_name(simplest, a, b)
            self._known[dim] = simplest
        return simplest

    def simplest_type(self, value: Value) -> Value:
        """The type with the shortest forms of its sizes and elements, if it is a tensor of known rank."""
        if not isinstance(value, SymTensor) or value.shape is None:
            return value
        data = value.data and tuple(self.simplest(x) if isinstance(x, Expr) else x for x in value.data)
        return SymTensor(value.dtype, map(self.simplest, value.shape), data)


def assumptions_of(record: Record, relations: Iterable[str]) -> Assumptions:
    """The assumptions about the symbols of a record: these relations, and those of assumed declared types."""
    symbols = {v.name: v for v in symbols_of(record.scope.values())}
    known = {**record.symbols.known(), **symbols}
    return Assumptions(dict.fromkeys((*relations, *record.declared.assumed)), known, record.symbols.bound)


def settle(record: Record, relations: Sequence[str], met: Mapping[str, Var], wrong: str | None) -> None:
    """Write sizes in the simplest form that the relations allow, or report what is `wrong` with these.

    `met` are the symbols of an earlier pass. Raises ParseError for a text that is no relation, and UnknownSymbol for
    one about a symbol that the model does not have.
    """
    assumptions = assumptions_of(record, relations)
    symbols = {**met, **record.symbols.known()}
    if unknown := assumptions.unknown - symbols.keys():
        raise UnknownSymbol("assume", unknown, symbols)
    if wrong:
        record.complain(wrong)
    elif assumptions.facts:
        map_values(record, assumptions.simplest_type)
    record.declared.assumed = list(dict.fromkeys((*relations, *record.declared.assumed)))


def narrowed(given: Given, assumptions: Assumptions) -> Narrowed:
    """The given intervals narrowed by the relations, and the relations that say more than intervals.

    Relations that contradict each other are ignored.
    """
    bounds = given.intervals()
    if assumptions.contradiction() is not None:
        return Narrowed(bounds, bound=given.bound)
    bounds.update((v.name, ends) for v, ends in assumptions.bounds.intervals())
    solved: dict[Var, Dim] = {}
    pairs, others = [], []
    for relation in assumptions.bounds.open:
        pair = _equal_symbols(relation)
        if pair is not None:
            pairs.append(pair)
        elif not _solve_element(relation, given.elements, solved):
            others += [v.name for v in relation.variables()]
    same = _first_names(pairs, assumptions.symbols)
    bound = {**given.bound, **{v.name: size if isinstance(size, int) else str(size) for v, size in solved.items()}}
    return Narrowed(bounds, same, bound, frozenset(same.get(name, name) for name in others))


def _solve_element(relation: Relation, elements: Mapping[str, object], solved: dict[Var, Dim]) -> bool:
    """Enter the element that an equation determines, such as `total[0] == past + seq`; return whether there is one.

    No solution contains an element that is solved.
    """
    if relation.kind != "equal":
        return False
    gap = substituted(relation.left - relation.right, solved)
    terms, _ = terms_of(gap)
    for unit in sorted_units(terms):
        if isinstance(unit, Var) and unit.name in elements and terms[unit] in (1, -1):
            size = unit - terms[unit] * gap
            if unit not in variables_of([size]):
                solved.update({v: substituted(known, {unit: size}) for v, known in solved.items()})
                solved[unit] = size
                return True
    return gap == 0


def _equal_symbols(relation: Relation) -> tuple[str, str] | None:
    """The names of the two symbols that a relation such as `H == W` makes equal."""
    if relation.kind != "equal":
        return None
    terms, constant = terms_of(relation.left - relation.right)
    variables = [unit for unit in sorted_units(terms) if isinstance(unit, Var)]
    if constant or not len(terms) == len(variables) == 2 or sum(terms.values()):
        return None
    return variables[0].name, variables[1].name


def _first_names(pairs: Iterable[tuple[str, str]], order: Iterable[str]) -> dict[str, str]:
    """Name -> the first name, in this order, of those that the pairs make equal to it; without names that are first.

    >>> _first_names([("W", "D"), ("H", "W")], ["N", "H", "W", "D"])
    {'W': 'H', 'D': 'H'}
    """
    groups: dict[str, list[str]] = {}
    for a, b in pairs:
        ours, theirs = groups.setdefault(a, [a]), groups.setdefault(b, [b])
        if ours is not theirs:
            ours += theirs
            groups.update(dict.fromkeys(theirs, ours))
    first: dict[int, str] = {}
    names = [(name, first.setdefault(id(groups[name]), name)) for name in order if name in groups]
    return {name: other for name, other in names if name != other}


def text_of(relation: Relation) -> str:
    """The text of an assumption: its origin, or else the condition."""
    return str(next(iter(relation.origins), relation.spelled(str)))


def _said_besides(relations: Sequence[Relation], text: str) -> str:
    """A text with the bounds of the symbols in an assumption, and the other assumptions about them."""
    symbols = {v: None for relation in relations if text_of(relation) == text for v in relation.variables()}
    about = [relation for relation in relations if not symbols.keys().isdisjoint(relation.variables())]
    others = [other for relation in about if (other := text_of(relation)) != text]
    return "; ".join(dict.fromkeys([*map(interval_text, symbols), *others]))


def _read(text: str, symbols: Mapping[str, Var]) -> Iterator[Relation]:
    """The relations in a text such as `"H % 8 == 0 and 16 <= H <= 64"`."""
    for part in [text] if any(" and " in name for name in symbols) else text.split(" and "):
        pieces = _SIGN.split(part)
        if len(pieces) < 3:
            raise ParseError(text, 0, "no relation (== != >= > <= <) in the assumption")
        sides = [parse(piece.strip(), symbols) for piece in pieces[::2]]
        for i, sign in enumerate(pieces[1::2]):
            yield Relation.of(sides[i], sign, sides[i + 1], frozenset((text,)))


def _with_name(dim: Dim, name: Var, value: Dim) -> Dim:
    """The size with the multiple of `value` in it, if there is one, written with the name for this value."""
    if not isinstance(dim, Expr) or not isinstance(value, Expr) or name in dim.variables():
        return dim
    ours, theirs = dim._terms or {dim: 1}, value._terms or {value: 1}
    first = leading(theirs)
    k = theirs[first]
    times, rest = divmod(ours.get(first, 0), k)
    if times == 0 or rest:
        return dim
    replaced = dim + times * (name - value)
    if isinstance(replaced, int):
        return replaced
    return replaced if len(replaced._terms or (1,)) < len(ours) or len(ours) == len(theirs) == 1 else dim
