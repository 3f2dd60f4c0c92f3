"""Memory over the schedule: the peak, live values, bodies and calls of functions."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import onnx
import pytest
from onnx.inliner import inline_local_functions

from onnx_infer import SymTensor, infer
from onnx_infer.errors import ArgumentError
from onnx_infer.tools.planning.envelope import MOST_COMPARED, ZERO, envelope
from onnx_infer.tools.planning.memory import MemoryPlan
from onnx_infer.values import dtype as dt
from symdim import Expr, Scope, UnboundName, Var
from symdim.algebra.variable import make_variable

from .test_planner import MODELS, N, S, at, sizes_of, with_weights
from .texts import parsed


def simulated(model: onnx.ModelProto, sizes: Mapping[str, int], *, whole: bool = False) -> int:
    """The peak by brute force: for each node the bytes of all values that are made and will still be read."""
    concrete = onnx.ModelProto()
    concrete.CopyFrom(model)
    for value in concrete.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = sizes[dim.dim_param]
    del concrete.graph.value_info[:]
    types = infer(concrete).types
    nodes = [n for n in concrete.graph.node if n.op_type != "Constant"]
    results = [o.name for o in concrete.graph.output]
    always = {i.name for i in concrete.graph.input} | {t.name for t in concrete.graph.initializer} if whole else set()
    peak = 0
    for i, node in enumerate(nodes):
        made = {name for n in nodes[: i + 1] for name in n.output if name}
        needed = {name for n in nodes[i:] for name in n.input} | set(results) | set(node.output)
        total = 0
        for name in (made & needed) | always:
            value = types[name]
            assert isinstance(value, SymTensor)
            assert value.shape is not None
            assert value.dtype is not None
            total += -(-prod(value.shape) * dt.BITS[value.dtype] // 8)  # type: ignore[type-var, operator]
        peak = max(peak, total)
    return peak


@pytest.mark.parametrize(("model", "wanted"), MODELS[:4])
def test_the_peak_is_that_of_a_simulation(model: onnx.ModelProto, wanted: dict[str, int]) -> None:
    result = infer(model)
    memory, whole = result.memory(), result.memory(inputs=True, initializers=True)
    for shift in (0, 16):
        sizes = {name: size + shift for name, size in sizes_of(result, wanted).items()}
        assert memory.peak_at(sizes).bytes == simulated(model, sizes)
        for plan in (memory, whole):
            least = plan.peak_at(**sizes).bytes
            assert at(plan.peak.size, sizes) == least if plan.peak.exact else at(plan.peak.size, sizes) >= least
    constants = {n.output[0] for n in model.graph.node if n.op_type == "Constant"}
    if not constants:
        assert whole.peak_at(sizes).bytes == simulated(model, sizes, whole=True)


def test_live_ranges() -> None:
    graph = """g (float[N, 8] x, float[8, 8] w) => (d, b) {
        a = MatMul(x, w)
        b = Relu(a)
        unused, m = Split<axis=1, num_outputs=2>(a)
        c = Concat<axis=1>(b, b)
        d = MatMul(c, t)
    }"""
    model = with_weights(parsed(graph), t=(16, 4))
    memory = infer(model).memory()
    assert [(s.operator, s.born, s.dead) for s in memory.steps] == [
        ("MatMul", ("a",), ()),
        ("Relu", ("b",), ()),
        ("Split", ("unused", "m"), ("a", "unused", "m")),
        ("Concat", ("c",), ()),
        ("MatMul", ("d",), ("c",)),
    ]
    assert (memory.peak.size, memory.peak.exact) == (112 * N, True)
    peak = memory.peak_at(N=5)
    assert (peak.bytes, peak.step.node, set(peak.live)) == (560, "d", {"b", "c", "d"})
    assert memory.sizes["c"] == 64 * N
    kept = infer(model).memory(inputs=True)
    assert (kept.peak.size, kept.kept) == (144 * N + 256, ("x", "w"))
    with pytest.raises(UnboundName, match="'N'"):
        memory.peak_at()


def test_what_a_subgraph_reads_lives_until_its_node() -> None:
    graph = """g (float[N] x, bool c) => (z) {
        a = Neg(x)
        b = Abs(x)
        z = If<then_branch = t () => (u) { u = Add(a, a) }, else_branch = e () => (v) { v = Sub(a, x) }>(c)
    }"""
    memory = infer(parsed(graph)).memory()
    assert [s.dead for s in memory.steps] == [(), ("b",), ("a",)]
    assert memory.peak.size == 8 * N


def test_a_body_counts_at_its_node_with_what_goes_in_and_out() -> None:
    """The peak of a body as a model of its own, beside what is live in the main graph at its node."""
    body = """(float[N, 8] p, float[N, 8] v) => (q, r) {
        t = Concat<axis = 1>(p, v) u = Tanh(t) q, w = Split<axis = 1, num_outputs = 2>(u) r = Exp(w) }"""
    main = "g (float[T, N, 8] x, float[N, 8] s) => (y, z) { a = Exp(s) b = Neg(s) y, z = NODE e = Add(a, b) }"
    result = infer(parsed(main.replace("NODE", f"Scan<num_scan_inputs = 1, body = b {body}>(a, x)")))
    for given in ({"T": 1, "N": 2}, {"T": 3, "N": 5}):
        inner = simulated(parsed(f"g {body}"), given, whole=True)
        row = 4 * 8 * given["N"]
        peak = result.memory().peak_at(given)
        assert (peak.bytes, peak.step.operator) == (3 * row + given["T"] * row + inner, "Scan")  # a, b, y, z, the body


CALLED = {
    "two shapes": (
        "(float[N, 1000] x, float[M, 2] z) => (p, q) { p = f.F(x) q = f.F(z) }",
        ["F (a) => (b) { t = Exp(a) b = Add(t, a) }"],
    ),
    "each call doubles": (
        "(float[N, 6] x, float[M, 2] z) => (c) { a = f.F(x) b = f.F(a) c = f.F(b) }",
        ["F (x) => (y) { y = Concat<axis=1>(x, x) }"],
    ),
    "functions in functions, absent operands, attributes": (
        "(float[N, 6] x, float[M, 2] z, float k) => (p, r) { p = f.G<ax=0>(x) q = f.G<ax=1>(z, k) r = f.G<ax=1>(q) }",
        [
            "G <ax> (a, k) => (b) { c = f.F<ax: int = @ax>(a, k) b = f.F<ax: int = @ax>(c) }",
            "F <ax> (a, k) => (b) { t = Concat<axis: int = @ax>(a, a) u = Clip(t, k) b = Exp(u) }",
        ],
    ),
    "bodies in functions": (
        "(float[N, 6] x, float[M, 2] z) => (p, q) { p = f.F(x) q = f.F(z) }",
        [
            "F (a) => (b) { t = Exp(a) yes = Constant<value = bool {1}>() b = If(yes) <then_branch = g () => (u) "
            "{ v = f.H(t) u = Concat<axis=0>(v, v) }, "
            "else_branch = h () => (w) { s = f.H(a) w = Concat<axis=0>(s, t) }> }",
            "H (a) => (b) { t = Concat<axis=1>(a, a) b, c = Split<axis=1, num_outputs=2>(t) }",
        ],
    ),
    "one name": (
        "(float[N, 6] x, float[M, 2] z) => (p, q) { [one] p = f.F(x) [one] q = f.F(z) }",
        ["F (a) => (b) { t = Exp(a) b = Add(t, a) }"],
    ),
}
"""Models in which functions are called with several types: the main graph, and the functions."""


@pytest.mark.parametrize(("graph", "functions"), CALLED.values(), ids=CALLED)
def test_each_call_of_a_function_counts_with_its_own_types(graph: str, functions: list[str]) -> None:
    """As in the model in which the bodies stand in place of the calls."""
    model = called(graph, functions)
    found, wanted = infer(model), infer(inline_local_functions(model))
    for sizes in ({"N": 2, "M": 5}, {"N": 7, "M": 1}, {"N": 1, "M": 4000}):
        plans = [result.memory() for result in (found, wanted)]
        assert not any(plan.unknown for plan in plans)
        assert plans[0].peak_at(sizes).bytes == plans[1].peak_at(sizes).bytes
        assert found.arena().at(sizes).lower_bound == wanted.arena().at(sizes).lower_bound
    assert found.arena().verify().steps == len(found.memory().steps)
    for name in ("read", "written", "multiply_adds"):
        assert getattr(found.traffic(), name, 0) == getattr(wanted.traffic(), name, 0)
    assert not found.traffic().unknown
    assert found.costs().multiply_adds == wanted.costs().multiply_adds


def called(graph: str, functions: list[str]) -> onnx.ModelProto:
    imports = 'opset_import: ["": 18, "f": 1]'
    return parsed(
        "\n".join([f"g {graph}", *(f'<domain: "f", {imports}> {f}' for f in functions)]), f"<ir_version: 10, {imports}>"
    )


def test_sizes_that_data_decide_in_a_function_that_is_called_twice() -> None:
    """No caller can give them a size, so they count with their upper bounds. Those of one call are symbols."""
    body = "F (a) => (b) { n = NonZero(a) t = Transpose(n) b = Cast<to=1>(t) }"
    twice = infer(
        called(
            "(float[N, 3] x, float[N, 3] z, float[2, K] k) => (p, q, s) { p = f.F(x) q = f.F(z) s = MatMul(k, p) }",
            [body],
        )
    )
    memory = twice.memory()
    assert {name: str(memory.sizes[name]) for name in ("p", "q", "p/n", "q/n")} == {
        "p": "8*K", "q": "8*_d1", "p/n": "48*N", "q/n": "48*N",
    }  # fmt: skip
    once = infer(called("(float[N, 3] x) => (p) { p = f.F(x) }", [body]))
    assert str(once.memory().sizes["p/n"]) == "16*_d0"


def test_calls_that_double_are_one_step_each_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnx_infer.tools.planning.memory.MOST_STEPS", 1 << 12)
    functions = [f"F{i} (a) => (b) {{ c = f.F{i + 1}(a) d = Exp(c) b = f.F{i + 1}(d) }}" for i in range(40)]
    result = infer(called("(float[N, 2] x) => (y) { y = f.F0(x) }", [*functions, "F40 (a) => (b) { b = Exp(a) }"]))
    memory = result.memory()
    assert memory.peak_at(N=1).bytes >= 16
    assert not memory.unknown
    assert result.traffic().read == 8 * (2**41 - 1) * N


def test_a_body_that_is_not_known_is_told() -> None:
    """A function that calls itself, and a function that is given a graph."""
    calls_itself = infer(called("(float[N] x) => (y) { z = f.F(x) y = Exp(x) }", ["F (a) => (b) { b = f.F(a) }"]))
    memory = calls_itself.memory(upper=True)
    assert "bodies of z" in memory.unknown
    assert not memory.is_bound
    assert calls_itself.arena().outside["bodies of z"] == "its bytes are not known"
    assert calls_itself.fits(10**6, {"N": (1, 2)}).verdict == "unknown"


@pytest.mark.parametrize("names", [("first", "second"), ("if", "if"), ("", "")])
def test_nodes_of_one_name_have_bodies_of_their_own(names: tuple[str, str]) -> None:
    def branch(name: str, copies: int) -> str:
        parts = ", ".join(["x"] * copies)
        return f"{name} () => (v{name}) {{ u{name} = Concat<axis=0>({parts}) v{name} = Size(u{name}) }}"

    nodes = [
        f"{output} = If(c) <then_branch = {branch(output + 't', copies)}, else_branch = {branch(output + 'e', copies)}>"
        for output, copies in (("p", 50), ("q", 2))
    ]
    model = parsed(f"g (float[N, 4] x, bool c) => (p, q) {{ {' '.join(nodes)} }}")
    for node, name in zip(model.graph.node, names, strict=True):
        node.name = name
    result, needed = infer(model), 50 * 100 * 4 * 4
    assert result.memory().peak_at(N=100).bytes >= needed
    assert result.arena().at(N=100).size >= needed
    assert result.fits(needed // 4, {"N": (1, 100)}).verdict == "exceeded"


def test_values_of_functions_and_of_the_main_graph_do_not_meet() -> None:
    model = called(
        "(float[N, 1000] x, float[M, 2] z) => (p, q, r) { other = Neg(z) p = f.F(x) q = Abs(other) r = Exp(q) }",
        ["F (a) => (b) { t = Exp(a) b = Add(t, a) }"],
    )
    for node in model.graph.node:
        names = {"other": "p/t", "q": "bodies of p"}
        node.input[:], node.output[:] = ([names.get(n, n) for n in part] for part in (node.input, node.output))
    model.graph.output[1].name = "bodies of p"
    result = infer(model)
    sizes = {b.value: b.size for b in result.arena().at(N=1, M=10_000).buffers}
    assert (sizes["p/t"], sizes["p/t_1"]) == (80_000, 4_000)
    assert result.memory().peak_at(N=1, M=10_000).bytes >= 160_000


GIVEN = {
    "optional": "optional(float[N, 3]) x, float[M, 3] z) => (y, w) { p = OptionalGetElement(x)",
    "sequence": "seq(float[N, 3]) x, float[M, 3] z) => (y, w) <int64 i = {0}> { p = SequenceAt(x, i)",
}


@pytest.mark.parametrize("text", GIVEN.values(), ids=GIVEN)
def test_symbols_of_optionals_and_sequences_can_be_given(text: str) -> None:
    result = infer(parsed(f"g ({text} y = Concat<axis = 0>(p, p) w = Add(y, z) }}"))
    planner = result.planner()
    assert [arg.name for arg in planner.args] == ["N", "M"]
    assert planner(N=2, M=4).shapes["y"] == (4, 3)
    memory = result.memory()
    assert (memory.unknown, memory.peak_at(N=2, M=4).bytes) == ((), 2 * 48 + 48 - 24 - 24)
    assert result.arena().at(N=2, M=4).size
    assert [str(guard) for guard in result.guards] == ["M in (2*N, 1)"]
    assert [v.guard for v in result.check(N=2, M=5)] == result.guards
    with pytest.raises(ArgumentError, match="is violated"):
        result.arena().at(N=2, M=5)
    answer = result.fits(40, {"N": (2, 4), "M": (1, 4)})  # those of the input itself are not known
    assert (answer.verdict, answer.sizes) == ("exceeded", {"N": 2, "M": 1})


def test_values_without_a_byte_size_count_nothing_and_are_told() -> None:
    graph = """g (float[N] x, string[N] t) => (y, s, q) {
        y = NonZero(x)
        s = StringNormalizer(t)
        q = SequenceConstruct(x)
    }"""
    result = infer(parsed(graph))
    memory = result.memory()
    assert memory.unknown == ("s", "q")
    with pytest.raises(UnboundName, match="'_d0'"):
        memory.peak_at(N=4)
    assert memory.peak_at({"N": 4, "_d0": 3}).bytes == 24
    assert result.memory(upper=True).peak_at(N=4).bytes == 32


def test_nodes_out_of_order_are_scheduled() -> None:
    memory = infer(parsed("g (float[N] x) => (z) { z = Neg(y) y = Abs(x) }")).memory()
    assert [step.node for step in memory.steps] == ["y", "z"]
    assert memory.peak.size == 8 * N


def test_an_envelope_is_at_least_each_sum() -> None:
    sums = [(N * S * k + S * (200 - k * k) + N * (k % 7)) for k in range(1, 14)]
    for most in (2, 3, 50):
        found = envelope([ZERO.plus([s]) for s in sums], most)
        size, exact = found.size, found.exact
        assert len(found.sizes) <= most
        for n, s in ((1, 1), (3, 50), (40, 2), (500, 600)):
            values = [at(x, {"N": n, "S": s}) for x in sums]
            assert at(size, {"N": n, "S": s}) >= max(values)
            assert not exact or at(size, {"N": n, "S": s}) == max(values)
    assert envelope([ZERO.plus([s]) for s in sums], 50).exact
    assert not envelope([ZERO.plus([s]) for s in sums], 2).exact
    assert MemoryPlan(infer(parsed("g (float[N] x) => (x) {}"))).peak == ((0,), True, (-1,))


def test_many_sums_that_cover_none_of_each_other_are_bounded_by_a_join() -> None:
    symbols = [Var.fresh(f"s{i}", i % 3) for i in range(3 * MOST_COMPARED)]
    sums = [ZERO.plus([8 * s - i % 5]) for i, s in enumerate(symbols)]
    found = envelope(sums, most=4)
    assert (len(found.sizes), found.exact) == (4, False)
    for i, sum_ in enumerate(sums):
        at = {s: 5 if s is symbols[i] else s.lo or 0 for s in symbols}
        assert at_sizes(sum_.size, at) <= max(at_sizes(size, at) for size in found.sizes)


def test_a_sum_without_a_lower_bound_is_not_joined() -> None:
    below = make_variable(Scope(), "element", None, None)
    joined = envelope([ZERO.plus([size]) for size in (N + below, N * N, S, S * S)], most=1)
    assert (joined.sizes[0], len(joined.sizes), joined.exact) == (N + below, 2, False)


def at_sizes(size: int | Expr, sizes: dict[Var, int]) -> int:
    return size if isinstance(size, int) else size.to_int(sizes)
