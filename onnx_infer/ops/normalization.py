"""Normalizations: Softmax and variants, batch, instance, group, layer and RMS normalization, LRN, Lp, mean-variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import broadcast_to, confirm, exact_quotient, normalize_axis, sizes_unless_broken, unify
from onnx_infer.laws.statements import Kind, demand, reported, state
from onnx_infer.operators.registration import op
from onnx_infer.ops.unary import same_shape, same_shape_of_input

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape, SymTensor


# Softmax-1, LogSoftmax-1, Hardmax-1: a matrix, split before the axis, which may equal the rank
op("Softmax", "LogSoftmax", "Hardmax", in_place="rows")(same_shape_of_input)


@op("Softmax", "LogSoftmax", "Hardmax", since=11, in_place="rows")
def softmax(input: SymTensor, axis: int) -> Shape:
    """The input's shape. The axis must exist (Softmax-11, 13, also LogSoftmax, Hardmax)."""
    with reported:
        normalize_axis(axis, input.rank)
    return input.dims


@op("LpNormalization", in_place="rows")
def lp_normalization(input: SymTensor, axis: int, p: int) -> Shape:
    """The input's shape (LpNormalization-1, 22)."""
    with reported:
        normalize_axis(axis, input.rank)
        require(p in (1, 2), "p is neither 1 nor 2", p)
    return input.dims


# MeanVarianceNormalization-9, 13: onnxruntime ignores default axes that a tensor does not have
op("MeanVarianceNormalization", in_place="rows")(same_shape)


@op("LRN")
def local_response_normalization(X: SymTensor, size: int) -> Shape:
    """(N, C, *spatial) -> the same (LRN-1, 13)."""
    demand(X.rank >= 2, "X has no channel axis; its rank", X.rank)
    demand(size >= 1, "size is less than 1", size)
    return X.dims


# -- with one parameter per channel ------------------------------------------------------------------------------


def _per_channel(X: AnyRank, kind: Kind = "required", **parameters: SymTensor) -> tuple[Shape | None, Dim | None]:
    """X's shape and its channels (the size at axis 1; 1 for a vector), from X and the parameters."""
    channels: Dim | None = None if X.shape is None else X.shape[1] if len(X.shape) > 1 else 1
    for name, parameter in parameters.items():
        if parameter.shape is not None:
            if not demand(len(parameter.shape) == 1, f"{name} is not a vector", parameter):
                continue
            size = parameter.shape[0]
            law = f"channels of X and the size of {name}"
            channels = size if channels is None else confirm(channels, size, law, kind)
    if X.shape is None or channels is None:
        return None, channels
    return (X.shape[0], channels, *X.shape[2:]) if len(X.shape) > 1 else X.shape, channels


@op("BatchNormalization", in_place="rows")
def batch_normalization_with_saved(
    X: AnyRank, scale: AnyRank, B: AnyRank, mean: AnyRank, var: AnyRank, output_count: int, spatial: int = 1
) -> list[Shape | None]:
    """(N, C, *spatial), four (C) -> (N, C, *spatial), four (C) (BatchNormalization-1 to 9).

    There are one or all five outputs. Without `spatial` the parameters have the shape (C, *spatial) (versions 1 to 7).
    """
    demand(output_count in (1, 5), "the number of outputs is neither 1 nor 5", output_count)
    if not spatial:
        return [X.shape] + [mean.shape] * (output_count - 1)
    shape, channels = _per_channel(X, scale=scale, B=B, mean=mean, var=var)
    return [shape] + [None if channels is None else (channels,)] * (output_count - 1)


@op("BatchNormalization", since=14, in_place="rows")
def batch_normalization(
    X: AnyRank,
    scale: AnyRank,
    B: AnyRank,
    input_mean: AnyRank,
    input_var: AnyRank,
    training_mode: int,
    output_count: int,
) -> list[Shape | None]:
    """(N, C, *spatial), four (C) -> (N, C, *spatial), in training two (C) (BatchNormalization-14, 15)."""
    allowed = 3 if training_mode else 1
    demand(output_count == allowed, f"number of outputs with training_mode={training_mode}", output_count, allowed)
    shape, channels = _per_channel(X, scale=scale, B=B, input_mean=input_mean, input_var=input_var)
    return [shape] + [None if channels is None else (channels,)] * (output_count - 1)


