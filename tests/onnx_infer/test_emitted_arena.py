"""The emitted arena in Python, against the plan. `integration_tests/` compiles the other languages."""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from onnx_infer import infer
from onnx_infer.errors import ArgumentError
from onnx_infer.results.guards import Guard, NodeName, violations
from onnx_infer.tools.emission.arena_content import ArenaContent, demands_of
from onnx_infer.tools.emission.code import source_of
from onnx_infer.tools.emission.content import Content, GuardEntry
from symdim import Var
from symdim.dialects.languages import LANGUAGES, LanguageName
from symdim.relations.relation import Relation

from . import models
from .emitted_arenas import CASES, case, random_sizes, wanted
from .test_emission import HOSTILE, in_python
from .texts import parsed

if TYPE_CHECKING:
    from onnx_infer.laws.statements import Kind


def found(code: dict[str, Any], given: list[int | None]) -> Any:
    """What the emitted arena gives, in the form of `wanted`."""
    try:
        code["check_bounds"](given)
    except ValueError:
        return ["symbol", next(i for i in range(len(given)) if is_out(code["SYMBOLS"][i], given[i]))]
    try:
        sizes, offsets, size, peak = code["arena"](given)
    except code["GuardFails"] as error:
        return ["guard", error.guard]
    except ValueError:
        return ["size"]
    assert code["arena_check"](sizes, offsets, size) is None
    assert code["ARENA_AT_MOST"] is None or size <= code["ARENA_AT_MOST"]
    placed = code["PLACED"]
    return [sizes[:placed], offsets[:placed], size, peak]


def is_out(symbol: tuple[str, int | None, int | None, bool], size: int | None) -> bool:
    _, low, high, optional = symbol
    if size is None:
        return not optional
    return (low is not None and size < low) or (high is not None and size > high)


@pytest.mark.parametrize("name", CASES)
def test_emitted_python_agrees_with_the_plan(name: str) -> None:
    chosen, random = case(name), Random(name)
    code = in_python(source_of(chosen.content, "python"))
    kinds = Counter[str]()
    for largest in (1, 8, 60, 10**4, 10**12):
        for _ in range(20):
            given = random_sizes(chosen, random, largest)
            expected = wanted(chosen, given)
            assert found(code, given) == expected, given
            kinds[expected[0] if isinstance(expected[0], str) else "numbers"] += 1
    assert kinds["numbers"]
    assert kinds["guard"] or not name.startswith(("required", "kinds")) or name == "kinds 0"


def test_random_guards_refuse_what_the_plan_refuses() -> None:
    """Also guards on sizes that only a run knows."""
    random, variables = Random(7), [Var(name, 0) for name in "abcde"]
    nodes = [NodeName("Op", str(i)) for i in range(4)]
    refused = run = 0
    for _ in range(150):
        guards = [random_guard(random, variables, nodes) for _ in range(random.randint(1, 7))]
        content = Content(variables[:3])
        for guard in guards:
            sides = content.place(guard.lhs), content.place(guard.rhs)
            content.guards.append(GuardEntry(str(guard), guard.law, guard.kind, guard.node, guard.relation, *sides))
        content.arena = ArenaContent(1, (), [], 0, [], [], [], {}, demands_of(guards, variables[:3]), None)
        code = in_python(source_of(content, "python"))
        order = [symbol.variable for symbol in content.symbols]
        for _ in range(12):
            sizes = {v: random.randint(0, 2) for v in order if v in variables[:3] or random.random() < 0.7}
            known = [guard for guard in guards if guard.is_bound(sizes)]
            failing = [v.guard for v in violations(known, sizes) if v.kind != "declared"]
            given = [sizes.get(v) for v in order]
            if failing:
                with pytest.raises(code["GuardFails"]) as caught:
                    code["arena"](given)
                assert guards[caught.value.guard] == failing[0]
                refused += 1
            else:
                assert code["arena"](given) == ([], [], 0, 0)
                run += 1
    assert min(refused, run) > 300


def random_guard(random: Random, variables: list[Var], nodes: list[NodeName]) -> Guard:
    kind: Kind = random.choice(("required", "assumed", "declared"))
    return Guard(
        Relation("at_least", random.choice(variables), random.choice([*variables, 1])),
        "a law",
        tuple(random.sample(nodes, random.randint(0, 2))),
        kind,
    )


# -- what the tables say ----------------------------------------------------------------------------------------------


def test_the_places_of_values() -> None:
    text = """g (float[N] x) => (float[N] y, string[N] t) <float[4] w = {1, 2, 3, 4}> {
        a = Identity(x) b = Neg(a) c = Flatten(b) d = Exp(c) y = Neg(d) s = Cast<to=8>(y) t = Identity(s) }"""
    code = in_python(infer(parsed(text)).emit("python", arena={"outputs": "caller"}))
    names = [place[0] for place in code["PLACES"]]
    assert [(name, kind, names[root], first, last) for name, kind, root, first, last in code["PLACES"]] == [
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
    assert code["arena"]([3]) == ([12, 12, 12, 16, 12, 12, -1, -1, 12], [0] * 9, 64, 64)
    assert (names[: code["PLACED"]], code["NODES"]) == (["b", "c", "d"], [0, 1, 2, 3, 4, 5, 6])


def test_parts_of_a_storage_and_of_the_callers_input() -> None:
    code = in_python(source_of(case("parts").content, "python"))
    _, offsets, *_ = code["arena"]([5])
    bytes_of = {name: offset for (name, *_), offset in zip(code["PLACES"], offsets, strict=True)}
    assert bytes_of["z"] - bytes_of["y"] == 2 * 5 * 4
    assert bytes_of["v"] == 2 * 5 * 4  # in the storage of x


def test_the_most_bytes_of_all_sizes() -> None:
    code = in_python(source_of(case("bounded").content, "python"))
    largest = [high for _, _, high, _ in code["SYMBOLS"]]
    assert code["ARENA_AT_MOST"] == code["arena"](largest)[2]
    unbounded = in_python(source_of(case("decoder").content, "python"))
    assert unbounded["ARENA_AT_MOST"] is None


def test_the_check_finds_what_overlaps() -> None:
    code = in_python(source_of(case("decoder").content, "python"))
    sizes, offsets, size, _ = code["arena"]([3] * len(code["SYMBOLS"]))
    for i, (_, kind, _, _, _) in enumerate(code["PLACES"][: code["PLACED"]]):
        if kind == "arena" and offsets[i] > 0:
            moved = [*offsets[:i], offsets[i] - 64, *offsets[i + 1 :]]
            assert code["arena_check"](sizes, moved, size) is not None, i
    assert code["arena_check"](sizes, offsets, size - 64) is not None


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
