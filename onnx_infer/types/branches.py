"""The value of two branches, of which a condition on sizes or something else decides one: see `values/tensor.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.elements.conditions import Positive, is_choice, logical_and, logical_not, logical_or, select
from onnx_infer.laws.readable import is_unreadable
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.laws.statements import state
from onnx_infer.types.join import join
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import OneOf
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.elements.ratio import Element
    from onnx_infer.types.join import Size
    from onnx_infer.values.tensor import Dim


def of_different_rank(a: Value, b: Value) -> bool:
    """Whether two tensors of one element type have known ranks that differ."""
    if not isinstance(a, SymTensor) or not isinstance(b, SymTensor) or a.shape is None or b.shape is None:
        return False
    return a.dtype == b.dtype and len(a.shape) != len(b.shape)


def size_of_branches(a: Dim, b: Dim, source: object, unsure: Size) -> Dim:
    """A size of one of two branches: a function of the condition on sizes that decides, or an unsure one."""
    exact = isinstance(source, Positive) and not is_fresh(a) and not is_fresh(b)
    return select(source, a, b) if exact else unsure(a, b)


def of_branches(a: Value, b: Value, source: Element | Dim, unsure: Size, *, elements: bool = False) -> Value:
    """A value that covers those of two branches. `source` decides which branch is taken: the first if it holds.

    If the source is a condition on sizes, a size that differs is a function of it. Tensors of different ranks stay one
    of two. With `elements`, so do tensors of different known elements: conditions may be computed from them, and
    `a*[c] + b*[not c]` is a where c holds. An element that no condition has to tell from the other is plain.
    """

    def size(a: Dim, b: Dim) -> Dim:
        return size_of_branches(a, b, source, unsure)

    if isinstance(source, bool):
        return a if source else b
    if source is not None:
        a, b = of_side(a, source, 0), of_side(b, source, 1)
    if isinstance(source, Positive):
        for first, second, taken in ((a, b, source), (b, a, logical_not(source))):
            if isinstance(first, OneOf) and isinstance(first.source, Positive) and second in first.choices:
                return of_branches(*first.choices, _of_nested(first, second, taken), unsure, elements=elements)
    joined = join(a, b, size)
    if source is None or not isinstance(a, SymTensor) or not isinstance(b, SymTensor):
        return joined
    assert isinstance(joined, SymTensor)
    if elements and isinstance(source, Positive) and a.data and b.data and a.shape == b.shape:
        pairs = list(zip(a.data, b.data, joined.data or [None] * len(a.data), strict=True))
        chosen = [z if is_fresh(x) or is_fresh(y) else select(source, x, y) for x, y, z in pairs]
        joined = SymTensor(joined.dtype, joined.shape, [None if is_unreadable(x) else x for x in chosen])
        return OneOf(source, a, b, joined) if any(is_choice(source, x, y) for x, y, _ in pairs) else joined
    if of_different_rank(a, b) or (elements and of_different_elements(a, b)):
        return OneOf(source, a, b, joined)
    return joined


def _of_nested(a: OneOf, b: Value, source: Element) -> Element:
    """Whether it is the first of two tensors: `a`, which is one of them, where the source holds, else `b`."""
    return logical_or(logical_not(source), a.source) if b is a.choices[0] else logical_and(source, a.source)


def demand_side(source: object, *, first: bool, law: str) -> None:
    """State that a condition on sizes holds (or not, for the second side), because the other side breaks a law.

    What this decides besides is known in the next walk, under the bounds that it implies.
    """
    if isinstance(source, Positive):
        state("at_least" if first else "at_most", source.size, int(first), law)
        state("undecided", source.size, 1, "a condition of which one side does not run")


def of_side(value: Value, source: object, side: int) -> Value:
    """The value if the source takes the first side (0) or the second (1)."""
    if isinstance(value, OneOf):
        if value.source == source:
            return value.choices[side]
        is_opposite = isinstance(source, Positive) and value.source == logical_not(source)
        return value.choices[1 - side] if is_opposite else value
    if isinstance(source, Positive) and _conditions_in(value):
        assert isinstance(value, SymTensor)
        known = {source: side == 0, logical_not(source): side == 1}
        return SymTensor(value.dtype, value.shape, [known.get(x, x) for x in value.data or ()])
    return value


def _conditions_in(value: Value | None) -> Sequence[Positive]:
    """The conditions among the elements of a boolean tensor."""
    if not isinstance(value, SymTensor) or value.dtype != dt.BOOL:
        return ()
    return [x for x in value.data or () if isinstance(x, Positive)]


def sources_of(values: Iterable[Value | None], most: int, *, elements: bool) -> list[Any]:
    """What decides the sides of tensors that are one of two, and with `elements` the elements of boolean ones.

    Of a condition and its opposite only one is a source. The search ends when there are more than `most`.
    """
    deciding: list[Any] = []
    for value in values:
        sources = _conditions_in(value) if elements else ()
        if isinstance(value, OneOf):
            sources = [value.source, *sources_of(value.choices, most, elements=False)]
        for source in sources:
            if source not in deciding and not (isinstance(source, Positive) and logical_not(source) in deciding):
                deciding.append(source)
            if len(deciding) > most:
                return deciding
    return deciding


def of_different_elements(a: SymTensor, b: SymTensor) -> bool:
    """Whether two tensors of known elements differ in the number of elements, or in constants."""
    if a.data is None or b.data is None or len(a.data) != len(b.data):
        return a.data is not None and b.data is not None
    return any(x != y and isinstance(x, int) and isinstance(y, int) for x, y in zip(a.data, b.data, strict=True))
