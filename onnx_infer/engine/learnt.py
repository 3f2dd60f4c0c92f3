"""What the walks over a model have learnt. The next walk knows it from the start.

A walk is worth repeating in three cases: its statements imply bounds of input sizes that decide a sign, or whether a
size equals a shorter one (`laws/bounds.py`); later nodes force sizes of earlier values (`found.py`); or a declared
type says what no node forces: the number of a size that data decide or that is long, or the rank of one of two tensors.
Only then it is believed. Only statements that hold in every run (`certain.py`) imply bounds, because all that the next
walk states depends on these.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.engine.certain import certain
from onnx_infer.engine.claims import has_own_name
from onnx_infer.laws.bounds import implied_bounds
from onnx_infer.types.merge import is_of_inputs
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.engine.claims import Belief, Claim
    from onnx_infer.engine.found import Found
    from onnx_infer.engine.long_sizes import Shorter
    from onnx_infer.engine.walk import Walk
    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.graph import Node
    from onnx_infer.values.tensor import Dim


class Learnt(NamedTuple):
    """What earlier walks found: shapes, bounds of symbols, and what is believed of the declared types of values.

    `stated` are the statements that imply the bounds, with their nodes, in the symbols of the first walk. So are
    `claims`: what the declared types say that the shapes replace. What could be believed is `left_open` if the caller
    does not believe it.
    """

    found: Found | None = None
    bounds: Mapping[str, tuple[int, int | None]] = MappingProxyType({})
    believed: frozenset[Belief] = frozenset()
    stated: tuple[tuple[Statement, Node], ...] = ()
    left_open: frozenset[Belief] = frozenset()
    claims: tuple[Claim, ...] = ()

    def after(self, walk: Walk, to_first: Mapping[Dim, Dim], believes: bool) -> Learnt:
        """This and what a further walk has learnt. `to_first` maps its symbols to those of the first walk.

        Unless the caller `believes`, no declared type is believed.
        """
        if shorter := walk.shorter_sizes():
            walk.doubt_shortened(shorter)
        implied = walk.undecided_signs.decided_by(walk.statements)
        known = certain(walk) if implied else []
        if len(known) < len(walk.statements):  # some rest on assumptions
            implied = walk.undecided_signs.decided_by(statement for statement, _ in known)
        said = frozenset() if believes and implied else walk.unconfirmed() - self.believed
        unconfirmed, left_open = (said, self.left_open) if believes else (frozenset(), self.left_open | said)
        if shorter and any(statement.kind == "assumed" for statement in walk.statements):
            shorter = walk.shorter_sizes(statement for statement, _ in certain(walk))
        found = self.found if unconfirmed else walk.with_solved(self.found, shorter)
        if not implied and not unconfirmed and found == self.found:
            return self
        stated = [
            (statement.substitute(to_first), node)
            for statement, node in known
            if any(v in implied for v in implied_bounds([statement]).of)
        ]
        bounds = {**self.bounds, **{v.name: (low or 0, high) for v, (low, high) in implied.items()}}
        claims = () if found is None else _replaced(walk, found, shorter, to_first)
        return Learnt(
            found, bounds, self.believed | unconfirmed, (*self.stated, *stated), left_open, (*self.claims, *claims)
        )


def _replaced(walk: Walk, found: Found, shorter: Shorter, to_first: Mapping[Dim, Dim]) -> Iterator[Claim]:
    """The claims of a walk about sizes of inputs in the declared types that found shapes replace."""
    resolve = walk.fresh_sizes.resolve
    for claim in walk.claims:
        if claim.value in found.values and isinstance(claim.declared, Expr) and not has_own_name(claim.declared):
            known = claim.substitute(shorter.sizes, resolve).substitute(to_first, resolve)
            if isinstance(known.inferred, int) or (known.inferred is not None and is_of_inputs(known.inferred)):
                yield known
