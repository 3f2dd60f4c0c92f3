"""The work of `--fold`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.transforms.draft import count_nodes
from onnx_infer.transforms.folding import fold

if TYPE_CHECKING:
    from argparse import Namespace

    from onnx import ModelProto


def folded(model: ModelProto, options: Namespace) -> tuple[ModelProto, str]:
    """The folded model, and how many nodes it has. The options have been used for an inference of the model."""
    smaller = fold(
        model,
        keep_guards=options.keep_guards,
        bounds=dict(options.bounds),
        assume=options.assume,
        initializers=options.initializers,
        values=dict(options.value),
    )
    return smaller, f"folded: {count_nodes(model)} nodes, {count_nodes(smaller)} left (without constants)"
