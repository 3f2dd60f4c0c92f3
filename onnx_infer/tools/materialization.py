"""Sizes as nodes: those that compute given sizes from the shapes of the graph's inputs, and their insertion.

The tensors of Constant nodes, and the elements of tensors, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from onnx_infer.model.attributes import kind_of
from onnx_infer.results.sources import Sources
from onnx_infer.tools.nodes_of_sizes import Names, SizeNodes
from symdim.algebra.expr import as_dim
from symdim.errors import refuse_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.values.tensor import Dim

INITIALIZERS_ALONE_SINCE = 4
"""From this IR version on an initializer need not be a graph input (onnx/docs/IR.md)."""


_LITERALS: dict[str, tuple[int, str, Any]] = {
    "value": (AttributeProto.TENSOR, "t", None),
    "value_float": (AttributeProto.FLOAT, "f", np.float32),
    "value_floats": (AttributeProto.FLOATS, "floats", np.float32),
    "value_int": (AttributeProto.INT, "i", np.int64),
    "value_ints": (AttributeProto.INTS, "ints", np.int64),
}
"""Attribute of a Constant -> its kind, the field that has it, and the element type of a number."""


def literal_tensor(node: NodeProto) -> TensorProto | None:
    """The tensor of a Constant node; None for one of another kind, or with a reference to a function's attribute."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.attribute) != 1:
        return None
    (attribute,) = node.attribute
    kind, field, dtype = _LITERALS.get(attribute.name, (None, "", None))
    if kind is None or attribute.ref_attr_name or kind_of(attribute) != kind:
        return None
    content: Any = getattr(attribute, field)
    return content if dtype is None else numpy_helper.from_array(np.array(content, dtype))


def array_of(tensor: TensorProto) -> NDArray[Any] | None:
    """The elements of a tensor; None for external data, which are never opened, and for data that do not fit."""
    if tensor.data_location == TensorProto.EXTERNAL:
        return None
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError):  # fewer bytes than elements
        return None


class Materialized(NamedTuple):
    """Nodes in order, the constants that they read, and the name of their result: int64, one element per size."""

    nodes: list[NodeProto]
    initializers: list[TensorProto]
    output: str

    def insert(self, model: ModelProto, before: str = "") -> str:
        """Insert the nodes into the model's graph, before the node with this name or this output, or at the start.

        The constants become initializers, or nodes before IR version 4. Returns the name of the result. Raises
        `ValueError` if there is no such node. The names are unused in the model that was inferred. If the model has
        been changed since, they must still be unused.
        """
        graph = model.graph
        places = [i for i, node in enumerate(graph.node) if before and before in (node.name, *node.output)]
        if before and not places:
            raise ValueError(f"no node is named {before!r} or gives it")
        nodes = self.nodes
        if model.ir_version >= INITIALIZERS_ALONE_SINCE:
            graph.initializer.extend(self.initializers)
        else:
            constants = (helper.make_node("Constant", [], [x.name], x.name, value=x) for x in self.initializers)
            nodes = [*constants, *nodes]
        for place, node in enumerate(nodes, places[0] if places else 0):
            graph.node.insert(place, node)
        return self.output


def materialize(
    sizes: Dim | Iterable[Dim],
    result: Inferred,
    *,
    opset: int | None = None,
    values: Iterable[str] | None = None,
    prefix: str = "size",
) -> Materialized:
    """The nodes that compute a size, or a shape, at run time. Each expression is computed once.

    Symbols are read from the axes and elements of the graph's inputs, or of `values`. The `values` must exist where the
    nodes are inserted; so data-dependent sizes can be computed after the node that decides them. `opset` is the version
    of the default domain; the default is the model's. Names begin with `prefix` and are unused in the model. Raises
    `UnsupportedDynamicShape` for a size with a symbol that cannot be read, and `ValueError` if the opset lacks an
    operator or a number of the size is no int64.

    >>> import onnx.parser, onnx_infer
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
    ...     g (float[N, 3, H] x) => (float[N, 3, H] y) { y = Relu(x) }''')
    >>> result = onnx_infer.infer(model)
    >>> N, _, H = result.shapes["x"]
    >>> made = materialize((N * H, (H + 1) // 2, 8), result)
    >>> [node.op_type for node in made.nodes]
    ['Shape', 'Shape', 'Mul', 'Add', 'Div', 'Concat']
    >>> made.insert(model, before="y")
    'size_concat'
    """
    refuse_text(values, "values")
    model = result._record.model
    sources = result.sources if values is None else Sources({name: result.types[name] for name in values})
    made = SizeNodes(model.opsets.get("", 0) if opset is None else opset, sources, Names(model.names(), prefix))
    output = made.vector(sizes) if (size := as_dim(sizes)) is None else made.size(size)  # type: ignore[arg-type]
    return Materialized(made.nodes, made.initializers, output)
