"""Claims: names and equalities that the author of a model declares for sizes that inference finds.

A declared name is not knowledge. It may become the name of a size without a name: a data-dependent size, or the axis of
an input without a name. The name must be free: no input has it, and no other size, unless it is proven equal.
Everything else that a declared type says is a guard of the kind "declared": `_d0 == N`, declared of output 'a'. Names
are given after the walk, outputs first, because only then all equalities of sizes are known. For the same reason a
declared number of a data-dependent size, or of one with many names or a clamp, is used in the next walk, and only if no
node demands it: a second inference then finds in the file what the first one wrote, and makes the same statements. The
same holds for a declared rank that selects one of two tensors.

If nothing is inferred about a value, not even its rank, its declared type is used. The sizes of inputs in it are guards
of the kind "declared", too. A name in it that no input has stands for the size itself; the second time it is a guard.
If the length of a vector is the rank (the target of a Reshape, the axes of an Unsqueeze), the declared rank is a guard
of this length, and the sizes are data-dependent ones with claims. Nothing is used of a declared type that contradicts
the inferred one (`messages.py`).

Sizes that a body declares replace no inferred ones: it may not run, and no guard could tell its claims. Only the number
that a value of the main graph claims for the same size is used, since a guard tells that claim. Of a value about which
nothing is inferred there, the declared rank and numbers are used. What a declared rank says is a guard if the body runs
wherever the model does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.laws.readable import is_long
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.types.merge import size_pairs
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Value
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.origin import Declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.graph import Node

FORCED_RANK = "the rank that the model forces on"
"""The law of a statement that follows from a rank which an earlier walk has found, in place of a declared rank."""


class Claim(NamedTuple):
    """A declared size of a value and the inferred one (None: nothing is inferred). The node gives the value."""

    value: str
    declared: Dim
    inferred: Dim | None
    node: Node

    def substitute(self, variables: Mapping[Any, Dim], resolve: Callable[[Dim], Dim]) -> Claim:
        """The claim with other sizes in place of variables, after solved variables are replaced."""
        found = None if self.inferred is None else substituted(resolve(self.inferred), variables)
        return self._replace(declared=substituted(self.declared, variables), inferred=found)


Belief = tuple[str, int | None]
"""A value, and a number in its declared type that is used; or None: its declared rank is."""


def claimed_sizes(declared: Value, inferred: Value | None) -> Iterator[tuple[Dim, Dim | None]]:
    """The declared sizes that are claims, each with the inferred one: where the declared type says something else."""
    for ours, found in size_pairs(declared, inferred):
        says_more = ours is not UNKNOWN_SIZE and found is not UNKNOWN_SIZE and ours is not found
        if says_more and not (isinstance(ours, int) and isinstance(found, int)):
            yield ours, found


def is_of_found_rank(statement: Statement) -> bool:
    """Whether a statement follows from a rank that an earlier walk has found."""
    return statement.law.startswith(FORCED_RANK)


def needs_belief(size: Dim) -> bool:
    """Whether a declared number of a size is only used if it is believed: data decide the size, or it is long."""
    return is_fresh(size) or is_long(size)


def has_own_name(size: Dim) -> bool:
    """Whether a declared size contains a name that no input has."""
    return any(isinstance(v.origin, Declared) for v in variables_of([size]))
