"""onnxruntime's own operators: the domains com.microsoft, com.microsoft.nchwc and com.ms.internal.nhwc.

onnx has no schema for them. Each is registered with the names of its inputs in order, as `X W B? rest*`; the rules take
those that they use. Output types are those of the first input, where no `dtype` says otherwise.
"""

from __future__ import annotations

from functools import partial

from onnx_infer.operators.registration import op

contrib = partial(op, domain="com.microsoft")
"""`op` for the domain com.microsoft; every operator of it has version 1."""

__all__ = ["contrib"]
