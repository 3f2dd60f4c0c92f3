"""What bodies of Loops demand: nothing of a Loop that may not run, or of what only later iterations know."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from onnx_infer import infer

from .sessions import run, session_of, shape_at
from .texts import messages, parsed

LOOP = """g (float[N, D] x, float[M, E] w, float[T] u, bool v) => (y) {{
    h = Shape(u) m = Squeeze(h) t = Constant<value=bool {{1}}>() one = Constant<value_int=1>() less = Sub(m, one)
    more = Greater(m, one) {before} y = Loop({call}, x) <body = b (int64 i, bool go, float[A, B] c) =>
        (bool k, float[F, G] o) {{ k = {goes_on} {body} o = Identity(n) }}> }}"""

JOINED = "n = Concat<axis=1>(c, w)"

# (call, condition of the body, body, sizes that a run accepts although a demand of the body fails)
MAY_RUN = [
    ("less, t", "Identity(go)", JOINED, "N=2 D=1 M=3 E=1 T=1"),
    ("m, more", "Identity(go)", JOINED, "N=2 D=1 M=3 E=1 T=1"),
    ("m, v", "Identity(go)", JOINED, "N=2 D=1 M=3 E=1 T=4"),
    # the last iteration is not known: an element stops the Loop
    ("m, t", "Less(i, i)", "r = Gather(w, i) s = ReduceSum<keepdims=0>(r) n = Add(c, s)", "N=2 D=1 M=1 E=1 T=3"),
    ("m, t", "Identity(v)", "r = Gather(w, i) s = ReduceSum<keepdims=0>(r) n = Add(c, s)", "N=2 D=1 M=1 E=1 T=3"),
    # a branch that no iteration takes
    (
        "m, t",
        "Identity(go)",
        "n = If(v) <then_branch = p () => (q) { q = Concat<axis=1>(c, w) }, else_branch = f () => (e) { e = Neg(c) }>",
        "N=2 D=1 M=3 E=1 T=2",
    ),
]


def model_of(call: str, goes_on: str, body: str, before: str = "") -> str:
    return LOOP.format(call=call, goes_on=goes_on, body=body, before=before)


@pytest.mark.parametrize(("call", "goes_on", "body", "sizes"), MAY_RUN)
def test_what_may_not_run_demands_nothing(call: str, goes_on: str, body: str, sizes: str) -> None:
    model = parsed(model_of(call, goes_on, body))
    at = {name: int(size) for name, _, size in (part.partition("=") for part in sizes.split())}
    shapes = {"x": (at["N"], at["D"]), "w": (at["M"], at["E"]), "u": (at["T"],)}
    feeds = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    assert run(session_of(model), {**feeds, "v": np.array(False)}) is not None
    result = infer(model)
    assert not messages(result)
    assert not result.check(at)


def test_a_guard_names_the_node_of_the_body() -> None:
    result = infer(parsed(model_of("m, t", "Identity(go)", JOINED)))
    (guard,) = result.guards
    assert (str(guard), guard.operator, guard.node) == ("N == M", "Loop", "y")
    assert guard.law == "Concat 'n': sizes at axis 0"


def test_guards_are_those_of_the_first_inference() -> None:
    """The walk over the body is recorded. A second inference repeats the record."""
    model = parsed(model_of("m, t", "Identity(go)", "r = Gather(w, i) n = Concat<axis=0>(c, w)"))
    first, second = infer(model), infer(model)
    assert sorted(map(str, first.guards)) == ["D == E", "M >= T"]
    assert first.guards == second.guards


def test_a_body_that_calls_a_function() -> None:
    text = model_of("m, t", "Identity(go)", "n = local.joined(c, w)")
    function = '<domain: "local", opset_import: ["": 18]> joined (a, b) => (c) { c = Concat<axis=1>(a, b) }'
    model = parsed(f"{text} {function}", '<ir_version: 8, opset_import: ["": 18, "local": 1]>')
    assert list(map(str, infer(model).guards)) == ["N == M"]


def test_a_number_that_every_run_breaks_is_an_error() -> None:
    """The last of 60 turns reads beyond a table of 50 rows."""
    body = "r = Gather(table, i) n = Concat<axis=0>(c, c)"
    before = "many = Constant<value_int=60>() s = Constant<value_ints=[50, 2]>() table = ConstantOfShape(s)"
    (told,) = infer(parsed(model_of("many, t", "Identity(go)", body, before))).diagnostics
    assert told.severity == "error"
    assert "Gather 'r': index out of bounds: 60 > 50" in told.message


def test_a_size_that_one_turn_changes() -> None:
    """Additions broadcast in the first turn. Later ones change nothing."""
    model = parsed(model_of("m, t", "Identity(go)", "n = Add(c, w)"))
    assert str(infer(model).shapes["y"]) == "(max(M, N), max(D, E))"
    result = infer(parsed(model_of("less, t", "Identity(go)", "n = Add(c, w)")))
    sizes = {"N": 1, "M": 5, "D": 4, "E": 1}
    assert [shape_at(result, "y", {**sizes, "T": turns}) for turns in (1, 2, 3)] == [(1, 4), (5, 4), (5, 4)]


STACK = """g (float[N, D] x, float[N, E] w, float[T] u) => (y, z) {{ h = Shape(u) m = Squeeze(h)
    y, z = Loop({trips}, , x) <body = b (int64 i, bool go, float[A, B] c) => (bool k, n, s)
        {{ k = Identity(go) {body} s = Neg(c) }}> }}"""

# (turns, body, shape of the stacked outputs, required guards)
STACKED = [
    ("m", "n = Concat<axis=1>(c, w)", "(T, N, D)", ["T == 1"]),
    ("m", "n = Identity(w)", "(T, N, D)", []),
    ("m", "n = Concat<axis=1>(x, x)", "(T, N, D)", ["T == 1"]),
    ("m", "k1 = Constant<value_ints=[2, 1]>() n = Tile(c, k1)", "(T, N, D)", ["T == 1"]),
    ("m", "n = Transpose(c)", "(T, N, D)", []),
    ("two", "n = Concat<axis=1>(w, w)", "(2, N, D)", []),
    ("two", "n = Transpose(c)", "(2, N, D)", []),
    ("two", "f = Constant<value_ints=[1, -1]>() n = Reshape(c, f)", "(2, N, D)", []),
]


@pytest.mark.parametrize(("trips", "body", "shape", "guards"), STACKED)
def test_stacked_outputs_have_the_shape_of_the_first_turn(trips: str, body: str, shape: str, guards: list[str]) -> None:
    """onnxruntime demands that all have the same number of elements."""
    text = STACK.format(trips=trips, body=body).replace("h = ", "two = Constant<value_int=2>() h = ")
    model = parsed(text)
    result, session = infer(model), session_of(model)
    assert str(result.shapes["z"]) == shape
    assert [str(g) for g in result.guards if g.kind == "required"] == guards
    for n, d, e, t in product((1, 2, 3), repeat=4):
        shapes = {"x": (n, d), "w": (n, e), "u": (t,)}
        found = run(session, {name: np.zeros(dims, np.float32) for name, dims in shapes.items()})
        at = {"N": n, "D": d, "E": e, "T": t}
        if found is not None:
            assert shape_at(result, "z", at) == found[1].shape
            assert not [v for v in result.check(at) if v.kind == "required"]
