"""What nodes demand of sizes: which demands hold in every run, and which ones no run fulfils.

A runtime may run a node against an assumed statement, with other sizes than inferred. So what later nodes demand of
these sizes is not certain. It must not teach the second pass anything about symbols, and it does not show that a branch
never runs. A value depends on an assumption if its node makes it, or reads a value that depends on one. Names inside of
functions belong to another graph, and for values inside of subgraphs only the outermost node is compared. So there more
values count than those that depend on an assumption.

No run fulfils some demands: one alone (`2*N == 3`), or several together (`N == 3` and `N == 4`).

Demands that share symbols are compared, each such group by itself. The cheapest means comes first:

1. A few points: sizes at which all of them hold. Nearly every model ends here, because it runs at some sizes.
2. Intervals of single symbols.
3. The prover, within a budget, which also finds an example or the demands that it needs for the contradiction.

Only required statements count: a run may break the others.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.engine.declared import is_of_forced_rank
from onnx_infer.engine.scope import captured
from onnx_infer.laws.bounds import Bounds, implied_bounds
from onnx_infer.laws.statements import Statement
from onnx_infer.model.graph import label_of, title_of
from symdim import Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import at_least
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.written import leaf_count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Graph, Node
    from onnx_infer.values.tensor import Dim
    from symdim.prover.budget import Budget
    from symdim.relations.relation import Relation

    Stated: TypeAlias = tuple[Statement, Node]
    Places: TypeAlias = tuple[int, ...]

_BUDGET = 1000
"""Steps of the prover for one question about demands."""

_ALL_STEPS = 5000
"""Steps of the prover for all questions about a model."""

_MOST_TOLD = 64
"""The most contradictions of a model that are reported."""

_SIZES = (1 << 20, 512, 256, 128, 64, 32, 16, 8, 4, 3, 2, 1)
"""The sizes that all symbols have at the points that are tried, as far as bounds allow it. Large ones meet most."""

_MOST_TRIED = 16
"""The most conditions of a contradiction of which each is left out once, to find those that are needed."""

_LONG = 16
"""The most names of two sizes of which broadcasting chooses one, for the prover: it multiplies them."""

_refuted = shared_cache(1 << 10)  # conditions and facts -> the places of those that contradict each other


class Contradiction(NamedTuple):
    """A demand of a node that holds at no sizes, or not together with the `others`."""

    condition: Relation
    law: str
    node: Node
    others: tuple[tuple[Relation, Node], ...] = ()

    def __str__(self) -> str:
        if not self.others:
            return f"{self.law}: {self.condition} holds at no sizes"
        others = " and ".join([f"{condition} ({node[0]} '{label_of(node)}')" for condition, node in self.others])
        return f"{self.law}: {self.condition} contradicts {others}"


def errors_of(record: Record, facts: Iterable[Relation] = ()) -> list[Diagnostic]:
    """The contradictions of a pass, under `facts` about its symbols, as errors of their nodes.

    What rests on an assumption is no demand of every run.
    """
    facts, resolve = list(facts), record.sizes.fresh.resolve
    wrong = contradictions(record.statements.pairs, resolve, facts)
    if wrong and any(statement.kind == "assumed" for statement in record.statements.plain):
        wrong = contradictions(certain(record), resolve, facts)
    errors = []
    for each in wrong:
        operator = record.scope.operators[each.node[1], each.node[0]]
        title = title_of(each.node) if operator is None else operator.schema.title
        errors.append(Diagnostic("error", title, label_of(each.node), str(each)))
    return errors


def contradiction(stated: Iterable[Stated]) -> str | None:
    """The statements that contradict each other, as a text; None if there are none."""
    wrong = contradictions(stated)
    if not wrong:
        return None
    condition, _, node, others = wrong[0]
    texts = [f"{node[0]} '{label_of(node)}' demands {condition}" for condition, node in ((condition, node), *others)]
    return " and ".join(texts)


def contradictions(
    stated: Iterable[Stated], resolve: Callable[[Dim], Dim] = lambda size: size, facts: Iterable[Relation] = ()
) -> list[Contradiction]:
    """The demands that cannot hold, under `facts` about the symbols. `resolve` replaces solved variables in them."""
    from symdim.relations.relation import Relation  # few models need it

    first: dict[Relation, Stated] = {}
    for statement, node in stated:
        relation, lhs, rhs = statement[:3]
        if statement.kind == "required" and relation != "undecided":
            first.setdefault(Relation(relation, resolve(lhs), resolve(rhs)), (statement, node))
    if not first:
        return []
    conditions, assumed = list(first), [fact.normal()._replace(origins=frozenset()) for fact in facts]
    refuted: list[Places] | None = _refuted.get(key := (len(first), *conditions, *assumed))
    if refuted is None:
        refuted = []
        if not _hold_somewhere([*conditions, *assumed]):
            from symdim.prover.budget import Budget

            budget, groups = Budget(_ALL_STEPS), _groups([*conditions, *assumed])
            all_refuted = (places for group in groups for places in _refuted_in(group, len(first), budget))
            refuted = list(islice(all_refuted, _MOST_TOLD))
        _refuted[key] = refuted
    contradictions = []
    for *others, last in refuted:
        statement, node = first[conditions[last]]
        beside = tuple([(conditions[i], first[conditions[i]][1]) for i in others])
        contradictions.append(Contradiction(conditions[last], statement.law, node, beside))
    return contradictions


def _groups(conditions: Sequence[Relation]) -> Iterator[dict[int, Relation]]:
    """The conditions that share variables, directly or through others, by their places."""
    about: dict[Var, list[int]] = {}
    for i, condition in enumerate(conditions):
        for v in condition.variables():
            about.setdefault(v, []).append(i)
    left = dict.fromkeys(range(len(conditions)))
    while left:
        places, pending = [], [next(iter(left))]
        while pending:
            i = pending.pop()
            if i in left:
                del left[i]
                places.append(i)
                pending += [j for v in conditions[i].variables() for j in about.pop(v, ())]
        yield {i: conditions[i] for i in sorted(places)}


def _refuted_in(group: dict[int, Relation], count: int, budget: Budget) -> Iterator[Places]:
    """The contradictions in a group, until the rest may hold. Places from `count` on are those of facts."""
    while group and min(group) < count:
        refuted = _first_refuted(group, budget)
        demands = sorted(i for i in refuted if i < count)
        if not demands:
            return
        yield tuple(demands)
        del group[demands[-1]]


def _first_refuted(group: Mapping[int, Relation], budget: Budget) -> Collection[int]:
    """The places of conditions that cannot hold together; none if they can, or if that is not known."""
    if _hold_somewhere(group.values()):
        return ()
    bounds = Bounds()
    for condition in group.values():
        if conflict := bounds.narrow(condition):
            return {i for i, condition in group.items() if condition in conflict}
    if _hold_somewhere(group.values(), bounds):
        return ()
    refuted = _refuted_by_prover(group, budget)
    if refuted is None:  # there may be too many of them for one question
        refuted = next((part for i, c in group.items() if (part := _refuted_by_prover({i: c}, budget))), frozenset())
    for i in refuted if len(refuted) <= _MOST_TRIED else ():
        if smaller := _refuted_by_prover({j: group[j] for j in refuted if j != i}, budget):
            refuted = smaller
    return refuted


def _hold_somewhere(conditions: Collection[Relation], bounds: Bounds | None = None) -> bool:
    """Whether all conditions hold at one of a few points: equal sizes, or the least ones with one that is larger."""
    variables = tuple(dict.fromkeys(v for condition in conditions for v in condition.variables()))
    ends = {v: (v.lo, v.hi) if bounds is None else bounds.ends(v) for v in variables}

    def points() -> Iterator[dict[str | Var, int]]:
        for size in _SIZES:
            yield {v: _within(size, *interval) for v, interval in ends.items()}
        if len(ends) < len(_SIZES):
            least: dict[str | Var, int] = {v: _within(1, *interval) for v, interval in ends.items()}
            yield from ({**least, v: _within(2 * least[v], *ends[v])} for v in ends)

    return any(all(condition.holds(point) for condition in conditions) for point in points())


def _within(size: int, low: int | None, high: int | None) -> int:
    size = size if low is None else max(size, low)
    return size if high is None else min(size, high)


def _refuted_by_prover(group: Mapping[int, Relation], budget: Budget) -> frozenset[int] | None:
    """The places of conditions that cannot hold together; none if an example is found, None if nothing is.

    The `budget` is one for all demands of a model.
    """
    from symdim.prover.budget import Budget, OutOfBudget  # few models need it
    from symdim.prover.hypotheses import problem_of
    from symdim.prover.search import decided

    try:
        budget.spend()
        hypotheses = [h for i, condition in group.items() if (h := _hypothesis(condition, i)) is not None]
        answer = decided(problem_of(hypotheses, (), Budget(_BUDGET, budget)))
    except OutOfBudget:
        return None
    return None if answer is None else frozenset(i for i in answer if isinstance(i, int))


def _hypothesis(condition: Relation, place: int) -> Relation | None:
    """A condition as the prover takes it; None for a division by 0 and for long sizes of which one is chosen."""
    kind, a, b, _ = condition
    if kind == "divides" and a == 0:
        return None
    if kind in ("broadcast", "broadcast_to") and leaf_count(a) + leaf_count(b) > _LONG:
        return None
    return condition._replace(origins=frozenset((place,))).normal()


# -- demands of every run -----------------------------------------------------------------------------------------


def conditional(record: Record, assumed: Collection[int]) -> set[int]:
    """The statements after an assumption whose nodes read a value that depends on one of the `assumed` statements.

    Statements are identified by their index in the record. In models with function calls, and in subgraphs, every
    statement after an assumption counts.
    """
    if not assumed:
        return set()
    later = [i for i in range(min(assumed) + 1, len(record.statements.plain)) if i not in assumed]
    if record.nesting.seen.calls:
        return set(later)
    nodes = [node for _, node in record.statements.pairs]
    main = {name for node in record.main_nodes for name in node[3]}
    values = _dependent(record, (), [nodes[i] for i in assumed])
    return {i for i in later if main.isdisjoint(nodes[i][3]) or reads(record, nodes[i], values)}


def dependent_values(record: Record, graphs: Iterable[Graph]) -> Set[str] | None:
    """The values that depend on assumptions so far, in the main graph and in graphs, each inside the one before.

    None if all values may depend on them.
    """
    assumed = [(statement, node) for statement, node in record.statements.pairs if statement.kind == "assumed"]
    nodes = [node for statement, node in assumed if not _holds(statement, Bounds())]
    if nodes and record.model.functions:
        return None
    return _dependent(record, graphs, nodes) if nodes else frozenset()


def reads(record: Record, node: Node, values: Set[str]) -> bool:
    """Whether a node, or a graph inside it, reads one of these values."""
    return not values.isdisjoint(node[2]) or (node[4].has_graphs and not values.isdisjoint(captured(record.view, node)))


def _dependent(record: Record, graphs: Iterable[Graph], assuming: Iterable[Node]) -> set[str]:
    """The values of the main graph and of these graphs that depend on nodes, which may be in other graphs."""
    values = {name for node in assuming for name in node[3]}
    inner = [([name for name, _ in graph.inputs], list(graph.nodes())) for graph in graphs]
    for inputs, nodes in ([], record.main_nodes), *inner:
        inside = not values.issubset(chain.from_iterable([node[3] for node in nodes]))  # some node is in another graph
        if inside:
            values.update(inputs)
        size = -1
        while size < len(values):  # nodes may be out of order
            size = len(values)
            for node in nodes:
                if not values.isdisjoint(node[2]) or (node[4].has_graphs and (inside or reads(record, node, values))):
                    values.update(node[3])
    return values


def certain(record: Record) -> list[tuple[Statement, Node]]:
    """The statements of a walk that every run fulfils, with their nodes.

    An assumed statement is one of them if the others imply it, or if no tensor that it is about can be empty. What a
    declared rank says is none, nor is what a forced rank says. Other statements do not depend on either.
    """
    stated = record.statements.pairs
    claimed = {i for i, (s, _) in enumerate(stated) if s.kind == "declared" or is_of_forced_rank(s)}
    assumed = {i for i, (statement, _) in enumerate(stated) if statement.kind == "assumed" and i not in claimed}
    if not assumed:
        return [pair for i, pair in enumerate(stated) if i not in claimed]
    bounds = implied_bounds(record.statements.plain[: min(assumed)])
    assumed = {i for i in assumed if not _holds(stated[i][0], bounds)}
    while True:
        uncertain = assumed | conditional(record, assumed)
        kept = [
            (statement if statement.kind == "required" else statement._replace(kind="required"), node)
            for i, (statement, node) in enumerate(stated)
            if i not in uncertain and i not in claimed
        ]
        bounds = implied_bounds(statement for statement, _ in kept if assumed)
        left = {i for i in assumed if not _holds(stated[i][0], bounds)}
        if left == assumed:
            return kept
        assumed = left


def _holds(statement: Statement, bounds: Bounds) -> bool:
    """Whether bounds of symbols prove an assumed statement, or that a run demands it."""
    demands = [Statement("at_least", size, 1, "size of a tensor") for size in statement.filled]
    if demands and all(at_least(demand.lhs, 1) or bounds.implies(demand.condition) for demand in demands):
        return True
    return bounds.implies(statement.condition)
