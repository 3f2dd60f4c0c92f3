"""Calls of functions: those of the model, and the bodies of schemas for operators without a rule.

A body is walked once per signature: the function, its attributes, and the input values (with elements of constants only
if the body asks for them). A remembered call replays its statements, with new names for its fresh sizes. The walk has
its own stack of calls, so a chain of calls may have any length.

Functions that call functions twice would double the walks at every level. So after `MOST_NESTED` walks for calls inside
functions, only the element types of operands are known to a body that was walked often, and later not even these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.engine.apply import Outcome
from onnx_infer.engine.record import Bodies, Checkpoint, Record
from onnx_infer.engine.scope import Scope
from onnx_infer.laws.statements import make_size
from onnx_infer.model.graph import Attributes, Function, Node, called_key, label_of, normal_domain, read_once, title_of
from onnx_infer.operators.known_schemas import exists, newest_known
from onnx_infer.operators.operator import operators_of
from onnx_infer.operators.registration import registry
from onnx_infer.operators.schema import NEWEST
from onnx_infer.types.join import NOTHING, kind_of, variables_in
from onnx_infer.values.tensor import Dim, Value, substitute
from symdim import Var
from symdim.algebra.dims import variables_of
from symdim.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.laws.statements import Statement

MOST_NESTED = 1 << 12
"""The number of walks for calls inside functions after which a body that was walked often knows less of operands."""

_OFTEN = 16
"""The number of walks over a body that are often."""

_MOST_BOUNDS = 16
"""The most sizes made in a call that occur only in bounds of its results' sizes."""


class Call:
    """A function being called: its body's scope, the operands that are constants of the caller, the caller's state."""

    __slots__ = ("attributes", "bodies", "checkpoint", "function", "node", "outer", "scope", "sources")

    def __init__(self, record: Record, function: Function, attributes: Attributes, node: Node) -> None:
        self.function, self.attributes, self.node = function, attributes, node
        self.outer, self.bodies = record.nesting.seen, Bodies()
        self.checkpoint: Checkpoint = record.checkpoint()
        self.sources: dict[str, tuple[Scope, str]] = {}
        self.scope: Scope

    def leave(self, record: Record) -> None:
        """Return to the caller."""
        record.calls.active.discard(self.function.key)
        record.nesting.seen = self.outer

    def finish(self, record: Record) -> Outcome:
        """The outcome of a call whose body has been walked; it is remembered."""
        function, scope = self.function, self.scope
        self.leave(record)
        self.bodies.graphs[id(function.handle)] = (function.body, scope)
        record.nesting.seen.calls.append(self.bodies)
        # an absent input is None in the body; if it is also an output, the output is unknown
        results = [(scope[name] if scope.knows(name) else None) or NOTHING for name in function.body.outputs]
        record.calls.asked.setdefault(function.key, set()).update(name for name in self.sources if name in scope.loaded)
        values = {name: None if not scope.knows(name) else scope[name] for name, _ in function.body.inputs}
        signature = _signature(record, self, values, scope.repeated)
        if signature is not None:
            created = record.sizes.created[self.checkpoint.created :]
            statements = [statement for statement, _ in record.statements.pairs[self.checkpoint.stated :]]
            record.calls.outcomes[signature] = _outcome(results, created, statements), self.bodies
        return Outcome(tuple(results))


def find_function(record: Record, node: Node, scope: Scope) -> Function | None:
    """The function that a node without a rule calls: the model's, or else the body of the operator's schema."""
    function = record.calls.of_model.get(called_key(node))
    if function is None:
        inputs = [scope[name] if name else None for name in node[2]]
        function = record.model.schema_function(node, scope.operators.version(node[1]), inputs)
        if function is None:
            return None
    key, known = function.key, record.calls.functions
    if key not in known:
        known[key] = function._replace(body=read_once(function.body))
    return known[key]


