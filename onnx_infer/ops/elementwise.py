"""Elementwise operators: broadcast arithmetic, comparison and logic; unary functions; Where, Clip, Cast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer import values
from onnx_infer.geometry import broadcast
from onnx_infer.registry import op

if TYPE_CHECKING:
    from onnx_infer.binding import SymTensor
    from onnx_infer.tensor import Shape


@op("Add", since=7, data=values.ADD)
@op("Sub", since=7, data=values.SUBTRACT)
@op("Mul", since=7, data=values.MULTIPLY)
@op("Div", since=7, data=values.DIVIDE)
def broadcast_binary(A: SymTensor, B: SymTensor) -> Shape:
    return broadcast(A.dims, B.dims)
