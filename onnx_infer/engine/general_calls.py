"""General calls: a function with many signatures is walked once with placeholders, and other calls are instances.

A walk without statements, fresh sizes and notes holds for all sizes within the bounds, so sizes may replace the
placeholders. Without this, functions that call functions twice would double the walks at every level.

If ranks, element types or elements are new in each call, this does not limit the walks. So after `MOST_NESTED` walks
for calls inside functions, calls become *coarse*: the walk uses less and less of their operands, so few calls differ.
Its results are right, including statements and fresh sizes, but a separate walk might find more.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.laws.made import make_size
from onnx_infer.types.join import NOTHING, join_with_itself, kind_of, sizes
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value, substitute
from symdim import Expr, Var
from symdim.algebra.dims import bounds_of
from symdim.algebra.evaluate import Substitution

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


MANY = 16
"""The number of signatures of a function that are walked before a general call is tried."""


MOST_NESTED = 1 << 11
"""The number of walks over bodies, for calls inside functions, after which these calls are coarse."""


class GeneralCall(NamedTuple):
    """The operands of a call with placeholders for sizes, and the sizes of this call.

    A `coarse` call stands for others, whatever its walk finds.
    """

    values: dict[str, Any]
    sizes: Mapping[Var, Dim]
    coarse: bool = False

    def instance(self, results: Iterable[Value]) -> list[Value]:
        """The values of this call from those of the general call."""
        known = Substitution(self.sizes)
        return [substitute(value, known) for value in results]


class Placeholders:
    """Symbols that stand for the sizes of any call. All calls use the same ones, so that general calls are equal."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], Var] = {}
        self._all: set[Var] = set()

    def __contains__(self, size: object) -> bool:
        return isinstance(size, Expr) and not self._all.isdisjoint(size.variables())

    def __bool__(self) -> bool:
        return bool(self._all)

    def general(
        self, values: Mapping[str, Value | None], first: Mapping[str, Value | None], constants: Collection[str]
    ) -> GeneralCall | None:
        """The general call of these operands, or None.

        Sizes that differ from those of the `first` call become placeholders, equal sizes the same one. 0, 1, numbers as
        elements, and constants stay, because laws depend on them.
        """
        found: dict[Dim, Var] = {}

        def placeholder(size: Dim, other: Dim | None) -> Dim:
            if (isinstance(size, int) and size < 2) or (size == other and size not in found):
                return size
            return self._placeholder(size, found)

        out: dict[str, Any] = {}
        for name, value in values.items():
            other = first.get(name)
            if value is other or name in constants:
                out[name] = value
            elif isinstance(value, SymTensor) and isinstance(other, SymTensor) and _may_vary(value, other):
                shape = [placeholder(a, b) for a, b in zip(value.dims, other.dims, strict=True)]
                data = value.data and [placeholder(x, y) if isinstance(x, Expr) else x for x, y in _pairs(value, other)]
                out[name] = SymTensor(value.dtype, shape, data)
            else:
                return None
        return GeneralCall(out, {var: size for size, var in found.items()}) if found else None

    def _placeholder(self, size: Dim, found: dict[Dim, Var]) -> Var:
        """The symbol for a size. Equal sizes have the same symbol; `found` are those so far."""
        if size not in found:
            low = bounds_of(size)[0] or 0
            key = len(found), max(0, min(low, 2))
            if key not in self._made:
                self._made[key] = make_size(f"_size{key[0]}", key[1], None, None, None)
                self._all.add(self._made[key])
            found[size] = self._made[key]
        return found[size]

    def coarse(self, values: Mapping[str, Value | None], level: int) -> GeneralCall:
        """The coarse call of these operands: without elements, with placeholders for all sizes >= 2.

        From level 1 on the ranks are dropped, from level 2 on everything else.
        """
        found: dict[Dim, Var] = {}

        def known(value: Value | None) -> Value | None:
            if value is None or level > 1:
                return value and NOTHING
            if level == 1 or not isinstance(value, SymTensor) or value.shape is None or UNKNOWN_SIZE in value.shape:
                return kind_of(value)
            is_fixed = [isinstance(size, int) and size < 2 for size in value.shape]
            shape = [
                d if fixed else self._placeholder(d, found) for d, fixed in zip(value.shape, is_fixed, strict=True)
            ]
            return SymTensor(value.dtype, shape)

        out = {name: known(value) for name, value in values.items()}
        return GeneralCall(out, {var: size for size, var in found.items()}, coarse=True)

    def closed(self, value: Value) -> Value:
        """The value without sizes that depend on the call."""
        if not any(size in self for size in sizes(value)):
            return value
        if not isinstance(value, SymTensor):
            return kind_of(value)
        return join_with_itself(value.without_data(), lambda size, _: UNKNOWN_SIZE if size in self else size)


def _may_vary(value: SymTensor, other: SymTensor) -> bool:
    """Whether placeholders may replace sizes and elements of an operand."""
    if (
        value.shape is None
        or other.shape is None
        or len(value.shape) != len(other.shape)
        or UNKNOWN_SIZE in value.shape
    ):
        return False
    return all(x is None or isinstance(x, (int, float, str)) or _is_size(x) for x in value.data or ())


def _pairs(value: SymTensor, other: SymTensor) -> Iterator[tuple[Any, Any]]:
    """The elements of an operand, each paired with that of the first call, or None."""
    return zip_longest(value.data or (), (other.data or ())[: len(value.data or ())])


def _is_size(x: object) -> bool:
    return isinstance(x, Expr) and (x.bounds()[0] or -1) >= 0
