"""The laws that operator families share: broadcasting, unification of sizes, axes, exact quotients."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from onnx_infer.errors import ShapeInferenceError, Unknown, broken, require
from onnx_infer.laws.bounds import holds
from onnx_infer.laws.readable import MOST_LEAVES, chosen
from onnx_infer.laws.statements import Kind, call_mode, conflicting, contradict, demand, fresh, state
from symdim import Expr, Var, maximum
from symdim.algebra import dims
from symdim.algebra.origin import is_data_dependent
from symdim.algebra.texts.written import leaf_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx_infer.values.tensor import Dim, Shape

STRICT = "sizes that broadcast='strict' equates"

MOST_OPEN_PARTS = 1 << 12  # parts of a Split whose sizes only a run knows; no constraint is stated of more parts


def at_least(size: Dim, low: int) -> bool:
    """Whether the interval of the size, or an assumption, proves `size >= low`."""
    return dims.at_least(size, low) or (isinstance(size, Expr) and holds(size, ">=", low))


def differ(a: Dim, b: Dim) -> bool:
    """Whether the intervals, or the assumptions, prove `a != b`."""
    both_known = isinstance(a, int) and isinstance(b, int)
    return dims.differ(a, b) or (not both_known and holds(a, "!=", b))


def is_fresh(size: Dim | None) -> bool:
    """Whether a size contains a data-dependent symbol."""
    if type(size) is Var:
        return is_data_dependent(size.origin)
    return isinstance(size, Expr) and any(is_data_dependent(v.origin) for v in size.variables())


def _rank_of_knowledge(size: Dim) -> tuple[bool, bool, int]:
    """A sort key, the most informative size first: ints, then sizes of declared names, then sizes with fresh symbols.

    A symbol comes before an expression that it equals. Two symbols never replace each other.
    """
    return (not isinstance(size, int), is_fresh(size), leaf_count(size))


def unify(a: Dim, b: Dim, what: str, kind: Kind = "required", filled: Shape = ()) -> Dim:
    """The more informative of two sizes that the operator demands to be equal.

    Their equality becomes a statement of this kind (see `Statement`). Where they provably differ
    this is reported and the size is unknown.

    >>> from symdim import Var
    >>> unify(3, 3, "sizes")
    3
    >>> unify(Var("N"), 4, "sizes"), unify(Var("H") // 2 + Var("W"), Var("N"), "sizes")
    (4, N)
    """
    if a is b or a == b:
        return a
    if kind == "assumed" and call_mode().is_cautious:
        state("equal", a, b, what, kind, filled)
        return fresh(f"{what} may differ")
    if differ(a, b):
        return conflicting(f"{what} differ: {a} != {b}", kind)
    if not holds(a, "==", b):
        state("equal", a, b, what, kind, filled)
    return min(a, b, key=_rank_of_knowledge)


def confirm(size: Dim, other: Dim, what: str, kind: Kind = "required", filled: Shape = ()) -> Dim:
    """`unify` for a size that another law determines: it stays even if the other provably differs (an error)."""
    if size is not other and differ(size, other) and not (kind == "assumed" and call_mode().is_cautious):
        contradict(broken(f"{what} differ", size, other), kind)
        return size
    return unify(size, other, what, kind, filled)


def unify_shapes(a: Shape, b: Shape, what: str, kind: Kind = "required") -> Shape:
    """`unify` axis by axis; the ranks must be equal.

    >>> from symdim import Var
    >>> unify_shapes((Var("N"), 3), (2, 3), "shapes")
    (2, 3)
    """
    if a == b:
        return a
    require(len(a) == len(b), f"ranks of {what} differ", len(a), len(b))
    return tuple(unify(x, y, f"{what} at axis {i}", kind) for i, (x, y) in enumerate(zip(a, b, strict=True)))


def confirm_shape(shape: Shape, other: Shape | None, what: str, kind: Kind = "required", filled: Shape = ()) -> Shape:
    """`confirm` axis by axis. A different rank is reported too; an unknown shape is ignored."""
    if other is None or not demand(len(shape) == len(other), f"ranks of {what} differ", len(shape), len(other)):
        return shape
    pairs = enumerate(zip(shape, other, strict=True))
    return tuple(confirm(x, y, f"{what} at axis {i}", kind, filled) for i, (x, y) in pairs)


def may_be_empty(shape: Shape) -> bool:
    """Whether one of the sizes may be 0, judged by intervals."""
    return not all(at_least(size, 1) for size in shape)


def doubtful_sizes(*shapes: Shape) -> Shape:
    """The sizes that may be 0, each once: one of them is 0 where one of the shapes is empty."""
    return tuple(dict.fromkeys(size for shape in shapes for size in shape if not at_least(size, 1)))


def unify_joined(parts: Sequence[Shape], axis: int, what: str = "sizes") -> Dim:
    """The common size of tensors at an axis along which they are not joined (Concat, ConcatFromSequence).

    For a tensor that may be empty the equality is only assumed: onnxruntime skips an empty tensor, whatever its sizes.

    >>> from symdim import Var
    >>> unify_joined([(Var("N"), 2), (4, 3)], 0)
    4
    """
    if all(part[axis] is parts[0][axis] for part in parts):
        return parts[0][axis]
    first, *others = sorted(parts, key=may_be_empty)
    sizes = [first[axis]]
    for part in others:
        kind: Kind = "assumed" if may_be_empty(part) else "required"
        filled = doubtful_sizes(first, part)
        common = unify(first[axis], part[axis], f"{what} at axis {axis}", kind, filled)
        if (kind == "assumed" and call_mode().is_cautious) or differ(first[axis], part[axis]):
            return common
        sizes.append(common)
    return min(sizes, key=_rank_of_knowledge)


def broadcast_size(a: Dim, b: Dim) -> Dim:
    """The size of two sizes broadcast to each other (ONNX multidirectional broadcasting).

    Equal sizes stay. 1 is replaced by the other size. A size that is provably not 1 is the result. Otherwise a
    statement says that they are equal or one is 1, and the result is the larger one, or 0 if one is 0
    (`symdim.shape.size_of_broadcast`).

    >>> from symdim import Var
    >>> broadcast_size(Var("N"), 1), broadcast_size(Var("N"), 5), broadcast_size(Var("N"), Var("M"))
    (N, 5, max(M, N))
    >>> broadcast_size(Var("N"), Var("M") - 1)
    M - min(max(M, 2) - N, 1)
    """
    if a is b or b == 1:
        return a
    if a == 1:
        return b
    if isinstance(a, int) and isinstance(b, int):
        return a if a == b else conflicting(f"sizes do not broadcast: {a} and {b}")
    if differ(a, b) and differ(a, 1) and differ(b, 1):
        return conflicting(f"sizes do not broadcast: {a} and {b}")
    if not (at_least(a, 0) and at_least(b, 0)) and maximum(a, 0) == maximum(b, 0):  # no size is negative
        return a if maximum(a, 0) == b else b
    if a == b or holds(a, "==", b):
        return min(a, b, key=_rank_of_knowledge)
    if call_mode().is_strict and isinstance(a, Expr) and isinstance(b, Expr):
        return unify(a, b, STRICT, "assumed")
    a_wins, b_wins = differ(a, 1), differ(b, 1)
    if a_wins and b_wins:
        return unify(a, b, "broadcast sizes")
    state("broadcast", a, b, "broadcast sizes")
    if a_wins or b_wins:
        return a if a_wins else b
    for size in (a, b):
        if not at_least(size, 1):
            state("undecided", size, 1, "whether a size is 0")
    return chosen(a, b)


def broadcast(*shapes: Shape) -> Shape:
    """The shape of several shapes broadcast together, axes aligned at the end.

    >>> from symdim import Var
    >>> broadcast((Var("N"), 1), (5,), ()), broadcast()
    ((N, 5), ())
    """
    if len(shapes) == 2 and shapes[0] == shapes[1]:
        return shapes[0]
    rank = max(map(len, shapes), default=0)
    if len(shapes) > _FEW:
        columns: list[dict[Dim, None]] = [{1: None} for _ in range(rank)]
        for shape in shapes:
            for i, size in enumerate(shape, rank - len(shape)):
                columns[i][size] = None
        return tuple([_broadcast_many(list(column)) for column in columns])
    out: list[Dim] = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            out[i] = broadcast_size(out[i], size)
    return tuple(out)


_FEW = 16


def _broadcast_many(sizes: list[Dim]) -> Dim:
    """The size of many distinct sizes broadcast together, in linear time.

    A size that is provably not 1 is the result. Otherwise one statement per size says that it is the result or 1. The
    result is the maximum if no size may be 0 and the maximum is readable; else it is a fresh size.
    """
    deciding = [size for size in sizes if differ(size, 1)]
    if len(sizes) <= _FEW or deciding or call_mode().is_strict:
        return reduce(broadcast_size, dict.fromkeys([*deciding, *sizes]))
    symbols = [size for size in sizes if size != 1]
    low = int(all(at_least(size, 1) for size in symbols))
    if low and len(symbols) <= MOST_LEAVES:
        result = maximum(*symbols)
    else:
        result = fresh("one of many sizes broadcast together", at_least=low)
    for size in symbols:
        state("broadcast_to", size, result, "broadcast sizes")
    return result


def broadcast_to(target: Shape, shape: Shape, what: str, kind: Kind = "required") -> Shape:
    """The target, to which a shape broadcasts one way: a size of it that is provably not 1 is the target's.

    If they do not broadcast, this is reported and the target stays.

    >>> from symdim import Var
    >>> broadcast_to((Var("N"), 5), (5,), "bias"), broadcast_to((Var("N"), Var("C")), (1, 5), "bias")
    ((N, 5), (N, 5))
    """
    rank, most = len(shape), len(target)
    if not demand(rank <= most, f"rank of {what} exceeds that of the target", rank, most, sign=">"):
        return target
    out = list(target)
    for i, size in enumerate(shape, most - rank):
        if differ(size, 1):
            out[i] = confirm(target[i], size, f"sizes of {what} and the target at axis {i}", kind)
        elif call_mode().is_strict and isinstance(size, Expr) and isinstance(target[i], Expr):
            out[i] = confirm(target[i], size, STRICT, "assumed")
        elif size != 1 and size != target[i]:
            state("broadcast_to", size, target[i], f"sizes of {what} and the target at axis {i}", kind)
    return tuple(out)


def of_rank(shape: Shape | None, rank: int, what: str) -> Shape:
    """The shape, if it has the rank that the operator demands; fresh sizes if the rank is not known.

    A different rank is reported, and the sizes are unknown.

    >>> of_rank((2, 3), 2, "input")
    (2, 3)
    """
    if shape is not None and len(shape) == rank:
        return shape
    if shape is not None:
        contradict(f"rank of {what} is not {rank}: {len(shape)}")
    return unknown_shape(rank, what)


def sizes_unless_broken(count: int, sizes: Callable[[], Iterable[Dim]]) -> Shape:
    """The sizes that a function computes. If it raises because of a broken law, this is reported; all are unknown then.

    >>> from onnx_infer.laws.statements import Trace
    >>> with Trace() as trace:
    ...     shape = sizes_unless_broken(2, lambda: [3, normalize_axis(5, 2)])
    >>> shape, trace.errors
    ((_d, _d), ['axis 5 is out of range for rank 2'])
    """
    try:
        return tuple(sizes())
    except ShapeInferenceError as error:
        contradict(str(error))
        return tuple(fresh(str(error)) for _ in range(count))


def normalize_axis(axis: object, rank: int) -> int:
    """The axis counted from the front. It must be in [-rank, rank - 1].

    >>> normalize_axis(-1, 3)
    2
    """
    if not isinstance(axis, int):
        raise Unknown("the value of the axis is not known")
    if not -rank <= axis < rank:
        raise ShapeInferenceError(f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def has_axis(rank: int, axis: int) -> bool:
    """Whether the axis is in [-rank, rank - 1]. If not, this is reported."""
    if -rank <= axis < rank:
        return True
    contradict(f"axis {axis} is out of range for rank {rank}")
    return False


def unknown_shape(rank: int, what: str) -> Shape:
    """A shape with only its rank known."""
    return tuple(fresh(f"size of {what} at axis {i}") for i in range(rank))


def normalize_axes(axes: Iterable[object], rank: int) -> tuple[int, ...]:
    """The axes counted from the front, in the given order. Duplicates are an error.

    >>> normalize_axes([-1, 0], 3)
    (2, 0)
    """
    out = tuple(normalize_axis(axis, rank) for axis in axes)
    require(len(set(out)) == len(out), "axes contain duplicates", list(out))
    return out


def exact_quotient(n: Dim, d: Dim, what: str = "the element count", kind: Kind = "required", filled: Shape = ()) -> Dim:
    """`n / d` for operators that demand divisibility and d != 0. The divisibility becomes a statement of this kind.

    >>> from symdim import Var
    >>> exact_quotient(6 * Var("N"), 3)
    2*N
    """
    if d == 0:
        raise Unknown(f"{what} is divided by zero")
    if isinstance(n, int) and isinstance(d, int):
        return n // d if n % d == 0 else conflicting(f"{what} {n} is not divisible by {d}")
    quotient = n // d
    if quotient * d != n:
        state("divides", d, n, what, kind, filled)
    return quotient
