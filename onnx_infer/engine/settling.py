"""Names for sizes from the claims of a model, given after the walk; see `claims.py` for the law."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from onnx_infer.engine.claims import Claim
from onnx_infer.laws.sizes import differ, is_fresh
from onnx_infer.laws.statements import Statement
from onnx_infer.model.size_texts import is_name
from onnx_infer.types.merge import merge, size_pairs, without_claims
from symdim import Expr, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import Declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.engine.engine import Engine
    from onnx_infer.types.merge import Conflict
    from onnx_infer.values.tensor import Dim

_MOST_UNKNOWNS = 3  # beyond, the names of an expression are tried in their order only


def settle(engine: Engine) -> list[str]:
    """Give declared names to the sizes of an inference. All other claims become statements of the kind "declared".

    With `assume_declared` they replace data-dependent sizes instead; claims for which this is impossible are returned
    as relations.
    """
    assumed: list[str] = []
    if not engine.claims:
        return assumed
    _use_numbers_of_bodies(engine)
    names = _Names(engine)
    for claim, declared, size in names.equalities():
        if engine.declared.assumed:
            a, b = engine.fresh_sizes.resolve(declared), engine.fresh_sizes.resolve(size)
            if is_fresh(a) or is_fresh(b):
                engine.fresh_sizes.add(Statement("equal", b, a, "declared"))  # the named size stays
            elif a != b:
                assumed.append(f"{a} == {b}")
            continue
        if engine.policy == "strict" and isinstance(declared, Expr) and isinstance(size, Expr):
            engine.complain(
                f"value '{claim.value}': declared {claim.declared} but inferred {size}, which are not known to be equal"
            )
        lhs, rhs = (size, declared) if is_fresh(size) else (declared, size)
        kind = "output" if claim.value in names.outputs else "value"
        engine.state(Statement("equal", lhs, rhs, f"declared of {kind} '{claim.value}'", "declared"), claim.node)
    if engine.declared.assumed:
        engine.replace_solved()
    if engine.adopt and names.of:
        symbols: dict[Var, Dim] = {}
        for axis, name in names.of.items():
            if not is_fresh(axis):
                symbols[axis] = symbols[name] = engine.symbols.renamed(axis, name)
        engine.rename(symbols, {size: name for size, name in names.of.items() if is_fresh(size)})
    return assumed


def _use_numbers_of_bodies(engine: Engine) -> None:
    """Use the numbers that bodies declare for sizes, where values of the main graph claim the same and are believed.

    So a second inference in both directions keeps what the first one has found for a size of both graphs.
    """
    known: dict[Dim, Dim] = {}
    for claim in engine.claims:
        size = 0 if claim.inferred is None else claim.inferred
        if isinstance(claim.declared, int) and is_fresh(size) and engine.declared.believes(claim.value, claim.declared):
            known.setdefault(size, claim.declared)
    if not known:
        return

    def kept(declared: Dim, inferred: Dim) -> bool:
        return known.get(inferred) == declared

    functions = {id(function.handle) for function in engine.model.functions.values()}
    for graph, scope in engine.inner:
        body = graph if id(graph.handle) in functions else engine.view(graph.handle)  # a record has no declared types
        for name, declared in body.declared.items():
            found = scope.get(name)
            if found is not None and any(size is not None and kept(n, size) for n, size in size_pairs(declared, found)):
                told: list[Conflict] = []  # the walk has told where the two types contradict each other
                scope[name] = merge(without_claims(declared, found, kept), found, "refine", told.append)


class _Names:
    """The sizes for which the declared names of a model stand."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.outputs = frozenset(engine.model.graph.outputs)
        self.of: dict[Var, Var] = {}
        """Size -> the name that it gets."""
        self._sizes: dict[Var, Dim] = {}
        """Name -> the size that it stands for."""
        self._taken: set[Var] = set()
        """The names that inputs have, and those in values about which nothing is inferred."""
        resolve = engine.fresh_sizes.resolve
        self._claims = [(c, resolve(c.inferred)) for c in engine.claims if c.inferred is not None]
        self._claims.sort(key=lambda claim: claim[0].value not in self.outputs)
        for claim in engine.claims:
            if claim.inferred is None:
                self._taken.update(variables_of([claim.declared]))
        for name, _ in engine.model.graph.inputs:
            for _, size in size_pairs(engine.scope[name], engine.scope[name]):
                self._taken.update(variables_of([size]))
        for claim, size in self._claims:
            if isinstance(claim.declared, Var) and self._is_free(claim.declared):
                self._bind(claim.declared, size)
        for claim, size in self._claims:
            if isinstance(claim.declared, Expr) and isinstance(size, Expr):
                self._match(claim.declared.substitute(self._sizes), size)

    def equalities(self) -> Iterator[tuple[Claim, Dim, Dim]]:
        """The claims that do not just name a size: declared and inferred sizes that are not known to be equal.

        Two sizes of one name that contradict each other are reported.
        """
        for claim, size in self._claims:
            declared = claim.declared
            if isinstance(declared, Expr):
                declared = self.engine.fresh_sizes.resolve(declared.substitute(self._sizes))
            if declared == size or any(map(self._is_free, variables_of([declared]))):
                continue
            if not differ(declared, size):
                yield claim, declared, size
            elif isinstance(declared, int) and declared is claim.declared and is_fresh(claim.inferred):
                self.engine.warn_of(claim.value, f"declared {declared} but inferred {size}")
            elif not differ(claim.declared, size):
                claimed = f"declared {claim.declared}, which is {declared} elsewhere"
                self.engine.warn_of(claim.value, f"{claimed}, but inferred {size}")

    def _is_free(self, name: Var) -> bool:
        """Whether a declared name does not stand for a size yet."""
        return isinstance(name.origin, Declared) and name not in self._taken and name not in self._sizes

    def _bind(self, name: Var, size: Dim) -> None:
        """Let the name stand for the size. In an input `N + 1` would be an expression, so no axis gets this name."""
        self._sizes[name] = size
        if isinstance(size, Var) and self._may_be_named(size) and (is_fresh(size) or is_name(name.name)):
            self.of[size] = name

    def _may_be_named(self, size: Var) -> bool:
        return (is_fresh(size) or size in self.engine.symbols.axes) and size not in self.of

    def _match(self, declared: Dim, size: Expr) -> None:
        """Bind the names in an expression of the same form as the size: an earlier inference wrote it."""
        free = sorted([v for v in variables_of([declared]) if self._is_free(v)], key=_in_order)
        unnamed = sorted([v for v in size.variables() if self._may_be_named(v)], key=_in_order)
        if not free or len(free) != len(unnamed):
            return
        for order in permutations(free) if len(free) <= _MOST_UNKNOWNS else [tuple(free)]:
            if size.substitute(dict(zip(unnamed, order, strict=True))) == declared:
                for name, var in zip(order, unnamed, strict=True):
                    self._bind(name, var)
                return


def _in_order(v: Var) -> tuple[int, str]:
    """Sorts the names that inference gives by their numbers: `_d9` comes before `_d10`."""
    return len(v.name), v.name
