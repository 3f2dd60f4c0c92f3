"""Demands that no run fulfils, alone or together: errors, and in branches and bodies a reason why these never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.engine.demands import contradictions
from onnx_infer.laws.statements import Statement
from symdim import Var

from .sessions import all_sizes, check_guards, counting, run, session_of
from .texts import both, parsed

if TYPE_CHECKING:
    import onnx

    from onnx_infer import InferenceResult


# a graph, and what is told of its node
IMPOSSIBLE = {
    "g (float[N] x, float[3] w) => (y) { c = Concat<axis=0>(x, x) y = Add(c, w) }": (
        "Add (opset 14) 'y': broadcast sizes: 2*N == 3 holds at no sizes"
    ),
    "g (float[2, N] x, float[3, 5] w) => (y) { c = Concat<axis=1>(x, x) y = MatMul(c, w) }": (
        "MatMul (opset 13) 'y': inner sizes of the product: 2*N == 3 holds at no sizes"
    ),
    """g (float[N, 2] x, float[M, 2] z, float[1, 2] o) => (y) {
        c = Concat<axis=0>(x, x) d = Concat<axis=0>(z, z, o) y = Concat<axis=1>(c, d) }""": (
        "Concat (opset 13) 'y': sizes at axis 0: 2*N == 2*M + 1 holds at no sizes"
    ),
    "g (float[N, N] x) => (y) <int64[1] t={7}> { y = Reshape(x, t) }": (
        "Reshape (opset 14) 'y': the element counts: 7 == N**2 holds at no sizes"
    ),
    """g (float[N, 4] x, float[1, 2] o) => (y) <int64[1] f={-1}, int64[2] t={4, -1}> {
        a = Reshape(x, f) b = Reshape(o, f) c = Concat<axis=0>(a, b) y = Reshape(c, t) }""": (
        "Reshape (opset 14) 'y': the element count: (4*N + 2) % 4 == 0 holds at no sizes"
    ),
    "g (float[N] x) => (y) <int64[1] five={5}> { n = Shape(x) k = Add(n, five) y, i = TopK(x, k) }": (
        "TopK (opset 11) 'y': the size of the axis and K: N >= N + 5 holds at no sizes"
    ),
    """g (float[N, 2] x, float[3, 2] a, float[4, 2] b) => (y) {
        c = Concat<axis=1>(x, a) y = Concat<axis=1>(x, b) }""": (
        "Concat (opset 13) 'y': sizes at axis 0: N == 4 contradicts N == 3 (Concat 'c')"
    ),
    """g (float[1, 1, N, 8] x, float[1, 1, 5, 1] w, float[N] v, float[6] u) => (y) {
        c = Conv(x, w) q = Concat<axis=0>(v, v) y = MatMul(q, u) }""": (
        "MatMul (opset 13) 'y': inner sizes of the product: 2*N == 6 contradicts N >= 5 (Conv 'c')"
    ),
    """g (float[N, 2] x, float[M, 2] z, float[K, 2] k, float[1, 2] o) => (y) {
        a = Concat<axis=0>(x, x) b = Concat<axis=1>(a, z) d = Concat<axis=0>(k, k, o) y = Concat<axis=1>(z, d) }""": (
        "Concat (opset 13) 'y': sizes at axis 0: M == 2*K + 1 contradicts 2*N == M (Concat 'b')"
    ),
    """g (float[N, 3] x, float[1, 3] o) => (y) <int64[3] t={2, -1, 3}> {
        a = Reshape(x, t) c = Concat<axis=0>(x, o) y = Reshape(c, t) }""": (
        "Reshape (opset 14) 'y': the element count: (N + 1) % 2 == 0 contradicts N % 2 == 0 (Reshape 'a')"
    ),
    """g (float[N] x, float[M] z) => (y) <int64[1] one={1}> {
        n = Shape(x) m = Shape(z) n1 = Add(n, one) m1 = Add(m, one) a, i = TopK(x, m1) y, j = TopK(z, n1) }""": (
        "TopK (opset 11) 'y': the size of the axis and K: M >= N + 1 contradicts N >= M + 1 (TopK 'a')"
    ),
}
MODES = [{}, {"bounds": {"N": (1, None)}}, {"assume": ["N >= 1"]}, {"assume": ["N % 4 >= 0"]}, {"bidirectional": True}]


@pytest.mark.parametrize(("graph", "message"), IMPOSSIBLE.items())
def test_it_is_the_same_error_in_every_mode(graph: str, message: str) -> None:
    model = parsed(graph)
    for options in MODES:
        told = infer(model, **options).diagnostics  # type: ignore[arg-type]
        assert [(d.severity, str(d)) for d in told] == [("error", message)], options


@pytest.mark.parametrize("graph", IMPOSSIBLE)
def test_no_size_runs(graph: str) -> None:
    model = parsed(graph)
    session, result = session_of(model), infer(model)
    for sizes in all_sizes(result, (1, 2, 3, 4, 5, 7)):
        assert run(session, counting(result, sizes)) is None, sizes


@pytest.mark.parametrize(
    "graph",
    [
        "g (float[N] x, float[4] w) => (y) { c = Concat<axis=0>(x, x) y = Add(c, w) }",
        "g (float[N] x, float[M] w) => (y) { c = Concat<axis=0>(x, x) y = Add(c, w) }",
        "g (float[N, N] x) => (y) <int64[1] t={49}> { y = Reshape(x, t) }",
        """g (float[N, 2] x, float[M, 2] z, float[3, 2] a) => (y) {
            c = Concat<axis=0>(x, z, z) b = Concat<axis=1>(c, a) y = Concat<axis=1>(x, x) }""",
        """g (float[A] x, float[B] z, float[C] w) => (y) <int64[1] t={1000}> {
            k = Concat<axis=0>(x, z) m = MatMul(k, w) y, i = TopK(w, t) }""",
    ],
)
def test_what_some_sizes_fulfil_is_no_error(graph: str) -> None:
    for options in ({}, {"bidirectional": True}):
        assert infer(parsed(graph), **options).diagnostics == []  # type: ignore[arg-type]


def test_an_assumption_that_excludes_all_sizes_is_named() -> None:
    model = parsed("g (float[N] x, float[6] w) => (y) { c = Concat<axis=0>(x, x) y = Add(c, w) }")
    (told,) = infer(model, assume=["N % 3 == 1"]).diagnostics
    assert "2*N" in told.message
    assert "under the assumption N % 3 == 1" in told.message


def test_what_rests_on_an_assumption_is_no_error() -> None:
    """The empty x makes Concat skip it, so a run may have other sizes than the later nodes demand."""
    model = parsed("""g (float[N, 2] x, float[3, 2] a, float[4, 2] b) => (y) {
        c = Concat<axis=1>(x, a) y = Concat<axis=1>(x, b) }""")
    assert infer(model, min_dim=0).diagnostics == []


def test_each_wrong_demand_is_told_once() -> None:
    nodes = " ".join(f"y{i} = MatMul(x, w{i})" for i in range(5))
    weights = ", ".join(f"float[{2 + i % 3}] w{i}" for i in range(5))
    told = infer(parsed(f"g (float[N] x, {weights}) => (y0) {{ {nodes} }}")).diagnostics
    assert [d.node for d in told] == ["y1", "y2"]


def test_the_command_fails(tmp_path, capsys) -> None:
    path = str(tmp_path / "model.onnx")
    onnx.save(parsed(next(iter(IMPOSSIBLE))), path)
    assert main([path]) == 1
    assert "2*N == 3 holds at no sizes" in "".join(capsys.readouterr())


def test_thousands_of_demands_of_one_symbol() -> None:
    """Only so many contradictions are told, so the time does not grow with their square."""
    N, node = Var("N"), ("Add", "", (), ("y",), None, None)
    stated = [(Statement("equal", N, i, "law"), node) for i in range(1, 5000)]
    assert len(contradictions(stated)) == 64  # type: ignore[arg-type]


# -- branches and bodies that never run -------------------------------------------------------------------------------


HEAD = """g ({inputs}) => (y) {{ one = Constant<value_int=1>() h = Shape(u) m = Squeeze(h) more = Greater(m, one)
    s3 = Constant<value_ints=[3, 7]>() three = ConstantOfShape(s3) s4 = Constant<value_ints=[4, 7]>()
    four = ConstantOfShape(s4) on = Constant<value=bool {{1}}>() less = Sub(m, one) {rest} }}"""

FIRST, SECOND = "p = Concat<axis=1>({}, three)", "a = Concat<axis=1>({}, four)"
BOTH = f"{FIRST} {SECOND}"
LAW = "then_branch never runs: Concat 'a' demands N == 4 and Concat 'p' demands N == 3"


def model_of(rest: str, inputs: str = "float[N, D] x, float[T] u") -> onnx.ModelProto:
    return parsed(HEAD.format(inputs=inputs, rest=rest))


def branches(then: str, condition: str = "more", other: str = "a = Neg(x)") -> str:
    other = other.replace("a =", "b =")
    return f"""y = If({condition}) <then_branch = t () => (a) {{ {then.replace("{}", "x")} }},
        else_branch = e () => (b) {{ {other.replace("{}", "x")} }}>"""


def told(result: InferenceResult) -> list[tuple[str, str]]:
    return [(d.severity, d.message) for d in result.diagnostics]


def test_the_other_branch_is_taken() -> None:
    model = model_of(branches(BOTH))
    result = both(model)
    assert [(str(g), g.kind) for g in result.guards] == [("T == 1", "required")]
    assert str(result.types["y"]) == "f32[N, D]"
    check_guards(model, result, range(1, 5))


@pytest.mark.parametrize(
    "then",
    [
        FIRST + " a = Identity(p)",
        BOTH.replace("four", "three"),
        "p = Add(x, three) a = Add(x, four)",  # of sizes that broadcast
        "z = NonZero(x) w = Cast<to=1>(z) p = Concat<axis=0>(w, three) a = Concat<axis=0>(w, four, four)",
    ],
)
def test_demands_that_hold_together_choose_no_branch(then: str) -> None:
    result = infer(model_of(branches(then)))
    assert not [g for g in result.guards if g.kind == "required"]
    assert "never runs" not in str(told(result))


def test_demands_of_two_branches_are_not_compared() -> None:
    result = infer(model_of(branches(FIRST + " a = Identity(p)", other=SECOND)))
    assert result.guards == []
    assert told(result) == []


def test_a_condition_that_an_input_gives() -> None:
    """Nothing is demanded of sizes, but the result is that of the other branch."""
    model = model_of(branches(BOTH, "v"), "float[N, D] x, float[T] u, bool v")
    result = infer(model)
    assert (str(result.types["y"]), result.guards) == ("f32[N, D]", [])
    assert told(result) == [("warning", LAW)]
    session = session_of(model)
    for rows in (3, 4):
        feeds = {"x": np.ones((rows, 2), np.float32), "u": np.ones(1, np.float32)}
        assert run(session, {**feeds, "v": np.array(True)}) is None
        assert run(session, {**feeds, "v": np.array(False)}) is not None


def test_two_such_branches_are_an_error() -> None:
    result = infer(model_of(branches(BOTH, other=BOTH.replace("p", "q"))))
    assert [severity for severity, _ in told(result)] == ["error"]


def test_a_branch_in_a_branch() -> None:
    """The inner If has no branch that runs, so the outer one takes its other branch."""
    inner = branches(BOTH, "on2", other=BOTH.replace("p =", "q =")).replace("y = If", "w = If")
    inner = inner.replace("(a)", "(i)").replace("a =", "i =")
    result = infer(
        model_of(branches(f"on2 = Less(one, n) {inner} a = Identity(w)"), "float[N, D] x, float[T] u, int64 n")
    )
    assert str(result.types["y"]) == "f32[N, D]"
    assert [str(g) for g in result.guards] == ["T == 1"]


@pytest.mark.parametrize(("turns", "guards"), [("less", ["T == 1"]), ("m", None)])
def test_a_body_of_a_loop(turns: str, guards: list[str] | None) -> None:
    body = BOTH.format("x", "x")
    loop = (
        f"y = Loop({turns}, on, x) <body = b (int64 i, bool go, c) => (k, o) {{ k = Identity(go) {body} o = Neg(c) }}>"
    )
    result = infer(model_of(loop))
    assert str(result.types["y"]) == "f32[N, D]"
    if guards is not None:
        assert [str(g) for g in result.guards] == guards
        check_guards(model_of(loop), result, range(1, 5))
