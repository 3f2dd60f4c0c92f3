"""Plans: the indices of the labels and rows of a specification in each tensor, and the plans of the usual operations.

The usual operations broadcast: elementwise, composition, transposition. Several uses of a tensor have one margin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from symdim.algebra.canonical import maximum
from symdim.algebra.dims import at_least
from symdim.algebra.named_tuple import NamedTuple
from symdim.einsum.codegen import Plan, lowered
from symdim.einsum.constraints import Inference, Shaped, axes_of, check_affine, factor
from symdim.einsum.projection import (
    NO_MARGIN,
    Access,
    Dim,
    Fixed,
    Margin,
    Parts,
    Projections,
    Static,
    Sum,
    Term,
    broadcast_term,
)
from symdim.einsum.reader import parse_spec
from symdim.einsum.spec import (
    KINDS,
    AffineIndex,
    Axis,
    Concatenation,
    FixedIndex,
    Label,
    ShapeSpec,
    Spec,
    SpecError,
    closed,
    in_storage,
    labels_of,
)
from symdim.rows import Axes, Row
from symdim.shape import broadcast_shapes


def plan(
    spec: str | Spec,
    shapes: Sequence[Shaped],
    result: Shaped = None,
    *,
    sizes: Mapping[str, Dim] | None = None,
    given: Mapping[str, str] | None = None,
) -> Plan:
    """The loops of a specification over tensors of these shapes. Ranks must be known; sizes may be symbolic.

    `sizes` gives labels. A label in `given` has no loop: the caller gives its index, by that name, when the loops run.
    Size-preserving padding puts an odd element before the axis. Raises the errors of `EinsumSpec.infer`.

    >>> p = plan("2*o<+k; k => o", [["H"], [3]], ["O"])
    >>> p.out, p.args[0], p.injective, p.surjective
    ((Iterator(name='o'),), (Affine(terms=((2, 'o'), (1, 'k')), offset=0),), False, True)
    """
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    inference = Inference(spec, [*shapes, result], dict(sizes or {}))
    values = {name: inference.size(name) for name in spec.labels()}
    rows = {name: closed(inference.row(name), spec.brief) for name in spec.row_variables()}
    indices = _Indices(spec, values, rows)
    for name, static in (given or {}).items():
        indices.projections.give(indices.labels[name], Static(static))
    return indices.plan([*inference.operands, inference.result])


class _Indices:
    """The projections of the labels and rows of a specification. Projections of axes are equated with them."""

    def __init__(
        self,
        spec: Spec,
        sizes: Mapping[str, Dim],
        rows: Mapping[str, Sequence[Dim]],
    ) -> None:
        self.projections = projections = Projections()
        self.spec, self.sizes = spec, sizes
        self.labels = {name: projections.fresh(name, size) for name, size in sizes.items()}
        self.rows = {
            name: [projections.fresh(f"{name}{i}", size) for i, size in enumerate(dims)] for name, dims in rows.items()
        }

    def plan(self, shapes: Sequence[Axes]) -> Plan:
        """The loops over tensors of these shapes: those of the operands and, last, of the result."""
        accesses = [self.access(*pair) for pair in zip(self.spec.shapes, shapes, strict=True)]
        return lowered(self.projections, accesses)

    def access(self, pattern: ShapeSpec, axes: Axes) -> Access:
        """The access of one tensor."""
        per_axis: Access = []
        for kind, row, written in in_storage(zip(KINDS, axes, pattern, strict=True)):
            dims = closed(row, self.spec.brief)
            middle = len(dims) - len(written.axes)
            classes = self.rows[written.variable] if written.variable is not None else []
            if middle > len(classes):
                raise SpecError(
                    "rank_mismatch", f"{self.spec.brief}: {axes} has more {kind} axes than the result takes"
                )
            # A shorter row in a broadcast has its axes at both ends, by default at the right.
            left = min(max(len(row.lead) - len(written.lead), 0), middle)
            inner = classes[:left] + classes[len(classes) - middle + left :]
            terms: list[int | Axis] = [*written.lead, *inner, *written.trail]
            per_axis += [
                (self.stretched(term, size), size, NO_MARGIN) if isinstance(term, int) else self.axis(term, size)
                for term, size in zip(terms, dims, strict=True)
            ]
        return per_axis

    def stretched(self, projection: int, size: Dim) -> Term:
        """The index of an axis of this size: the class, or a stretched axis if the specification broadcasts."""
        if self.spec.broadcasts:
            return broadcast_term(self.projections, projection, size)
        own = self.projections.fresh("axis", size)
        self.projections.equate(projection, own)
        return Sum(((1, own),))

    def axis(self, axis: Axis, size: Dim) -> tuple[Term, Dim, Margin]:
        """The index of an axis, its size, and the margin that it needs."""
        match axis:
            case Label(name):
                return self.stretched(self.labels[name], size), size, NO_MARGIN
            case FixedIndex(position):
                own = self.projections.fresh(str(axis), size)
                self.projections.give(own, Fixed(position))
                return Sum(((1, own),)), size, NO_MARGIN
            case Concatenation(parts):
                if len(set(labels_of(axis))) < len(labels_of(axis)):
                    raise SpecError("repeated_part", f"{self.spec.brief}: a label occurs twice in {axis}")
                places = [self.labels[p] if isinstance(p, str) else self.projections.fresh("part", p) for p in parts]
                return Parts(tuple(places)), size, NO_MARGIN
            case AffineIndex():  # pragma: no branch  # the last kind of axis
                return self.affine(axis, size)

    def affine(self, axis: AffineIndex, size: Dim) -> tuple[Term, Dim, Margin]:
        check_affine(axis, self.spec, self.sizes)
        stride, dilation = factor(axis.stride, self.sizes), factor(axis.dilation, self.sizes)
        terms = [(stride, self.labels[axis.over])]
        before: Dim = 0
        margin = NO_MARGIN
        if axis.kernel is not None:
            terms.append((dilation, self.labels[axis.kernel]))
            if axis.padding:
                span = dilation * (self.projections.size(self.labels[axis.kernel]) - 1)
                before = (span + 1) // 2
                # The reads of the first and the last position. The last is stride*(over - 1), the size stride*over.
                last = span - before + axis.offset - (stride - 1)
                margin = maximum(before - axis.offset, 0), maximum(last, 0)
        return Sum(tuple(terms), axis.offset - before), size, margin


_SAME = "..b.. | ..i.. -> ..o.."
_ROWS = "bio"  # the names in it, in the order of kinds
_BATCH_SLICE = f"s, {_SAME} => {_SAME}"


def plan_pointwise(shapes: Sequence[Shaped], result: Shaped = None) -> Plan:
    """The loops of an elementwise operation: every operand broadcasts to the result, kind by kind.

    Without a result the smallest possible one is used; then BroadcastError is possible. Raises SpecError.

    >>> plan_pointwise([[3, 1], [4]]).args
    ((Iterator(name='o0'), Fixed(position=0)), (Iterator(name='o1'),))
    """
    return _broadcast([_SAME] * len(shapes), shapes, result)


def plan_transpose(shape: Shaped, result: Shaped = None) -> Plan:
    """The loops that swap the input and output axes of a tensor and keep its batch axes."""
    return _broadcast(["..b.. | ..o.. -> ..i.."], [shape], result)


def plan_compose(shapes: Sequence[Shaped], result: Shaped = None) -> Plan:
    """The loops of the composition of two maps: the input axes of the first are the output axes of the second.

    Further operands are indexed as the result. `source` multiplies all operands; for a sum, use only the indices.

    >>> print(plan_compose([{"input": [4], "output": [3]}, {"batch": ["N"], "output": [4]}]))
    def run(out, in0, in1, *, N):
        for b0 in range(N):
            for o0 in range(3):
                for k0 in range(4):
                    out[b0, o0] += in0[o0, k0] * in1[b0, k0]
    """
    patterns = ["..b.. | ..k.. -> ..o..", "..b.. | ..i.. -> ..k..", *[_SAME] * (len(shapes) - 2)]
    return _broadcast(patterns, shapes, result)


def plan_batch_slice(shape: Shaped, result: Shaped = None, static: str = "static", size: Dim | None = None) -> Plan:
    """The loops that read a tensor at one index of its first batch axis. The index is given when the loops run.

    `size` is the size of the first batch axis, if it is known. Raises the errors of `plan`.

    >>> plan_batch_slice({"batch": [5, 2], "output": [4]}).args
    ((Static(name='static'), Iterator(name='b0'), Iterator(name='o0')),)
    """
    return plan(_BATCH_SLICE, [shape], result, sizes={} if size is None else {"s": size}, given={"s": static})


def _broadcast(patterns: Sequence[str], shapes: Sequence[Shaped], result: Shaped) -> Plan:
    """The loops of `patterns => b | i -> o`, where each operand broadcasts to the result, row by row.

    The row k, over which is summed, is that of the first operand.
    """
    spec = replace(parse_spec(f"{'; '.join(patterns)} => {_SAME}"), broadcasts=True)
    if len(shapes) != len(patterns):
        raise SpecError("arity", f"{spec.brief} takes {len(patterns)} operands, not {len(shapes)}")
    operands = [axes_of(shape) for shape in shapes]
    rows_of: dict[str, list[tuple[Dim, ...]]] = {}
    for pattern, axes in zip(spec.shapes, operands, strict=False):
        for written, row in zip(pattern, axes, strict=True):
            rows_of.setdefault(str(written.variable), []).append(closed(row, spec.brief))
    rows = {"k": rows_of.pop("k", [()])[0]}
    if result is None:
        rows |= {name: broadcast_shapes(*shapes_of).dims for name, shapes_of in rows_of.items()}
    else:
        rows |= {name: closed(row, spec.brief) for name, row in zip(_ROWS, axes_of(result), strict=True)}
    whole = Axes(*(Row(trail=rows[name]) for name in _ROWS))
    return _Indices(spec, {}, rows).plan([*operands, whole])


class Padding(NamedTuple):
    """The number of elements before and after each axis, and their value.

    `element` is None if the uses need different values; then the margin must be filled again before each use.
    """

    margins: tuple[Margin, ...]
    element: float | None


def padding_of(uses: Iterable[tuple[Sequence[Margin], float]], fixed: Sequence[Margin] | None = None) -> Padding:
    """The padding of a tensor with these uses (margins and neutral element): the largest margin of each axis.

    A use without a margin does not influence the element. `fixed` margins are those of an existing tensor; SpecError if
    a use may need more.

    >>> padding_of([([(1, 1), (0, 0)], 0.0), ([(0, 2), (0, 0)], 0.0)])
    Padding(margins=((1, 2), (0, 0)), element=0.0)
    """
    needed = list(uses)
    elements = {element for margins, element in needed if any(margin != NO_MARGIN for margin in margins)}
    axes = zip(*(margins for margins, _ in needed), strict=True)
    margins = tuple((maximum(*(before for before, _ in axis)), maximum(*(after for _, after in axis))) for axis in axes)
    if fixed is not None:
        for place, (have, want) in enumerate(zip(fixed, margins, strict=True)):
            if not all(at_least(there - here, 0) for there, here in zip(have, want, strict=True)):
                raise SpecError("padding_mismatch", f"axis {place} has the margin {have}, but {want} is needed")
        margins = tuple(fixed)
    return Padding(margins, elements.pop() if len(elements) == 1 else None)
