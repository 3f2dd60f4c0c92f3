"""The intervals of symbols that a model declares in its metadata.

ONNX has no field for the bounds of a symbol. They are in the entry `symdim.bounds` of `metadata_props`, of the model or
of one of its inputs, as JSON with both ends inclusive (null: no upper end): `{"seq": [1, 2048], "batch": [1, null]}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Bounds = Mapping[str, tuple[int, int | None]]

KEY = "symdim.bounds"


def declared_bounds(entries: Iterable[str]) -> tuple[dict[str, tuple[int, int | None]], list[str]]:
    """The intervals by symbol, and what is wrong with the entries. If several entries bound a symbol, the first counts.

    >>> declared_bounds(['{"seq": [1, 2048], "batch": [4, 2]}'])
    ({'seq': (1, 2048)}, ["metadata symdim.bounds: [4, 2] are not bounds of 'batch'"])
    """
    found: dict[str, tuple[int, int | None]] = {}
    wrong: list[str] = []
    for entry in entries:
        _read(entry, found, wrong)
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
            wrong.append(f"metadata {KEY}: {ends} are not bounds of {symbol!r}")


def _is_interval(ends: Any) -> bool:
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    low, high = ends
    return type(low) is int and low >= 0 and (high is None or (type(high) is int and high >= low))
