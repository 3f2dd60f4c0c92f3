"""The names of sizes in inner graphs: those of the model's author, or of an earlier inference.

`claims.py` handles names of the main graph. The names that a walk makes for sizes of inner graphs depend on what it
walked before, and on the names of the main graph. So the names that are written are chosen afterwards, and a second
inference changes nothing.
"""

from __future__ import annotations

from collections import Counter
from itertools import count, islice
from typing import TYPE_CHECKING

from onnx_infer.engine.claims import in_order
from onnx_infer.engine.fresh import replacing
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.laws.statements import make_size
from onnx_infer.model.size_texts import GENERATED, Size, generated, is_name
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value
from symdim import Expr, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import Substitution

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Graph


class FormerNames:
    """The values of inner graphs, with the model's names for their fresh sizes.

    `main` is the scope of the main graph, which is written with its own names. `inner` are the other graphs, and
    `declared` gives the declared sizes of the values of one of them. A size has one name in a graph and all graphs
    inside it, and no other size there has this name. The texts of these graphs may tell it: what a Loop carries is not
    written. Sizes that are only in elements are not written, so they need no name.
    """

    def __init__(
        self,
        main: Scope,
        inner: Collection[tuple[Graph, Scope]],
        declared: Callable[[Graph], Iterable[tuple[str, Iterable[Size]]]],
    ) -> None:
        self._main = main
        pairs = {id(scope): list(_pairs(declared(graph), scope)) for graph, scope in inner}
        self._pairs = {key: of_scope for key, of_scope in pairs.items() if of_scope}
        self._inside: dict[int, list[tuple[str, Expr]]] = {}
        for scope in [scope for _, scope in inner if id(scope) in self._pairs]:
            for around in islice(scope.outwards(), 1, None):
                self._inside.setdefault(id(around), []).extend(self._pairs[id(scope)])
        # of each graph, once: new variables for those in its sizes, and the variables that are visible in it
        self._chosen: dict[int, tuple[dict[Var, Dim], set[Var]]] = {id(main): ({}, _variables(main))}

    def values(self, scope: Scope) -> Mapping[str, Value]:
        """The values of a graph with the sizes that are written."""
        pending: list[Scope] = []
        while id(scope) not in self._chosen:
            pending.append(scope)
            scope = self._main if scope.parent is None else scope.parent  # a function may have sizes of the main graph
        while pending:
            around, scope = scope, pending.pop()
            self._chosen[id(scope)] = self._choose(scope, *self._chosen[id(around)])
        renamed, _ = self._chosen[id(scope)]
        if not renamed:
            return scope
        new = replacing(Substitution(renamed))
        return {name: new(value) for name, value in scope.items()}

    def _choose(self, scope: Scope, around: dict[Var, Dim], outer: set[Var]) -> tuple[dict[Var, Dim], set[Var]]:
        """The new variables and the visible ones in a graph, from those of the graph around it."""
        visible = outer | _variables(scope)
        inner = self._inside.get(id(scope), [])
        pairs = self._pairs.get(id(scope), []) + inner
        if not pairs and not around:
            return around, visible
        own = visible - outer
        free = sorted(filter(_is_generated, own), key=in_order)
        taken = {getattr(around.get(v), "name", v.name) for v in outer} | {v.name for v in own.difference(free)}
        inside = {v for _, size in pairs for v in size.variables() if _is_generated(v)} - outer
        names = _former(pairs, set(free), inside, taken, around)
        taken.update(names.values())
        # a size without a name in the texts leaves the names that sizes have which only the graphs inside see
        taken.update(name for text, size in inner if visible.isdisjoint(size.variables()) for name in generated(text))
        others = (name for n in count() if (name := f"_d{n}") not in taken)
        for v in free:
            if v not in names:
                names[v] = next(others) if v.name in taken else v.name
                taken.add(names[v])
        return around | {v: _under(name, v) for v, name in names.items() if v.name != name}, visible


def _variables(scope: Scope) -> set[Var]:
    """The variables in the sizes of a graph's own values, which are written."""
    sizes: set[Dim] = set()
    for value in set(scope.values()):
        sizes.update(value.shape or () if type(value) is SymTensor else shape_of(value))
    return set(variables_of(sizes))


def _under(name: str, v: Var) -> Var:
    """The variable under another name: the same one in the next inference, so what is written is known then."""
    return make_size(name, v.lo, v.hi, v.at_most, v.origin)


def shape_of(value: Value | None) -> Shape:
    """The sizes of a value that are written; none if its rank is not known."""
    while isinstance(value, (Sequence, Optional, Map)):
        value = value.value if isinstance(value, Map) else value.elem
    return (value.shape or ()) if isinstance(value, (SymTensor, Sparse)) else ()


def _is_generated(v: Var) -> bool:
    return is_fresh(v) and GENERATED.fullmatch(v.name) is not None


def _pairs(declared: Iterable[tuple[str, Iterable[Size]]], scope: Scope) -> Iterable[tuple[str, Expr]]:
    """The texts of a graph for its fresh sizes, with these sizes."""
    for name, dims in declared:
        shape, old = shape_of(scope.get(name)), list(dims)
        if len(shape) == len(old):
            for text, size in zip(old, shape, strict=True):
                if isinstance(text, str) and isinstance(size, Expr) and is_fresh(size):
                    yield text, size


def _former(
    pairs: list[tuple[str, Expr]], free: set[Var], inside: set[Var], taken: set[str], around: dict[Var, Dim]
) -> dict[Var, str]:
    """The names that the texts have for free variables. A name must be of one variable, and not be taken.

    `inside` are all variables of the texts that the graphs around do not name, those of the graphs inside, too.
    `around` are the new variables of the graphs around.
    """
    names: dict[Var, str] = {}
    for text, size in pairs:
        if isinstance(size, Var) and size in free and is_name(text):
            names.setdefault(size, text)
    uses = Counter(names.values())
    names = {v: name for v, name in names.items() if uses[name] == 1 and name not in taken}
    for text, size in pairs:
        if not isinstance(size, Var) and generated(text):
            used = taken.union(names.values())
            unnamed = sorted(inside.intersection(size.variables()).difference(names), key=in_order)
            # walks number the sizes in the same order
            unused = sorted({name for name in generated(text) if name not in used}, key=lambda name: (len(name), name))
            if len(unnamed) == len(unused) and not free.isdisjoint(unnamed):
                renamed = names | dict(zip(unnamed, unused, strict=True))
                new = {v: _under(renamed[v], v) for v in inside & renamed.keys()}
                if str(size.substitute({**around, **new})) == text:
                    names |= {v: renamed[v] for v in free.intersection(unnamed)}
    return names
