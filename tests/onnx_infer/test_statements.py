"""What rules state: the trace of a rule call, cautious walks, and what known facts decide."""

from __future__ import annotations

from onnx_infer.laws.known import Known, assuming
from onnx_infer.laws.limits import demand_room_for_pads
from onnx_infer.laws.sizes import at_least, broadcast_size, confirm, differ, is_fresh
from onnx_infer.laws.statements import (
    Mode,
    Statement,
    Trace,
    call_mode,
    contradict,
    is_contradicted,
    state,
    tell_rank,
    unread,
)
from onnx_infer.ops.reshaping import reshaped
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
        with Trace(Mode(is_cautious=True)) as trace:
            confirm(2, 3, "sizes", kind)
        assert len(trace.errors) == errors, kind
    # the size that another law determines stays, whatever a cautious walk drops
    with Trace(Mode(is_cautious=True)):
        assert confirm(2, 3, "sizes") == 2
    assert call_mode() == Mode()


def test_pads_of_a_tensor_that_another_axis_may_empty() -> None:
    for other, kind, filled in ((M, "required", ()), (M - 1, "assumed", (M - 1,))):
        with Trace() as trace:
            demand_room_for_pads((N, other), 0, 2, 0, "reflect")
        assert trace.statements == [Statement("at_least", N, 3, "what is left to pad", kind, filled)], other


def test_the_innermost_trace_is_told_the_rank() -> None:
    tell_rank(2)  # without a trace nobody asks for it
    with Trace() as outer, Trace() as inner:
        tell_rank(N - 1)
    assert (inner.rank, outer.rank) == (N - 1, None)


def test_a_cautious_reshape_divides_only_by_sizes_that_the_input_has() -> None:
    for shape, found in (((N - 1, M, 2), (N - 1, 2 * M)), ((N - 1, M - 1, 2), None), ((H, M, 2), None)):
        with Trace(Mode(is_cautious=True)):
            sizes = reshaped(shape, (N - 1, -1), allowzero=1)
        assert sizes == found or (found is None and is_fresh(sizes[1])), shape


def test_the_innermost_facts_decide() -> None:
    def inside() -> None:
        assert not at_least(N, 5)
        assert differ(M, 3)
        assert (broadcast_size(M, 4), broadcast_size(4, M)) == (4, 4)

    def outside() -> None:
        assert at_least(N, 5)
        assuming(Known(Facts(["M == 4", "H >= 9"])), inside)
        assert at_least(N, 5)

    assuming(Known(Facts(["N >= 5"])), outside)
    assert not at_least(N, 5)
