"""The calls: `infer`, `infer_shapes`, `infer_shapes_path`, `infer_symbolic_shapes`, `rename_symbols`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import onnx

from onnx_infer.diagnostics import check, log
from onnx_infer.errors import ArgumentError, no_model, no_path
from onnx_infer.inference import Options, Request, run, with_options
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.result import InferenceResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from typing_extensions import Unpack

    from onnx_infer.inference import Broadcast, Initializers
    from onnx_infer.model.input_shapes import InputShape
    from onnx_infer.model.input_values import InputValue
    from onnx_infer.protobuf.files import Source
    from onnx_infer.types.merge import ShapeMergePolicy


Model = TypeVar("Model", onnx.ModelProto, Any)  # Any: an onnx_ir.Model


@with_options(Options)
def infer(
    model: Source,
    *,
    bounds: Mapping[str, tuple[int, int | None]] | None = None,
    assume: Sequence[str] = (),
    input_shapes: Mapping[str, InputShape] | None = None,
    bind: Mapping[str, int | str] | None = None,
    values: Mapping[str, InputValue] | None = None,
    bidirectional: bool = False,
    broadcast: Broadcast = "onnx",
    initializers: Initializers = "overridable",
    policy: ShapeMergePolicy = "refine",
    assume_declared: bool = False,
    adopt_declared_symbols: bool = True,
    min_dim: int = 1,
) -> InferenceResult:
    """Infer the types, shapes and small data of every value. The model is not changed.

    Errors of single nodes are diagnostics in the result, and so are declared shapes that contradict the inferred ones.
    A symbol with the interval 1..64 is `Var(name, 1, 64)`: take it from `result.symbols[name]`. An axis of an input
    without a name gets one, such as `x_dim_0`.

    Args:
        model: A ModelProto, its bytes, or a path. External data are not loaded.
        bounds: Intervals of symbols, both ends inclusive: `{"N": (1, 64)}`. The contract in the metadata of
            the model (docs/contract.md) gives intervals, too.
        assume: Further relations of symbols: `"H % 32 == 0"`, `"total == past + seq"`, `"2 <= T <= 64"`. An element of
            an integer input is written with its index: `"total[0] == past + seq"`. If one contradicts the model, a
            diagnostic names the node and the assumption.
        input_shapes: Shapes by the names of inputs, None for what the model has: `{"x": [1, 3, "32*h", None]}`. A size
            in place of a symbol binds it everywhere, one in place of a number changes it.
        bind: What stands for symbols: `{"H": "32*h"}`. What is said of such a symbol holds of its expression.
        values: Elements of inputs, a number for a scalar, a list for a vector: `{"sr": 16000}`. Results that depend on
            them, such as the branch of an If, are then known.
        bidirectional: Whether the shapes of inputs are inferred, too: what operators, weights and declared outputs
            force.
        broadcast: With "strict", two sizes that are not numbers broadcast only where they are equal (an assumed guard).
            `assume=["no accidental broadcast"]` says the same.
        initializers: With "constant", initializers that are also inputs are constants. By default callers may override
            them from IR version 4 on.
        policy: How declared types are merged: "refine", "override", "skip", "strict"; see `onnx_infer.types.merge`.
        assume_declared: Whether declared types of intermediate values and outputs, and guards of a contract in the
            file, are assumptions, and not only claims, which become guards of the kind "declared".
        adopt_declared_symbols: Whether a data-dependent size takes a declared name that nothing else has.
        min_dim: The least size of symbols without an interval.

    Raises:
        UnknownSymbol: A name in `assume` or `bounds` is not a symbol of the model.
        ArgumentError: An option is misspelt, or of a wrong kind.
        InputValueError: `values` or `input_shapes` do not fit the declared inputs.
        NoModelError: The bytes or the file are no model.
        ShapeInferenceError: The first error, with the policy "strict" only. All errors are `ValueError`.
    """
    options: Options = {
        "bounds": bounds,
        "assume": assume,
        "input_shapes": input_shapes,
        "bind": bind,
        "values": values,
        "bidirectional": bidirectional,
        "broadcast": broadcast,
        "initializers": initializers,
        "policy": policy,
        "assume_declared": assume_declared,
        "adopt_declared_symbols": adopt_declared_symbols,
        "min_dim": min_dim,
    }
    return InferenceResult(run(Request(ModelProtoFrontEnd(_read(model)), **options)))


@with_options(Options)
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

    `in_place=True` writes into the given ModelProto without a copy. `data_prop` is accepted for compatibility: data
    are always propagated, because shapes depend on them. `check_type` raises if element types contradict the schema or
    the declared types; `strict_mode` raises for every error and every wrong declared shape. Both raise
    `ShapeInferenceError`. `bidirectional=True` also writes the shapes of inputs that the rest of the model forces. The
    other parameters are those of `infer`.
    """
    source = _read(model)
    if source is model and not in_place:
        source = onnx.ModelProto()
        source.CopyFrom(model)
    result = infer(source, **options)
    check(result.diagnostics, check_type, strict_mode)
    return result.apply(source)


