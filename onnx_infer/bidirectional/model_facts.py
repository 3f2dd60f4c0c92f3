"""The constraints of a whole model: the forms of its nodes, the statements of inference, the declared types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.constraints.registration import Operand, bound_form
from onnx_infer.diagnostics import Diagnostic, WrongShape
from onnx_infer.engine.declared import has_own_name, is_claimable, is_of_forced_rank, trusts
from onnx_infer.laws.readable import NOT_CHOSEN
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.model.graph import label_of
from onnx_infer.operators.element_types import check_inputs, wrong_number
from onnx_infer.values.containers import OneOf
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from symdim import Expr, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.written import leaf_count
from symdim.rows import Row
from symdim.store import Contradiction, Origin, Store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from onnx_infer.engine.assumptions import Assumptions
    from onnx_infer.engine.record import Record

_DECLARED = "the declared type of '"
_MOST_CONTRADICTIONS = 8
_MOST_STATED = 1 << 12  # nodes that are stated anew: each contradiction costs as much as the whole model
_NAMES_OF_A_NODE = 8  # a node with longer sizes counts as several: work on a size grows with the square of its names


class Known(NamedTuple):
    """A store with the constraints of a model, the row of every tensor, and what is told of nodes that were left out.

    `gave_up`: they contradict each other so often that none is used.
    """

    store: Store
    rows: dict[str, Row]
    diagnostics: list[Diagnostic]
    gave_up: bool = False


def state_model(record: Record, given: Collection[str], assumptions: Assumptions, trusts_declared: bool) -> Known:
    """State the constraints of the main graph of an inferred model, and propagate them.

    `given` are the names of symbols that stay; all others are replaced by what they equal. If constraints contradict
    each other, a declared type or else the node of the nearest one is left out, and everything starts again. A node of
    which the walk told that its demands contradict others is left out from the start.
    """
    told: list[Diagnostic] = []
    left_out = {error.node for error in record.statements.contradictions}
    count = sum(_weight(record, node[3]) for node in record.model.graph.nodes())
    most = min(_MOST_CONTRADICTIONS, max(1, _MOST_STATED // max(1, count)))
    while True:
        statement = _ModelStatement(record, given, left_out)
        try:
            assumptions.state(statement.store)
            if trusts_declared:
                statement.declared()
            statement.nodes()
            statement.facts()
            statement.ranks_of_shapes()
        except Contradiction as error:
            told += statement.defects
            nodes = [f.origin.node for f in error.chain if f.origin.node and f.origin.node not in left_out]
            node = next((label for label in nodes if label.startswith(_DECLARED)), nodes[0] if nodes else "")
            told.append(_told(node, str(error)))
            if not node or len(told) > most:
                return Known(Store(), {}, told, gave_up=True)
            left_out.add(node)
            continue
        return Known(statement.store, statement.rows, told + statement.defects)


def _told(node: str, message: str) -> Diagnostic:
    """What is told of constraints that contradict each other. A declared type is rather wrong than a node."""
    if not node.startswith(_DECLARED):
        return Diagnostic("error", "", node, message)
    name = node.removeprefix(_DECLARED)[:-1]
    return WrongShape("warning", "", name, f"value '{name}': its declared shape contradicts the model: {message}")


def _weight(record: Record, outputs: Iterable[str]) -> int:
    """How much work it is to state a node: 1 unless it has long sizes."""
    values = (record.scope[name] for name in outputs if record.scope.knows(name))
    dims = (d for value in values if isinstance(value, SymTensor) for d in value.shape or () if isinstance(d, Expr))
    return 1 + (max(map(leaf_count, dims), default=0) // _NAMES_OF_A_NODE) ** 2


def _is_not_chosen(made: Iterable[Row | None]) -> bool:
    """Whether a result broadcasts after the many choices of a model: a chain of them would join all its symbols."""
    dims = (d for row in made if row is not None for d in row.dims)
    return any(isinstance(d, Var) and d.origin == NOT_CHOSEN for d in dims)


class _ModelStatement:
    def __init__(self, record: Record, given: Collection[str], left_out: set[str]) -> None:
        self.record, self.given, self.left_out, self._without = record, given, left_out, frozenset(left_out)
        self.defects: list[Diagnostic] = []
        self.store = Store()
        self.rows: dict[str, Row] = {}
        self._seen: set[Var] = set()
        self._lengths: list[tuple[Row, Row, Origin]] = []
        self._not_chosen: set[str] = set()  # nodes that broadcast after many choices; nothing is stated of them
        self._joined: set[tuple[str, Dim, Dim]] = set()  # a node, and sizes that its form broadcasts to each other

    def row(self, name: str) -> Row | None:
        """The row of a value; None if it is not a tensor."""
        row = self.rows.get(name)
        if row is None:
            value = self.record.scope[name]
            if not isinstance(value, SymTensor):
                return None
            if value.shape is None:
                row = Row.unknown(name)
            else:
                self.enter(value.shape)
                self.enter(value.data or ())
                row = Row(trail=value.shape)
            self.rows[name] = row
        return row

    def enter(self, dims: Iterable[Any]) -> None:
        """Allow the store to replace the variables in these sizes, unless they are given."""
        for dim in dims:
            for v in variables_of([dim]):
                if v not in self._seen:
                    self._seen.add(v)
                    if v.name not in self.given:
                        self.store.generated(v)

    def is_known(self, row: Row | None) -> bool:
        """Whether nothing more can be learned about a row."""
        if row is None or row.is_open:
            return row is None
        return all(map(self.is_given, row.dims))

    # -- constraints --------------------------------------------------------------------------------------------------

    def declared(self) -> None:
        """Values have their declared types, except for claims: some sizes, and ranks that select a tensor."""
        wrong = {told.node for told in self.record.diagnostics if isinstance(told, WrongShape)}
        for name, value in self.record.model.graph.declared.items():
            label = f"{_DECLARED}{name}'"
            if name in wrong:
                continue
            if isinstance(value, SymTensor) and value.shape is not None and label not in self.left_out:
                row = self.row(name) if self.record.scope.knows(name) else None
                is_choice = row is not None and row.is_open and isinstance(self.record.scope[name], OneOf)
                if row is not None and not is_choice:
                    known = row.dims if not row.is_open and row.rank == len(value.shape) else value.shape
                    pairs = zip(value.shape, known, strict=True)
                    shape = [UNKNOWN_SIZE if self.is_claim(name, d, k) else d for d, k in pairs]
                    self.enter(d for d in shape if d is not UNKNOWN_SIZE)
                    dims = tuple(self.store.fresh() if d is UNKNOWN_SIZE else d for d in shape)
                    self.store.eq_row(row, Row(trail=dims), origin=Origin(label))

    def is_claim(self, name: str, declared: Dim, known: Dim) -> bool:
        """Whether a declared size is a claim: inference knows it as data-dependent, or over symbols that stay.

        For such symbols a name that no input has is a claim, too. As a fact it would make all sizes of this name equal.
        """
        if known is declared or (trusts(self.record, name) and not has_own_name(declared)):
            return False
        if isinstance(declared, int):
            return is_claimable(known)
        if is_fresh(known):
            return True
        return self.is_given(known) and (self.is_given(declared) or has_own_name(declared))

    def is_given(self, size: Dim) -> bool:
        """Whether a size is a number or an expression of symbols that stay."""
        return isinstance(size, int) or all(v.name in self.given for v in size.variables())

    def facts(self) -> None:
        """The statements of inference rules, except those that a run does not demand or that a form has stated.

        Which of two tensors a forced rank selects is a fact, too: the rows of the store have this rank. That the length
        of a vector is a forced rank stays an assumption, so that no input gets this length.
        """
        resolve = self.record.sizes.fresh.resolve
        for statement, node in self.record.statements.pairs:
            label = label_of(node)
            is_selected = is_of_forced_rank(statement) and statement.relation != "equal"
            if label in self._without or not (statement.kind == "required" or is_selected):
                continue
            lhs, rhs, origin = resolve(statement.lhs), resolve(statement.rhs), Origin(label, text=statement.law)
            if statement.relation == "broadcast" and ((label, lhs, rhs) in self._joined or label in self._not_chosen):
                continue
            self.enter((lhs, rhs))
            if statement.relation == "equal":
                self.store.eq(lhs, rhs, origin=origin)
            elif statement.relation == "at_least":
                self.store.bounds(lhs - rhs, 0, origin=origin)
            elif statement.relation == "at_most":
                self.store.bounds(rhs - lhs, 0, origin=origin)
            elif statement.relation == "broadcast":
                self.store.bcast(
                    Row(trail=(self.store.fresh(),)), [Row(trail=(lhs,)), Row(trail=(rhs,))], origin=origin
                )
            elif statement.relation == "divides":
                self.store.divisible(rhs, lhs, origin=origin)
            elif statement.relation == "broadcast_to":
                self.store.refine(rhs, lhs, origin=origin)

    def nodes(self) -> None:
        """The forms of the nodes that have unknown sizes."""
        scope, graph = self.record.scope, self.record.model.graph
        for node in graph.nodes():
            op_type, domain, inputs, outputs, attributes, _ = node
            operator = scope.operators[domain, op_type]
            label = label_of(node)
            if operator is None or label in self.left_out or attributes.has_graphs:
                continue
            form = bound_form(domain, op_type, scope.operators.version(domain), operator.schema)
            if form is None or not outputs or wrong_number(operator.schema, len(outputs)):
                continue  # forward inference reports a wrong number
            rows = [self.row(name) if name and scope.knows(name) else None for name in (*inputs, *outputs)]
            if all(map(self.is_known, rows)):
                continue
            if _is_not_chosen(rows[len(inputs) :]):
                self._not_chosen.add(label)
                continue
            operands = [
                None if row is None else Operand(name, row, self.reader(name))
                for name, row in zip((*inputs, *outputs), rows, strict=True)
            ]
            given, made = operands[: len(inputs)], operands[len(inputs) :]
            try:
                check_inputs(operator.schema, tuple([name or None for name in inputs]))
                operator.bind(attributes)
                stated = form.state(self.store, label, given, made, attributes.values)
            except ValueError:
                continue  # forward inference reports it
            except MemoryError:
                raise
            except Exception as error:  # a defect of a form: it is reported, and everything else is inferred
                message = f"constraint form: {type(error).__name__}: {error}"
                self.defects.append(Diagnostic("defect", operator.schema.title, label, message))
                self.left_out.add(label)
            else:
                self._joined.update((label, *pair) for pair in (stated.joined_sizes() if stated else ()))
            if op_type == "Shape" and given and not attributes.values:
                data, shape = given[0], made[0]
                if data and shape and data.row.is_open:
                    self._lengths.append((data.row, shape.row, Origin(label, data.name)))

    def reader(self, name: str) -> Any:
        """A function that returns a value with its elements."""

        def value() -> Value:
            scope = self.record.scope
            holder = scope.holder(name)
            known = scope[name] if holder is None else holder.load(name)
            self.enter(known.data or ())
            return known

        return value

    def ranks_of_shapes(self) -> None:
        """The rank of a tensor is the number of elements of its shape. For Shape nodes whose elements are used."""
        lengths = [(row, self.store.row(shape), origin) for row, shape, origin in self._lengths]
        intervals = [
            (row, self.store.interval(shape.dims[0]), origin) for row, shape, origin in lengths if shape.rank == 1
        ]
        for row, (least, most), origin in intervals:
            self.store.rank(row, least or 0, most, origin=origin)
        self.store.propagate()


def equal_to(store: Store, variables: Iterable[Var]) -> Mapping[Expr, Var]:
    """Size -> the first of the variables that are known to equal it."""
    first: dict[Expr, Var] = {}
    for v in variables:
        value = store.value(v)
        if isinstance(value, Expr):
            first.setdefault(value, v)
    return first
