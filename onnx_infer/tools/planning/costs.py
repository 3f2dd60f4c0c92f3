"""The parameters and multiply-adds of the nodes and layers of a model, as expressions of its input sizes.

A multiply-add is one of the products in the sums of a contraction: a matrix product, a convolution, attention or a
recurrent layer. By definition, elementwise operators, reductions, movements and comparisons have none. The softmax and
the biases of layers are not counted either. The `cost` of an operator stands at its rule.

A parameter is an element of a constant. 64-bit integers, booleans and strings do not count: they are sizes, axes and
flags. A constant that several nodes read counts for the first one. The cost of a function call is that of its body. The
cost of a node with subgraphs is that of the subgraphs, if it does not depend on how often they run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.model.graph import first_output, label_of, title_of
from onnx_infer.results.sources import without_computed
from onnx_infer.tools.planning.envelope import envelope
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Shape, SymTensor, Value
from onnx_infer.values.text import printable, text
from symdim import Expr, product, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.engine.graph_index import GraphIndex
    from onnx_infer.operators.operator import Operator
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.planning.memory import MemoryPlan

_NO_PARAMETERS = frozenset((dt.INT64, dt.BOOL, dt.STRING))


class NodeCost(NamedTuple):
    """The cost of one node; `multiply_adds` is None if it is not known."""

    operator: str
    node: str
    parameters: Dim
    multiply_adds: Dim | None


class Costs(NamedTuple):
    """The costs of all nodes of the main graph, in the order of the schedule."""

    nodes: list[NodeCost]

    def __repr__(self) -> str:
        unknown = f", {len(self.unknown)} of them unknown" if self.unknown else ""
        counts = f"parameters={self.parameters!r}, multiply_adds={self.multiply_adds!r}"
        return f"Costs({len(self.nodes)} nodes{unknown}: {counts})"

    @property
    def parameters(self) -> Dim:
        """The parameters of all nodes."""
        return total(node.parameters for node in self.nodes)

    @property
    def multiply_adds(self) -> Dim:
        """The multiply-adds of all nodes for which they are known."""
        return total(node.multiply_adds for node in self.nodes if node.multiply_adds is not None)

    @property
    def unknown(self) -> list[NodeCost]:
        """The nodes whose multiply-adds are not known."""
        return [node for node in self.nodes if node.multiply_adds is None]


def costs(result: Inferred) -> Costs:
    """The costs of the nodes of a model."""
    index = result._index
    counts: dict[GraphIndex, list[Dim | None]] = {}  # the multiply-adds of each node, None where they are not known
    for body in index.inner_first():
        counts[body] = [_count(body, number, counts) for number in range(len(body.nodes))]
    seen: set[object] = set()
    rows = []
    for number, (node, count) in enumerate(zip(index.nodes, counts[index], strict=True)):
        read, scope = index.reads[number], index.scope
        held = [parameters(scope[name]) for name in read if name in scope.constants and name not in seen]
        seen.update(read)
        held += _inner_parameters(index.bodies(number), seen)
        rows.append(NodeCost(title_of(node), label_of(node), total(held), count))
    return Costs(rows)


def multiply_adds(
    operator: Operator, inputs: Sequence[Value | None], outputs: Sequence[Value | None], attributes: Mapping[str, Any]
) -> Dim | None:
    """The multiply-adds of one node of an operator; 0 if it contracts nothing, None if they are not known.

    >>> from onnx_infer.operators.operator import bind
    >>> from symdim import Var
    >>> B, S = Var("B"), Var("S")
    >>> a, w, y = (SymTensor(1, shape) for shape in ((B, S, 64), (64, 128), (B, S, 128)))
    >>> multiply_adds(bind("", "MatMul", 13), (a, w), (y,), {})
    8192*B*S
    """
    cost = operator.rule.traits.cost
    if cost is None:
        return 0
    try:
        return cost([_shape(v) for v in inputs], [_shape(v) for v in outputs], attributes)
    except (AttributeError, LookupError, TypeError, ValueError):  # a shape is not known, or the node is malformed
        return None


def _shape(value: Value | None) -> Shape | None:
    if not isinstance(value, SymTensor) or value.shape is None:
        return None
    return tuple(map(without_computed, value.shape))


def parameters(value: Value) -> Dim:
    """The parameters in a constant.

    >>> parameters(SymTensor(dt.FLOAT, (64, 3))), parameters(SymTensor(dt.INT64, (4,)))
    (192, 0)
    """
    if not isinstance(value, SymTensor) or value.shape is None or value.dtype in _NO_PARAMETERS:
        return 0
    return product(value.shape)


def _count(index: GraphIndex, number: int, counts: Mapping[GraphIndex, list[Dim | None]]) -> Dim | None:
    """The multiply-adds of a node of a graph; None if they are not known. `counts` has those of the graphs it runs."""
    op_type, domain, inputs, outputs, _, _ = index.nodes[number]
    scope, bodies = index.scope, index.bodies(number)
    if bodies:
        totals = {None if body is None else known_total(counts[body]) for body in bodies}
        once = len(totals) == 1 and (op_type == "If" or index.is_call(number))
        return totals.pop() if once or totals == {0} else None
    operator = scope.operators[domain, op_type]
    if operator is None:
        return None
    read = [scope[name] if name else None for name in inputs]
    made = [scope[name] if name else None for name in outputs]
    count = multiply_adds(operator, read, made, index.attributes(number).values)
    return None if isinstance(count, Expr) and UNKNOWN_SIZE in count.variables() else count


def _inner_parameters(bodies: Sequence[GraphIndex | None], seen: set[object]) -> list[Dim]:
    """The parameters in the constants of graphs and those inside them, without graphs that were `seen` earlier."""
    sums: list[Dim] = []
    pending = [body for body in bodies if body is not None]
    while pending:
        body = pending.pop()
        if id(body.graph.handle) not in seen:
            seen.add(id(body.graph.handle))
            sums += [parameters(body.scope[name]) for name in body.graph.constants]
            pending += [x for number in range(len(body.nodes)) for x in body.bodies(number) if x is not None]
    return sums


def known_total(counts: Iterable[Dim | None]) -> Dim | None:
    """The sum; None if one of the counts is not known."""
    known = list(counts)
    return None if None in known else total(known)  # type: ignore[arg-type]


_SCOPES = "pkg.torch.onnx.name_scopes"
_BETWEEN = re.compile(r"[/.](?!\d+(?:[/.]|$))")  # not before a number: `layers.0` is one part


class Layer(NamedTuple):
    """A layer: the number of its nodes, their costs, the bytes of the values that they give, and the peak at them.

    `multiply_adds` counts the nodes for which they are known; the other ones are `unknown`. The name is empty for nodes
    without a path. The peak counts all live values, those of other layers too. `bytes` and `peak` leave out values of
    unknown size; `not_counted` is how many outputs of the nodes these are.
    """

    name: str
    nodes: int
    parameters: Dim
    multiply_adds: Dim
    unknown: int
    bytes: Dim
    peak: Dim
    not_counted: int = 0

    def __repr__(self) -> str:
        name = printable(self.name) or "(no layer)"
        counts = f"parameters={self.parameters!r}, multiply_adds={self.multiply_adds!r}"
        return f"<Layer {name}: {self.nodes} nodes, {counts}>"


def layers(result: Inferred, costs: Costs, memory: MemoryPlan) -> list[Layer]:
    """The layers of a model in the order of their first nodes, from its costs and its memory."""
    members: dict[str, list[int]] = {}
    messages = getattr(result._record.model.graph.handle, "node", ())  # those of a ModelProto; others are the handles
    messages = () if callable(messages) else messages  # a method of onnx_ir's graphs
    with_scopes = {name: node for node in messages if node.metadata_props for name in node.output if name}
    for i, node in enumerate(result._index.nodes):
        handle = with_scopes.get(first_output(node), node[5])
        members.setdefault(layer_of(text(node[5].name), _scopes(handle)), []).append(i)
    live: list[list[int]] = [[] for _ in costs.nodes]  # the steps of each node
    for place, step in enumerate(memory.steps):
        live[step.number].append(place)
    sums, unknown = memory.live_sums, frozenset(memory.unknown)
    rows = []
    for name, places in members.items():
        nodes = [costs.nodes[i] for i in places]
        counts = [node.multiply_adds for node in nodes if node.multiply_adds is not None]
        steps = [place for i in places for place in live[i]]
        made = [memory.sizes[value] for place in steps for value in memory.steps[place].born]
        peak = envelope(sums[place] for place in steps).size
        left_out = sum(name in unknown for i in places for name in result._index.nodes[i][3])
        costs_ = total(node.parameters for node in nodes), total(counts), len(nodes) - len(counts)
        rows.append(Layer(name, len(nodes), *costs_, total(made), peak, left_out))
    return rows


def layer_of(name: str, scopes: str = "") -> str:
    """The layer of a node with this name and these scopes of its module, as torch's exporter lists them.

    >>> layer_of("/bert/encoder/layer.0/attention/MatMul"), layer_of("/bert/embeddings/Add"), layer_of("MatMul_12")
    ('bert/encoder/layer.0', 'bert/embeddings', '')
    >>> layer_of("node_MatMul_3", "['', 'model', 'model.layers.1', 'model.layers.1.mlp', 'matmul_3']")
    'model/layers.1'
    """
    listed = re.findall(r"'([^']*)'", scopes)
    path = listed[-2] if len(listed) > 1 else name.rpartition("/")[0]
    parts = [part for part in _BETWEEN.split(path) if part]
    numbered = next((i for i, part in enumerate(parts) if part[-1].isdigit()), len(parts))
    return "/".join(parts[: numbered + 1])


def _scopes(handle: Any) -> str:
    """The scopes in the metadata of a node's message or object; empty if there are none."""
    entries = getattr(handle, "metadata_props", ())
    if isinstance(entries, dict):
        return str(entries.get(_SCOPES, ""))
    return next((text(entry.value) for entry in entries if entry.key == _SCOPES), "")
