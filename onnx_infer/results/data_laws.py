"""Laws on the values of inputs: indices into an axis. Sizes do not decide whether a run breaks such a law.

A look-up by token, edge or position ids fails if one of them is out of bounds. If the elements of an input decide that,
a run may fail although every guard holds. The laws here name these inputs.

Exporters write positions as `CumSum(mask) * mask + 1`, counts of tokens. They are at most S + 1, whatever the mask is.
So a look-up by them is in bounds for all inputs where S is small enough, and the law says so.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from onnx_infer.elements.lifting import SAME
from onnx_infer.model.graph import Node, label_of, title_of
from onnx_infer.operators.rule import NO_TRAITS
from onnx_infer.results.guards import NodeName
from onnx_infer.results.inferred import Inferred, once
from onnx_infer.values.dtype import BOOL, INT32, INT64
from onnx_infer.values.tensor import SymTensor, is_told
from symdim.algebra.named_tuple import NamedTuple
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Dim, Value


class DataLaw(NamedTuple):
    """A law that the elements of `inputs` decide, and the nodes that state it."""

    law: str
    inputs: tuple[str, ...]
    origins: tuple[NodeName, ...]

    def __str__(self) -> str:
        """
        >>> print(DataLaw("index out of bounds", ("ids",), (NodeName("Gather", "words"),)))
        input 'ids': index out of bounds (Gather 'words')
        """
        names = ", ".join(f"'{name}'" for name in self.inputs)
        inputs = f"input{'s' * (len(self.inputs) != 1)} {names}"
        more = f" and {len(self.origins) - 1} more" if len(self.origins) > 1 else ""
        return printable(f"{inputs}: {self.law} ({self.origins[0]}{more})")


@once
def data_laws(result: Inferred) -> list[DataLaw]:
    """The laws of look-ups whose indices are computed from elements of inputs: one for each set of inputs, in order.

    >>> import onnx.parser, onnx_infer
    >>> model = onnx.parser.parse_model('''
    ... <ir_version: 10, opset_import: ["": 20]>
    ... g (float[W, H] words, int64[N, S] ids) => (y) { i = Neg (ids) y = Gather (words, i) }''')
    >>> print(*onnx_infer.infer(model).data_laws)
    input 'ids': index out of bounds (Gather 'y')

    A law says where all elements fulfil it, if they count something (`_greatest_of`).
    """
    types, operators = result.types, result._record.scope.operators
    listed = result.inputs
    deciding = {name: 1 << i for i, name in enumerate(listed)}  # value -> the inputs that decide it, one bit each
    counts: dict[str, Dim] = {}  # value -> its greatest element
    stated: dict[tuple[int, str], list[NodeName]] = {}
    for node in result._index.nodes:
        title, inputs = title_of(node), node[2]
        of_node = reduce(or_, [deciding.get(name, 0) for name in inputs], 0)
        traits = operators.traits(node[0], node[1]) if of_node else NO_TRAITS
        for i in traits.indices:
            name = inputs[i] if i < len(inputs) else ""
            if name in deciding and not is_told(types.get(name)):
                where = _where_in_bounds(node, types, counts)
                if where is not None:
                    stated.setdefault((deciding[name], where), []).append(NodeName(title, label_of(node)))
        operator = operators[node[1], node[0]] if of_node else None
        count = None if operator is None else _greatest_of(node, operator, counts, types)
        if count is not None:
            counts[node[3][0]] = count
        for name in node[3]:
            if of_node and not traits.bounded and not is_told(types.get(name)):
                deciding[name] = of_node
            else:
                deciding.pop(name, None)
    laws = []
    for (bits, where), nodes in stated.items():
        names = tuple([name for i, name in enumerate(listed) if bits >> i & 1])
        laws.append(DataLaw(f"index out of bounds{where}", names, tuple(dict.fromkeys(nodes))))
    return laws


def _where_in_bounds(node: Node, types: Mapping[str, Value], counts: Mapping[str, Dim]) -> str | None:
    """At which sizes all indices of a look-up are in bounds, as a text; empty if that is not known, None: at all."""
    op_type, domain, inputs, _, attributes, _ = node
    table = types.get(inputs[0])
    most = _greatest(inputs[1], counts, types) if op_type == "Gather" and not domain else None
    if most is None or not isinstance(table, SymTensor) or not table.shape:
        return ""
    axis: Any = attributes.values.get("axis", 0)
    if not -table.rank <= axis < table.rank:
        return ""
    from symdim.relations.relation import Relation  # few models need it
    from symdim.relations.solving import solve

    conditions = solve(Relation("at_most", most + 1, table.dims[axis]))
    if conditions == []:
        return None
    return "" if conditions is None else f" unless {' and '.join(map(str, conditions))}"


# -- bounds of elements that a run counts ------------------------------------------------------------------------------


def _greatest(name: str, known: Mapping[str, Dim], types: Mapping[str, Value]) -> Dim | None:
    """The greatest element of a value, if none is negative; None if that is not known.

    `known` are those of the values that nodes give.
    """
    value = types.get(name)
    if not isinstance(value, SymTensor):
        return None
    if value.dtype == BOOL:
        return 1
    numbers = [x for x in value.data or () if isinstance(x, int) and x >= 0]
    return max(numbers) if numbers and len(numbers) == len(value.data or ()) else known.get(name)


def _greatest_of(node: Node, operator: Operator, known: Mapping[str, Dim], types: Mapping[str, Value]) -> Dim | None:
    """The greatest element of the result of a node, if none is negative; None if that is not known.

    No integer wraps: counts are below the sizes of tensors, and to these only numbers are added.
    """
    op_type, _, inputs, outputs, _, _ = node
    result = types.get(outputs[0]) if outputs else None
    if not isinstance(result, SymTensor) or result.dtype not in (INT32, INT64):
        return None
    most = [_greatest(name, known, types) for name in inputs]
    first = most[0] if most else None
    if first is None:
        return None
    if operator.rule.moves or operator.rule.data is SAME:
        return first
    second = most[1] if len(most) == 2 else None
    if op_type == "Add" and second is not None and (isinstance(first, int) or isinstance(second, int)):
        return first + second
    if op_type == "Mul" and second is not None and 1 in (first, second):
        return first * second
    if op_type == "CumSum" and first == 1 and isinstance(second, int) and result.shape:
        axis = types[inputs[1]]
        assert isinstance(axis, SymTensor)
        return result.dims[second] if axis.data == (second,) and second < result.rank else None
    return None