@op("InstanceNormalization", in_place="rows")
def instance_normalization(input: AnyRank, scale: AnyRank, B: AnyRank) -> Shape:
    """(N, C, *spatial), (C), (C) -> (N, C, *spatial) (InstanceNormalization-1 to 22)."""
    demand(input.shape is None or len(input.shape) > 1, "input has no channel axis; its shape", input)
    shape, _ = _per_channel(input, scale=scale, B=B)
    return _known(shape)


def _known(shape: Shape | None) -> Shape:
    if shape is None:
        raise Unknown("the rank of X is not known")
    return shape


def _check_groups(X: SymTensor, num_groups: int) -> None:
    with reported:
        require(X.rank > 1, "X has no channel axis; its shape", X)
        require(num_groups > 0, "num_groups is not positive", num_groups)
        exact_quotient(X.dims[1], num_groups, "the number of channels, divided into groups,")


@op("GroupNormalization", in_place="rows")
def group_normalization_by_group(X: SymTensor, scale: AnyRank, bias: AnyRank, num_groups: int) -> Shape:
    """(N, C, *spatial), (num_groups), (num_groups) -> (N, C, *spatial) (GroupNormalization-18).

    Runtimes take the function of the schema, which broadcasts a single element of scale and bias.
    """
    _check_groups(X, num_groups)
    for name, parameter in (("scale", scale), ("bias", bias)):
        if parameter.shape is not None and demand(len(parameter.shape) == 1, f"{name} is not a vector", parameter):
            _demand_broadcast(parameter.shape[0], num_groups, f"the size of {name} and num_groups")
    return X.dims


@op("GroupNormalization", since=21, in_place="rows")
def group_normalization(X: SymTensor, scale: AnyRank, bias: AnyRank, num_groups: int) -> Shape:
    """(N, C, *spatial), (C), (C) -> (N, C, *spatial) (GroupNormalization-21)."""
    _check_groups(X, num_groups)
    shape, channels = _per_channel(X, "assumed", scale=scale, bias=bias)
    for name, parameter in (("scale", scale), ("bias", bias)):
        if channels is not None and parameter.shape is not None and len(parameter.shape) == 1:
            _demand_broadcast(parameter.shape[0], channels, f"channels of X and the size of {name}")
    return _known(shape)


def _demand_broadcast(size: Dim, other: Dim, law: str) -> None:
    """Assume equal sizes, and demand that they broadcast."""
    state("broadcast", size, other, law)
    unify(size, other, law, "assumed")


# -- over the last axes ------------------------------------------------------------------------------------------


@op(
    "LayerNormalization",
    inputs="X Scale B?",
    dtype=lambda Scale, stash_type=1: [Scale.dtype, stash_type, stash_type],
    in_place="rows",
)
@op("LayerNormalization", since=17, dtype=lambda stash_type: [None, stash_type, stash_type], in_place="rows")
def layer_normalization(X: SymTensor, Scale: AnyRank, B: AnyRank | None, axis: int = -1) -> list[Shape]:
    """(*outer, *inner), Scale and B broadcast to it -> the same, twice (*outer, 1, ...) (LayerNormalization-17).

    onnxruntime had it in the default domain before ONNX did.
    """
    shape = X.dims
    for name, parameter in (("Scale", Scale), ("B", B)):
        if parameter is not None and parameter.shape is not None:
            shape = broadcast_to(shape, parameter.shape, name)

    def outer() -> Shape:
        start = normalize_axis(axis, X.rank)
        return (*shape[:start], *[1] * (len(shape) - start))

    return [shape, *[sizes_unless_broken(len(shape), outer)] * 2]


@op("RMSNormalization", in_place="rows")
def rms_normalization(X: SymTensor, scale: AnyRank, axis: int) -> Shape:
    """(*outer, *inner), a scale that broadcasts to it -> the same (RMSNormalization-23)."""
    with reported:
        normalize_axis(axis, X.rank)
    return X.dims if scale.shape is None else broadcast_to(X.dims, scale.shape, "scale")
