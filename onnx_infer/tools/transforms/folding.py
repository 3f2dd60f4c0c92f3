"""Folding: a smaller model that computes the same, made of what inference knows of the sizes and elements.

Each round infers the model as it is. The walk is cautious: it assumes nothing, and takes every size from 0 on. What the
author declares of intermediate values counts for nothing. So what is known holds in every run that a runtime accepts.
The bodies of functions stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto, helper

from onnx_infer.inference import Initializers, Request, run, with_options
from onnx_infer.protobuf.declarations import innermost_dims
from onnx_infer.protobuf.files import Source, read_model
from onnx_infer.protobuf.names import clear_sizes, device_configurations, drop_arena
from onnx_infer.protobuf.nodes import graphs_of, subgraphs
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.protobuf.specialize import with_input_shapes
from onnx_infer.result import InferenceResult
from onnx_infer.tools.materialization import INITIALIZERS_ALONE_SINCE
from onnx_infer.tools.transforms.draft import (
    Draft,
    constants_as_nodes,
    count_nodes,
    drop_unread,
    has_texts,
    is_default,
    make_names_unique,
)
from onnx_infer.tools.transforms.refusals import Refusals
from onnx_infer.tools.transforms.rewriting import Rewriting
from onnx_infer.tools.transforms.size_nodes import cheapest
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor, Value, is_small

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from onnx_infer.model.input_shapes import InputShape
    from onnx_infer.model.input_values import InputValue


_MOST_ROUNDS = 8


class Facts(TypedDict, total=False):
    """What the caller knows of every run: the options of `onnx_infer.infer` of these names."""

    bounds: Mapping[str, tuple[int, int | None]] | None
    min_dim: int
    assume: Sequence[str]
    initializers: Initializers
    values: Mapping[str, InputValue] | None
    bind: Mapping[str, int | str] | None
    input_shapes: Mapping[str, InputShape] | None


@with_options(Facts)
def fold(model: Source, *, keep_guards: bool = False, **facts: Unpack[Facts]) -> onnx.ModelProto:
    """A copy of the model that computes the same with fewer nodes.

    Every run has the same outputs, bit for bit, and is refused where the original refuses it. Inputs stay, and outputs
    keep their names and types. `facts` narrow the runs for which this holds: `bounds`, `assume`, `values`,
    `initializers` as for `onnx_infer.infer`, and `min_dim`, which is 0 here. `bind`, `input_shapes` write inputs.

    A node that refuses a run by a law of its own stays, unless another one that stays has the same law. With
    `keep_guards` such nodes stay too, so every refusal names the node that it named before.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
    ...     g (float[N, S, 8] x) => (float[N, S, 2, 4] y) <int64[2] heads = {2, 4}> {
    ...         s = Shape <start = 0, end = 2> (x)  t = Concat <axis = 0> (s, heads)  y = Reshape (x, t) }''')
    >>> folded = fold(model)
    >>> [node.op_type for node in folded.graph.node], onnx.numpy_helper.to_array(folded.graph.initializer[0])
    (['Reshape'], array([0, 0, 2, 4]))
    """
    source = read_model(model)
    bind, shapes = facts.pop("bind", None), facts.pop("input_shapes", None)
    if bind or shapes:
        source = with_input_shapes(source, shapes or {}, bind)
    folded = onnx.ModelProto()
    folded.CopyFrom(source)
    facts.setdefault("min_dim", 0)
    if folded.training_info or not has_texts(folded):  # training graphs read values of the main graph
        return folded
    drop_arena(folded)
    make_names_unique(folded)
    claims = Claims(folded)
    for _ in range(_MOST_ROUNDS):
        if not _round(folded, claims, keep_guards, facts):
            break
    claims.put_back()
    if folded.ir_version < INITIALIZERS_ALONE_SINCE:
        constants_as_nodes(folded.graph)
    return folded


class Claims:
    """The declared types of a model. It has none until `put_back`; those of its inputs stay.

    The ranks of a Loop's counter and condition stay, too: a runtime hands them over with the rank that the body
    declares, as scalars or as vectors of one element.
    """

    def __init__(self, model: ModelProto) -> None:
        self._model = model
        self._infos: dict[str, ValueInfoProto] = {}
        self._types: list[tuple[ValueInfoProto, TypeProto]] = []
        self._graphs = list(graphs_of(model.graph))
        nodes = [node for graph in self._graphs for node in graph.node if node.op_type == "Loop" and is_default(node)]
        loops = {id(body) for node in nodes for body in subgraphs(node)}
        for graph in self._graphs:
            self._infos.update((info.name, _copy(info)) for info in graph.value_info)
            del graph.value_info[:]
            inner = () if graph is self._graphs[0] else graph.input
            handed = 2 if id(graph) in loops else 0
            for i, info in enumerate((*inner, *graph.output)):
                if info.HasField("type"):
                    self._types.append((info, _copy(info).type))
                    if i < handed:
                        clear_sizes(innermost_dims(info.type))
                    else:
                        info.ClearField("type")

    def shaped(self) -> set[str]:
        """The values whose declared type has a shape."""
        kinds = [(info.name, info.type) for info in self._infos.values()]
        kinds += [(info.name, kind) for info, kind in self._types]
        return {name for name, kind in kinds if kind.tensor_type.HasField("shape")}

    def follow(self, replaced: Mapping[str, str]) -> None:
        """Let values that are read in place of others have the declared types of these, if they have no shape.

        onnxruntime infers a wrong rank of some values and believes a declared one: of a ConstantOfShape, for example,
        whose sizes a backward Slice cuts from a vector. Without the declared type it refuses the model.
        """
        shaped = self.shaped()
        for name, other in replaced.items():
            if name in self._infos and name in shaped and other not in shaped:
                self._infos.setdefault(other, ValueInfoProto(name=other)).type.CopyFrom(self._infos[name].type)
                shaped.add(other)

    def put_back(self) -> None:
        """Declare the types again, of the values that are left."""
        for info, kind in self._types:
            info.type.CopyFrom(kind)
        for graph in graphs_of(self._model.graph):
            names = {tensor.name for tensor in graph.initializer}.union(*(node.output for node in graph.node))
            names.difference_update(info.name for info in graph.output)
            graph.value_info.extend(info for name, info in self._infos.items() if name in names)


def _copy(info: ValueInfoProto) -> ValueInfoProto:
    copy = ValueInfoProto()
    copy.CopyFrom(info)
    return copy


def take_decided_branches(
    model: ModelProto, types: Mapping[str, Value], is_upheld: Callable[[NodeProto], bool]
) -> bool:
    """Replace the Ifs of known condition, at any depth, by their branch; return whether there was one.

    The names of the values are unique already. An inner If is replaced before the one around it.
    """
    is_changed = False
    for graph in reversed(list(graphs_of(model.graph))):
        for place in reversed(range(len(graph.node))):
            node = graph.node[place]
            condition = types.get(node.input[0]) if is_default(node) and node.op_type == "If" and node.input else None
            taken = condition.data[0] if isinstance(condition, SymTensor) and condition.data else None
            if device_configurations(node):  # its branches run where it does
                continue
            if isinstance(taken, bool) and is_upheld(node) and _put_in_place(graph, place, taken):
                is_changed = True
    return is_changed


def _put_in_place(graph: GraphProto, place: int, taken: bool) -> bool:
    node = NodeProto()
    node.CopyFrom(graph.node[place])
    name = "then_branch" if taken else "else_branch"
    branch = next((attribute.g for attribute in node.attribute if attribute.name == name), None)
    if branch is None or len(branch.output) < len(node.output) or branch.sparse_initializer:
        return False
    pairs = [(info.name, result) for info, result in zip(branch.output, node.output, strict=False) if result]
    others = sum(len(graph.node) for graph in subgraphs(node)) - len(branch.node)
    if len(pairs) > 1 + others:  # the Identities may stay, where they decide how nodes round
        return False
    del graph.node[place]
    graph.initializer.extend(branch.initializer)
    graph.value_info.extend(branch.value_info)
    graph.quantization_annotation.extend(branch.quantization_annotation)
    given_back = [helper.make_node("Identity", [inner], [outer], f"{outer}_taken") for inner, outer in pairs]
    for i, inner in enumerate([*branch.node, *given_back]):
        graph.node.insert(place + i, inner)
    return True


def _round(model: onnx.ModelProto, claims: Claims, keep_guards: bool, facts: Facts) -> bool:
    """Infer the model and change it once; return whether another round may find more."""
    before = count_nodes(model)
    result = InferenceResult(run(Request(ModelProtoFrontEnd(model), policy="override", is_cautious=True, **facts)))
    all_constant = facts.get("initializers") == "constant"
    draft = Draft(model, result._record.scope.operators, all_constant, claims.shaped())
    types = _types(result, draft)
    refusals = Refusals(result, draft, types, keep_guards)
    if take_decided_branches(model, types, refusals.is_upheld):
        return True
    rewriting = Rewriting(draft, types, refusals, result._record.model.opsets.get("", 0))
    rewriting.run()
    chosen = cheapest(draft, rewriting.wanted(), result, refusals.may_go)
    if chosen is not None:
        rewriting.read_sizes(chosen)
    draft.remove(draft.unread(draft.uses(), refusals.may_go))
    draft.settle(() if chosen is None else chosen.nodes)
    claims.follow(draft.replaced())
    drop_unread(model)
    return count_nodes(model) < before


def _types(result: InferenceResult, draft: Draft) -> dict[str, Value]:
    """The types of the values of all graphs by name, small constants with their elements."""
    types = dict(result.types)
    for index in result._index.outer_first(lambda body: False):
        index.scope.touch(index.graph.literals)
        types.update(index.scope)
    for name, tensor in draft.constants.items():
        value = types.get(name)
        if isinstance(value, SymTensor) and value.data is None and is_small(value):
            types[name] = result._record.model.load(tensor)
    # an unknown size stands for different sizes from one walk of a graph to the next
    return {name: value for name, value in types.items() if UNKNOWN_SIZE not in (value.shape or ())}
