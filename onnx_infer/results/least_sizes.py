"""The least size of a symbol at which a model may run, if the demands of its nodes rest on assumed guards.

A pool whose window does not fit has other sizes than inferred, and a runtime may accept them. The later nodes then
demand something else. So the model is walked again with the symbol in an interval of smaller sizes. This walk assumes
nothing.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from onnx_infer.diagnostics import Refusal
from onnx_infer.engine.record import Record, Setting
from onnx_infer.engine.walk import walk
from onnx_infer.laws.bounds import implied_bounds
from onnx_infer.laws.statements import Mode
from onnx_infer.model.graph import label_of, title_of
from onnx_infer.types.join import sizes
from onnx_infer.values.tensor import Dim, substitute
from symdim import Var
from symdim.algebra.dims import at_least, variables_of
from symdim.algebra.variable import narrowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    Refusing = tuple[str, str]
    """The operator and the name of a node."""

_MOST_NODES = 1 << 13
"""The most nodes that the walks for one model visit in total."""


class LeastSizes:
    """The least sizes of the symbols of one model."""

    def __init__(self, engine: Record) -> None:
        self._engine = engine
        self._left = _MOST_NODES
        self._nodes = sum(1 for _ in engine.model.graph.nodes())

    def of(self, symbol: Var, low: int, high: int) -> tuple[int, Refusing | None]:
        """The least size in [low, high] below which every run fails, and the first node that refuses a run.

        The whole interval is tried first, then smaller ones, because bounds prove more for these.
        """
        width, by = high - low, None
        while low < high and self._left >= self._nodes:
            end = min(low + width, high)
            found = self._refused(symbol, low, end - 1)
            if found is not None:
                low, by = end, by or found
            elif width == 1:
                break
            else:
                width //= 2
        return low, by

    def _refused(self, symbol: Var, low: int, high: int) -> Refusing | None:
        """The node that refuses every run in which the symbol lies in [low, high]; None if that is not known."""
        engine = self._engine
        graph = engine.model.graph
        found = {
            v
            for _, kind in graph.inputs
            if kind is not None
            for v in variables_of(sizes(kind))
            if v.name == symbol.name
        }
        if not found or any((v.lo or 0) > low for v in found):
            return None  # only the data decide this size, or an earlier walk excluded such sizes already
        self._left -= self._nodes
        narrow: dict[Var, Dim] = {v: narrowed(v, low, high) for v in found}
        inputs = [(name, kind and substitute(kind, narrow)) for name, kind in graph.inputs]
        model = engine.model._replace(graph=graph._replace(inputs=inputs))
        setting = Setting(engine.setting.policy, mode=Mode(is_cautious=True))
        record = walk(Record(model, copy(engine.symbols), setting))
        for told in record.diagnostics:
            if isinstance(told, Refusal):
                return told.operator.rpartition("-")[0], told.node
        return _contradicted(record)


def _contradicted(record: Record) -> Refusing | None:
    """A node whose statement contradicts the other statements of the walk. Only bounds are compared."""
    resolve = record.fresh_sizes.resolve
    stated = [
        (s._replace(lhs=resolve(s.lhs), rhs=resolve(s.rhs), filled=tuple(map(resolve, s.filled))), node)
        for s, node in record.stated()
    ]
    bounds = implied_bounds(statement for statement, _ in stated)
    for statement, node in stated:
        is_demanded = statement.kind == "required" or _all_filled(map(bounds.within, statement.filled))
        if is_demanded and statement.relation != "undecided" and bounds.contradicts(statement.condition):
            return title_of(node), label_of(node)
    return None


def _all_filled(sizes: Iterable[Dim]) -> bool:
    """Whether there are sizes, and bounds prove that none of them is 0."""
    filled = [at_least(size, 1) for size in sizes]
    return bool(filled) and all(filled)
