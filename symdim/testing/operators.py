"""Operators of other packages in cases: `{"onnx": "Conv", ...}`."""

from __future__ import annotations

from typing import Any


def stating(kind: str) -> Any:
    """The function that states operators of a kind into a store: an entry point in the group `symdim.operators`.

    Raises LookupError if no installed package has it.
    """
    from importlib.metadata import entry_points

    found = entry_points(group="symdim.operators", name=kind)
    if not found:
        raise LookupError(f"no installed package states operators of the kind {kind!r} (group symdim.operators)")
    return next(iter(found)).load()
