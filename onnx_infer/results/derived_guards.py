"""The guards of a result, made from the statements of its walk and written as a person would write them.

A guard is solved for a symbol (`symdim.relations`). Equal guards are one, and a guard that others imply is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.engine.long_sizes import Equations, is_equation
from onnx_infer.engine.resting import resting
from onnx_infer.model.graph import label_of, title_of
from onnx_infer.results.guards import Guard, NodeName
from onnx_infer.results.least_sizes import LeastSizes
from onnx_infer.results.sources import without_computed
from symdim import Var
from symdim.algebra.variable import narrowed
from symdim.relations.relation import Relation, length_of
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from onnx_infer.engine.engine import Engine
    from onnx_infer.values.tensor import Dim

_ROUNDS = 64  # of simplifying guards by each other: texts get shorter, and a few rounds are usual


def guards_of(engine: Engine) -> list[Guard]:
    """The statements of a walk that bounds do not prove, as guards in the order of the nodes."""
    assumed = {i for i, statement in enumerate(engine.statements) if statement.kind == "assumed"}
    least: list[Guard] | None = None if assumed else []
    while True:
        stated = _stated(engine, assumed)
        solved = [guard for statement in dict.fromkeys(stated) for guard in _solved(statement)]
        guards = _simplified([*(least or ()), *solved])
        if least is None:
            least = _least_sizes(engine, guards)
            guards = _simplified([*least, *guards])
        required = _Index(guard for guard in guards if guard.kind == "required")
        doubtful = {i for i in assumed if _open(stated[i], required) and not _is_certain(stated[i], required)}
        if doubtful == assumed:
            return guards
        assumed = doubtful  # the other ones hold in every run


def _least_sizes(engine: Engine, guards: list[Guard]) -> list[Guard]:
    """Required guards for symbols that a guard only assumes to be large: below its size every run is refused."""
    found: list[Guard] = []
    walks: LeastSizes | None = None
    required = _Index(guard for guard in guards if guard.kind == "required")
    for guard in guards:
        least, _ = _bound_of(guard) or (None, None)
        if guard.kind != "assumed" or guard.relation != "at_least" or least is None:
            continue
        symbol = guard.lhs
        assert isinstance(symbol, Var)
        low, _ = _demanded(symbol, guard, required)
        walks = walks or LeastSizes(engine)
        runs, refusing = walks.of(symbol, low or 0, least)
        if refusing is not None:
            found.append(Guard("at_least", symbol, runs, "every run with less is refused", (NodeName(*refusing),)))
    return found


def _simplified(solved: Iterable[Guard]) -> list[Guard]:
    """The guards without those that other guards imply. They are in plain form."""
    guards = _combined(solved)
    for _ in range(_ROUNDS):  # a simpler guard may show another bound
        before, index = guards, _Index(guards)
        guards = _combined(simpler for guard in guards for simpler in _under_bounds(guard, index))
        guards = _combined(_under_equations(guards))
        if guards == before:
            break
    index = _Index(guards)
    return [guard for guard in guards if not _is_implied(guard, index)]


def _open(guard: Guard, required: _Index) -> list[Guard]:
    """The conditions of a guard that the required guards do not imply."""
    found = [simpler for plain in _solved(guard) for simpler in _under_bounds(plain, required)]
    return [guard for guard in found if not _is_implied(guard, required)]


def _is_certain(guard: Guard, required: _Index) -> bool:
    """Whether the required guards imply that the tensors of the guard are not empty."""
    conditions = [[Guard("at_least", size, 1, guard.law) for size in sizes] for sizes in guard.filled]
    return any(not any(_open(condition, required) for condition in alternative) for alternative in conditions)


def _stated(engine: Engine, assumed: Collection[int]) -> list[Guard]:
    """The statements as guards, one by one, not solved. `assumed` are the indices of those that are only assumed.

    An assumed statement that is not among them is required. A required one that rests on them is only assumed.
    """
    conditional = resting(engine, assumed)

    def settled(size: Dim) -> Dim:
        return without_computed(engine.fresh_sizes.resolve(size))

    found: list[Guard] = []
    sizes: dict[Dim, Dim] = {}
    for i, (statement, node) in enumerate(engine.stated()):
        relation, lhs, rhs, law, kind, filled = statement
        assert relation != "undecided"
        if kind == "assumed" and i not in assumed:
            kind, filled = "required", ()
        for size in (lhs, rhs, *filled):
            if size not in sizes:
                sizes[size] = settled(size)
        is_conditional = i in conditional and kind == "required"
        kind = "assumed" if is_conditional else kind
        origins = (NodeName(title_of(node), label_of(node)),)
        shapes = (tuple([sizes[size] for size in filled]),) if filled else ()
        found.append(Guard(relation, sizes[lhs], sizes[rhs], law, origins, kind, is_conditional, shapes))
    return found


def _solved(guard: Guard) -> list[Guard]:
    """The guard in plain form; the guard itself if it never holds."""
    found = solve(guard.condition)
    return [guard] if found is None else _with(guard, found)


def _with(guard: Guard, conditions: Iterable[Relation]) -> list[Guard]:
    return [guard._replace(relation=relation, lhs=lhs, rhs=rhs) for relation, lhs, rhs, _ in conditions]


def _strength(guard: Guard) -> int:
    """The rank of a guard. Only guards of at least its rank may imply or simplify it."""
    if guard.kind == "assumed":
        return 1 if guard.conditional else 2 if guard.filled else 3
    return 0 if guard.kind == "declared" else 4


def _combined(guards: Iterable[Guard]) -> list[Guard]:
    """The guards, equal ones as one. It has the kind of the strongest one, and the origins of all."""
    found: dict[Hashable, Guard] = {}
    for guard in guards:
        key = _key(guard)
        if key not in found:
            found[key] = guard
            continue
        first, second = sorted((found[key], guard), key=_strength, reverse=True)
        origins = tuple(dict.fromkeys([*first.origins, *second.origins]))
        # a node needs the guard if any of these tensors is not empty
        of_one_node = first.kind == "assumed" and first.origins == second.origins
        filled = tuple(dict.fromkeys([*first.filled, *second.filled])) if of_one_node else first.filled
        found[key] = first._replace(origins=origins, filled=filled)
    return list(found.values())


def _key(guard: Guard) -> tuple[Hashable, ...]:
    """The key of a guard. Guards with equal conditions have equal keys, such as `M == N` and `N == M`."""
    relation, lhs, rhs, _ = guard.condition
    if relation in ("divides", "broadcast_to"):
        return relation, lhs, rhs
    if relation == "broadcast":
        return relation, frozenset((lhs, rhs))
    gap = lhs - rhs
    if relation == "equal":
        return relation, frozenset((gap, -gap))
    return "at_least", gap if relation == "at_least" else -gap


# -- what other guards imply ----------------------------------------------------------------------------------------


class _Index:
    """Guards by the variable that they bound, and by what they equate: those that may imply another one."""

    def __init__(self, guards: Iterable[Guard]) -> None:
        self.bounds: dict[Dim, list[Guard]] = {}
        self.equalities: dict[Hashable, list[Guard]] = {}
        for guard in guards:
            if _bound_of(guard) is not None:
                self.bounds.setdefault(guard.lhs, []).append(guard)
            if guard.relation == "equal":
                self.equalities.setdefault(_key(guard), []).append(guard)


def _under_bounds(guard: Guard, index: _Index) -> list[Guard]:
    """The guard, simplified by the bounds that other guards give to its symbols; an empty list if these imply it."""
    if _bound_of(guard) is not None:
        return [guard]
    narrow: dict[Var, Dim] = {}
    for variable in guard.variables():
        low, high = _demanded(variable, guard, index)
        if (low, high) != (variable.lo, variable.hi) and low is not None and (high is None or low <= high):
            narrow[variable] = narrowed(variable, low, high)
    found = solve(guard.condition.substitute(narrow)) if narrow else None
    if found is None:
        return [guard]
    original = {new: old for old, new in narrow.items() if isinstance(new, Var)}
    return _if_shorter(guard, [condition.substitute(original) for condition in found])


def _under_equations(guards: Sequence[Guard]) -> Iterable[Guard]:
    """The guards, simplified by the required equations among them; see `Equations`.

    The shortest equation comes first, and each one is simplified by those before it only. So no two guards imply each
    other away.
    """
    known = Equations()
    simpler: dict[Guard, list[Guard]] = {}
    equations = [guard for guard in guards if guard.kind == "required" and is_equation(*guard[:3])]
    for guard in sorted(equations, key=lambda guard: length_of([guard.condition])):
        simpler[guard] = _rewritten(guard, known)
        if simpler[guard]:
            known.demand(*guard[:3])
    if known:
        simpler |= {guard: _rewritten(guard, known) for guard in guards if guard not in simpler}
    return [new for guard in guards for new in simpler.get(guard, [guard])]


def _rewritten(guard: Guard, equations: Equations) -> list[Guard]:
    """The guard under these equations, if that is shorter; an empty list if they imply it."""
    lhs, rhs = equations.rewritten(guard.lhs), equations.rewritten(guard.rhs)
    if lhs is guard.lhs and rhs is guard.rhs:
        return [guard]
    found = solve(Relation(guard.relation, lhs, rhs))
    return [guard] if found is None else _if_shorter(guard, found)


def _if_shorter(guard: Guard, conditions: Sequence[Relation]) -> list[Guard]:
    """Guards of these conditions, if their text is shorter than that of the guard."""
    return _with(guard, conditions) if length_of(conditions) < length_of([guard.condition]) else [guard]


def _demanded(variable: Var, weak: Guard, index: _Index) -> tuple[int | None, int | None]:
    """The bounds of a variable, narrowed by the guards that are at least as strong as `weak`."""
    low, high = variable.lo, variable.hi
    for guard in index.bounds.get(variable, ()):
        if _strength(guard) >= _strength(weak):
            least, most = _bound_of(guard) or (None, None)
            low = least if low is None or (least is not None and least > low) else low
            high = most if high is None or (most is not None and most < high) else high
    return low, high


def _bound_of(guard: Guard) -> tuple[int | None, int | None] | None:
    """The interval of the variable on the left side of a guard; None if the guard is not a bound of a variable."""
    relation, lhs, rhs, _ = guard.condition
    if not isinstance(lhs, Var) or not isinstance(rhs, int) or relation not in ("equal", "at_least", "at_most"):
        return None
    return None if relation == "at_most" else rhs, None if relation == "at_least" else rhs


def _is_implied(guard: Guard, index: _Index) -> bool:
    """Whether a guard that is at least as strong implies this one: as an equality, or as a tighter bound."""
    if guard.relation == "broadcast":
        equality = _key(guard._replace(relation="equal"))
        return any(_strength(g) >= _strength(guard) for g in index.equalities.get(equality, ()))
    bound = _bound_of(guard)
    if bound is None or guard.relation == "equal":
        return False
    low, high = bound
    for other in index.bounds.get(guard.lhs, ()):
        if other is guard or _strength(other) < _strength(guard):
            continue
        least, most = _bound_of(other) or (None, None)
        if low is not None and least is not None and least >= low:
            return True
        if high is not None and most is not None and most <= high:
            return True
    return False
