"""What is assumed of symbols holds while a model is inferred; contradictions are told."""

from __future__ import annotations

from random import Random

import onnx.parser
import pytest

from onnx_infer import InferenceResult, UnknownSymbol, infer
from onnx_infer.__main__ import main
from symdim import Expr

HEAD = '<ir_version: 10, opset_import: ["": 20]>'


def parsed(graph: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"{HEAD} {graph}")


def errors(result: InferenceResult) -> list[str]:
    return [str(d).partition("\n")[0] for d in result.diagnostics if d.severity == "error"]


SQUEEZE = """g (float[B, T, 8] x, int64[1] axes) => (y) {
    s = Shape <start = 1, end = 2> (x)  one = Constant <value_ints = [1]> ()  is_one = Equal (s, one)
    y = If (is_one) <
        then_branch = a () => (t) { ax = Constant <value_ints = [1]> () t = Squeeze (x, ax) },
        else_branch = b () => (e) { e = Identity (x) }> }"""
SLICE = """g (float[S] x, float[64] table) => (y) {
    zero = Constant <value_ints = [0]> ()  s = Shape (x)  t = Slice (table, zero, s)  y = Add (x, t) }"""
TABLE = """g (float[N, H, W, 4] x, float[1, 256, 4] table) => (y) {
    shape = Constant <value_ints = [0, -1, 4]> ()  f = Reshape (x, shape)  y = Add (f, table) }"""

# a model, what is assumed, the same as bounds, the type of y, the guards
AS_BOUNDS = [
    (SQUEEZE, ["T >= 2"], {"T": (2, None)}, "f32[B, T, 8]", []),
    (SQUEEZE, ["2 <= T <= 64"], {"T": (2, 64)}, "f32[B, T, 8]", []),
    (SQUEEZE, ["T != 1"], {"T": (2, None)}, "f32[B, T, 8]", []),
    (SQUEEZE, ["T == 1"], {"T": (1, 1)}, "f32[B, 8]", []),
    (SQUEEZE, ["(T + 1) // 4 >= 1"], {"T": (3, None)}, "f32[B, T, 8]", []),
    (SQUEEZE, ["T % 8 == 0"], {"T": (8, None)}, "f32[B, T, 8]", []),
    (SQUEEZE, ["T // 2 >= 3 and T <= 9"], {"T": (6, 9)}, "f32[B, T, 8]", []),
    (SQUEEZE, ["T >= 5", "T != 3"], {"T": (5, None)}, "f32[B, T, 8]", []),
    (SQUEEZE, ["T <= 5", "T != 5", "T != 3"], {"T": (1, 4)}, "f32[...]", []),
    (SQUEEZE, ["T % B == 0", "B + T != 3"], {}, "f32[...]", []),
    (SQUEEZE, ["T * B >= 4", "B <= 1"], {"T": (4, None), "B": (1, 1)}, "f32[1, T, 8]", []),
    (SQUEEZE, ["T >= B", "B >= 2"], {"T": (2, None), "B": (2, None)}, "f32[B, T, 8]", []),
    (SLICE, ["S <= 64"], {"S": (1, 64)}, "f32[S]", []),
    (SLICE, [], {}, "f32[S]", ["S <= 64"]),
    (TABLE, ["H <= 16", "W <= 15"], {"H": (1, 16), "W": (1, 15)}, None, None),
]


@pytest.mark.parametrize(("graph", "assume", "bounds", "expected", "guards"), AS_BOUNDS)
def test_relations_that_are_intervals_do_what_bounds_do(graph, assume, bounds, expected, guards):
    ours, theirs = infer(parsed(graph), assume=assume), infer(parsed(graph), bounds=bounds)
    assert str(ours.types["y"]) == str(theirs.types["y"])
    assert [str(g) for g in ours.guards] == [str(g) for g in theirs.guards]
    assert ours.notes == theirs.notes
    if expected is not None:
        assert (str(ours.types["y"]), [str(g) for g in ours.guards]) == (expected, guards)


