"""What the author of a model claims of sizes that inference finds: names for them, and equalities.

A declared name is no knowledge. It becomes the name of a size that has none of its own, one that the data decide or the
axis of an input without a name, where it is bound by nothing else: by no input, and by no other size that is not proven
equal. What else a declared type says of a size is a guard of the kind "declared": `_d0 == N`, declared of output 'a'.
Names are given after the walk, outputs first, when all is known that makes sizes equal.

Where nothing is inferred of a value, not even its rank, its declared type is taken at its word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.types.merge import size_pairs
from onnx_infer.values.tensor import UNKNOWN_SIZE
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.origin import Declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_infer.model.graph import Node
    from onnx_infer.values.tensor import Dim, Value


class Claim(NamedTuple):
    """A declared size of a value and the one that is inferred, None where nothing is; the node gives the value."""

    value: str
    declared: Dim
    inferred: Dim | None
    node: Node

    def substitute(self, variables: Mapping[Any, Dim], resolve: Callable[[Dim], Dim]) -> Claim:
        """The claim with other sizes in place of variables, those that are solved first."""
        found = None if self.inferred is None else substituted(resolve(self.inferred), variables)
        return self._replace(declared=substituted(self.declared, variables), inferred=found)


def claims_of(value: str, declared: Value, inferred: Value | None, node: Node) -> Iterator[Claim]:
    """What the declared type of a value says beyond the inferred one."""
    for ours, found in size_pairs(declared, inferred):
        says_more = ours is not UNKNOWN_SIZE and found is not UNKNOWN_SIZE and ours is not found
        if says_more and not (isinstance(ours, int) and isinstance(found, int)):
            yield Claim(value, ours, found, node)


def has_own_name(size: Dim) -> bool:
    """Whether a declared size contains a name that no input has."""
    return any(isinstance(v.origin, Declared) for v in variables_of([size]))
