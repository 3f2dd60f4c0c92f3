"""If and Loop in models."""

from __future__ import annotations

import onnx

from onnx_infer import InferenceResult, infer

from .texts import parsed

TRIPS = "tz = Constant<value_int=0>() ts = Shape(t) m = Gather(ts, tz) yes = Constant<value=bool {1}>()"


def inner_types(result: InferenceResult, model: onnx.ModelProto) -> dict[str, list[int | str | None]]:
    """The sizes written into all subgraphs, by value name."""
    found = {}
    pending = [result.apply(model).graph]
    while pending:
        graph = pending.pop()
        for info in (*graph.value_info, *graph.output, *graph.input):
            dims = info.type.tensor_type.shape.dim
            found[info.name] = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in dims]
        pending += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return found


# -- If ---------------------------------------------------------------------------------------------------------------


def test_a_size_of_one_of_two_branches_is_bounded_by_both() -> None:
    size = infer(parsed(BRANCHES)).shapes["y"][0]
    assert (str(size.at_most), size.lo, str(size.origin)) == ("max(M, N)", 1, "the branches of If: N or M")


BRANCHES = """g (float[N, 2] x, float[M, 2] w, bool c) => (y) {
    y = If(c) <then_branch = a () => (p) { p = Neg(x) }, else_branch = b () => (q) { q = Neg(w) }> }"""


# -- Loop -------------------------------------------------------------------------------------------------------------


def test_the_number_of_iterations_is_bounded_by_the_trip_count() -> None:
    text = f"""g (float[N] x, float[T] t, bool c) => (s) {{ {TRIPS}
        s = Loop(m, c) <body = b (int64 i, bool ci) => (co, p) {{ co = Identity(ci) p = Neg(x) }}> }}"""
    size = infer(parsed(text)).shapes["s"][0]
    assert (str(size.at_most), size.lo) == ("T", 0)


def test_a_size_of_a_loop_in_a_loop_may_be_0_where_it_begins_with_0() -> None:
    text = f"""g (float[N] x, float[T] t) => (y) {{ {TRIPS} one = Constant<value_ints=[1]>() x0 = Slice(x, one, ts)
        y = Loop(m, yes, x0) <body = b (int64 i, bool ci, float[u] a) => (co, o) {{ co = Identity(ci)
            o = Loop(m, ci, a) <body = inner (int64 j, bool cj, float[v] a1) => (c1, o1) {{
                c1 = Identity(cj) o1 = Concat<axis=0>(a1, a1) }}> }}> }}"""
    assert infer(parsed(text)).shapes["y"][0].lo == 0


def test_what_is_written_into_a_body_holds_in_every_iteration() -> None:
    model = parsed(
        """g (float[N, 2] x) => (y) { m = Constant<value_int=3>() yes = Constant<value=bool {1}>()
        y = Loop(m, yes, x) <body = b (int64 i, bool ci, float[N, 2] a) => (bool co, float[N, 2] o) {
            co = Identity(ci) h = Neg(a) o = Concat<axis=0>(h, a) }> }"""
    )
    result = infer(model)
    found = inner_types(result, model)
    (size,) = {str(found["h"][0])}
    assert size.startswith("_d")
    assert found["o"] == [f"2*{size}", 2]
