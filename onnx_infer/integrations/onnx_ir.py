"""Inference of an `onnx_ir.Model`, the representation of torch.onnx and onnxscript. It makes no ModelProto.

    >>> import onnx_ir as ir
    >>> from onnx_infer.integrations import onnx_ir
    >>> model = ir.from_onnx_text('''
    ... <ir_version: 10, opset_import: ["": 20]>
    ... g (float[N, H] x) => (y) { t = Concat <axis: int = 1> (x, x)  y = Flatten <axis: int = 0> (t) }''')
    >>> onnx_ir.infer(model).types["y"]
    f32[1, 2*H*N]
    >>> onnx_ir.infer_shapes(model).graph.outputs[0].shape
    Shape([1, SymbolicDim('2*H*N')])

Needs the package onnx-ir: `pip install onnx-ir`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

try:
    import onnx_ir as ir
except ImportError as error:
    raise ImportError("onnx_infer.integrations.onnx_ir needs onnx-ir: pip install onnx-ir") from error

from onnx_infer import result
from onnx_infer.diagnostics import check, log
from onnx_infer.inference import Options, Request, Run, run, with_options
from onnx_infer.integrations.onnx_ir_names import ValueNames, copied, given_values
from onnx_infer.integrations.onnx_ir_reader import OnnxIRFrontEnd, declared_sizes, written_sizes
from onnx_infer.model.given import KEY, contract_in
from onnx_infer.protobuf.former_names import FormerNames
from onnx_infer.protobuf.specialize import new_symbols, substituted
from onnx_infer.protobuf.wire import type_field
from onnx_infer.protobuf.writing import has_unlike_branches
from onnx_infer.values.containers import Optional, Sequence, Sparse
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor, Value
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import ModelProto
    from typing_extensions import Unpack

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Graph
    from onnx_infer.model.size_texts import Size
    from onnx_infer.types.merge import ShapeMergePolicy


class InferenceResult(result.InferenceResult):
    """The result of one inference. Nothing is written to the model until `apply`.

    As `onnx_infer.InferenceResult`, for an `ir.Model`. Values are identified by their names. If two values that are
    visible together have the same name, one of them gets a new name. `type_of` takes a value of any graph itself.
    """

    def __init__(self, front: OnnxIRFrontEnd, run: Run) -> None:
        super().__init__(run)
        self._front = front
        self.modified = False

    def type_of(self, value: ir.Value) -> Value | None:
        """The type of a value of the main graph, a subgraph or the body of a function; None if it is not known."""
        name = self._front.names[value]
        for graph, scope in ((self._record.model.graph, self._record.scope), *self._record.inner):
            if value.graph is graph.handle:
                scope.touch(graph.literals)
                return scope.get(name)
        return None

    def _message(self) -> ModelProto:
        return ir.to_proto(self._front.model)

    def _write(self, model: Any, contract: str | None) -> None:
        if model is not self._front.model:
            raise ValueError("the types can be written only into the model that was inferred")
        self.modified = write_model(self._front, self._run.record, self.found_inputs)
        entries = model.graph.metadata_props
        if contract is not None and entries.get(KEY) != contract:
            entries[KEY] = contract
            self.modified = True


@with_options(Options)
def infer(model: ir.Model, **options: Unpack[Options]) -> InferenceResult:
    """Infer the types, shapes and small data of every value. The model is not changed.

    The options are those of `onnx_infer.infer`: `policy`, `bounds`, `min_dim`, `adopt_declared_symbols`,
    `bidirectional`, `assume`, `assume_declared`, `initializers`, `values`, `bind`,
    `input_shapes`, `broadcast`. External and lazy tensors are never loaded.
    """
    front = OnnxIRFrontEnd(model)
    return InferenceResult(front, run(Request(front, **options)))


@with_options(Options)
def infer_shapes(
    model: ir.Model,
    *,
    in_place: bool = False,
    check_type: bool = False,
    strict_mode: bool = False,
    **options: Unpack[Options],
) -> ir.Model:
    """A copy of the model with the type and shape of every value; the model itself with `in_place`.

    The copy shares the tensors of the model. `check_type`, `strict_mode` and the options are those of
    `onnx_infer.infer_shapes`. Raises `ArgumentError` for a model that onnx_ir cannot copy.
    """
    target = model if in_place else copied(model)
    result = infer(target, **options)
    check(result.diagnostics, check_type, strict_mode)
    return result.apply(target)


def infer_symbolic_shapes(
    model: ir.Model,
    *,
    policy: ShapeMergePolicy = "refine",
    warn_on_missing: bool = True,
    adopt_declared_symbols: bool = True,
) -> ir.Model:
    """Infer in place and return the model. With `warn_on_missing` operators without a rule are logged as warnings."""
    result = infer(model, policy=policy, adopt_declared_symbols=adopt_declared_symbols)
    log(result.diagnostics, warn_on_missing)
    return result.apply(model)


class SymbolicShapeInferencePass(ir.passes.InPlacePass):  # type: ignore[misc]
    """Inference as a pass, with the options of `infer`.

    >>> model = ir.from_onnx_text('<ir_version: 10, opset_import: ["": 20]> g (float[N] x) => (y) { y = Relu (x) }')
    >>> shapes = ir.passes.Sequential(SymbolicShapeInferencePass(policy="override"))
    >>> shapes(model).modified, shapes(model).modified, model.graph.outputs[0].shape
    (True, False, Shape([SymbolicDim('N')]))
    """

    @with_options(Options)
    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__()
        self.options = options

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Infer, and write the types into the model."""
        result = infer(model, **self.options)
        result.apply(model)
        return ir.passes.PassResult(model, result.modified)


