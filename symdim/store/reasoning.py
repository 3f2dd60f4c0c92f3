"""Reasoning: what is assumed about sizes, questions about it, and the way back.

What is assumed at a time are facts that nothing changes: an assumption makes other ones. So the way back is exact, to
any checkpoint and in any order. The prover gets the facts about a question only, so a question costs the same among
many others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symdim import prove
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.dims import substituted
from symdim.errors import DivisionByZero, refuse_text
from symdim.facts import Facts, origin_text, relations_of, with_origin
from symdim.parsing import parse
from symdim.prove import Proof
from symdim.prover.hypotheses import Refuted
from symdim.prover.simplification import determined, simplify
from symdim.relations.relation import SIGNS, Relation
from symdim.store.constraints import Constraint, Contradiction, Origin

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from symdim.algebra.expr import Dim
    from symdim.parsing import NameSpace


@dataclass(frozen=True, eq=False, slots=True)
class Assumed(Constraint):
    """A relation as it was assumed, in the chain of a contradiction."""

    relation: Relation

    def relations(self) -> tuple[Relation, ...]:
        """The relation."""
        return (self.relation,)


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """What a reasoning assumed at one time. Only that reasoning goes back to it."""

    of: Reasoning
    facts: Facts


class Reasoning:
    """Assumptions about sizes, answers that follow from them, and checkpoints.

    An answer is True (it holds in all cases that the assumptions allow), False (there is a case in which it does not),
    or None (unknown). An assumption that cannot hold together with the others raises Contradiction, whose `chain` has
    them with their origins, and changes nothing. So what is assumed never contradicts itself, as far as that is found.

    Sizes and relations may be texts; their names are variables of `scope`, by default `Var(name)`. A relation is a text
    such as `"H >= 4"`, a Relation, or two sizes with a sign between them: `prove(H, ">=", 4)`.

    >>> from symdim import Reasoning
    >>> reasoning = Reasoning(["T == P + S", "H % 8 == 0"])
    >>> reasoning.prove("T >= S + 1"), reasoning.prove("S >= 2"), reasoning.simplify("H // 8 * 8")
    (True, False, H)
    >>> before = reasoning.checkpoint()
    >>> reasoning.unify("H", "3*K", origin="Concat_3"), reasoning.prove("K % 8 == 0")
    (3*K, True)
    >>> reasoning.explain("K % 8 == 0").facts
    ('H % 8 == 0', 'H == 3*K (Concat_3)')
    >>> reasoning.rollback(before)
    >>> reasoning
    Reasoning(['T == P + S', 'H % 8 == 0'])
    """

    __slots__ = ("_scope", "_state")

    def __init__(self, relations: Iterable[str | Relation] = (), *, scope: NameSpace | None = None) -> None:
        self._scope = scope
        self._state = Checkpoint(self, Facts())
        refuse_text(relations, "assumptions")
        for relation in relations:
            self.assume(relation)

    def __len__(self) -> int:
        return len(self._state.facts)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._state.facts)

    def __repr__(self) -> str:
        return f"Reasoning([{', '.join(repr(with_origin(relation)) for relation in self)}])"

    def assume(self, *relation: str | Relation | Dim, origin: Hashable = None) -> None:
        """Assume a relation, or a chain of them as a text: `"1 <= x < y"`.

        Raises Contradiction if it cannot hold together with the others. Then nothing is assumed.
        """
        facts = self._state.facts.copied()
        new = self._relations("assume", relation)
        for part in new:
            facts.assume(part, origin=origin)
        impossible = facts.about(*[side for part in new for side in (part.left, part.right)]).contradiction()
        if impossible is not None:
            chain = tuple(Assumed(Origin(text=origin_text(fact)), (), "size", fact) for fact in impossible)
            raise Contradiction("size_mismatch", "the assumptions cannot hold together", chain)
        self._state = Checkpoint(self, facts)  # only now: an assumption that fails leaves everything as it was

    def unify(self, a: Dim | str, b: Dim | str, *, origin: Hashable = None) -> Dim:
        """Assume a == b; return the size that stands for both. Raises Contradiction as `assume` does."""
        a, b = self._size(a), self._size(b)
        self.assume(Relation("equal", a, b), origin=origin)
        return self.simplify(a)

    def simplify(self, dim: Dim | str) -> Dim:
        """A size that equals this one in all cases that the assumptions allow; shorter if the search finds one.

        Variables that the assumptions determine are replaced first, so sizes that were unified become one.
        """
        dim = self._solved(self._size(dim))
        return simplify(dim, self._state.facts.about(dim))

    def prove(self, *relation: str | Relation | Dim) -> bool | None:
        """Whether a relation, or each of a chain, holds in all cases that the assumptions allow."""
        return self._proof("prove", relation).answer

    def explain(self, *relation: str | Relation | Dim) -> Proof:
        """The same answer with its grounds: the assumptions and laws used for True, values of variables for False."""
        return self._proof("explain", relation)

    def _proof(self, call: str, relation: tuple[str | Relation | Dim, ...]) -> Proof:
        proofs = [
            prove.explain(dim, SIGNS[kind], 0, self._state.facts.about(dim))
            for kind, dim, _, _ in (part.normal() for part in self._relations(call, relation))
        ]
        refuted = next((proof for proof in proofs if proof.answer is False), None)
        if refuted is not None or None in [proof.answer for proof in proofs]:
            return refuted or Proof(None)
        used = dict.fromkeys(fact for proof in proofs for fact in proof.facts)
        return Proof(True, tuple(used), tuple(sorted({law for proof in proofs for law in proof.laws})))

    def checkpoint(self) -> Checkpoint:
        """What is assumed now."""
        return self._state

    def rollback(self, checkpoint: Checkpoint) -> None:
        """Assume again what was assumed at a checkpoint, and nothing else. A checkpoint serves any number of times.

        Raises ValueError for the checkpoint of another reasoning.
        """
        if not isinstance(checkpoint, Checkpoint):
            raise TypeError(f"a checkpoint is what `checkpoint()` returned, not {type(checkpoint).__name__}")
        if checkpoint.of is not self:
            raise ValueError("rollback: the checkpoint belongs to another reasoning")
        self._state = checkpoint

    def _size(self, given: Dim | str) -> Dim:
        return parse(given, scope=self._scope) if isinstance(given, str) else checked(given)

    def _relations(self, call: str, given: tuple[str | Relation | Dim, ...]) -> list[Relation]:
        """The relations of a call; TypeError for what is none."""
        if len(given) == 1:
            if isinstance(given[0], Relation):
                return [given[0]]
            if isinstance(given[0], str):
                return relations_of(given[0], scope=self._scope)
        elif len(given) == 3:
            left, sign, right = given
            if isinstance(sign, str) and not isinstance(left, Relation) and not isinstance(right, Relation):
                return [Relation.of(self._size(left), sign, self._size(right))]
        cure = f"{call}('H >= 4') or {call}(H, '>=', 4)"
        raise TypeError(f"a relation is a text, a Relation, or two sizes with a sign between them, as in {cure}")

    def _solved(self, dim: Dim) -> Dim:
        """The size without the variables for which the equations are solved; itself where they leave it no value."""
        try:
            return substituted(dim, determined(dim, self._state.facts, equations_only=True))
        except (Refuted, DivisionByZero):
            return dim