@with_options(Options)
def infer_shapes_path(
    model_path: str | os.PathLike[str],
    output_path: str | os.PathLike[str] = "",
    check_type: bool = False,
    strict_mode: bool = False,
    data_prop: bool = True,
    *,
    copy_data: bool = False,
    **options: Unpack[Options],
) -> None:
    """Write the model of a file with the type and shape of every value, as `onnx.shape_inference.infer_shapes_path`.

    Without `output_path` into the same file. External data are not read: they are found from the new file where they,
    and not only links to them, lie in its folder or below, and copied there with `copy_data`; where they would be lost,
    nothing is written and `ExternalDataError` is raised. The other parameters and errors are those of `infer_shapes`.
    """
    if not isinstance(model_path, (str, os.PathLike)):
        raise no_path(model_path)
    from onnx_infer.protobuf.files import save_model

    inferred = infer_shapes(_read(model_path), check_type, strict_mode, data_prop, in_place=True, **options)
    save_model(inferred, model_path, os.fspath(output_path) or model_path, copy_data)


def infer_symbolic_shapes(
    model: Model,
    *,
    policy: ShapeMergePolicy = "refine",
    warn_on_missing: bool = True,
    adopt_declared_symbols: bool = True,
) -> Model:
    """Infer in place and return the model. With `warn_on_missing` operators without a rule are logged as warnings.

    The model is a ModelProto or an `onnx_ir.Model`.
    """
    if not isinstance(model, onnx.ModelProto):
        return _of_onnx_ir(model).infer_symbolic_shapes(
            model, policy=policy, warn_on_missing=warn_on_missing, adopt_declared_symbols=adopt_declared_symbols
        )
    result = infer(model, policy=policy, adopt_declared_symbols=adopt_declared_symbols)
    log(result.diagnostics, warn_on_missing)
    return result.apply(model)


def rename_symbols(model: Model, names: Mapping[str, str]) -> Model:
    """Give symbols other names, in place and in every declared type; the model is returned.

    An exporter's `{"s17": "batch", "s53": "seq"}`; texts over such symbols become texts over the new names. The model
    is a ModelProto or an `onnx_ir.Model`. Raises `UnboundName` for symbols that it does not have, `ArgumentError`
    where two symbols would become one.
    """
    if isinstance(model, onnx.ModelProto):
        from onnx_infer.protobuf import specialize

        specialize.rename_symbols(model, names)
        return model
    return _of_onnx_ir(model).rename_symbols(model, names)


def _read(model: Source) -> onnx.ModelProto:
    """The model; see `read_model`."""
    if isinstance(model, onnx.ModelProto):
        return model
    from onnx_infer.protobuf.files import read_model  # those who hand over a model do not need it

    return read_model(model)


def _of_onnx_ir(model: object) -> ModuleType:
    """The calls for `onnx_ir.Model`, which this is to be."""
    if isinstance(model, str | bytes | os.PathLike):
        raise ArgumentError("a model that is changed in place is a ModelProto or an onnx_ir.Model: load it first")
    if type(model).__module__.partition(".")[0] != "onnx_ir":
        raise no_model(model)
    from onnx_infer.integrations import onnx_ir

    return onnx_ir
