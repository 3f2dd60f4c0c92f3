"""The record of one walk over the bodies of a node. It can be repeated with other sizes.

A repetition gives the results that another walk would give. It replaces the sizes that were made before the walk by
those of the new place, and gives new names to the sizes that were made in the walk.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.engine.made_sizes import made_sizes, variables_within
from onnx_infer.engine.outcome import Outcome
from onnx_infer.engine.walk import Checkpoint, Record, Walk
from onnx_infer.laws.made import make_size
from onnx_infer.laws.statements import elements_of
from onnx_infer.model.graph import Graph
from onnx_infer.model.size_texts import GENERATED
from onnx_infer.values.tensor import Dim, Value, substitute
from symdim import Expr, Var
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.evaluate import Substitution
from symdim.algebra.origin import Computed, Declared, ValueOf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.engine.scope import Scope as Values
    from onnx_infer.model.graph import Bodies, Model, Node


class Walked(NamedTuple):
    """A graph inside a node: its number among the node's graphs, its names, whether a Loop repeats it, its values."""

    number: int
    graph: Graph
    repeated: bool
    values: dict[str, Value]

    def again(self, model: Model, handle: Any) -> Graph:
        """The same graph in another model. Its nodes are read on demand."""
        name, inputs, constants, _, literals, outputs, declared, _, defaults, named = self.graph

        def nodes() -> list[Node]:
            return list(model.subgraph(handle).nodes())

        # four times as fast as `_replace`
        return Graph(name, inputs, constants, nodes, literals, outputs, declared, handle, defaults, named)


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
        self._last: tuple[list[object], _Again] | None = None

    def keep(self, seen: Record, handles: Sequence[Any]) -> None:
        """Store the values of the graphs that were walked."""
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
        """Whether no text names two sizes. Other names might change the order of the sizes in such a text."""
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
        held = [*self.outcome.values, *(x for told in self.diagnostics for _, x in told.inputs)]
        held += (value for walked in self.graphs for value in walked.values.values())
        found = dict.fromkeys(v for value in held if value is not None for v in made_sizes(value))
        found.update(dict.fromkeys(self.created))
        for statement in self.outcome.statements:
            found.update(dict.fromkeys(variables_of((statement.lhs, statement.rhs, *statement.filled))))
        computed = [v.origin.size for v in self.outcome.fresh if isinstance(v.origin, Computed)]
        formal = {v for size in computed for v in elements_of(size) if v not in found}  # elements of operands
        before = {*self.earlier, *self.outcome.fresh, *formal}
        pending = [*found, *self.outcome.fresh]
        while pending:  # also the sizes in the bounds of these
            for v in variables_within(pending.pop()):
                if v not in found:
                    found[v] = None
                    pending.append(v)
        new = [v for v in found if v not in before and (v.name in place or isinstance(v.origin, (Declared, ValueOf)))]
        return sorted(new, key=lambda v: place.get(v.name, -1))

    @cached_property
    def kept_names(self) -> list[str]:
        """The names of the sizes made in the walk that still occur in sizes or texts."""
        kept = {v.name for v in self.made}.union(*map(GENERATED.findall, self._texts()))
        return [name for name in self.names if name in kept]

    @cached_property
    def outer_first(self) -> list[Walked]:
        """The graphs, each one before its inner graphs."""
        return sorted(self.graphs, key=lambda walked: walked.number)

    @cached_property
    def changing(self) -> set[Value]:
        """The values whose sizes a repetition replaces."""
        known = {*self.earlier, *self.made}
        distinct = {value for walked in self.graphs for value in walked.values.values() if value is not None}
        return {value for value in distinct if not known.isdisjoint(made_sizes(value))}

    def repeat(self, engine: Walk, earlier: Sequence[Var], node: Node, bodies: Bodies, scope: Values) -> Outcome:
        """Repeat the record with these earlier sizes, and with new names for the sizes made in the walk."""
        again = self._again(engine, earlier)
        engine.noted += self.noted
        engine.diagnostics += again.diagnostics
        engine.notes.update(again.notes)
        engine.created += again.created
        handles = engine.model.handles(node, bodies.places)
        graphs: dict[int, tuple[Graph, Values]] = {}
        for walked in self.outer_first:
            graph, around = walked.again(engine.model, handles[walked.number]), bodies.places[walked.number][0]
            inner = (graphs[around][1] if around in graphs else scope).inside(graph.constants, walked.repeated)
            inner.update(again.values[walked.number])
            graphs[walked.number] = graph, inner
        for walked in self.graphs:
            graph, inner = graphs[walked.number]
            engine.seen.graphs[id(graph.handle)] = graph, inner
        return again.outcome

    def _again(self, engine: Walk, earlier: Sequence[Var]) -> _Again:
        """The record with other sizes. The last one is kept, because the model may be inferred again."""
        # a node of depth 0 takes as many names as its walk did, so later sizes get the same names in every inference
        names = self.kept_names if engine.depth else self.names
        new = [engine.symbols.name() for _ in names]
        given: dict[Var, Dim] = {}
        for var in self.made:
            if isinstance(var.origin, Declared):
                given[var] = engine.symbols.text(var.name)
            elif isinstance(var.origin, ValueOf) and not var.origin.semantics:
                given[var] = engine.symbols.inner_element(var.name, var.origin)
        key: list[object] = [len(new), *earlier, *new, *given.values()]
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        again = _Again(self, earlier, dict(zip(names, new, strict=True)), given)
        self._last = key, again
        return again


class _Again:
    """A recording with other sizes: `sizes` maps the earlier sizes and those made in the walk.

    `names` are the new names. `given` are the sizes of declared names, and the variables of elements.
    """

    def __init__(
        self, recording: Recording, earlier: Sequence[Var], names: Mapping[str, str], given: Mapping[Var, Dim]
    ) -> None:
        self.sizes: dict[Var, Dim] = {}
        self._texts: dict[str, str] = {}
        for old, other in zip(recording.earlier, earlier, strict=True):
            if old is not other:
                self.sizes[old], self._texts[old.name] = other, other.name
        self._texts.update(names)
        for var in recording.made:
            if var in given:
                self.sizes[var] = given[var]
                continue
            limit, origin = var.at_most, var.origin
            if isinstance(origin, Computed):
                origin = Computed(substituted(origin.size, self.sizes), self.text(origin.why))
            elif isinstance(origin, str):
                origin = self.text(origin)
            limit = substituted(limit, self.sizes) if isinstance(limit, Expr) else limit
            self.sizes[var] = make_size(self._texts[var.name], var.lo, var.hi, limit, origin)
        self._known = Substitution(self.sizes)
        self.diagnostics = [self.told(told) for told in recording.diagnostics]
        self.notes = {name: self.text(note) for name, note in recording.notes.items()}
        self.created = [new for v in recording.created if isinstance(new := self.sizes.get(v, v), Var)]
        changed = {value: self.value(value) for value in recording.changing}
        self.values = {
            walked.number: {name: changed.get(value, value) for name, value in walked.values.items()}
            for walked in recording.graphs
        }
        self.outcome = recording.outcome.substitute(self.sizes, self.text) if self.sizes else recording.outcome

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
