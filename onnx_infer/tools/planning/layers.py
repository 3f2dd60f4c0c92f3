"""Costs and memory by layer. A layer is a module of the exported program; the names of the nodes contain its path.

Exporters put the path of the module into the name of a node (`/encoder/layers.0/attention/MatMul`) or into its metadata
(`pkg.torch.onnx.name_scopes`). The layer is this path up to the first part that ends with a number. So the parts of a
block are one layer, and the blocks are apart. A path without a number is a layer as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.model.graph import first_output
from onnx_infer.results.inferred import Inferred, schedule
from onnx_infer.tools.planning.envelope import envelope
from onnx_infer.values.text import text
from symdim import total

if TYPE_CHECKING:
    from onnx_infer.tools.planning.costs import Costs
    from onnx_infer.tools.planning.memory import MemoryPlan
    from onnx_infer.values.tensor import Dim

_SCOPES = "pkg.torch.onnx.name_scopes"
_BETWEEN = re.compile(r"[/.](?!\d+(?:[/.]|$))")  # not before a number: `layers.0` is one part


class Layer(NamedTuple):
    """A layer: the number of its nodes, their costs, the bytes of the values that they give, and the peak at them.

    `multiply_adds` counts the nodes for which they are known; the other ones are `unknown`. The name is empty for nodes
    without a path. The peak counts all live values, those of other layers too.
    """

    name: str
    nodes: int
    parameters: Dim
    multiply_adds: Dim
    unknown: int
    bytes: Dim
    peak: Dim

    def __repr__(self) -> str:
        name = self.name or "(no layer)"
        return f"<Layer {name}: {self.nodes} nodes, parameters={self.parameters}, multiply_adds={self.multiply_adds}>"


def layers(result: Inferred, costs: Costs, memory: MemoryPlan) -> list[Layer]:
    """The layers of a model in the order of their first nodes, from its costs and its memory."""
    members: dict[str, list[int]] = {}
    messages = getattr(result._engine.model.graph.handle, "node", ())  # those of a ModelProto; others are the handles
    messages = () if callable(messages) else messages  # a method of onnx_ir's graphs
    given = {name: node for node in messages if node.metadata_props for name in node.output if name}
    for i, node in enumerate(schedule(result)):
        handle = given.get(first_output(node), node[5])
        members.setdefault(layer_of(text(node[5].name), _scopes(handle)), []).append(i)
    live = memory.live_sums
    found = []
    for name, places in members.items():
        nodes = [costs.nodes[i] for i in places]
        counts = [node.multiply_adds for node in nodes if node.multiply_adds is not None]
        made = [memory.sizes[value] for i in places for value in memory.steps[i].born]
        found.append(
            Layer(
                name,
                len(nodes),
                total(node.parameters for node in nodes),
                total(counts),
                len(nodes) - len(counts),
                total(made),
                envelope(live[i] for i in places).size,
            )
        )
    return found


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
