"""Cases written as data (`format` symdim-row-cases/1) about specifications and plans, and the answers to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symdim.einsum.codegen import Plan
from symdim.einsum.constraints import Shaped, axes_of
from symdim.einsum.loopnest import is_injective
from symdim.einsum.planning import plan, plan_batch_slice, plan_compose, plan_pointwise, plan_transpose
from symdim.einsum.projection import Affine, Concat, Fixed, Index, Iterator
from symdim.einsum.reader import parse_spec
from symdim.einsum.spec import (
    KINDS,
    AffineIndex,
    Axis,
    Concatenation,
    FixedIndex,
    Label,
    RowSpec,
    ShapeSpec,
    Spec,
    discardable,
    in_storage,
)
from symdim.errors import SymdimError
from tests.symdim.row_cases import kind_of
from tests.symdim.row_cases import solve as solve_rows

Answer = dict[str, Any]


def solve(case: Mapping[str, Any]) -> Answer:
    """The answer to a case of the groups parse, discardable, injective and projection, in the form of its `expect`.

    >>> solve({"group": "discardable", "spec": "a^b => b"})
    {'may_be_empty': ['a']}
    """
    try:
        match case["group"]:
            case "parse":
                return {"parsed": parsed(parse_spec(case["spec"]))}
            case "discardable":
                return {"may_be_empty": sorted(discardable(parse_spec(case["spec"])))}
            case "injective":
                return {"injective": injective(case["index"], case["ranges"])}
            case "projection":
                return projection(case)
    except SymdimError as error:
        return {"error": kind_of(error)}
    raise ValueError(f"no case of an einsum: {case['group']!r}")


def parsed(spec: Spec) -> Answer:
    """A specification as data, without rows that are not written."""
    args = None if spec.operands is None else [_shape(shape) for shape in spec.operands]
    return {"mode": "multi" if spec.multi else "single", "args": args, "result": _shape(spec.result)}


def injective(index: Sequence[Any], ranges: Mapping[str, int]) -> bool | None:
    """Whether index maps written as data are injective over the ranges of the iterators."""
    axes = []
    for axis in index:
        given: list[Any] = [[1, axis]] if isinstance(axis, str) else [] if isinstance(axis, int) else axis["terms"]
        terms: dict[str, int] = {}
        for coefficient, name in given:
            terms[name] = terms.get(name, 0) + coefficient
        axes.append(terms)
    return is_injective(axes, ranges)


def projection(case: Mapping[str, Any]) -> Answer:
    """The plan of the only operation of a case, as data. The case's facts may give shapes, and sizes of labels."""
    (operation,) = case["ops"]
    shapes, sizes = case["shapes"], {}
    if case.get("facts"):
        known = solve_rows({**case, "group": "einsum"})["entailed"]
        if "error" in known:
            return {"error": known["error"]}
        shapes, sizes = known["shapes"], {name: size for name, size in known["vars"].items() if isinstance(size, int)}
    operands, result = [shapes[name] for name in operation["args"]], shapes[operation["out"]]
    found = plan_of(operation, operands, result, sizes)
    *kinds, of_result = [_kinds(shape) for shape in [*operands, result]]
    margins = {
        name: [list(margin) for margin in margins]
        for name, margins in zip([*operation["args"], operation["out"]], found.margins, strict=True)
        if any(margin != (0, 0) for margin in margins)
    }
    answer: Answer = {
        "product": [[[name, size] for name, size in component] for component in found.product],
        "out": _indices(found.out, of_result),
        "args": [_indices(indices, kind) for indices, kind in zip(found.args, kinds, strict=True)],
        "injective": found.injective,
        "surjective": found.surjective,
    }
    return {**answer, "margin": margins} if margins else answer


def plan_of(
    operation: Mapping[str, Any], operands: Sequence[Shaped], result: Shaped, sizes: Mapping[str, int] | None = None
) -> Plan:
    """The plan of an operation written as data. `sizes` are the sizes of labels of a specification."""
    match operation["op"]:
        case "einsum" | "block":
            spec = parse_spec(operation["spec"])
            labels = {name: (sizes or {})[name] for name in spec.labels() if name in (sizes or {})}
            return plan(spec, operands, result, sizes=labels)
        case "pointwise":
            return plan_pointwise(operands, result)
        case "compose" | "compose_accumulate":
            return plan_compose(operands, result)
        case "transpose":
            return plan_transpose(operands[0], result)
        case "batch_slice":
            return plan_batch_slice(operands[0], result, size=operation.get("range"))
    raise ValueError(f"the operation {operation['op']!r} has no plan")


def _shape(shape: ShapeSpec) -> Answer:
    return {kind: _row(row) for kind, row in shape.rows() if kind == "output" or row != RowSpec()}


def _row(row: RowSpec) -> Answer:
    return {
        "lead": [_axis(axis) for axis in row.lead],
        "row": row.variable,
        "trail": [_axis(axis) for axis in row.trail],
    }


def _axis(axis: Axis) -> Answer:
    match axis:
        case Label(name):
            return {"label": name}
        case FixedIndex(position):
            return {"fixed": position}
        case Concatenation(parts):
            return {"concat": list(parts)}
        case AffineIndex():  # pragma: no branch  # the last kind of axis
            answer: Answer = {"stride": axis.stride, "over": axis.over}
            if axis.offset:
                answer["offset"] = axis.offset
            if axis.kernel is not None:
                answer |= {"kernel": axis.kernel, "dilation": axis.dilation}
            if axis.kernel is not None or axis.padding is not None:
                answer["padding"] = "unspecified" if axis.padding is None else axis.padding
            return answer


def _kinds(shape: Shaped) -> list[tuple[str, int]] | None:
    """The kinds with axes and their ranks, in the order of storage; None for a plain row."""
    if not isinstance(shape, Mapping):
        return None
    rows = in_storage(zip(KINDS, axes_of(shape), strict=True))
    return [(kind, len(row.dims)) for kind, row in rows if row.dims]


def _indices(indices: Sequence[Index], kinds: list[tuple[str, int]] | None) -> Any:
    written = [_index(index) for index in indices]
    if kinds is None:
        return written
    answer, start = {}, 0
    for kind, rank in kinds:
        answer[kind] = written[start : start + rank]
        start += rank
    return answer


def _index(index: Index) -> Any:
    match index:
        case Iterator(name):
            return name
        case Fixed(position):
            return position
        case Affine(terms, offset):
            return {"terms": [[coefficient, name] for coefficient, name in terms], "offset": offset}
        case Concat(parts):
            return {"concat": list(parts)}
        case _:
            return "static"
