"""The result of a walk as data: the part of an `InferenceResult` from which plans and reports are made.

`checked_sizes` checks the sizes of symbols that a caller gives, in one way for every call.
"""

from __future__ import annotations

from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from onnx_infer.engine.substitution import take_own_sizes
from onnx_infer.errors import UnknownSymbol
from onnx_infer.types.join import variables_in
from onnx_infer.values.tensor import UNKNOWN_SIZE, Shape, SymTensor, Value
from symdim import UnboundName, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import checked_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.engine.graph_index import GraphIndex
    from onnx_infer.engine.record import Record
    from onnx_infer.inference import Run
    from onnx_infer.model.graph import Graph
    from onnx_infer.results.derived_guards import Judged
    from onnx_infer.results.guards import Guard
    from onnx_infer.results.sources import Sources
    from symdim import Expr

Answer = TypeVar("Answer")
Key = TypeVar("Key", str, Var, "str | Var")


class Inferred:
    """The types of one inference.

    `types`: value name -> its type, main graph only. `notes`: value name -> why something in it is unknown.
    `found_inputs`: the shapes of inputs that say more than the model; this includes new names of axes without a name.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.found_inputs = dict(run.inputs)
        self.notes: dict[str, str] = run.record.notes
        self._kept: dict[str, Any] = {}  # the answers of functions that are decorated by `once`

    @cached_property
    def _record(self) -> Record:
        """The record of the last pass, with sizes that only this result has. Writing a model does not need these."""
        take_own_sizes(self._run.record)
        return self._run.record

    @cached_property
    def _graph(self) -> Graph:
        return self._record.model.graph

    def _message(self) -> Any:
        """The ModelProto that was inferred."""
        return self._run.record.model.handle

    @cached_property
    def _index(self) -> GraphIndex:
        """The index of the main graph: its nodes in order, what they run, and the types there."""
        from onnx_infer.engine.graph_index import GraphIndex  # few callers ask for it

        return GraphIndex.of(self._record)

    @cached_property
    def types(self) -> Mapping[str, Value]:
        """Every value of the main graph that a node reads or gives, by name."""
        scope = self._record.scope
        scope.touch(self._graph.literals)
        return scope

    @property
    def inputs(self) -> list[str]:
        """The inputs of the main graph, without initializers."""
        return [name for name, _ in self._graph.inputs]

    @property
    def outputs(self) -> list[str]:
        """The outputs of the main graph."""
        return list(self._graph.outputs)

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the tensors of known rank."""
        return {n: v.shape for n, v in self.types.items() if isinstance(v, SymTensor) and v.shape is not None}

    @property
    def values(self) -> dict[str, tuple[object, ...]]:
        """The elements of the tensors whose data are known, in row-major order."""
        return {n: v.data for n, v in self.types.items() if isinstance(v, SymTensor) and v.data is not None}

    @property
    def symbols(self) -> dict[str, Expr]:
        """The symbols that occur in the shapes, by name."""
        return {v.name: v for v in variables_of(d for shape in self.shapes.values() for d in shape)}

    @cached_property
    def _input_symbols(self) -> tuple[Var, ...]:
        """The symbols in the sizes of the inputs, in order, also of the tensors in sequences and optionals."""
        from onnx_infer.results.exactness import variables  # few callers ask for it

        symbols = dict.fromkeys(v for name in self.inputs for v in variables(self.types[name]))
        symbols.pop(UNKNOWN_SIZE, None)  # of a sequence whose elements differ in a size
        return tuple(symbols)

    @cached_property
    def _nameable(self) -> dict[str, Var]:
        """All that may have a size in a call: symbols of the model, data-dependent sizes, elements of inputs."""
        variables = [v for value in dict.fromkeys(self.types.values()) for v in variables_in(value)]
        variables += [v for guard in (*self.guards, *self.data_guards) for v in guard.variables()]
        variables += self._input_symbols
        return {**self._record.symbols.known(), **{v.name: v for v in variables}}

    @cached_property
    def sources(self) -> Sources:
        """Where the symbols of the input sizes can be read: the axes of the inputs."""
        from onnx_infer.results.sources import Sources  # few callers ask for guards

        return Sources({name: self.types[name] for name in self.inputs})

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Errors and warnings about malformed, contradictory or unsupported parts."""
        if not self._run.in_file.guards:
            return self._run.record.diagnostics
        return [*self._run.record.diagnostics, *self._judged.findings]

    @cached_property
    def _judged(self) -> Judged:
        """The guards, and those of the contract in the file."""
        from onnx_infer.results.derived_guards import guards_of, judged  # few callers ask for guards

        return judged(self._run, guards_of(self._record))

    @cached_property
    def _guards(self) -> tuple[list[Guard], list[Guard]]:
        from onnx_infer.results.sources import element_of

        inputs, symbols = frozenset(self.inputs), frozenset(self._input_symbols)
        parted: tuple[list[Guard], list[Guard]] = ([], [])
        for guard in (*self._judged.own, *self._judged.stated):
            known = all(v in symbols or element_of(v, inputs) for v in guard.variables())
            parted[not known].append(guard)
        return parted

    @property
    def guards(self) -> list[Guard]:
        """Conditions on the sizes and elements of inputs, each with its nodes, in order.

        The kind "required" is needed for the model to run, the kind "assumed" for it to have the inferred sizes.
        """
        return self._guards[0]

    @property
    def data_guards(self) -> list[Guard]:
        """Conditions on data-dependent sizes."""
        return self._guards[1]


def once(find: Callable[[Inferred], Answer]) -> Callable[[Inferred], Answer]:
    """The function, whose answer for a result is computed once. A result from a pickle has it, but no model."""

    @wraps(find)
    def answer(result: Inferred) -> Answer:
        if find.__name__ not in result._kept:
            result._kept[find.__name__] = find(result)
        known: Answer = result._kept[find.__name__]
        return known

    return answer


def checked_sizes(
    given: Mapping[Key, int], needed: Iterable[Var], others: Mapping[str, Var] | None = None, option: str = "sizes"
) -> dict[Key, int]:
    """The given sizes, by symbol or name. All `needed` symbols must have one; `others` by name may have one.

    Raises UnboundName for needed symbols without a size, UnknownSymbol for names that are neither, BoundsError for
    sizes outside the bounds of their symbols, and TypeError for what is no int.

    >>> N, H = Var("N"), Var("H")
    >>> checked_sizes({N: 2, "H": 3}, [N, H])
    {N: 2, 'H': 3}
    >>> checked_sizes({"N": 2, "h": 3}, [N], {"H": H})
    Traceback (most recent call last):
    ...
    onnx_infer.errors.UnknownSymbol: sizes: the model has no symbol 'h'; its symbols are 'H', 'N'; do you mean 'H'?
    """
    needed = tuple(needed)
    known = {**(others or {}), **{v.name: v for v in needed}}
    names = [key.name if isinstance(key, Var) else key for key in given]
    if unknown := [name for name in names if name not in known]:
        raise UnknownSymbol(option, unknown, known)
    if missing := sorted(v.name for v in needed if v not in given and v.name not in given):
        raise UnboundName(tuple(missing))
    for key, name in zip(given, names, strict=True):
        checked_size(key if isinstance(key, Var) else known[name], given[key])
    return dict(given)
