"""Whether a model runs within some memory at all sizes within bounds.

A box has an interval for each symbol. It is proved if the upper bounds of the values that are live together are small
enough at every step, or if bounds prove that a required guard fails everywhere in it. A value that never falls as a
symbol grows is largest at the upper corner; for others it is the upper bound of the expression. A box that is not
proved is halved, down to single sizes, for which everything is exact.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from onnx_infer.errors import UnknownSymbol
from onnx_infer.operators.element_types import LARGEST_SIZE
from onnx_infer.results.guards import violations
from onnx_infer.tools.planning.memory import MemoryPlan, Peak
from onnx_infer.tools.planning.samples import moved_to_guards
from symdim import BoundsError, Expr, Var
from symdim.algebra.dims import bounds_of, substituted
from symdim.algebra.evaluate import Substitution
from symdim.relations.monotone import growth
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_infer.results.inferred import Inferred

    Box: TypeAlias = tuple[tuple[int, int], ...]

_MOST_BOXES = 1_024
_MOST_REBUILT = 50_000  # parts of sizes, in all boxes


class Fits(NamedTuple):
    """The answer to "does it fit", for all sizes within bounds.

    "proved": at all of them at which the model runs, the peak is at most the `limit`. "exceeded": the peak is above it
    at these `sizes`, at which no required guard fails. "unknown": neither was found, for this `reason`.
    """

    verdict: Literal["proved", "exceeded", "unknown"]
    limit: int
    sizes: dict[str, int] | None = None
    peak: Peak | None = None
    reason: str = ""


def fits(result: Inferred, limit: int, bounds: Mapping[str, tuple[int, int | None]] | None = None) -> Fits:
    """Whether the peak of a model's memory is at most `limit` bytes at all sizes within bounds.

    Inputs, constants and all live values count, as in `MemoryPlan`; data-dependent sizes count with their
    upper bounds. `bounds` narrow those of the symbols. Raises UnknownSymbol for names of no symbol, and BoundsError if
    no size is left.
    """
    search = _Search(result, limit, bounds or {})
    for sizes in search.diagonal():
        if excess := search.exceeds(sizes):
            return excess
    if search.memory.unknown:
        return Fits("unknown", limit, reason=not_known(search.memory.unknown))
    return search.halved()


class _Search:
    def __init__(self, result: Inferred, limit: int, bounds: Mapping[str, tuple[int, int | None]]) -> None:
        self.limit = limit
        self.memory = MemoryPlan(result, inputs=True, initializers=True, upper=True)
        symbols = dict.fromkeys([*result._input_symbols, *self.memory.symbols])
        self.guards = [guard for guard in result.guards if guard.origins]
        symbols.update(dict.fromkeys(v for guard in self.guards for v in guard.variables()))
        self.symbols = tuple(symbols)
        if unknown := bounds.keys() - {v.name for v in self.symbols}:
            raise UnknownSymbol("bounds", tuple(sorted(unknown)), [v.name for v in self.symbols])
        self.whole: Box = tuple(_interval(v, bounds.get(v.name, (-LARGEST_SIZE, None))) for v in self.symbols)
        self.conditions = [guard.condition for guard in self.guards if guard.kind == "required"]
        sizes = dict.fromkeys(size for size in self.memory.sizes.values() if isinstance(size, Expr))
        self.falling = [size for size in sizes if not all(_grows(size, v) for v in size.variables())]
        self.rebuilt = 0

    def halved(self) -> Fits:
        """Prove all boxes, or find sizes in one that exceed the limit."""
        pending = [self.whole]
        boxes = 0
        while pending:
            box = pending.pop()
            boxes += 1
            if boxes > _MOST_BOXES or self.rebuilt > _MOST_REBUILT:
                return Fits("unknown", self.limit, reason=f"the search ended after {boxes - 1} parts of the bounds")
            if self._is_proved(box):
                continue
            top = {v: high for v, (_, high) in zip(self.symbols, box, strict=True)}
            if excess := self.exceeds(top):
                return excess
            widest = max(range(len(box)), key=lambda i: _width(box[i]), default=None)
            if widest is None or box[widest][0] == box[widest][1]:
                if self._is_refused(top):
                    continue
                named = ", ".join(f"{v.name} = {size}" for v, size in top.items())
                return Fits("unknown", self.limit, reason=f"a divisor is 0 at {named}")
            low, high = box[widest]
            middle = low + (high - low) // 2
            for part in ((low, middle), (middle + 1, high)):
                pending.append((*box[:widest], part, *box[widest + 1 :]))
        return Fits("proved", self.limit)

    def diagonal(self) -> Iterator[dict[Var, int]]:
        """Sizes of growing magnitudes within the bounds, moved to where guards hold if one symbol's size can do it."""
        seen = set()
        for power in range(LARGEST_SIZE.bit_length() + 1):
            sizes = {
                v: min(max(1 << power, low), high) for v, (low, high) in zip(self.symbols, self.whole, strict=True)
            }
            sizes = moved_to_guards(self.guards, sizes)
            inside = all(low <= sizes[v] <= high for v, (low, high) in zip(self.symbols, self.whole, strict=True))
            if inside and (key := tuple(sizes.values())) not in seen:
                seen.add(key)
                yield sizes

    def _is_refused(self, sizes: Mapping[Var, int]) -> bool:
        bound: dict[str | Var, int] = dict(sizes.items())
        return any(violation.kind == "required" for violation in violations(self.guards, bound))

    def exceeds(self, sizes: Mapping[Var, int]) -> Fits | None:
        """The answer if the peak is above the limit at these sizes, and the model runs there."""
        if self._is_refused(sizes):
            return None
        try:
            counts = self._counts(sizes)
        except ZeroDivisionError:
            return None
        if max(self.memory.live_bytes(counts)) <= self.limit:
            return None
        named = {v.name: size for v, size in sizes.items()}
        return Fits("exceeded", self.limit, named, self.memory.peak_of(counts))

    def _counts(self, sizes: Mapping[Var, int]) -> dict[str, int]:
        return self.memory.bytes_at({v: sizes[v] for v in self.memory.symbols})

    def _is_proved(self, box: Box) -> bool:
        """Whether nothing in the box that runs exceeds the limit."""
        inside = Substitution(
            {v: Var.fresh(v.name, low, high) for v, (low, high) in zip(self.symbols, box, strict=True)}
        )
        largest = {size: bounds_of(substituted(size, inside))[1] for size in self.falling}
        proved = self._is_below(box, largest) or any(
            solve(condition.substitute(inside)) is None for condition in self.conditions
        )
        self.rebuilt += len(inside.rebuilt)
        return proved

    def _is_below(self, box: Box, largest: Mapping[Expr, int | None]) -> bool:
        """Whether the sum of what is live is at most the limit at each step, with the largest bytes of each value."""
        try:
            counts = self._counts({v: high for v, (_, high) in zip(self.symbols, box, strict=True)})
        except ZeroDivisionError:
            return False
        for name, size in self.memory.sizes.items():
            if isinstance(size, Expr) and size in largest:
                most = largest[size]
                if most is None:
                    return False
                counts[name] = most
        return max(self.memory.live_bytes(counts)) <= self.limit


def not_known(names: Sequence[str]) -> str:
    """That the bytes of these values are not known."""
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"the bytes of {names[0]!r}{others} are not known"


def _interval(variable: Var, bounds: tuple[int, int | None]) -> tuple[int, int]:
    """The sizes of a symbol that lie within its own bounds and these."""
    own_low, own_high = variable.bounds()
    low = max(bounds[0], -LARGEST_SIZE if own_low is None else own_low)
    high = min(x for x in (bounds[1], own_high, LARGEST_SIZE) if x is not None)
    if low > high:
        raise BoundsError(f"bounds: no size of {variable.name!r} is at least {low} and at most {high}")
    return low, high


def _width(interval: tuple[int, int]) -> float:
    """About the ratio of the ends: what halving can gain."""
    low, high = interval
    return log2(high - low + 1) - log2(max(low, 1)) / 2 if low < high else -1e9


def _grows(size: Expr, variable: Var) -> bool:
    least = growth(size, variable)[0]
    return least is not None and least >= 0
