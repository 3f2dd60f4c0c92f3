"""One-node models for fuzzing: the operator cases at concrete sizes, and random changes of them."""

from __future__ import annotations

from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

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
    from collections.abc import Callable, Iterator

    from onnx_infer.values.tensor import Value

CASES = Path(__file__).parent / "cases"
SIZES = (1, 1, 2, 2, 3, 4, 6, 8)
INTEGERS = (-9, -3, -2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 7, 100)
STRINGS = ("", "no such", "NOTSET", "VALID", "SAME_UPPER", "linear", "reflect", "sum")
DTYPES = (1, 7, 6, 9, 2, 10, 11, 8, 3, 13, 16, 14)
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
    for key, value in case.attributes.items():  # mutations change the elements of lists by their kind
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


# -- changes -----------------------------------------------------------------------------------------------------


def mutated(case: NodeCase, rng: Random) -> NodeCase:
    """The case with one random change."""
    changes: list[Callable[[NodeCase, Random], NodeCase]] = [_input_changed] * 5 + [_attribute_changed] * 3
    return rng.choice([*changes, _arity_changed, _version_changed])(case, rng)


def _input_changed(case: NodeCase, rng: Random) -> NodeCase:
    places = [i for i, v in enumerate(case.inputs) if isinstance(v, SymTensor)]
    if not places:
        return case
    i = rng.choice(places)
    value = case.inputs[i]
    assert isinstance(value, SymTensor)
    new = _data_changed(value, rng) if value.data is not None and rng.random() < 0.6 else _type_changed(value, rng)
    return case._replace(inputs=(*case.inputs[:i], new, *case.inputs[i + 1 :]))


def _type_changed(value: SymTensor, rng: Random) -> SymTensor:
    kind = rng.random()
    if kind < 0.1:
        return SymTensor(rng.choice(DTYPES), value.shape)
    if kind < 0.15 or value.shape is None:
        return SymTensor(value.dtype, None)
    shape = list(value.shape)
    at = rng.randrange(len(shape) + 1)
    if kind < 0.35 or not shape:
        shape.insert(at, rng.choice(SIZES))
    elif kind < 0.55:
        del shape[min(at, len(shape) - 1)]
    else:
        shape[min(at, len(shape) - 1)] = rng.choice((*SIZES, 0, 5, 7))
    return SymTensor(value.dtype, shape)


def _data_changed(value: SymTensor, rng: Random) -> SymTensor:
    data = list(value.data or ())
    kind = rng.random()
    if kind < 0.2 or not data or value.dtype == dt.STRING:
        return value.without_data()
    if kind < 0.4 and len(value.dims) == 1:
        data = [*data, rng.choice(data)] if rng.random() < 0.5 else data[:-1]
        return SymTensor(value.dtype, (len(data),), data)
    data[rng.randrange(len(data))] = element_of(value.dtype, rng.choice(INTEGERS))
    return SymTensor(value.dtype, value.shape, data)


def element_of(dtype: int | None, x: int) -> Element:
    """A small integer as an element of this type; 0 where the type has it not."""
    if dtype in dt.INTEGER_RANGE:
        low, high = dt.INTEGER_RANGE[dtype]
        return x if low <= x <= high else 0
    return bool(x) if dtype == dt.BOOL else str(x) if dtype == dt.STRING else float(x)


def _attribute_changed(case: NodeCase, rng: Random) -> NodeCase:
    known = case.schema.attributes
    attributes = dict(case.attributes)
    kind = rng.random()
    if kind < 0.05:
        attributes["no_such"] = 1
    elif kind < 0.15 and attributes:
        del attributes[rng.choice(sorted(attributes))]
    elif kind < 0.2 and attributes:
        attributes[rng.choice(sorted(attributes))] = rng.choice((1, 0.5, "text", (1, 2), (0.5,)))
    elif known:
        name = rng.choice(sorted(known))
        new = _attribute(known[name].type, attributes.get(name), rng)
        if new is not None:
            attributes[name] = new
    return case._replace(attributes=attributes)


def _attribute(kind: Any, old: Any, rng: Random) -> Any:
    types = onnx.defs.OpSchema.AttrType
    if kind == types.INT:
        return rng.choice((*INTEGERS, *DTYPES))
    if kind == types.FLOAT:
        return float(rng.choice(INTEGERS)) / 2
    if kind == types.STRING:
        return rng.choice(STRINGS)
    if kind == types.INTS:
        out = list(old) if isinstance(old, tuple) else [rng.choice((0, 1, 1, 2)) for _ in range(rng.randrange(5))]
        change = rng.random()
        if change < 0.35 or not out:
            out.insert(rng.randrange(len(out) + 1), rng.choice(INTEGERS))
        elif change < 0.6:
            del out[rng.randrange(len(out))]
        else:
            out[rng.randrange(len(out))] = rng.choice(INTEGERS)
        return tuple(out)
    return None


def _arity_changed(case: NodeCase, rng: Random) -> NodeCase:
    inputs = list(case.inputs)
    kind = rng.random()
    if kind < 0.3 and inputs:
        inputs[rng.randrange(len(inputs))] = None
    elif kind < 0.55 and inputs:
        inputs.pop()
    elif kind < 0.8:
        inputs.append(rng.choice(inputs) if inputs else SymTensor(1, (2,)))
    else:
        return case._replace(output_count=max(1, case.output_count + rng.choice((-1, 1))))
    return case._replace(inputs=tuple(inputs))


def _version_changed(case: NodeCase, rng: Random) -> NodeCase:
    return case._replace(version=rng.choice(versions()[case.domain, case.name]))


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


def draw(seed: int) -> Iterator[NodeCase]:
    """Random nodes for ever: a case at random sizes, with none to three changes.

    A new line among the cases changes nothing of what is drawn of the others.
    """
    texts = sorted(lines(), key=lambda text: crc32(f"{seed} {text}".encode()))
    for turn in count():
        for text in texts:
            rng = Random(f"{seed} {turn} {text}")
            case = read(text, rng)
            if case is None:
                continue
            for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
                case = mutated(case, rng)
            yield case
