"""Facts: assumptions about dimensions, with their origins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.constructors.floordiv import mod
from symdim.algebra.dims import variables_of
from symdim.algebra.order import dim_order
from symdim.errors import refuse_text
from symdim.prover.budget import Budget, OutOfBudget
from symdim.prover.hypotheses import Hypothesis, normalised, problem_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var
    from symdim.parsing import NameSpace
    from symdim.prover.hypotheses import Relation

_BUDGET = 3000
_RELATION = re.compile(r"(==|!=|<=|>=|<|>)")


class Fact(NamedTuple):
    """`dim relation 0`, its original text, and its origin."""

    dim: Dim
    relation: Relation
    text: str
    origin: object = None

    def __str__(self) -> str:
        return self.text if self.origin is None else f"{self.text} ({self.origin})"


class Facts:
    """Conditions that hold together. Their order never matters, and a repeated one changes nothing.

    Nothing follows from facts that contradict each other; see `symdim.prove`.

    >>> from symdim import Var
    >>> H, facts = Var("H"), Facts()
    >>> facts.divides(8, H, origin="the window size")
    >>> from symdim import prove
    >>> prove.equal(H // 8 * 8, H, facts)
    True
    >>> prove.explain(H // 8 * 8, "==", H, facts).facts
    ('H % 8 == 0 (the window size)',)
    >>> facts
    Facts(['H % 8 == 0 (the window size)'])
    """

    __slots__ = ("_about", "_checked", "_contradiction", "_facts", "_hypotheses")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._facts: dict[tuple[Dim, str], Fact] = {}
        self._checked = True
        self._contradiction: tuple[Fact, ...] | None = None
        self._hypotheses: list[Hypothesis] | None = []
        self._about: dict[Var, list[int]] = {}  # the places of the hypotheses about a variable
        refuse_text(texts, "facts")
        for text in texts:
            self.assume(text)

    def __len__(self) -> int:
        return len(self._facts)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts.values())

    def __repr__(self) -> str:
        return f"Facts([{', '.join(repr(str(fact)) for fact in self)}])"

    def _repr_html_(self) -> str:
        from symdim.notebook import html_table

        return html_table(f"{len(self)} facts", ["fact", "origin"], [(f.text, f.origin) for f in self])

    def __getitem__(self, number: int) -> Fact:
        return list(self._facts.values())[number]

    def add(self, a: Dim, relation: str, b: Dim, *, origin: object = None) -> None:
        """Add `a relation b`. The relation is one of == != >= > <= <."""
        self._enter(Fact(*normalised(checked(a), relation, checked(b)), f"{a!r} {relation} {b!r}", origin))

    def _enter(self, fact: Fact) -> None:
        if (fact.dim, fact.relation) not in self._facts:
            self._facts[fact.dim, fact.relation] = fact
            self._checked = False
            self._hypotheses = None

    def equal(self, a: Dim, b: Dim, *, origin: object = None) -> None:
        """Add a == b."""
        self.add(a, "==", b, origin=origin)

    def at_least(self, a: Dim, b: Dim, *, origin: object = None) -> None:
        """Add a >= b."""
        self.add(a, ">=", b, origin=origin)

    def divides(self, d: Dim, n: Dim, *, origin: object = None) -> None:
        """Add n % d == 0."""
        n, d = checked(n), checked(d)
        self._enter(Fact(mod(n, d), "==", f"{n!r} % {d!r} == 0", origin))

    def assume(
        self,
        text: str,
        names: Collection[str] | Mapping[str, Var] = (),
        *,
        scope: NameSpace | None = None,
        origin: object = None,
    ) -> None:
        """Add a relation written as text, such as `"T == P + S"`, `"H % 8 == 0"` or `"1 <= x < y"`."""
        from symdim.parsing import parse

        pieces = _RELATION.split(text)
        if len(pieces) < 3:
            raise ValueError(f"no relation (== != >= > <= <) in {text!r}")
        sides = [piece.strip() for piece in pieces[::2]]
        dims = [parse(side, names, scope=scope) for side in sides]
        for i, relation in enumerate(pieces[1::2]):
            said = f"{sides[i]} {relation} {sides[i + 1]}"
            self._enter(Fact(*normalised(dims[i], relation, dims[i + 1]), said, origin))

    def hypotheses(self) -> list[Hypothesis]:
        """The facts in structural order, each with its number as the reason. Do not change the list."""
        if self._hypotheses is None:
            numbered = [Hypothesis(f.dim, f.relation, frozenset((i,))) for i, f in enumerate(self._facts.values())]
            self._hypotheses = sorted(numbered, key=lambda h: (dim_order(h.dim), h.relation))
            self._about = {}
            for place, h in enumerate(self._hypotheses):
                for v in variables_of([h.dim]):
                    self._about.setdefault(v, []).append(place)
        return self._hypotheses

    def relevant(self, *dims: Dim) -> list[Hypothesis]:
        """The facts that share a variable with the dimensions, directly or through other facts, in structural order."""
        hypotheses = self.hypotheses()
        found: set[int] = set()
        seen = dict.fromkeys(variables_of(dims))
        pending = list(seen)
        while pending:
            for place in self._about.get(pending.pop(), ()):
                if place not in found:
                    found.add(place)
                    new = [v for v in variables_of([hypotheses[place].dim]) if v not in seen]
                    seen.update(dict.fromkeys(new))
                    pending += new
        return [hypotheses[place] for place in sorted(found)]

    def contradiction(self) -> tuple[Fact, ...] | None:
        """The facts that cannot hold together; None if no contradiction is found.

        >>> facts = Facts(["n >= 5", "n <= m", "m == 3"])
        >>> [fact.text for fact in facts.contradiction()]
        ['n >= 5', 'n <= m', 'm == 3']
        """
        if not self._checked:
            from symdim.prover.search import Found, Search

            try:
                problem = problem_of(self.hypotheses(), (), Budget(_BUDGET))
                reasons = Search(problem).refuted(problem)
            except (Found, OutOfBudget):
                reasons = None
            listed = list(self._facts.values())
            self._contradiction = (
                None if reasons is None else tuple(listed[i] for i in sorted(r for r in reasons if isinstance(r, int)))
            )
            self._checked = True
        return self._contradiction
