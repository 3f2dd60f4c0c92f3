"""If and Loop in models."""

from __future__ import annotations

import onnx
import pytest

from onnx_infer import InferenceResult, infer
from symdim import parse

from .texts import messages, parsed, types

TRIPS = "tz = Constant<value_int=0>() ts = Shape(t) m = Gather(ts, tz) yes = Constant<value=bool {1}>()"


def named_types(text: str, *names: str) -> dict[str, str]:
    return dict(zip(names, types(parsed(text), *names), strict=True))


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


def branches(cond: str, then: str, other: str, inputs: str = "bool c") -> dict[str, str]:
    return named_types(
        f"g (float[N, 2] x, float[M, 2] w, float[N, 2, 1] z, {inputs}) => (y) {{ {cond}"
        f" y = If(c) <then_branch = a () => (p) {{ {then} }}, else_branch = b () => (q) {{ {other} }}> }}",
        "y",
    )


@pytest.mark.parametrize(
    ("then", "other", "expected"),
    [
        ("p = Neg(x)", "q = Abs(x)", "f32[N, 2]"),
        ("p = Neg(x)", "q = Neg(w)", "f32[_d0, 2]"),
        ("p = Neg(x)", "q = Neg(z)", "f32[...]"),
        ("p = Shape(x)", "q = Shape(w)", "i64[2]={_d0, 2}"),
        ("p = SequenceConstruct(x)", "q = SequenceConstruct(w, w)", "seq(f32[_d1, 2]; _d0)"),
        ("p = SequenceConstruct(x, w)", "q = SequenceConstruct(w, x)", "seq(f32[_d0, 2], f32[_d1, 2])"),
        ("p = SequenceEmpty()", "q = SequenceConstruct(x)", "seq(f32[N, 2]; _d0)"),
        ("p = Optional(x)", "q = Optional(w)", "optional(f32[_d0, 2]; full)"),
    ],
)
def test_one_of_two_branches(then: str, other: str, expected: str) -> None:
    assert branches("", then, other)["y"] == expected


def test_a_size_of_one_of_two_branches_is_bounded_by_both() -> None:
    size = infer(parsed(BRANCHES)).shapes["y"][0]
    assert (str(size.at_most), size.lo, str(size.origin)) == ("max(M, N)", 1, "the branches of If: N or M")


BRANCHES = """g (float[N, 2] x, float[M, 2] w, bool c) => (y) {
    y = If(c) <then_branch = a () => (p) { p = Neg(x) }, else_branch = b () => (q) { q = Neg(w) }> }"""


def test_results_of_a_branch_keep_their_relations() -> None:
    found = named_types(
        """g (float[N, 2] x, float[M, 2] w, bool c) => (y) {
            a, s, b = If(c) <then_branch = t () => (p1, p2, p3) { p1 = Neg(x) p2 = Shape(x) p3 = Concat<axis=0>(x, w) },
                             else_branch = e () => (q1, q2, q3) { q1 = Neg(w) q2 = Shape(w) q3 = Concat<axis=0>(w, w) }>
            k = Constant<value=float {1}>() y = Expand(k, s) d = Sub(a, y) }""",
        *"asbyd",
    )
    assert found["a"] == found["y"] == found["d"] == "f32[_d0, 2]"
    assert found["b"] == "f32[M + _d0, 2]"


@pytest.mark.parametrize(("value", "expected"), [(1, "f32[N, 2]"), (0, "f32[M, 2]")])
def test_a_known_condition_takes_its_branch(value: int, expected: str) -> None:
    cond = f"c = Constant<value=bool {{{value}}}>()"
    assert branches(cond, "p = Neg(x)", "q = Neg(w)", "bool unused")["y"] == expected


def test_a_condition_on_sizes_gives_a_function_of_sizes() -> None:
    cond = "s = Shape<start=0, end=1>(x) k = Constant<value_ints=[3]>() c = Greater(s, k)"
    found = branches(cond, "p = Concat<axis=0>(x, w)", "q = Neg(w)", "bool unused")["y"]
    size = parse(found[4 : found.index(", 2]")])
    assert [size.evaluate({"N": n, "M": 5}) for n in range(1, 7)] == [5, 5, 5, 9, 10, 11]


