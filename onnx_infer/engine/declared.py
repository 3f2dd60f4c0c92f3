"""The types that a model declares, merged into the inferred ones by the policy of the walk; `claims.py` has the law.

The sizes that a body declares replace nothing that is inferred: the body may not run, so that no guard could report it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.elements.conditions import Positive
from onnx_infer.engine.record import Claim
from onnx_infer.laws.readable import is_long
from onnx_infer.laws.sizes import differ, is_fresh
from onnx_infer.laws.statements import Kind, Statement
from onnx_infer.types.merge import merge, selected, size_pairs, with_numbers_only, without_claims
from onnx_infer.values.containers import OneOf
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor, Value
from symdim import Expr
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import Declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Node
    from onnx_infer.types.merge import Conflict, ShapeMergePolicy
    from onnx_infer.values.tensor import Dim
    from symdim.relations.relation import RelationKind

    Merged: TypeAlias = tuple[Value, list[Conflict], tuple[tuple[Dim, Dim | None], ...]]


Keeps = Literal["numbers", "plain numbers", "nothing"]
"""What replaces inferred sizes: declared numbers, those in place of short sizes of inputs only, or nothing."""

DECLARED_RANK = "declared rank of"
"""How the law of a guard begins that a declared rank makes. The file keeps this rank."""

FORCED_RANK = "the rank that the model forces on"
"""The law of a statement that follows from a rank which an earlier pass has inferred, in place of a declared rank."""


def claimed_sizes(declared: Value, inferred: Value | None) -> Iterator[tuple[Dim, Dim | None]]:
    """The declared sizes that are claims, each with the inferred one: where the declared type says something else."""
    for ours, theirs in size_pairs(declared, inferred):
        says_more = ours is not UNKNOWN_SIZE and theirs is not UNKNOWN_SIZE and ours is not theirs
        if says_more and not (isinstance(ours, int) and isinstance(theirs, int)):
            yield ours, theirs


def is_of_forced_rank(statement: Statement) -> bool:
    """Whether a statement follows from a rank that an earlier pass has inferred."""
    return statement.law.startswith(FORCED_RANK)


def is_claimable(size: Dim) -> bool:
    """Whether a declared number of a size is a claim for the second pass: data decide the size, or it is long."""
    return is_fresh(size) or is_long(size)


def has_own_name(size: Dim) -> bool:
    """Whether a declared size contains a name that no input has."""
    return any(isinstance(v.origin, Declared) for v in variables_of([size]))


def trusts(record: Record, name: str) -> bool:
    """Whether the declared type of a value counts as known."""
    return record.setting.assumes_declared or (record.nesting.depth == 0 and name in record.setting.trusted)


def merged(record: Record, name: str, declared: Value, inferred: Value, node: Node) -> Value:
    """The declared and the inferred type of a value, merged."""
    if declared is inferred or record.setting.policy == "override":
        return inferred
    trusted = trusts(record, name)
    uses_claims = trusted or record.setting.uses_claims
    if isinstance(inferred, OneOf) and isinstance(declared, SymTensor):
        condition = _selecting(declared, inferred)
        if condition is not None and not uses_claims and record.nesting.certain:
            record.declared.unselected.append(name)
            return inferred
        if condition is not None:
            _state_rank(record, name, *condition, node)
    policy = record.setting.policy
    if policy == "strict" and record.nesting.depth == 0:
        policy = "refine"  # `name_sizes` judges it, when equations are known
    keeps: Keeps = "nothing" if record.nesting.depth and not trusted else "numbers" if uses_claims else "plain numbers"
    value, conflicts, claimed = _merged(declared, inferred, policy, trusted, keeps)
    if conflicts:
        _report(record, name, conflicts)
        return record.sizes.opened(value)
    if not claimed:
        return record.sizes.opened(value)
    known = [Claim(name, ours, theirs, node) for ours, theirs in claimed if theirs is not None]
    _claim(record, known, trusted)
    return record.sizes.opened(value if len(known) == len(claimed) else declared_only(record, name, value, node))


def _report(record: Record, name: str, conflicts: Iterable[Conflict]) -> None:
    """Record what of the declared type of a value is wrong."""
    for text, of_types in conflicts:
        if of_types:
            record.diagnostics.append(Diagnostic("error", "", name, f"value '{name}': {text}"))
        else:
            record.warn_of(name, text)


def _claim(record: Record, claims: Sequence[Claim], trusted: bool) -> None:
    """Record the claims, or know what those in a trusted type say."""
    is_main = record.nesting.depth == 0
    for claim in claims:
        if trusted and claim.inferred is not None and not has_own_name(claim.declared):
            if is_main:
                record.sizes.fresh.add(Statement("equal", claim.declared, claim.inferred, "declared"))
                if record.setting.assumes_declared:  # between two input symbols it is an assumption
                    record.declared.claims.append(claim)
        elif is_main:
            record.declared.claims.append(claim)


def _state_rank(record: Record, name: str, relation: RelationKind, lhs: Dim, rhs: int, node: Node) -> None:
    """State what the declared rank of a value says of sizes, if its graph runs wherever the model does."""
    if not record.nesting.certain or (record.nesting.depth and record.setting.assumes_declared):
        return
    if record.setting.assumes_declared:
        from symdim.relations.relation import Relation  # few models need it

        if not is_fresh(lhs):  # only sizes of inputs can be assumed
            record.declared.assumed.append(str(Relation(relation, lhs, rhs)))
        return
    kind: Kind = "assumed" if name in record.setting.trusted else "declared"
    law = f"{FORCED_RANK if kind == 'assumed' else DECLARED_RANK} value '{name}'"
    record.statements.add(Statement(relation, lhs, rhs, law, kind), node)


def declared_only(record: Record, name: str, declared: Value, node: Node) -> Value:
    """The declared type of a value about which nothing is inferred, not even its rank.

    If it names a size of inputs, that is a guard, and so is a name that another size has already. In a body no guard is
    stated, so only numbers count.
    """
    if record.nesting.depth and not record.setting.assumes_declared:
        return record.sizes.opened(with_numbers_only(declared))
    claimed = [size for size, _ in claimed_sizes(declared, None)]
    for place, size in enumerate(claimed):
        here = name, place
        if not has_own_name(size) or {
            record.declared.first_named.setdefault(v, here) for v in variables_of([size])
        } != {here}:
            _guard(record, name, size, node)
        else:
            record.declared.claims.append(Claim(name, size, None, node))
    return record.sizes.opened(declared)


def _guard(record: Record, name: str, declared: Dim, node: Node) -> None:
    """State that a size about which nothing is inferred is the declared one, unless this is a number or known."""
    if isinstance(declared, Expr) and not trusts(record, name):
        law = f"declared of {'output' if name in record.model.graph.outputs else 'value'} '{name}'"
        record.statements.add(Statement("equal", record.sizes.nameless(), declared, law, "declared"), node)


def of_input(record: Record, name: str, declared: Value, given: Value) -> Value:
    """The declared type of a subgraph's input merged with the given value, whose data-dependent sizes stay.

    A contradiction is an error. Only the inputs of a Scan are declared with sizes that count, and for these
    onnxruntime refuses the model.
    """
    declared = without_claims(declared, given, _kept("numbers" if record.setting.assumes_declared else "nothing"))

    def reported(conflict: Conflict) -> None:
        record.complain(f"input '{name}' of a body: {conflict.text}")

    return record.sizes.opened(merge(declared, given, "refine", reported))


def _selecting(declared: SymTensor, inferred: OneOf) -> tuple[RelationKind, Dim, int] | None:
    """The condition on sizes under which a value is the one of two tensors that the declared rank selects."""
    if declared.shape is None or any(choice.shape is None for choice in inferred.choices):
        return None
    if inferred.shape is not None or not isinstance(inferred.source, Positive):
        return None
    first, second = (declared.rank == choice.rank for choice in inferred.choices)
    return ("at_least" if first else "at_most", inferred.source.size, int(first)) if first or second else None


_merges = shared_cache(1 << 11)  # the arguments of `_merged` -> its result


def _merged(declared: Value, inferred: Value, policy: ShapeMergePolicy, trusted: bool, keeps: Keeps) -> Merged:
    """The declared and the inferred type of a value, merged; the conflicts between them; the claims of the first."""
    key = declared, inferred, policy, trusted, keeps
    result: Merged | None = _merges.get(key)
    if result is None:
        conflicts: list[Conflict] = []
        inferred = selected(declared, inferred)
        claimed = tuple(claimed_sizes(declared, inferred))
        if policy != "skip":
            declared = without_claims(declared, inferred, _kept(keeps, trusted))
        if policy == "strict" and trusted:
            policy = "refine"
        value = merge(declared, inferred, policy, conflicts.append)
        if conflicts and policy != "skip":
            value = inferred  # nothing of a wrong type is used
        result = _merges[key] = value, conflicts, claimed
    return result


def _kept(keeps: Keeps, trusted: bool = False) -> Callable[[Dim, Dim], bool]:
    """Whether a declared size is merged with the inferred one: not where it would replace what is not known."""

    def kept(declared: Dim, inferred: Dim) -> bool:
        if isinstance(declared, int):
            if keeps == "nothing":
                return differ(declared, inferred)  # which is reported
            return keeps == "numbers" or not is_claimable(inferred)
        return not is_fresh(inferred) or (trusted and not has_own_name(declared))

    return kept
