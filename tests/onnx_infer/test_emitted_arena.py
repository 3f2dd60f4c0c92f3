"""The emitted arena: its content and its texts. `integration_tests/` runs the code."""

from __future__ import annotations

import pickle

import pytest

from onnx_infer import infer
from onnx_infer.errors import ArgumentError
from onnx_infer.tools.emission.code import source_of
from symdim.dialects.languages import LANGUAGES, LanguageName

from . import models
from .emitted_arenas import case
from .test_emission import HOSTILE
from .texts import parsed


def test_the_most_bytes_of_all_sizes() -> None:
    bounded, unbounded = case("bounded"), case("decoder")
    largest = {s.variable.name: high for s in bounded.content.symbols if (high := s.variable.hi) is not None}
    assert bounded.content.arena is not None
    assert bounded.content.arena.at_most == bounded.plan.at(largest).size
    assert f"ARENA_AT_MOST = {bounded.content.arena.at_most}n;" in source_of(bounded.content, "js")
    assert unbounded.content.arena is not None
    assert unbounded.content.arena.at_most is None


def test_a_plan_is_one_of_its_result() -> None:
    result = infer(models.cnn(1))
    plan = pickle.loads(pickle.dumps(result.arena(align=16)))
    assert result.emit("c", arena=plan) == result.emit("c", arena={"align": 16})
    with pytest.raises(ArgumentError, match="the arena is one of another result"):
        infer(models.decoder(1)).emit("c", arena=plan)


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_a_model_stay_texts(language: LanguageName) -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu (x) }")
    model.graph.node[0].output[0] = model.graph.output[0].name = HOSTILE
    text = infer(model).emit(language, arena=True)
    assert text.isascii()
    assert "</script" not in text or language != "js"
