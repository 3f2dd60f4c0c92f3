"""A model while it is changed: the nodes of all graphs, the readers of each name, and the nodes without readers.

Every name in the graphs of a draft is given once, so one table serves the main graph and all graphs inside it. The
bodies of functions stay as they are.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from onnx_infer.protobuf.names import (
    device_configurations,
    names_in,
    quantizations,
    read,
    rename_values,
    sharding_specs,
)
from onnx_infer.protobuf.nodes import graphs_of, read_attributes, subgraphs
from onnx_infer.tools.nodes_of_sizes import unused_name
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Set

    from onnx_infer.operators.operator import Operators
    from onnx_infer.operators.rule import Traits

_UNKNOWN = SymTensor(None)


def has_texts(model: ModelProto) -> bool:
    """Whether all names are texts: protobuf gives bytes that are not UTF-8, and does not take them back."""
    for graph in graphs_of(model.graph):
        holders = (*graph.input, *graph.output, *graph.value_info, *graph.initializer)
        names = [holder.name for holder in (*holders, *graph.node)]
        names += [name for node in graph.node for name in (*node.input, *node.output)]
        if not all(isinstance(name, str) for name in names):
            return False
    return True


def all_graphs(model: ModelProto) -> Iterator[Any]:
    """All graphs and functions of a model, outer ones first."""
    return (graph for root in (model.graph, *model.functions) for graph in graphs_of(root))


def count_nodes(model: ModelProto) -> int:
    """The nodes of a model: those of all graphs and of the bodies of functions, without constants."""
    nodes = (node for graph in all_graphs(model) for node in graph.node)
    return sum(not (node.op_type == "Constant" and is_default(node)) for node in nodes)


def is_default(node: NodeProto) -> bool:
    """Whether a node is of the default domain."""
    return node.domain in ("", "ai.onnx")


def make_names_unique(model: ModelProto) -> None:
    """Give every value in an inner graph a name that no other graph gives. The main graph keeps its names."""
    everything = set(names_in(model.graph))
    taken = set(_given(model.graph))
    none: Mapping[str, str] = {}
    tried: dict[str, int] = {}
    pending = [(inner, none) for node in model.graph.node for inner in subgraphs(node)]
    while pending:
        graph, outer = pending.pop()
        names = {**outer, **{name: name for name in _given(graph)}}
        for name in _given(graph):
            if name in taken:
                names[name] = unused_name(name, everything, tried)
        taken.update(names[name] for name in _given(graph))
        if any(old != new for old, new in names.items()):
            rename_values(graph, names)
        pending += [(inner, names) for node in graph.node for inner in subgraphs(node)]


def _given(graph: GraphProto) -> list[str]:
    """The names that a graph gives itself: inputs, initializers, and what its nodes make."""
    names = [*(info.name for info in graph.input), *(tensor.name for tensor in graph.initializer)]
    names += [sparse.values.name for sparse in graph.sparse_initializer]
    return list(dict.fromkeys(name for name in (*names, *(n for x in graph.node for n in x.output)) if name))


class Draft:
    """The nodes of a model's graphs, and new names for what they read.

    `operators` are those of the model's opsets. `bodies` are the graphs with their nodes, outer ones first. `constants`
    are the initializers of all graphs that no caller can override. `made` has the node that gives a name. The names of
    `outputs`, of all graphs, stay. So do those of values that are `named`: by a quantization annotation, or by the
    sharding of their own node. Such a value stays as long as something reads it. `shaped` are the values of which a
    shape is declared. `names`: those in use.
    """

    def __init__(
        self, model: ModelProto, operators: Operators, all_constant: bool, shaped: Set[str] = frozenset()
    ) -> None:
        self.model, self.operators = model, operators
        self._shaped = shaped
        self.bodies: list[tuple[GraphProto, list[NodeProto]]] = [(g, list(g.node)) for g in graphs_of(model.graph)]
        self._gone: set[int] = set()
        self.inputs = {info.name for graph, _ in self.bodies for info in graph.input}
        self.outputs = {info.name for graph, _ in self.bodies for info in graph.output}
        notes = [note for graph, _ in self.bodies for note in quantizations(graph)]
        self._parameters = [entry for note in notes for entry in note.quant_parameter_tensor_names]
        placed = [node for _, nodes in self.bodies for node in nodes if device_configurations(node)]
        self.named = {note.tensor_name for note in notes}
        self.named.update(
            s.tensor_name for node in placed for s in sharding_specs(node) if s.tensor_name in node.output
        )
        self.fixed = self.named | self.outputs
        held = {tensor.name: tensor for graph, _ in self.bodies for tensor in graph.initializer}
        overridable = set() if all_constant else {info.name for info in model.graph.input}
        self.constants: dict[str, TensorProto] = {n: tensor for n, tensor in held.items() if n not in overridable}
        self.made = {name: node for node in self.nodes() for name in node.output if name}
        self.names = set(names_in(model.graph))
        self._home = {id(node): graph for graph, nodes in self.bodies for node in nodes}
        self._renamed: dict[str, str] = {}

    def nodes(self) -> Iterator[NodeProto]:
        """The nodes of all graphs that are not gone; those of a graph in their order."""
        for _, nodes in self.bodies:
            for node in nodes:
                if id(node) not in self._gone:
                    yield node

    def traits(self, node: NodeProto) -> Traits:
        """What the rule of a node's operator says besides its types."""
        return self.operators.traits(node.op_type, node.domain)

    def remove(self, nodes: Iterable[NodeProto]) -> None:
        """Remove these nodes."""
        self._gone.update(map(id, nodes))

    # -- names ----------------------------------------------------------------------------------------------------

    def current(self, name: str) -> str:
        """The name that nodes now read in place of this one."""
        while name in self._renamed:
            name = self._renamed[name]
        return name

    def home(self, node: NodeProto) -> GraphProto:
        """The graph of a node."""
        return self._home[id(node)]

    def replace(self, name: str, other: str) -> bool:
        """Read another name in place of this one, everywhere; False for a value whose name must stay."""
        if name in self.fixed or self.current(name) == self.current(other) or self.loses_shape(name, other):
            return False
        self._renamed[self.current(name)] = other
        return True

    def loses_shape(self, name: str, other: str) -> bool:
        """Whether a declared shape is lost with a name: the type of the other one, an output, has none and stays."""
        other = self.current(other)
        return name in self._shaped and other in self.outputs and other not in self._shaped

    def give_as(self, name: str, output: str, holder: GraphProto) -> bool:
        """Let the node that gives a name give an output of its graph instead; False if that cannot be."""
        name = self.current(name)
        source = self.made.get(name)
        if source is None or id(source) in self._gone or name in self.fixed or self._home[id(source)] is not holder:
            return False
        if self.loses_shape(name, output):
            return False
        source.output[list(source.output).index(name)] = output
        self.made[output] = source
        self._renamed[name] = output
        return True

    def replaced(self) -> dict[str, str]:
        """The names in place of which others are read that nodes of the same graph give."""
        pairs = {name: self.current(name) for name in self._renamed}
        made = self.made
        return {
            name: other
            for name, other in pairs.items()
            if name in made and other in made and self.home(made[name]) is self.home(made[other])
        }

    def add_constant(self, tensor: TensorProto, name: str, graph: GraphProto | None = None) -> str:
        """Add an initializer of this name, to the main graph unless another one is given; return the name."""
        added = (graph or self.model.graph).initializer.add()
        added.CopyFrom(tensor)
        added.name = name
        self.constants[name] = added
        return name

    # -- uses -----------------------------------------------------------------------------------------------------

    def uses(self) -> Counter[str]:
        """How often each name is read, by nodes, as an output, and as a parameter of a quantization."""
        counts = Counter(self._kept())
        counts.update(self.current(name) for node in self.nodes() for name in node.input if name)
        return counts

    def _kept(self) -> list[str]:
        """What is read beside the nodes: the outputs, and the scales and zero points of quantizations."""
        return [*self.outputs, *(self.current(entry.value) for entry in self._parameters)]

    def needed(self) -> set[int]:
        """The ids of the nodes that outputs depend on."""
        needed: set[int] = set()
        pending = [self.made[name] for name in self._kept() if name in self.made]
        while pending:
            node = pending.pop()
            if id(node) not in needed:
                needed.add(id(node))
                pending += [self.made[name] for name in map(self.current, node.input) if name in self.made]
        return needed

    def unread(
        self, uses: Counter[str], may_go: Callable[[NodeProto], bool], names: Iterable[str] | None = None
    ) -> list[NodeProto]:
        """The nodes that may go because nothing reads them, or only such nodes. The counts in `uses` are changed.

        With `names`, only nodes that give these names, and what then is not read any more.
        """
        unread: list[NodeProto] = []
        first = self.nodes() if names is None else [self.made[name] for name in set(names) if name in self.made]
        pending = [node for node in first if not is_read(node, uses)]
        while pending:
            node = pending.pop()
            if not may_go(node):
                continue
            unread.append(node)
            for name in map(self.current, node.input):
                if name:
                    uses[name] -= 1
                    source = self.made.get(name) if not uses[name] else None
                    if source is not None and not is_read(source, uses):
                        pending.append(source)
        return unread

    # -- the end --------------------------------------------------------------------------------------------------

    def settle(self, first: Iterable[NodeProto] = ()) -> None:
        """Write the new names into the nodes, drop those that are gone, and put others `first`.

        The draft is of no use after it.
        """
        for graph, nodes in self.bodies:
            for i in reversed([i for i, node in enumerate(nodes) if id(node) in self._gone]):
                del graph.node[i]
            for node in graph.node:
                for i, name in enumerate(node.input):
                    if name in self._renamed:
                        read(node, i, self.current(name))
        for entry in self._parameters:
            if entry.value in self._renamed:
                entry.value = self.current(entry.value)
        for i, node in enumerate(first):
            self.model.graph.node.insert(i, node)


