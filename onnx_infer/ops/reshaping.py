"""Operators that change only the shape, and those that return it: Reshape, Flatten, Shape, Size.

Every element keeps its place in row-major order, so propagated data are unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.lifting import SAME
from onnx_infer.errors import require
from onnx_infer.laws.limits import all_at_least, demand_at_least, known_elements, open_sizes
from onnx_infer.laws.sizes import at_least, exact_quotient, is_fresh, unknown_shape
from onnx_infer.laws.statements import Kind, call_mode, conflicting, demand, fresh, state
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import Reread
from onnx_infer.ops.movement import demand_equal
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, maximum, minimum, product
from symdim.algebra.caches import remembered
from symdim.algebra.dims import at_most
from symdim.algebra.texts.factoring import factored
from symdim.algebra.texts.tree import Product, Sum, factors_of, plain_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import AnyRank, Dim, Ints, Shape, Sizes


@remembered(1 << 10)
def factors(size: Dim) -> tuple[Dim, ...]:
    """The factors of a product, also of a sum that is one, or the size itself."""
    tree = plain_tree(size) if isinstance(size, Expr) else size
    if isinstance(size, Expr) and isinstance(tree, Sum) and (parts := factored(size)):
        number, unit, sums = parts
        tree = Product(number, (*factors_of(unit), *[(part, 1) for part in sums]))
    return tuple(tree.factors()) if isinstance(tree, Product) else (size,)


def _without_common(sizes: Iterable[Dim], others: Iterable[Dim]) -> tuple[list[Dim], list[Dim]]:
    """The factors of both lists without common ones; 0 is never removed."""
    rest = [f for size in sizes for f in factors(size)]
    apart = []
    for factor in [f for size in others for f in factors(size)]:
        if factor != 0 and factor in rest:
            rest.remove(factor)
        else:
            apart.append(factor)
    return rest, apart


def quotient_of_sizes(sizes: Iterable[Dim], divisors: Iterable[Dim], assumed: Shape = ()) -> Dim:
    """`product(sizes) / product(divisors)`, for operators that demand an exact quotient and divisors other than 0.

    Factors cancel even if their interval contains 0, because they are not 0 in a valid run. The quotient is demanded
    only where the `assumed` sizes are at least 1.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> quotient_of_sizes((N, S, 768), (N, 12)), quotient_of_sizes((N, S - 1, 8), (N * S - N,))
    (64*S, 8)
    """
    above, below = _without_common(sizes, divisors)
    dividend, divisor = product(above), product(below)
    if divisor == 0:
        return conflicting("-1 is ambiguous: another size is 0")
    return exact_quotient(dividend, divisor, "the element count", "assumed" if assumed else "required", assumed)


class _Target:
    """The target of a Reshape. Each element is a size, a 0 (which may copy a size) or a -1 (the rest).

    An expression is computed from sizes. Only its value at run time shows whether it is such a 0 or -1.
    """

    def __init__(self, shape: Shape | None, elements: Ints, allowzero: int) -> None:
        demand(elements.count(-1) <= 1, "more than one size is -1")
        demand(not (allowzero and 0 in elements and -1 in elements), "allowzero with both 0 and -1")
        self.assumed: Shape = ()  # the elements that are taken for sizes
        for element in elements:
            if isinstance(element, Expr) and not at_least(element, -1):
                state("at_least", element, -1, "an element of the target shape")
        self.shape, self.elements, self.copies = shape, elements, not allowzero
        self.sizes = [self._certain(i, e) for i, e in enumerate(elements)]

    def _copied(self, index: int) -> Dim | None:
        """The size that a 0 at this index copies; None if the input's rank is not known. A 0 beyond the rank fails."""
        return None if self.shape is None else self.shape[index] if index < len(self.shape) else 0

    def zero_copies(self, index: int) -> Dim | None:
        """The size that a 0 at this index copies, 1 if it fails, and None if 0 is a size or nothing is known."""
        is_beyond = self.shape is not None and index >= len(self.shape)
        return None if not self.copies else 1 if is_beyond else self._copied(index)

    def _certain(self, index: int, element: Dim | None) -> Dim | None:
        """The size for an element if it is the same for all its values, else None."""
        if isinstance(element, int) and element <= 0:
            if element < -1:
                return conflicting(f"a size is below -1: {element}")
            if element == -1 or not self.copies:
                return None if element else 0
            if self.shape is not None and index >= len(self.shape):
                return conflicting(f"0 at index {index} has no size to copy")
            return self._copied(index)
        if element is None or at_least(element, 1):
            return element
        copied = self._copied(index)
        may_be_minus_one = -1 not in self.elements and not at_least(element, 0)
        if may_be_minus_one or (self.copies and copied is None):
            return None
        # copying makes no difference if the copied size is 0 whenever the element is 0
        zeros = [f for f in factors(element) if not at_least(f, 1)]
        same = not self.copies or copied in (0, None) or all(f in factors(copied) for f in zeros)
        if same and self.shape is not None and index >= len(self.shape):
            _demand_no_copy(element, self.zero_copies(index))
        return element if same else None

    def likely(self, index: int) -> Dim | None:
        """The assumed size for an expression that may be 0 or -1; None for other open elements, and in cautious walks.

        It is assumed to be at least 1, because a 0 would copy another size and a -1 would be the rest. A
        data-dependent size may really be 0: if the copied size is 1, max(e, 1) is exact.
        """
        element = self.elements[index]
        if not isinstance(element, Expr):
            return None
        if is_fresh(element) and at_least(element, 0) and self._copied(index) == 1:
            return maximum(element, 1)
        if call_mode().is_cautious or at_most(element, 0):
            return None
        state("at_least", element, 1, "a size of the target shape", "assumed")
        self.assumed += (element,)
        return element


