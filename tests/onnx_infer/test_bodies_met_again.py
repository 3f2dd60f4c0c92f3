"""Nodes with subgraphs that are met again, in one model or in another one, with equal or with other captured values."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from onnx_infer import infer, infer_shapes
from symdim import clear_caches

from .test_random_loops import random_loop
from .texts import parsed

if TYPE_CHECKING:
    from onnx import ModelProto

SHAPES = ("N, 2", "M, 2", "3, 2", "1, 2", "0, 2", '"N + M", 2', "N, 2, 1", "N, K", "", "?, 2", "_d3, 2")
"""What the graph captures: as the body wants it, smaller and larger, of another rank, of no known size."""


def found(model: ModelProto) -> list[str]:
    """Everything that inference finds, in all graphs."""
    result = infer(model)
    engine = result._engine
    lines = [infer_shapes(model).SerializeToString().hex(), *map(str, result.diagnostics), str(result.reasons)]
    lines += [f"{guard} {guard.kind}" for guard in (*result.guards, *result.data_guards)]
    lines += [f"{name}: {value}" for name, value in result.types.items()]
    lines += [f"{v} {v.lo} {v.hi} {v.at_most} {v.origin}" for v in engine.created]
    lines += [f"{name}: {note}" for name, note in engine.notes.items()]
    for graph, scope in engine.inner:
        scope.touch(graph.literals)
        lines += [f"{graph.name}.{name}: {scope[name]}" for name in scope if name not in graph.constants]
    return lines


def variant(r: random.Random, text: str) -> str:
    """The loop with other captured values: other shapes, element types, elements, sizes that only the data decide."""
    kind = r.choice(["float", "float", "float16", "double"])
    shape, name, first = r.choice(SHAPES), "x", ""
    if r.random() < 0.4:
        name, first = "x0", "nz = NonZero(x0) sq = Transpose(nz) x = Cast<to=1>(sq)"
    outputs = r.choice(["y, z, both", "y, z, both", "y"])
    head = f"g ({kind}[{shape}] {name}, {kind}[{r.choice(SHAPES)}] w, int64[T] t, int64 n) => ({outputs}) {{ {first}"
    text = head + text[text.index("{") + 1 :]
    if r.random() < 0.3:
        text = text.replace("trips = Identity(n)", f"trips = Constant<value_int={r.randint(0, 4)}>()")
    return re.sub(r"float\[u, 2\] a", "float[N, 2] a", text) if r.random() < 0.2 else text


@pytest.mark.parametrize("start", range(0, 30, 5))
def test_random_loops(start: int) -> None:
    for seed in range(start, start + 5):
        r = random.Random(seed)
        text = random_loop(r.randrange(10**6))
        for _ in range(4):
            model = parsed(variant(r, text))
            first = found(model)
            assert found(model) == first, seed
            clear_caches()
            assert found(model) == first, seed


LOOP = """{name} = Loop(m, yes, {x}) <body = b (int64 i, bool on, float[a] v) => (bool go, float[b] w, float[c] s)
    {{ go = Identity(on) w = Concat<axis=0>(v, {captured}) s = Neg(k) }}>"""


def model_of(*loops: tuple[str, str, str], inputs: str = "float[N] x, float[N] y", body: str = LOOP) -> ModelProto:
    names = [f"r{i}" for i in range(len(loops))]
    nodes = [
        body.format(name=f"{name}, {name}s", x=x, captured=captured).replace("Neg(k)", f"Neg({k})")
        for name, (x, captured, k) in zip(names, loops, strict=True)
    ]
    constants = "m = Constant<value_int=5>() yes = Constant<value=bool {1}>()"
    return parsed(f"g ({inputs}) => ({', '.join(names)}) {{ {constants} {' '.join(nodes)} }}")


@pytest.mark.parametrize(
    "inputs",
    [
        "float[N] x, float[M] y",
        "float[4] x, float[N] y",
        "double[N] x, double[N] y",
        "float[N] x, float[N, 2] y",
        "float x, float y",
    ],
)
def test_other_captured_values_count(inputs: str) -> None:
    infer(model_of(("x", "x", "y")))
    model = model_of(("x", "x", "y"), inputs=inputs)
    first = found(model)
    assert first == found(model)
    clear_caches()
    assert first == found(model)


def test_elements_of_captured_constants_count() -> None:
    """Two models that differ in the elements of a captured constant only."""
    text = """g (float[N] x, bool c) => (y) <int64[2] s = {{{0}}}> {{ y = If(c) <
        then_branch = t () => (a) {{ a = Reshape(x, s) }}, else_branch = e () => (b) {{ b = Reshape(x, s) }}> }}"""
    shapes = [str(infer(parsed(text.format(elements))).types["y"]) for elements in ("1, -1", "-1, 2", "1, -1")]
    assert shapes == ["f32[1, N]", "f32[N//2, 2]", "f32[1, N]"]


def test_sizes_that_the_data_decide_are_not_shared() -> None:
    """Nodes of other operands, and each inference, have their own; nodes and texts name the new ones."""
    branches = (
        "then_branch = t () => (a) {{ a = Concat<axis=1>({0}, {0}) }}, else_branch = e () => (b) {{ b = Abs({0}) }}"
    )
    y, z = (f"{o} = NonZero({x}) {o}s = If(c) <{branches.format(o)}>" for x, o in ("uy", "vz"))
    model = parsed(f"g (float[N] u, float[N] v, bool c) => (ys, zs) {{ {y} {z} }}")
    one, two = infer(model), infer(model)
    sizes = [result.shapes[name][1] for result in (one, two) for name in ("y", "ys", "z", "zs")]
    assert len({id(size) for size in sizes}) == 8
    assert list(map(str, sizes)) == ["_d0", "_d1", "_d2", "_d3"] * 2


def test_errors_in_bodies_are_told_again() -> None:
    text = """g (float[N, 3] x, float[4] w, bool c) => (y)
        { y = If(c) <then_branch = t () => (a) { a = Add(x, w) }, else_branch = e () => (b) { b = Neg(x) }> }"""
    model = parsed(text)
    first = infer(model)
    assert [d.message for d in infer(model).diagnostics] == [d.message for d in first.diagnostics] != []
    assert [str(g) for g in infer(model).guards] == [str(g) for g in first.guards]


def test_the_opset_counts() -> None:
    """A body of the same bytes at another version of its operators."""
    text = """g (float[N, 3] x, bool c) => (y) { y = If(c) <
        then_branch = t () => (a) { a = ReduceMax<axes=[0]>(x) }, else_branch = e () => (b) { b = Neg(x) }> }"""
    for _ in range(2):
        told = [bool(infer(parsed(text, f'<ir_version: 8, opset_import: ["": {v}]>')).diagnostics) for v in (13, 18)]
        assert told == [False, True]


@pytest.mark.parametrize("outer", ["", "many", "function"])
def test_what_a_branch_that_is_surely_taken_states_is_stated_each_time(outer: str) -> None:
    """Its statements are those of the main graph."""
    taken = """y = If(yes) <then_branch = t () => (a) { a = MatMul(x, w) },
        else_branch = e () => (b) { b = MatMul(x, w) }>"""
    head, rest = "g (float[N] x, float[M] w) => (y) <bool yes = {1}>", ""
    if outer == "many":
        taken += taken.replace("y = If", "z = If")
    elif outer == "function":
        rest = f'<domain: "f", opset_import: ["": 18]> F (x, w) => (y) {{ yes = Constant<value=bool {{1}}>() {taken} }}'
        taken = "y = f.F(x, w)"
    model = parsed(f"{head} {{ {taken} }} {rest}", '<ir_version: 10, opset_import: ["": 18, "f": 1]>')
    clear_caches()
    for _ in range(3):
        result = infer(model)
        assert [(str(guard), guard.kind) for guard in result.guards] == [("N == M", "required")]
        assert result.check(N=2, M=3)