# a model, what is assumed, the type of y, the guards
RELATIONS = [
    (
        """g (float[past, 4] p, float[seq, 4] s, float[total, 4] m) => (y) {
            c = Concat <axis = 0> (p, s) y = Add (c, m) }""",
        ["total == past + seq"],
        "f32[total, 4]",
        [],
    ),
    ("g (float[N] x, float[M] z) => (y) { y = Add (x, z) }", ["N == M"], "f32[N]", []),
    ("g (float[N] x, float[M] z) => (y) { y = Add (x, z) }", ["N > M"], "f32[N]", ["M in (N, 1)"]),
    (
        """g (float[N, H] x) => (y) {
            shape = Constant <value_ints = [0, -1, 32]> ()  y = Reshape (x, shape) }""",
        ["H % 32 == 0"],
        "f32[N, H//32, 32]",
        [],
    ),
    (
        """g (float[N] x, float[M] z) => (y) {
            a = Shape (x) b = Shape (z) d = Sub (a, b) two = Constant <value_ints = [2]> ()
            h = Div (d, two) y = ConstantOfShape (h) }""",
        ["N >= M"],
        "f32[(N - M)//2]",
        [],
    ),
    (
        """g (float[N] x, float[M] z) => (y) {
            a = Shape (x) b = Shape (z) less = Less (a, b)
            y = If (less) <
                then_branch = t () => (r) { r = Identity (x) }, else_branch = e () => (q) { q = Neg (z) }> }""",
        ["N < M"],
        "f32[N]",
        [],
    ),
]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("graph", "assume", "expected", "guards"), RELATIONS)
def test_rules_ask_what_intervals_do_not_decide(graph, assume, expected, guards, bidirectional):
    plain = infer(parsed(graph))
    result = infer(parsed(graph), assume=assume, bidirectional=bidirectional)
    assert (str(result.types["y"]), [str(g) for g in result.guards]) == (expected, guards)
    assert not errors(result)
    again = infer(parsed(graph))  # nothing of what was assumed is remembered
    assert str(again.types["y"]) == str(plain.types["y"])
    assert [str(g) for g in again.guards] == [str(g) for g in plain.guards]
    assert (str(plain.types["y"]), [str(g) for g in plain.guards]) != (expected, guards)


def test_one_relation_under_other_bounds_is_asked_anew():
    model = parsed("g (float[N] x, float[M] z) => (y) { y = Add (x, z) }")
    found = [str(infer(model, assume=["N >= M"], bounds={"M": (low, None)}).types["y"]) for low in (1, 2, 1)]
    assert found[0] == found[2]
    assert [[str(g) for g in infer(model, assume=["N >= M"], bounds={"M": (low, None)}).guards] for low in (2, 1)] == [
        ["N == M"],
        ["N == M or 1 in (N, M)"],
    ]


def true_relations(random: Random, sizes: dict[str, int]) -> list[str]:
    """Relations that hold at these sizes of symbols."""
    (a, x), (b, y) = (random.choice(list(sizes.items())) for _ in range(2))
    k = random.randrange(3)
    divisor = random.choice([d for d in range(1, 9) if x % d == 0])
    texts = [f"{a} >= {max(1, x - k)}", f"{a} <= {x + k}", f"{a} == {x}", f"{a} != {x + 1}", f"{a} % {divisor} == 0"]
    texts += [
        f"{a} + {y} == {b} + {x}",
        f"{a}*{b} <= {x * y + k}",
        f"{a}//2 >= {x // 2}",
        f"{a} {'<=>'[(x > y) - (x < y) + 1]}= {b}",
        f"{a} + {y} == {b} + {x} and {b} - {a} == {y - x}",
    ]
    return random.sample(texts, 2)


@pytest.mark.parametrize("graph", dict.fromkeys([case[0] for case in (*AS_BOUNDS, *RELATIONS)]))
def test_what_is_found_holds_where_the_assumptions_do(graph):
    random, model = Random(graph), parsed(graph)
    plain = infer(model)
    for _ in range(12):
        sizes = {v.name: random.choice([1, 2, 8, 16, 32, 64]) for v in plain.sources.symbols}
        if plain.check(sizes):
            continue
        relations = true_relations(random, sizes)
        result = infer(model, assume=relations)
        assert not errors(result), relations
        assert not [g for g in result.guards if g.violation(sizes)], relations
        for name, shape in plain.shapes.items():
            if {v for size in shape if isinstance(size, Expr) for v in size.variables()} <= plain.sources.symbols:
                ours = [size.to_int(sizes) if isinstance(size, Expr) else size for size in result.shapes[name]]
                assert ours == [size.to_int(sizes) if isinstance(size, Expr) else size for size in shape], relations


# a model, what is assumed, the error
CONTRADICTIONS = [
    (SLICE, ["S > 100"], "Add (opset 14) 'y': sizes do not broadcast: S and 64 (under the assumption S > 100)"),
    (SLICE, ["S > 100", "S < 1000"], "(under the assumption S > 100)"),
    (
        "g (float[N, M] x, float[K, 3] w) => (y) { y = MatMul (x, w) }",
        ["M > K"],
        "MatMul (opset 13) 'y': inner sizes of the product differ: M != K (under the assumption M > K)",
    ),
    (
        "g (float[1, 3, H, W] x, float[8, 3, 7, 7] w) => (y) { y = Conv (x, w) }",
        ["H <= 5"],
        "(under the assumption H <= 5)",
    ),
    (
        "g (float[N, H] x) => (y) { shape = Constant <value_ints = [0, -1, 32]> ()  y = Reshape (x, shape) }",
        ["H % 32 == 1"],
        "(under the assumption H % 32 == 1)",
    ),
]


@pytest.mark.parametrize(("graph", "assume", "message"), CONTRADICTIONS)
def test_what_contradicts_the_model_is_an_error_that_names_fact_and_node(graph, assume, message):
    (found,) = errors(infer(parsed(graph), assume=assume))
    assert message in found
    assert "'y'" in found
    assert not errors(infer(parsed(graph)))


