"""Denotations of axes: sizes that are equal, or are parts of each other, have one label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.store.errors import LONGEST_CHAIN

if TYPE_CHECKING:
    from symdim.algebra.variable import Var
    from symdim.store.constraints import Constraint
    from symdim.store.solution import Solution


class Labels:
    """Sets of variables with the same label."""

    def __init__(self) -> None:
        self._parents: dict[Var, Var] = {}
        self._members: dict[Var, list[Var]] = {}
        self._labels: dict[Var, tuple[str, Constraint]] = {}

    def root(self, v: Var) -> Var:
        """The representative of the set of `v`."""
        parents = self._parents
        while (parent := parents.get(v, v)) is not v:
            parents[v] = v = parents.get(parent, parent)
        return v

    def of(self, v: Var) -> str | None:
        """The label of a variable."""
        found = self._labels.get(self.root(v)) if self._labels else None
        return None if found is None else found[0]

    def put(self, solution: Solution, v: Var, text: str, fact: Constraint) -> list[Var]:
        """Label a set; return the variables that are labelled now. Raises Contradiction if it has another label."""
        root = self.root(v)
        old = self._labels.get(root)
        if old is None:
            self._labels[root] = text, fact
            return self._members.get(root, [root])
        if old[0] != text:
            chain = tuple(dict.fromkeys(solution.chain(fact) + solution.chain(old[1])))[:LONGEST_CHAIN]
            error = solution.contradiction("label_mismatch", f"{v!r} is {text!r} and {old[0]!r}", fact)
            error.chain = chain
            raise error
        return []

    def unite(self, solution: Solution, variables: tuple[Var, ...], fact: Constraint) -> list[Var]:
        """Give variables the same label; return those newly labelled. Raises Contradiction if labels differ."""
        changed: list[Var] = []
        for v in variables:
            a, b = self.root(variables[0]), self.root(v)
            if a is b:
                continue
            if len(self._members.get(a, ())) < len(self._members.get(b, ())):
                a, b = b, a
            members, others = self._members.setdefault(a, [a]), self._members.pop(b, [b])
            label = self._labels.pop(b, None)
            if label is not None and a in self._labels:
                self.put(solution, a, label[0], fact)
            elif label is not None:
                self._labels[a] = label
                changed += list(members)
            elif a in self._labels:
                changed += others
            self._parents[b] = a
            members += others
        return changed
