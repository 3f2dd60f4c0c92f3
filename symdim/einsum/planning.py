"""The plan of a specification: the indices of its labels and rows in each tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symdim.algebra.canonical import maximum
from symdim.algebra.texts.printing import shortened
from symdim.einsum.codegen import Plan, lowered
from symdim.einsum.constraints import check_affine, factor
from symdim.einsum.index import Dim, Fixed, Static
from symdim.einsum.inference import Inference, Shaped
from symdim.einsum.projection import NO_MARGIN, Access, Margin, Parts, Projections, Sum, Term, broadcast_term
from symdim.einsum.reader import parse_spec
from symdim.einsum.spec import (
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
from symdim.rows import Axes


def plan(
    spec: str | Spec,
    shapes: Sequence[Shaped],
    result: Shaped = None,
    *,
    sizes: Mapping[str, Dim] | None = None,
    given: Mapping[str, str] | None = None,
    extra_after: bool = False,
) -> Plan:
    """The loops of a specification over tensors of these shapes. Ranks must be known; sizes may be symbolic.

    `sizes` gives labels. A label in `given` has no loop: the caller gives its index, by that name, when the loops run.
    Size-preserving padding puts an odd element before the axis, or after it with `extra_after`. Raises the errors of
    `EinsumSpec.infer`.

    >>> p = plan("2*o<+k; k => o", [["H"], [3]], ["O"])
    >>> p.out, p.args[0], p.injective, p.surjective
    ((Iterator(name='o'),), (Affine(terms=((2, 'o'), (1, 'k')), offset=0),), False, True)
    """
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    inference = Inference(spec, [*shapes, result], dict(sizes or {}))
    projections = Projections()
    values = {name: inference.size(name) for name in spec.labels()}
    labels = {name: projections.fresh(name, size) for name, size in values.items()}
    for name, static in (given or {}).items():
        projections.give(labels[name], Static(static))
    rows = {name: inference.row(name) for name in spec.row_variables()}
    classes = _Labels(projections, spec, values, labels, extra_after)
    for name, row in rows.items():
        classes.rows[name] = [projections.fresh(f"{name}{i}", size) for i, size in enumerate(closed(row, spec))]
    accesses = [
        classes.access(pattern, axes)
        for pattern, axes in zip(spec.shapes, (*inference.operands, inference.result), strict=True)
    ]
    return lowered(projections, accesses[:-1], accesses[-1])


class _Labels:
    """The projections of the labels and rows of a specification. Projections of axes are equated with them."""

    def __init__(
        self,
        projections: Projections,
        spec: Spec,
        sizes: Mapping[str, Dim],
        labels: Mapping[str, int],
        extra_after: bool,
    ) -> None:
        self.projections, self.spec, self.sizes = projections, spec, sizes
        self.labels, self.extra_after = labels, extra_after
        self.rows: dict[str, list[int]] = {}

    def access(self, pattern: ShapeSpec, axes: Axes) -> Access:
        """The access of one tensor."""
        patterns = dict(pattern.rows())
        found: list[tuple[Term, Dim, Margin]] = []
        for kind, row in in_storage(axes):
            dims, written = closed(row, self.spec), patterns[kind]
            middle = len(dims) - len(written.axes)
            classes = self.rows[written.variable] if written.variable is not None else []
            inner = classes[len(classes) - middle :]  # a shorter row in a broadcast has its axes at the right
            terms: list[int | Axis] = [*written.lead, *inner, *written.trail]
            found += [
                (self.stretched(term, size), size, NO_MARGIN) if isinstance(term, int) else self.axis(term, size)
                for term, size in zip(terms, dims, strict=True)
            ]
        return Access.of(found)

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
                    raise SpecError("repeated_part", f"{shortened(str(self.spec))}: a label occurs twice in {axis}")
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
                before = span // 2 if self.extra_after else (span + 1) // 2
                # The reads of the first and the last position. The last is stride*(over - 1), the size stride*over.
                last = span - before + axis.offset - (stride - 1)
                margin = maximum(before - axis.offset, 0), maximum(last, 0)
        return Sum(tuple(terms), axis.offset - before), size, margin
