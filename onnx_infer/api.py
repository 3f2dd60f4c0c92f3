"""The calls: `infer`, `infer_shapes`, `infer_symbolic_shapes`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack

import onnx

from onnx_infer.errors import NoModelError
from onnx_infer.inference import check, log, run
from onnx_infer.options import no_model
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.result import InferenceResult

if TYPE_CHECKING:
    from onnx_infer.inference import Options
    from onnx_infer.types.merge import ShapeMergePolicy


Model = TypeVar("Model", onnx.ModelProto, Any)  # Any: an onnx_ir.Model
Source: TypeAlias = "onnx.ModelProto | bytes | str | os.PathLike[str]"


def read_model(model: Source) -> onnx.ModelProto:
    """The model itself, or read from its bytes or from a path, of which external data are not loaded.

    Raises OSError where a file cannot be read, `NoModelError` where it or the bytes hold no model.
    """
    if isinstance(model, onnx.ModelProto):
        return model
    if not isinstance(model, (bytes, str, os.PathLike)):
        raise no_model(model)
    try:
        if isinstance(model, bytes):
            return onnx.ModelProto.FromString(model)
        return onnx.load(os.fspath(model), load_external_data=False)
    except OSError:
        raise
    except Exception as error:  # protobuf's parsers raise their own classes, which differ between its versions
        source = "the bytes" if isinstance(model, bytes) else os.fspath(model)
        raise NoModelError(f"{source}: not an ONNX model ({type(error).__name__})") from error


def infer(model: Source, **options: Unpack[Options]) -> InferenceResult:
    """Infer the types, shapes and small data of every value; the model is not changed.

    The model is a ModelProto, its bytes, or a path, of which external data are not loaded.
    `policy` says what becomes of types that the model declares itself (see `onnx_infer.types.merge`); `bounds` gives
    symbols intervals, both ends inclusive, and so does the model's metadata entry `symdim.bounds`; other declared
    symbols are >= `min_dim`. A symbol with an interval is another variable than `Var(name)`, which is any size from
    1 on: `result.symbols[name]` is the one of the result. An axis of an input without a name gets one, `x_dim_0`.
    Errors of single nodes are diagnostics in the result; only the policy `strict` raises the first of them, as
    `ShapeInferenceError`. Bytes or a file without a model raise `NoModelError`, arguments of a wrong kind
    `ArgumentError`; all errors are `ValueError`.

    What is declared of other values is a claim of the author: a size that only the data decide takes a declared name
    that nothing else has, unless `adopt_declared_symbols` is False; what else is claimed becomes a guard of the kind
    "declared", or, with `assume_declared`, is assumed. `initializers="constant"` takes initializers that are also
    inputs as constants, also from IR version 4 on, where callers may override them.

    With `bidirectional`, shapes are also inferred from outputs to inputs: ranks and sizes that operators, weights and
    declared outputs force. `assume` says what else holds of the symbols: `"H % 32 == 0"`, `"total == past + seq"`,
    `"2 <= T <= 64"`; it decides what `bounds` decides, and more. Where it, or an interval, contradicts the model, a
    diagnostic names the node and what is assumed. A name in `assume` or `bounds` that is no symbol of the model raises
    `UnknownSymbol`.

    `values` gives elements of inputs, a number for a scalar and a list for a vector: `{"sr": 16000}`. What they decide,
    such as the branch of an If, is then known. A name that is no input, or a value that does not fit the input's
    declared type, raises ValueError.
    """
    return InferenceResult(*run(ModelProtoFrontEnd(read_model(model)), **options))


def infer_shapes(
    model: Source,
    check_type: bool = False,
    strict_mode: bool = False,
    data_prop: bool = True,
    *,
    in_place: bool = False,
    **options: Unpack[Options],
) -> onnx.ModelProto:
    """A copy of the model with the type and shape of every value, as `onnx.shape_inference.infer_shapes` returns.

    `in_place=True` writes into the ModelProto given and makes no copy. `data_prop` is accepted for compatibility: data
    are always propagated, since shapes depend on them. `check_type` raises where element types contradict the schema or
    the declared ones, `strict_mode` raises every diagnosed error; both as `ShapeInferenceError`. `bidirectional=True`
    also writes the shapes of inputs that the rest of the model forces; the other parameters are those of `infer`.
    """
    source = read_model(model)
    if source is model and not in_place:
        source = onnx.ModelProto()
        source.CopyFrom(model)
    result = infer(source, **options)
    check(result.diagnostics, check_type, strict_mode)
    return result.apply(source)


def infer_symbolic_shapes(
    model: Model,
    *,
    policy: ShapeMergePolicy = "refine",
    warn_on_missing: bool = True,
    adopt_declared_symbols: bool = True,
) -> Model:
    """Infer in place and return the model; operators without a rule are logged as warnings if `warn_on_missing`.

    The model is a ModelProto or an `onnx_ir.Model`.
    """
    if not isinstance(model, onnx.ModelProto):
        if type(model).__module__.partition(".")[0] != "onnx_ir":
            raise no_model(model)
        from onnx_infer.integrations import onnx_ir

        return onnx_ir.infer_symbolic_shapes(
            model, policy=policy, warn_on_missing=warn_on_missing, adopt_declared_symbols=adopt_declared_symbols
        )
    result = infer(model, policy=policy, adopt_declared_symbols=adopt_declared_symbols)
    log(result.diagnostics, warn_on_missing)
    return result.apply(model)
