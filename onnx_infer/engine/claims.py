"""Claims: names and equalities that the author of a model declares for sizes that inference finds.

A declared name is not knowledge. It may become the name of a size without a name: a data-dependent size, or the axis of
an input without a name. The name must be free: no input has it, and no other size, unless it is proven equal.
Everything else that a declared type says is a guard of the kind "declared": `_d0 == N`, declared of output 'a'. Names
are given after the walk, outputs first, because only then all equalities of sizes are known. For the same reason a
declared number of a data-dependent size, or of one with many names or a clamp, is used in the second pass, and only if
no node demands it: a second inference then finds in the file what the first one wrote, and makes the same statements.
The same holds for a declared rank that selects one of two tensors.

If nothing is inferred about a value, not even its rank, its declared type is used. The sizes of inputs in it are guards
of the kind "declared", too. A name in it that no input has stands for the size itself; the second time it is a guard.
Nothing is used of a declared type that contradicts the inferred one (`messages.py`).

Sizes that a body declares replace no inferred ones: it may not run, and no guard could report its claims. Of a value
about which nothing is inferred there, the declared rank and numbers are used. What a declared rank says is a guard if
the body runs wherever the model does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.engine.record import Claim, Record
from onnx_infer.engine.substitution import rename, replace_solved
from onnx_infer.laws.sizes import differ, is_fresh
from onnx_infer.laws.statements import Statement
from onnx_infer.model.size_texts import is_name
from onnx_infer.types.merge import size_pairs
from onnx_infer.values.tensor import Dim
from symdim import Expr, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import Declared

if TYPE_CHECKING:
    from collections.abc import Iterator


def name_sizes(record: Record) -> list[str]:
    """Give declared names to the sizes of an inference. All other claims become statements of the kind "declared".

    With `assume_declared` they replace data-dependent sizes instead; claims for which this is impossible are returned
    as relations.
    """
    assumed: list[str] = []
    names = _Names(record)
    for claim, declared, size in names.equalities():
        if record.setting.assumes_declared:
            a, b = record.sizes.fresh.resolve(declared), record.sizes.fresh.resolve(size)
            if is_fresh(a) or is_fresh(b):
                record.sizes.fresh.add(Statement("equal", b, a, "declared"))  # the named size stays
            elif a != b:
                assumed.append(f"{a} == {b}")
            continue
        if record.setting.policy == "strict" and isinstance(declared, Expr) and isinstance(size, Expr):
            record.complain(
                f"value '{claim.value}': declared {claim.declared} but inferred {size}, which are not known to be equal"
            )
        lhs, rhs = (size, declared) if is_fresh(size) else (declared, size)
        kind = "output" if claim.value in names.outputs else "value"
        record.statements.add(
            Statement("equal", lhs, rhs, f"declared of {kind} '{claim.value}'", "declared"), claim.node
        )
    if record.setting.assumes_declared:
        replace_solved(record)
    if record.setting.adopt and names.of:
        resolve = record.sizes.fresh.resolve  # equal sizes have been replaced by one with the bounds of both
        names.of = {
            new if isinstance(new := resolve(size), Var) and new.name == size.name else size: name
            for size, name in names.of.items()
        }
        symbols: dict[Var, Dim] = {}
        for axis, name in names.of.items():
            if not is_fresh(axis):
                symbols[axis] = symbols[name] = record.symbols.renamed(axis, name)
        rename(record, symbols, {size: name for size, name in names.of.items() if is_fresh(size)})
    return assumed


class _Names:
    """The sizes for which the declared names of a model stand."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.outputs = frozenset(record.model.graph.outputs)
        self.of: dict[Var, Var] = {}
        """Size -> the name that it gets."""
        self._sizes: dict[Var, Dim] = {}
        """Name -> the size that it stands for."""
        self._taken: set[Var] = set()
        """The names that inputs have, and those in values about which nothing is inferred."""
        resolve = record.sizes.fresh.resolve
        self._claims = [(c, resolve(c.inferred)) for c in record.declared.claims if c.inferred is not None]
        self._claims.sort(key=lambda claim: claim[0].value not in self.outputs)
        for claim in record.declared.claims:
            if claim.inferred is None:
                self._taken.update(variables_of([claim.declared]))
        for name, _ in record.model.graph.inputs:
            for _, size in size_pairs(record.scope[name], record.scope[name]):
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
                declared = self.record.sizes.fresh.resolve(declared.substitute(self._sizes))
            if declared == size or any(map(self._is_free, variables_of([declared]))):
                continue
            if not differ(declared, size):
                yield claim, declared, size
            elif isinstance(declared, int) and declared is claim.declared and is_fresh(claim.inferred):
                self.record.warn_of(claim.value, f"declared {declared} but inferred {size}")
            elif not differ(claim.declared, size):
                claimed = f"declared {claim.declared}, which is {declared} elsewhere"
                self.record.warn_of(claim.value, f"{claimed}, but inferred {size}")

    def _is_free(self, name: Var) -> bool:
        """Whether a declared name does not stand for a size yet."""
        return isinstance(name.origin, Declared) and name not in self._taken and name not in self._sizes

    def _bind(self, name: Var, size: Dim) -> None:
        """Let the name stand for the size. In an input `N + 1` would be an expression, so no axis gets this name."""
        self._sizes[name] = size
        if isinstance(size, Var) and self._may_be_named(size) and (is_fresh(size) or is_name(name.name)):
            self.of[size] = name

    def _may_be_named(self, size: Var) -> bool:
        return (is_fresh(size) or size in self.record.symbols.axes) and size not in self.of

    def _match(self, declared: Dim, size: Expr) -> None:
        """Bind the names in an expression of the same form as the size: another inference wrote them in this order."""
        free = sorted([v for v in variables_of([declared]) if self._is_free(v)], key=in_order)
        unnamed = sorted([v for v in size.variables() if self._may_be_named(v)], key=in_order)
        if not free or len(free) != len(unnamed):
            return
        if size.substitute(dict(zip(unnamed, free, strict=True))) == declared:
            for name, var in zip(free, unnamed, strict=True):
                self._bind(name, var)


def in_order(v: Var) -> tuple[int, str]:
    """Sorts the names that inference gives by their numbers: `_d9` comes before `_d10`."""
    return len(v.name), v.name
