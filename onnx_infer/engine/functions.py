"""Calls of functions: those of the model, and the bodies of schemas for operators without a rule.

A body is walked once per signature: the function, its attributes, and the input values (with elements of constants only
if the body asks for them). A remembered call replays its statements, with new names for its fresh sizes. The engine has
its own stack of calls, so a chain of calls may have any length.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import proxy

from onnx_infer.engine.general_calls import MANY, MOST_NESTED, GeneralCall, Placeholders
from onnx_infer.engine.outcome import Outcome
from onnx_infer.engine.scope import Scope
from onnx_infer.engine.walk import Checkpoint, Record, Walk
from onnx_infer.laws.made import make_size
from onnx_infer.model.graph import Attributes, Function, Node, read_once
from onnx_infer.operators.lookup import operators_of
from onnx_infer.operators.registration import normal_domain
from onnx_infer.types.join import NOTHING, variables_in
from onnx_infer.values.tensor import Dim, Value, substitute
from onnx_infer.values.text import text
from symdim import Var
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.laws.statements import Statement

_MOST_BOUNDS = 16
"""The most sizes made in a call that occur only in bounds of its results' sizes."""


class Call:
    """A function being called: its body's scope, and the state of the caller."""

    __slots__ = (
        "attributes",
        "checkpoint",
        "function",
        "general",
        "node",
        "noted",
        "outer",
        "record",
        "repeated",
        "scope",
        "sources"
    )  # fmt: skip

    def __init__(
        self,
        function: Function,
        attributes: Attributes,
        node: Node,
        outer: Record,
        checkpoint: Checkpoint,
        repeated: bool,
    ) -> None:
        self.function, self.attributes, self.node = function, attributes, node
        self.outer, self.checkpoint, self.repeated = outer, checkpoint, repeated
        self.scope: Scope
        self.sources: dict[str, tuple[Scope, str]] = {}
        self.record = Record()
        self.general: GeneralCall | None = None
        self.noted = 0


class Remembered(NamedTuple):
    """The outcome of a call and what it recorded."""

    outcome: Outcome
    record: Record


