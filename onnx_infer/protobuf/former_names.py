"""The names that a model has for sizes in its inner graphs: those of its author, or of an earlier inference.

`claims.py` handles names of the main graph. A subgraph is written with its own names, so a second inference changes
nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_infer.laws.sizes import is_fresh
from onnx_infer.model.symbols import is_name, said
from onnx_infer.types.join import variables_in
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.symbols import Size
    from onnx_infer.values.tensor import Dim, Value


class FormerNames:
    """The values of graphs, with the model's names for their fresh sizes."""

    def __init__(self) -> None:
        self._around: dict[int, set[Var]] = {}

    def values(self, declared: Iterable[tuple[str, Sequence[Size]]], scope: Scope) -> dict[str, Value]:
        """The values of a graph, with the names of the declared shapes for their fresh sizes.

        A size gets the first such name that no other size has, here or in a graph around this one.
        """
        names: dict[Var, str] = {}
        for name, dims in declared:
            value = scope.get(name)
            if isinstance(value, SymTensor) and value.shape is not None and len(value.shape) == len(dims):
                for old, new in zip(dims, value.shape, strict=True):
                    text = said(old)
                    if isinstance(text, str) and is_name(text) and isinstance(new, Var) and is_fresh(new):
                        names.setdefault(new, text)
        if names:
            self._drop_taken(names, scope)
        renamed: dict[Var, Dim] = {
            v: Var.fresh(name, v.lo or 0, v.hi, v.at_most, v.origin) for v, name in names.items() if v.name != name
        }
        return {name: substitute(value, renamed) for name, value in scope.items()} if renamed else dict(scope)

    def _drop_taken(self, names: dict[Var, str], scope: Scope) -> None:
        around = self._visible(scope.parent)
        variables = _variables(scope) | around
        for v in around.intersection(names):
            del names[v]
        while names:
            others = {v.name for v in variables if v not in names}
            count = Counter(names.values())
            taken = [v for v, name in names.items() if count[name] > 1 or name in others]
            if not taken:
                return
            for v in taken:
                del names[v]

    def _visible(self, scope: Scope | None) -> set[Var]:
        """The variables in the values of a scope and of those around it."""
        if scope is None:
            return set()
        if id(scope) not in self._around:
            self._around[id(scope)] = _variables(scope) | self._visible(scope.parent)
        return self._around[id(scope)]


def _variables(scope: Scope) -> set[Var]:
    return {v for value in set(scope.values()) for v in variables_in(value)}
