"""What a rule states beside its results: bounds of fresh sizes, sizes of unread elements, and laws that a run decides.

`traces.txt` has a call in each line, as the operator cases have, and what its trace must hold:

    com.microsoft::Unique-1: f32[N] -> _d0: 1 to N
    Conv-11: f32[N, 1, L], f32[2, 1, 3] -> at_least L, 3: a kernel fits into the padded input

A fresh size has its least and its largest value, and `=` the size that elements of inputs give it. A statement has its
relation, both sizes and the law; `(assumed)` if it is not required, and the sizes that must not be 0 for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onnx_infer.engine.apply import apply
from onnx_infer.engine.run_time import RunTimeValues
from onnx_infer.laws.statements import named
from onnx_infer.model.graph import Attributes
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.operator import bind
from onnx_infer.testing import read_call
from symdim.algebra.dims import substituted
from symdim.algebra.origin import Computed, ValueOf

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = [line.strip() for line in (Path(__file__).parent / "traces.txt").read_text(encoding="utf-8").splitlines()]


def trace_of(text: str) -> Iterator[str]:
    """The fresh sizes and the statements of a call, as texts."""
    call = read_call(text)
    operator = bind(call.domain, call.name, call.version)
    assert operator is not None
    outcome = apply(operator, Attributes(dict(call.attributes)), tuple(call.inputs), 1)
    names = named(outcome.fresh, RunTimeValues(Symbols(())).of_call)
    for placeholder in outcome.fresh:
        origin, most = placeholder.origin, placeholder.at_most
        bound = "any" if most is None else substituted(most, names)
        value = f" = {substituted(origin.size, names)}" if isinstance(origin, Computed) else ""
        if not isinstance(origin, ValueOf):
            yield f"{names[placeholder]}: {placeholder.lo} to {bound}{value}"
    for relation, lhs, rhs, law, kind, filled in outcome.statements:
        sizes = ", ".join(str(substituted(size, names)) for size in (lhs, rhs))
        where = "".join(f", {substituted(size, names)} filled" for size in filled)
        yield f"{relation} {sizes}: {law}{'' if kind == 'required' else f' ({kind})'}{where}"


@pytest.mark.parametrize("line", [line for line in LINES if line and not line.startswith("#")])
def test_what_a_rule_states(line: str) -> None:
    text, _, expected = line.rpartition(" -> ")
    assert ("; ".join(trace_of(text)) or "nothing") == expected
