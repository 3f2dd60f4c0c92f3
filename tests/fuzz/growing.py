"""A model that grows node by node. Every value has an array, its value at the base sizes; a node stays if it runs."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from symdim import Expr, Var, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from random import Random

    from tests.fuzz.runtime import Runtime

IR_VERSION = 10
FED = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
"""The element types that onnxruntime takes from numpy."""

MOST_ELEMENTS = 4096
"""A value with more elements at the base sizes is dropped with its node."""

SYMBOLS = ("N", "M", "K", "L")
BASE_SIZES = (2, 3, 4, 5, 6, 8)
OTHER_SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16)
DIMS = ("{0}", "{0}", "{0}", "{1}", "{0} + 1", "2*{0}", "{0} + {1}", "({0} + 1)//2", "1", "3", "4", "max({0}, 3)")


class Input(NamedTuple):
    """An input of the graph: its element type, and its sizes as expressions."""

    name: str
    dtype: int
    dims: tuple[int | Expr, ...]

    def info(self) -> onnx.ValueInfoProto:
        """The input as protobuf."""
        return helper.make_tensor_value_info(
            self.name, self.dtype, [d if isinstance(d, int) else str(d) for d in self.dims]
        )

    def array(self, sizes: Mapping[str, int], rng: Random) -> np.ndarray[Any, Any]:
        """Random elements at these sizes of the symbols. Raises ValueError if a size is negative."""
        shape = [d if isinstance(d, int) else d.to_int(dict(sizes)) for d in self.dims]
        return random_array(self.dtype, shape, rng)


def random_array(dtype: int, shape: Sequence[int], rng: Random) -> np.ndarray[Any, Any]:
    """Small elements: whole numbers from -1 to 3 mostly, quarters where the type has them, one of two texts."""
    source = np.random.default_rng(rng.getrandbits(32))
    if dtype == TensorProto.STRING:
        return source.choice(np.array(["a", "b 1"], dtype=object), size=tuple(shape))
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    low = 0 if kind.kind in "ub" else -1
    whole = source.integers(low, 2 if kind.kind == "b" else 4, size=tuple(shape))
    quarters = 0 if kind.kind in "iub" else source.integers(0, 4, size=tuple(shape)) / 4
    return np.asarray(whole + quarters).astype(kind)


class Scope:
    """The nodes of one graph and the arrays of what they may use: its own values and those of the graphs around it."""

    def __init__(self, grower: Grower, outer: Mapping[str, Any]) -> None:
        self.grower = grower
        self.arrays: dict[str, Any] = dict(outer)
        self.own: list[str] = []
        self.depth = 0
        self.nodes: list[onnx.NodeProto] = []

    def pick(self, is_fit: Callable[[Any], bool], own: float = 0.5) -> str | None:
        """A random value that is fit, rather one of the newest ones."""
        rng = self.grower.rng
        fit = [name for name, array in self.arrays.items() if is_fit(array)]
        if not fit:
            return None
        newest = fit[-4:]
        return rng.choice(newest if rng.random() < own else fit)

    def add(self, name: str, array: Any) -> str:
        """A value that is there before the nodes of this graph: a parameter of a body."""
        self.arrays[name] = array
        self.own.append(name)
        return name

    def attempt(self, *nodes: onnx.NodeProto) -> list[str] | None:
        """Add the nodes if they run at the base sizes, and return what the last one makes; else None."""
        made = [o for node in nodes for o in node.output if o]
        results = self.grower.executed(nodes, made, self.arrays)
        if results is None:
            return None
        self.nodes += nodes
        for name, array in zip(made, results, strict=True):
            self.add(name, array)
        return [o for o in nodes[-1].output if o]

    def node(self, op_type: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> onnx.NodeProto:
        """A node with new names for its outputs. Attributes that are None are left out."""
        given = {k: v for k, v in attributes.items() if v is not None}
        names = [self.grower.name() for _ in range(outputs)]
        return helper.make_node(op_type, list(inputs), names, domain=domain, **given)

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        """A constant of the model, as an initializer or as a node."""
        array = np.array(value, dtype=dtype)
        tensor = onnx.numpy_helper.from_array(array)
        grower = self.grower
        if grower.rng.random() < 0.5:
            node = self.node("Constant", value=tensor)
            self.nodes.append(node)
            return self.add(node.output[0], array)
        tensor.name = grower.name()
        grower.initializers[tensor.name] = tensor
        self.arrays[tensor.name] = array
        return tensor.name


class Grower:
    """One random model: inputs with symbolic sizes, then nodes, each tried at the base sizes."""

    def __init__(self, rng: Random, runtime: Runtime, opset: int) -> None:
        self.rng, self.runtime, self.opset = rng, runtime, opset
        self._names = count()
        self._symbols: dict[str, Var] = {}  # those of inputs, which may be 0
        self.sizes: dict[str, int] = {}
        self.inputs: list[Input] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        self.functions: list[onnx.FunctionProto] = []
        self.scope = Scope(self, {})
        self.refused = 0
        self.ml_opset = rng.randint(1, 5)

    def name(self) -> str:
        """A new name of a value."""
        return f"v{next(self._names)}"

    def symbol(self, size: int | None = None) -> str:
        """The name of a symbol: a new one of this base size, or one of a few."""
        if size is None:
            name = self.rng.choice(SYMBOLS)
            self.sizes.setdefault(name, self.rng.choice(BASE_SIZES))
            return name
        same = [name for name, known in self.sizes.items() if known == size]
        if same and self.rng.random() < 0.6:
            return self.rng.choice(same)
        name = f"S{len(self.sizes)}"
        self.sizes[name] = size
        return name

    def input(self, dtype: int, dims: Sequence[int | Expr]) -> str:
        """A new input of the graph."""
        named = {v: v.name for d in dims if isinstance(d, Expr) for v in d.variables()}
        zeros = {v: self._symbols.setdefault(name, Var.fresh(name, 0)) for v, name in named.items()}
        sizes = (d.substitute(zeros) if isinstance(d, Expr) else d for d in dims)
        made = Input(f"x{len(self.inputs)}", dtype, tuple(sizes))
        self.inputs.append(made)
        self.scope.arrays[made.name] = made.array(self.sizes, self.rng)
        return made.name

    def any_input(self, dtype: int, rank: int) -> str:
        """A new input with random sizes."""
        dims = [parse(self.rng.choice(DIMS).format(self.symbol(), self.symbol())) for _ in range(rank)]
        return self.input(dtype, dims)

    def executed(
        self, nodes: Sequence[onnx.NodeProto], made: Sequence[str], arrays: Mapping[str, Any]
    ) -> list[Any] | None:
        """What the nodes make of these arrays; None if they are refused or make too much."""
        # a constant that a body uses may be an initializer, which only the scope of the body knows
        used = [name for name in captured(nodes) if name in arrays or name in self.initializers]
        inputs = [value_info(name, arrays[name]) for name in used if name not in self.initializers]
        constants = [self.initializers[name] for name in used if name in self.initializers]
        outputs = [onnx.ValueInfoProto(name=name) for name in made]
        graph = helper.make_graph(list(nodes), "g", inputs, outputs, constants)
        model = self.finished(graph)
        (outcome,) = self.runtime.run(
            model.SerializeToString(), [{name: arrays[name] for name in used if name in arrays}]
        )
        if isinstance(outcome, str) or not all(map(is_small, outcome)):
            self.refused += 1
            return None
        return [np.asarray(x) if isinstance(x, np.generic) else x for x in outcome]

    def finished(self, graph: onnx.GraphProto) -> onnx.ModelProto:
        """The graph as a model, with the functions."""
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        opsets += [helper.make_opsetid("ai.onnx.ml", self.ml_opset), helper.make_opsetid("local", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, functions=self.functions)

    def claimed(self, name: str) -> onnx.ValueInfoProto:
        """The type of a value, perhaps with sizes that its author claims: what holds at the base sizes."""
        array = self.scope.arrays[name]
        if isinstance(array, list) or self.rng.random() < 0.6:
            return value_info(name, array, sizes=False)
        return helper.make_tensor_value_info(name, dtype_of(array), list(map(self.claim, array.shape)))

    def claim(self, size: int) -> int | str | None:
        """A size as an author writes it: a number, a symbol or a sum with one, a name of its own, or nothing."""
        own = {d.name for i in self.inputs for d in i.dims if isinstance(d, Var)}
        symbols = [name for name, known in self.sizes.items() if known == size and name in own]
        sums = [f"{name} + {size - self.sizes[name]}" for name in sorted(own) if self.sizes[name] < size]
        return self.rng.choice([None, size, f"D{size}", f"D{size}", *symbols, *sums[:2]])

    def model(self) -> onnx.ModelProto:
        """The model. Every tensor and sequence of its main graph is an output."""
        scope = self.scope
        used = set(captured([node for node in scope.nodes if node.op_type != "Constant"]))
        used |= {name for node in scope.nodes for name in node.input}
        nodes = [n for n in scope.nodes if n.op_type != "Constant" or n.output[0] in used]
        made = [o for node in nodes for o in node.output if o and scope.arrays.get(o) is not None]
        are_claimed = self.rng.random() < 0.3
        outputs = [self.claimed(name) if are_claimed else value_info(name, scope.arrays[name], False) for name in made]
        inputs = [i.info() for i in self.inputs]
        constants = [tensor for name, tensor in self.initializers.items() if name in used]
        if self.rng.random() < 0.3:  # initializers that a caller may replace
            may_be_given = [tensor for tensor in constants if self.rng.random() < 0.3]
            inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in may_be_given]
        return self.finished(helper.make_graph(nodes, "g", inputs, outputs, constants))


def is_small(value: Any) -> bool:
    """Whether a value has few elements. None, an optional without an element, has none. Maps are left out."""
    if isinstance(value, list):
        return len(value) <= 64 and all(map(is_small, value))
    return value is None or (not isinstance(value, dict) and np.size(value) <= MOST_ELEMENTS)


def value_info(name: str, value: Any, sizes: bool = True) -> onnx.ValueInfoProto:
    """The type of an array or of a list of arrays, with its sizes where these are wanted."""
    if isinstance(value, list):
        element = value[0] if value else np.zeros((), np.float32)
        return helper.make_tensor_sequence_value_info(name, dtype_of(element), None)
    shape = None if not sizes else value.shape
    return helper.make_tensor_value_info(name, dtype_of(value), shape)


def dtype_of(array: np.ndarray[Any, Any]) -> int:
    """The element type of an array."""
    if array.dtype.kind in "OSU":
        return TensorProto.STRING
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def captured(nodes: Sequence[onnx.NodeProto]) -> list[str]:
    """The values that nodes use but do not make, those that only their bodies use too, in order."""
    made: set[str] = set()
    used: dict[str, None] = {}
    for node in nodes:
        for name in (*node.input, *(n for body in bodies(node) for n in _captured_by(body))):
            if name and name not in made:
                used[name] = None
        made.update(node.output)
    return list(used)


def bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The bodies of a node."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g


def _captured_by(body: onnx.GraphProto) -> list[str]:
    own = {i.name for i in body.input} | {t.name for t in body.initializer}
    own |= {o for node in body.node for o in node.output}
    found = [name for name in captured(body.node) if name not in own]
    return found + [o.name for o in body.output if o.name not in own]
