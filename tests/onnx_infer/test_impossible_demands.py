"""Demands that no run fulfils, alone or together, are errors: in every mode, in the same words."""

from __future__ import annotations

import onnx
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.engine.contradictions import contradictions
from onnx_infer.laws.statements import Statement
from symdim import Var

from .sessions import all_sizes, counting, run, session_of
from .texts import parsed

# a graph, and what is told of its node
IMPOSSIBLE = {
    "g (float[N] x, float[3] w) => (y) { c = Concat<axis=0>(x, x) y = Add(c, w) }": (
        "Add-14 'y': broadcast sizes: 2*N == 3 holds at no sizes"
    ),
    "g (float[2, N] x, float[3, 5] w) => (y) { c = Concat<axis=1>(x, x) y = MatMul(c, w) }": (
        "MatMul-13 'y': inner sizes of the product: 2*N == 3 holds at no sizes"
    ),
    """g (float[N, 2] x, float[M, 2] z, float[1, 2] o) => (y) {
        c = Concat<axis=0>(x, x) d = Concat<axis=0>(z, z, o) y = Concat<axis=1>(c, d) }""": (
        "Concat-13 'y': sizes at axis 0: 2*N == 2*M + 1 holds at no sizes"
    ),
    "g (float[N, N] x) => (y) <int64[1] t={7}> { y = Reshape(x, t) }": (
        "Reshape-14 'y': the element counts: 7 == N**2 holds at no sizes"
    ),
    """g (float[N, 4] x, float[1, 2] o) => (y) <int64[1] f={-1}, int64[2] t={4, -1}> {
        a = Reshape(x, f) b = Reshape(o, f) c = Concat<axis=0>(a, b) y = Reshape(c, t) }""": (
        "Reshape-14 'y': the element count: (4*N + 2) % 4 == 0 holds at no sizes"
    ),
    "g (float[N] x) => (y) <int64[1] five={5}> { n = Shape(x) k = Add(n, five) y, i = TopK(x, k) }": (
        "TopK-11 'y': the size of the axis and K: N >= N + 5 holds at no sizes"
    ),
    """g (float[N, 2] x, float[3, 2] a, float[4, 2] b) => (y) {
        c = Concat<axis=1>(x, a) y = Concat<axis=1>(x, b) }""": (
        "Concat-13 'y': sizes at axis 0: N == 4 contradicts N == 3 (Concat 'c')"
    ),
    """g (float[1, 1, N, 8] x, float[1, 1, 5, 1] w, float[N] v, float[6] u) => (y) {
        c = Conv(x, w) q = Concat<axis=0>(v, v) y = MatMul(q, u) }""": (
        "MatMul-13 'y': inner sizes of the product: 2*N == 6 contradicts N >= 5 (Conv 'c')"
    ),
    """g (float[N, 2] x, float[M, 2] z, float[K, 2] k, float[1, 2] o) => (y) {
        a = Concat<axis=0>(x, x) b = Concat<axis=1>(a, z) d = Concat<axis=0>(k, k, o) y = Concat<axis=1>(z, d) }""": (
        "Concat-13 'y': sizes at axis 0: M == 2*K + 1 contradicts 2*N == M (Concat 'b')"
    ),
    """g (float[N, 3] x, float[1, 3] o) => (y) <int64[3] t={2, -1, 3}> {
        a = Reshape(x, t) c = Concat<axis=0>(x, o) y = Reshape(c, t) }""": (
        "Reshape-14 'y': the element count: (N + 1) % 2 == 0 contradicts N % 2 == 0 (Reshape 'a')"
    ),
    """g (float[N] x, float[M] z) => (y) <int64[1] one={1}> {
        n = Shape(x) m = Shape(z) n1 = Add(n, one) m1 = Add(m, one) a, i = TopK(x, m1) y, j = TopK(z, n1) }""": (
        "TopK-11 'y': the size of the axis and K: M >= N + 1 contradicts N >= M + 1 (TopK 'a')"
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