def overloads_of(record: Record, node: Node) -> str | None:
    """What is reported of a node that calls an overload of a function which has others only; None for another node."""
    domain, name, overload = called_key(node)
    others = sorted(o for d, n, o in record.calls.of_model if (d, n) == (domain, name))
    if not others:
        return None
    wanted = f"no overload {overload!r}" if overload else "no overload without a name"
    return f"the model has {wanted} of this function; its overloads are {', '.join(map(repr, others))}"


def cure_of_missing(domain: str, op_type: str, version: int, functions: Iterable[tuple[str, str, str]] = ()) -> str:
    """What a user can do about an operator without a rule at an opset version.

    `functions` are the (domain, name, overload) of the model's functions, which a node can call as it calls operators.

    >>> cure_of_missing("", "Gelu", 17)
    'it exists from opset 20, and the model imports 17: convert the model (onnx.version_converter)'
    >>> cure_of_missing("", "FusedMatMul", 17)
    'com.microsoft has an operator of this name: is the domain of the node right?'
    >>> cure_of_missing("com.microsoft", "FusedMatmul", 1)
    'do you mean FusedMatMul?'
    >>> cure_of_missing("com.acme", "Interleave", 1)
    'add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)'
    """
    domain = normal_domain(domain)
    since = _first_version(domain, op_type, version)
    if since is not None:
        imported = f"the model imports {version}: convert the model (onnx.version_converter)"
        return f"it exists from opset {since}, and {imported}"
    known = {(of, name) for of, name, _ in registry.supported()} | {(of, name) for of, name, _ in functions}
    others = sorted({d or "ai.onnx" for d, name in known if name == op_type and d != domain})
    if others:
        return f"{' and '.join(others)} has an operator of this name: is the domain of the node right?"
    if len(op_type) > 2 and (meant := nearest(op_type, (name for d, name in sorted(known) if d == domain))):
        return f"do you mean {meant}?"
    why = f"the model does not import {domain}; " if version == NEWEST else ""
    return f"{why}add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)"


def _first_version(domain: str, op_type: str, version: int) -> int | None:
    """The first opset version after this one at which the operator exists. None if onnx does not know one."""
    if exists(domain, op_type, version):
        return None
    newest = newest_known(domain) or onnx.defs.get_schema(op_type, domain=domain).since_version  # of a user's domain
    return next((v for v in range(max(version, 0) + 1, newest + 1) if exists(domain, op_type, v)), None)


# -- attributes -----------------------------------------------------------------------------------------------


def resolve(record: Record, attributes: Attributes, of_call: Attributes | None) -> Attributes:
    """The attributes of a node in a body, with references replaced by the attributes of the call.

    A reference to an attribute that the call does not give, and that has no default, is an absent attribute.
    """
    if not attributes.references:
        return attributes
    resolved = record.calls.resolved.get((attributes, of_call))
    if resolved is None:
        given = of_call.values if of_call is not None else {}
        values = dict(attributes.values)
        values.update({name: given[source] for name, source in attributes.references.items() if source in given})
        graphs = attributes.has_graphs or (of_call is not None and of_call.has_graphs)
        resolved = record.calls.resolved[attributes, of_call] = _interned(record, values, graphs)
    return resolved


def lost_reference(attributes: Attributes, of_call: Attributes | None) -> str | None:
    """Why an attribute that refers to one of a call has no value: no function is around the node. None if all have."""
    if of_call is not None or not attributes.references:
        return None
    name, source = next(iter(attributes.references.items()))
    return (
        f"attribute {name} refers to attribute {source!r} of a function, but the node is in none, so nothing gives it: "
        "write the value in its place"
    )


def _interned(record: Record, values: dict[str, Any], has_graphs: bool) -> Attributes:
    """The same object for equal attributes, so it can be a key of results."""
    attributes = Attributes(values, None, has_graphs)
    if has_graphs:
        return attributes
    try:
        return record.calls.equal.setdefault(tuple((k, type(v), v) for k, v in sorted(values.items())), attributes)
    except TypeError:
        return attributes