def test_an_error_in_a_branch_that_is_never_taken_is_none() -> None:
    text = """g (float[N, 2] x) => (y) { c = Constant<value=bool {VALUE}>()
        y = If(c) <then_branch = a () => (p) { p = Neg(x) }, else_branch = b () => (q) { q = Squeeze(x, k) }>
        k = Constant<value_ints=[1]>() }"""
    taken, never = (infer(parsed(text.replace("VALUE", value))) for value in "01")
    assert [d.operator for d in taken.diagnostics] == ["Squeeze-13"]
    assert never.diagnostics == []
    assert str(never.types["y"]) == "f32[N, 2]"


@pytest.mark.parametrize(
    ("then", "other", "message"),
    [
        ("p = Neg(x)", "q = Shape(x)", "the element types of output 0 of the branches differ: f32 != i64"),
        ("p = Neg(x) p2 = Neg(x)", "q = Neg(x)", ""),
        (
            "p = Neg(x)",
            "q = com.acme.Foo(x)",
            "unsupported operator; add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)",
        ),
    ],
)
def test_branches_that_do_not_fit(then: str, other: str, message: str) -> None:
    result = infer(
        parsed(
            f"g (float[N, 2] x, bool c) => (y, v) {{ v = Neg(x) y = If(c) <then_branch = a () => (p) {{ {then} }},"
            f" else_branch = b () => (q) {{ {other} }}> }}"
        )
    )
    assert messages(result) == ([message] if message else [])
    assert str(result.types["v"]) == "f32[N, 2]"


def test_a_branch_with_other_outputs_than_the_node() -> None:
    text = """g (float[N] x, bool c) => (y) { y = If(c) <then_branch = a () => (p, r) { p = Neg(x) r = Neg(x) },
        else_branch = b () => (q) { q = Neg(x) }> }"""
    assert messages(infer(parsed(text))) == ["the number of outputs of then_branch and of the node differ: 2 != 1"]


# -- Loop -------------------------------------------------------------------------------------------------------------


def loop(body: str, outputs: str = "y, s", setup: str = TRIPS, call: str = "Loop(m, yes, x)") -> dict[str, str]:
    names = outputs.split(", ")
    text = (
        f"g (float[N, 2] x, float[M, 2] w, float[T] t, int64 n, bool c) => ({outputs}) {{ {setup}"
        f" {outputs} = {call} <body = b (int64 i, bool ci, float[u, v] a) => ({body.split('|')[0]})"
        f" {{ {body.split('|')[1]} }}> }}"
    )
    return named_types(text, *names)


GOES_ON = "co = Identity(ci)"


@pytest.mark.parametrize(
    ("body", "carried", "stacked"),
    [
        ("o = Neg(a) p = ReduceSum<keepdims=0>(a)", "f32[N, 2]", "f32[T]"),
        ("o = Concat<axis=0>(a, x) p = Neg(w)", "f32[N*T + N, 2]", "f32[T, M, 2]"),
        ("o = Concat<axis=0>(a, w) p = Shape(w)", "f32[M*T + N, 2]", "i64[T, 2]"),
        ("o = Neg(w) p = Neg(x)", "f32[M, 2]", "f32[T, N, 2]"),
        ("o = Concat<axis=0>(a, a) p = Neg(x)", "f32[_d2, 2]", "f32[T, N, 2]"),
        ("k = Constant<value_ints=[0]>() o = Unsqueeze(a, k) p = Neg(x)", "f32[...]", "f32[T, N, 2]"),
        ("o = Identity(a) p = NonZero(x)", "f32[N, 2]", "i64[T, 2, _d2]"),
    ],
)
def test_a_loop_that_its_condition_never_stops(body: str, carried: str, stacked: str) -> None:
    assert loop(f"co, o, p|{GOES_ON} {body}") == {"y": carried, "s": stacked}