def reshaped(shape: Shape | None, elements: Ints, allowzero: int = 0) -> Shape:
    """The result of a Reshape of a tensor with this shape, for the elements of the target.

    A single open size follows from the element count if the others are not 0. With a -1 they cannot be 0.

    >>> from symdim import Var
    >>> reshaped((Var("N"), Var("S"), 768), (0, 0, 12, -1))
    (N, S, 12, 64)
    >>> reshaped((Var("N"), 6), (None, 3))
    (2*N, 3)
    """
    target = _Target(shape, elements, allowzero)
    sizes = target.sizes
    rest = _rest(sizes, elements)
    if rest is None:
        sizes = [target.likely(i) if size is None else size for i, size in enumerate(sizes)]
        rest = _rest(sizes, elements)
    settled = [size for size in sizes if size is not None]
    if shape is not None and rest is not None:
        if not target.copies and elements[rest] == -1:
            may_be_0 = [size for size in settled if not at_least(size, 1)]
            if may_be_0 and call_mode().is_cautious and not _cancels_zeros(settled, shape):
                return tuple(fresh("what is left beside a size of 0") if s is None else s for s in sizes)
            for size in may_be_0:
                state("at_least", size, 1, "a size beside -1", "assumed")
        elif elements[rest] == -1:
            for size in settled:
                if size not in target.assumed and size != 0:  # `quotient_of_sizes` reports a 0
                    demand_at_least(size, 1, "a size beside -1")
        sizes[rest] = size = quotient_of_sizes(shape, settled, target.assumed)
        _demand_computed(elements[rest], size, target.zero_copies(rest))
    elif shape is not None and len(settled) == len(sizes):
        _demand_as_many(settled, shape, target.assumed)
    if None not in sizes:
        return tuple(sizes)  # type: ignore[arg-type]
    count = product(shape) if shape is not None and at_least(product(shape), 1) else None
    return tuple(fresh("a size of the target shape", at_most=count) if s is None else s for s in sizes)


