"""The result of an inference."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from onnx_infer.errors import OnnxInferError
from onnx_infer.results.inferred import Inferred, checked_sizes
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onnx_infer.model.contract import Contract
    from onnx_infer.results.data_laws import DataLaw
    from onnx_infer.results.guards import Violation
    from onnx_infer.results.reasons import Reason
    from onnx_infer.tools.arena.largest import LargestSize
    from onnx_infer.tools.arena.making import Owner
    from onnx_infer.tools.arena.plan import ArenaPlan
    from onnx_infer.tools.comparison.comparison import Comparison, Paths
    from onnx_infer.tools.emission.code import FileKind
    from onnx_infer.tools.planning.costs import Costs, Layer
    from onnx_infer.tools.planning.fits import Fits
    from onnx_infer.tools.planning.memory import MemoryPlan
    from onnx_infer.tools.planning.planner import Planner
    from onnx_infer.tools.planning.traffic import Traffic
    from onnx_infer.values.tensor import Shape
    from symdim import Guarantee, Var

Model = TypeVar("Model")


class InferenceResult(Inferred):
    """The result of one inference. Nothing is written to the model until `apply`.

    `types`, `shapes`, `values`, `notes`, `diagnostics` and `guards` are those of `Inferred`.
    """

    @property
    def reasons(self) -> dict[str, tuple[Reason, ...]]:
        """Value name -> the reasons why its type is not a function of the input sizes, the most helpful first.

        Each has a kind, a text, the node where it begins, and the names of the conditions, inputs or operators that
        decide it; see `reasons.py`.
        """
        from onnx_infer.results.reasons import reasons

        return reasons(self)

    @property
    def data_laws(self) -> list[DataLaw]:
        """The laws that elements of inputs decide: a run may be refused although every guard holds.

        Each names the inputs and the nodes; see `data_laws.py`.
        """
        from onnx_infer.results.data_laws import data_laws

        return data_laws(self)

    @property
    def guarantees(self) -> dict[str, tuple[Guarantee, ...]]:
        """The guarantee of each size of each shape. The function in `guarantees.py` takes available tensors too."""
        from onnx_infer.results.guarantees import guarantees

        return guarantees(self)

    @property
    def upper_bounds(self) -> dict[str, Shape]:
        """The shapes with upper bounds in place of sizes, for values whose sizes all have one."""
        from onnx_infer.results.guarantees import upper_bounds

        return upper_bounds(self)

    def check(self, bindings: Mapping[str | Var, int] | None = None, /, **sizes: int) -> list[Violation]:
        """The guards that fail at these sizes of the symbols. If one is "required", the model does not run.

        If only guards of other kinds fail, the model may run, but with other sizes than inferred or declared.
        `result.sources.bindings(shapes)` gives the sizes of the symbols for shapes of the inputs. Guards about elements
        and data-dependent sizes are checked if these are given. Raises UnboundName for symbols of input sizes without
        a size and for functions of unknown values, BoundsError for sizes outside their bounds, and UnknownSymbol for
        names of `sizes` that the model does not have. The mapping may have other names.
        """
        from onnx_infer.results.guards import violations

        known = self._nameable
        chosen = {key: size for key, size in (bindings or {}).items() if getattr(key, "name", key) in known}
        given = checked_sizes({**chosen, **sizes}, self.sources.symbols, known)
        guards = (*self.guards, *self.data_guards)
        return violations([g for g in guards if all(v in given or v.name in given for v in g.variables())], given)

    def planner(
        self,
        args: Sequence[str | Var] | None = None,
        *,
        values: Iterable[str] | None = None,
        upper: bool = False,
    ) -> Planner:
        """A compiled function from sizes of symbols to the shapes and byte sizes of all values, or of the given ones.

        `args`: the symbols, by default all symbols of the inputs. With `upper`, data-dependent sizes are replaced by
        their upper bounds. Raises UnboundName for symbols that do not occur, and for others that the given `values`
        need.
        """
        from onnx_infer.tools.planning.planner import planner

        return planner(self, args, values, upper)

    def memory(self, *, inputs: bool = False, initializers: bool = False, upper: bool = False) -> MemoryPlan:
        """The bytes of the values over the schedule and their peak, optionally with inputs and initializers."""
        from onnx_infer.tools.planning.memory import MemoryPlan

        return MemoryPlan(self, inputs=inputs, initializers=initializers, upper=upper)

    def arena(
        self,
        *,
        align: int = 64,
        inputs: Owner = "caller",
        outputs: Owner = "arena",
        views: bool | Collection[str] = True,
        in_place: bool | Collection[str] = True,
        order: Literal["file", "least"] | Sequence[int] = "file",
        upper: bool = True,
        at: Sequence[Mapping[str, int]] | None = None,
        effort: int = 300,
    ) -> ArenaPlan:
        """One block of memory for the values of the model: an offset for each value, valid for all sizes.

        `align`: each storage begins at a multiple of so many bytes. `inputs`, `outputs`: whether those of the model lie
        in the "arena" or belong to the "caller". `views`: results that have the bytes of an operand (Reshape, Slice of
        the first axis, ...) share its storage; `in_place`: elementwise results may take the storage of an operand that
        ends there; each is True, False or the names of the operators that may. `order`: that of the "file", "least" for
        one that needs less memory, or the numbers of the nodes. `upper`: data-dependent sizes count with
        their upper bounds. `at`: sizes at which the layout is to be good, by default many. `effort`: how many moves are
        tried to improve the layout; what it finds does not depend on the machine.

        The bodies of If, Loop and Scan are one block each at their node. See docs/planning.md.
        """
        from onnx_infer.tools.arena.making import Options, arena_plan

        return arena_plan(self, Options(align, inputs, outputs, views, in_place, order, upper, at, effort))

    def costs(self) -> Costs:
        """The parameters and multiply-adds of every node."""
        from onnx_infer.tools.planning.costs import costs

        return costs(self)

    def traffic(self) -> Traffic:
        """The bytes that every node reads and writes, and multiply-adds per byte."""
        from onnx_infer.tools.planning.traffic import traffic

        return traffic(self)

    def layers(self) -> list[Layer]:
        """The costs and the memory of computed values by layer, as the names of the nodes tell the layers."""
        from onnx_infer.tools.planning.costs import layers

        return layers(self, self.costs(), self.memory())

    def largest_size(
        self, max_memory: int, symbol: str | None = None, sizes: Mapping[str, int] | None = None
    ) -> LargestSize:
        """The largest size of a symbol at which the model runs within `max_memory` bytes.

        `sizes` are those of the other symbols; the symbol may be left out if it is the only one without a size. Inputs,
        constants and all live values count. Raises UnboundName for other symbols without a size.
        """
        from onnx_infer.tools.arena.largest import largest_size

        return largest_size(self, max_memory, symbol, sizes)

    def fits(self, max_memory: int, bounds: Mapping[str, tuple[int, int | None]] | None = None) -> Fits:
        """Whether the model runs within `max_memory` bytes at all sizes within bounds.

        The verdict is "proved", "exceeded" with sizes that need more, or "unknown" with a reason. `bounds` narrow those
        of the symbols: name -> the least and the largest size (None: no largest). Memory counts as in `largest_size`.
        Raises UnknownSymbol for names of no symbol, and BoundsError if no size is left.
        """
        from onnx_infer.tools.planning.fits import fits

        return fits(self, max_memory, bounds)

    def compare(self, other: InferenceResult, paths: Paths = (None, None)) -> Comparison:
        """What differs in another result, such as that of another export; `paths` are for external data of the two."""
        from onnx_infer.tools.comparison.comparison import compare

        return compare(self, other, paths)

    def table(self, limit: int | None = 40, width: int | None = None) -> str:
        """The values with their types, the reasons for unknown ones, guards and errors, as `onnx-infer` prints them.

        At most `limit` lines of each kind (None: all), of at most `width` characters (None: any width).
        """
        from onnx_infer.tools.report.table import table

        return table(self, limit, width)

    def explain(self, name: str) -> str:
        """Where the type of a value comes from: its node and operands, and the causes of unknown parts.

        Raises KeyError for a name that the main graph does not have.
        """
        from onnx_infer.tools.report.explanation import explain

        return explain(self, name, None)

    def emit(
        self,
        kind: FileKind,
        *,
        name: str = "model",
        arena: ArenaPlan | Mapping[str, Any] | bool = False,
        names: bool = True,
    ) -> str:
        """The source of one function from the symbols to all sizes and guards: a file "c", its header "h", or "js".

        With `arena`, a plan or the options of `arena()` (True: the defaults), a second function gives bytes and offsets
        of values in one block. In C all names begin with `name`; without `names` no text of the model is in the tables.
        """
        from onnx_infer.tools.emission.code import source

        return source(self, kind, name, arena, names)

    def html(self, title: str = "model", sizes: Mapping[str, int] | None = None) -> str:
        """One page for a browser, without network: all values, with fields for the symbols (docs/first_hour.md).

        It opens at these `sizes` of symbols, by name; the others get usual ones. Raises UnknownSymbol for other names.
        """
        from onnx_infer.tools.page.page import html

        return html(self, title, sizes or {})

    def __repr__(self) -> str:
        from onnx_infer.tools.report.table import summary

        return f"InferenceResult({summary(self)})"

    def _repr_html_(self) -> str:
        from onnx_infer.tools.report.table import html

        return html(self)

    def __reduce__(self) -> tuple[object, ...]:
        """A pickle has the results but not the model, which `memory`, `costs`, `apply` and `materialize` need."""
        graph, schedule = self._graph, self._index.nodes
        nodes = [(*node[:4], Part(has_graphs=False), Part(name=text(node[5].name or ""))) for node in schedule]
        kept = {"reasons": self.reasons, "data_laws": self.data_laws}
        state = {"types": dict(self.types), "notes": self.notes, "found_inputs": self.found_inputs, "_kept": kept}
        state |= {name: getattr(self, name) for name in ("diagnostics", "_guards", "_nameable")}
        state["_graph"] = Part(inputs=graph.inputs, outputs=list(graph.outputs), literals=list(graph.literals))
        return restored, (state, nodes)

    def apply(self, model: Model, *, contract: bool = False) -> Model:
        """Write the types into the value infos and outputs of the inferred model, or of a copy of it; return it.

        With `contract`, bounds, guards and upper bounds are written, too, into the metadata of the graph
        (docs/contract.md). A contract that the model has is always renewed.
        """
        in_file = self._run.in_file
        is_gone = in_file.contract is not None and bool(self._run.given.bound)  # it speaks of symbols that are bound
        entry = self.contract.text() if contract or in_file.is_own or is_gone else None
        self._write(model, entry)
        return model

    def _write(self, model: Any, contract: str | None) -> None:
        from onnx_infer.protobuf.writing import write_contract, write_model

        write_model(model, self._run.record, self.found_inputs)
        if contract is not None:
            write_contract(model.graph, contract)

    @cached_property
    def contract(self) -> Contract:
        """What holds of the sizes beyond their shapes: bounds, guards, upper bounds. `apply` writes it."""
        from onnx_infer.results.contract import contract_of

        return contract_of(self)


# -- in a pickle -------------------------------------------------------------------------------------------------------


class Part:
    """A part of a model with some attributes. Access to another attribute raises an error that names the cure."""

    def __init__(self, **kept: Any) -> None:
        vars(self).update(kept)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise OnnxInferError("this result was read from a pickle, which holds no model: infer the model anew for this")


def restored(state: Mapping[str, Any], nodes: Sequence[Any]) -> InferenceResult:
    """The result from a pickle: what was inferred, and the nodes in the order of the schedule, without attributes."""
    result = InferenceResult.__new__(InferenceResult)
    index = Part(nodes=nodes, producer={name: node for node in nodes for name in node[3]}.get)
    vars(result).update(state, _run=Part(), _record=Part(), _index=index)
    return result
