"""The types and guards of two results side by side, in the symbols of the first one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from onnx_infer.types.join import variables_in
from onnx_infer.types.merge import size_pairs
from onnx_infer.values.containers import Optional, Sequence
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Value, substitute
from symdim import Var, equal
from symdim.algebra.origin import is_data_dependent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.results.guards import Guard
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.comparison.graphs import GraphValue

Pair: TypeAlias = "tuple[str | None, str | None]"
"""A value of the first result and its match in the second one; None if there is none."""


class TypeDifference(NamedTuple):
    """Two matched values whose types differ. A name and its type are None if this result has no such value.

    `follows`: whether a value that its node reads differs, too.
    """

    first: str | None
    second: str | None
    first_type: Value | None
    second_type: Value | None
    follows: bool = False


class Types:
    """The types of two results. `renamed`: symbols of the second one -> those of the first one."""

    def __init__(self, first: Inferred, second: Inferred) -> None:
        self.results = first, second
        self.renamed: dict[Var, Dim] = {}
        self._taken: set[Dim] = set()
        self._equal: dict[tuple[Dim, Dim], bool] = {}

    def guards(self) -> tuple[list[Guard], list[Guard]]:
        """The guards of each result that the other one does not have."""
        first, second = self.results
        ours = [*first.guards, *first.data_guards]
        guards = (*second.guards, *second.data_guards)
        theirs = [guard._replace(condition=guard.condition.substitute(self.renamed)) for guard in guards]
        return _without(ours, theirs), _without(theirs, ours)

    @property
    def names(self) -> dict[str, str]:
        """The names of symbols of the second result that are others in the first one, with these."""
        return {v.name: str(to) for v, to in self.renamed.items() if v.name != str(to)}

    def rename(self, pairs: Iterable[Pair], *, data_dependent: bool) -> None:
        """Rename symbols of the second result to those of the first one at the same axes of paired values."""
        for a, b in pairs:
            for ours, theirs in size_pairs(self._type(0, a), self._type(1, b)):
                if not (isinstance(ours, Var) and isinstance(theirs, Var)) or UNKNOWN_SIZE in (ours, theirs):
                    continue
                is_new = theirs not in self.renamed and ours not in self._taken
                if is_new and (not data_dependent or is_data_dependent(ours.origin)):
                    self.renamed[theirs] = ours
                    self._taken.add(ours)

    def rename_by(self, names: Mapping[str, str]) -> None:
        """Rename what is left: symbols that have the name of a value in theirs, and fresh ones, in order."""
        ours, theirs = (self._left(side) for side in (0, 1))
        known = {v.name: v for v in ours}
        for v in theirs:
            if (to := known.get(with_names(v.name, names))) is not None and to not in self._taken:
                self.renamed[v] = to
                self._taken.add(to)
        rest = [v for v in ours if v not in self._taken], [v for v in theirs if v not in self.renamed]
        for to, v in zip(*rest, strict=False):
            if is_data_dependent(to.origin) and is_data_dependent(v.origin):
                self.renamed[v] = to

    def _left(self, side: int) -> list[Var]:
        """The symbols of a result that have no partner yet, in the order of its values and guards."""
        result = self.results[side]
        symbols = dict.fromkeys(v for value in result.types.values() for v in variables_in(value))
        symbols.update(dict.fromkeys(v for g in (*result.guards, *result.data_guards) for v in g.variables()))
        return [v for v in symbols if v not in (self.renamed if side else self._taken)]

    def _type(self, side: int, name: str | None) -> Value | None:
        return None if name is None else self.results[side].types.get(name)

    def differences(self, pairs: Iterable[Pair]) -> list[TypeDifference]:
        differences = []
        for a, b in pairs:
            ours, theirs = self._type(0, a), self._type(1, b)
            if theirs is not None:
                theirs = substitute(theirs, self.renamed)
            if ours is not theirs and not self._are_alike(ours, theirs):
                differences.append(TypeDifference(a, b, ours, theirs))
        return differences

    def _are_alike(self, ours: Value | None, theirs: Value | None) -> bool:
        """Whether two types have the same kinds, element types and sizes. Known elements are not compared."""
        if ours is None or theirs is None or _kind(ours) != _kind(theirs):
            return False
        return all(self._are_equal(a, b) for a, b in size_pairs(ours, theirs))

    def _are_equal(self, a: Dim, b: Dim | None) -> bool:
        if b is None or isinstance(a, int) or isinstance(b, int) or a is b:
            return a == b
        if (a, b) not in self._equal:
            self._equal[a, b] = equal(a, b) is True
        return self._equal[a, b]


_WORD = re.compile(r"[^\s'\"`,;()\[\]{}*+=<>]+")
"""A name in a message."""


def with_names(text: str, names: Mapping[str, str]) -> str:
    """The text with other names in place of those in it."""
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text)


def _kind(value: Value) -> tuple[object, ...]:
    """The kind of a type, of the types in it, the element type, and the rank."""
    kinds: list[object] = [type(value)]
    while isinstance(value, (Sequence, Optional)) and value.elem is not None:
        value = value.elem
        kinds.append(type(value))
    shape = getattr(value, "shape", None)
    return *kinds, getattr(value, "dtype", None), None if shape is None else len(shape)


def agree(ours: Value | None, theirs: Value | None) -> bool:
    """Whether two declared types can both be true. Names of sizes are not compared."""
    if ours is None or theirs is None:
        return True
    kinds, sizes = zip(_kind(ours), _kind(theirs), strict=False), size_pairs(ours, theirs)
    return all(a == b or None in (a, b) for a, b in kinds) and all(
        a == b for a, b in sizes if isinstance(a, int) and isinstance(b, int)
    )


def _without(guards: list[Guard], others: list[Guard]) -> list[Guard]:
    """The guards whose conditions the others do not have."""
    known = {(guard.condition, guard.kind) for guard in others}
    return [guard for guard in guards if (guard.condition, guard.kind) not in known]


def with_causes(types: list[list[TypeDifference]], values: list[GraphValue]) -> list[list[TypeDifference]]:
    """The differences, with which of them follow from others."""
    differing = {difference.first for group in types for difference in group}
    follow = set()
    for value in values:
        if value.node is not None and any(
            r is not None and r.name in differing for r in (*value.node.reads, *value.node.captured)
        ):
            follow.add(value.name)
    return [[d._replace(follows=d.first in follow) for d in group] for group in types]
