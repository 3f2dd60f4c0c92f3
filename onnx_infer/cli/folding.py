"""The work of `--fold`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.cli.arguments import inference_options
from onnx_infer.transforms.draft import count_nodes
from onnx_infer.transforms.folding import Facts, fold

if TYPE_CHECKING:
    from argparse import Namespace

    from onnx import ModelProto


def folded(model: ModelProto, options: Namespace) -> tuple[ModelProto, str]:
    """The folded model, and how many nodes it has. The options have been used for an inference of the model."""
    given = inference_options(options)
    facts: Any = {name: value for name, value in given.items() if name in Facts.__annotations__}
    smaller = fold(model, keep_guards=options.keep_guards, **facts)
    return smaller, f"folded: {count_nodes(model)} nodes, {count_nodes(smaller)} left (without constants)"
