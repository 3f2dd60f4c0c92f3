"""A registered rule, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.operators.context import Node, ShapeInferenceContext


class Rule(NamedTuple):
    """A registered rule.

    `shape` computes the results. `data`, if given, computes the elements of the outputs on numpy object arrays.
    `dtype`, if given, computes the output element types that the schema does not determine. The parameters of all three
    are the schema's names. A rule of style `context` is a function `(ctx, node)` instead. `inputs` names the inputs of
    an operator without a schema in onnx: `X W B? rest*`. `moves`: the first output has exactly the elements of the
    first input, unless it is empty. `module` is the module that registers the rule; its function may come from another.
    """

    domain: str
    name: str
    since: int
    shape: Callable[..., Any]
    data: Callable[..., Any] | None = None
    dtype: Callable[..., Any] | None = None
    style: str = "schema"
    inputs: str | None = None
    moves: bool = False
    module: str = ""

    def __call__(self, ctx: ShapeInferenceContext, node: Node) -> None:
        """Apply the rule to a node; see `operators/calling.py`."""
        from onnx_infer import call_rule

        call_rule(self, ctx, node)