def test_only_a_condition_that_never_stops_the_loop_gives_the_trip_count() -> None:
    body = "co, o, p|co = Less(i, n) o = Concat<axis=0>(a, x) p = Neg(x)"
    assert loop(body) == {"y": "f32[N*_d2 + N, 2]", "s": "f32[_d2, N, 2]"}
    body = f"co, o, p|{GOES_ON} o = Concat<axis=0>(a, x) p = Neg(x)"
    assert loop(body, call="Loop(m, c, x)") == {"y": "f32[N*_d2 + N, 2]", "s": "f32[_d2, N, 2]"}
    assert loop(body, call="Loop(n, yes, x)") == {"y": "f32[N*_d2 + N, 2]", "s": "f32[_d2, N, 2]"}


def test_the_number_of_iterations_is_bounded_by_the_trip_count() -> None:
    text = f"""g (float[N] x, float[T] t, bool c) => (s) {{ {TRIPS}
        s = Loop(m, c) <body = b (int64 i, bool ci) => (co, p) {{ co = Identity(ci) p = Neg(x) }}> }}"""
    size = infer(parsed(text)).shapes["s"][0]
    assert (str(size.at_most), size.lo) == ("T", 0)


def constant_trips(count: int, cond: str = "yes", body: str = "o = Concat<axis=0>(a, a) p = Neg(x)") -> dict[str, str]:
    setup = f"m = Constant<value_int={count}>() yes = Constant<value=bool {{1}}>() no = Constant<value=bool {{0}}>()"
    return loop(f"co, o, p|{GOES_ON} {body}", setup=setup, call=f"Loop(m, {cond}, x)")


@pytest.mark.parametrize(
    ("count", "carried", "stacked"),
    [
        (3, "f32[_d2, 2]", "f32[3, N, 2]"),
        (1, "f32[2*N, 2]", "f32[1, N, 2]"),
        # of no iteration at all, runtimes say 0 for sizes that are not fixed
        (0, "f32[N, 2]", "f32[0, _d2, 2]"),
        (-1, "f32[N, 2]", "f32[0, _d2, 2]"),
    ],
)
def test_a_loop_of_few_iterations(count: int, carried: str, stacked: str) -> None:
    assert constant_trips(count) == {"y": carried, "s": stacked}


def test_a_loop_of_few_iterations_without_a_condition() -> None:
    assert constant_trips(3, "") == {"y": "f32[_d2, 2]", "s": "f32[3, N, 2]"}
    # a body that says stop: the specification ignores it, onnxruntime does not
    body = "co, o, p|co = Constant<value=bool {0}>() o = Concat<axis=0>(a, a) p = Neg(x)"
    setup = "m = Constant<value_int=3>() yes = Constant<value=bool {1}>()"
    assert loop(body, setup=setup, call="Loop(m, , x)") == {"y": "f32[_d3, 2]", "s": "f32[_d2, N, 2]"}
    assert loop(body, setup=setup, call="Loop(m, yes, x)") == {"y": "f32[2*N, 2]", "s": "f32[1, N, 2]"}


def test_a_condition_that_is_false_at_the_start() -> None:
    assert constant_trips(3, "no")["y"] == "f32[N, 2]"


def test_a_trip_count_of_many_iterations_is_not_walked() -> None:
    assert constant_trips(10**6)["y"].startswith("f32[_d")
    assert constant_trips(10**6, body="o = Concat<axis=0>(a, x) p = Neg(x)")["y"] == "f32[1000001*N, 2]"


def test_a_loop_without_nodes_of_any_number_of_iterations() -> None:
    text = """g (float[N] x) => (y) { m = Constant<value_int=4000000000000>() yes = Constant<value=bool {1}>()
        y = Loop(m, yes, x) <body = b (int64 i, bool c1, float[u] a) => (c1, a) {}> }"""
    assert named_types(text, "y") == {"y": "f32[N]"}


