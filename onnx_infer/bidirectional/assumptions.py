"""What the caller assumes of the symbols of a model: `"H % 32 == 0"`, `"total == past + seq"`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symdim import Expr, Facts, ParseError, Var, parse, simplify
from symdim.algebra.dims import variables_of
from symdim.algebra.expr import FloorDiv
from symdim.algebra.floordiv import mod
from symdim.store import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.values.tensor import Dim
    from symdim.store import Store

_RELATION = re.compile(r"(==|!=|<=|>=|<|>)")


class Assumptions:
    """Relations between the symbols of a model, read as its `dim_param`s are; `symbols` are those it has.

    >>> assumed = Assumptions(["H % 8 == 0", "total == past + seq"])
    >>> H, past, seq = Var("H"), Var("past"), Var("seq")
    >>> assumed.simplest(8 * (H // 8) + 1), assumed.simplest(2 * past + 2 * seq + 1)
    (H + 1, 2*total + 1)
    """

    def __init__(self, texts: Iterable[str], symbols: Mapping[str, Var] | None = None) -> None:
        self.relations = [relation for text in texts for relation in _read(text, symbols or {})]
        self.facts = Facts()
        for text, a, relation, b in self.relations:
            self.facts.add(a, relation, b, origin=f"assumed: {text}")
        self._known: dict[Dim, Dim] = {}

    def __bool__(self) -> bool:
        return bool(self.relations)

    def names(self) -> set[str]:
        """The names of the symbols that the relations mention."""
        sides = (side for _, a, _, b in self.relations for side in (a, b))
        return {v.name for v in variables_of(sides)}

    def contradiction(self) -> str | None:
        """The assumptions that cannot hold together."""
        found = self.facts.contradiction()
        return None if found is None else "assumptions contradict each other: " + "; ".join(f.text for f in found)

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
        """The size as it reads shortest under the relations; it is equal wherever they hold."""
        if not isinstance(dim, Expr):
            return dim
        found = self._known.get(dim)
        if found is None:
            found = simplify(dim, self.facts)
            for _, a, relation, b in self.relations:
                if relation == "==" and isinstance(a, Var):
                    found = _with_name(found, a, b)
            self._known[dim] = found
        return found


def _read(text: str, symbols: Mapping[str, Var]) -> Sequence[tuple[str, Dim, str, Dim]]:
    pieces = _RELATION.split(text)
    if len(pieces) < 3:
        raise ParseError(text, 0, "no relation (== != >= > <= <) in the assumption")
    sides = [parse(piece.strip(), symbols) for piece in pieces[::2]]
    return [(text, sides[i], relation, sides[i + 1]) for i, relation in enumerate(pieces[1::2])]


def _remainder(a: Dim, b: Dim) -> tuple[Dim, Dim] | None:
    """(n, d) of `n % d == 0`, which is held as `n - d*(n//d) == 0`."""
    gap = a - b
    if not isinstance(gap, Expr) or gap.terms is None:
        return None
    for unit, k in gap.terms.items():
        if isinstance(unit, FloorDiv) and unit.terms is None:
            n, d = unit.parts
            if isinstance(d, int) and k == -d and gap == mod(n, d):
                return n, d
    return None


def _with_name(dim: Dim, name: Var, value: Dim) -> Dim:
    """The size with a multiple of `value` as that of its name, where it is a part of it."""
    if not isinstance(dim, Expr) or not isinstance(value, Expr) or name in dim.variables():
        return dim
    ours, theirs = dim.terms or {dim: 1}, value.terms or {value: 1}
    first, k = next(iter(theirs.items()))
    times, rest = divmod(ours.get(first, 0), k)
    if times == 0 or rest:
        return dim
    replaced = dim + times * (name - value)
    if isinstance(replaced, int):
        return replaced
    return replaced if len(replaced.terms or (1,)) < len(ours) or len(ours) == len(theirs) == 1 else dim
