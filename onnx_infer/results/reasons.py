"""Reasons: why something is unknown, at which node that begins, and what would make it known.

This is one walk over the nodes in order. If an operand is unknown, its reason is passed on to the outputs of the node.
If all operands are known, the reason begins at this node; conditions that would settle it are tried (`deciding.py`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from onnx_infer.engine.messages import unread_text
from onnx_infer.engine.record import NAMELESS
from onnx_infer.model.graph import Node, label_of, title_of
from onnx_infer.results.exactness import is_typed, lacks_elements, variables, varies
from onnx_infer.results.inferred import Inferred, once
from onnx_infer.values.containers import Optional, Sequence
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor, Value
from onnx_infer.values.text import bounded, printable
from symdim import Expr
from symdim.algebra.dims import variables_of
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.origin import Declared, ValueOf

if TYPE_CHECKING:
    from onnx_infer.diagnostics import Diagnostic
    from symdim import Var

Kind: TypeAlias = Literal["error", "undeclared", "no rule", "assumption", "value", "data"]

_ORDER = ("error", "undeclared", "no rule", "assumption", "value", "data")
MOST_TRIED = 64
"""So many nodes of a model are tried for conditions that settle them."""
_UNDECIDED = "its operands do not determine it"
_LOST = frozenset(("error", "undeclared", "no rule"))
"""Kinds of reasons with which something is lost for good; they are passed on through elements too."""


class Reason(NamedTuple):
    """Why something is unknown.

    | kind       | what decides it                                | `node`    | `names`                            |
    |------------|------------------------------------------------|-----------|------------------------------------|
    | error      | a node that has an error                       | that node |                                    |
    | undeclared | the rank or type that an input does not declare |          | the input                          |
    |            | the elements of a constant that are not read   |           | the constant                       |
    | no rule    | an operator without a rule                     | its node  | the operator                       |
    | assumption | symbols: with these conditions it is known     | the node  | the conditions, all of them needed |
    | value      | the elements of inputs                         | the node  | the inputs                         |
    | data       | what operators compute                         | the node  | the operators                      |

    `node` is the node where it begins: its name, or its first output if it has no name.
    """

    kind: Kind
    text: str
    node: str = ""
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return printable(self.text)


@once
def reasons(result: Inferred) -> dict[str, tuple[Reason, ...]]:
    """The reasons for each value whose type is not a function of the input sizes, the most helpful first.

    >>> import onnx.parser, onnx_infer
    >>> model = onnx.parser.parse_model('''
    ... <ir_version: 10, opset_import: ["": 20]>
    ... g (float[N, H] x, int64[1] k) => (y, z) { y = Squeeze (x)  best, z = TopK (x, k) }''')
    >>> for name, (reason, *_) in onnx_infer.infer(model).reasons.items():
    ...     print(name, reason.kind, reason.names)
    y assumption ('N >= 2', 'H >= 2')
    best value ('k',)
    z value ('k',)
    """
    walk = _Walk(result)
    for node in result._index.nodes:
        walk.follow(node)
    told = {name: why for name in result.types if (why := walk.of(name))}
    return {name: tuple([one._replace(text=bounded(one.text)) for one in why]) for name, why in told.items()}


class Root(NamedTuple):
    """An error that no other error causes, and its consequences.

    `alike`: the number of nodes with this error. `behind`: errors of nodes that read its unknown values. `values`: the
    number of values that it makes unknown.
    """

    diagnostic: Diagnostic
    alike: int = 1
    behind: tuple[Diagnostic, ...] = ()
    values: int = 0


class Reasons:
    """The reasons for all unknown values in the main graph of a result, and its errors, for a report.

    `nodes`: the schedule, read once. `literals`: the values of Constant nodes.
    """

    def __init__(self, result: Inferred) -> None:
        self._result = result
        self.nodes = result._index.nodes
        self._reasons = reasons(result)
        self.inputs = frozenset(result._input_symbols)
        self.literals = frozenset(result._graph.literals)

    def producer(self, name: str) -> Node | None:
        """The node that gives a value; None for an input or a constant."""
        return self._result._index.producer(name)

    @cached_property
    def _outputs(self) -> dict[str, list[str]]:
        """Label of a node -> its outputs."""
        outputs: dict[str, list[str]] = {}
        for node in self.nodes:
            outputs.setdefault(label_of(node), []).extend(name for name in node[3] if name in self._result.types)
        return outputs

    def of(self, name: str) -> Reason | None:
        """The main reason why the type of a value is not a function of the input sizes; None if it is one."""
        why = self._reasons.get(name)
        return why[0] if why else None

    def roots(self) -> list[Root]:
        """The errors that no other error causes, in order. Equal errors of several nodes are one root."""
        roots: dict[tuple[str, ...], Root] = {}
        root_of: dict[str, tuple[str, ...]] = {}  # node -> the root of its errors
        for error in self._result.diagnostics:
            if error.severity == "warning":
                continue
            first = self._before(error)
            if first in root_of:
                key = root_of[first]
                roots[key] = roots[key]._replace(behind=(*roots[key].behind, error))
            else:
                key = (error.severity, error.operator, error.message)
                roots[key] = roots[key]._replace(alike=roots[key].alike + 1) if key in roots else Root(error)
            root_of.setdefault(error.node, key)
        for name in self._result.types:
            reason = self.of(name)
            if reason is not None and reason.kind == "error" and reason.node in root_of:
                key = root_of[reason.node]
                roots[key] = roots[key]._replace(values=roots[key].values + 1)
        return list(roots.values())

    def value_at(self, error: Diagnostic) -> str | None:
        """The value to look at for an error: the first one that its node gives, or the value itself."""
        names = (*self._outputs.get(error.node, ()), error.node)
        return next((name for name in names if name in self._result.types), None)

    def _before(self, error: Diagnostic) -> str | None:
        """The node with the error that causes this one, or None."""
        outputs = self._outputs.get(error.node) or [error.node]
        giver = self.producer(outputs[0])
        if giver is None:
            return None
        operands = giver[2] if error.operator else outputs
        for name in operands:
            reason = self.of(name)
            if reason is not None and reason.kind == "error" and not (error.operator and reason.node == error.node):
                return reason.node
        return None


class _Walk:
    """One walk over the nodes, which enters the reasons for each value."""

    def __init__(self, result: Inferred) -> None:
        self._types, self._notes, self._record = result.types, result.notes, result._record
        self._inputs = frozenset(result._input_symbols)
        self._errors: dict[str, Diagnostic] = {}
        for told in result.diagnostics:
            if told.severity != "warning" and told.operator:
                self._errors.setdefault(told.node, told)
        self._of_type: dict[str, Reason] = {}
        self._of_elements: dict[str, Reason] = {}
        self._of_size: dict[Var, Reason] = {}
        self._plain: set[Value] = set()  # values of which nothing is unknown
        self._conditions: tuple[str, ...] | None = None  # conditions that settle the current node
        self._tried = 0
        for name in self._record.scope.unreadable:
            self._of_elements[name] = Reason("undeclared", unread_text(self._record, name), "", (name,))
        for name in result.inputs:
            value = self._types[name]
            if not is_typed(value):
                self._of_type[name] = _undeclared(name, value)
            if lacks_elements(value):
                self._of_elements[name] = _of_input(name, value, name in self._record.model.graph.defaults)
            for v in variables_of([x for x in value.data or () if isinstance(x, Expr)]):  # elements in assumptions
                if v not in self._inputs:
                    self._of_size[v] = _of_input(name, value, name in self._record.model.graph.defaults)

    def of(self, name: str) -> tuple[Reason, ...]:
        """Why the type of a value is unknown."""
        if not self._of_size and name not in self._of_type:
            return ()
        value = self._types[name]
        why = [self._of_size[v] for v in variables(value) if v in self._of_size]
        if name in self._of_type and (not is_typed(value) or varies(value)):
            why.append(self._of_type[name])
        return tuple(sorted(dict.fromkeys(why), key=lambda reason: _ORDER.index(reason.kind)))

    def follow(self, node: Node) -> None:
        """Enter the reasons for the outputs of a node."""
        self._conditions = None
        for name in node[3]:
            value = self._types.get(name) if name else None
            if value is None or value in self._plain:
                continue
            own = [v for v in variables(value) if v is not UNKNOWN_SIZE and v not in self._inputs]
            new = [v for v in own if v not in self._of_size]
            is_open, lacks = not is_typed(value) or varies(value), lacks_elements(value)
            if not (new or is_open or lacks):
                self._plain.add(value)
                continue
            note = self._notes.get(name) or (str(UNKNOWN_SIZE.origin) if varies(value) else _UNDECIDED)
            if is_open:
                self._of_type[name] = self._reason(node, note)
            for v in new:  # the origin of a data-dependent size says what decides it
                self._of_size[v] = self._reason(node, _said(v.origin) or note)
            if lacks:
                self._of_elements[name] = self._elements(node, self._of_type.get(name))

    def _elements(self, node: Node, of_type: Reason | None) -> Reason:
        """The reason why elements that a node computes are not known. `of_type`: why their type is not."""
        label, operands = label_of(node), [x for x in node[2] if x in self._types]
        behind = [reason for x in operands for reason in self.of(x) if reason.kind in _LOST]
        behind += [self._of_elements[x] for x in operands if x in self._of_elements]
        if not behind and of_type is not None and of_type.kind == "assumption":
            return of_type
        return _joined(behind) or Reason("data", f"what {title_of(node)} '{label}' computes", label, (title_of(node),))

    def _reason(self, node: Node, note: str) -> Reason:
        """The reason why a node leaves something unknown; the note is part of its text."""
        label, operator = label_of(node), title_of(node)
        if label in self._errors:
            return Reason("error", f"error at {operator} '{label}': {self._errors[label].message}", label)
        behind = [self._of_type[x] for x in node[2] if x in self._of_type and not is_typed(self._types[x])]
        if behind:
            return min(behind, key=lambda reason: _ORDER.index(reason.kind))
        if note.startswith("unsupported operator "):
            return Reason("no rule", note, label, (operator,))
        asked = self._asked(node)
        if asked is not None and asked.kind not in ("value", "data"):
            return asked
        if asked is not None:
            told = f"{operator} '{label}': {note}; {asked.text} {'decides' if len(asked.names) == 1 else 'decide'}"
            return Reason(asked.kind, told, asked.node or label, asked.names)
        if self._conditions is None and self._tried >= MOST_TRIED:
            self._conditions = ()
        if self._conditions is None:
            self._tried += 1
            from onnx_infer.results.deciding import deciding_conditions  # it asks the prover

            self._conditions = deciding_conditions(self._record, node, self._inputs)
        if self._conditions:
            told = f"{operator} '{label}': {note}; known where {' and '.join(self._conditions)}"
            return Reason("assumption", told, label, self._conditions)
        return Reason("data", f"{operator} '{label}': {note}", label, (operator,))

    def _asked(self, node: Node) -> Reason | None:
        """The reason for unknown elements that the rule of a node asks for, or None.

        A rule may ask for everything in a sequence or in an optional.
        """
        operator = self._record.scope.operators[node[1], node[0]]
        if operator is None:
            return None
        wants = operator.asked(len(node[2])).wants
        asked = [x for i, x in enumerate(node[2]) if i in wants or not isinstance(self._types.get(x), SymTensor)]
        return _joined([self._of_elements[x] for x in asked if x in self._of_elements])


def _said(origin: object) -> str:
    """What the origin of a size says of it; empty if only the node can tell."""
    if origin is None or origin == NAMELESS or isinstance(origin, Declared):
        return ""
    if isinstance(origin, ValueOf) and origin.semantics:
        return f"{origin.semantics.rpartition('.')[2]} is {origin.tensor}[{origin.index}]"
    return str(origin)


def _joined(behind: list[Reason]) -> Reason | None:
    """One reason for several elements: lost ones first, then computed ones, those of inputs, and assumptions."""
    lost = [reason for reason in behind if reason.kind in _LOST]
    if lost:
        return min(lost, key=lambda reason: _ORDER.index(reason.kind))
    kinds: tuple[Kind, ...] = ("data", "value", "assumption")
    kind = next((kind for kind in kinds if any(reason.kind == kind for reason in behind)), None)
    alike = list(dict.fromkeys(reason for reason in behind if reason.kind == kind))
    if kind is None or kind == "assumption":
        return alike[0] if alike else None
    names = tuple(dict.fromkeys(name for reason in alike for name in reason.names))
    return Reason(kind, " and ".join(reason.text for reason in alike), alike[0].node, names)


def _of_input(name: str, value: Value, has_default: bool) -> Reason:
    """What is unknown of an input in each run: the elements of a tensor or of a sequence, or whether there is one."""
    what = "the value of"
    cure = ' (known with initializers="constant", --initializers constant)' if has_default else ""
    if isinstance(value, Sequence):
        what = "the sequence in"
    elif isinstance(value, Optional) and value.full is None:
        return Reason("value", f"whether input '{name}' has an element", "", (name,))
    return Reason("value", f"{what} input '{name}'{cure}", "", (name,))


def _undeclared(name: str, value: Value) -> Reason:
    missing = "rank" if isinstance(value, SymTensor) and value.dtype is not None else "type"
    cure = "; bidirectional=True (--bidirectional) may find it" if missing == "rank" else ""
    return Reason("undeclared", f"input '{name}' declares no {missing}{cure}", "", (name,))
