"""The most specific value that covers two others: equal parts stay, sizes that differ become `size(a, b)`.

This is Plotkin's least general generalisation for values. Equal pairs of sizes become the same size, so relations
between results survive (for the branches of an If, the iterations of a Loop, the elements of a sequence).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.elements.conditions import Positive
from onnx_infer.elements.ratio import Ratio
from onnx_infer.laws.limits import may_be_equal_later
from onnx_infer.laws.sizes import at_least, is_fresh
from onnx_infer.laws.statements import fresh
from onnx_infer.values.containers import Map, OneOf, Optional, Sequence, Sparse, plain
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from symdim import Expr, Var, maximum
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Size: TypeAlias = Callable[[Dim, Dim], Dim]

NOTHING = SymTensor(None, None)
"""An unknown value."""

_MAX_JOINED = 32
"""The most elements of a tensor that are joined one by one if they differ."""

_MAX_COMPARED = 64
"""The most pairs of sizes with the same difference with which a new pair is compared."""


def join(a: Value, b: Value, size: Size, integer: Size | None = None) -> Value:
    """A value that covers both. `integer` is for elements that may be negative; without it they become unknown.

    >>> join(SymTensor(1, (2, 3)), SymTensor(1, (2, 4)), varying)
    f32[2, ?]
    """
    if a is b:
        return a
    if a is NOTHING or b is NOTHING:
        return kind_of(b if a is NOTHING else a)
    if isinstance(a, SymTensor) and isinstance(b, SymTensor):
        return _join_tensors(a, b, size, integer)
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        return _join_sequences(a, b, size)
    if isinstance(a, Optional) and isinstance(b, Optional):
        full = a.full if a.full is b.full else None
        return Optional(_join_elems(a.elem, b.elem, size, a.full is False, b.full is False), full)
    if isinstance(a, Optional) != isinstance(b, Optional):
        # a Loop may carry an optional in, while its body gives the element of the optional
        one, other = [x if isinstance(x, Optional) else Optional(x, True) for x in (a, b)]
        return join(one, other, size, integer)
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        dense = _join_tensors(SymTensor(a.dtype, a.shape), SymTensor(b.dtype, b.shape), size)
        return Sparse(dense.dtype, dense.shape)
    return NOTHING


def kind_of(value: Value) -> Value:
    """The value without its sizes and elements. This part of a type does not depend on the path taken.

    >>> kind_of(Sequence(SymTensor(1, (2, 3)), 4))
    seq(f32[...])
    """
    if isinstance(value, (SymTensor, Sparse)):
        return SymTensor(value.dtype) if isinstance(value, SymTensor) else Sparse(value.dtype)
    if isinstance(value, Sequence):
        return Sequence(value.elem and kind_of(value.elem))
    if isinstance(value, Optional):
        return Optional(value.elem and kind_of(value.elem))
    return value


def _join_tensors(a: SymTensor, b: SymTensor, size: Size, integer: Size | None = None) -> SymTensor:
    dtype = a.dtype if b.dtype is None or a.dtype == b.dtype else b.dtype if a.dtype is None else None
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return SymTensor(dtype)
    shape = tuple([size(x, y) for x, y in zip(a.shape, b.shape, strict=True)])
    if a.data is None or b.data is None or a.shape != b.shape or len(a.data) > _MAX_JOINED:
        return SymTensor(dtype, shape)
    data = tuple([_join_elements(x, y, size, integer) for x, y in zip(a.data, b.data, strict=True)])
    return SymTensor(dtype, shape, data if any(x is not None for x in data) or not data else None)


def _join_elements(a: Any, b: Any, size: Size, integer: Size | None) -> Any:
    """The join of two elements of a tensor. Elements that are sizes (integers >= 0) are joined as sizes of an axis."""
    if _is_integer(a) and _is_integer(b):
        meet = size if at_least(a, 0) and at_least(b, 0) else integer
        if meet is not None:
            return meet(a, b)
    return a if type(a) is type(b) and a == b else None


def _is_integer(x: Any) -> bool:
    return isinstance(x, (int, Expr)) and not isinstance(x, bool)


def _join_elems(a: Value | None, b: Value | None, size: Size, a_empty: bool, b_empty: bool) -> Value | None:
    """The join of the elements of two containers. An empty container determines only the type."""
    if a is None or b is None:
        return None
    if a_empty != b_empty:
        a = b = b if a_empty else a
        return join_with_itself(a, size)
    return join(a, b, size)


def join_with_itself(value: Value, size: Size) -> Value:
    """`size(d, d)` for every size. This changes only sizes that must not leave the body of a subgraph."""
    if isinstance(value, SymTensor) and value.shape is not None:
        shape = tuple([size(x, x) for x in value.shape])
        return plain(value) if shape == value.shape else SymTensor(value.dtype, shape)
    return plain(value)


def _join_sequences(a: Sequence, b: Sequence, size: Size) -> Sequence:
    length = None if a.length is None or b.length is None else size(a.length, b.length)
    items = None
    if isinstance(length, int) and length == a.length == b.length and (a.items or b.items):
        items = tuple([join(x, y, size) for x, y in zip(elements(a), elements(b), strict=True)])
    elem = _join_elems(a.elem, b.elem, size, a.length == 0, b.length == 0)
    return Sequence(elem, length, items, a.parts if a.parts == b.parts else None)


def elements(sequence: Sequence) -> tuple[Value, ...]:
    """The elements of a sequence of known length, one by one."""
    if sequence.items is not None:
        return sequence.items
    assert isinstance(sequence.length, int)
    return (sequence.elem or NOTHING,) * sequence.length


def varying(a: Dim, b: Dim) -> Dim:
    """The size of an axis of the elements of a sequence."""
    return a if a is b or a == b else UNKNOWN_SIZE


def of_elements(a: Dim, b: Dim) -> Dim:
    """As `varying`, in a rule: the walk is repeated where a later node makes the sizes equal."""
    if a is not UNKNOWN_SIZE and b is not UNKNOWN_SIZE:
        may_be_equal_later(a, b)
    return varying(a, b)


def sequence_of(items: list[Value], elem: Value | None = None) -> Sequence:
    """The sequence of these elements. If there are none, `elem` is their type.

    >>> sequence_of([SymTensor(1, (2, 3)), SymTensor(1, (2, 4))]).elem
    f32[2, ?]
    """
    for i, item in enumerate(items):
        elem = join(elem, item, of_elements) if i and elem is not None else item
    return Sequence(elem, len(items), tuple(items))


def opened(value: Value | None) -> Value:
    """One element of a sequence or an optional. Sizes that are not the same for all elements become fresh sizes."""
    if isinstance(value, SymTensor) and value.shape is not None and UNKNOWN_SIZE in value.shape:
        shape = [
            fresh("the sizes of the elements differ, or are not known") if d is UNKNOWN_SIZE else d for d in value.shape
        ]
        return SymTensor(value.dtype, shape, value.data)
    return NOTHING if value is None else value


class Meeting:
    """Sizes for pairs of sizes that differ. The same pair, or one at a constant distance, gets the same new size.

    `new(a, b)` makes a size that can be either. `free` says which distances are the same on all paths.
    """

    def __init__(self, new: Size, free: Callable[[Dim], bool] = lambda distance: True) -> None:
        self._new, self._free = new, free
        self._met: dict[tuple[Dim, Dim], Dim] = {}
        self._by_gap: dict[Dim, list[tuple[Dim, Dim]]] = {}  # a - b -> the first sizes met, each as (a, size)

    def __call__(self, a: Dim, b: Dim) -> Dim:
        """The size that covers both."""
        if a is UNKNOWN_SIZE or b is UNKNOWN_SIZE:
            return UNKNOWN_SIZE
        cover = self._met.get((a, b))
        if cover is None:
            met = self._by_gap.setdefault(a - b, [])
            cover = self._shifted(a, met)
            if cover is None:
                cover = self._new(a, b)
            self._met[a, b] = cover
            if len(met) < _MAX_COMPARED:
                met.append((a, cover))
        return cover

    def _shifted(self, a: Dim, met: list[tuple[Dim, Dim]]) -> Dim | None:
        """`w + d`, if `w` covers the pair at the distance d: a - d and b - d."""
        for x, size in met:
            distance = a - x
            if isinstance(size, Expr) and self._free(distance) and at_least(size + distance, 0):
                return size + distance
        return None


def either(why: str) -> Size:
    """Fresh sizes for results of two paths: each is one of two sizes, and is bounded by them."""

    def new(a: Dim, b: Dim) -> Dim:
        may_be_equal_later(a, b)
        low = 1 if at_least(a, 1) and at_least(b, 1) else 0
        x, y = ceiling(a), ceiling(b)
        return fresh(f"{why}: {a} or {b}", at_most=None if x is None or y is None else maximum(x, y), at_least=low)

    meeting = Meeting(new)
    return lambda a, b: a if a is b or a == b else meeting(a, b)


def ceiling(size: Dim) -> Dim | None:
    """An upper bound of a size that does not depend on data, or None."""
    for _ in range(8):
        if not is_fresh(size):
            return size
        limit = getattr(size, "at_most", None)
        if limit is None:
            return None
        size = limit
    return None


def sizes(value: Value | None) -> Iterator[Dim]:
    """The sizes of a value, and the expressions in its elements."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, OneOf):
            yield from parts_of(value.source)
            pending += (*value.choices, value.joined)
        elif isinstance(value, (SymTensor, Sparse)):
            yield from value.shape or ()
            if isinstance(value, SymTensor):
                for x in (*(value.data or ()), value.fill, *chain(*value.samples, *value.progressions)):
                    yield from parts_of(x)
        elif isinstance(value, Sequence):
            if value.length is not None:
                yield value.length
            pending += [value.elem, *(value.items or ())]
            if value.parts is not None:
                yield from value.parts[:2]
                pending.append(value.parts.each_of(value.parts.chunk))
        elif isinstance(value, Optional):
            pending.append(value.elem)
        elif isinstance(value, Map):
            pending.append(value.value)


def variables_in(value: Value | None) -> tuple[Var, ...]:
    """The variables in the sizes and the elements of a value, each once, in order."""
    return variables_of(sizes(value))


def parts_of(x: Any) -> Iterator[Dim]:
    """The expressions in an element of a tensor."""
    if isinstance(x, Expr):
        yield x
    elif isinstance(x, Ratio):
        yield from (x.num, x.den)
    elif isinstance(x, Positive):
        yield x.size


def symbols_of(values: Iterable[Value | None]) -> dict[Var, None]:
    """The symbols in the shapes of tensors, in order."""
    shapes = (value.shape or () for value in values if isinstance(value, SymTensor))
    return dict.fromkeys(variables_of(d for shape in shapes for d in shape))
