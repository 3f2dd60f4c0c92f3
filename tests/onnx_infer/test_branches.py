"""If: branches of different ranks, branches that no run survives, inputs that decide, opsets below 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.__main__ import main
from onnx_infer.integrations import onnx_ir

from .oracle import contradictions
from .sessions import session_of
from .texts import both, dims, messages, parsed, types

if TYPE_CHECKING:
    from collections.abc import Iterator


SQUEEZED = """g (float[B, T, K, 8] x INPUTS) => (OUTPUTS) {
    two = Constant<value_ints=[2]>() one = Constant<value_ints=[1]>() s = Shape(x) k = Gather(s, two) CONDITION
    y = If(c) <then_branch = t () => (p) { p = Squeeze(x, two) }, else_branch = e () => (q) { q = Identity(x) }>
    AFTER }"""


def squeezed(after: str, outputs: str, condition: str = "c = Equal(k, one)", inputs: str = "") -> str:
    text = SQUEEZED.replace("AFTER", after).replace("OUTPUTS", outputs)
    return text.replace("CONDITION", condition).replace("INPUTS", inputs)


AFTER = {
    "m8 = Constant<value_ints=[-1, 8]>() z = Reshape(y, m8)": "f32[B*K*T, 8]",
    "b = Constant<value_ints=[0, -1]>() z = Reshape(y, b)": "f32[B, 8*K*T]",
    "f = Flatten(y) z = Neg(f)": "f32[B, 8*K*T]",
    "n = Neg(y) m = Mul(n, y) z = Shape<end=2>(m)": "i64[2]={B, T}",
    "z = Size(y)": "i64[]={8*B*K*T}",
    "z = Shape<start=-1>(y)": "i64[1]={8}",
    "ax = Constant<value_ints=[-1]>() u = Unsqueeze(y, ax) z = Shape<start=-2>(u)": "i64[2]={8, 1}",
    "z = Transpose<perm=[2, 1, 0]>(y)": "f32[8, T, B]",
    "v = Shape(y) z = Reshape(x, v)": "f32[...]",
    "v = Shape(y) r = Reshape(x, v) i = Identity(r) z = Flatten<axis=1>(i)": "f32[B, 8*K*T]",
}


@pytest.mark.parametrize("after", AFTER)
def test_what_branches_of_different_rank_share(after: str) -> None:
    assert types(parsed(squeezed(after, "z")), "z") == [AFTER[after]]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("m8 = Constant<value_ints=[-1, 8]>() z = Reshape(y, m8)", "f32[_d1, 8]"),
        ("n = Neg(y) m = Mul(n, y) z = Shape<end=2>(m)", "i64[2]={B, T}"),
        ("z = Transpose<perm=[2, 1, 0]>(y)", "f32[8, T, B]"),
    ],
)
def test_a_condition_of_which_nothing_is_known(after: str, expected: str) -> None:
    found = types(parsed(squeezed(after, "z", "c = Identity(given)", ", bool given")), "z")
    assert found == [expected]


def test_it_holds_in_onnxruntime() -> None:
    for after in AFTER:
        model = parsed(squeezed(after, "z"))
        result = infer(model)
        session = session_of(infer_shapes(model))
        for sizes in ({"B": 2, "T": 3, "K": 1}, {"B": 2, "T": 3, "K": 4}, {"B": 1, "T": 1, "K": 1}):
            x = np.ones((sizes["B"], sizes["T"], sizes["K"], 8), np.float32)
            if "perm" in after and sizes["K"] > 1:
                assert result.check(sizes)
                continue
            (actual,) = session.run(None, {"x": x})
            assert not list(contradictions(result.types["z"], actual, sizes)), (after, sizes)
            assert not result.check(sizes)


def test_a_rank_that_no_run_survives_is_a_guard() -> None:
    result = infer(parsed(squeezed("z = Transpose<perm=[2, 1, 0]>(y)", "z")))
    assert [str(g.condition) for g in result.guards if g.kind == "required"] == ["K == 1"]


def test_two_tensors_of_one_source_take_the_same_side() -> None:
    found = types(parsed(squeezed("r = Shape(y) n = Size(r) f = Constant<value_int=3>() d = Equal(n, f) "
        "z = If(d) <then_branch = tt () => (o) { o = Unsqueeze(y, two) }, else_branch = ee () => (o2) { o2 = Neg(y) }>",
        "z")), "z")  # fmt: skip
    assert found == ["f32[B, T, K, 8]"]


def test_a_condition_on_a_rank_that_only_one_branch_survives() -> None:
    """The guard decides the first If too: its result has one rank."""
    text = squeezed(
        "r = Shape(y) n = Size(r) f = Constant<value_int=3>() d = Equal(n, f) m = Constant<value_ints=[-1]>()"
        " z = If(d) <then_branch = tt () => (o) { o = Neg(y) }, else_branch = ee () => (o2) { o2 = Squeeze(y, m) }>",
        "z",
    )
    result = infer(parsed(text))
    assert [str(result.types[name]) for name in ("y", "z")] == ["f32[B, T, 8]"] * 2
    assert result.diagnostics == []
    assert [str(g.condition) for g in result.guards if g.kind == "required"] == ["K == 1"]


def test_a_branch_in_a_branch() -> None:
    """The second squeeze is of what the first one gives: three ranks, of which a Reshape knows the elements."""
    text = """g (float[B, 8] x, bool a) => (z) { zero = Constant<value_ints=[0]>() m = Constant<value_ints=[-1, 4]>()
        s = Shape<end=1>(x) one = Constant<value_ints=[1]>() c = Equal(s, one)
        y = If(c) <then_branch = t () => (p) { w = Shape<end=1>(x) d = Equal(w, one)
                     p = If(d) <then_branch = u () => (pp) { pp = Squeeze(x, zero) },
                                else_branch = v () => (qq) { qq = Identity(x) }> },
                   else_branch = e () => (q) { q = Identity(x) }>
        z = Reshape(y, m) }"""
    assert types(parsed(text), "z") == ["f32[2*B, 4]"]


# -- branches that do not run -----------------------------------------------------------------------------------------

BROKEN = """g (float[N, 4] x, bool c, int64 sr) => (y) { l = Constant<value_int=3>()
    h = Constant<value=float[5] {1., 1., 1., 1., 1.}>() CONDITION
    y = If(d) <then_branch = t () => (p) { p = Add(x, h) }, else_branch = e () => (q) { q = Neg(x) }> }"""


def test_a_branch_that_breaks_a_law_is_not_taken() -> None:
    result = both(parsed(BROKEN.replace("CONDITION", "d = Identity(c)")))
    assert str(result.types["y"]) == "f32[N, 4]"
    assert [d.severity for d in result.diagnostics] == ["warning"]
    assert messages(result)[0].startswith("then_branch never runs: Add (opset 14) 'p': ")


def test_a_condition_that_takes_a_broken_branch_is_a_guard() -> None:
    result = infer(parsed(BROKEN.replace("CONDITION", "s = Shape<end=1>(x) m = Squeeze(s) d = Less(m, l)")))
    assert str(result.types["y"]) == "f32[N, 4]"
    assert [str(g.condition) for g in result.guards] == ["N >= 3"]


IN_A_BRANCH = """g (float[B, S, 8] x, float[8, 4] w, bool given) => (z) {
    one = Constant<value_ints=[1]>() three = Constant<value_ints=[3]>() true = Constant<value=bool {1}>()
    s = Shape<start=1, end=2>(x) f = Div(s, three) c = Equal(f, one)
    y = If(c) <then_branch = t () => (p) { p = ReduceSum<keepdims=0>(x, one) },
               else_branch = e () => (q) { q = Identity(x) }>
    z = If(TAKEN) <then_branch = a () => (o) { o = Gemm(y, w) }, else_branch = b () => (n) { n = Neg(y) }> }"""


def test_what_a_branch_demands_is_a_guard_where_it_is_surely_taken() -> None:
    """Gemm takes matrices only, so the first If reduces wherever that branch is taken."""
    sure = infer(parsed(IN_A_BRANCH.replace("TAKEN", "true")))
    assert [str(sure.types[name]) for name in ("y", "z")] == ["f32[B, 8]", "f32[B, 4]"]
    assert [str(g.condition) for g in sure.guards] == ["S >= 3", "S <= 5"]
    unsure = infer(parsed(IN_A_BRANCH.replace("TAKEN", "given")))
    assert [str(unsure.types[name]) for name in ("y", "z")] == ["f32[...]", "f32[...]"]
    assert unsure.guards == []


@pytest.mark.parametrize(
    ("first", "second", "guards"),
    [
        ("a = Reshape(x, s)", "n = Neg(x) b = Reshape(n, s)", ["N == 1"]),
        ("a = Reshape(x, t)", "n = Neg(x) b = Reshape(n, t)", ["N % 4 == 0"]),
        ("a = Gather(x, i)", "b = Gather(x, j)", ["N >= 3"]),
        ("a = MatMul(x, w)", "b = If(c) <then_branch = p () => (m) { m = MatMul(x, w) }, "
         "else_branch = q () => (o) { n = Neg(x) o = MatMul(n, w) }>", ["N == 8"]),
        ("a = Reshape(x, s)", "b = Neg(x)", []),
        ("a = Gather(x, i)", "b = Reshape(x, t)", []),
    ],
)  # fmt: skip
def test_what_both_branches_demand_is_a_guard(first: str, second: str, guards: list[str]) -> None:
    model = parsed(f"""g (float[N, 8] x, float[N, 2] w, bool c) => (y) {{
        s = Constant<value_ints=[1, 2, 4]>() t = Constant<value_ints=[16, 2, -1]>()
        i = Constant<value_int=4>() j = Constant<value_int=2>()
        y = If(c) <then_branch = t1 () => (a) {{ {first} }}, else_branch = e1 () => (b) {{ {second} }}> }}""")
    assert [str(guard) for guard in infer(model).guards] == guards


def test_a_broken_body_of_a_loop_may_run_no_time() -> None:
    loop = """s, p = Loop(sr, c, x) <body = b (int64 i, bool v, float[r, 4] a) => (bool w, a1, o)
        { w = Identity(v) a1 = Identity(a) o = Add(x, h) }>"""
    text = BROKEN.replace("CONDITION", "d = Identity(c)").replace("p = Add(x, h)", loop)
    result = infer(parsed(text))
    assert [d.severity for d in result.diagnostics] == ["warning"]
    assert messages(result)[0].startswith("body never runs: Add (opset 14) 'o': ")


# -- values -----------------------------------------------------------------------------------------------------------

SELECTED = """g (float[N, 4] x, int64 sr, int64[K] sizes) => (y, z) { k = Constant<value_int=16000>() c = Equal(sr, k)
    y = If(c) <then_branch = t () => (p) { p = Concat<axis=0>(x, x) },
                else_branch = e () => (q) { q = Flatten<axis=0>(x) }>
    z = Reshape(x, sizes) }"""


def test_values_of_inputs_decide() -> None:
    model = parsed(SELECTED)
    found = [both(model, values=values) for values in ({}, {"sr": 16000}, {"sr": 8000, "sizes": [2, -1]})]
    assert [[str(r.types[n]) for n in "yz"] for r in found] == [
        ["f32[_d0, _d1]", "f32[...]"],
        ["f32[2*N, 4]", "f32[...]"],
        ["f32[1, 4*N]", "f32[2, 2*N]"],
    ]
    assert str(infer(model, values={"sizes": np.array([4, -1])}, bidirectional=True).types["z"]) == "f32[4, N]"


@pytest.mark.parametrize("given", [[[], []], np.zeros((2, 0, 1), int), []])
def test_elements_of_an_empty_input_fit_its_shape(given: list[list[int]]) -> None:
    model = parsed("g (int64[2, 0, 1] x) => (y) { y = Neg(x) }")
    assert str(infer(model, values={"x": given}).types["y"]) == "i64[2, 0, 1]={}"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 1}, "'rate' is not an input of the graph; inputs are 'x', 'sr', 'sizes'"),
        ({"sr": [16000]}, "[16000] for 'sr' has not the declared shape of i64[]"),
        ({"sr": 1.5}, "1.5 for 'sr' is not an element of i64"),
        ({"sr": True}, "True for 'sr' is not an element of i64"),
        ({"sr": 1 << 63}, "9223372036854775808 for 'sr' is not an element of i64"),
        ({"sr": "fast"}, "'fast' for 'sr' is not an element of i64"),
        ({"x": 1.5}, "1.5 for 'x' has not the declared shape of f32[N, 4]"),
    ],
)
def test_values_that_do_not_fit(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match="values: ") as error:
        infer(parsed(SELECTED), values=values)
    assert str(error.value) == f"values: {message}"


def test_values_on_the_command_line(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/model.onnx"
    with open(path, "wb") as file:
        file.write(parsed(SELECTED).SerializeToString())
    assert main([path, "--value", "sr=16000", "--value", "sizes=[1, -1]"]) == 0
    assert "f32[2*N, 4]" in capsys.readouterr().out
    assert main([path, "--value", "rate=3"]) == 2
    assert "'rate' is not an input of the graph" in capsys.readouterr().err


@pytest.mark.parametrize(
    "either",
    [
        "s = SequenceConstruct(x, w) e = SequenceAt(s, p)",
        "s = SequenceConstruct(x) t = SequenceInsert(s, w) e = SequenceAt(t, p)",
        "e = If(c) <then_branch = a () => (s) { s = Identity(x) }, else_branch = b () => (t) { t = Identity(w) }>",
    ],
)
def test_sizes_that_a_later_node_makes_equal_are_one_size(either: str) -> None:
    text = """g (float[N, K] x, float[M, "max(K, 3)"] w, bool c, int64 p) => (e, z) { %s z = Concat<axis=0>(x, w) }"""
    model = parsed(text % either)
    assert types(model, "e", "z") == ["f32[_d0, K]", "f32[M + N, K]"]
    apart = parsed((text % either).replace("Concat<axis=0>(x, w)", "Neg(x)"))
    assert types(apart, "e") == ["f32[_d0, _d1]"]


# -- opsets below 11 --------------------------------------------------------------------------------------------------


FLAT = "s = Shape(x) p = ReduceProd(s) r = Reshape(x, p)"
"""All elements as a vector. onnx does not see its rank, because it does not know the elements of p."""

OTHER = "else_branch = e () => (b) { b = Identity(x) }>"

MODELS = {
    "an output": f"y = If(c) <then_branch = t () => (r) {{ {FLAT} }}, {OTHER}",
    "after it": f"y = If(c) <then_branch = t () => (a) {{ {FLAT} u = Abs(r) a = Neg(u) }}, {OTHER}",
    "from around": f"{FLAT} u = Abs(r) y = If(c) <then_branch = t () => (a) {{ a = Neg(u) }}, {OTHER}",
    "numbers": """y = If(c) <
        then_branch = t () => (a) { s = Shape(x) n = Sub(s, s) k = Constant<value = int64[2] {3, -1}>() p = Add(n, k)
                                    a = Reshape(x, p) },
        else_branch = e () => (b) { s2 = Shape(x) n2 = Sub(s2, s2) k2 = Constant<value = int64[2] {4, -1}>()
                                    p2 = Add(n2, k2) b = Reshape(x, p2) }>""",
    "an If in it": f"""y = If(c) <then_branch = t () => (a) {{ {FLAT}
        a = If(c) <then_branch = tt () => (i) {{ i = Neg(r) }}, else_branch = ee () => (j) {{ j = Abs(r) }}> }},
        {OTHER}""",
    "a Scan before it": f"""{FLAT} q = Shape(r) z = Expand(r, q)
        w = Scan<num_scan_inputs = 1, body = b (v) => (o) {{ o = Neg(v) }}>(z)
        y = If(c) <then_branch = t () => (a) {{ a = Neg(w) }}, {OTHER}""",
}


def model_of(name: str, opset: int, declared: str = "") -> onnx.ModelProto:
    head = f'<ir_version: {4 if opset == 9 else 5}, opset_import: ["": {opset}]>'
    return parsed(f"g (float[N, M] x, bool c) => (y) <{declared}> {{ {MODELS[name]} }}", head)


def infos(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    """The types that are written in a graph and in those in it, without the inputs."""
    yield from (*graph.value_info, *graph.output)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from infos(attribute.g)


@pytest.mark.parametrize("opset", [9, 10])
@pytest.mark.parametrize("name", MODELS)
def test_it_still_loads(name: str, opset: int) -> None:
    model = model_of(name, opset)
    session_of(model)
    written = infer_shapes(model)
    session_of(written)
    assert infer_shapes(written).SerializeToString(deterministic=True) == written.SerializeToString(deterministic=True)
    session_of(ir.to_proto(onnx_ir.infer_shapes(ir.from_proto(model))))


def test_only_what_onnx_would_infer_is_left_out() -> None:
    written = {info.name: dims(info) for info in infos(infer_shapes(model_of("after it", 10)).graph)}
    assert [written.get(name) for name in "sprua"] == [[2], [1], None, None, []]
    assert str(infer(model_of("from around", 10)).types["r"]) == "f32[M*N]"


def test_what_the_model_says_stays() -> None:
    written = infer_shapes(model_of("from around", 10, "float r, int64[2] s, float[K] u"))
    assert {info.name: dims(info) for info in written.graph.value_info} == {"s": [2], "p": [1], "r": [], "u": ["K"]}


def test_from_opset_11_on_everything_is_written() -> None:
    written = {info.name: dims(info) for info in infos(infer_shapes(model_of("from around", 11)).graph)}
    assert [written[name] for name in "sprua"] == [[2], [1], ["M*N"], ["M*N"], ["M*N"]]


@pytest.mark.parametrize("front_end", ["ModelProto", "onnx_ir"])
def test_a_size_that_only_a_function_writes_keeps_its_name(front_end: str) -> None:
    """The main graph has the size, too, but does not write it. So a second inference may number it otherwise there."""
    head = '<ir_version: 10, opset_import: ["": 10, "com.acme": 1]>'
    main = """g (float[N, M] x, float[K] k, bool c) => (y) { i = NonZero(k) j = com.acme.F(x)
        y = If(c) <then_branch = t () => (a) { a = Neg(j) }, else_branch = e () => (b) { b = Shape(x) }> }"""
    model = parsed(f'{main}\n<domain: "com.acme", opset_import: ["": 10]> F (p) => (q) {{ q = NonZero(p) }}', head)

    def again(model: onnx.ModelProto) -> onnx.ModelProto:
        of_ir = front_end == "onnx_ir"
        return ir.to_proto(onnx_ir.infer_shapes(ir.from_proto(model))) if of_ir else infer_shapes(model)

    once = again(model)
    (q,) = (info for info in once.functions[0].value_info if info.name == "q")
    assert dims(q) == [2, "_d1"]
    assert "j" not in [info.name for info in once.graph.value_info]
    assert again(once) == once


def test_branches_that_give_maps_of_other_keys_are_an_error() -> None:
    text = """g (float[N, 2] x, bool c) => (y) { y = If(c) <
        then_branch = a () => (p) { p = ai.onnx.ml.ZipMap<classlabels_strings = ["a", "b"]>(x) },
        else_branch = b () => (q) { q = ai.onnx.ml.ZipMap<classlabels_int64s = [1, 2]>(x) }> }"""
    result = infer(parsed(text, '<ir_version: 8, opset_import: ["": 17, "ai.onnx.ml": 1]>'))
    assert messages(result) == ["the key types of output 0 of the branches differ: str != i64"]
