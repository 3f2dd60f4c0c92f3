"""Facts: assumptions about dimensions, with their origins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.dims import variables_of
from symdim.algebra.order import dim_order
from symdim.errors import ParseError, demand_text, named, refuse_text
from symdim.prover.budget import Budget, OutOfBudget
from symdim.prover.hypotheses import problem_of
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var
    from symdim.parsing import NameSpace

_BUDGET = 3000
_SIGN = re.compile(r"(==|!=|<=|>=|<|>)")


class Facts:
    """Relations that hold together. Their order never matters, and a repeated one changes nothing.

    Nothing follows from facts that contradict each other; see `symdim.prove`.

    >>> from symdim import Var
    >>> H, facts = Var("H"), Facts(["H >= 16"])
    >>> facts.assume("H % 8 == 0", origin="the window size")
    >>> from symdim import prove
    >>> prove.equal(H // 8 * 8, H, facts)
    True
    >>> prove.explain(H // 8 * 8, "==", H, facts).facts
    ('H % 8 == 0 (the window size)',)
    >>> facts
    Facts(['H >= 16', 'H % 8 == 0 (the window size)'])
    """

    __slots__ = ("_about", "_checked", "_contradiction", "_facts", "_hypotheses")

    def __init__(self, relations: Iterable[str | Relation] = ()) -> None:
        self._facts: dict[Relation, Relation] = {}  # normal form -> the relation as it was stated
        self._checked = True
        self._contradiction: tuple[Relation, ...] | None = None
        self._hypotheses: list[Relation] | None = []
        self._about: dict[Var | None, list[int]] = {}  # the places of the hypotheses about a variable, or about none
        refuse_text(relations, "facts")
        for relation in relations:
            self.assume(relation)

    def __len__(self) -> int:
        return len(self._facts)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._facts.values())

    def __repr__(self) -> str:
        return f"Facts([{', '.join(repr(with_origin(fact)) for fact in self)}])"

    def _repr_html_(self) -> str:
        from symdim.outputs import html_table

        return html_table(f"{len(self)} facts", ["fact", "origin"], [(str(f), origin_text(f)) for f in self])

    def __getitem__(self, number: int) -> Relation:
        return list(self._facts.values())[number]

    def assume(
        self,
        relation: str | Relation,
        names: Collection[str] | Mapping[str, Var] = (),
        *,
        scope: NameSpace | None = None,
        origin: Hashable = None,
    ) -> None:
        """Assume a relation, maybe as text: `"T == P + S"`, `"H % 8 == 0"`, `"1 <= x < y"`.

        >>> from symdim import Var
        >>> facts = Facts()
        >>> facts.assume("1 <= x < y")
        >>> facts.assume(Relation("greater", Var("x"), 3))
        >>> facts
        Facts(['1 <= x', 'x < y', 'x > 3'])
        """
        stated = [relation] if isinstance(relation, Relation) else relations_of(relation, names, scope=scope)
        for kind, left, right, origins in stated:
            fact = Relation(kind, checked(left), checked(right), origins if origin is None else origins | {origin})
            normal = fact.normal()._replace(origins=frozenset())
            if normal not in self._facts:
                self._facts[normal] = fact
                self._checked = False
                self._hypotheses = None

    def hypotheses(self) -> list[Relation]:
        """The normal forms of the facts in structural order, each with its number as its origin; not to be changed."""
        if self._hypotheses is None:
            numbered = [normal._replace(origins=frozenset((i,))) for i, normal in enumerate(self._facts)]
            self._hypotheses = sorted(numbered, key=lambda h: (dim_order(h.left), h.kind))
            self._about = {}
            for place, h in enumerate(self._hypotheses):
                for v in h.variables() or (None,):
                    self._about.setdefault(v, []).append(place)
        return self._hypotheses

    def relevant(self, *dims: Dim) -> list[Relation]:
        """The facts that share a variable with the dimensions, directly or through other facts, in structural order.

        Facts about numbers alone are among them.
        """
        hypotheses = self.hypotheses()
        found: set[int] = set()
        seen = dict.fromkeys(variables_of(dims))
        pending = [None, *seen]
        while pending:
            for place in self._about.get(pending.pop(), ()):
                if place not in found:
                    found.add(place)
                    new = [v for v in hypotheses[place].variables() if v not in seen]
                    seen.update(dict.fromkeys(new))
                    pending += new
        return [hypotheses[place] for place in sorted(found)]

    def about(self, *dims: Dim) -> Facts:
        """The facts that `relevant` finds, as facts of their own."""
        places = sorted(place for fact in self.relevant(*dims) for place in fact.origins if isinstance(place, int))
        subset, listed = Facts(), list(self._facts.items()) if places else []
        return subset._add(listed[place] for place in places)

    def copied(self) -> Facts:
        """The same facts, to which others can be added apart from these."""
        return Facts()._add(self._facts.items())

    def _add(self, facts: Iterable[tuple[Relation, Relation]]) -> Facts:
        self._facts.update(facts)
        self._checked = not self._facts
        self._hypotheses = None
        return self

    def contradiction(self) -> tuple[Relation, ...] | None:
        """The facts that cannot hold together; None if no contradiction is found.

        >>> facts = Facts(["n >= 5", "n <= m", "m == 3"])
        >>> [str(fact) for fact in facts.contradiction()]
        ['n >= 5', 'n <= m', 'm == 3']
        """
        if not self._checked:
            from symdim.prover.search import Found, Search

            try:
                problem = problem_of(self.hypotheses(), (), Budget(_BUDGET))
                reasons = Search(problem).refuted(problem)
            except (Found, OutOfBudget):
                reasons = None
            listed = list(self)
            self._contradiction = (
                None if reasons is None else tuple(listed[i] for i in sorted(r for r in reasons if isinstance(r, int)))
            )
            self._checked = True
        return self._contradiction


def demand_facts(given: object) -> None:
    """Raise `TypeError` for what are no facts.

    >>> demand_facts(["H >= 4"])
    Traceback (most recent call last):
    ...
    TypeError: facts are Facts, not the list ['H >= 4']: write Facts([...])
    """
    if given is not None and not isinstance(given, Facts):
        raise TypeError(f"facts are Facts, not {named(given)}: write Facts([...])")


def relations_of(
    text: str, names: Collection[str] | Mapping[str, Var] = (), *, scope: NameSpace | None = None
) -> list[Relation]:
    """The relations that a text states, such as `"1 <= x < y"`. Raises `ValueError` if it has no sign of one.

    >>> relations_of("1 <= x + * 2 < y")
    Traceback (most recent call last):
    ...
    symdim.errors.ParseError: expected an operand before "*" at position 9
        1 <= x + * 2 < y
                 ^
    """
    from symdim.parsing import parse

    demand_text(text, "a relation", ", such as 'H >= 4', or a Relation")
    signs = list(_SIGN.finditer(text))
    if not signs:
        cure = "; write == for equal sizes" if "=" in text else ""
        raise ValueError(f"no relation (== != >= > <= <) in {text!r:.60}{cure}")
    starts, stops = [0, *(sign.end() for sign in signs)], [*(sign.start() for sign in signs), len(text)]
    sides = []
    for i, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        side = text[start:stop].strip()
        if not side:
            where = f'after "{signs[i - 1][0]}"' if i else f'before "{signs[0][0]}"'
            raise ParseError(text, stop, f"expected an operand {where}")
        try:
            sides.append(parse(side, names, scope=scope))
        except ParseError as error:
            raise ParseError(text, text.index(side, start) + error.position, error.message) from None
    return [Relation.of(sides[i], sign[0], sides[i + 1]) for i, sign in enumerate(signs)]


def with_origin(fact: Relation) -> str:
    """A fact with its origin in parentheses."""
    return f"{fact} ({origin_text(fact)})" if fact.origins else str(fact)


def origin_text(fact: Relation) -> str:
    """The origins of a fact, separated by commas."""
    return ", ".join(sorted(map(str, fact.origins)))