def test_bounds_and_metadata_that_contradict_the_model_are_named_too():
    text = "Add (opset 14) 'y': sizes do not broadcast: S and 64 (under the assumption 101 <= S <= 200)"
    model = parsed(SLICE)
    assert errors(infer(model, bounds={"S": (101, 200)})) == [text]
    model.graph.metadata_props.add(key="symdim.contract", value='{"version": 1, "bounds": {"S": [101, 200]}}')
    assert errors(infer(model)) == [text]
    assert not errors(infer(model, bounds={"S": (1, 64)}))


def test_an_error_that_the_model_has_anyway_names_no_assumption():
    model = parsed("g (float[S, 3] x, float[4, 5] w) => (y) { y = MatMul (x, w) }")
    assert errors(infer(model, assume=["S >= 2"])) == errors(infer(model))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_unknown_symbols_are_an_error_that_lists_those_there_are(bidirectional):
    model = parsed("g (float[N, 3] x, float[] w) => (float[K] y) { y = Neg (x) }")
    for options, names in (({"assume": ["Q >= 2"]}, "assume"), ({"bounds": {"Q": (2, 4)}}, "bounds")):
        with pytest.raises(UnknownSymbol, match=rf"{names}: the model has no symbol 'Q'; its symbols are .*'N'"):
            infer(model, bidirectional=bidirectional, **options)
    for options in ({"assume": ["K >= 2"]}, {"bounds": {"K": (2, 4), "N": (1, 2)}}):
        infer(model, bidirectional=bidirectional, **options)


def test_axes_without_a_name_are_symbols_of_assumptions_too():
    model = parsed("g (float[?, 4] x) => (y) { y = Neg (x) }")
    assert infer(model, assume=["x_dim_0 <= 9"]).types["y"].shape[0].bounds() == (1, 9)
    assert str(infer(model, assume=["x_dim_0 == 9"]).types["y"]) == "f32[9, 4]"


def test_a_number_that_is_assumed_of_a_symbol_stands_for_it_everywhere():
    model = parsed("g (float[N, D, M] x) => (y) { y = Flatten <axis = 1> (x) }")
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "2*N"
    result = infer(model, assume=["N == 3"])
    assert str(result.types["x"]) == "f32[3, 6, M]"
    assert str(result.types["y"]) == "f32[3, 6*M]"


PLACES = """g (float[N, H, W] x) => (top, all) {
    p = MaxPool <kernel_shape = [2], strides = [2]> (x)  shape = Constant <value_ints = [0, -1]> ()
    all = Reshape (p, shape)  k = Constant <value_ints = [20]> ()  top, places = TopK (all, k) }"""


@pytest.mark.parametrize("relations", [["H == W"], ["W == H"], ["2*W == 2*H"], ["H + 1 == W + 1"]])
def test_of_symbols_that_are_assumed_equal_the_first_one_stands_for_both(relations):
    result = infer(parsed(PLACES), assume=relations)
    assert [str(result.types[name]) for name in ("x", "all")] == ["f32[N, H, H]", "f32[N, H*(H//2)]"]
    assert list(map(str, result.guards)) == ["H >= 2", "H >= 7"]
    assert not result.reasons
    assert len(result.check(N=1, H=6)) == 1


def test_equal_symbols_have_the_bounds_of_all_and_what_is_assumed_of_one_holds_for_all():
    result = infer(parsed(PLACES), assume=["W == H", "W % 4 == 0", "H <= 30"], bounds={"W": (5, 64)})
    assert str(result.types["p"]) == "f32[N, H, H//2]"
    assert result.symbols["H"].bounds() == (8, 28)
    assert str(infer(parsed(PLACES), assume=["H == W", "N == W", "N == 8"]).types["all"]) == "f32[8, 32]"


@pytest.mark.parametrize("min_dim", [0, 1, 2])
def test_equal_symbols_are_one_symbol_whatever_their_least_size_is_and_in_texts_before_their_names(min_dim):
    model = parsed("g (float[T] v, float[N, H] x, float[W, W] w) => (y, z) { y = MatMul (x, w)  z = Add (x, y) }")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "2*W + H"
    result = infer(model, assume=["W == H"], min_dim=min_dim)
    assert [str(result.types[name]) for name in "vxwz"] == ["f32[3*W]", "f32[N, W]", "f32[W, W]", "f32[N, W]"]
    assert not result.guards


@pytest.mark.parametrize(("option", "text"), [("--assume", "Q >= 2"), ("--bounds", "Q=2..4")])
def test_the_command_line_lists_the_symbols_there_are(option, text, tmp_path, capsys):
    onnx.save(parsed("g (float[N] x) => (y) { y = Neg (x) }"), tmp_path / "model.onnx")
    assert main([str(tmp_path / "model.onnx"), option, text]) == 2
    assert capsys.readouterr().err == f"onnx-infer: {option}: the model has no symbol 'Q'; its symbols are 'N'\n"
