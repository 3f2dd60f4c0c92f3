"""What onnx's checker or onnxruntime refuses when it loads a model, although inference may find every size.

    checking.py    `lint`: all checks, and onnx's own checker       findings.py    the rules, and what they find
    functions.py   versions, metadata, nodes, functions             names.py       graphs, names and types of values
    tensors.py     initializers, other tensors, files of weights

Each check was tried against onnx and onnxruntime; the tests of lint have a model for each fault, with what
both say. Begin with `checking.py`.
"""

from onnx_infer.protobuf.lint.checking import lint
from onnx_infer.protobuf.lint.findings import NOTHING_FOUND, RULES, Finding, Findings

__all__ = ["NOTHING_FOUND", "RULES", "Finding", "Findings", "lint"]
