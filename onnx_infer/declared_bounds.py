"""The intervals of symbols that a model declares itself, in its metadata.

ONNX has no field for the bounds of a symbol. The entry `symdim.bounds` of `metadata_props`, of the model or of one of
its inputs, holds them as JSON, both ends inclusive, null for no upper end: `{"seq": [1, 2048], "batch": [1, null]}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx

    Bounds = Mapping[str, tuple[int, int | None]]

KEY = "symdim.bounds"


def declared_bounds(model: onnx.ModelProto) -> tuple[dict[str, tuple[int, int | None]], list[str]]:
    """The intervals by symbol, those of the model before those of inputs, and what is wrong with others.

    >>> import onnx
    >>> model = onnx.ModelProto()
    >>> onnx.helper.set_model_props(model, {"symdim.bounds": '{"seq": [1, 2048], "batch": [4, 2]}'})
    >>> declared_bounds(model)
    ({'seq': (1, 2048)}, ["metadata symdim.bounds: [4, 2] are no bounds of 'batch'"])
    """
    found: dict[str, tuple[int, int | None]] = {}
    wrong: list[str] = []
    for holder in (model, *model.graph.input):
        for entry in holder.metadata_props:
            if entry.key == KEY:
                _read(entry.value, found, wrong)
    return found, wrong


def _read(text: str, found: dict[str, tuple[int, int | None]], wrong: list[str]) -> None:
    import json

    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        wrong.append(f"metadata {KEY}: no JSON: {error}")
        return
    if not isinstance(entries, dict):
        wrong.append(f"metadata {KEY}: no JSON object of symbols: {text[:60]}")
        return
    for symbol, ends in entries.items():
        if _is_interval(ends):
            found.setdefault(symbol, (ends[0], ends[1]))
        else:
            wrong.append(f"metadata {KEY}: {ends} are no bounds of {symbol!r}")


def _is_interval(ends: Any) -> bool:
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    low, high = ends
    return type(low) is int and low >= 0 and (high is None or (type(high) is int and high >= low))
