"""Initializers that a caller may override (from IR version 4 on) and that therefore leave sizes unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.values.propagated import is_small
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.engine.engine import Engine
    from onnx_infer.model.graph import Node


def name_overridable(engine: Engine) -> None:
    """Add to the note on an unknown value the initializers whose elements would make it known."""
    graph = engine.model.graph
    if not engine.notes or not graph.overridable:
        return
    givers = {name: node for node in graph.nodes() for name in node[3]}
    for name, note in engine.notes.items():
        found = _behind(engine, name, givers)
        if found:
            texts = ", ".join(f"'{x}'" for x in graph.overridable if x in found)
            engine.notes[name] = f'{note}; a caller may override {texts}, unless initializers="constant"'


def _behind(engine: Engine, name: str, givers: Mapping[str, Node]) -> set[str]:
    """The overridable initializers whose elements a node reads, directly or through other nodes."""
    overridable = frozenset(engine.model.graph.overridable)
    pending, seen = [*givers[name][2]] if name in givers else [], set[str]()
    while pending:
        operand = pending.pop()
        if operand in seen or not _is_undecided(engine, operand):
            continue
        seen.add(operand)
        if operand in givers:
            pending += givers[operand][2]
    return seen & overridable


def _is_undecided(engine: Engine, name: str) -> bool:
    """Whether a value is a small tensor with unknown elements. Sizes may be computed from these."""
    value = engine.scope.get(name)
    return isinstance(value, SymTensor) and is_small(value) and (value.data is None or None in value.data)
