"""Bodies in which a node breaks its law whatever the sizes are: no run comes to them, or every run fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_infer import infer

from .sessions import check_guards, run, session_of
from .texts import both, messages, parsed

if TYPE_CHECKING:
    from onnx_infer import InferenceResult

HEAD = (
    "g (float[N, D] x, float[T] u, bool v, int64 n) => (y) { h = Shape(u) m = Squeeze(h) one = Constant<value_int=1>()"
)
BROKEN = "d = Concat<axis=0>(c, c) n = Concat<axis=1>(c, d)"
"""A join of N and 2*N rows, which have the first turn and all later ones."""


def looped(call: str, body: str = BROKEN, before: str = "") -> str:
    return f"""{HEAD} less = Sub(m, one) most = Sub(m, m) {before} t = Constant<value=bool {{1}}>() y = Loop({call}, x)
        <body = b (int64 i, bool go, float[A, B] c) => (bool k, o) {{ k = Identity(go) {body} o = Identity(n) }}> }}"""


def required(result: InferenceResult) -> list[str]:
    return [str(g) for g in result.guards if g.kind == "required"]


@pytest.mark.parametrize(
    ("call", "before", "guards"),
    [
        ("less, ", "", ["T == 1"]),
        ("less, f", "f = Greater(m, one)", ["T == 1"]),
        ("m, f", "f = Greater(m, one)", ["T == 1"]),
        (", f", "three = Constant<value_int=3>() f = Greater(m, three)", ["T <= 3"]),
        ("n, ", "", []),  # an element decides it
        ("less, v", "", []),
        ("most, ", "", []),
    ],
)
def test_a_broken_body_makes_no_turn(call: str, before: str, guards: list[str]) -> None:
    result = both(parsed(looped(call, before=before)))
    assert required(result) == guards
    assert str(result.types["y"]) == "f32[N, D]"
    assert "error" not in [d.severity for d in result.diagnostics]


def test_the_guard_is_that_of_onnxruntime() -> None:
    text = looped("less, t").replace(", bool v, int64 n", "")
    model = parsed(text)
    check_guards(model, infer(model), range(1, 4))


@pytest.mark.parametrize("call", ["m, ", ", ", "m, t"])
def test_a_broken_body_that_certainly_runs_is_an_error(call: str) -> None:
    result = infer(parsed(looped(call)))
    assert [d.severity for d in result.diagnostics] == ["error"]
    assert messages(result) == ["Concat (opset 13) 'n': sizes at axis 0 differ: N != 2*N"]


def test_a_law_that_only_the_first_turn_breaks() -> None:
    """The second turn would have as many rows as the table has."""
    body = (
        "two = Constant<value_ints=[2, 4]>() z = ConstantOfShape(two) a = Concat<axis=1>(c, z) n = Concat<axis=0>(c, c)"
    )
    text = looped("less, ", body).replace("float[N, D] x", "float[1, 4] x")
    result = infer(parsed(text))
    assert required(result) == ["T == 1"]
    assert str(result.types["y"]) == "f32[1, 4]"


def test_a_loop_in_a_body() -> None:
    """The inner Loop makes as many turns as the outer one made before, so the outer one makes one turn at most."""
    inner = f"""zero = Sub(i, i) n = Loop(i, go, c)
        <body = p (int64 j, bool w, float[E, F] e) => (bool q, r) {{ q = Identity(w) {BROKEN} r = Identity(n) }}>"""
    result = infer(
        parsed(looped("m, ", inner.replace("n = Concat", "r0 = Concat").replace("Identity(n)", "Identity(r0)")))
    )
    assert required(result) == ["T == 1"]
    assert str(result.types["y"]) == "f32[N, D]"


BOTH = """y = If(v) <then_branch = s () => (a) { d = Concat<axis=0>(x, x) a = Concat<axis=1>(x, d) },
                     else_branch = e () => (b) { f = Concat<axis=0>(x, x) b = Concat<axis=1>(f, x) }>"""


def test_two_broken_branches_are_an_error_of_the_if() -> None:
    result = infer(parsed(f"{HEAD} {BOTH} }}"))
    assert [d.severity for d in result.diagnostics] == ["error"] * 3
    assert messages(result)[2].startswith("neither branch runs: Concat (opset 13) 'a': ")


def test_two_broken_branches_break_the_branch_around_them() -> None:
    outer = f"z = If(q) <then_branch = t () => (o) {{ {BOTH} o = Neg(y) }}, else_branch = r () => (l) {{ l = Neg(x) }}>"
    text = f"{HEAD} q = Less(m, one2) {outer} }}".replace("(y) {", "(z) { one2 = Constant<value_int=2>()", 1)
    result = infer(parsed(text))
    assert required(result) == ["T >= 2"]
    assert str(result.types["z"]) == "f32[N, D]"


SCAN = """{head} s = Slice(x, zero, {end}) y, w = Scan<num_scan_inputs=1, body = b (c, e) => (n, o)
    {{ d = Concat<axis=0>(c, c) o = Concat<axis=1>(e, d) n = Neg(c) }}>(x, s) }}"""


@pytest.mark.parametrize(
    ("end", "severities"), [("end", ["warning"]), ("zero", []), ("h", ["error"])], ids=["some", "none", "one or more"]
)
def test_the_body_of_a_scan(end: str, severities: list[str]) -> None:
    head = HEAD.replace("int64 n", "int64[1] end") + " zero = Constant<value_ints=[0]>()"
    result = infer(parsed(SCAN.format(head=head, end=end)))
    assert [d.severity for d in result.diagnostics] == severities


@pytest.mark.parametrize(("made", "severities"), [("Identity(q)", ["warning"]), ("SequenceConstruct(x)", ["error"])])
def test_the_body_of_a_sequence_map(made: str, severities: list[str]) -> None:
    text = f"""g (float[N, 2] x, seq(float[N, 2]) q) => (y) {{ s = {made}
        y = SequenceMap(s) <body = b (c) => (n) {{ {BROKEN} }}> }}"""
    assert [d.severity for d in infer(parsed(text)).diagnostics] == severities


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("Loop(m, , x) <body = b (int64 i, bool go) => (bool k, n) { k = Identity(go) n = Neg(x) }>",
         "the number of inputs of body is not that of the node: 2"),
        ("SequenceMap(q) <body = b (c, d) => (n) { n = Add(c, d) }>",
         "the inputs of body and node differ in number: 2 != 1"),
    ],
)  # fmt: skip
def test_a_body_with_another_number_of_inputs(call: str, message: str) -> None:
    (told,) = infer(parsed(f"g (float[N] x, int64 m, seq(float[N]) q) => (y) {{ y = {call} }}")).diagnostics
    assert (told.severity, told.message) == ("error", message)


def test_a_body_that_fails_for_one_element_of_a_sequence() -> None:
    text = """g (float[N, 2] x, float[N, 3] z, float[N, 2] w) => (y) { s = SequenceConstruct(x, z)
        y = SequenceMap(s) <body = b (c) => (n) { n = Concat<axis=0>(c, w) }> }"""
    (told,) = infer(parsed(text)).diagnostics
    assert (told.severity, told.operator) == ("error", "SequenceMap-17")
    assert "Concat (opset 13) 'n': sizes at axis 1 differ: 3 != 2" in told.message


@pytest.mark.parametrize(("min_dim", "runs"), [(1, False), (0, True)])
def test_an_assumed_law_that_one_element_breaks_is_an_error(min_dim: int, runs: bool) -> None:
    """If there may be no rows, the law is assumed: onnxruntime skips a part without elements."""
    text = """g (float[N, 1] x) => (seq(float[]) y) <float[2, 2] w = {1, 2, 3, 4}> { s = SequenceConstruct(w, x)
        y = SequenceMap(s) <body = b (float[] c) => (float[] n) { n = Concat<axis=0>(c, w) }> }"""
    model = parsed(text)
    result = infer(model, min_dim=min_dim)
    assert [(d.severity, d.operator) for d in result.diagnostics] == [("error", "SequenceMap-17")]
    assert "Concat (opset 13) 'n': sizes at axis 1 differ: " in result.diagnostics[0].message
    assert (run(session_of(model), {"x": np.ones((min_dim, 1), np.float32)}) is not None) is runs


@pytest.mark.parametrize("size", [0, 1])
def test_a_law_that_one_element_breaks_is_not_told_beside_one_that_all_break(size: int) -> None:
    """Without rows the second law is an assumed one, too."""
    text = f"""g (float[N, 1] x, float[{size}, 3] f) => (seq(float[]) y) <float[2, 2] w = {{1, 2, 3, 4}}> {{
        s = SequenceConstruct(w, x) y = SequenceMap(s) <body = b (float[] c) => (float[] n) {{
            n = Concat<axis=0>(c, w) q = Concat<axis=0>(w, f) }}> }}"""
    assert [d.node for d in infer(parsed(text), min_dim=0).diagnostics] == ["q"]


def test_sizes_that_are_a_matrix_in_the_second_turn() -> None:
    """onnxruntime takes the elements of a matrix, so the result has other sizes than after one turn: they are open."""
    text = """g (float[N, 4] x) => (float[] y, int64[] z) <int64 n = {2}, bool t = {1}, int64[2] m = {1, -1}>
        { h = Shape(x) y, z = Loop(n, t, x, h) <
            body = b (int64 i, bool go, float[] c, int64[] s) => (bool k, float[] o, int64[] r) {
            k = Identity(go) o = ConstantOfShape(s) q = ReduceMean(s) r = Reshape(q, m) }> }"""
    model = parsed(text)
    result = infer(model)
    assert str(result.types["y"]) in ("f32[...]", "f32[_d0]")
    found = run(session_of(model), {"x": np.ones((6, 4), np.float32)})
    assert found is not None
    assert found[0].shape == (5,)


def test_a_law_that_a_runtime_does_not_demand_proves_nothing() -> None:
    """onnxruntime skips an operand without elements when it joins tensors, whatever its other sizes are."""
    text = """g (float[N, D] x, bool v) => (y) { z = Constant<value_ints=[0]>() o = Constant<value_ints=[1]>()
        n = Shape<end=1>(x) d = Shape<start=1>(x) s = Slice(x, n, d, o) w = Concat<axis=1>(x, x)
        y = If(v) <then_branch = t () => (a) { a = Concat<axis=0>(s, x) },
                     else_branch = e () => (b) { b = Neg(w) }> }"""
    model = parsed(text)
    result = infer(model)
    assert [d.severity for d in result.diagnostics] == ["error"]
    session = session_of(model)
    found = [run(session, {"x": np.ones((3, 2), np.float32), "v": np.array(v)}) or [] for v in (True, False)]
    assert [y.shape for (y,) in found] == [(6, 2), (3, 4)]
    assert all(str(size).startswith("_d") for size in result.shapes["y"] or ())
