"""Assumptions of the caller about the symbols of a model: `"H % 32 == 0"`, `"total == past + seq"`."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.engine.assumed_bounds import Assumption, Bounds, assumed_bounds
from onnx_infer.laws.known import Known, holds
from onnx_infer.model.given import Given, Narrowed, interval_text
from onnx_infer.model.graph import Node
from symdim import Expr, Facts, ParseError, Var, parse, simplify
from symdim.algebra.constructors.floordiv import mod
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import leading, sorted_units
from symdim.algebra.polynomials import terms_of
from symdim.relations.relation import Relation
from symdim.store import Origin, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_infer.engine.engine import Engine
    from onnx_infer.laws.statements import Statement
    from onnx_infer.values.tensor import Dim

_RELATION = re.compile(r"(==|!=|<=|>=|<|>)")


def blamed(
    diagnostics: Sequence[Diagnostic], given: Given, walked: Callable[[Given], Sequence[Diagnostic]]
) -> list[Diagnostic]:
    """The diagnostics. Errors that occur only under the assumptions name the assumption that causes them."""

    def errors(diagnostics: Iterable[Diagnostic]) -> set[tuple[str, str]]:
        return {(d.operator, d.node) for d in diagnostics if d.severity == "error" and d.node}

    found = errors(diagnostics)
    new = found - errors(walked(Given())) if found else found
    if not new:
        return list(diagnostics)
    parts = list(given.parts())
    alone = [(text, errors(walked(part))) for text, part in parts] if len(parts) > 1 else [(parts[0][0], new)]

    def told(diagnostic: Diagnostic) -> Diagnostic:
        key = diagnostic.operator, diagnostic.node
        if diagnostic.severity != "error" or key not in new:
            return diagnostic
        texts = [text for text, broken in alone if key in broken] or [text for text, _ in parts]
        return diagnostic._replace(message=f"{diagnostic.message} (under the assumption {'; '.join(texts)})")

    return list(map(told, diagnostics))


def drop_implied(engine: Engine) -> None:
    """Drop the statements that the assumptions imply."""
    answers: dict[Relation, bool] = {}
    kept: list[tuple[Statement, Node]] = []
    for statement, node in engine.stated():
        assert statement.relation != "undecided"
        condition = Relation(
            statement.relation, engine.fresh_sizes.resolve(statement.lhs), engine.fresh_sizes.resolve(statement.rhs)
        )
        if condition not in answers:
            answers[condition] = _is_implied(condition)
        if not answers[condition]:
            kept.append((statement, node))
    engine.restate(kept)


def _is_implied(condition: Relation) -> bool:
    """Whether a condition always holds."""
    relation, a, b, _ = condition
    if relation == "equal":
        return holds(a, "==", b)
    if relation in ("at_least", "at_most"):
        return holds(a, ">=" if relation == "at_least" else "<=", b)
    if relation == "divides":
        return a != 0 and holds(b % a, "==", 0)
    pairs = ((a, b), (a, 1), (b, 1)) if relation == "broadcast" else ((a, b), (a, 1))
    return any(holds(x, "==", y) for x, y in pairs)


class Assumptions:
    """Relations between the `symbols` of a model, read like its `dim_param`s.

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
        self.relations: list[Assumption] = []
        self.symbols = dict(symbols or {})
        self.unknown: set[str] = set()
        for relation in (relation for text in texts for relation in _read(text, symbols or {})):
            new = set() if symbols is None else {v.name for v in relation.variables()} - symbols.keys()
            self.unknown |= new
            said = relation._replace(lhs=meaning(relation.lhs), rhs=meaning(relation.rhs))
            is_solved = said != relation and said.sign == "==" and said.lhs == said.rhs
            if not new and not is_solved:
                self.relations.append(said)
        self._known: dict[Dim, Dim] = {}

    @cached_property
    def bounds(self) -> Bounds:
        """The intervals that the relations give to symbols, and the relations that say more."""
        return assumed_bounds(self.relations)

    @cached_property
    def facts(self) -> Facts:
        """The relations that say more than the bounds of their symbols."""
        return facts_of(self.bounds.rest)

    def known(self) -> Known:
        """The facts in the form that rules ask."""
        return Known(self.facts)

    def names(self) -> set[str]:
        """The names of the symbols in the relations."""
        return {v.name for relation in self.relations for v in relation.variables()}

    def contradiction(self) -> str | None:
        """A message about assumptions that cannot hold together, or None."""
        found = facts_of(self.relations).contradiction() or ()
        if len(found) > 1:
            return "assumptions contradict each other: " + "; ".join(map(str, found))
        wrong = [str(text) for fact in found for text in fact.origins] or self.bounds.impossible
        if not wrong:
            return None
        besides = _said_besides(self.relations, wrong[0])
        return f"the assumption {wrong[0]} contradicts {besides or 'the given sizes'}"

    def state(self, store: Store) -> None:
        """State the relations into a store."""
        for text, a, relation, b in self.relations:
            origin = Origin(text=f"assumed: {text}")
            if relation == "==":
                remainder = _remainder(a, b)
                if remainder is None:
                    store.eq(a, b, origin=origin)
                else:
                    store.divisible(*remainder, origin=origin)
            elif relation in (">=", ">"):
                store.bounds(a - b, int(relation == ">"), origin=origin)
            elif relation in ("<=", "<"):
                store.bounds(b - a, int(relation == "<"), origin=origin)

    def simplest(self, dim: Dim) -> Dim:
        """The shortest form of the size that equals it under the relations."""
        if not isinstance(dim, Expr):
            return dim
        found = self._known.get(dim)
        if found is None:
            found = simplify(dim, self.facts)
            for _, a, relation, b in self.bounds.rest:
                if relation == "==" and isinstance(a, Var):
                    found = _with_name(found, a, b)
            self._known[dim] = found
        return found