def _demand_computed(element: Dim | None, size: Dim, copied: Dim | None) -> None:
    """Demand that a computed element of the target is the size that the element count leaves, unless it is 0 or -1.

    A 0 in place of a size of 0 copies another size, which must be 0 too. Nobody can check a guard of a size that only
    the data decide. But a cautious walk must know that the node may refuse a run.
    """
    if not isinstance(element, Expr):
        return
    if element == size:
        _demand_no_copy(element, copied)
    elif call_mode().is_cautious or not (is_fresh(element) or is_fresh(size)):
        state("broadcast_to", maximum(element, 0) + 1, size + 1, "a computed size and what the others leave, plus 1")


def _demand_no_copy(size: Dim, copied: Dim | None) -> None:
    """Demand that a size of the target is at least 1 if a 0 there copies a size that is at least 1."""
    if copied is not None and not at_least(size, 1):
        state("at_least", size, minimum(copied, 1), "a size of the target shape, where 0 copies another size")


def _cancels_zeros(sizes: list[Dim], shape: Shape) -> bool:
    """Whether only sizes that the input has too may be 0: then the rest is the same if they are.

    With `allowzero` onnxruntime divides the product of the sizes of the input that are not 0 by that of the target's.
    """
    rest = list(shape)
    for size in sizes:
        if size in rest:
            rest.remove(size)
        elif not at_least(size, 1):
            return False
    return all(at_least(size, 1) for size in rest)


def _demand_as_many(sizes: Iterable[Dim], shape: Shape, assumed: Shape) -> None:
    """State that the element count of the shape is the product of the sizes, where the assumed ones are at least 1."""
    mine, theirs = _without_common(sizes, shape)
    if product(mine) != product(theirs):
        kind: Kind = "assumed" if assumed else "required"
        demand_equal(product(sizes), product(shape), "the element counts", kind, assumed)


def _rest(sizes: list[Dim | None], elements: Ints) -> int | None:
    """The index of the only open size, if the element count determines it."""
    if sizes.count(None) != 1:
        return None
    index = sizes.index(None)
    positive = at_least(product(size for size in sizes if size is not None), 1)
    return index if positive or elements[index] == -1 else None


def reshape_target(elements: Shape, shape: Shape, allowzero: bool = False, made: Shape = ()) -> tuple[Dim, ...]:
    """The target of a Reshape without `allowzero`, for one with or without it. `made` is the shape of the result.

    Every run is the same with it. A size that the input has at the same index is copied by a 0; where it is 0 in a run,
    the given target copies too. A single other expression is -1 if all its factors that may be 0 are in the size that a
    0 would copy, no other size is 0, and the element counts are equal in every run. A target with `allowzero` stays if
    the new one would need that.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> reshape_target((N, S, 12, 64), (N, S, 768)), reshape_target((N * S, 12), (N, S, 12))
    ((0, 0, 12, 64), (-1, 12))

    The element counts of the first are equal for some sizes only; the second has two open sizes.

    >>> reshape_target((S, 12), (N, 12)), reshape_target((S, N), (N, S))
    ((S, 12), (S, N))
    """
    original = elements
    if allowzero and -1 in elements and len(made) == len(elements) and product(made) == product(shape):
        pairs = zip(elements, made, strict=True)
        elements = tuple(size if e == -1 and isinstance(size, int) else e for e, size in pairs)
    sizes_may_be_0 = not all(at_least(e, 1) for e in elements if e != -1)
    if allowzero and (0 in elements or (-1 in elements and sizes_may_be_0)):
        return original
    copied = [shape[i] if i < len(shape) else None for i in range(len(elements))]
    target: list[Dim] = [
        0 if isinstance(e, Expr) and size is not None and e == size else e
        for e, size in zip(elements, copied, strict=True)
    ]
    left = [i for i, e in enumerate(target) if isinstance(e, Expr)]
    if len(left) == 1 and -1 not in elements:
        (i,) = left
        others = [size if e == 0 and size is not None else e for e, size in zip(target, copied, strict=True)]
        del others[i]
        exact = product([elements[i], *others]) == product(shape)
        if exact and all(at_least(e, 1) for e in others) and _copies_nothing(elements[i], copied[i], allowzero):
            target[i] = -1
    settled = all(isinstance(e, int) or at_least(e, 1) for e in target)
    return tuple(target) if settled or not allowzero else original


