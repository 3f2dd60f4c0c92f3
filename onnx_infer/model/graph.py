"""The engine's view of a model: names, types, constants and nodes, without protobuf.

A front end (`protobuf/`, `integrations/`) makes a `Model`. The engine reads it once and never changes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from onnx_infer.values.text import text
from symdim.algebra.caches import Cache
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.model.size_texts import Size
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.values.tensor import Value


class Attributes:
    """The attributes of a node as plain values. Equal attributes are the same object, so it can be a key of results.

    In the body of a function, `references` maps an attribute to the attribute of the call that gives its value.
    Attributes with graphs or references are not `plain`. `made` caches what operators and rules compute from the
    attributes (`arguments.py`, `operator.py`).
    """

    __slots__ = ("has_graphs", "made", "plain", "references", "values")

    def __init__(
        self,
        values: Mapping[str, Any],
        references: Mapping[str, str] | None = None,
        has_graphs: bool = False,
    ) -> None:
        self.values, self.references, self.has_graphs = values, references, has_graphs
        self.plain = not has_graphs and not references
        self.made = Cache(1 << 12)


NO_ATTRIBUTES = Attributes({})

Node: TypeAlias = "tuple[str, str, list[str], list[str], Attributes, Any]"
"""(op_type, domain, inputs, outputs, attributes, handle). The handle belongs to the front end and has a `.name`."""


def normal_domain(domain: str) -> str:
    """The domain's name; `ai.onnx` is the default domain "".

    >>> normal_domain("ai.onnx"), normal_domain("com.microsoft")
    ('', 'com.microsoft')
    """
    return "" if domain == "ai.onnx" else domain


def first_output(node: Node) -> str:
    """The first output that has a name, or "". An optional output without a name may be before it, as in LSTM."""
    return next(filter(None, node[3]), "")


def label_of(node: Node) -> str:
    """The node's name, or its first output if it has no name."""
    return text(node[5].name or first_output(node))


FunctionKey: TypeAlias = "tuple[str, str, str]"
"""The domain, name and overload of a function."""


def called_key(node: Node) -> FunctionKey:
    """The key of the function that a node calls, if it is a call."""
    return normal_domain(node[1]), node[0], text(getattr(node[5], "overload", ""))


def title_of(node: Node) -> str:
    """The operator of a node, with its domain unless that is the default one."""
    return f"{node[1]}::{node[0]}" if node[1] else node[0]


class Graph(NamedTuple):
    """A graph or subgraph.

    `inputs`: names with their declared types. `constants`: name -> handle, for the model's `header` and `load`.
    `nodes`: a function that iterates over the nodes. Constant nodes are not among them: their
    tensors are added to the constants, and their names to `literals`. `outputs`: names with declared types. `declared`:
    the other declared types. `defaults`: for inputs that are also initializers, the declared type and the handle.
    `named`: of a subgraph, lists of names with sizes as they are written, as far as these have texts.
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
    named: Sequence[Sequence[tuple[str, tuple[Size, ...]]]] = ()

    @property
    def overridable(self) -> list[str]:
        """The initializers that callers may override, because they are inputs too."""
        return [name for name, _ in self.inputs if name in self.defaults]


def with_names(graph: Graph) -> Graph:
    """A main graph without nameless inputs and outputs: no node can read or give them."""
    inputs = [(name, kind) for name, kind in graph.inputs if name]
    if len(inputs) == len(graph.inputs) and "" not in graph.outputs:
        return graph
    return graph._replace(inputs=inputs, outputs=[name for name in graph.outputs if name])


def read_once(graph: Graph) -> Graph:
    """The graph with its nodes read from the model only once."""
    nodes = list(graph.nodes())
    return graph._replace(nodes=lambda: nodes)


class Function(NamedTuple):
    """A model-local function: default attributes, its own opset imports, and its body with the formal names."""

    domain: str
    name: str
    overload: str
    attributes: Mapping[str, Any]
    opsets: Mapping[str, int]
    body: Graph
    handle: Any = None

    @property
    def key(self) -> FunctionKey:
        """What names it in a model."""
        return normal_domain(self.domain), self.name, self.overload


class Model(NamedTuple):
    """A model: its graph, functions by (domain, name, overload), opset imports.

    `header(handle)` is the type of a constant, `load(handle)` the tensor with its elements if they are few. `subgraph`
    is the view of a graph attribute. `schema_function` is the body of an operator's schema, for a node, a version and
    the values of its inputs. `names` are the names of all values and nodes in the graph. `handle` is the ModelProto, if
    the model is one.
    """

    graph: Graph
    functions: Mapping[tuple[str, str, str], Function]
    opsets: Mapping[str, int]
    header: Callable[[Any], Value]
    load: Callable[[Any], Value]
    subgraph: Callable[[Any], Graph]
    schema_function: Callable[[Node, int, list[Value | None]], Function | None]
    names: Callable[[], Iterable[str]]
    handle: Any = None


class FrontEnd(Protocol):
    """A model as it is written, before its dims are read as sizes."""

    def dim_params(self) -> tuple[list[str], list[str]]:
        """The texts in the types of the graph's inputs, in order, and in those of its other values."""

    def metadata(self) -> Mapping[str, str]:
        """The metadata of the graph."""

    def inputs(self) -> Iterable[tuple[str, Sequence[Size]]]:
        """The graph's inputs with their written sizes. For a nested type they are those of the innermost tensor."""

    def view(self, symbols: Symbols, all_constant: bool = False) -> Model:
        """The model with its dims read as sizes. `all_constant`: initializers that are also inputs are constants."""

    def reshaped(self, shapes: Mapping[str, tuple[Size, ...]]) -> FrontEnd:
        """The same model, whose graph's inputs of these names have other written shapes."""
