"""The engine's thin view of a model, filled by a front end: names, types, constants and nodes, no protobuf.

A front end (`protobuf/`, `integrations/`) gives a `Model`; the engine reads it once and never writes to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from onnx_infer.values.text import text
from symdim.algebra.caches import Cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.model.symbols import Size, Symbols
    from onnx_infer.values.tensor import Value


class Attributes:
    """The attributes of a node as plain values; equal ones are the same object, so that results are remembered by it.

    `references`, in the body of a function, maps an attribute to the attribute of the call that it stands for. Those
    with graphs or references are not `plain`. `made` keeps what operators and their rules make of the attributes
    (`arguments.py`, `operator.py`).
    """

    __slots__ = ("has_graphs", "made", "plain", "references", "values")

    def __init__(
        self, values: Mapping[str, Any], references: Mapping[str, str] | None = None, has_graphs: bool = False
    ) -> None:
        self.values, self.references, self.has_graphs = values, references, has_graphs
        self.plain = not has_graphs and not references
        self.made = Cache(1 << 12)


NO_ATTRIBUTES = Attributes({})

Node: TypeAlias = "tuple[str, str, list[str], list[str], Attributes, Any]"
"""(op_type, domain, inputs, outputs, attributes, handle); the handle is the front end's and has `.name`."""


def label_of(node: Node) -> str:
    """The node's name, or its first output where it has none."""
    return text(node[5].name or next(iter(node[3]), ""))


class Graph(NamedTuple):
    """A graph or subgraph.

    `inputs` with their declared types; `constants` by name, as handles that the model's `header` and `load` read;
    `nodes`, a function that walks them: nodes that are constant tensors join the constants instead and are named in
    `literals`; `outputs`; other `declared` types; `defaults`, of inputs that are initializers too the declared type and
    the handle.
    """

    name: str
    inputs: list[tuple[str, Value | None]]
    constants: Mapping[str, Any]
    nodes: Callable[[], Iterable[Node]]
    literals: list[str]
    outputs: list[str]
    declared: Mapping[str, Value]
    handle: Any = None
    defaults: Mapping[str, tuple[Value | None, Any]] = {}

    @property
    def overridable(self) -> list[str]:
        """The initializers that callers may override: they are inputs too."""
        return [name for name, _ in self.inputs if name in self.defaults]


def with_names(graph: Graph) -> Graph:
    """A main graph without the inputs and outputs that have no name: nothing reads or gives them."""
    inputs = [(name, kind) for name, kind in graph.inputs if name]
    return graph._replace(inputs=inputs, outputs=[name for name in graph.outputs if name])


class Function(NamedTuple):
    """A model-local function: default attributes, its own opset imports, and its body with the formal names."""

    domain: str
    name: str
    overload: str
    attributes: Mapping[str, Any]
    opsets: Mapping[str, int]
    body: Graph
    handle: Any = None


class Model(NamedTuple):
    """A model: its graph, functions by (domain, name, overload), opset imports.

    `header` gives the type of a constant's handle, `load` the tensor with its elements if they are few; `subgraph` the
    view of a graph attribute; `schema_function` the body of an operator's schema, for a node, a version and the values
    of its inputs; `names` those of all values and nodes in the graph.
    """

    graph: Graph
    functions: Mapping[tuple[str, str, str], Function]
    opsets: Mapping[str, int]
    header: Callable[[Any], Value]
    load: Callable[[Any], Value]
    subgraph: Callable[[Any], Graph]
    schema_function: Callable[[Node, int, list[Value | None]], Function | None]
    names: Callable[[], Iterable[str]]


class FrontEnd(Protocol):
    """A model as it is written, before its dims are read as sizes."""

    def dim_params(self) -> tuple[list[str], list[str]]:
        """The texts in the types of the graph's inputs, in order, and in those of its other values."""

    def bounds(self) -> tuple[dict[str, tuple[int, int | None]], list[str]]:
        """The intervals of symbols that the model declares itself, and what is wrong with others."""

    def inputs(self) -> Iterable[tuple[str, Sequence[Size]]]:
        """The graph's inputs, with what is said of their sizes; of a nested type those of the innermost."""

    def view(self, symbols: Symbols, all_constant: bool = False) -> Model:
        """The model, its dims read as sizes; with `all_constant` initializers that are also inputs are constants."""
