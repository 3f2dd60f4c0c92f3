"""The plans of the usual operations with broadcasting: elementwise, composition, transposition, a slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symdim.einsum.codegen import Plan, lowered
from symdim.einsum.index import Dim
from symdim.einsum.inference import Shaped, axes_of
from symdim.einsum.planning import plan
from symdim.einsum.projection import NO_MARGIN, Access, Margin, Projections, Sum, Term, broadcast_term
from symdim.einsum.spec import KINDS, SpecError, closed, in_storage
from symdim.rows import Axes, Row
from symdim.shape import broadcast_shapes

_Kinds = Mapping[str, str]
"""For each row of an operand the row of the operation that it broadcasts to."""

_SAME: _Kinds = {kind: kind for kind in KINDS}
_BATCH_SLICE = "s, ..b.. | ..i.. -> ..o.. => ..b.. | ..i.. -> ..o.."


def plan_pointwise(shapes: Sequence[Shaped], result: Shaped = None) -> Plan:
    """The loops of an elementwise operation: every operand broadcasts to the result, kind by kind.

    Without a result the smallest possible one is used; then BroadcastError is possible. Raises SpecError.

    >>> plan_pointwise([[3, 1], [4]]).args
    ((Iterator(name='o0'), Fixed(position=0)), (Iterator(name='o1'),))
    """
    return _broadcast([_SAME] * len(shapes), shapes, result, "pointwise")


def plan_transpose(shape: Shaped, result: Shaped = None) -> Plan:
    """The loops that swap the input and output axes of a tensor and keep its batch axes."""
    mapping = {"batch": "batch", "input": "output", "output": "input"}
    return _broadcast([mapping], [shape], result, "transpose")


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
    first = {"batch": "batch", "output": "output", "input": "inner"}
    second = {"batch": "batch", "output": "inner", "input": "input"}
    rest = [_SAME] * (len(shapes) - 2)
    return _broadcast([first, second, *rest], shapes, result, "compose")


def plan_batch_slice(shape: Shaped, result: Shaped = None, static: str = "static", size: Dim | None = None) -> Plan:
    """The loops that read a tensor at one index of its first batch axis. The index is given when the loops run.

    `size` is the size of the first batch axis, if it is known. Raises the errors of `plan`.

    >>> plan_batch_slice({"batch": [5, 2], "output": [4]}).args
    ((Static(name='static'), Iterator(name='b0'), Iterator(name='o0')),)
    """
    return plan(_BATCH_SLICE, [shape], result, sizes={} if size is None else {"s": size}, given={"s": static})


def _broadcast(mappings: Sequence[_Kinds], shapes: Sequence[Shaped], result: Shaped, what: str) -> Plan:
    """The loops over the rows of the result, and over the inner row, which is the input row of the first operand."""
    if len(shapes) != len(mappings):
        raise SpecError("arity", f"{what} takes {len(mappings)} operands, not {len(shapes)}")
    operands = [axes_of(shape) for shape in shapes]
    whole = _smallest_result(mappings, operands, what) if result is None else axes_of(result)
    projections = Projections()
    rows = _result_rows(projections, whole, what)
    if "inner" in mappings[0].values():
        sizes = closed(operands[0].input, what)
        rows["inner"] = [projections.fresh(f"k{i}", size) for i, size in enumerate(sizes)]
    accesses = []
    for axes, mapping in zip(operands, mappings, strict=True):
        found: list[tuple[Term, Dim, Margin]] = []
        for kind, row in in_storage(axes):
            sizes, target = closed(row, what), rows[mapping[kind]]
            if len(sizes) > len(target):
                raise SpecError("rank_mismatch", f"{what}: {axes} has more {kind} axes than {whole} takes")
            aligned = target[: len(row.lead)] + target[len(target) - len(row.trail) :]
            found += [
                (broadcast_term(projections, projection, size), size, NO_MARGIN)
                for projection, size in zip(aligned, sizes, strict=True)
            ]
        accesses.append(Access.of(found))
    return lowered(projections, accesses, _result_access(whole, rows))


def _smallest_result(mappings: Sequence[_Kinds], operands: Sequence[Axes], what: str) -> Axes:
    rows: dict[str, list[tuple[Dim, ...]]] = {kind: [] for kind in KINDS}
    for axes, mapping in zip(operands, mappings, strict=True):
        for kind, row in in_storage(axes):
            if mapping[kind] in rows:
                rows[mapping[kind]].append(closed(row, what))
    return Axes(**{kind: Row(trail=broadcast_shapes(*given).dims) for kind, given in rows.items()})


def _result_rows(projections: Projections, whole: Axes, what: str) -> dict[str, list[int]]:
    return {
        kind: [projections.fresh(f"{kind[0]}{i}", size) for i, size in enumerate(closed(row, what))]
        for kind, row in in_storage(whole)
    }


def _result_access(whole: Axes, rows: Mapping[str, Sequence[int]]) -> Access:
    return Access.of(
        (Sum(((1, projection),)), size, NO_MARGIN)
        for kind, row in in_storage(whole)
        for projection, size in zip(rows[kind], row.dims, strict=True)
    )
