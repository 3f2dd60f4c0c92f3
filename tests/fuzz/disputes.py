"""Where runtimes, onnx and the specification disagree: the messages by which judges know it."""

from __future__ import annotations

from tests.fuzz.runtime import CRASHED, TOO_LARGE
from tests.fuzz.subject import PLANNING

ON_PURPOSE = (
    "SAME padding of a dilated pool", "the window of the pool exceeds the padded size",
    "what a backward slice to the largest integer means",
    "the slope is larger than X",
    "the branches of If: ", "which branch is taken",  # onnx takes the type of the branch that it knows
)  # fmt: skip
"""Reasons of sizes that are unknown because runtimes disagree."""

OWN_LIMITS = (
    PLANNING, CRASHED, *TOO_LARGE, "shape set for all outputs", "subgraph input 0 has unknown shape",
    "Mismatch between expected shape and shape from first output",  # Scan behind a pool: onnx says 4, not 3
    "Op (Scan) [TypeInferenceError] Graph attribute inferencing failed",  # such a Scan, where its body reads the pool
    "The output OrtValue provided for output",  # an If in an If
    "Op (If) [ShapeInferenceError] Mismatch between number of inferred",  # of two ranks, before If-11
    "Op (If) [ShapeInferenceError] Can't merge shape info",  # of two sizes, before If-11
    "The input is not evenly splittable",  # behind an If of two sizes, of which one is taken for both, before If-11
    "Invalid num_outputs value of",  # Split into more parts than the size has, before onnxruntime 1.32
)  # fmt: skip
"""Refusals by which onnxruntime says nothing of the model. What is inferred may help it."""

UNWRITTEN = ("WordConvEmbedding", "QLinearConcat", "GroupQueryAttention", "ConcatFromSequence")
"""Operators whose results may have unwritten memory in them: with an empty operand, and behind short sequences."""

LENIENT = tuple(pattern.replace("@", r" \(opset \d+\) '\w+'") for pattern in (
    r"(Loop@: .* of the iterations|com.microsoft::Skip\w+@: sizes of skip .*axis 0) .*differ",
    r"\w+Window@: size is not positive",
    r"(\w+@: )?Reduce\w+@: axis -?\d+ is out of range for a scalar",
    r"(\w+@: )?(ConstantOfShape|Expand|Resize|CenterCropPad)@: rank of \w+ is not 1",  # a matrix
    r"Reshape@: allowzero with both 0 and -1",
    r"(\w+@: )?Concat\w*@: sizes.*at axis \d+ differ(: 0 |.* 0\n|.*\n.*\[([^\]]*, )?0[,\]])",  # empty
))  # fmt: skip
"""Errors of models that onnxruntime runs although they break the specification."""
