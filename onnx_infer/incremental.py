"""Inference while a model is being made: `Incremental` takes inputs, initializers and nodes one by one.

The walk of an inference stops between two nodes. So the record at any time is that of the first walk over the model so
far, and `finish` goes on from there as `infer` does: it walks once more only where later nodes teach earlier ones.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, TypedDict

import onnx

from onnx_infer.engine.scope import captured
from onnx_infer.engine.walk import end, run_graph
from onnx_infer.errors import ArgumentError, ShapeInferenceError
from onnx_infer.inference import Request, run, with_options
from onnx_infer.model.graph import label_of
from onnx_infer.protobuf.growing import GrowingModel, renamed
from onnx_infer.protobuf.nodes import Literal, read_node
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.result import InferenceResult
from onnx_infer.values.tensor import SymTensor, Value
from onnx_infer.values.text import text
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.engine.record import Record
    from onnx_infer.inference import Broadcast, Initializers
    from onnx_infer.model.graph import Node
    from onnx_infer.results.guards import Guard
    from onnx_infer.types.merge import ShapeMergePolicy


class StepOptions(TypedDict, total=False):
    """The options of `onnx_infer.infer` that may be given before the model is known."""

    policy: ShapeMergePolicy
    bounds: Mapping[str, tuple[int, int | None]] | None
    min_dim: int
    adopt_declared_symbols: bool
    initializers: Initializers
    broadcast: Broadcast


class Checkpoint(NamedTuple):
    """A state of an `Incremental` to come back to with `rollback`. It can be used again, until a rollback to before."""

    of: Incremental
    number: int
    model: GrowingModel
    lengths: tuple[int, ...]


class Incremental:
    """The inference of a model that grows.

    Give the inputs, the declared types and the functions before the first node. One that comes later is right, too,
    but then the nodes so far are visited again. A name is given once, and before it is read.

    Args:
        opsets: domain -> version.
        ir_version: That of the model.
        functions: The model's own functions.
        metadata: The metadata of the main graph, such as a contract (docs/contract.md).
        options: `bounds`, `policy`, `min_dim`, `initializers`, `broadcast` and `adopt_declared_symbols` of `infer`.

    >>> building = Incremental({"": 20})
    >>> building.input("x", onnx.helper.make_tensor_type_proto(1, ["N", 3]))
    >>> building.node("Transpose", ["x"], ["t"], {"perm": [1, 0]})
    [f32[3, N]]
    >>> building.node("MatMul", ["t", "x"], ["y"]), building.node("MatMul", ["x", "x"], ["z"])
    ([f32[3, 3]], [f32[N, 3]])
    >>> print(*building.finish().guards)
    N == 3
    """

    @with_options(StepOptions)
    def __init__(
        self,
        opsets: Mapping[str, int],
        *,
        ir_version: int = onnx.IR_VERSION,
        functions: Iterable[onnx.FunctionProto] = (),
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[StepOptions],
    ) -> None:
        self._options = options
        self._model = GrowingModel(ir_version, opsets, metadata or {})
        self._model.functions += functions
        self._nodes: list[Node | Literal] = []  # those of the model, as they were read
        self._record: Record | None = None  # that of the first walk over the model so far; None if it starts anew
        self._checkpoints: list[int] = []  # the numbers of those that lie before the state now
        self._count = 0

    @classmethod
    def replay(cls, model: onnx.ModelProto, **options: Unpack[StepOptions]) -> Incremental:
        """All parts of a model, handed over one by one. Its nodes must be in order."""
        opsets = {text(o.domain): o.version for o in model.opset_import}
        metadata = {text(entry.key): text(entry.value) for entry in model.graph.metadata_props}
        made = cls(opsets, ir_version=model.ir_version, functions=model.functions, metadata=metadata, **options)
        graph = model.graph
        for info in graph.input:
            made.input(info)
        for info in graph.output:
            made.output(info)
        for info in graph.value_info:
            made.declare(info)
        for tensor in (*graph.initializer, *graph.sparse_initializer):
            made.initializer(tensor)
        for node in graph.node:
            made.node(node)
        return made

    # -- parts of the model -------------------------------------------------------------------------------------------

    def input(self, name: str | onnx.ValueInfoProto, type: onnx.TypeProto | None = None) -> None:
        """Add an input with its type. Raises ArgumentError if an input or a node gives this name."""
        info, model = _info(name, type), self._model
        name = text(info.name)
        if name in model.inputs or not model.values.get(name, True):
            raise ArgumentError(f"input '{name}': there is a value of this name")
        model.inputs[name] = True
        model.graph.input.append(info)
        self._record = None

    def output(self, name: str | onnx.ValueInfoProto, type: onnx.TypeProto | None = None) -> None:
        """Add an output, with the type that the model declares for it, if any. A node may give it later."""
        self._model.graph.output.append(_info(name, type))
        self._record = None

    def declare(self, name: str | onnx.ValueInfoProto, type: onnx.TypeProto | None = None) -> None:
        """Add the declared type of a value that a node gives."""
        self._model.graph.value_info.append(_info(name, type))
        self._record = None

    def function(self, function: onnx.FunctionProto) -> None:
        """Add a function of the model."""
        self._model.functions.append(function)
        self._record = None

    def initializer(self, tensor: onnx.TensorProto | onnx.SparseTensorProto) -> None:
        """Add a constant. The message is kept and not copied; its elements are read only where they decide a size.

        Raises ArgumentError if there is a value of this name that is not an input.
        """
        is_sparse = isinstance(tensor, onnx.SparseTensorProto)
        name, model = text(tensor.values.name if is_sparse else tensor.name), self._model
        if name in model.values:
            raise ArgumentError(f"initializer '{name}': there is a value of this name")
        model.values[name] = True
        if name in model.inputs:
            self._record = None  # the input has this value unless the caller gives one
        if self._record is not None:
            self._record.scope.constants[name] = tensor
        (model.graph.sparse_initializer if is_sparse else model.graph.initializer).append(tensor)

    def node(
        self,
        op_type: str | onnx.NodeProto,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
        domain: str = "",
        name: str = "",
    ) -> list[Value]:
        """Add a node, and infer the types of its outputs. Nothing is known of an output without a name.

        An attribute is a plain value, a TensorProto, or a GraphProto. A NodeProto may be given in place of all; it is
        kept and must not change. What is wrong with the node is told in `diagnostics`, and `check` raises it.

        Raises ArgumentError if the node reads a name that is not given yet, or gives one that is; nothing is added.
        """
        if isinstance(op_type, str):
            proto = onnx.helper.make_node(op_type, inputs, outputs, name or None, domain=domain, **(attributes or {}))
        else:
            proto = op_type
        record, node = self._record or self._walked(), read_node(proto)
        scope = record.scope
        if isinstance(node, Literal):
            self._check_given(node, (node.name,), ())
            scope.constants[node.name] = node.handle
            record.model.graph.literals.append(node.name)
        else:
            self._check_given(node, node[3], [*node[2], *captured(record.view, node)])
            graph = record.model.graph._replace(inputs=[], outputs=[], nodes=lambda: (node,))
            run_graph(record, graph, scope)
        self._model.graph.node.append(proto)
        self._nodes.append(node)
        if isinstance(node, Literal):
            self._model.values[node.name] = False
            return [record.model.header(node.handle)]
        self._model.values.update([(name, False) for name in node[3] if name])
        return [scope[name] if name else SymTensor(None) for name in node[3]]

    def rename(self, names: Mapping[str, str]) -> None:
        """Give values other names, wherever they are read. The nodes are visited again at the next call.

        Raises ArgumentError if a name is unknown, or would be given twice.
        """
        known = {**self._model.inputs, **self._model.values}
        for old, new in names.items():
            if old not in known:
                raise ArgumentError(f"rename: there is no value '{old}'")
            if new in known:
                raise ArgumentError(f"rename: there is a value '{new}' already")
            known[new] = True
        self._model = renamed(self._model, dict(names))
        self._nodes = [read_node(node) for node in self._model.graph.node]
        self._record = None

    # -- back to an earlier state -------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """The state now, for `rollback`."""
        self._count += 1
        self._checkpoints.append(self._count)
        return Checkpoint(self, self._count, self._model, self._model.lengths())

    def rollback(self, checkpoint: Checkpoint) -> None:
        """Forget all that came after the checkpoint. All later answers are those of a model that never had it.

        The nodes before it are visited again at the next call.

        Raises ArgumentError for a checkpoint of another inference, or one that an earlier rollback has forgotten.
        """
        if checkpoint.of is not self:
            raise ArgumentError("rollback: the checkpoint belongs to another inference")
        place = bisect_left(self._checkpoints, checkpoint.number)
        if self._checkpoints[place : place + 1] != [checkpoint.number]:
            raise ArgumentError("rollback: the checkpoint lies after an earlier rollback, which has forgotten it")
        del self._checkpoints[place + 1 :]
        if checkpoint.model is not self._model:
            self._model = checkpoint.model.copy()
            self._nodes = [read_node(node) for node in self._model.graph.node]
        self._model.cut(checkpoint.lengths)
        del self._nodes[len(self._model.graph.node) :]
        self._record = None

    # -- what is known ------------------------------------------------------------------------------------------------

    def type(self, name: str) -> Value:
        """The type of a value as far as the nodes so far tell it. Raises KeyError for a name that is not given."""
        scope = self._walked().scope
        return scope[name] if name in scope else scope.model.header(scope.constants[name])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the nodes so far."""
        return tuple(self._walked().diagnostics)

    def check(self) -> None:
        """Raise `ShapeInferenceError` for the first error so far."""
        for told in self._walked().diagnostics:
            if told.severity != "warning":
                raise ShapeInferenceError(str(told))

    @property
    def guards(self) -> list[Guard]:
        """The guards of the model so far. This takes as long as `finish`, and the nodes are visited again after it."""
        return self.finish().guards

    def finish(self) -> InferenceResult:
        """The result of the model so far, equal to that of `infer`. More may be added after it."""
        record, model = self._walked(), self._model
        front = ModelProtoFrontEnd(model, self._nodes)  # a growing model has the fields that it reads
        run_graph(record, record.model.graph._replace(nodes=lambda: ()), record.scope)  # this misses outputs
        end(record)
        self._model, self._nodes, self._record = model.copy(), list(self._nodes), None  # the result keeps the others
        first = None if record.statements.undecided else record  # the first walk of a whole model may end early
        return InferenceResult(run(Request(front, **self._options), first))

    def _check_given(self, node: Node | Literal, gives: Sequence[str], reads: Iterable[str]) -> None:
        """Raise ArgumentError unless a node reads names that have a value and gives names that have none."""
        inputs, values = self._model.inputs, self._model.values
        label = node.name if isinstance(node, Literal) else label_of(node)
        for name in reads:
            if name and name not in values and name not in inputs:
                raise ArgumentError(f"node '{label}': input '{name}' is not defined yet")
        for i, name in enumerate(gives):
            if name and (name in values or name in inputs or name in gives[:i]):
                raise ArgumentError(f"node '{label}': output '{name}' is already defined")

    def _walked(self) -> Record:
        """The record of the first walk over the model so far."""
        if self._record is None:
            front = ModelProtoFrontEnd(self._model, self._nodes)
            record = Request(front, **self._options).passes()[0].record()
            run_graph(record, record.model.graph._replace(outputs=[]), record.scope)
            self._record = record
        return self._record


def _info(name: str | onnx.ValueInfoProto, type: onnx.TypeProto | None) -> onnx.ValueInfoProto:
    """The name and type in one message."""
    return onnx.ValueInfoProto(name=name, type=type) if isinstance(name, str) else name
