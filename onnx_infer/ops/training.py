"""Training: loss functions, and the operators of ai.onnx.preview.training (a step of an optimizer, gradients)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.limits import demand_at_most
from onnx_infer.laws.sizes import unify, unify_shapes
from onnx_infer.laws.statements import demand, reported
from onnx_infer.operators.registration import op
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, AnyRanks, Shape, Value


DOMAIN = "ai.onnx.preview.training"


def _step(inputs: tuple[SymTensor, ...], roles: int, output_count: int) -> list[Value]:
    """The outputs of a step on n tensors. `inputs` are n tensors, their n gradients, then n states of each role.

    A tensor, its gradient and its states have one shape. The outputs are the new tensors, then the new states.
    """
    require(None not in inputs, "an operand is missing")
    require(len(inputs) % roles == 0, f"the number of inputs must be R, T and a multiple of {roles}", len(inputs))
    n = len(inputs) // roles
    shapes = []
    for i in range(n):
        known = [x.shape for x in inputs[i::n] if x.shape is not None]
        shape = known[0] if known else None
        for other in known[1:]:
            shape = unify_shapes(shape or (), other, "shapes of a tensor, its gradient and its states")
        shapes.append(shape)
    kept = (*inputs[:n], *inputs[2 * n :])
    require(output_count == len(kept), "outputs differ in number from tensors and states", output_count, len(kept))
    return [SymTensor(x.dtype, shapes[i % n]) for i, x in enumerate(kept)]


@op("Adagrad", "Momentum", domain=DOMAIN)
def one_state(inputs: AnyRanks, output_count: int) -> list[Value]:
    """X.., G.., S.. -> new X.., new S.. of the same shapes (Adagrad-1, Momentum-1)."""
    return _step(inputs, 3, output_count)


@op("Adam", domain=DOMAIN)
def adam(inputs: AnyRanks, output_count: int) -> list[Value]:
    """X.., G.., V.., H.. -> new X.., new V.., new H.. of the same shapes (Adam-1)."""
    return _step(inputs, 4, output_count)


@op("Gradient", domain=DOMAIN)
def gradient(Inputs: AnyRanks, *, xs: tuple[str, ...], zs: tuple[str, ...] = ()) -> list[Value]:
    """The values of xs, then of zs -> gradients with the shapes of xs (Gradient-1)."""
    require(None not in Inputs, "an operand is missing")
    names = len(xs) + len(zs)
    require(len(Inputs) == names, "there must be one input per name in xs and zs", len(Inputs), names)
    return [SymTensor(x.dtype, x.shape) for x in Inputs[: len(xs)]]


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
def negative_log_likelihood(
    input: AnyRank, target: AnyRank, weight: AnyRank | None, reduction: str = "mean"
) -> Shape | None:
    """(N, C, *d), (N, *d), optional (C) -> (N, *d), or a scalar when reduced (NegativeLogLikelihoodLoss-12 to 22)."""
    return _reduced(_per_sample(input, target, weight), reduction)


@op("SoftmaxCrossEntropyLoss", indices=(1,))
def softmax_cross_entropy(
    scores: AnyRank, labels: AnyRank, weights: AnyRank | None, reduction: str = "mean"
) -> list[Shape | None]:
    """As above, and the log of the probabilities (N, C, *d) (SoftmaxCrossEntropyLoss-12, 13)."""
    return [_reduced(_per_sample(scores, labels, weights), reduction), scores.shape]
