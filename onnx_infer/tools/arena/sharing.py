"""Which values of a model share storage: views of another value, and results in the place of an operand that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from onnx_infer.results.sources import without_computed
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value
from symdim import Expr, product
from symdim.algebra.dims import at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from onnx_infer.model.graph import Node

RESHAPING = frozenset(("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"))
"""Operators whose result has the elements of the first operand in their order."""

VIEWS = RESHAPING | {"Slice", "Split"}

_ELEMENTWISE = """
    Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast Ceil Celu Clip Cos Cosh Dropout Elu Erf Exp Floor Gelu
    HardSigmoid HardSwish LeakyRelu Log LogSoftmax Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh
    Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu BatchNormalization GroupNormalization
    InstanceNormalization LayerNormalization RMSNormalization LpNormalization MeanVarianceNormalization PRelu Pow Max
    Min Mean Sum
"""
_TWO = """
    Add Sub Mul Div Mod And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift Equal Greater GreaterOrEqual Less
    LessOrEqual
"""
IN_PLACE: Mapping[str, int] = {**dict.fromkeys(_ELEMENTWISE.split(), 1), **dict.fromkeys(_TWO.split(), 2), "Where": 3}
"""Operators that may write the first result over an operand of its shape and element size -> among so many operands."""


Kind: TypeAlias = Literal["own", "view", "in place"]


class Place(NamedTuple):
    """Where a value is stored: in the storage of `root`, so many bytes from its beginning.

    A "view" has the bytes that are there already; a value "in place" is written over those of an operand.
    """

    root: str
    start: Dim = 0
    kind: Kind = "own"


class Sharing:
    """The places of values. `places` grows node by node; values that share nothing are their own roots.

    `exact`: the values whose size is no upper bound. `fixed`: values whose storage is the caller's or a weight. Nothing
    is written over them, and an output of the model is no view of them. `last`: value -> the step of its last reader,
    or the number of steps for an output.
    """

    def __init__(
        self,
        types: Mapping[str, Value],
        sizes: Mapping[str, Dim],
        exact: Collection[str],
        last: Mapping[str, int],
        fixed: Collection[str],
        views: Collection[str],
        in_place: Collection[str],
    ) -> None:
        self.types, self.sizes, self.exact, self.last, self.fixed = types, sizes, exact, last, fixed
        self.views, self.in_place = views, in_place
        self.places: dict[str, Place] = {}
        self._ends: dict[str, int] = {}  # root -> the last step that reads any of its values

    def add(self, name: str, place: Place | None = None) -> None:
        """Add a value, in the storage of another one or of its own."""
        place = self.places[name] = place or Place(name)
        self._ends[place.root] = max(self._ends.get(place.root, 0), self.last[name])

    def add_outputs(self, step: int, node: Node, outputs: Collection[str], steps: int) -> None:
        """Add the results of a node. `outputs` are those that have a size and are not fixed."""
        views = dict(self._views(node))
        for number, name in enumerate(node[3]):
            if name not in outputs:
                continue
            place = views.get(number)
            if place is not None and self.last[name] == steps and place.root in self.fixed:
                place = None  # an output of the model is a copy of a weight or of the caller's input
            if place is None and number == 0 and node[0] in self.in_place:
                place = self._over_operand(step, node)
            self.add(name, place)

    def _views(self, node: Node) -> Iterator[tuple[int, Place]]:
        """The results that are parts of the first operand: the number of each, and its place."""
        op_type, domain, inputs, _, attributes, _ = node
        if domain or op_type not in self.views or not inputs or inputs[0] not in self.places:
            return
        whole = self.places[inputs[0]]
        if op_type in RESHAPING:
            yield 0, whole._replace(kind="view")
            return
        value = self.types[inputs[0]]
        bits = dt.BITS.get(value.dtype or 0, 0) if isinstance(value, SymTensor) else 0
        if bits and bits % 8 == 0:
            starts = _split_starts if op_type == "Split" else _slice_starts
            for number, start in starts(
                attributes.values, [self.types[x] if x else None for x in inputs], self._made(node)
            ):
                yield number, Place(whole.root, whole.start + without_computed(start) * (bits // 8), "view")

    def _made(self, node: Node) -> list[Value | None]:
        """The types of the results that have a size which is no upper bound."""
        return [self.types[name] if name in self.exact else None for name in node[3]]

    def _over_operand(self, step: int, node: Node) -> Place | None:
        """The place of an operand that the first result may overwrite, the largest storage first."""
        op_type, domain, inputs, outputs, _, _ = node
        if domain:
            return None
        result = self.types[outputs[0]]
        for name in inputs[: IN_PLACE[op_type]]:
            place = self.places.get(name)
            if place is None or place.root in self.fixed or self._ends[place.root] != step:
                continue
            others = {self.places[x].root for x in inputs if x != name and x in self.places}
            if place.root not in others and _same_elements(self.types[name], result):
                return place._replace(kind="in place")
        return None


def _same_elements(operand: Value, result: Value) -> bool:
    """Whether two tensors have the same sizes, and elements of as many bits."""
    if not isinstance(operand, SymTensor) or not isinstance(result, SymTensor) or operand.shape is None:
        return False
    return operand.shape == result.shape and dt.BITS.get(operand.dtype or 0) == dt.BITS.get(result.dtype or 0)


def _split_starts(
    attributes: Mapping[str, Any], operands: Sequence[Value | None], results: Sequence[Value | None]
) -> Iterator[tuple[int, Dim]]:
    """The results of a Split that are one piece of the operand, each with its first element."""
    whole = _dims(operands[0])
    axis = attributes.get("axis") or 0
    if whole is None or not -len(whole) <= axis < len(whole) or not _is_first(whole, axis % len(whole)):
        return
    row = product(whole[axis % len(whole) + 1 :])
    start: Dim = 0
    for number, result in enumerate(results):
        part = _dims(result)
        if part is None:
            return
        yield number, start * row
        start = start + part[axis % len(whole)]


def _slice_starts(
    attributes: Mapping[str, Any], operands: Sequence[Value | None], results: Sequence[Value | None]
) -> Iterator[tuple[int, Dim]]:
    """The result of a Slice with its first element, if it is one piece of the operand."""
    whole, part = _dims(operands[0]), _dims(results[0])
    starts, _, axes, steps = (
        _elements(operands[i]) if i < len(operands) and operands[i] is not None else attributes.get(name)
        for i, name in enumerate(("starts", "ends", "axes", "steps"), 1)
    )
    if whole is None or part is None or starts is None or any(step != 1 for step in steps or ()):
        return
    if axes is None:
        axes = range(len(starts))
    cut = [i for i, (a, b) in enumerate(zip(whole, part, strict=True)) if a != b]
    if not cut:
        yield 0, 0
        return
    begins = {axis % len(whole): start for axis, start in zip(axes, starts, strict=True) if isinstance(axis, int)}
    axis = cut[0]
    if len(cut) > 1 or not _is_first(whole, axis) or len(begins) < len(starts):
        return
    start = begins.get(axis)
    if start is None:
        return
    if at_most(start, -1):
        start = start + whole[axis]
    if at_least(start, 0) and at_least(whole[axis] - start - part[axis], 0):
        yield 0, start * product(whole[axis + 1 :])


def _is_first(shape: Shape, axis: int) -> bool:
    """Whether all axes before this one have size 1, so that its parts lie one behind the other."""
    return all(dim == 1 for dim in shape[:axis])


def _dims(value: Value | None) -> Shape | None:
    return value.shape if isinstance(value, SymTensor) else None


def _elements(value: Value | None) -> Sequence[Any] | None:
    """The known elements of a vector; None if one is not known."""
    data = value.data if isinstance(value, SymTensor) else None
    return None if data is None or any(not isinstance(x, (int, Expr)) for x in data) else data
