"""What rules state: the trace of a rule call, cautious walks, and what known facts decide."""

from __future__ import annotations

from onnx_infer.laws.known import Known
from onnx_infer.laws.sizes import at_least, broadcast_size, confirm, differ
from onnx_infer.laws.statements import Statement, Trace, cautious, contradict, is_contradicted, state, unread
from symdim import Facts, Var

N, M, H = Var("N"), Var("M"), Var("H")


def test_a_statement_at_other_sizes() -> None:
    statement = Statement("equal", N + M, 3, "a law", "assumed", (N, 4))
    assert statement.substitute({N: H}) == Statement("equal", H + M, 3, "a law", "assumed", (H, 4))


def test_the_innermost_trace_notes_what_is_stated() -> None:
    with Trace() as outer:
        contradict("before")
        with Trace() as inner:
            assert not is_contradicted()
            found = unread(0)
            state("equal", N, M, "a law")
            contradict("inside")
            assert is_contradicted()
        contradict("after")
    assert (inner.fresh, inner.errors, [s.law for s in inner.statements]) == ([found], ["inside"], ["a law"])
    assert (outer.fresh, outer.errors, outer.statements) == ([], ["before", "after"], [])


def test_a_cautious_walk_drops_what_is_assumed_only() -> None:
    for kind, errors in (("required", 1), ("assumed", 0)):
        with Trace() as trace, cautious:
            confirm(2, 3, "sizes", kind)  # type: ignore[arg-type]
        assert len(trace.errors) == errors, kind


def test_the_innermost_facts_decide() -> None:
    with Known(Facts(["N >= 5"])):
        assert at_least(N, 5)
        with Known(Facts(["M == 4", "H >= 9"])):
            assert not at_least(N, 5)
            assert differ(M, 3)
            assert (broadcast_size(M, 4), broadcast_size(4, M)) == (4, 4)
        assert at_least(N, 5)
    assert not at_least(N, 5)