def rename_symbols(model: ir.Model, names: Mapping[str, str]) -> ir.Model:
    """As `onnx_infer.rename_symbols`: other names for symbols, in place.

    >>> text = '<ir_version: 10, opset_import: ["": 20]> g (float[s0] x) => (float[s0] y) { y = Relu (x) }'
    >>> model = ir.from_onnx_text(text)
    >>> rename_symbols(model, {"s0": "batch"}).graph.outputs[0].shape
    Shape([SymbolicDim('batch')])
    """
    in_file = contract_in(OnnxIRFrontEnd(model))
    values = [v for graph in model.graphs() for v in chain(graph.inputs, given_values(graph)) if v.shape is not None]
    texts = [d for v in values for d in written_sizes(v) if isinstance(d, str)]
    sizes = substituted(texts, new := new_symbols(texts, names))
    for value in values:
        _set(value, value.type, [sizes.get(d, d) if isinstance(d, str) else d for d in written_sizes(value)])
    if in_file.contract is not None:
        model.graph.metadata_props[KEY] = in_file.contract.substituted(new).text()
    return model


# -- writing ----------------------------------------------------------------------------------------------------------


def write_model(front: OnnxIRFrontEnd, engine: Record, inputs: Mapping[str, tuple[Size, ...]]) -> bool:
    """Write the types into the values of the model, and the shapes of `inputs`; return whether anything changed."""
    names, modified = front.names, False

    def declared(graph: Graph) -> Iterator[tuple[str, tuple[Size, ...]]]:
        values = chain(graph.handle.inputs, given_values(graph.handle)) if isinstance(graph.handle, ir.Graph) else ()
        return ((names[v], declared_sizes(v)) for v in values)

    former = FormerNames(engine.scope, engine.inner, declared)
    bodies = {id(function.handle) for function in engine.model.functions.values()}
    types_stay = has_unlike_branches(engine)
    for graph, scope in ((engine.model.graph, engine.scope), *engine.inner):
        if isinstance(graph.handle, ir.Graph) and not types_stay:  # not the body of an operator's schema
            scope.touch(graph.literals)
            in_body = id(graph.handle) in bodies
            types = scope if scope is engine.scope else former.values(scope)
            modified |= _write_graph(graph.handle, names, types, in_body)
    for value in front.model.graph.inputs:
        sizes = inputs.get(names[value])
        if sizes is not None:
            modified |= _set(value, value.type, list(sizes))
    return modified


def _write_graph(graph: ir.Graph, names: ValueNames, types: Mapping[str, Value], in_body: bool) -> bool:
    """Write the types of the nodes' outputs and of inputs without a type; in the body of a function, of all inputs."""
    modified = False
    inputs = [v for v in graph.inputs if in_body or (v.type is None and v.shape is None)]
    for value in chain(inputs, given_values(graph)):
        known = types.get(names[value])
        if known is not None and type_field(known):  # what is not known stays
            modified |= _set(value, ir_type(known), ir_sizes(known))
            if (elements := ir_elements(known)) is not None:
                value.meta["symbolic_value"] = elements
    return modified


def ir_elements(value: Value | None) -> list[int | ir.SymbolicDim] | None:
    """The elements of a tensor of sizes, if all are known, as they are kept in `meta["symbolic_value"]`."""
    elements = value.data if isinstance(value, SymTensor) else None
    if elements is None or not all(isinstance(x, Expr) or type(x) is int for x in elements):
        return None
    return [x if isinstance(x, int) else ir.SymbolicDim(str(x)) for x in elements]


def _set(value: ir.Value, kind: Any, dims: list[int | str | None] | None) -> bool:
    """Give a value a type and a shape; return whether they changed. Denotations stay, of axes if the rank does."""
    old = value.shape
    written = None if old is None else list(written_sizes(value))
    if value.type == kind and written == dims:
        return False
    if value.type != kind:
        for former, new in zip(_nested(value.type), _nested(kind), strict=False):
            new.denotation = former.denotation
        value.type = kind
    if dims is None:
        value.shape = None
    else:
        labels = None if old is None or len(old) != len(dims) else [old.get_denotation(i) for i in range(len(old))]
        value.shape = ir.Shape(dims, denotations=labels)
    return True


def _nested(kind: Any) -> Iterator[Any]:
    """A type and those of its elements, outer ones first."""
    while kind is not None:
        yield kind
        kind = kind.elem_type if isinstance(kind, (ir.SequenceType, ir.OptionalType)) else None


_ELEMENT_TYPES = frozenset(int(kind) for kind in ir.DataType) - {0}


def ir_type(value: Value | None) -> Any:
    """The type of a value for onnx_ir; None if it is not known, or if onnx_ir does not have it (maps)."""
    if isinstance(value, (SymTensor, Sparse)):
        kind = ir.TensorType if isinstance(value, SymTensor) else ir.SparseTensorType
        return kind(ir.DataType(value.dtype)) if value.dtype in _ELEMENT_TYPES else None
    if isinstance(value, (Sequence, Optional)):
        inner = ir_type(value.elem)
        kind = ir.SequenceType if isinstance(value, Sequence) else ir.OptionalType
        return None if inner is None else kind(inner)
    return None


def ir_sizes(value: Value | None) -> list[int | str | None] | None:
    """The sizes of a tensor, or of the tensors in a sequence or optional, in written form."""
    while isinstance(value, (Sequence, Optional)):
        value = value.elem
    if not isinstance(value, (SymTensor, Sparse)) or value.shape is None:
        return None
    return [d if isinstance(d, int) else None if d is UNKNOWN_SIZE else str(d) for d in value.shape]