def test_shapes_that_change_in_one_round_after_the_other_are_dropped() -> None:
    carried = [f"a{i}" for i in range(12)]
    inputs = ", ".join(f"float[] {a}" for a in carried)
    outputs = ", ".join(f"y{i}" for i in range(12))
    text = f"""g (float[N] x, float[2, 3] w, int64 m, bool c) => ({outputs}) {{
        {outputs} = Loop(m, c, {"x, " * 11} w) <body = b (int64 i, bool ci, {inputs})
        => (ci, {", ".join(carried[1:])}, a11) {{}}> }}"""
    assert set(named_types(text, *outputs.split(", ")).values()) == {"f32[...]"}
    # the number of the iteration is none outside
    more = text.replace(f"({outputs})", f"({outputs}, s)").replace(f"{outputs} =", f"{outputs}, s =")
    more = more.replace(
        "a11) {", "a11, p) { z = Constant<value_int=0>() k = Constant<value_int=1>() p = Range(z, i, k)"
    )
    assert infer(parsed(more)).shapes["s"][1] == 0  # as in the first turn, if there is one


def test_a_size_of_a_loop_in_a_loop_may_be_0_where_it_begins_with_0() -> None:
    text = f"""g (float[N] x, float[T] t) => (y) {{ {TRIPS} one = Constant<value_ints=[1]>() x0 = Slice(x, one, ts)
        y = Loop(m, yes, x0) <body = b (int64 i, bool ci, float[u] a) => (co, o) {{ co = Identity(ci)
            o = Loop(m, ci, a) <body = inner (int64 j, bool cj, float[v] a1) => (c1, o1) {{
                c1 = Identity(cj) o1 = Concat<axis=0>(a1, a1) }}> }}> }}"""
    assert infer(parsed(text)).shapes["y"][0].lo == 0


def test_a_rank_that_only_some_iterations_know() -> None:
    text = """g (float[N] x, int64[K] k) => (z, y) { m = Constant<value_int=2>() yes = Constant<value=bool {1}>()
        z, y = Loop(m, yes, x) <body = b (int64 i, bool ci, a) => (co, o, p) { co = Identity(ci)
            o = Concat<axis=0>(x, x) one = Constant<value_int=1>() first = Less(i, one) p = If(first) <
                then_branch = t () => (p1) { p1 = Reshape(a, k) }, else_branch = e () => (p2) { p2 = Neg(a) }> }> }"""
    assert named_types(text, "z", "y") == {"z": "f32[2*N]", "y": "f32[...]"}


def test_a_while_loop_on_known_data() -> None:
    text = """g (float[N, 2] x) => (y, k) { yes = Constant<value=bool {1}>() zero = Constant<value_int=0>()
        y, k = Loop("", yes, x, zero) <body = b (int64 i, bool ci, float[u, v] a, int64 j) => (co, o, j1) {
            one = Constant<value_int=1>() four = Constant<value_int=4>()
            j1 = Add(j, one) co = Less(j1, four) o = Concat<axis=0>(a, x) }> }"""
    assert named_types(text, "y", "k") == {"y": "f32[5*N, 2]", "k": "i64[]={4}"}


def test_a_while_loop_relates_what_it_carries() -> None:
    text = """g (float[N, 2] x, bool c) => (y, k) { zero = Constant<value_int=0>()
        y, k = Loop("", c, x, zero) <body = b (int64 i, bool ci, float[u, v] a, int64 j) => (co, o, j1) {
            one = Constant<value_int=1>() j1 = Add(j, one) o = Concat<axis=0>(a, x)
            r = ReduceSum<keepdims=0>(o) z = Constant<value=float {9}>() co = Less(r, z) }> }"""
    found = named_types(text, "y", "k")
    count = found["k"].removeprefix("i64[]={").removesuffix("}")
    assert found["y"] == f"f32[N*{count} + N, 2]"


