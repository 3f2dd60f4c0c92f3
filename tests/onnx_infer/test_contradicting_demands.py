"""Branches and bodies whose nodes demand what cannot hold together: they never run, as a node that breaks its law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_infer import infer

from .sessions import check_guards, run, session_of
from .texts import both, parsed

if TYPE_CHECKING:
    import onnx

    from onnx_infer import InferenceResult

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
