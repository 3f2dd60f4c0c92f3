"""The calls: `infer`, `infer_shapes`, `infer_symbolic_shapes`."""

from __future__ import annotations

import logging
import os
from functools import partial
from typing import TYPE_CHECKING

import onnx

from .declared_bounds import declared_bounds
from .diagnostics import Diagnostic
from .engine import Engine
from .errors import ShapeInferenceError, StrictModeError
from .implied import implied_bounds
from .merge import POLICIES
from .proto import GraphReader
from .result import InferenceResult
from .symbols import Symbols

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .found import Found
    from .graph import Node
    from .merge import ShapeMergePolicy
    from .trace import Fact

_logger = logging.getLogger("onnx_infer")


def infer(
    model: onnx.ModelProto,
    *,
    policy: ShapeMergePolicy = "refine",
    bounds: Mapping[str, tuple[int, int | None]] | None = None,
    min_dim: int = 1,
    adopt_declared_symbols: bool = True,
    bidirectional: bool = False,
    assume: Sequence[str] = (),
) -> InferenceResult:
    """Infer the types, shapes and small data of every value; the model is not changed.

    `policy` says what becomes of types that the model declares itself (see `onnx_infer.merge`); `bounds` gives symbols
    intervals, both ends inclusive, and so does the model's metadata entry `symdim.bounds` (`declared_bounds.py`); other
    declared symbols are >= `min_dim`. A fresh size takes the name that the author declared for it on an output or in
    value_info, unless `adopt_declared_symbols` is False. Errors of single nodes are diagnostics in the result; only the
    policy `strict` raises the first of them, as `ShapeInferenceError`.

    With `bidirectional`, shapes are also inferred from outputs to inputs: ranks and sizes that operators, weights and
    declared outputs force. `assume` says what else holds of the symbols: `"H % 32 == 0"`, `"total == past + seq"`.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r} is none of {', '.join(POLICIES)}")
    declared, wrong = declared_bounds(model)
    walk = partial(run, model, policy, {**declared, **(bounds or {})}, min_dim, adopt_declared_symbols)
    if bidirectional or assume:
        from .bidirectional import infer_both_ways

        result: InferenceResult = infer_both_ways(model, walk, assume, backwards=bidirectional)
    else:
        result = InferenceResult(walk())
    result.diagnostics += [Diagnostic("error", "", "", message) for message in wrong]
    if policy == "strict":
        errors = [d for d in result.diagnostics if d.severity == "error"]
        if errors:
            raise ShapeInferenceError(str(errors[0]))
    return result


_MOST_WALKS = 4


def run(
    model: onnx.ModelProto,
    policy: ShapeMergePolicy,
    bounds: Mapping[str, tuple[int, int | None]],
    min_dim: int,
    adopt: bool,
    found: Found | None = None,
) -> Engine:
    """The engine after its walk over the model; `found` are types that stand in for those it declares.

    Where the sign of something decides and the facts so far imply lower bounds of input sizes, the walk begins anew
    under these; the symbols of the result are those of the first walk.
    """
    names = list(dim_params(model.graph.input)) if found is None else found.names(model)
    reserved = list(dim_params((*model.graph.output, *model.graph.value_info)))
    narrower: dict[str, tuple[int, int | None]] = {}
    originals: list[Symbols] = []
    stated: list[tuple[Fact, Node]] = []  # in earlier walks: the bounds of this one rest on it
    for walk in range(_MOST_WALKS):
        symbols = Symbols(names, reserved, bounds={**bounds, **narrower}, min_dim=min_dim)
        originals.append(symbols)
        reader = GraphReader(symbols, model.ir_version)
        view = reader.model(model) if found is None else found.put_into(reader.model(model), symbols)
        engine = Engine(view, symbols, policy, adopt, impatient=walk < _MOST_WALKS - 1)
        engine.run()
        implied = engine.open_signs.implied(engine.facts)
        learnt = {v.name: (least, v.hi) for v, least in implied.items()}
        to_original = {symbols.text(name): originals[0].text(name) for name in narrower}
        if not learnt or walk == _MOST_WALKS - 1:
            if narrower:
                engine.rename(to_original)
            break
        for fact, node in zip(engine.facts, engine.fact_nodes, strict=True):
            if any(v in implied for v in implied_bounds([fact])):
                stated.append((fact.substitute(to_original), node))
        narrower.update(learnt)
    engine.facts[:0] = [fact for fact, _ in stated]
    engine.fact_nodes[:0] = [node for _, node in stated]
    return engine


def infer_shapes(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    check_type: bool = False,
    strict_mode: bool = False,
    data_prop: bool = True,
    *,
    in_place: bool = False,
    policy: ShapeMergePolicy = "refine",
    bounds: Mapping[str, tuple[int, int | None]] | None = None,
    min_dim: int = 1,
    adopt_declared_symbols: bool = True,
    bidirectional: bool = False,
    assume: Sequence[str] = (),
) -> onnx.ModelProto:
    """A copy of the model with the type and shape of every value, as `onnx.shape_inference.infer_shapes` returns.

    The model is a ModelProto, its bytes, or a path, of which external data are not loaded. `in_place=True` writes into
    the ModelProto given and makes no copy. `data_prop` is accepted for compatibility: data are always propagated, since
    shapes depend on them. `check_type` raises where element types contradict the schema or the declared ones,
    `strict_mode` raises every diagnosed error; both as `ShapeInferenceError`. `bidirectional=True` also writes the
    shapes of inputs that the rest of the model forces; the other parameters are those of `infer`.
    """
    if isinstance(model, bytes):
        source = onnx.ModelProto.FromString(model)
    elif isinstance(model, onnx.ModelProto):
        source = model
        if not in_place:
            source = onnx.ModelProto()
            source.CopyFrom(model)
    else:
        source = onnx.load(os.fspath(model), load_external_data=False)
    result = infer(
        source,
        policy=policy,
        bounds=bounds,
        min_dim=min_dim,
        adopt_declared_symbols=adopt_declared_symbols,
        bidirectional=bidirectional,
        assume=assume,
    )
    errors = [d for d in result.diagnostics if d.severity == "error"]
    if errors and (strict_mode or (check_type and any("element type" in d.message for d in errors))):
        raise StrictModeError("\n".join(map(str, errors)))
    return result.apply(source)


def infer_symbolic_shapes(
    model: onnx.ModelProto,
    *,
    policy: ShapeMergePolicy = "refine",
    warn_on_missing: bool = True,
    adopt_declared_symbols: bool = True,
) -> onnx.ModelProto:
    """Infer in place and return the model; operators without a rule are logged as warnings if `warn_on_missing`."""
    result = infer(model, policy=policy, adopt_declared_symbols=adopt_declared_symbols)
    for diagnostic in result.diagnostics:
        if warn_on_missing or diagnostic.severity != "warning":
            _logger.warning("%s", diagnostic)
    return result.apply(model)


def dim_params(infos: object) -> Iterator[str]:
    """The dim_params in the types of value infos, in order; nested types included, equal types once."""
    seen: set[bytes] = set()
    for info in infos:  # type: ignore[attr-defined]
        kind = info.type
        wire = kind.SerializeToString()
        if wire in seen:
            continue
        seen.add(wire)
        while True:
            which = kind.WhichOneof("value")
            if which in ("tensor_type", "sparse_tensor_type"):
                for dim in getattr(kind, which).shape.dim:
                    if dim.dim_param:
                        yield dim.dim_param
                break
            if which in ("sequence_type", "optional_type"):
                kind = getattr(kind, which).elem_type
            elif which == "map_type":
                kind = kind.map_type.value_type
            else:
                break
