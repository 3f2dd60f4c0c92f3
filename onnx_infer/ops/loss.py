"""Loss functions: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.laws.limits import demand_at_most
from onnx_infer.laws.sizes import unify, unify_shapes
from onnx_infer.laws.statements import demand, reported
from onnx_infer.operators.registration import op

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Shape


def _per_sample(scores: AnyRank, labels: AnyRank, weights: AnyRank | None) -> Shape | None:
    """The shape of the labels (N, *d). The scores (N, C, *d) and the weights (C) must fit it.

    The labels determine the result: runtimes look up their scores and accept larger scores, so the sizes are only
    assumed to be equal.
    """
    classes = None if weights is None else weights.shape
    if classes is not None and not demand(len(classes) == 1, "the weights are not a vector", weights):
        classes = None
    if scores.shape is None:
        return labels.shape
    if not demand(len(scores.shape) > 1, "rank of the scores is less than 2", scores):
        return labels.shape
    batch, count, *rest = scores.shape
    if classes is not None:
        unify(count, classes[0], "number of classes and size of the weights", "assumed")
    if labels.shape is None:
        return (batch, *rest)
    with reported:
        unify_shapes((batch, *rest), labels.shape, "scores without classes and labels", "assumed")
        for label, score in zip(labels.shape, (batch, *rest), strict=True):
            demand_at_most(label, score, "a size of the labels")
    return labels.shape


def _reduced(samples: Shape | None, reduction: str) -> Shape | None:
    # runtimes treat an unknown reduction as a mean
    return samples if reduction == "none" else ()


@op("NegativeLogLikelihoodLoss", indices=(1,))
def negative_log_likelihood(input: AnyRank, target: AnyRank, weight: AnyRank | None, reduction: str) -> Shape | None:
    """(N, C, *d), (N, *d), optional (C) -> (N, *d), or a scalar when reduced (NegativeLogLikelihoodLoss-12 to 22)."""
    return _reduced(_per_sample(input, target, weight), reduction)


@op("SoftmaxCrossEntropyLoss", indices=(1,))
def softmax_cross_entropy(
    scores: AnyRank, labels: AnyRank, weights: AnyRank | None, reduction: str
) -> list[Shape | None]:
    """As above, and the log of the probabilities (N, C, *d) (SoftmaxCrossEntropyLoss-12, 13)."""
    return [_reduced(_per_sample(scores, labels, weights), reduction), scores.shape]
