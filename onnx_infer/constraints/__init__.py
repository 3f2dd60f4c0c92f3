"""ONNX operators as relations between the shapes of their operands, for inference in every direction.

    registration.py    the form of an operator, and its operands by the schema's names
    relations.py       the vocabulary of forms
    elementwise.py     broadcasting; operators whose result has the shape of their input
    linear.py          MatMul, Gemm, Einsum and their kin
    window.py          convolutions, pools, regions
    movement.py        Transpose, Expand, Tile, Pad, Resize, DepthToSpace; Concat, Split
    reshaping.py       Reshape, Flatten, Squeeze, Unsqueeze, Shape
    indexing.py        Gather, Scatter, Slice
    reduction.py       ReduceX, ArgMax, TopK, OneHot, NonZero, Compress; normalizations
    attention.py       Attention, RotaryEmbedding; RNN, GRU, LSTM

An inference rule (`onnx_infer.ops`) goes from inputs to outputs. A form states relations into a `symdim.Store`, which
uses them in every direction. A form states only relations that hold in every run of the node; if it needs to know more
for a relation, it leaves the relation out. A node without a form states nothing. Begin with `registration.py`.
"""

from __future__ import annotations

from onnx_infer.constraints.registration import FAMILIES, BoundForm, Operand, bound_form, form, forms

__all__ = ["FAMILIES", "BoundForm", "Operand", "bound_form", "form", "forms"]
