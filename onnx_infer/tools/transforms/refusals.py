"""The nodes that may go or change: they refuse no run, or only runs that a remaining node refuses too.

A node refuses a run if one of its laws fails. Its rule states these laws, and a law that bounds prove never fails. So a
node may go if every law that it states is proved, or is stated by another node that stays. For this, the rule must know
the ranks of the inputs, and the elements of those that are sizes, axes or indices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.engine.apply import Outcome, apply
from onnx_infer.engine.scope import Scope, UndefinedInput
from onnx_infer.laws.bounds import Bounds
from onnx_infer.laws.limits import known_elements
from onnx_infer.laws.statements import Mode, Statement
from onnx_infer.model.graph import Node, first_output
from onnx_infer.tools.transforms.draft import Draft, said
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import ValueOf
from symdim.algebra.texts.written import leaf_count
from symdim.relations.relation import Relation
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx import NodeProto

    from onnx_infer.engine.record import Record
    from onnx_infer.operators.rule import Least
    from onnx_infer.results.inferred import Inferred

    Division = tuple[NodeProto, list[Relation] | None]


class Refusals:
    """The nodes of an inferred model that may go. With `keep_guards`, none goes that states a law of its own."""

    def __init__(self, result: Inferred, draft: Draft, types: Mapping[str, Value], keep_guards: bool) -> None:
        self._types, self._draft = types, draft
        told = {diagnostic.node for diagnostic in result._record.diagnostics}
        divisions = _divisions(draft, types)
        stating = _stating(result._record, draft, types, keep_guards, divisions) | _stating_inside(result)
        self._bound = {id(node) for node in draft.nodes() if (node.name or _first_output(node)) in told}
        self._bound.update(id(draft.made[name]) for name in stating if name in draft.made)
        self._unclear = {id(node) for node, conditions in divisions if conditions is None}

    def may_go(self, node: NodeProto) -> bool:
        """Whether every run that this node refuses is refused by a node that stays."""
        if not self.may_be_replaced(node) or not self._draft.traits(node).total:
            return False
        values = [self._types.get(name) for name in node.input if name]
        if not all(isinstance(value, SymTensor) and value.shape is not None and value.dtype for value in values):
            return False
        return not any(isinstance(value, SymTensor) and value.dtype == dt.STRING for value in values)

    def may_be_replaced(self, node: NodeProto) -> bool:
        """Whether a node that refuses nothing may take its place."""
        operator = self._draft.operators[node.domain, node.op_type]
        traits = self._draft.traits(node)
        places = () if operator is None else (*operator.asked(len(node.input)).wants, *traits.indices)
        asked = [node.input[i] for i in places if traits.total and i < len(node.input) and node.input[i]]
        return self.is_upheld(node) and id(node) not in self._unclear and all(map(self._is_known, asked))

    def is_upheld(self, node: NodeProto) -> bool:
        """Whether the bounds prove every law that this node states, or another node that stays states it too."""
        return id(node) not in self._bound

    def _is_known(self, name: str) -> bool:
        """Whether the elements are known before a run. An element that is a name of itself, `k[0]`, is not."""
        elements = known_elements(self._types.get(name))
        return elements is not None and not _names_elements(elements)


def _names_elements(sizes: Iterable[Dim]) -> bool:
    """Whether sizes depend on an element that is a name of itself, `k[0]`."""
    return any(isinstance(v.origin, ValueOf) for v in variables_of(sizes))


def _first_output(node: NodeProto) -> str:
    """The first output of a node that has a name."""
    return next(filter(None, node.output), "")


def _divisions(draft: Draft, types: Mapping[str, Value]) -> list[Division]:
    """Nodes with the demands that their rules do not state, because every size has a value without them.

    An integer is not divided by 0, no step is 0, no size beside a -1 is 0, no size of a target is negative, and a Pad
    that copies elements has some. The demands are None if they are not known, and for a node in an inner graph, which
    may not run.
    """
    divisions: list[Division] = []
    for depth, (_, nodes) in enumerate(draft.bodies):
        for node in nodes:
            demands = draft.traits(node).demands
            if demands is not None:
                sizes: Least | None = said(demands, node, types)
                if sizes != []:
                    is_told = not depth and sizes is not None and not _names_elements([size for size, _ in sizes])
                    divisions.append((node, [Relation("at_least", *pair) for pair in sizes or ()] if is_told else None))
    return divisions


class _Upheld:
    """Conditions that hold in every run that is accepted, because nodes that stay demand them."""

    def __init__(self) -> None:
        self._conditions: set[Relation] = set()
        self._bounds = Bounds()

    def add(self, conditions: list[Relation]) -> None:
        self._conditions.update(conditions)
        for condition in conditions:
            self._bounds.narrow(condition)

    def imply(self, conditions: list[Relation]) -> bool:
        return all(condition in self._conditions or self._bounds.implies(condition) for condition in conditions)


class _Law(NamedTuple):
    """A law that a run may break: its conditions, and the first output of the node that states it."""

    conditions: list[Relation]
    name: str
    is_required: bool
    stays: bool


_LONG = 40
"""The most names in a condition that is solved. A node stays that states a longer one alone."""


class _Solved(dict[Relation, list[Relation]]):
    """Relation -> its plain conditions: none if bounds prove it, the condition itself if it never holds."""

    def __missing__(self, condition: Relation) -> list[Relation]:
        is_long = leaf_count(condition.left) + leaf_count(condition.right) > _LONG
        plain = [condition] if is_long else solve(condition)
        conditions = self[condition] = [condition] if plain is None else plain
        return conditions

    def of(self, statement: Statement) -> list[Relation]:
        """The plain conditions that a statement demands of a run."""
        is_demand = statement.relation != "undecided" and statement.kind != "declared"
        return self[statement.condition] if is_demand else []


def _open_laws(engine: Record) -> list[_Law]:
    """The laws of nodes that always run, as far as bounds do not prove them."""
    laws: list[_Law] = []
    solved = _Solved()
    for statement, node in engine.statements.pairs:
        if conditions := solved.of(statement):
            stays = not engine.scope.operators.traits(node[0], node[1]).total and not node[4].has_graphs
            laws.append(_Law(conditions, first_output(node), statement.kind == "required", stays))
    return laws


def _laws_of(draft: Draft, divisions: list[Division]) -> list[_Law]:
    """The known demands as laws. A Div of an empty tensor divides nothing, so it is not certain to refuse."""
    solved = _Solved()
    return [
        _Law(
            [plain for c in conditions for plain in solved[c]],
            _first_output(node),
            draft.traits(node).demands_if_empty,
            stays=False,
        )
        for node, conditions in divisions if conditions
    ]  # fmt: skip


def _stating_inside(result: Inferred) -> set[str]:
    """The first outputs of the nodes in inner graphs that state a law. A graph may not run, so no other node counts."""
    solved, stating = _Solved(), set[str]()
    _, *inner = result._index.outer_first(lambda body: False)
    for index in inner:
        graph = result._record.model.subgraph(index.graph.handle)
        list(graph.nodes())  # nodes of constants count once they are read
        index.scope.constants = graph.constants  # a walk that repeats a record has only their names
    for index in inner:
        scope = index.scope
        for node in index.nodes:
            if scope.operators.traits(node[0], node[1]).total:
                outcomes = _outcomes(node, scope)
                if not outcomes or any(x.error or any(map(solved.of, x.statements)) for x in outcomes):
                    stating.add(first_output(node))
    return stating


def _outcomes(node: Node, scope: Scope) -> list[Outcome]:
    """What the rule of a node says, with and without its assumptions; nothing if the node cannot be read.

    Without them a rule may demand more, or know too little to demand anything: a size in a Reshape target may be 0.
    """
    operator = scope.operators[node[1], node[0]]
    try:
        values = tuple([scope[name] if name else None for name in node[2]])
    except UndefinedInput:
        return []
    if operator is None:
        return []
    operands = scope.with_elements(operator, node[2], values)
    modes = Mode(), Mode(is_cautious=True)
    return [apply(operator, node[4], operands, len(node[3]), mode) for mode in modes]


def _stating(
    engine: Record, draft: Draft, types: Mapping[str, Value], keep_guards: bool, divisions: list[Division]
) -> set[str]:
    """The first outputs of the nodes that must stay because of a law that no other node states.

    Of the nodes that state the same law one must stay: one that stays anyway, or that an output depends on, or the
    first. With `keep_guards` all of them must.
    """
    laws = _open_laws(engine) + _laws_of(draft, divisions)
    if keep_guards:
        return {law.name for law in laws}
    needed = draft.needed()
    upheld = _Upheld()
    for law in laws:
        if law.stays and law.is_required:
            upheld.add(law.conditions)

    def is_spare(law: _Law) -> bool:
        value = types.get(law.name)
        return id(draft.made.get(law.name)) not in needed or (value is not None and value.data is not None)

    stating: set[str] = set()
    for law in sorted(laws, key=is_spare):
        if not upheld.imply(law.conditions):
            stating.add(law.name)
            if law.is_required:
                upheld.add(law.conditions)
    return stating
