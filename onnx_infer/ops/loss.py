"""Loss functions: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.geometry import unify, unify_shapes
from onnx_infer.registry import op

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Shape


def _per_sample(scores: AnyRank, labels: AnyRank, weights: AnyRank | None) -> tuple[Shape | None, Shape | None]:
    """The shapes of scores (N, C, *d) and labels (N, *d), as both and the weights (C) tell them."""
    if weights is not None and weights.shape is not None:
        require(len(weights.shape) == 1, "the weights are no vector", weights)
    if scores.shape is None:
        return None, labels.shape
    require(len(scores.shape) > 1, "rank of the scores is less than 2", scores)
    batch, classes, *rest = scores.shape
    samples: Shape = (batch, *rest)
    if labels.shape is not None:
        samples = unify_shapes(samples, labels.shape, "scores without classes and labels")
    if weights is not None and weights.shape is not None:
        classes = unify(classes, weights.shape[0], "number of classes and size of the weights")
    return (samples[0], classes, *samples[1:]), samples


def _reduced(samples: Shape | None, reduction: str) -> Shape | None:
    require(reduction in ("none", "sum", "mean"), "reduction is none of none, sum, mean", reduction)
    return samples if reduction == "none" else ()


@op("NegativeLogLikelihoodLoss")
def negative_log_likelihood(input: AnyRank, target: AnyRank, weight: AnyRank | None, reduction: str) -> Shape | None:
    """(N, C, *d), (N, *d), optional (C) -> (N, *d), or a scalar when reduced (NegativeLogLikelihoodLoss-12 to 22)."""
    _, samples = _per_sample(input, target, weight)
    return _reduced(samples, reduction)


@op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(
    scores: AnyRank, labels: AnyRank, weights: AnyRank | None, reduction: str
) -> list[Shape | None]:
    """As above, and the log of the probabilities (N, C, *d) (SoftmaxCrossEntropyLoss-12, 13)."""
    shape, samples = _per_sample(scores, labels, weights)
    return [_reduced(samples, reduction), shape]
