"""The largest value of one symbol at which a model runs within some memory.

The peak of memory need not grow with a symbol: padding, `x % 32` and branches make it fall. So the search excludes
intervals. If `growth` proves that no size of a value falls, its least bytes are those at the lower end of an interval.
For other values they are the lower bound of the expression. No size of the interval fits if the least bytes of all live
values are too many at some step, or if bounds prove that a required guard fails. An interval that is not excluded is
halved. The upper half is tried first, down to single sizes, for which everything is exact. If the peak never falls,
this is a bisection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.operators.element_types import LARGEST_SIZE
from onnx_infer.results.guards import violations
from onnx_infer.results.inferred import Inferred, checked_sizes
from onnx_infer.results.sources import without_computed
from onnx_infer.tools.arena.making import storages_of
from onnx_infer.tools.arena.placing import live_peak
from onnx_infer.tools.planning.memory import MemoryPlan, Peak
from onnx_infer.tools.planning.planner import bounding_shape
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import Expr, SymdimError, UnboundName, Var
from symdim.algebra.dims import at_least, bounds_of, substituted
from symdim.algebra.evaluate import Substitution
from symdim.guarantee import UpperBounds
from symdim.relations.monotone import growth
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_MOST_INTERVALS = 4_096
_MOST_REBUILT = 50_000  # parts of sizes, in all intervals


class LargestSize(NamedTuple):
    """The largest size of a symbol within a limit of bytes.

    `size`: the largest size at which the peak is at most the limit and no required guard fails, with its `peak`. It is
    None if there is none, or if the search ended early. A runtime in which values share storage (views, in place) needs
    less: no size above `at_most` fits there, and it is -1 if it is proved that none does. `grows`: it is proved that
    the peak never falls if the symbol grows. Then the memory suffices for every smaller size too. `next`: why the next
    size does not fit. `unknown`: the values that are not counted, because their bytes are not known. With one of these
    it is not known that the size fits.
    """

    symbol: str
    limit: int
    size: int | None
    at_most: int
    peak: Peak | None
    grows: bool
    next: str
    unknown: tuple[str, ...] = ()


def largest_size(
    result: Inferred, limit: int, symbol: str | None = None, sizes: Mapping[str, int] | None = None
) -> LargestSize:
    """The largest size of a symbol at which the model runs within `limit` bytes; `sizes` are those of other symbols.

    Inputs, constants and all live values count; data-dependent sizes count with their upper bounds. The
    symbol may be left out if it is the only one without a size. Raises UnboundName for other symbols without a size,
    UnknownSymbol and BoundsError for sizes that no symbol has, and DivisionByZero if they make a divisor 0.
    """
    return _Search(result, limit, symbol, sizes or {}).result()


class _Search:
    def __init__(self, result: Inferred, limit: int, symbol: str | None, sizes: Mapping[str, int]) -> None:
        self.limit = limit
        self.sizes: dict[str | Var, int] = dict(sizes.items())
        self.memory = MemoryPlan(result, inputs=True, initializers=True, upper=True)
        symbols = {v.name: v for v in (*result._input_symbols, *self.memory.symbols)}
        self.symbol = _chosen(symbols, symbol, sizes)
        fixed = {symbols[name]: size for name, size in checked_sizes(sizes, (), symbols).items()}
        guards = (*result.guards, *result.data_guards)
        known = {self.symbol, *fixed}
        self.guards = [guard for guard in guards if known.issuperset(guard.variables())]
        rest = Substitution(fixed)
        self.conditions = [g.condition.substitute(rest) for g in self.guards if g.kind == "required"]
        self.bytes = {name: substituted(size, rest) for name, size in self.memory.sizes.items()}
        self.storages = storages_of(result)
        self.weights = tuple(name for name in result._record.model.graph.constants if name in self.bytes)
        proofs: dict[Dim, bool] = {}
        bounds = UpperBounds()
        self.falling = [
            name for name in self.bytes if not self._grows(result.types.get(name), name, bounds, rest, proofs)
        ]
        self.rebuilt = 0

    def _grows(
        self, value: Value | None, name: str, bounds: UpperBounds, fixed: Substitution, proofs: dict[Dim, bool]
    ) -> bool:
        """Whether the bytes of a value never fall as the symbol grows: none of its sizes falls or is negative."""
        is_tensor = isinstance(value, SymTensor) and value.shape is not None
        dims = bounding_shape(value.shape, bounds) if is_tensor else (self.memory.sizes[name],)  # type: ignore
        for dim in dims:
            size = substituted(without_computed(dim), fixed)
            if size not in proofs:
                least = growth(size, self.symbol)[0] if isinstance(size, Expr) else 0
                proofs[size] = least is not None and least >= 0 and at_least(size, 0)
            if not proofs[size]:
                return False
        return True

    def result(self) -> LargestSize:
        size, at_most = self._search(self._peak_bytes)
        _, shared = self._search(self._shared_bytes)
        return self._answer(size, max(at_most, shared))

    def _search(self, bytes_of: Callable[[Mapping[str, int]], int]) -> tuple[int | None, int]:
        """The largest size that fits, and the largest that is not excluded, by this measure of the live bytes."""
        low, high = self.symbol.bounds()
        ends = low or 0, LARGEST_SIZE if high is None else high
        pending = [ends] if ends[0] <= ends[1] else []
        tried = 0
        self.rebuilt = 0
        while pending:
            first, last = pending.pop()
            tried += 1
            if tried > _MOST_INTERVALS or self.rebuilt > _MOST_REBUILT:
                return None, last
            if first == last:
                if not self._reason(last, bytes_of):
                    return last, last
            elif not self._is_excluded(first, last, bytes_of):
                middle = (first + last) // 2
                pending += [(first, middle), (middle + 1, last)]
        return None, -1

    def _peak_bytes(self, counts: Mapping[str, int]) -> int:
        return max(self.memory.live_bytes(counts))

    def _shared_bytes(self, counts: Mapping[str, int]) -> int:
        """The most bytes at one step if values share storage as in an arena plan. Weights are there all the time."""
        kept = sum(counts[name] for name in self.weights)
        spans = [(storage.first, storage.last) for storage in self.storages if storage.root in counts]
        sizes = [counts[storage.root] for storage in self.storages if storage.root in counts]
        return kept + live_peak(spans, sizes)

    def _answer(self, size: int | None, at_most: int) -> LargestSize:
        peak = None if size is None else self.memory.peak_of(self._counts(size))
        reason = ""
        if size is not None:
            is_last = size == self.symbol.bounds()[1]
            reason = "it is the largest size" if is_last else self._reason(size + 1, self._peak_bytes)
        grows = not self.falling
        return LargestSize(self.symbol.name, self.limit, size, at_most, peak, grows, reason, self.memory.unknown)

    def _counts(self, size: int) -> dict[str, int]:
        return self.memory.bytes_at({**self.sizes, self.symbol: size})

    def _reason(self, size: int, bytes_of: Callable[[Mapping[str, int]], int]) -> str:
        """Why a size does not fit; empty if it fits."""
        try:
            counts = self._counts(size)
        except ZeroDivisionError:
            return f"{self.symbol.name} = {size} makes a divisor 0"
        if bytes_of(counts) > self.limit:
            peak = self.memory.peak_of(counts)
            return f"{self.symbol.name} = {size} needs {peak.bytes} bytes at {peak.step.operator} '{peak.step.node}'"
        failed = violations(self.guards, {**self.sizes, self.symbol: size})
        return next((str(violation) for violation in failed if violation.kind == "required"), "")

    def _is_excluded(self, first: int, last: int, bytes_of: Callable[[Mapping[str, int]], int]) -> bool:
        """Whether it is proved that no size of this interval fits."""
        inside = Substitution({self.symbol: Var.fresh(self.symbol.name, first, last)})
        try:
            counts = self._counts(first)
        except ZeroDivisionError:
            return False
        for name in self.falling:
            counts[name] = max(bounds_of(substituted(self.bytes[name], inside))[0] or 0, 0)
        excluded = bytes_of(counts) > self.limit or any(
            solve(condition.substitute(inside)) is None for condition in self.conditions
        )
        self.rebuilt += len(inside.rebuilt)
        return excluded


def _chosen(symbols: Mapping[str, Var], symbol: str | None, sizes: Mapping[str, int]) -> Var:
    """The symbol that is asked for; the other ones must have sizes."""
    if symbol is not None and symbol not in symbols:
        raise UnboundName((symbol,))
    free = [name for name in symbols if name not in sizes and name != symbol]
    if symbol is None and len(free) == 1:
        return symbols[free[0]]
    if free:
        raise UnboundName(tuple(sorted(free)))
    if symbol is None:
        raise SymdimError("every symbol has a size already")
    return symbols[symbol]
