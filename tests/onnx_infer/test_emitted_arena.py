"""The emitted arena: its content and its texts. `integration_tests/` runs the code."""

from __future__ import annotations

import pickle

import pytest

from onnx_infer import infer
from onnx_infer.errors import ArgumentError
from onnx_infer.tools.emission.code import source_of
from onnx_infer.tools.emission.content import content_of
from symdim.dialects.languages import LANGUAGES, LanguageName

from . import models
from .emitted_arenas import case
from .test_emission import HOSTILE
from .texts import parsed


def test_the_places_of_values() -> None:
    text = """g (float[N] x) => (float[N] y, string[N] t) <float[4] w = {1, 2, 3, 4}> {
        a = Identity(x) b = Neg(a) c = Flatten(b) d = Exp(c) y = Neg(d) s = Cast<to=8>(y) t = Identity(s) }"""
    result = infer(parsed(text))
    arena = content_of(result, arena=result.arena(outputs="caller")).arena
    assert arena is not None
    names = [place.name for place in arena.places]
    assert [(name, kind, names[root], first, last) for name, kind, root, first, last in arena.places] == [
        ("b", "arena", "b", 1, 2),
        ("c", "view", "b", 2, 3),
        ("d", "in place", "b", 3, 4),
        ("w", "constant", "w", -1, -1),
        ("x", "caller", "x", -1, 0),
        ("y", "caller", "y", 4, 7),
        ("t", "caller", "t", 6, 7),
        ("s", "outside", "s", 5, 6),
        ("a", "view", "x", 0, 1),
    ]
    assert list(map(str, arena.bytes)) == ["4*N", "4*N", "4*N", "16", "4*N", "4*N", "None", "None", "4*N"]
    assert (arena.starts, arena.align, arena.changes) == ({}, 64, [0, ~0])
    assert (names[: arena.placed], arena.order) == (["b", "c", "d"], (0, 1, 2, 3, 4, 5, 6))


def test_parts_of_a_storage_and_of_the_callers_input() -> None:
    arena = case("parts").content.arena
    assert arena is not None
    starts = {arena.places[number].name: str(start) for number, start in arena.starts.items()}
    assert starts == {"z": "8*N", "v": "8*N"}
    roots = {place.name: arena.places[place.root].name for place in arena.places}
    assert (roots["y"], roots["z"], roots["v"]) == (roots["z"], roots["y"], "x")


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
