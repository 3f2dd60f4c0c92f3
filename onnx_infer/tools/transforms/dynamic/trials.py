"""What the rule of a node says of other sizes of its operands. So every operator is followed that has a rule.

A size of an operand is replaced, and the rule is asked again: does a result get the wanted size, and nothing else
another one? Does a law that was broken hold?
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING

from onnx_infer.engine.apply import Outcome, apply
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Node
    from onnx_infer.operators.operator import Operator

_EQUATING = ("equal", "broadcast", "broadcast_to")
_ORDERING = ("at_least", "at_most")
_AS_LARGE_AS_MEANT = ("GatherElements",)
"""Operators with an operand that may be smaller than another one. If they were equal in the trace, they always are."""


class Trial:
    """A node, its operator, and values for its operands."""

    def __init__(self, node: Node, operator: Operator, values: tuple[Value | None, ...]) -> None:
        self._node, self._operator, self._values = node, operator, values

    def places(self, size: Dim) -> Iterator[tuple[int, int]]:
        """The operands and axes that have this size."""
        for operand, value in enumerate(self._values):
            for axis, own in enumerate(_shape(value)):
                if own == size:
                    yield operand, axis

    def with_sizes(self, places: Iterable[tuple[int, int]], size: Dim) -> Trial:
        """The node with another size at places of its operands; elements of these operands are no longer known."""
        values = list(self._values)
        for operand, axis in places:
            value = values[operand]
            assert isinstance(value, SymTensor)
            values[operand] = SymTensor(value.dtype, (*value.dims[:axis], size, *value.dims[axis + 1 :]))
        return Trial(self._node, self._operator, tuple(values))

    @cached_property
    def _outcome(self) -> Outcome:
        return apply(self._operator, self._node[4], self._values, len(self._node[3]))

    def shape(self, index: int) -> Shape | None:
        """The shape of a result; None if it is not known, or the node does not run."""
        value = self._outcome.values[index]
        return value.shape if isinstance(value, SymTensor) and not self._outcome.error else None

    def is_mixed(self, number: Callable[[Dim], int | None]) -> bool:
        """Whether an operand has a free size, and one has its traced number."""
        sizes = {size for value in self._values for size in _shape(value)}
        return any(number(size) in sizes for size in sizes if isinstance(size, Expr))

    def equated(self, number: Callable[[Dim], int | None]) -> list[tuple[Dim, int]] | None:
        """The free sizes that the node equates with their traced numbers; None if the node does not run."""
        if self._outcome.error:
            return None
        relations = (*_EQUATING, *_ORDERING) if self._node[0] in _AS_LARGE_AS_MEANT else _EQUATING
        pairs = [(s.lhs, s.rhs) for s in self._outcome.statements if s.relation in relations]
        pairs += [(rhs, lhs) for lhs, rhs in pairs]
        return [(x, n) for x, n in pairs if isinstance(x, Expr) and isinstance(n, int) and number(x) == n]


def _shape(value: Value | None) -> Shape:
    return value.shape or () if isinstance(value, SymTensor) else ()


def trial(node: Node, scope: Scope) -> Trial | None:
    """A node with the values of a scope; None if it has no rule, or graphs."""
    operator = scope.operators[node[1], node[0]]
    if operator is None or node[4].has_graphs or not all(scope.knows(name) for name in node[2] if name):
        return None
    values = tuple([scope[name] if name else None for name in node[2]])
    return Trial(node, operator, scope.with_elements(operator, node[2], values))


def deciding(node: Node, scope: Scope, index: int, axis: int, wanted: Dim) -> tuple[tuple[int, int], ...]:
    """The places of operands that give a result the wanted size at an axis, and leave its other sizes.

    That is one place, or one of each of two operands; none if there are several ways or none.
    """
    given = trial(node, scope)
    before = given.shape(index) if given is not None else None
    if given is None or before is None:
        return ()
    after = (*before[:axis], wanted, *before[axis + 1 :])
    for ways in _ways(given, before[axis]):
        found = [way for way in ways if given.with_sizes(way, wanted).shape(index) == after]
        if found:
            return found[0] if len(found) == 1 else ()
    return ()


def _ways(given: Trial, size: Dim) -> Iterator[list[tuple[tuple[int, int], ...]]]:
    """The places of a size, first each alone, then those of each two operands together."""
    places = list(given.places(size))
    yield [(place,) for place in places]
    yield [(first, second) for first, second in combinations(places, 2) if first[0] != second[0]]


def demanded(node: Node, scope: Scope, number: Callable[[Dim], int | None]) -> Iterator[tuple[int, int, Dim]]:
    """The operands, axes and free sizes that a node demands where the operand has the traced number."""
    given = trial(node, scope)
    broken = given.equated(number) if given is not None and given.is_mixed(number) else None
    while given is not None and broken:
        step = _cured(given, broken, number)
        if step is None:
            return
        places, wanted, given, broken = step
        yield from ((operand, axis, wanted) for operand, axis in places)


def _cured(
    given: Trial, broken: list[tuple[Dim, int]], number: Callable[[Dim], int | None]
) -> tuple[tuple[tuple[int, int], ...], Dim, Trial, list[tuple[Dim, int]]] | None:
    """Places whose free size leaves fewer laws broken, the size, and what is left.

    Several operands may break one law in turn: of two states of a layer each alone would have to have the batch.
    """
    for wanted, size in broken:
        for way in chain.from_iterable(_ways(given, size)):
            tried = given.with_sizes(way, wanted)
            left = tried.equated(number)
            if left is not None and len(left) < len(broken):
                return way, wanted, tried, left
    return None
