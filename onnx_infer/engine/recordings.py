"""Recordings of nodes with subgraphs: the record of a walk over their bodies is repeated without a walk.

The bodies, the inputs and the values that the bodies capture determine the results of such a node. Of a fresh size in
these values only the bounds and the origin matter: with another such size the results are the same, after the
substitution. So a key has placeholders for the sizes that were made before the walk; a recording calls them `earlier`.
Sizes that were made in the walk get new names in a repetition.

Nodes of the main graph and of functions are remembered by the bytes of their bodies, for all models. Nodes in bodies
are remembered while the outer node is walked, because a Loop in a Loop has the same inputs in most of these walks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import proxy

from onnx_infer.engine.made_sizes import MadeSizes
from onnx_infer.engine.outcome import Outcome, apply
from onnx_infer.engine.recording import Recording
from onnx_infer.engine.scope import UndefinedInput
from onnx_infer.engine.topological_sort import captured
from onnx_infer.engine.walk import Record
from onnx_infer.model.graph import Attributes
from onnx_infer.operators.registration import registry
from onnx_infer.values.propagated import MAX_DATA, may_be_read
from onnx_infer.values.tensor import SymTensor
from symdim import Expr
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from onnx_infer.engine.scope import Scope as Values
    from onnx_infer.engine.walk import Walk
    from onnx_infer.model.graph import Bodies, Node
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Value

_recordings = shared_cache(1 << 10)  # everything that determines the results of a node -> Recording
_large = shared_cache(1 << 5)  # the same for large bodies
_captured = shared_cache(1 << 10)  # bytes of the bodies -> the names that they capture


class Recordings:
    """The nodes with subgraphs of one inference.

    `settings` are the options on which a walk depends. If it is None, more decides a walk, and nothing is remembered.
    """

    def __init__(self, engine: Walk, settings: tuple[object, ...] | None) -> None:
        self._engine: Walk = proxy(engine)  # as in `DeclaredTypes`
        self._inside: dict[Any, Recording] = {}
        self._captured: dict[Any, tuple[str, ...]] = {}  # as `_captured`, of bodies that do not last
        self._calling: set[Any] = set()  # bodies that call functions, whose record is not repeatable
        self._settings = None if settings is None else (*settings, registry.generation)

    def apply(
        self, operator: Operator, node: Node, attributes: Attributes, values: tuple[Value | None, ...], scope: Values
    ) -> Outcome:
        """The outcome of a node with subgraphs. The engine records everything else that the walk finds."""
        engine = self._engine
        bodies = None if self._settings is None else engine.model.bodies(node)
        if bodies is not None and not (bodies.is_lasting or engine.depth):
            bodies = None
        earlier = MadeSizes()
        is_calling = bodies is None or bodies.wire in self._calling
        key = None if bodies is None or is_calling else self._key(operator, node, values, scope, bodies, earlier)
        if bodies is None or key is None:
            return self._walked(operator, node, attributes, values, scope)
        remembered = self._inside if engine.depth else _large if bodies.is_large else _recordings
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
        if seen.calls:
            self._calling.add(bodies.wire)
        elif engine.singular == singular and len(engine.claims) == start.claims:
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
        known = _captured if bodies.is_lasting else self._captured
        names = known.get(bodies.wire)
        if names is None:
            names = known[bodies.wire] = tuple(captured(self._engine.view, node))
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
    try:
        value = scope[name]
    except UndefinedInput:
        return None
    if value is not None and value.data is None and may_be_read(value):
        holder = scope.holder(name)
        return value if holder is None else holder.load(name)
    return value