def test_a_size_whose_expression_has_no_provable_sign() -> None:
    text = """g (float[1] x, int64 n, bool c) => (y) {
        y = Loop(n, c, x) <body = b (int64 i, bool ci, float[u] a) => (co, o) {
            co = Identity(ci) v = Constant<value=float[5] {1, 2, 3, 4, 5}>() one = Constant<value_int=1>()
            k = Constant<value_ints=[0]>() j = Add(i, one) lo = Unsqueeze(i, k) hi = Unsqueeze(j, k)
            s = Slice(v, lo, hi) o = Add(a, s) }> }"""
    assert named_types(text, "y")["y"].startswith("f32[_d")


def test_carried_sizes_that_stay_at_a_distance() -> None:
    text = f"""g (float[N] x, float[T] t, int64 n) => (y, z, d) {{ {TRIPS} one = Constant<value=float[1] {{1}}>()
        x1 = Concat<axis=0>(x, one)
        y, z = Loop(m, yes, x, x1) <body = b (int64 i, bool ci, float[u] a, float[v] b1) => (co, o, p) {{
            co = Identity(ci) o = Concat<axis=0>(a, a) k = Concat<axis=0>(a, a) p = Concat<axis=0>(k, one) }}>
        d = Concat<axis=0>(y, one) e = Sub(d, z) }}"""
    found = named_types(text, "d", "z", "e")
    assert found["d"] == found["z"] == found["e"]


def test_carried_sizes_that_change_places_are_not_one() -> None:
    text = f"""g (float[N] x, float[M] w, float[T] t) => (y, z) {{ {TRIPS}
        y, z = Loop(m, yes, x, w) <body = b (int64 i, bool ci, float[u] a, float[v] b1) => (co, o, p) {{
            co = Identity(ci) o = Identity(b1) p = Identity(a) }}> }}"""
    found = named_types(text, "y", "z")
    assert found["y"] != found["z"]


def test_sequences_that_grow() -> None:
    text = f"""g (float[N, 2] x, float[T] t) => (y, k, e) {{ {TRIPS} s0 = SequenceEmpty() zero = Constant<value_int=0>()
        a, s, r = Loop(m, yes, x, s0, s0) <body = b (int64 i, bool ci, float[u, v] a0, q, h) => (co, a1, q1, h1) {{
            co = Identity(ci) a1 = Concat<axis=0>(a0, x) q1 = SequenceInsert(q, x) h1 = SequenceInsert(h, a1) }}>
        y = ConcatFromSequence<axis=0>(s) k = SequenceLength(s) e = SequenceAt(r, zero) f = SequenceAt(r, zero) }}"""
    found = named_types(text, "s", "r", "y", "k", "e", "f")
    assert found["s"] == "seq(f32[N, 2]; T)"
    assert (found["y"], found["k"]) == ("f32[N*T, 2]", "i64[]={T}")
    assert found["r"] == "seq(f32[?, 2]; T)"
    # elements of different sizes: two of them have nothing in common
    assert found["e"] != found["f"]


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


def test_a_size_of_the_inside_never_leaves_it() -> None:
    text = f"""g (float[N, 2] x, float[T] t) => (y) {{ {TRIPS}
        y = Loop(m, yes, x) <body = b (int64 i, bool ci, float[u, v] a) => (bool co, float[inside, 2] o) {{
            co = Identity(ci) o = com.acme.Odd(a) }}> z = Neg(y) }}"""
    result = infer(parsed(text))
    assert "inside" not in str(result.types["y"])


@pytest.mark.parametrize("kind", ["Loop(m, yes, x, x)", "Loop(m, yes)"])
def test_a_body_that_does_not_fit_costs_the_loop_only(kind: str) -> None:
    text = f"""g (float[N, 2] x, float[T] t) => (y, z) {{ {TRIPS} z = Neg(x)
        y = {kind} <body = b (int64 i, bool ci, float[u, v] a) => (co, o) {{ co = Identity(ci) o = Neg(a) }}> }}"""
    result = infer(parsed(text))
    assert len(result.diagnostics) == 1
    assert str(result.types["z"]) == "f32[N, 2]"
