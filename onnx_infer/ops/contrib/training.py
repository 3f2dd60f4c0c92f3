"""Operators of onnxruntime for training and devices: losses, exchanges, compiled graphs, functions of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import normalize_axis, unknown_shape
from onnx_infer.laws.statements import demand
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.training import negative_log_likelihood, softmax_cross_entropy
from onnx_infer.ops.unary import same_shape_of_input
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import Shape, Value, Values

# -- losses ------------------------------------------------------------------------------------------------------------

# which label is ignored is an operand here
contrib(
    "SoftmaxCrossEntropyLossInternal",
    inputs="scores labels weights? ignore_index?",
    dtype=lambda scores, output_type=None: [output_type or scores.dtype] * 2,
    indices=(1,),
)(softmax_cross_entropy)
contrib(
    "NegativeLogLikelihoodLossInternal",
    "NegativeLogLikelihoodLossInternal2",
    inputs="input target weight? ignore_index?",
    indices=(1,),
)(negative_log_likelihood)

# -- exchanges between devices -----------------------------------------------------------------------------------------

contrib("AllReduce", "AllToAll", inputs="input")(same_shape_of_input)


@contrib("AllGather", inputs="input")
def all_gather(input: SymTensor, group_size: int = 1, axis: int = 0) -> Shape:
    """The tensors of all devices of a group, joined along an axis: its size times the number of devices."""
    demand(group_size >= 1, "group_size must be positive", group_size)
    at = normalize_axis(axis, input.rank)
    return (*input.dims[:at], input.dims[at] * group_size, *input.dims[at + 1 :])


# -- whole graphs of other runtimes ------------------------------------------------------------------------------------


@contrib("EPContext", "Snpe", inputs="inputs*", dtype=lambda: None)
def compiled(inputs: Values) -> Shape:
    """A graph compiled for a device. Nothing is known about it."""
    raise Unknown("the graph is compiled")


# -- functions of Python -----------------------------------------------------------------------------------------------


@contrib("PythonOp", inputs="inputs*", dtype=lambda: None)
def python_op(
    output_count: int, output_tensor_types: tuple[int, ...] = (), output_tensor_ranks: tuple[int, ...] = ()
) -> list[Value]:
    """The context of the function, a scalar, and its results, of which attributes tell the element types and ranks."""
    count = output_count - 1
    for name, told in (("output_tensor_types", output_tensor_types), ("output_tensor_ranks", output_tensor_ranks)):
        require(len(told) >= count, f"{name} has fewer elements than the node has results", len(told), count, sign="<")
        require(min(told, default=0) >= 0, f"{name} has a negative number", list(told))
    results = zip(output_tensor_types, output_tensor_ranks, strict=False)
    tensors = [SymTensor(dtype or None, unknown_shape(rank, "a result of Python")) for dtype, rank in results]
    return [SymTensor(dt.INT64, ()), *tensors[:count]]
