"""Sizes that a run refuses, too small or too large: an error where that is certain, otherwise a statement.

Likewise the numbers of elements of vectors and scalars that are inputs: one for each axis, or a single one. Where a run
decides the elements, the rule gets `Unknown`. If their number is a symbol, it must still fit, so it becomes a
statement: `Tile (x, repeats)` with repeats of shape (M) and x of rank 2 runs only where M is 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.errors import Unknown
from onnx_infer.laws.sizes import at_least, confirm, differ, doubtful_sizes, may_be_empty
from onnx_infer.laws.statements import Kind, call_mode, conflicting, demand, state
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, maximum, minimum
from symdim.algebra.dims import at_most

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.values.tensor import Dim, Shape, Value


def not_negative(size: Dim, what: str) -> Dim:
    """The size, which a run refuses below 0; an unknown size if it is provably negative (an error).

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     size = not_negative(Var("N") - 5, "a size of the target")
    >>> size, trace.statements[0].rhs
    (N - 5, 0)
    """
    if at_least(size, 0):
        return size
    if at_most(size, -1):
        return conflicting(f"{what} is negative: {size}")
    state("at_least", size, 0, what)
    return size


def no_less(size: Dim, least: Dim) -> Dim:
    """The size, or the least one if that is larger.

    If this is undecided, a bound that a later node demands may decide it: the walk is repeated under such bounds.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     no_less(Var("N") - 3, 0), no_less(Var("N"), 1)
    (max(N, 3) - 3, N)
    >>> [(statement.relation, statement.lhs, statement.rhs) for statement in trace.statements]
    [('undecided', N - 3, 0)]
    """
    larger = maximum(size, least)
    if isinstance(larger, Expr) and larger is not size and larger is not least:
        state("undecided", size, least, "which size is larger")
    return larger


def no_more(size: Dim, most: Dim) -> Dim:
    """The size, or the largest allowed one if that is smaller; as `no_less`."""
    smaller = minimum(size, most)
    if isinstance(smaller, Expr) and smaller is not size and smaller is not most:
        state("undecided", most, size, "which size is smaller")
    return smaller


def may_be_equal_later(a: Dim, b: Dim) -> None:
    """Note that a bound may show two sizes to be equal: max(K, 3) is K where a node demands K >= 3.

    Then the walk is repeated, as for `no_less`.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> K = Var("K")
    >>> with Trace() as trace:
    ...     may_be_equal_later(maximum(K, 3), K), may_be_equal_later(K + 1, K), may_be_equal_later(K, Var("N"))
    (None, None, None)
    >>> [(statement.relation, statement.lhs, statement.rhs) for statement in trace.statements]
    [('undecided', K, max(K, 3))]
    """
    gap = a - b
    if isinstance(gap, Expr) and not differ(a, b):
        if at_least(gap, 0):
            state("undecided", b, a, "whether two sizes are equal")
        elif at_most(gap, 0):
            state("undecided", a, b, "whether two sizes are equal")


def demand_at_least(size: Dim, least: Dim, law: str, filled: Shape = ()) -> None:
    """Demand that a size is at least another one. It is assumed if the tensor of sizes `filled` may be empty.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     demand_at_least(Var("L"), 7, "the size of the axis")
    >>> [(statement.relation, statement.lhs, statement.rhs) for statement in trace.statements]
    [('at_least', L, 7)]
    """
    kind: Kind = "assumed" if may_be_empty(filled) else "required"
    fits = demand(not at_most(size - least, -1), f"{law} is too small", size, least, sign="<", kind=kind)
    if fits and not at_least(size - least, 0):
        state("at_least", size, least, law, kind, doubtful_sizes(filled))


def demand_at_most(size: Dim, most: Dim, law: str, kind: Kind = "required") -> None:
    """Demand that a size is at most another one.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     demand_at_most(Var("S"), 512, "the length")
    >>> [(statement.relation, statement.lhs, statement.rhs) for statement in trace.statements]
    [('at_most', S, 512)]
    """
    fits = demand(not at_most(most - size, -1), f"{law} is too large", size, most, sign=">", kind=kind)
    if fits and not at_least(most - size, 0):
        state("at_most", size, most, law, kind)


def demand_room_for_pads(sizes: Shape, axis: int, begin: Dim, end: Dim, mode: str) -> None:
    """Demand the elements that pads copy if the mode is not constant: one element, or one more than is reflected.

    Negative pads crop first. onnxruntime copies nothing if the tensor is empty; then it only refuses to make
    an axis of size 0 larger.
    """
    if mode == "constant":
        return
    size, grows = sizes[axis], at_least(begin, 0) and at_least(end, 0)
    demand_at_least(size, minimum(begin + size + end, 1), "what is left to pad")
    others = (*sizes[:axis], *sizes[axis + 1 :])
    kept = size + minimum(begin, 0) + minimum(end, 0)
    least: list[Dim] = [1] if differ(begin, 0) or differ(end, 0) else []
    least += [pad + 1 for pad in (begin, end) if mode == "reflect" and (at_least(pad, 1) or at_least(kept, 1))]
    empty = doubtful_sizes(others if grows else sizes)
    for number in least:
        if not empty:
            demand_at_least(kept, number, "what is left to pad")
        elif not at_least(kept - number, 0) and not call_mode().is_cautious:
            state("at_least", kept, number, "what is left to pad", "assumed", empty)


def all_at_least(least: int, sizes: Iterable[Dim]) -> list[tuple[Dim, int]]:
    """The sizes that bounds do not prove to be at least this number, with the number.

    >>> from symdim import Var
    >>> all_at_least(1, (Var("N"), Var("N") - 1))
    [(N - 1, 1)]
    """
    return [(size, least) for size in sizes if not at_least(size, least)]


def divisors(value: Value | None) -> list[tuple[Dim, int]] | None:
    """What holds if no element of an integer tensor is 0; None if elements are not known, or may be negative."""
    elements = known_elements(value)
    if elements is None:
        return None
    open_ones = [x for x in elements if not at_least(x, 1) and not at_least(-x, 1)]
    return all_at_least(1, open_ones) if all(at_least(x, 0) for x in open_ones) else None


def number_of(vector: tuple[Any, ...] | Unknown | None) -> Dim | None:
    """The number of elements of a vector; None if it is not known, or if there is no vector."""
    if isinstance(vector, Unknown):
        return vector.count
    return None if vector is None else len(vector)


def common_number(law: str, *numbers: Dim | None) -> Dim | None:
    """The number that all numbers of elements must be; None if no number is known.

    Known ones that differ are reported; a symbol is demanded to be the common number.

    >>> from symdim import Var
    >>> common_number("starts and ends", Var("M"), None, 2)
    2
    """
    distinct = sorted(dict.fromkeys([n for n in numbers if n is not None]), key=lambda n: isinstance(n, Expr))
    if not distinct:
        return None
    common, *others = distinct
    for number in others:
        common = confirm(common, number, law)
    return common


def of_length(vector: tuple[Any, ...] | Unknown, count: int, law: str) -> tuple[Any, ...]:
    """The elements of a vector that must have this many. Unknown ones are None; all are if it has another number.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     of_length((2, 3), 2, "repeats"), of_length(Unknown("", Var("M")), 2, "repeats")
    ((2, 3), (None, None))
    >>> trace.statements[0][:3]
    ('equal', 2, M)
    """
    if isinstance(vector, tuple) and len(vector) == count:
        return vector
    common_number(law, number_of(vector), count)
    return (None,) * count


def demand_one_element(value: object, what: str) -> None:
    """Demand that a scalar has one element. Its shape may be () or (1,); one of (M,) demands M == 1.

    A rule gives the tensor itself, or what it got for a scalar: `Unknown` where it is not known.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     demand_one_element(SymTensor(7, (Var("M"),)), "depth")
    ...     demand_one_element(Unknown("depth", 2), "depth")
    >>> trace.statements[0][:3], trace.errors
    (('equal', 1, M), ['the number of elements of depth and 1 differ: 2 != 1'])
    """
    if isinstance(value, Unknown):
        number = value.count
    else:
        number = value.size if isinstance(value, SymTensor) and value.shape is not None else None
    common_number(f"the number of elements of {what} and 1", number, 1)


def known_elements(value: Value | None) -> tuple[Dim, ...] | None:
    """The elements of a tensor, or the one that all of them have; None if one is not known."""
    if not isinstance(value, SymTensor):
        return None
    elements: tuple[Dim, ...] = (value.fill,) if value.data is None else value.data
    return None if None in elements else elements


def open_sizes(value: Value | None) -> tuple[Dim, ...] | None:
    """The elements of a vector of sizes that are all known, but not all as numbers; None of another value."""
    elements = value.data if isinstance(value, SymTensor) and value.dtype in (dt.INT64, dt.INT32) else None
    if elements is None or value.rank != 1 or None in elements:  # type: ignore[union-attr]
        return None
    return None if all(isinstance(x, int) for x in elements) else elements
