"""The nodes that may go or change: they refuse no run, or only runs that a remaining node refuses too.

A node refuses a run if one of its laws fails. Its rule states these laws, and a law that bounds prove never fails. So a
node may go if every law that it states is proved, or is stated by another node that stays. For this, the rule must know
the ranks of the inputs, and the elements of those that are sizes, axes or indices.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.engine.outcome import Outcome, apply
from onnx_infer.engine.scope import Scope, UndefinedInput
from onnx_infer.laws.bounds import Bounds
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import Statement, cautiously
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import maximum
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import ValueOf
from symdim.relations.relation import Relation
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx import NodeProto

    from onnx_infer.engine.engine import Engine
    from onnx_infer.model.graph import Graph, Node
    from onnx_infer.tools.transforms.draft import Draft

    Division = tuple[NodeProto, list[Relation] | None]

_BY_SIZES = (
    "Abs", "Add", "And", "Cast", "CastLike", "Ceil", "Concat", "Constant", "Cos", "Dropout", "Equal", "Erf", "Exp",
    "Flatten", "Floor", "Greater", "GreaterOrEqual", "Identity", "IsInf", "IsNaN", "Less", "LessOrEqual", "Log", "Max",
    "Mean", "Min", "Mul", "Neg", "Not", "Or", "Reciprocal", "Relu", "Round", "Shape", "Sigmoid", "Sign", "Sin", "Size",
    "Sqrt", "Sub", "Sum", "Tanh", "Transpose", "Where", "Xor",
)  # fmt: skip
_BY_SECOND_INPUT = (
    "CumSum", "Div", "Expand", "Gather", "Mod", "Pad", "ReduceProd", "ReduceSum", "Reshape", "Split", "Squeeze", "Tile",
    "Trilu", "Unsqueeze",
)  # fmt: skip
_STATED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_BY_SIZES, ()),
    **dict.fromkeys(_BY_SECOND_INPUT, (1,)),
    "ConstantOfShape": (0,),
    "Range": (0, 1, 2),
    "Slice": (1, 2, 3, 4),
}
"""The operators whose rules state every law by which a runtime refuses a run, with the inputs of which they must know
the elements."""


class Refusals:
    """The nodes of an inferred model that may go. With `keep_guards`, none goes that states a law of its own."""

    def __init__(self, engine: Engine, draft: Draft, types: Mapping[str, Value], keep_guards: bool) -> None:
        self._types = types
        told = {diagnostic.node for diagnostic in engine.diagnostics}
        divisions = _divisions(draft, types)
        stating = _stating(engine, draft, types, keep_guards, divisions) | _stating_inside(engine, draft)
        self._bound = {id(node) for node in draft.nodes() if label_of(node) in told}
        self._bound.update(id(draft.made[name]) for name in stating if name in draft.made)
        self._unclear = {id(node) for node, conditions in divisions if conditions is None}

    def may_go(self, node: NodeProto) -> bool:
        """Whether every run that this node refuses is refused by a node that stays."""
        if not self.may_be_replaced(node) or not _is_stated(node.op_type, node.domain):
            return False
        values = [self._types.get(name) for name in node.input if name]
        if not all(isinstance(value, SymTensor) and value.shape is not None and value.dtype for value in values):
            return False
        return not any(isinstance(value, SymTensor) and value.dtype == dt.STRING for value in values)

    def may_be_replaced(self, node: NodeProto) -> bool:
        """Whether a node that refuses nothing may take its place."""
        places = _STATED[node.op_type] if _is_stated(node.op_type, node.domain) else ()
        asked = [node.input[i] for i in places if i < len(node.input) and node.input[i]]
        return self.is_upheld(node) and id(node) not in self._unclear and all(map(self._is_known, asked))

    def is_upheld(self, node: NodeProto) -> bool:
        """Whether the bounds prove every law that this node states, or another node that stays states it too."""
        return id(node) not in self._bound

    def _is_known(self, name: str) -> bool:
        """Whether the elements are known before a run. An element that is a name of itself, `k[0]`, is not."""
        elements = _elements(self._types.get(name))
        return elements is not None and not any(isinstance(v.origin, ValueOf) for v in variables_of(elements))


def label_of(node: NodeProto) -> str:
    """The name of a node in diagnostics: its own, or that of its first output."""
    return node.name or first_output(node)


def first_output(node: NodeProto) -> str:
    """The first output of a node that has a name."""
    return next(filter(None, node.output), "")


def _is_stated(op_type: str, domain: str) -> bool:
    return domain in ("", "ai.onnx") and op_type in _STATED


def _divisions(draft: Draft, types: Mapping[str, Value]) -> list[Division]:
    """Nodes with the demands that their rules do not state, because every size has a value without them.

    An integer is not divided by 0, no step is 0, no size beside a -1 is 0, no size of a target is negative, and a Pad
    that copies elements has some. The demands are None if they are not known, and for a node in an inner graph, which
    may not run.
    """
    found: list[Division] = []
    for depth, (_, nodes) in enumerate(draft.bodies):
        for node in nodes:
            if node.op_type in _UNSTATED and not node.domain and node.output:
                place, demanded = _UNSTATED[node.op_type]
                asked = types.get(node.input[place]) if len(node.input) > place and node.input[place] else None
                conditions = demanded(node, asked, types.get(node.output[0]))
                if conditions != []:
                    found.append((node, None if depth else conditions))
    return found


def _elements(value: Value | None) -> tuple[Dim, ...] | None:
    """The elements of a tensor, or the one that all of them have; None if one is not known."""
    if not isinstance(value, SymTensor):
        return None
    elements: tuple[Dim, ...] = (value.fill,) if value.data is None else value.data
    return None if None in elements else elements


_STEPS = 4
"""The input of a Slice that has the steps."""


def _divides(node: NodeProto, divisor: Value | None, made: Value | None) -> list[Relation] | None:
    elements = _elements(divisor)
    if isinstance(divisor, SymTensor) and divisor.dtype in dt.FLOATS:
        return []
    if elements is None:
        return None
    open_ones = [x for x in elements if not at_least(x, 1) and not at_least(-x, 1)]
    return _all_at_least(1, open_ones) if all(at_least(x, 0) for x in open_ones) else None


def _steps(node: NodeProto, step: Value | None, made: Value | None) -> list[Relation] | None:
    """A step is not 0. The rule refuses the number 0 itself."""
    elements = _elements(step)
    if node.op_type == "Slice" and not (len(node.input) > _STEPS and node.input[_STEPS]):
        return []
    if elements is not None and all(isinstance(x, (int, float)) for x in elements):
        return []
    is_float = isinstance(step, SymTensor) and step.dtype in dt.FLOATS  # a float may be 0 where its size is not
    return None if is_float else _divides(node, step, made)


def _expands(node: NodeProto, target: Value | None, made: Value | None) -> list[Relation] | None:
    elements = _elements(target)
    return None if elements is None else _all_at_least(0, elements)


def _reshapes(node: NodeProto, target: Value | None, made: Value | None) -> list[Relation] | None:
    elements = _elements(target)
    sizes = made.shape if isinstance(made, SymTensor) else None
    if elements is None or sizes is None or len(sizes) != len(elements):
        return None
    if -1 not in elements:
        return []
    conditions = _all_at_least(1, [size for size, e in zip(sizes, elements, strict=True) if e != -1])
    return None if conditions and any(a.name == "allowzero" and a.i for a in node.attribute) else conditions


def _pads(node: NodeProto, pads: Value | None, made: Value | None) -> list[Relation] | None:
    """onnxruntime refuses a Pad of which negative pads leave no elements, if its mode copies some.

    It does not refuse it if the tensor is empty before, so no rule without assumptions states this.
    """
    if all(a.s == b"constant" for a in node.attribute if a.name == "mode"):
        return []
    elements = _elements(pads)
    sizes = made.shape if isinstance(made, SymTensor) else None
    if elements is None or sizes is None or len(node.input) > 3 or len(elements) != 2 * len(sizes):
        return None
    rank = len(sizes)
    added = [maximum(begin, 0) + maximum(end, 0) for begin, end in zip(elements[:rank], elements[rank:], strict=True)]
    return _all_at_least(1, [size - more for size, more in zip(sizes, added, strict=True)])


def _all_at_least(least: int, sizes: Iterable[Dim]) -> list[Relation]:
    """The conditions that bounds do not prove."""
    return [Relation("at_least", size, least) for size in sizes if not at_least(size, least)]


_UNSTATED: dict[str, tuple[int, Callable[[NodeProto, Value | None, Value | None], list[Relation] | None]]] = {
    "Div": (1, _divides), "Mod": (1, _divides), "Range": (2, _steps), "Slice": (_STEPS, _steps),
    "Expand": (1, _expands), "Reshape": (1, _reshapes), "Pad": (1, _pads),
}  # fmt: skip
"""Operators -> the input that decides what they demand, and this demand of a node, of that input and of its result."""


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


class _Solved(dict[Relation, list[Relation]]):
    """Relation -> its plain conditions: none if bounds prove it, the condition itself if it never holds."""

    def __missing__(self, condition: Relation) -> list[Relation]:
        plain = solve(condition)
        found = self[condition] = [condition] if plain is None else plain
        return found

    def of(self, statement: Statement) -> list[Relation]:
        """The plain conditions that a statement demands of a run."""
        is_demand = statement.relation != "undecided" and statement.kind != "declared"
        return self[statement.condition] if is_demand else []


def _open_laws(engine: Engine) -> list[_Law]:
    """The laws of nodes that always run, as far as bounds do not prove them."""
    found: list[_Law] = []
    solved = _Solved()
    for statement, node in engine.stated():
        if conditions := solved.of(statement):
            stays = not _is_stated(node[0], node[1]) and node[0] != "If"
            found.append(_Law(conditions, _name_of(node), statement.kind == "required", stays))
    return found


def _laws_of(divisions: list[Division]) -> list[_Law]:
    """The known demands as laws. A Div of an empty tensor divides nothing, so only a Reshape is certain to refuse."""
    solved = _Solved()
    return [
        _Law([plain for c in conditions for plain in solved[c]], first_output(node), node.op_type == "Reshape", False)
        for node, conditions in divisions if conditions
    ]  # fmt: skip


def _name_of(node: Node) -> str:
    return next((name for name in node[3] if name), "")


def _stating_inside(engine: Engine, draft: Draft) -> set[str]:
    """The first outputs of the nodes in inner graphs that state a law. A graph may not run, so no other node counts."""
    known = {id(graph) for graph, _ in draft.bodies}
    solved, found = _Solved(), set[str]()
    walked = [(graph, scope) for graph, scope in engine.inner if id(graph.handle) in known]
    for graph, scope in walked:
        scope.constants = _constants_of(engine, graph)
    for graph, scope in walked:
        for node in graph.nodes():
            if _is_stated(node[0], node[1]):
                outcomes = _outcomes(node, scope)
                if not outcomes or any(x.error or any(map(solved.of, x.statements)) for x in outcomes):
                    found.add(_name_of(node))
    return found


def _constants_of(engine: Engine, graph: Graph) -> Mapping[str, Any]:
    """The constants of an inner graph, to be read. A walk that repeats a record has only their names."""
    read = engine.model.subgraph(graph.handle)
    list(read.nodes())  # nodes of constants count once they are read
    return read.constants


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
    given = scope.with_elements(operator, node[2], values)
    said = partial(apply, operator, node[4], given, len(node[3]))
    return [said(), cautiously(said)]


def _stating(
    engine: Engine, draft: Draft, types: Mapping[str, Value], keep_guards: bool, divisions: list[Division]
) -> set[str]:
    """The first outputs of the nodes that must stay because of a law that no other node states.

    Of the nodes that state the same law one must stay: one that stays anyway, or that an output depends on, or the
    first. With `keep_guards` all of them must.
    """
    laws = _open_laws(engine) + _laws_of(divisions)
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

    found: set[str] = set()
    for law in sorted(laws, key=is_spare):
        if not upheld.imply(law.conditions):
            found.add(law.name)
            if law.is_required:
                upheld.add(law.conditions)
    return found
