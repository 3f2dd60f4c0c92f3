"""The types that a model declares, merged into the inferred ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple
from weakref import proxy

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.elements.conditions import Positive
from onnx_infer.engine.claims import FORCED_RANK, Claim, claimed_sizes, has_own_name, needs_belief
from onnx_infer.laws.made import make_size
from onnx_infer.laws.sizes import differ, is_fresh
from onnx_infer.laws.statements import Kind, Statement
from onnx_infer.model.size_texts import GENERATED
from onnx_infer.types.merge import merge, selected, with_numbers_only, without_claims
from onnx_infer.values.tensor import UNKNOWN_SIZE, OneOf, SymTensor, Value, substitute
from symdim import Expr, Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import substituted, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from onnx_infer.engine.claims import Belief
    from onnx_infer.engine.walk import Walk
    from onnx_infer.model.graph import Node
    from onnx_infer.types.merge import Conflict, ShapeMergePolicy
    from onnx_infer.values.tensor import Dim
    from symdim.relations.relation import RelationKind


Keeps = Literal["numbers", "nothing"] | frozenset[int | None]
"""What replaces inferred sizes: declared numbers, these and those in place of short sizes of inputs, or nothing."""

NAMELESS = "declared without a size"
"""The origin of a size for which a declared type has neither a number nor a name."""


class DeclaredTypes:
    """Merges declared types into the results of an inference, by its policy, and records the `claims` in them.

    The declared types of the `trusted` values are known and not claims; with `assumed` those of all values. A declared
    number replaces a data-dependent or long size, and a declared rank selects one of two tensors, only if that is
    `believed` (None: all is). The sizes that a body declares replace nothing that is inferred: the body may not run, so
    that no guard could tell it.
    """

    def __init__(
        self,
        engine: Walk,
        policy: ShapeMergePolicy,
        assumed: bool,
        trusted: Container[str],
        believed: Iterable[Belief] | None,
    ) -> None:
        self._engine: Walk = proxy(engine)  # the engine holds this object, and a circle would wait for a collection
        self._policy, self._trusted = policy, trusted
        self.assumed = assumed
        self._believes_all = believed is None
        self._believed: dict[str, frozenset[int | None]] = {}
        for name, number in believed or ():
            self._believed[name] = self._believed.get(name, frozenset()) | {number}
        self._reopened_sizes: dict[Var, Var] = {}
        self._first: dict[Var, tuple[str, int]] = {}
        """A name in a type about which nothing is inferred -> the first value that has it, and the place in it."""

    def trusts(self, name: str) -> bool:
        """Whether the declared type of a value counts as known."""
        return self.assumed or (self._engine.depth == 0 and name in self._trusted)

    def believes(self, name: str, number: int) -> bool:
        """Whether a number that a value declares for a data-dependent or long size is used."""
        return self._policy != "skip" and (self._believes_all or number in self._believed.get(name, ()))

    def merged(self, name: str, declared: Value, inferred: Value, node: Node, rank: Dim | None = None) -> Value:
        """The declared and the inferred type of a value, merged. `rank` is its rank as a function of sizes."""
        if declared is inferred or self._policy == "override" or is_equal(declared, inferred):
            return inferred
        trusted = self.trusts(name)
        said: list[tuple[Dim, Dim]] = []
        if self._engine.symbols.replaced:
            declared, said = _as_inputs_say(declared, inferred, self._engine.symbols.replaced)
        if rank is not None:
            if not self._claim_rank(name, declared, rank, node) and self._policy != "skip":
                return inferred
            inferred = inferred if trusted else self._with_rank(declared, inferred)
        believes_all = trusted or self._believes_all
        believed = self._believed.get(name, frozenset())
        if isinstance(inferred, OneOf) and isinstance(declared, SymTensor):
            condition = _selecting(declared, inferred)
            if condition is not None and not (believes_all or None in believed) and self._engine.certain:
                self._engine.unselected.append(name)
                return inferred
            if condition is not None:
                self._state_rank(name, *condition, node)
        is_judged_later = self._policy == "strict" and self._engine.depth == 0  # by `settle`, when equations are known
        policy = "refine" if is_judged_later else self._policy
        keeps: Keeps = "nothing" if self._engine.depth and not trusted else "numbers" if believes_all else believed
        value, conflicts, claimed = _merged(declared, inferred, policy, trusted, keeps)
        if conflicts:
            self._tell(name, conflicts)
            return self.opened(value)
        if said:
            self._claim([Claim(name, ours, found, node) for ours, found in said], self.assumed)
        if not claimed:
            return self.opened(value)
        known = [Claim(name, ours, found, node) for ours, found in claimed if found is not None]
        if known:
            self._claim(known, trusted)
        return self.opened(value if len(known) == len(claimed) else self.believed(name, value, node))

    def _tell(self, name: str, conflicts: Iterable[Conflict]) -> None:
        """Record what of the declared type of a value is wrong."""
        for text, of_types in conflicts:
            if of_types:
                self._engine.diagnostics.append(Diagnostic("error", "", name, f"value '{name}': {text}"))
            else:
                self._engine.warn_of(name, text)

    def _claim(self, claims: Sequence[Claim], trusted: bool) -> None:
        """Record the claims, or know what those in a trusted type say."""
        is_main = self._engine.depth == 0
        for claim in claims:
            self._doubt(claim)
            if trusted and claim.inferred is not None and not has_own_name(claim.declared):
                if is_main:
                    self._engine.fresh_sizes.add(Statement("equal", claim.declared, claim.inferred, "declared"))
                    if self.assumed:  # between two input symbols it is an assumption
                        self._engine.claims.append(claim)
            elif is_main:
                self._engine.claims.append(claim)

    def _claim_rank(self, name: str, declared: Value, rank: Dim, node: Node) -> bool:
        """State that a rank, which the length of a vector decides, is the declared one. False if it cannot be.

        If the vector must be empty, its length is not at least 1 as other sizes are: the next walk starts with this.
        """
        if not isinstance(declared, SymTensor) or declared.shape is None:
            return True
        if not differ(rank, declared.rank):
            self._state_rank(name, "equal", rank, declared.rank, node)
        elif emptied := _emptied(rank, declared.rank, self._engine.symbols.unbounded()):
            self._engine.emptied |= emptied
        else:
            self._engine.warn_of(name, f"declared rank {declared.rank} but inferred rank {rank}")
            return False
        return True

    def _with_rank(self, declared: Value, inferred: Value) -> Value:
        """The inferred type with the declared rank. Its sizes are unknown: what is declared of them are claims."""
        if type(declared) is not SymTensor or type(inferred) is not SymTensor:
            return inferred  # of a choice, the declared rank selects one
        if declared.shape is None or inferred.shape is not None:
            return inferred
        return self.opened(SymTensor(inferred.dtype, [UNKNOWN_SIZE] * declared.rank))

    def _state_rank(self, name: str, relation: RelationKind, lhs: Dim, rhs: int, node: Node) -> None:
        """State what the declared rank of a value says of sizes, if its graph runs wherever the model does."""
        engine = self._engine
        if not engine.certain or (engine.depth and self.assumed):
            return
        if self.assumed:
            from symdim.relations.relation import Relation  # few models need it

            if not is_fresh(lhs):  # only sizes of inputs can be assumed
                engine.assumed.append(str(Relation(relation, lhs, rhs)))
            return
        kind: Kind = "assumed" if name in self._trusted else "declared"
        law = f"{FORCED_RANK if kind == 'assumed' else 'declared rank of'} value '{name}'"
        engine.state(Statement(relation, lhs, rhs, law, kind), node)

    def _doubt(self, claim: Claim) -> None:
        """Record that it matters whether two expressions of the same symbols are equal.

        An earlier inference may have written this one under bounds that statements imply. Under these both are equal.
        """
        if claim.inferred is not None:
            self._engine.undecided_signs.doubt(claim.declared, claim.inferred)

    def believed(self, name: str, declared: Value, node: Node) -> Value:
        """The declared type of a value about which nothing is inferred, not even its rank.

        If it names a size of inputs, that is a guard, and so is a name that another size has already. A name that an
        earlier inference gave to an unknown size stands for such a size again: so a second inference concludes what the
        first one did. The size gets its name back. In a body no guard is stated, so only numbers count.
        """
        if self._engine.depth and not self.assumed:
            return self.opened(with_numbers_only(declared))
        declared = substitute(declared, self._engine.symbols.replaced)
        claimed = [size for size, _ in claimed_sizes(declared, None)]
        made = {v: self._reopened(v) for v in variables_of(claimed) if GENERATED.fullmatch(v.name) and has_own_name(v)}
        self._engine.claims += [Claim(name, var, size, node) for var, size in made.items()]
        for place, size in enumerate(claimed):
            here = name, place
            if not has_own_name(size) or {self._first.setdefault(v, here) for v in variables_of([size])} != {here}:
                self._guard(name, size, node)
            elif made.keys().isdisjoint(variables_of([size])):
                self._engine.claims.append(Claim(name, size, None, node))
        return self.opened(substitute(declared, made) if made else declared)

    def _guard(self, name: str, declared: Dim, node: Node) -> None:
        """State that a size about which nothing is inferred is the declared one, unless this is a number or known."""
        engine = self._engine
        if isinstance(declared, Expr) and not self.trusts(name):
            law = f"declared of {'output' if name in engine.model.graph.outputs else 'value'} '{name}'"
            engine.state(Statement("equal", self._open(0, None), declared, law, "declared"), node)

    def _reopened(self, name: Var) -> Var:
        """The size that an earlier inference has given this name."""
        if name not in self._reopened_sizes:
            self._reopened_sizes[name] = self._open(name.lo or 0, name.hi)
        return self._reopened_sizes[name]

    def of_input(self, name: str, declared: Value, given: Value) -> Value:
        """The declared type of a subgraph's input merged with the given value, whose data-dependent sizes stay.

        A contradiction is an error. Only the inputs of a Scan are declared with sizes that count, and for these
        onnxruntime refuses the model.
        """
        declared = without_claims(declared, given, _kept("numbers" if self.assumed else "nothing"))

        def told(conflict: Conflict) -> None:
            self._engine.complain(f"input '{name}' of a body: {conflict.text}")

        return self.opened(merge(declared, given, "refine", told))

    def opened(self, value: Value) -> Value:
        """The value with new names for unknown sizes."""
        if not isinstance(value, SymTensor) or value.shape is None or UNKNOWN_SIZE not in value.shape:
            return value
        return SymTensor(value.dtype, [self._open(0, None) if d is UNKNOWN_SIZE else d for d in value.shape])

    def _open(self, low: int, high: int | None) -> Var:
        new = make_size(self._engine.symbols.name(), low, high, None, NAMELESS)
        self._engine.created.append(new)
        return new


def _emptied(rank: Dim, number: int, unbounded: frozenset[str]) -> frozenset[str]:
    """The symbols that may be 0 if a rank is this number although it differs by their bounds; else none."""
    named = [v for v in variables_of([rank]) if v.name in unbounded]
    if differ(substituted(rank, {v: Var.fresh(v.name, 0, v.hi) for v in named}), number):
        return frozenset()
    return frozenset(v.name for v in named)


def _as_inputs_say(
    declared: Value, inferred: Value, replaced: Mapping[Var, Dim]
) -> tuple[Value, list[tuple[Dim, Dim]]]:
    """The declared type without the names that no input has any more, and what the inputs have for these: only claims.

    A claim that the node contradicts is left out. It is no error, as it is none while the name is a symbol.
    """
    known = substitute(declared, replaced)
    if known is declared or not isinstance(declared, SymTensor) or not isinstance(known, SymTensor):
        return known, []
    if not isinstance(inferred, SymTensor) or inferred.shape is None or len(inferred.shape) != len(known.dims):
        return known, []
    triples = list(zip(declared.dims, known.dims, inferred.shape, strict=True))
    dims = [UNKNOWN_SIZE if new != old else old for old, new, _ in triples]
    said = [(new, found) for old, new, found in triples if new != old and new != found and not differ(new, found)]
    return SymTensor(declared.dtype, dims), said


def _selecting(declared: SymTensor, inferred: OneOf) -> tuple[RelationKind, Dim, int] | None:
    """The condition on sizes under which a value is the one of two tensors that the declared rank selects."""
    if declared.shape is None or any(choice.shape is None for choice in inferred.choices):
        return None
    if inferred.shape is not None or not isinstance(inferred.source, Positive):
        return None
    first, second = (declared.rank == choice.rank for choice in inferred.choices)
    return ("at_least" if first else "at_most", inferred.source.size, int(first)) if first or second else None


class Merged(NamedTuple):
    """A declared and an inferred type, merged: the value, the conflicts between them, and the claims of the first."""

    value: Value
    conflicts: list[Conflict]
    claimed: tuple[tuple[Dim, Dim | None], ...]


_merges = shared_cache(1 << 11)  # the arguments of `_merged` -> its result


def _merged(declared: Value, inferred: Value, policy: ShapeMergePolicy, trusted: bool, keeps: Keeps) -> Merged:
    """The declared and the inferred type of a value, merged."""
    key = declared, inferred, policy, trusted, keeps
    found: Merged | None = _merges.get(key)
    if found is None:
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
        found = _merges[key] = Merged(value, conflicts, claimed)
    return found


def _kept(keeps: Keeps, trusted: bool = False) -> Callable[[Dim, Dim], bool]:
    """Whether a declared size is merged with the inferred one: not where it would replace what is not known."""

    def kept(declared: Dim, inferred: Dim) -> bool:
        if is_number(declared):
            if keeps == "nothing":
                return differ(declared, inferred)  # which is told
            return keeps == "numbers" or declared in keeps or not needs_belief(inferred)
        return not is_fresh(inferred) or (trusted and not has_own_name(declared))

    return kept


def is_equal(declared: Value, inferred: Value) -> bool:
    """Whether a declared tensor equals the inferred one, apart from known elements."""
    if not isinstance(declared, SymTensor) or not isinstance(inferred, SymTensor):
        return False
    return declared.dtype == inferred.dtype and declared.shape == inferred.shape


def is_number(size: Dim) -> bool:
    """Whether a size is known."""
    return isinstance(size, int)
