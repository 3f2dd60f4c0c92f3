"""Emitted code, compiled by the compilers that are installed, against the algebra: sizes, guards, overflow."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from onnx_infer import infer
from onnx_infer.laws.statements import Kind
from onnx_infer.results.guards import Guard, NodeName, violations
from onnx_infer.tools.emission.code import source_of
from onnx_infer.tools.emission.content import ArenaContent, Content, GuardEntry, content_of
from symdim import DivisionByZero, Expr, Scope, Var, maximum, minimum, parse
from symdim.algebra.dims import variables_of
from symdim.dialects.languages import LanguageName
from symdim.relations.relation import Relation
from tests.onnx_infer import emitted_arenas, models
from tests.onnx_infer.texts import parsed
from tests.symdim import strategies

from .emitted_code import found_languages, run, run_arena

LANGUAGES = found_languages()
EXACT = [language for language in LANGUAGES if language == "js"]
BOUNDED = [language for language in LANGUAGES if language == "c"]
MODELS = [models.decoder, models.cnn, models.unet, models.windows, models.detector]


def expected(content: Content, given: list[int | None], refuses: bool = False) -> Any:
    """What the function should give: values of the algebra, and the conditions on them; None if it refuses."""
    bound = {s.variable: size for s, size in zip(content.symbols, given, strict=True) if size is not None}
    sizes: list[int | None] = []
    for dim in content.sizes:
        try:
            known = isinstance(dim, int) or all(variable in bound for variable in dim.variables())
            sizes.append((dim.to_int(bound) if isinstance(dim, Expr) else dim) if known else None)
        except DivisionByZero:
            sizes.append(None)
    sides = [(guard.relation, sizes[guard.lhs], sizes[guard.rhs]) for guard in content.guards]
    holds = [a is not None and b is not None and Relation(relation, a, b).holds({}) for relation, a, b in sides]
    for guard, held in zip(content.guards, holds, strict=True):
        needed = variables_of([content.sizes[guard.lhs], content.sizes[guard.rhs]])
        if refuses and guard.kind == "required" and not held and all(v in bound for v in needed):
            return None
    return [sizes, list(map(int, holds))]


def random_sizes(content: Content, random: Random, largest: int) -> list[int | None]:
    def size(variable: Var) -> int:
        low, high = variable.bounds()
        return random.randint(low or 0, (low or 0) + largest if high is None else min(high, (low or 0) + largest))

    return [None if s.optional and random.random() < 0.5 else size(s.variable) for s in content.symbols]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("make", MODELS)
def test_sizes_of_models(make: Any, language: LanguageName, tmp_path: Path) -> None:
    content, random = content_of(infer(make())), Random(1)
    bindings = [random_sizes(content, random, largest) for largest in (2, 40, 700) for _ in range(8)]
    found = run(language, source_of(content, language), bindings, tmp_path)
    assert found == [expected(content, given, refuses=True) for given in bindings]


SPLIT = """g (float[N, H] x, int64[1] k) => (y, z) <int64[2] target = {-1, 12}> {
    y, i = TopK (x, k)  z = Reshape (y, target) }"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_sizes_are_refused_where_a_required_guard_fails(language: LanguageName, tmp_path: Path) -> None:
    """Also a guard on a size that only a run knows, if it is given."""
    content = content_of(infer(parsed(SPLIT)))
    assert {guard.kind for guard in content.guards} == {"required"}
    bindings: list[list[int | None]] = [[n, h, k] for n in (1, 3) for h in (4, 9) for k in (None, 4, 8)]
    found = run(language, source_of(content, language), bindings, tmp_path)
    assert found == [expected(content, given, refuses=True) for given in bindings]
    assert None in found
    assert found.count(None) < len(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_random_expressions(language: LanguageName, tmp_path: Path) -> None:
    """Floors and remainders of either sign, divisors that may be 0, symbols that are not given."""
    random, scope = Random(4), Scope()
    variables = [*strategies.VARIABLES.values(), scope.var("late", 0), Var.fresh("-late-")]
    content = Content(list(strategies.VARIABLES.values()))
    while len(content.sizes) < 250:
        try:
            dim = strategies.build(strategies.random_tree(random, random.randint(2, 9)))
            dim = dim // (variables[-1] + random.randint(-2, 2)) if random.random() < 0.4 else dim
            dim = maximum(dim % (variables[-1] - 3), minimum(variables[-2], dim)) if random.random() < 0.4 else dim
        except ZeroDivisionError:
            continue
        content.place(dim)
    bindings = [random_sizes(content, random, 30) for _ in range(60)]
    found = run(language, source_of(content, language), bindings, tmp_path)
    wanted = [expected(content, given) for given in bindings]
    for given, (sizes, _), (values, _) in zip(bindings, found, wanted, strict=True):
        for dim, size, value in zip(content.sizes, sizes, values, strict=True):
            assert size == value, (dim, given)
    assert sum(sizes.count(None) for sizes, _ in wanted) > 300


def edges() -> Content:
    x, y = Var("x", 0), Var("y", 0)
    content = Content([x, y])
    for dim in (x + y, x - y, x * y, x**3, -x * y, x * y - 3 * 2**61, (x - y) // 3, (x * y) % 7, maximum(x * y, 5)):
        content.place(dim)
    return content


LARGE = [0, 1, 3, 2**31, 2**32 - 1, 3037000499, 3037000500, 2**62, 2**63 - 1]


@pytest.mark.parametrize("language", BOUNDED)
def test_what_leaves_64_bits_is_an_overflow_and_never_a_wrong_size(language: LanguageName, tmp_path: Path) -> None:
    content, bindings = edges(), [[x, y] for x in LARGE for y in LARGE]
    found = run(language, source_of(content, language), bindings, tmp_path)
    overflows = 0
    for given, (sizes, _) in zip(bindings, found, strict=True):
        for dim, size, wanted in zip(content.sizes, sizes, expected(content, given)[0], strict=True):
            if abs(wanted) > 2**63 - 4:  # the last three integers are no sizes in C
                assert size in ("overflow", wanted), (dim, given)
                assert size == "overflow" or abs(wanted) < 2**63, (dim, given)
            elif size == "overflow":  # a step may leave the range where the result is in it
                assert given[0] * given[1] >= 2**63 or sum(given) > 2**63 - 4, (dim, given)
            else:
                assert size == wanted, (dim, given)
            overflows += size == "overflow"
    assert overflows > 100


FLOATS = [
    "floor[f32](mul[f32](H, min[f32](mul[f32](div[f32](1, min(H, W)), 800), mul[f32](div[f32](1, max(H, W)), 1333))))",
    "round[f32](mul[f32](H, 7/10)) + W",
    "round[f64](mul[f64](H, mul[f32](H, 1/3)))",
    "ceil[f32](div[f64](H - 100, W))",
    "trunc[f32](sub[f32](div[f32](-7*W, 3), H))",
    "floor[f64](max[f64](div[f64](H, W - 30), value[f32](div[f64](W, 7))))",
    "round[f32](add[f32](div[f32](H, 2), -3))//2 + round[f32](div[f32](W, 2))",
    "trunc[f64](add[f64](mul[f32](H, W), -1/3)) % 7",
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_functions_of_floats_are_rounded_alike(language: LanguageName, tmp_path: Path) -> None:
    random = Random(7)
    content = Content([Var("H"), Var("W")])
    for text in FLOATS:
        content.place(parse(text))
    bindings: list[list[int | None]] = [
        [random.randint(1, most), random.randint(1, most)] for most in (40, 1000, 10**5, 10**8) for _ in range(250)
    ]
    found = run(language, source_of(content, language), bindings, tmp_path)
    assert found == [expected(content, given) for given in bindings]


@pytest.mark.parametrize("language", EXACT)
def test_exact_languages_have_no_overflow(language: LanguageName, tmp_path: Path) -> None:
    content, bindings = edges(), [[x, y] for x in (*LARGE, 10**30) for y in LARGE]
    found = run(language, source_of(content, language), bindings, tmp_path)
    assert found == [expected(content, given) for given in bindings]


@pytest.mark.parametrize("language", LANGUAGES)
def test_symbols_out_of_bounds_and_hostile_names(language: LanguageName, tmp_path: Path) -> None:
    names = ["int", "linux", "sizes", '*/ "', "??/\\", "</script>", "{x}", "\udc80é", "\n#"]
    symbols = [*(Var(name, 2, 5) for name in names[:-1]), Var(names[-1], 2, 2**63 - 2)]
    content = Content(symbols)
    for symbol in symbols:
        content.place(symbol * 2 + 1)
    good = [3] * len(names)
    bindings: list[list[int | None]] = [list(good), [1, *good[1:]], [*good[:-1], 2**63 - 1], [None, *good[1:]]]
    text = source_of(content, language)
    assert run(language, text, bindings, tmp_path) == [[[7] * len(names), []], None, None, None]
    assert text.isascii()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", emitted_arenas.CASES)
def test_arenas(name: str, language: LanguageName, tmp_path: Path) -> None:
    case, random = emitted_arenas.case(name), Random(name)
    bindings = [emitted_arenas.random_sizes(case, random, largest) for largest in (1, 8, 60, 10**4) for _ in range(20)]
    wanted = [emitted_arenas.wanted(case, given) for given in bindings]
    kinds = Counter(found[0] if isinstance(found[0], str) else "numbers" for found in wanted)
    assert kinds["numbers"]
    assert kinds["guard"] or not name.startswith(("required", "kinds")) or name == "kinds 0"
    if language == "js":
        wanted = [
            ["refused"] if found in (["size"], found[:1] and ["symbol", found[-1]]) else found for found in wanted
        ]
    assert run_arena(language, source_of(case.content, language), bindings, tmp_path) == wanted


@pytest.mark.parametrize("language", LANGUAGES)
def test_random_guards_refuse_what_the_plan_refuses(language: LanguageName, tmp_path: Path) -> None:
    """Also guards on sizes that only a run knows."""
    random, variables = Random(7), [Var(name, 0) for name in "abcde"]
    nodes = [NodeName("Op", str(i)) for i in range(4)]
    counts = Counter[str]()
    for _ in range(40):
        guards = [random_guard(random, variables, nodes) for _ in range(random.randint(1, 7))]
        content = Content(variables[:3])
        for variable in variables[:3]:
            content.place(variable)
        for guard in guards:
            sides = content.place(guard.lhs), content.place(guard.rhs)
            content.guards.append(GuardEntry(str(guard), guard.law, guard.kind, guard.node, guard.relation, *sides))
        content.arena = ArenaContent(1, (), [], 0, [], [], [], {}, None)
        order = [symbol.variable for symbol in content.symbols]
        bindings, wanted = [], []
        for _ in range(40):
            sizes = {v: random.randint(0, 2) for v in order if v in variables[:3] or random.random() < 0.7}
            known = [guard for guard in guards if guard.is_bound(sizes)]
            failing = [v.guard for v in violations(known, sizes) if v.kind != "declared"]
            bindings.append([sizes.get(v) for v in order])
            wanted.append(["guard", guards.index(failing[0])] if failing else [[], [], 0, 0])
            counts[str(wanted[-1][0])] += 1
        assert run_arena(language, source_of(content, language), bindings, tmp_path) == wanted
    assert min(counts.values()) > 300


def random_guard(random: Random, variables: list[Var], nodes: list[NodeName]) -> Guard:
    kind: Kind = random.choice(("required", "assumed", "declared"))
    return Guard(
        Relation("at_least", random.choice(variables), random.choice([*variables, 1])),
        "a law",
        tuple(random.sample(nodes, random.randint(0, 2))),
        kind,
    )


@pytest.mark.parametrize("language", BOUNDED)
def test_what_leaves_64_bits_is_no_arena(language: LanguageName, tmp_path: Path) -> None:
    """A run is refused, or the arena is right. It is refused if a number is too large."""
    case = emitted_arenas.case("decoder")
    bindings: list[list[int | None]] = [[x, y, z] for x in LARGE[1:] for y in LARGE[1:] for z in LARGE[1:]]
    found = run_arena(language, source_of(case.content, language), bindings, tmp_path)
    refused = 0
    for given, arena in zip(bindings, found, strict=True):
        if arena[0] in ("size", "guard"):
            refused += 1
            continue
        assert arena == (["symbol", arena[1]] if arena[0] == "symbol" else emitted_arenas.wanted(case, given)), given
    assert 100 < refused < len(bindings)