def narrowed(given: Given, assumptions: Assumptions) -> Narrowed:
    """The given intervals narrowed by the relations, and the relations that say more than intervals.

    Relations that contradict each other are ignored.
    """
    bounds = given.intervals()
    if assumptions.contradiction() is not None:
        return Narrowed(bounds, bound=given.bound)
    bounds.update((v.name, ends) for v, ends in assumptions.bounds.of.items())
    solved: dict[Var, Dim] = {}
    pairs, others = [], []
    for relation in assumptions.bounds.rest:
        pair = _equal_symbols(relation)
        if pair is not None:
            pairs.append(pair)
        elif not _solve_element(relation, given.elements, solved):
            others += [v.name for v in relation.variables()]
    same = _first_names(pairs, assumptions.symbols)
    bound = {**given.bound, **{v.name: size if isinstance(size, int) else str(size) for v, size in solved.items()}}
    return Narrowed(bounds, same, bound, frozenset(same.get(name, name) for name in others))


def _solve_element(relation: Assumption, elements: Mapping[str, object], solved: dict[Var, Dim]) -> bool:
    """Enter the element that an equation determines, such as `total[0] == past + seq`; return whether there is one.

    No solution contains an element that is solved.
    """
    if relation.sign != "==":
        return False
    gap = substituted(relation.lhs - relation.rhs, solved)
    terms, _ = terms_of(gap)
    for unit in sorted_units(terms):
        if isinstance(unit, Var) and unit.name in elements and terms[unit] in (1, -1):
            size = unit - terms[unit] * gap
            if unit not in variables_of([size]):
                solved.update({v: substituted(known, {unit: size}) for v, known in solved.items()})
                solved[unit] = size
                return True
    return gap == 0


def _equal_symbols(relation: Assumption) -> tuple[str, str] | None:
    """The names of the two symbols that a relation such as `H == W` makes equal."""
    if relation.sign != "==":
        return None
    terms, constant = terms_of(relation.lhs - relation.rhs)
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


def facts_of(relations: Iterable[Assumption]) -> Facts:
    """Relations as facts of the prover."""
    facts = Facts()
    for text, a, sign, b in relations:
        facts.assume(Relation.of(a, sign, b), origin=text)
    return facts


def _said_besides(relations: Sequence[Assumption], text: str) -> str:
    """A text with the bounds of the symbols in an assumption, and the other assumptions about them."""
    symbols = {v: None for relation in relations if relation.text == text for v in relation.variables()}
    others = [r.text for r in relations if r.text != text and not symbols.keys().isdisjoint(r.variables())]
    return "; ".join(dict.fromkeys([*map(interval_text, symbols), *others]))


def _read(text: str, symbols: Mapping[str, Var]) -> Iterator[Assumption]:
    """The relations in a text such as `"H % 8 == 0 and 16 <= H <= 64"`."""
    for part in [text] if any(" and " in name for name in symbols) else text.split(" and "):
        pieces = _RELATION.split(part)
        if len(pieces) < 3:
            raise ParseError(text, 0, "no relation (== != >= > <= <) in the assumption")
        sides = [parse(piece.strip(), symbols) for piece in pieces[::2]]
        for i, relation in enumerate(pieces[1::2]):
            yield Assumption(text, sides[i], relation, sides[i + 1])


def _remainder(a: Dim, b: Dim) -> tuple[Dim, Dim] | None:
    """(n, d) of a relation `n % d == 0`, which is stored as `n - d*(n//d) == 0`."""
    gap = a - b
    if not isinstance(gap, Expr) or gap.terms is None:
        return None
    for unit in sorted_units(gap.terms):
        k = gap.terms[unit]
        if isinstance(unit, FloorDiv) and unit.terms is None:
            n, d = unit.parts
            if isinstance(d, int) and k == -d and gap == mod(n, d):
                return n, d
    return None


def _with_name(dim: Dim, name: Var, value: Dim) -> Dim:
    """The size with the multiple of `value` in it, if there is one, written with the name for this value."""
    if not isinstance(dim, Expr) or not isinstance(value, Expr) or name in dim.variables():
        return dim
    ours, theirs = dim.terms or {dim: 1}, value.terms or {value: 1}
    first = leading(theirs)
    k = theirs[first]
    times, rest = divmod(ours.get(first, 0), k)
    if times == 0 or rest:
        return dim
    replaced = dim + times * (name - value)
    if isinstance(replaced, int):
        return replaced
    return replaced if len(replaced.terms or (1,)) < len(ours) or len(ours) == len(theirs) == 1 else dim