def _copies_nothing(element: Dim, copied: Dim | None, allowzero: bool) -> bool:
    """Whether an element of a target stands for itself also where it is 0."""
    if at_least(element, 1):
        return True
    if not at_least(element, 0):
        return False
    return allowzero or (copied is not None and all(at_least(f, 1) or f in factors(copied) for f in factors(element)))


def _rereads(inputs: Values, outputs: Values, attributes: Attributes) -> Reread | None:
    data, made = inputs[0], outputs[0]
    sizes = open_sizes(inputs[1]) if len(inputs) > 1 else None
    if sizes is None or not isinstance(data, SymTensor) or data.shape is None or not isinstance(made, SymTensor):
        return None
    target = reshape_target(sizes, data.shape, bool(attributes.get("allowzero")), made.shape or ())
    return Reread({1: target}, {"allowzero": None})


def _sizes_beside_the_rest(inputs: Values, outputs: Values, attributes: Attributes) -> Least | None:
    """No size beside a -1 is 0."""
    elements, made = known_elements(inputs[1]) if len(inputs) > 1 else None, outputs[0]
    sizes = made.shape if isinstance(made, SymTensor) else None
    if elements is None or sizes is None or len(sizes) != len(elements):
        return None
    if -1 not in elements:
        return []
    demanded = all_at_least(1, [size for size, e in zip(sizes, elements, strict=True) if e != -1])
    return None if demanded and attributes.get("allowzero") else demanded


@op(
    "Reshape",
    data=SAME,
    view="whole",
    total=True,
    demands=_sizes_beside_the_rest,
    demands_if_empty=True,
    rereads=_rereads,
)
def reshape(data: AnyRank, shape: Sizes | None, allowzero: int = 0) -> Shape:
    """(*sizes) -> shape: 0 copies the size at its index unless `allowzero`, -1 is the rest (Reshape-1 to 25)."""
    require(shape is not None, "the attribute shape is missing")
    return reshaped(data.shape, shape or (), allowzero)


@op("Flatten", data=SAME, view="whole", total=True)
def flatten(input: AnyRank, axis: int, since_version: int) -> Shape:
    """(*outer, *inner) -> (prod(outer), prod(inner)), split at `axis` (Flatten-1 to 25; negative axes since 11)."""
    if input.shape is None:
        return unknown_shape(2, "the flattened tensor")
    low = -input.rank if since_version >= 11 else 0
    if not demand(low <= axis <= input.rank, f"axis {axis} is out of range for rank {input.rank}"):
        return unknown_shape(2, "the flattened tensor")
    split = axis + input.rank if axis < 0 else axis
    return product(input.dims[:split]), product(input.dims[split:])


@op("Shape", bounded=True, total=True, reads="nothing")
def shape_of(data: AnyRank, start: int = 0, end: int | None = None) -> SymTensor | Shape:
    """(*sizes) -> (end - start): the sizes from `start` to `end` as data, clamped as slices are (Shape-1 to 25)."""
    if data.shape is None:
        return (fresh("the rank of the tensor whose shape is asked for"),)
    sizes = data.dims[start:end]
    return SymTensor(dt.INT64, (len(sizes),), sizes)


@op("Size", bounded=True, total=True, reads="nothing")
def size_of(data: AnyRank) -> SymTensor:
    """(*sizes) -> (): the number of elements as data (Size-1 to 25)."""
    return SymTensor(dt.INT64, (), None if data.shape is None else (data.size,))