# -- calls ----------------------------------------------------------------------------------------------------


def enter(record: Record, function: Function, node: Node, scope: Scope, attributes: Attributes) -> Call | Outcome:
    """The outcome of a call if it is known already, otherwise the call, whose body must be walked."""
    with_defaults = attributes
    if function.attributes or attributes.has_graphs:
        with_defaults = _interned(record, {**function.attributes, **attributes.values}, attributes.has_graphs)
    call = Call(record, function, with_defaults, node)
    tables, formals, actuals = record.calls, [name for name, _ in function.body.inputs], node[2]
    wrong = _misuse(record, call, len(formals)) or lost_reference(node[4], scope.attributes)
    if wrong is not None:
        _report(record, node, wrong)
        return Outcome((NOTHING,) * len(node[3]))
    if function.key in tables.of_model and len(node[3]) < len(function.body.outputs):
        _report(record, node, _wrong_outputs(call))  # the results are clear; onnxruntime demands empty names
    values: dict[str, Any] = dict.fromkeys(formals)  # None for an absent input
    for formal, actual in zip(formals, actuals, strict=False):
        if actual:
            values[formal] = scope[actual]
            holder = scope.holder(actual)
            if holder is not None:
                call.sources[formal] = (holder, actual)
    signature = _signature(record, call, values, scope.repeated)
    walks = tables.walks[function.key]
    if tables.active and walks >= _OFTEN and tables.nested >= MOST_NESTED and signature not in tables.outcomes:
        coarse = kind_of if walks < MOST_NESTED else lambda _: NOTHING
        values, call.sources = {name: value and coarse(value) for name, value in values.items()}, {}
        signature = _signature(record, call, values, scope.repeated)
    if signature in tables.outcomes:
        outcome, bodies = tables.outcomes[signature]
        record.nesting.seen.calls.append(bodies)
        known: Outcome = outcome
        return known
    tables.nested += bool(tables.active)
    tables.walks[function.key] += 1
    constants = dict(function.body.constants)
    constants.update({formal: holder.constants[name] for formal, (holder, name) in call.sources.items()})
    call.scope = Scope(record.model, constants, operators_of(function.opsets), None, with_defaults)
    call.scope.update((k, v) for k, v in values.items() if k not in call.sources)
    call.scope.repeated = scope.repeated
    tables.active.add(function.key)
    record.nesting.seen = call.bodies
    return call


def _misuse(record: Record, call: Call, formals: int) -> str | None:
    """What is wrong with a call that cannot be made, or None."""
    name, inputs = call.function.name, len(call.node[2])
    if call.function.key in record.calls.active:
        return f"function {name} calls itself"
    if inputs > formals:
        return f"{inputs} inputs where function {name} has {formals}"
    return _wrong_outputs(call) if len(call.node[3]) > len(call.function.body.outputs) else None


def _wrong_outputs(call: Call) -> str:
    return f"{len(call.node[3])} outputs where function {call.function.name} has {len(call.function.body.outputs)}"


def _report(record: Record, node: Node, message: str) -> None:
    record.diagnostics.append(Diagnostic("error", title_of(node), label_of(node), message))


def _signature(record: Record, call: Call, values: dict[str, Any], repeated: bool) -> tuple[Any, ...] | None:
    """The signature of a call; None for a call that passes graphs, because these see the caller's values."""
    if call.attributes.has_graphs:
        return None
    for formal in record.calls.asked.get(call.function.key, ()):
        if formal in call.sources:
            holder, name = call.sources[formal]
            values[formal] = holder.load(name)
    # statements are kept for bodies that always run; declared sizes do not hold in repeated bodies
    where = (record.nesting.depth == 0, repeated)
    return (*call.function.key, call.attributes, where, *values.values())


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