def said(function: Callable[..., Any], node: NodeProto, types: Mapping[str, Value]) -> Any:
    """What a function of the traits of an operator says of a node; None if the node breaks its schema."""
    inputs, outputs = (
        [types.get(name, _UNKNOWN) if name else None for name in names] for names in (node.input, node.output)
    )
    try:
        return function(inputs, outputs, read_attributes(node.op_type, node.attribute).values)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def is_in_order(nodes: list[NodeProto]) -> bool:
    """Whether every node comes after those that give what it reads."""
    made = {name for node in nodes for name in node.output}
    seen: set[str] = set()
    for node in nodes:
        if any(name in made and name not in seen for name in node.input if name):
            return False
        seen.update(node.output)
    return True


def is_read(node: NodeProto, uses: Counter[str]) -> bool:
    """Whether something reads an output of the node."""
    return any(uses[name] > 0 for name in node.output if name)


def drop_unread(model: ModelProto) -> None:
    """Drop initializers that nothing reads and no caller may override, and quantization annotations of lost values.

    What an annotation names, a scale and a zero point, counts as read as long as its value is there.
    """
    graphs = list(graphs_of(model.graph))
    kept = {info.name for graph in graphs for info in (*graph.input, *graph.output)}
    kept.update(name for graph in graphs for node in graph.node for name in (*node.input, *node.output))
    kept.update(sparse.values.name for graph in graphs for sparse in graph.sparse_initializer)
    notes, last = [note for graph in graphs for note in graph.quantization_annotation], -1
    parameters: set[str] = set()
    while last != len(notes):  # a scale may be annotated itself
        last, parameters = len(notes), {entry.value for note in notes for entry in note.quant_parameter_tensor_names}
        notes = [note for note in notes if note.tensor_name in kept | parameters]
    kept |= parameters
    for graph in graphs:
        for part, field in ((graph.initializer, "name"), (graph.quantization_annotation, "tensor_name")):
            for i in reversed([i for i, message in enumerate(part) if getattr(message, field) not in kept]):
                del part[i]


def constants_as_nodes(graph: GraphProto) -> None:
    """Write the initializers of a graph that are no inputs as nodes."""
    inputs = {info.name for info in graph.input}
    for i in reversed([i for i, tensor in enumerate(graph.initializer) if tensor.name not in inputs]):
        tensor = graph.initializer[i]
        graph.node.insert(0, helper.make_node("Constant", [], [tensor.name], value=tensor))
        del graph.initializer[i]
