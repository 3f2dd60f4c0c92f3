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
)
from onnx_infer.ops.reshaping import reshaped
from symdim import Facts, Var

N, M, H = Var("N"), Var("M"), Var("H")


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
