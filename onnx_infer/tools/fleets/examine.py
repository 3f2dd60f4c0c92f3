"""One model as one line: what was inferred of it, or why nothing was (docs/fleets.md, docs/json.md)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_infer.api import infer
from onnx_infer.errors import NoModelError, OnnxInferError
from onnx_infer.protobuf.files import data_files, read_model
from onnx_infer.tools.fleets.journal import stamps_of_data
from onnx_infer.tools.report.plain_data import as_json, diagnostic_json
from onnx_infer.tools.report.rows import Rows
from symdim import SymdimError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.result import InferenceResult

_MOST_TOLD = 20


def examine(path: str, options: Mapping[str, Any], whole: bool = False) -> dict[str, Any]:
    """The fields of a model's line that the worker knows. `options` are those of `infer`; `whole` adds all values.

    Never raises for a bad model; only for memory that does not suffice.
    """
    start = time.perf_counter()
    bounds = {name: tuple(ends) for name, ends in options.get("bounds", {}).items()}  # JSON has no tuples
    fields: dict[str, Any]
    try:
        model = read_model(path)
        data = stamps_of_data(path, [file.path for file in data_files(model, Path(path).parent)])
        fields = {"data": data, **_summary(infer(model, **{**options, "bounds": bounds}), whole)}
    except MemoryError:
        raise
    except NoModelError as error:
        fields = {"status": "no model", "message": str(error)}
    except OSError as error:
        fields = {"status": "unreadable", "message": error.strerror or str(error)}
    except (OnnxInferError, SymdimError) as error:
        fields = {"status": "refused", "message": str(error)}
    except Exception as error:  # a defect of this library costs one line
        fields = {"status": "failed", "message": f"{type(error).__name__}: {error}"}
    return {**fields, "seconds": round(time.perf_counter() - start, 6)}


def _summary(result: InferenceResult, whole: bool) -> dict[str, Any]:
    rows = Rows(result)
    counts, types = rows.counts, result.types
    summary = {
        "status": "errors" if counts["errors"] else "ok",
        "message": None,
        "inputs": {name: str(types[name]) for name in result.inputs},
        "outputs": {name: str(types[name]) for name in result.outputs if name in types},
        "nodes": len(rows.reasons.nodes),
        "values": counts["values"],
        "exact": counts["exact"],
        "data_dependent": counts["data-dependent"],
        "unknown": counts["unknown"],
        "guards": [str(guard) for guard in result.guards],
        "errors": counts["errors"],
        "diagnostics": [diagnostic_json(diagnostic) for diagnostic in result.diagnostics[:_MOST_TOLD]],
    }
    return {**summary, "result": as_json(result, rows)} if whole else summary
