"""The guards of a result, made from the statements of its walk and written as a person would write them.

A guard is solved for a symbol (`symdim.relations`). Equal guards are one, and a guard that others imply is left out.

The guards of the contract in a file are judged by what inference finds. `contract.py` writes the contract,
`model/contract.py` has its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.engine.assumptions import Assumptions
from onnx_infer.engine.demands import conditional
from onnx_infer.engine.substitution import Equations, is_equation
from onnx_infer.laws.bounds import Bounds
from onnx_infer.model.contract import ELEMENT, Condition, Names
from onnx_infer.model.given import KEY, interval_text
from onnx_infer.model.graph import label_of, title_of
from onnx_infer.results.guards import Guard, NodeName
from onnx_infer.results.sources import without_computed
from onnx_infer.types.join import variables_in
from symdim import Facts, Scope, SymdimError, UnboundName, Var
from symdim.algebra.origin import ValueOf
from symdim.prove import holds
from symdim.relations.relation import SIGNS, Relation, length_of
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from onnx_infer.engine.record import Record
    from onnx_infer.inference import Run
    from onnx_infer.values.tensor import Dim


_ROUNDS = 64  # of simplifying guards by each other: texts get shorter, and a few rounds are usual


def guards_of(engine: Record) -> list[Guard]:
    """The statements of a walk that bounds do not prove, as guards in the order of the nodes."""
    assumed = {i for i, statement in enumerate(engine.statements.plain) if statement.kind == "assumed"}
    while True:
        stated = _stated(engine, assumed)
        plain = [(statement, plain_parts(statement.condition)) for statement in dict.fromkeys(stated)]
        guards = _simplified(guard for statement, parts in plain for guard in _with(statement, parts))
        required = _Stronger(guards, _REQUIRED)
        left = {i for i in assumed if _open(stated[i].condition, required)}
        if left == assumed:
            return guards
        assumed = left  # the other ones hold in every run


def _simplified(solved: Iterable[Guard]) -> list[Guard]:
    """The guards without those that other guards imply. They are in plain form."""
    guards = _combined(solved)
    for _ in range(_ROUNDS):  # a simpler guard may show another bound
        before, stronger = guards, _by_strength(guards)
        simpler = [(guard, _under_bounds(guard.condition, stronger[_strength(guard)].bounds)) for guard in guards]
        guards = _combined(new for guard, conditions in simpler for new in _with(guard, conditions))
        guards = _combined(_under_equations(guards))
        if guards == before:
            break
    stronger = _by_strength(guards)
    return [guard for guard in guards if not stronger[_strength(guard)].imply(guard.condition, is_among=True)]


def _open(condition: Relation, required: _Stronger) -> list[Relation]:
    """What is left of a condition under the required guards: plain conditions that these do not imply."""
    left = [simpler for plain in plain_parts(condition) for simpler in _under_bounds(plain, required.bounds)]
    return [plain for plain in left if not required.imply(plain)]


def _stated(engine: Record, assumed: Collection[int]) -> list[Guard]:
    """The statements as guards, one by one, not solved. `assumed` are the indices of those that are only assumed.

    An assumed statement that is not among them is required. A required one that rests on them is only assumed.
    """
    dependent = conditional(engine, assumed)

    def settled(size: Dim) -> Dim:
        return without_computed(engine.sizes.fresh.resolve(size))

    guards: list[Guard] = []
    sizes: dict[Dim, Dim] = {}
    for i, (statement, node) in enumerate(engine.statements.pairs):
        relation, lhs, rhs, law, kind, filled = statement
        assert relation != "undecided"
        if kind == "assumed" and i not in assumed:
            kind, filled = "required", ()
        for size in (lhs, rhs, *filled):
            if size not in sizes:
                sizes[size] = settled(size)
        is_conditional = i in dependent and kind == "required"
        kind = "assumed" if is_conditional else kind
        origins = (NodeName(title_of(node), label_of(node)),)
        shapes = (tuple([sizes[size] for size in filled]),) if filled else ()
        condition = Relation(relation, sizes[lhs], sizes[rhs])
        guards.append(Guard(condition, law, origins, kind, is_conditional, shapes))
    return guards


def plain_parts(condition: Relation) -> list[Relation]:
    """The condition in plain form; the condition itself if it never holds."""
    solved = solve(condition)
    return [condition] if solved is None else solved


def _with(guard: Guard, conditions: Iterable[Relation]) -> list[Guard]:
    return [guard._replace(condition=condition) for condition in conditions]


_REQUIRED = 4
"""The strength of required guards."""


def _strength(guard: Guard) -> int:
    """The rank of a guard. Only guards of at least its rank may imply or simplify it."""
    if guard.kind == "assumed":
        return 1 if guard.conditional else 2 if guard.filled else 3
    return 0 if guard.kind == "declared" else _REQUIRED


def _combined(guards: Iterable[Guard]) -> list[Guard]:
    """The guards, equal ones as one. It has the kind of the strongest one, and the origins of all."""
    combined: dict[Hashable, Guard] = {}
    for guard in guards:
        key = key_of(guard.condition)
        if key not in combined:
            combined[key] = guard
            continue
        first, second = sorted((combined[key], guard), key=_strength, reverse=True)
        origins = tuple(dict.fromkeys([*first.origins, *second.origins]))
        # a node needs the guard if any of these tensors is not empty
        of_one_node = first.kind == "assumed" and first.origins == second.origins
        filled = tuple(dict.fromkeys([*first.filled, *second.filled])) if of_one_node else first.filled
        combined[key] = first._replace(origins=origins, filled=filled)
    return list(combined.values())


def key_of(condition: Relation) -> tuple[Hashable, ...]:
    """The key of a condition. Those that say the same have equal keys, such as `M == N` and `N == M`."""
    kind, left, right, _ = condition
    if kind in ("divides", "broadcast_to"):
        return kind, left, right
    if kind == "broadcast":
        return kind, frozenset((left, right))
    gap = left - right
    if kind == "equal":
        return kind, frozenset((gap, -gap))
    return "at_least", gap if kind == "at_least" else -gap


# -- what other guards imply ----------------------------------------------------------------------------------------


class _Stronger:
    """The guards of at least one strength: their bounds of symbols, and what they equate."""

    def __init__(self, guards: Iterable[Guard], strength: int) -> None:
        conditions = [guard.condition for guard in guards if _strength(guard) >= strength]
        equations = [condition for condition in conditions if condition.kind == "equal"]
        self._equations = set(map(key_of, equations))
        self.bounds = Bounds(equations)  # these come first: `N == 4` implies `N >= 4`
        for condition in conditions:
            self.bounds.narrow(condition)

    def imply(self, condition: Relation, *, is_among: bool = False) -> bool:
        """Whether a guard, other than that of the condition if it `is_among` them, implies a plain condition.

        It is an equality that implies that sizes broadcast, or a tighter bound.
        """
        if condition.kind == "broadcast":
            return key_of(condition._replace(kind="equal")) in self._equations
        if not _is_bound(condition) or condition.kind == "equal":
            return False
        return self.bounds.implies(condition) and not (is_among and self.bounds.gives_end(condition))


def _by_strength(guards: Sequence[Guard]) -> dict[int, _Stronger]:
    """For each strength of some guards, those that are at least as strong."""
    return {strength: _Stronger(guards, strength) for strength in set(map(_strength, guards))}


def _is_bound(condition: Relation) -> bool:
    kind, left, right, _ = condition
    return isinstance(left, Var) and isinstance(right, int) and kind in ("equal", "at_least", "at_most")


def _under_bounds(condition: Relation, bounds: Bounds) -> list[Relation]:
    """The condition, simplified by bounds of its symbols if it is none itself; an empty list if these imply it."""
    narrow = {} if _is_bound(condition) else bounds.narrowed(condition.variables())
    solved = solve(condition.substitute(narrow)) if narrow else None
    if solved is None:
        return [condition]
    original = {new: old for old, new in narrow.items() if isinstance(new, Var)}
    return _if_shorter(condition, [new.substitute(original) for new in solved])


def _under_equations(guards: Sequence[Guard]) -> Iterable[Guard]:
    """The guards, simplified by the required equations among them; see `Equations`.

    The shortest equation comes first, and each one is simplified by those before it only. So no two guards imply each
    other away.
    """
    known = Equations()
    simpler: dict[Guard, list[Guard]] = {}
    equations = [guard for guard in guards if guard.kind == "required" and is_equation(*guard.condition[:3])]
    for guard in sorted(equations, key=lambda guard: length_of([guard.condition])):
        simpler[guard] = _rewritten(guard, known)
        if simpler[guard]:
            known.demand(*guard.condition[:3])
    if known:
        simpler |= {guard: _rewritten(guard, known) for guard in guards if guard not in simpler}
    return [new for guard in guards for new in simpler.get(guard, [guard])]


def _rewritten(guard: Guard, equations: Equations) -> list[Guard]:
    """The guard under these equations, if that is shorter; an empty list if they imply it."""
    if equations.imply(guard.condition):
        return []
    lhs, rhs = equations.rewritten(guard.lhs), equations.rewritten(guard.rhs)
    if lhs is guard.lhs and rhs is guard.rhs:
        return [guard]
    solved = solve(Relation(guard.relation, lhs, rhs))
    return [guard] if solved is None else _with(guard, _if_shorter(guard.condition, solved))


def _if_shorter(condition: Relation, others: list[Relation]) -> list[Relation]:
    """Other conditions that say the same, if their text is shorter; else the condition."""
    return others if length_of(others) < length_of([condition]) else [condition]


class Judged(NamedTuple):
    """The guards that inference finds, those that only the contract in the file states, and what is wrong with this."""

    own: list[Guard]
    stated: list[Guard]
    findings: list[Diagnostic]


def judged(run: Run, own: list[Guard]) -> Judged:
    """The guards of the file against those that inference finds.

    One that inference finds, or that follows from those, is not told twice. One that cannot hold together with them is
    a warning. Any other is the word of the author.
    """
    if not run.in_file.guards:
        return Judged(own, [], [])
    record = run.record
    sizes, inputs = _sizes(record, own), {name for name, _ in record.model.graph.inputs}
    told = {guard.condition.normal(): f"{guard} of {guard.origins[0]}" for guard in own if guard.origins}
    given = Assumptions(run.given.relations, record.symbols.known(), record.symbols.bound).relations
    of_nodes = Facts([*given, *(guard.condition for guard in own if guard.kind != "declared")])
    facts = Facts([*of_nodes, *(guard.condition for guard in own)])
    keys = {key_of(guard.condition) for guard in own}
    stated: list[Guard] = []
    findings: list[str] = []
    for condition in run.in_file.guards:
        try:
            relation = _relation(condition, sizes, inputs)
            if key_of(relation) in keys or follows(relation, facts):
                continue
            others = against(relation, of_nodes)
        except SymdimError as error:  # a text that is no size, a divisor that is 0, a function without a value
            findings.append(f"the guard {_text(condition)} is not used: {error}")
            continue
        if others is not None:
            known = [told.get(other.normal(), str(other)) for other in others]
            bounds = known or [interval_text(v) for v in relation.variables()] or ["the given sizes"]
            findings.append(f"the guard {_text(condition)} contradicts {'; '.join(bounds)}")
        else:
            origins = tuple([NodeName(*node) for node in condition.nodes])
            stated.append(Guard(relation, condition.law, origins, "declared"))
    return Judged(own, stated, [Diagnostic("warning", "", "", f"metadata {KEY}: {text}") for text in findings])


def _sizes(record: Record, own: list[Guard]) -> dict[str, Dim]:
    """What stands for the names that a guard of the file may have."""
    symbols = record.symbols
    sizes: dict[str, Dim] = {v.name: v for guard in own for v in guard.variables()}
    sizes |= {v.name: v for value in dict.fromkeys(record.scope.values()) for v in variables_in(value)}
    sizes |= {name: symbols.bound(v) for name, v in symbols.known().items()}
    return sizes | {name_in_file(v): v for v in sizes.values() if isinstance(v, Var)}


def name_in_file(v: Var) -> str:
    """The name of a variable in a file: an element of an input is `k[0]`, whatever stands for it here."""
    return f"{v.origin.tensor}[{v.origin.index}]" if isinstance(v.origin, ValueOf) else v.name


def _relation(condition: Condition, sizes: dict[str, Dim], inputs: Collection[str]) -> Relation:
    """The relation over the sizes of a result. Raises `SymdimError` for a text that is none, and for other names."""
    relation = condition.read(Names())
    meanings: dict[Var, Dim] = {}
    for v in relation.variables():
        element = ELEMENT.fullmatch(v.name)
        if v.name not in sizes and element is not None and element[1] in inputs:
            origin = ValueOf(element[1], int(element[2]), "the element")
            sizes[v.name] = Scope().restored(v.name, None, None, None, origin)
        if v.name not in sizes:
            raise UnboundName((v.name,))
        meanings[v] = sizes[v.name]
    return relation.substitute(meanings)


def _text(condition: Condition) -> str:
    """A condition with its law, as messages have it."""
    try:
        text = str(condition.read(Names()))
    except SymdimError:
        text = f"{condition.relation} of {condition.left} and {condition.right}"
    return f"{text} ({condition.law})" if condition.law else text


def follows(relation: Relation, facts: Facts) -> bool:
    """Whether a relation holds wherever the facts do."""
    kind, left, right, _ = relation.normal()
    return holds(left, SIGNS[kind], right, facts.about(left, right)) is True


def against(relation: Relation, facts: Facts) -> list[Relation] | None:
    """The facts that cannot hold together with a relation; None if there are none."""
    together = facts.about(relation.left, relation.right)
    together.assume(relation)
    conflict = together.contradiction() or ()
    others = [other for other in conflict if other.normal() != relation.normal()]
    return others if len(others) < len(conflict) else None
