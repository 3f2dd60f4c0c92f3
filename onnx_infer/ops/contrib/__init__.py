"""onnxruntime's own operators: the domains com.microsoft, com.microsoft.nchwc, com.ms.internal.nhwc, org.pytorch.aten.

onnx has no schema for them. Each is registered with the names of its inputs in order, as `X W B? rest*`. The rules have
parameters only for the inputs that they use. Output types are those of the first input, unless there is a `dtype`.

The room uses what `ops` uses. To add an operator, write its rule in the file of its family. Begin with `linear.py`.
"""

from __future__ import annotations

from functools import partial

from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import uncounted

contrib = partial(op, domain="com.microsoft")
"""`op` for the domain com.microsoft. All its operators have version 1."""

uncounted_contrib = partial(contrib, cost=uncounted)
"""The same for an operator whose multiply-adds are not counted."""

__all__ = ["contrib", "uncounted_contrib"]