class Functions:
    """The functions of one model and the outcomes of their calls."""

    def __init__(self, engine: Walk) -> None:
        self._engine: Walk = proxy(engine)  # as in `DeclaredTypes`
        self._functions = {(normal_domain(d), n, o): f for (d, n, o), f in engine.model.functions.items()}
        self._bodies: dict[tuple[str, str, str], Function] = {}
        self._asked: dict[tuple[str, str, str], set[str]] = {}
        self._remembered: dict[tuple[Any, ...] | None, Remembered] = {}
        self._active: set[tuple[str, str, str]] = set()
        self._resolved: dict[tuple[Attributes, Attributes | None], Attributes] = {}
        self._equal: dict[Any, Attributes] = {}
        self._first: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._signatures: Counter[tuple[str, str, str]] = Counter()
        self._not_general: set[tuple[Any, ...] | None] = set()
        self._nested = 0  # the number of walks for calls inside functions
        self._coarse: Counter[tuple[str, str, str]] = Counter()
        self.placeholders = Placeholders()

    def find(self, node: Node, scope: Scope) -> Function | None:
        """The function that a node without a rule calls: the model's, or else the body of the operator's schema."""
        function = self._functions.get((normal_domain(node[1]), node[0], text(getattr(node[5], "overload", ""))))
        if function is None:
            inputs = [scope[name] if name else None for name in node[2]]
            function = self._engine.model.schema_function(node, scope.operators.version(node[1]), inputs)
            if function is None:
                return None
        key = (function.domain, function.name, function.overload)
        if key not in self._bodies:
            self._bodies[key] = function._replace(body=read_once(function.body))
        return self._bodies[key]

    @property
    def names(self) -> list[tuple[str, str]]:
        """The domain and name of each function of the model."""
        return [(domain, name) for domain, name, _ in self._functions]

    # -- attributes -----------------------------------------------------------------------------------------------

    def resolve(self, attributes: Attributes, of_call: Attributes | None) -> Attributes:
        """The attributes of a node in a body, with references replaced by the attributes of the call.

        A reference to an attribute that the call does not give, and that has no default, is an absent attribute.
        """
        if not attributes.references:
            return attributes
        found = self._resolved.get((attributes, of_call))
        if found is None:
            given = of_call.values if of_call is not None else {}
            values = dict(attributes.values)
            values.update({name: given[source] for name, source in attributes.references.items() if source in given})
            graphs = attributes.has_graphs or (of_call is not None and of_call.has_graphs)
            found = self._resolved[attributes, of_call] = self._interned(values, graphs)
        return found

    def _interned(self, values: dict[str, Any], has_graphs: bool) -> Attributes:
        """The same object for equal attributes, so it can be a key of results."""
        attributes = Attributes(values, None, has_graphs)
        if has_graphs:
            return attributes
        try:
            return self._equal.setdefault(tuple((k, type(v), v) for k, v in sorted(values.items())), attributes)
        except TypeError:
            return attributes

    def _of_call(self, node: Node, function: Function, scope: Scope) -> Attributes:
        given = self.resolve(node[4], scope.attributes)
        if not function.attributes and not given.has_graphs:
            return given
        values = {**function.attributes, **given.values}
        if given.has_graphs:
            values = {name: self._engine.bind_graphs(value, scope) for name, value in values.items()}
        return self._interned(values, given.has_graphs)

    # -- calls ----------------------------------------------------------------------------------------------------

    def enter(self, function: Function, node: Node, scope: Scope) -> Call | Outcome:
        """The outcome of a call if it is known already, otherwise the call, whose body must be walked."""
        engine = self._engine
        key = (function.domain, function.name, function.overload)
        formals = [name for name, _ in function.body.inputs]
        actuals = node[2]
        if key in self._active:
            return engine.failed(node, f"function {function.name} calls itself")
        if len(actuals) > len(formals):
            return engine.failed(node, f"{len(actuals)} inputs where function {function.name} has {len(formals)}")
        if len(node[3]) > len(function.body.outputs):
            return engine.failed(
                node, f"{len(node[3])} outputs where function {function.name} has {len(function.body.outputs)}"
            )
        if key in self._functions and len(node[3]) < len(function.body.outputs):
            # the results are clear; onnxruntime demands empty names for the missing outputs
            engine.failed(
                node, f"{len(node[3])} outputs where function {function.name} has {len(function.body.outputs)}"
            )
        attributes = self._of_call(node, function, scope)
        call = Call(function, attributes, node, engine.seen, engine.checkpoint(), scope.repeated)
        values: dict[str, Any] = dict.fromkeys(formals)
        for formal, actual in zip(formals, actuals, strict=False):
            if actual:
                values[formal] = scope[actual]
                holder = scope.holder(actual)
                if holder is not None:
                    call.sources[formal] = (holder, actual)
        signature = self._signature(call, values)
        if signature in self._remembered:
            return self._replayed(signature)
        self._signatures[key] += 1
        self._first.setdefault(key, dict(values))
        if signature is not None and self._signatures[key] > MANY:
            known = self._as_general(call, key, values)
            if known is not None:
                return known
            if call.general is not None:
                values = call.general.values
        self._nested += bool(self._active)
        self._open(call, values)
        return call

    def _as_general(self, call: Call, key: tuple[str, str, str], values: dict[str, Any]) -> Outcome | None:
        """Make the call a general one if possible; return its outcome if it is known already."""
        general = self.placeholders.general(values, self._first[key], call.sources)
        signature = None if general is None else self._signature(call, general.values)
        if self._nested > MOST_NESTED and self._active and signature not in self._remembered:
            general, call.sources = self.placeholders.coarse(values, self._coarse[key] // MANY), {}
            signature = ("coarse", *(self._signature(call, general.values) or ()))
        if general is None:
            return None
        if signature in self._remembered:
            return self._replayed(signature).substitute(general.sizes)
        if signature not in self._not_general:
            call.general, call.noted = general, self._engine.noted
            self._coarse[key] += general.coarse
        return None

    def _replayed(self, signature: tuple[Any, ...] | None) -> Outcome:
        remembered = self._remembered[signature]
        self._engine.seen.calls.append(remembered.record)
        return remembered.outcome

    def _open(self, call: Call, values: Mapping[str, Any]) -> None:
        """Prepare the walk over the body of a function for these operands."""
        engine, function = self._engine, call.function
        constants = dict(function.body.constants)
        constants.update({formal: holder.constants[name] for formal, (holder, name) in call.sources.items()})
        call.scope = Scope(engine.model, constants, operators_of(function.opsets), None, call.attributes)
        call.scope.update((k, v) for k, v in values.items() if k not in call.sources)
        call.scope.repeated = call.repeated
        self._active.add((function.domain, function.name, function.overload))
        engine.seen = call.record

    def _signature(self, call: Call, values: dict[str, Any]) -> tuple[Any, ...] | None:
        """The signature of a call; None for a call that passes graphs, because these see the caller's values."""
        function = call.function
        if call.attributes.has_graphs:
            return None
        asked = self._asked.get((function.domain, function.name, function.overload), ())
        for formal in asked:
            if formal in call.sources:
                holder, name = call.sources[formal]
                values[formal] = holder.load(name)
        # statements are kept for bodies that always run; declared sizes do not hold in repeated bodies
        where = (self._engine.depth == 0, call.repeated)
        return (function.domain, function.name, function.overload, call.attributes, where, *values.values())

    def leave(self, call: Call) -> None:
        """Return to the caller."""
        function = call.function
        self._active.discard((function.domain, function.name, function.overload))
        self._engine.seen = call.outer

    def finish(self, call: Call) -> Outcome | None:
        """The outcome of a call whose body has been walked; it is remembered.

        None if the call was a general one and the walk found something that does not hold in general. Then the body
        must be walked again with the actual values.
        """
        engine, function, scope, general = self._engine, call.function, call.scope, call.general
        self.leave(call)
        call.record.graphs[id(function.handle)] = (function.body, scope)
        # an absent input is None in the body; if it is also an output, the output is unknown
        results = [(scope[name] if scope.knows(name) else None) or NOTHING for name in function.body.outputs]
        asked = self._asked.setdefault((function.domain, function.name, function.overload), set())
        asked.update(name for name in call.sources if name in scope.loaded)
        values = {name: None if not scope.knows(name) else scope[name] for name, _ in function.body.inputs}
        signature = self._signature(call, values)
        created = engine.created[call.checkpoint.created :]
        told = engine.diagnostics[call.checkpoint.diagnostics :]
        if general is not None and not general.coarse and (created or told or engine.noted != call.noted):
            self._not_general.add(signature)
            self._again(call)
            return None
        outcome = _outcome(results, created, engine.statements[call.checkpoint.statements :])
        if general is not None and general.coarse:
            signature = ("coarse", *(signature or ()))
            engine.rewind(call.checkpoint)  # only the records of instances count
            engine.diagnostics += told
        engine.seen.calls.append(call.record)
        if signature is not None:
            self._remembered[signature] = Remembered(outcome, call.record)
        if general is None:
            return Outcome(tuple(results))
        return outcome.substitute(general.sizes)

    def _again(self, call: Call) -> None:
        """Prepare another walk of the call, no longer as a general one."""
        engine, general = self._engine, call.general
        assert general is not None
        engine.rewind(call.checkpoint)
        engine.noted = call.noted
        call.general, call.record = None, Record()
        self._open(call, dict(zip(general.values, general.instance(general.values.values()), strict=True)))


def _outcome(results: list[Value], created: list[Var], statements: list[Statement]) -> Outcome:
    """The outcome of a call: its results, and the fresh sizes in them or in the bounds of these.

    In a long chain of sizes that bound each other the bounds are dropped.
    """
    made = set(created)
    direct = made.intersection(v for value in results for v in variables_in(value)) if made else made
    wanted: set[Var] = set()
    pending = list(direct)
    while pending:
        var = pending.pop()
        if var in made and var not in wanted:
            wanted.add(var)
            pending += variables_of([var.at_most])
    if len(wanted) > len(direct) + _MOST_BOUNDS:
        free: dict[Var, Dim] = {v: make_size(v.name, v.lo, v.hi, None, v.origin) for v in direct}
        results = [substitute(value, free) for value in results]
        statements = [statement.substitute(free) for statement in statements]
        created = [v for v in (free.get(v) for v in created) if isinstance(v, Var)]
        made |= wanted
        wanted = set(created)
    inside = made - wanted
    kept = tuple(f for f in statements if inside.isdisjoint(variables_of([f.lhs, f.rhs])))
    fresh = tuple(v for v in created if v in wanted)
    return Outcome(tuple(results), not (kept or fresh), None, kept, fresh)
