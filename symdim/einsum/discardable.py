"""Labels of concatenations whose parts may be empty, because they are projected away."""

from __future__ import annotations

from symdim.einsum.spec import Axis, Concatenation, ShapeSpec, Spec, labels_of


def discardable(spec: Spec) -> frozenset[str]:
    """The labels whose part of a concatenation may have size 0.

    Let v be a label in a component of a concatenation on one side. It is discardable if every shape on the other side
    has an axis such that every component of the axis shares a label with the other components of v's concatenation.

    >>> from symdim.einsum.reader import parse_spec
    >>> [sorted(discardable(parse_spec(text))) for text in ("a^b => b", "a^b => a^b", "a; b => a^b", "a^b^c => b^c")]
    [['a'], [], [], ['a']]
    """
    operands, result = spec.operands or (), (spec.result,)
    return _one_side(operands, result) | _one_side(result, operands)


def _one_side(side: tuple[ShapeSpec, ...], other: tuple[ShapeSpec, ...]) -> frozenset[str]:
    found = set()
    for axis in (axis for shape in side for axis in shape.axes if isinstance(axis, Concatenation)):
        for place, part in enumerate(axis.parts):
            complement = {name for i, name in enumerate(axis.parts) if i != place}
            if isinstance(part, str) and other and all(_is_covered(shape, complement) for shape in other):
                found.add(part)
    return frozenset(found)


def _is_covered(shape: ShapeSpec, complement: set[str | int]) -> bool:
    """Whether some axis has a label of the complement in each of its components."""
    return any(all(complement & component for component in _components(axis)) for axis in shape.axes)


def _components(axis: Axis) -> list[set[str]]:
    """The sets of labels in an axis: one set per part of a concatenation, else a single set."""
    if isinstance(axis, Concatenation):
        return [{part} if isinstance(part, str) else set() for part in axis.parts]
    return [set(labels_of(axis))]
