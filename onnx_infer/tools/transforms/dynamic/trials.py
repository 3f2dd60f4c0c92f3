"""What the rule of a node says of other sizes of its operands, and of other numbers. So every operator that has a rule
is followed.

A size of an operand is replaced, and the rule is asked again: does a result get the wanted size, and nothing else
another one? Does a law that was broken hold? A number that the rule reads is replaced in the same way: if the size of
a result becomes larger by one, the number is that size.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.engine.apply import Outcome, apply
from onnx_infer.model.graph import Attributes, Node
from onnx_infer.operators.schema import COLLECTIONS
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value
from symdim import Expr, Var

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_infer.engine.scope import Scope
    from onnx_infer.operators.operator import Operator

EQUATING = ("equal", "broadcast", "broadcast_to")
_ORDERING = ("at_least", "at_most")
_AS_LARGE_AS_MEANT = ("GatherElements",)
"""Operators with an operand that may be smaller than another one. If they were equal in the trace, they always are."""


_PLACES = ("axis", "axes", "perm", "batch_dims")
"""The names by which schemas call numbers of axes, which are no sizes."""


class Number(NamedTuple):
    """A number that a rule reads: an element of an operand, or of an attribute, which has no `operand`."""

    name: str
    operand: int | None
    at: int
    value: int


class Effect(NamedTuple):
    """The size of a result at an axis, and what it becomes if a number that the rule reads is larger by one."""

    result: int
    axis: int
    before: Dim
    after: Dim


class Trial:
    """A node, its operator, and values for its operands."""

    def __init__(
        self, node: Node, operator: Operator, values: tuple[Value | None, ...], attributes: Attributes
    ) -> None:
        self._node, self.operator, self.values, self.attributes = node, operator, values, attributes

    def places(self, size: Dim) -> Iterator[tuple[int, int]]:
        """The operands and axes that have this size."""
        for operand, value in enumerate(self.values):
            for axis, own in enumerate(dims_of(value)):
                if own == size:
                    yield operand, axis

    def with_sizes(self, places: Iterable[tuple[int, int]], size: Dim) -> Trial:
        """The node with another size at places of its operands; elements of these operands are no longer known."""
        values = list(self.values)
        for operand, axis in places:
            value = values[operand]
            assert isinstance(value, SymTensor)
            values[operand] = SymTensor(value.dtype, (*value.dims[:axis], size, *value.dims[axis + 1 :]))
        return self._replaced(values)

    def _replaced(self, values: Sequence[Value | None]) -> Trial:
        return Trial(self._node, self.operator, tuple(values), self.attributes)

    @cached_property
    def outcome(self) -> Outcome:
        """What the rule says."""
        return apply(self.operator, self.attributes, self.values, len(self._node[3]))

    # -- numbers ------------------------------------------------------------------------------------------------------

    def numbers(self) -> Iterator[Number]:
        """The numbers that the rule reads, without those that name axes."""
        operator = self.operator
        for i in operator.asked(len(self.values)).wants:
            value, name = self.values[i], operator.schema.inputs[operator.types.position(i)].name
            if isinstance(value, SymTensor) and value.data is not None and name not in _PLACES:
                yield from (Number(name, i, at, x) for at, x in enumerate(value.data) if type(x) is int)
        for p in operator.parameters:
            names = COLLECTIONS[p.want]._fields if p.source == "attributes" else (p.name,)
            for name in names if p.source in ("attribute", "attributes") else ():
                numbers = self.attributes.values.get(name)
                elements = numbers if isinstance(numbers, tuple) else (numbers,)
                if name not in _PLACES:
                    yield from (Number(name, None, at, x) for at, x in enumerate(elements) if type(x) is int)

    def effects(self, number: Number, by: int = 1) -> list[Effect]:
        """The sizes of results that depend on a number; none if the node does not run with one that is larger `by`."""
        at, name, larger = number.at, number.name, number.value + by
        if number.operand is None:
            numbers = self.attributes.values[name]
            changed = (*numbers[:at], larger, *numbers[at + 1 :]) if isinstance(numbers, tuple) else larger
            attributes = Attributes({**self.attributes.values, name: changed})
            return self._changed(Trial(self._node, self.operator, self.values, attributes))
        value = self.values[number.operand]
        assert isinstance(value, SymTensor)
        data = list(value.data or ())
        data[at] = larger
        operand = SymTensor(value.dtype, value.shape, data)
        return self._changed(self._replaced([operand if i == number.operand else x for i, x in enumerate(self.values)]))

    def effects_of_size(self, operand: int, axis: int) -> list[Effect]:
        """The sizes of results that depend on the size of an operand, which is a number."""
        size = dims_of(self.values[operand])[axis]
        return self._changed(self.with_sizes([(operand, axis)], size + 1))

    def _changed(self, other: Trial) -> list[Effect]:
        """The sizes of results that another trial has otherwise; none if it breaks or demands more than this one."""
        if other.outcome.error or len(other.outcome.statements) > len(self.outcome.statements):
            return []
        effects = []
        for i in range(len(self._node[3])):
            mine, theirs = self.shape(i) or (), other.shape(i) or ()
            if len(mine) == len(theirs):
                pairs = enumerate(zip(mine, theirs, strict=True))
                effects += [Effect(i, axis, a, b) for axis, (a, b) in pairs if a != b]
        return effects

    def sizes_read(self) -> Iterator[tuple[Number, Effect]]:
        """The elements of operands that are, each alone, the size of results at an axis.

        The target of a Reshape has to fit the number of elements, and that of an Expand the sizes of the operand.
        """
        is_tied = any(statement.relation in EQUATING for statement in self.outcome.statements)
        for number in self.numbers() if self.operator.rule.traits.view != "whole" and not is_tied else ():
            effects = self.effects(number) if number.operand is not None else []
            if len({effect.axis for effect in effects}) == 1 and all(is_size(number, effect) for effect in effects):
                yield from ((number, effect) for effect in effects)

    def shape(self, index: int) -> Shape | None:
        """The shape of a result; None if it is not known, or the node does not run."""
        value = self.outcome.values[index]
        return value.shape if isinstance(value, SymTensor) and not self.outcome.error else None

    def equated(self, number: Callable[[Dim], int | None]) -> list[tuple[Dim, int]] | None:
        """The free sizes that the node equates with their traced numbers; None if the node does not run."""
        if self.outcome.error:
            return None
        relations = (*EQUATING, *_ORDERING) if self._node[0] in _AS_LARGE_AS_MEANT else EQUATING
        pairs = [(s.lhs, s.rhs) for s in self.outcome.statements if s.relation in relations]
        pairs += [(rhs, lhs) for lhs, rhs in pairs]
        return [(x, n) for x, n in pairs if isinstance(x, Expr) and isinstance(n, int) and number(x) == n]


def is_size(number: Number, effect: Effect) -> bool:
    """Whether a number alone is the size that depends on it."""
    return (effect.before, effect.after) == (number.value, number.value + 1)


def aligned(trial: Trial, effect: Effect) -> Dim | None:
    """The size of the first operand at the axis of a result; None if the ranks differ."""
    before = dims_of(trial.values[0]) if trial.values else ()
    after = trial.shape(effect.result) or ()
    return before[effect.axis] if len(before) == len(after) else None


def dims_of(value: Value | None) -> Shape:
    """The sizes of a tensor; empty if they are not known."""
    return value.shape or () if isinstance(value, SymTensor) else ()


def elements_of(scope: Scope, name: str) -> tuple[Any, ...] | None:
    """The elements of a tensor, which may be a small constant; None if they are not known."""
    holder = scope.holder(name)
    value = scope[name] if holder is None else holder.load(name)
    return value.data if isinstance(value, SymTensor) else None


def value_at(size: Dim, sizes: Mapping[str | Var, int]) -> int | None:
    """A size at sizes of symbols; None if it has others."""
    if isinstance(size, int):
        return size
    return size.to_int(sizes) if all(v in sizes or v.name in sizes for v in size.variables()) else None


def trial_of(node: Node, scope: Scope, attributes: Attributes | None = None) -> Trial | None:
    """A node with the values of a scope; None if it has no rule, or graphs. `attributes` replace those of the node."""
    operator = scope.operators[node[1], node[0]]
    if operator is None or node[4].has_graphs or not all(scope.knows(name) for name in node[2] if name):
        return None
    values = tuple([scope[name] if name else None for name in node[2]])
    return Trial(node, operator, scope.with_elements(operator, node[2], values), attributes or node[4])


def deciding(node: Node, scope: Scope, index: int, axis: int, wanted: Dim) -> tuple[tuple[int, int], ...]:
    """The places of operands that give a result the wanted size at an axis, and leave its other sizes.

    That is one place, or one of each of two operands; none if there are several ways or none.
    """
    trial = trial_of(node, scope)
    before = trial.shape(index) if trial is not None else None
    if trial is None or before is None:
        return ()
    after = (*before[:axis], wanted, *before[axis + 1 :])
    for ways in _ways(trial, before[axis]):
        sufficient = [way for way in ways if trial.with_sizes(way, wanted).shape(index) == after]
        if sufficient:
            return sufficient[0] if len(sufficient) == 1 else ()
    return ()


def _ways(trial: Trial, size: Dim) -> Iterator[list[tuple[tuple[int, int], ...]]]:
    """The places of a size, first each alone, then those of each two operands together."""
    places = list(trial.places(size))
    yield [(place,) for place in places]
    yield [(first, second) for first, second in combinations(places, 2) if first[0] != second[0]]


def demanded(node: Node, scope: Scope, number: Callable[[Dim], int | None]) -> Iterator[tuple[int, int, Dim]]:
    """The operands, axes and free sizes that a node demands where the operand has the traced number."""
    trial = trial_of(node, scope)
    broken = trial.equated(number) if trial is not None else None
    while trial is not None and broken:
        step = _cured(trial, broken, number)
        if step is None:
            return
        places, wanted, trial, broken = step
        yield from ((operand, axis, wanted) for operand, axis in places)


def _cured(
    trial: Trial, broken: list[tuple[Dim, int]], number: Callable[[Dim], int | None]
) -> tuple[tuple[tuple[int, int], ...], Dim, Trial, list[tuple[Dim, int]]] | None:
    """Places whose free size leaves fewer laws broken, the size, and what is left.

    Several operands may break one law in turn: of two states of a layer each alone would have to have the batch.
    """
    for wanted, size in broken:
        for way in chain.from_iterable(_ways(trial, size)):
            tried = trial.with_sizes(way, wanted)
            left = tried.equated(number)
            if left is not None and len(left) < len(broken):
                return way, wanted, tried, left
    return None
