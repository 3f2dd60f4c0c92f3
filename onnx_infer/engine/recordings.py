"""Recordings of nodes with subgraphs: the record of a walk over their bodies is repeated without a walk.

The bodies, the inputs and the values that the bodies capture determine the results of such a node. For a fresh size in
these values only its bounds and its origin matter: with a different fresh size in its place the results are the same
after the substitution. So a key has placeholders for the sizes made before the walk, the `earlier` sizes of a
recording. Sizes made in the walk get new names when it is repeated.

Nodes of the main graph and of functions are remembered by the bytes of their bodies, for all models. Nodes in bodies
are remembered while the outer node is walked, because a Loop in a Loop has the same inputs in most of these walks.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.engine.made_sizes import MadeSizes, made_sizes, variables_within
from onnx_infer.engine.outcome import Outcome, apply
from onnx_infer.engine.topological_sort import captured
from onnx_infer.engine.walk import Record
from onnx_infer.laws.made import make_size
from onnx_infer.model.graph import Attributes
from onnx_infer.model.symbols import GENERATED
from onnx_infer.operators.registration import registry
from onnx_infer.values.tensor import MAX_DATA, SymTensor, may_be_read, substitute
from symdim import Expr, Scope, Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.evaluate import Substitution
from symdim.algebra.origin import Computed, Declared, ValueOf
from symdim.algebra.variable import make_variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.engine.scope import Scope as Values
    from onnx_infer.engine.walk import Checkpoint, Walk
    from onnx_infer.model.graph import Bodies, Graph, Model, Node
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Dim, Value

_recordings = shared_cache(1 << 10)  # everything that determines the results of a node -> Recording
_captured = shared_cache(1 << 10)  # bytes of the bodies -> the names that they capture


class Recordings:
    """The nodes with subgraphs of one inference.

    `settings` are the options on which a walk depends. If it is None, more decides a walk, and nothing is remembered.
    """

    def __init__(self, engine: Walk, settings: tuple[object, ...] | None) -> None:
        self._engine = engine
        self._inside: dict[Any, Recording] = {}
        self._settings = None if settings is None else (*settings, registry.generation)

    def apply(
        self, operator: Operator, node: Node, attributes: Attributes, values: tuple[Value | None, ...], scope: Values
    ) -> Outcome:
        """The outcome of a node with subgraphs; everything else that belongs to it is recorded."""
        engine = self._engine
        bodies = None if self._settings is None else engine.model.bodies(node)
        earlier = MadeSizes()
        key = None if bodies is None else self._key(operator, node, values, scope, bodies, earlier)
        if bodies is None or key is None:
            return self._walked(operator, node, attributes, values, scope)
        remembered = self._inside if engine.depth else _recordings
        found: Recording | None = remembered.get(key)
        if found is not None:
            return found.repeat(engine, list(earlier.of), node, bodies, scope)
        start, first, notes, seen = engine.checkpoint(), engine.symbols.count, engine.notes, engine.seen
        singular, noted = engine.singular, engine.noted
        engine.notes, engine.seen = {}, Record()
        try:
            outcome = self._walked(operator, node, attributes, values, scope)
        finally:
            engine.notes, notes = notes, engine.notes
            engine.seen, seen = seen, engine.seen
            engine.notes.update(notes)
            engine.seen.graphs.update(seen.graphs)
            engine.seen.calls += seen.calls
        if engine.singular == singular and len(engine.claims) == start.claims:
            made = Recording(engine, outcome, list(earlier.of), start, first)
            made.notes, made.noted = notes, engine.noted - noted
            if made.is_repeatable():
                made.keep(seen, engine.model.handles(node, bodies.places))
                remembered[key] = made
        return outcome

    def _walked(
        self, operator: Operator, node: Node, attributes: Attributes, values: tuple[Value | None, ...], scope: Values
    ) -> Outcome:
        engine = self._engine
        if not engine.depth:
            self._inside = {}
        bound = {name: engine.bind_graphs(value, scope) for name, value in attributes.values.items()}
        return apply(operator, Attributes(bound, has_graphs=True), values, len(node[3]))

    def _key(
        self,
        operator: Operator,
        node: Node,
        values: tuple[Value | None, ...],
        scope: Values,
        bodies: Bodies,
        earlier: MadeSizes,
    ) -> tuple[Any, ...] | None:
        """Everything that determines the results and the record of a node; None if it cannot be remembered."""
        if scope.attributes is not None and scope.attributes.has_graphs:
            return None
        symbols, depth = self._engine.symbols, self._engine.depth
        declared = [
            None if not depth and symbols.is_new(text) else symbols.read_declared(text) for text in bodies.texts
        ]
        names = _captured.get(bodies.wire)
        if names is None:
            names = _captured[bodies.wire] = tuple(captured(self._engine.view, node))
        around = [_captured_value(scope, name) for name in names]
        if any(v is not None and v.data is not None and len(v.data) > MAX_DATA for v in (*values, *around)):
            return None
        if any(isinstance(size, Expr) for size in declared):
            around.append(SymTensor(None, [0 if size is None else size for size in declared]))
        try:
            patterns = [v and earlier.pattern(v) for v in (*values, *around)]
        except TypeError:  # an origin that cannot be compared
            return None
        place = depth, self._engine.certain, scope.repeated, scope.attributes, scope.operators.imports
        new = tuple([size is None for size in declared])
        return (operator, bodies.wire, len(node[3]), self._settings, place, new, len(values), *patterns)


def _captured_value(scope: Values, name: str) -> Value | None:
    """A value that a body captures (a constant with its elements); None if no node gives it."""
    if not scope.knows(name):
        return None
    value = scope[name]
    if value is not None and value.data is None and may_be_read(value):
        holder = scope.holder(name)
        return value if holder is None else holder.load(name)
    return value


class Walked(NamedTuple):
    """A graph inside a node: its number among these, its names, whether it is repeated, and the values in it."""

    number: int
    graph: Graph
    repeated: bool
    values: dict[str, Value]

    def again(self, model: Model, handle: Any) -> Graph:
        """The same graph in another model. Its nodes are read on demand."""
        return self.graph._replace(handle=handle, nodes=lambda: list(model.subgraph(handle).nodes()))


class Recording:
    """The results and the record of one walk over the bodies of a node.

    `earlier` are the sizes in it that were made before the walk. `names` are the names given in the walk.
    """

    def __init__(self, engine: Walk, outcome: Outcome, earlier: list[Var], start: Checkpoint, first: int) -> None:
        self.outcome, self.earlier = outcome, earlier
        self.names = engine.symbols.names_since(first)
        self.diagnostics = engine.diagnostics[start.diagnostics :]
        self.created = engine.created[start.created :]
        self.notes: dict[str, str] = {}
        self.noted = 0
        self.graphs: list[Walked] = []

    def keep(self, seen: Record, handles: Sequence[Any]) -> None:
        """Keep the values of the graphs that were walked."""
        numbers = {id(handle): i for i, handle in enumerate(handles)}
        for key, (graph, scope) in seen.graphs.items():
            scope.touch(graph.literals)
            values = dict(scope)
            scope.touch([name for name in graph.constants if name not in scope])
            values.update((name, scope[name]) for name in graph.constants)
            names = graph._replace(
                inputs=[(name, None) for name, _ in graph.inputs],
                constants=dict.fromkeys(graph.constants),
                nodes=tuple,
                declared={},
                handle=None,
                defaults={},
            )
            self.graphs.append(Walked(numbers[key], names, scope.repeated, values))

    def is_repeatable(self) -> bool:
        """Whether no text in it names two sizes: with other names their order in the text might change."""
        return all(len(set(GENERATED.findall(text))) < 2 for text in self._texts())

    def _texts(self) -> Iterator[str]:
        yield from self.notes.values()
        yield from (told.message for told in self.diagnostics)
        yield from (statement.law for statement in self.outcome.statements)
        yield from (text for text in (self.outcome.note, *(self.outcome.error or ())) if text is not None)
        yield from (v.origin for v in (*self.created, *self.outcome.fresh) if isinstance(v.origin, str))

    @cached_property
    def made(self) -> list[Var]:
        """The sizes made in the walk that occur in its record, in the order of their names, declared ones first."""
        place = {name: i for i, name in enumerate(self.names)}
        before = {*self.earlier, *self.outcome.fresh}
        held = [*self.outcome.values, *(x for told in self.diagnostics for _, x in told.inputs)]
        held += (value for walked in self.graphs for value in walked.values.values())
        found = dict.fromkeys(v for value in held if value is not None for v in made_sizes(value))
        found.update(dict.fromkeys(self.created))
        for statement in self.outcome.statements:
            found.update(dict.fromkeys(variables_of((statement.lhs, statement.rhs, *statement.filled))))
        pending = [*found, *self.outcome.fresh]
        while pending:  # sizes in the bounds of these
            for v in variables_within(pending.pop()):
                if v not in found:
                    found[v] = None
                    pending.append(v)
        new = [v for v in found if v not in before and (v.name in place or isinstance(v.origin, (Declared, ValueOf)))]
        return sorted(new, key=lambda v: place.get(v.name, -1))

    @cached_property
    def kept_names(self) -> list[str]:
        """The names of the sizes made in the walk that are still there, in sizes or texts."""
        kept = {v.name for v in self.made}.union(*map(GENERATED.findall, self._texts()))
        return [name for name in self.names if name in kept]

    @cached_property
    def outer_first(self) -> list[Walked]:
        """The graphs, each one before its inner graphs."""
        return sorted(self.graphs, key=lambda walked: walked.number)

    @cached_property
    def changing(self) -> tuple[set[Value], list[list[str]]]:
        """The values that have other sizes when it is repeated, and for each graph the names of such values."""
        known = {*self.earlier, *self.made}
        distinct = {value for walked in self.graphs for value in walked.values.values() if value is not None}
        values = {value for value in distinct if not known.isdisjoint(made_sizes(value))}
        return values, [[name for name, x in walked.values.items() if x in values] for walked in self.graphs]

    def repeat(self, engine: Walk, earlier: Sequence[Var], node: Node, bodies: Bodies, scope: Values) -> Outcome:
        """Repeat the whole record, with these earlier sizes and new names for the sizes made in the walk."""
        again = _Again(self, engine, earlier)
        engine.noted += self.noted
        engine.diagnostics += map(again.told, self.diagnostics)
        engine.notes.update((name, again.text(note)) for name, note in self.notes.items())
        engine.created += [new for v in self.created if isinstance(new := again.sizes.get(v, v), Var)]
        handles = engine.model.handles(node, bodies.places)
        graphs: dict[int, tuple[Graph, Values]] = {}
        for walked in self.outer_first:
            graph, around = walked.again(engine.model, handles[walked.number]), bodies.places[walked.number][0]
            inner = (graphs[around][1] if around in graphs else scope).inside(graph.constants, walked.repeated)
            inner.update(walked.values)
            graphs[walked.number] = graph, inner
        distinct, changing = self.changing
        changed = {value: again.value(value) for value in distinct}
        for walked, names in zip(self.graphs, changing, strict=True):
            graph, inner = graphs[walked.number]
            inner.update({name: changed[walked.values[name]] for name in names})
            engine.seen.graphs[id(graph.handle)] = graph, inner
        return again.outcome()


class _Again:
    """A recording with other sizes: `sizes` maps the earlier sizes and those made in the walk."""

    def __init__(self, recording: Recording, engine: Walk, earlier: Sequence[Var]) -> None:
        self._recording = recording
        self.sizes: dict[Var, Dim] = {}
        self._texts: dict[str, str] = {}
        for old, new in zip(recording.earlier, earlier, strict=True):
            if old is not new:
                self.sizes[old], self._texts[old.name] = new, new.name
        # a node of depth 0 gives away the same names as in the walk, so that later inferences write the same names
        names = recording.kept_names if engine.depth else recording.names
        self._texts.update((old, engine.symbols.name()) for old in names)
        for var in recording.made:
            if isinstance(var.origin, Declared):
                self.sizes[var] = engine.symbols.text(var.name)
                continue
            if isinstance(var.origin, ValueOf) and not var.origin.semantics:
                self.sizes[var] = make_variable(Scope(), var.name, None, None, origin=var.origin)
                continue
            limit, origin = var.at_most, var.origin
            if isinstance(origin, Computed):
                origin = Computed(substituted(origin.size, self.sizes), self.text(origin.why))
            elif isinstance(origin, str):
                origin = self.text(origin)
            limit = substituted(limit, self.sizes) if isinstance(limit, Expr) else limit
            self.sizes[var] = make_size(self._texts[var.name], var.lo, var.hi, limit, origin)
        self._known = Substitution(self.sizes)

    def text(self, text: str) -> str:
        """A text with the new names."""
        return GENERATED.sub(lambda found: self._texts.get(found[0], found[0]), text) if self._texts else text

    def value(self, value: Value) -> Value:
        """A value with the new sizes."""
        return substitute(value, self._known) if self.sizes else value

    def told(self, told: Diagnostic) -> Diagnostic:
        """A diagnostic with the new sizes."""
        inputs = tuple([(name, value and self.value(value)) for name, value in told.inputs])
        return told._replace(message=self.text(told.message), inputs=inputs)

    def outcome(self) -> Outcome:
        """The outcome of the node."""
        outcome = self._recording.outcome
        return outcome.substitute(self.sizes, self.text) if self.sizes else outcome
