"""Models and options for emitted arenas, random sizes of their symbols, and what the plan says at these sizes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from onnx_infer import infer
from onnx_infer.errors import ArgumentError
from onnx_infer.results.guards import violations
from onnx_infer.tools.emission.content import content_of
from symdim import UnboundName

from . import models
from .test_guard_kinds import KINDS
from .test_guards import with_dims
from .texts import parsed

if TYPE_CHECKING:
    from random import Random

    from onnx_infer import InferenceResult
    from onnx_infer.tools.arena.plan import ArenaPlan
    from onnx_infer.tools.emission.content import Content

CASES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "decoder": (models.decoder(2), {}, {"inputs": "arena"}),
    "cnn": (models.cnn(3), {}, {"outputs": "caller", "order": "least"}),
    "unet": (models.unet(2), {}, {"align": 1}),
    "windows": (models.windows(), {}, {"align": 24, "views": False}),
    "detector": (models.detector(), {}, {}),
    "nothing": (parsed("g (string[N] x) => (string[N] y) { y = Identity(x) }"), {}, {}),
    "required": (
        parsed("g (float[N, 8] x) => (float[A] y) <int64[2] s = {-1, 12}> { a = Relu(x) y = Reshape(a, s) }"), {}, {},
    ),
    # parts of a storage, and of the caller's input
    "parts": (
        parsed("g (float[6, N] x) => (float[2, N] y, float[4, N] z, float[1, N] w) <int64[2] s = {2, 4},"
               " int64[1] b = {2}, int64[1] e = {3}, int64[1] o = {0}> {"
               " a = Exp(x) y, z = Split <axis = 0> (a, s) v = Slice(x, b, e, o) w = Neg(v) }"), {}, {},
    ),
    # sizes that only a run knows
    "data": (parsed("g (float[N, M] x, int64[1] k) => (float[N, K] y) { y, i = TopK(x, k) }"), {}, {"upper": False}),
    "bounded": (models.decoder(1), {"bounds": {"batch": (1, 4), "seq": (1, 64), "past": (0, 64)}}, {}),
    **{f"kinds {i}": (with_dims(parsed(graph), half="N//2"), {}, {"inputs": "arena"})
       for i, (graph, *_) in enumerate(KINDS)},
}  # fmt: skip


class Case(NamedTuple):
    """A result, a plan of it, and the content of the emitted code."""

    result: InferenceResult
    plan: ArenaPlan
    content: Content


def case(name: str) -> Case:
    """The case of this name in `CASES`."""
    model, options, chosen = CASES[name]
    result = infer(model, **options)
    plan = result.arena(**chosen)
    return Case(result, plan, content_of(result, arena=plan))


def random_sizes(case: Case, random: Random, largest: int) -> list[int | None]:
    """A size for each symbol, most within its bounds; none for some of those that only a run knows."""
    given: list[int | None] = []
    for symbol in case.content.symbols:
        low, high = symbol.variable.bounds()
        first = max(low or 0, 0)
        last = first + largest if high is None else min(high, first + largest)
        given.append(None if symbol.optional and random.random() < 0.2 else random.randint(first, last))
    if random.random() < 0.05:
        given[-1] = -3
    return given


def wanted(case: Case, given: list[int | None]) -> Any:
    """What the emitted arena should give, by the plan: `["symbol", i]`, `["guard", i]`, `["size"]` or numbers."""
    symbols = case.content.symbols
    for i, (symbol, size) in enumerate(zip(symbols, given, strict=True)):
        low, high = symbol.variable.bounds()
        is_inside = size is not None and (low is None or size >= low) and (high is None or size <= high)
        if not (is_inside or (symbol.optional and size is None)):
            return ["symbol", i]
    sizes = {s.variable.name: size for s, size in zip(symbols, given, strict=True) if size is not None}
    guards = [*case.result.guards, *case.result.data_guards]
    failing = [v for v in violations([g for g in guards if g.is_bound(sizes)], sizes) if v.kind != "declared"]
    if failing:
        with pytest.raises(ArgumentError, match=re.escape(str(failing[0]))):
            case.plan.at(sizes)
        return ["guard", guards.index(failing[0].guard)]
    try:
        at = case.plan.at(sizes)
    except (UnboundName, ArgumentError):  # a symbol that the plan needs; less than no bytes
        return ["size"]
    return [[b.size for b in at.buffers], [b.offset for b in at.buffers], at.size, at.lower_bound]
