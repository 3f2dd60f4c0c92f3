"""One-node models: the operator cases at concrete sizes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import onnx
from onnx import helper

from onnx_infer import testing
from onnx_infer.model.graph import normal_domain
from onnx_infer.protobuf.wire import type_bytes
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, Optional, Sequence
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import Expr

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Value

CASES = Path(__file__).parent / "cases"
SIZES = (1, 1, 2, 2, 3, 4, 6, 8)
SUBGRAPHS = {"If", "Loop", "Scan", "SequenceMap"}

Element = int | float | bool | str


class NodeCase(NamedTuple):
    """One node at concrete sizes: `version` is the schema's; inputs carry elements where these are constants."""

    domain: str
    name: str
    version: int
    attributes: dict[str, Any]
    inputs: tuple[Value | None, ...]
    output_count: int

    def __str__(self) -> str:
        prefix = f"{self.domain}::" if self.domain else ""
        attributes = ", ".join(f"{k}={v!r}" for k, v in self.attributes.items())
        inputs = ", ".join("-" if v is None else str(v) for v in self.inputs)
        return f"{prefix}{self.name}-{self.version}({attributes}): {inputs} -> {self.output_count}"

    @property
    def schema(self) -> onnx.defs.OpSchema:
        """onnx's schema of this version."""
        return onnx.defs.get_schema(self.name, self.version, self.domain)


@cache
def versions() -> dict[tuple[str, str], list[int]]:
    """(domain, operator) -> its schema versions."""
    out: dict[tuple[str, str], list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        out.setdefault((normal_domain(schema.domain), schema.name), []).append(schema.since_version)
    return {key: sorted(found) for key, found in out.items()}


@cache
def lines() -> list[str]:
    """The operator cases that are about operators of onnx, in order."""
    texts = [line.strip() for path in sorted(CASES.glob("*.txt")) for line in path.read_text("utf-8").splitlines()]
    return [t for t in texts if t and t[0] != "#" and not t.startswith("com.")]


def _concrete(value: Value | None, rng: Random, sizes: dict[Any, int]) -> Value | None:
    """The value with a number in place of every symbol; the same one for a symbol all over the case."""
    if isinstance(value, SymTensor):
        dims = [*(value.shape or ()), *(x for x in value.data or () if isinstance(x, Expr))]
        for variable in {v for d in dims if isinstance(d, Expr) for v in d.variables()}:
            sizes.setdefault(variable.name, rng.choice(SIZES))
        mapping: Any = {v: sizes[v.name] for d in dims if isinstance(d, Expr) for v in d.variables()}
        return substitute(value, mapping)
    return value


def read(line: str, rng: Random) -> NodeCase | None:
    """A case's node at random sizes; None where it has no concrete form."""
    text, expected = line.rsplit("->", 1)
    call = testing.read_call(text)
    domain, name = normal_domain(call.domain), call.name
    if (domain, name) not in versions() or name in SUBGRAPHS:
        return None
    version = max((v for v in versions()[domain, name] if v <= call.version), default=0)
    if not version:
        return None
    sizes: dict[Any, int] = {}
    inputs = tuple(_concrete(value, rng, sizes) for value in call.inputs)
    wanted = testing.split(expected.partition("error: ")[0])
    outputs = len(wanted) + all(text == "-" for text in wanted)  # an error alone stands for the last output
    case = NodeCase(domain, name, version, call.attributes, inputs, outputs)
    known = case.schema.attributes
    for key, value in case.attributes.items():
        if type(value) is int and key in known and known[key].type == onnx.defs.OpSchema.AttrType.FLOAT:
            case.attributes[key] = float(value)
    return case if all(_is_plain(v) for v in inputs) else None


def _is_plain(value: Value | None) -> bool:
    if not isinstance(value, SymTensor):
        return value is None or bool(type_bytes(value))
    if value.dtype is None:
        return False
    sizes_are = all(isinstance(d, int) and d >= 0 for d in value.shape or ())
    return sizes_are and all(x is not None and isinstance(x, Element) for x in value.data or ())


def element_of(dtype: int | None, x: int) -> Element:
    """A small integer as an element of this type; 0 where the type has it not."""
    if dtype in dt.INTEGER_RANGE:
        low, high = dt.INTEGER_RANGE[dtype]
        return x if low <= x <= high else 0
    return bool(x) if dtype == dt.BOOL else str(x) if dtype == dt.STRING else float(x)


# -- protobuf ----------------------------------------------------------------------------------------------------


def tensor_proto(value: SymTensor, name: str = "") -> onnx.TensorProto:
    """The tensor as a constant; its elements must be known."""
    assert value.dtype is not None
    if value.dtype == dt.STRING:
        return helper.make_tensor(name, value.dtype, value.shape, [str(x).encode() for x in value.data or ()])
    return helper.make_tensor(name, value.dtype, value.shape, list(value.data or ()))


def _plain(value: Any) -> Any:
    """An attribute's value as `helper.make_attribute` wants it."""
    if isinstance(value, SymTensor):
        return tensor_proto(value)
    if isinstance(value, (Sequence, Optional, Map)):
        return onnx.TypeProto.FromString(type_bytes(value) or b"")
    return list(value) if isinstance(value, tuple) else value


def attribute_proto(schema: onnx.defs.OpSchema | None, name: str, value: Any) -> onnx.AttributeProto:
    """An attribute of a case. The schema says what an empty list holds, and whether a whole number is a float."""
    known = None if schema is None else schema.attributes.get(name)
    kinds = onnx.defs.OpSchema.AttrType
    if known is not None and type(value) is int and known.type == kinds.FLOAT:
        value = float(value)
    kind = int(known.type.value) if known is not None and value == () else None
    return helper.make_attribute(name, _plain(value), attr_type=kind)


class NodeProtos(NamedTuple):
    """A node as protobuf, with the types of its inputs and the constants among them."""

    node: onnx.NodeProto
    types: dict[str, onnx.TypeProto]
    data: dict[str, onnx.TensorProto]


def protos(case: NodeCase) -> NodeProtos:
    """The node of a case; input k is named `i<k>`."""
    names = ["" if v is None else f"i{k}" for k, v in enumerate(case.inputs)]
    node = helper.make_node(case.name, names, [f"o{k}" for k in range(case.output_count)], domain=case.domain)
    for key, value in case.attributes.items():
        node.attribute.append(attribute_proto(case.schema, key, value))
    given = [(n, v) for n, v in zip(names, case.inputs, strict=True) if v is not None]
    types = {n: onnx.TypeProto.FromString(type_bytes(v) or b"") for n, v in given}
    data = {n: tensor_proto(v, n) for n, v in given if isinstance(v, SymTensor) and v.data is not None}
    return NodeProtos(node, types, data)


def model(case: NodeCase) -> onnx.ModelProto:
    """The node as a model: constants as initializers, all other inputs as inputs."""
    node, types, data = protos(case)
    inputs = [helper.make_value_info(n, t) for n, t in types.items() if n not in data]
    outputs = [onnx.ValueInfoProto(name=n) for n in node.output]
    graph = helper.make_graph([node], "g", inputs, outputs, list(data.values()))
    newest = onnx.defs.onnx_opset_version()
    opset = helper.make_opsetid(case.domain, case.version)
    others = [] if not case.domain else [helper.make_opsetid("", newest)]
    return helper.make_model(graph, opset_imports=[opset, *others], ir_version=10)
