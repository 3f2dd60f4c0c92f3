"""Integer elements that only a run knows cancel in sums and differences, and sizes of them are told by each other."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_infer import infer
from onnx_infer.values.tensor import SymTensor
from symdim import Var

from .oracle import at, contradictions
from .sessions import run, session_of
from .texts import parsed

if TYPE_CHECKING:
    import onnx

    from onnx_infer import InferenceResult

GRAPH = """g (float[B, S] x, int64[T] t, int64[T] u, int64 p, int64[1] q, int64[2] v) => (OUTPUTS) {
    zero = Constant<value_int=0>() one = Constant<value_int=1>() ten = Constant<value_int=10>()
    at0 = Constant<value_ints=[0]>() last = Constant<value_ints=[-1]>()
    s1 = Shape<start=1>(x) s = Squeeze(s1, at0)
    NODES }"""


def found(nodes: str, *outputs: str) -> list[str]:
    result = infer(parsed(GRAPH.replace("NODES", nodes).replace("OUTPUTS", ", ".join(outputs))))
    assert result.diagnostics == []
    return [shape_text(result, name) for name in outputs]


def shape_text(result: InferenceResult, name: str) -> str:
    return f"({', '.join(map(str, result.shapes[name]))})"


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("a = Gather(t, zero) e = Add(a, s) z = Range(a, e, one)", "(S)"),
        ("a = Gather(t, zero) b = Gather(t, zero) e = Add(b, s) z = Range(a, e, one)", "(S)"),
        ("a = ReduceMax<keepdims=0>(t) e = Add(a, ten) z = Range(a, e, one)", "(10)"),
        ("a = ReduceMax<keepdims=0>(t) b = Sub(a, a) e = Add(b, s) z = Range(b, e, one)", "(S)"),
        ("a = ArgMax<axis=0, keepdims=0>(t) b = Div(a, ten) e = Sub(b, s) z = Range(b, e, m)\nm = Neg(one)", "(S)"),
        ("a = Slice(t, last, q) b = Gather(a, last) c = Squeeze(b) e = Add(s, c) z = Range(c, e, one)", "(S)"),
        ("w = Concat<axis=0>(v, q) y = Add(w, w) a = Gather(y, m) b = Add(a, ten) z = Range(a, b, one)"
         "\nm = Constant<value_int=-1>()", "(10)"),
        ("w = Concat<axis=0>(q, s1) a = Gather(w, zero) r = Squeeze(q, at0) e = Add(r, s) z = Range(a, e, one)", "(S)"),
        ("w = Concat<axis=0>(q, s1) a = Gather(w, one) f = Unsqueeze(a, at0) z = ConstantOfShape(f)", "(S)"),
        ("a = Add(p, s) b = Sub(a, p) f = Unsqueeze(b, at0) z = Expand(one, f)", "(S)"),
    ],
)  # fmt: skip
def test_an_element_cancels(nodes: str, expected: str) -> None:
    nodes, _, before = nodes.partition("\n")
    assert found(f"{before} {nodes}", "z") == [expected]


@pytest.mark.parametrize(
    "nodes",
    [
        "a = Gather(t, zero) b = Gather(t, one) e = Add(b, s) z = Range(a, e, one)",
        "a = Gather(t, zero) b = Gather(u, zero) e = Add(b, s) z = Range(a, e, one)",
        "a = Gather(t, zero) b = ReduceMax<keepdims=0>(t) e = Add(b, s) z = Range(a, e, one)",
        "f = Cast<to=1>(q) a = Bernoulli<dtype=7>(f) b = Bernoulli<dtype=7>(f) c = Squeeze(a) d = Squeeze(b)"
        " e = Add(d, s) z = Range(c, e, one)",
        "a = Cast<to=6>(p) b = Cast<to=7>(a) c = Sub(p, b) e = Add(c, s) z = Range(zero, e, one)",
        "a = Cast<to=2>(p) b = Cast<to=2>(s) c = Add(a, b) d = Cast<to=7>(c) f = Cast<to=7>(a) z = Range(f, d, one)",
        "w = Concat<axis=0>(v, q) a = Gather(w, zero) r = Squeeze(q, at0) e = Add(r, s) z = Range(a, e, one)",
        "e = Add(p, s) z = Range(e, p, one)  k = Identity(z)",
    ],
)
def test_other_elements_do_not(nodes: str) -> None:
    (size,) = found(nodes, "z")
    assert "S" not in size or "_d" in size or size == "(0)"


def test_a_function_gives_another_element_in_each_call() -> None:
    model = parsed(
        """g (float[N] x, int64[T] t, int64[T] u) => (z, y) {
            zero = Constant<value_int=0>() one = Constant<value_int=1>()
            a = com.acme.First(t) b = com.acme.First(u) s1 = Shape(x) s = Squeeze(s1)
            e = Add(b, s) z = Range(a, e, one) f = Add(a, s) y = Range(a, f, one) }
        <domain: "com.acme", opset_import: ["": 18]>
        First (t) => (p) { zero = Constant<value_int=0>() p = Gather(t, zero) }"""
    )
    result = infer(model)
    assert [shape_text(result, name) for name in "zy"] == ["(_d0)", "(N)"]


def test_an_element_of_the_body_is_another_one_in_each_turn() -> None:
    model = parsed(
        """g (float[N] x, int64[T] t, int64 n, bool c, int64 first) => (last, rows) { one = Constant<value_int=1>()
            last, rows = Loop(n, c, first) <body = b (int64 i, bool v, int64 before) => (bool w, now, row) {
                w = Identity(v) now = Gather(t, i) s1 = Shape(x) s = Squeeze(s1) e = Add(now, s)
                row = Range(i, e, one) }> }"""
    )
    for start, expected in (("now", "i64[?, N]"), ("before", "i64[?, ?]")):
        renamed = type(model)()
        renamed.CopyFrom(model)
        renamed.graph.node[1].attribute[0].g.node[-1].input[0] = start
        assert re.sub(r"_d\d+", "?", str(infer(renamed).types["rows"])) == expected


@pytest.mark.parametrize(
    ("nodes", "outputs", "expected"),
    [
        ("a, b = Split<axis=1>(x, v) z = Concat<axis=1>(a, b)", "a b z", ["(B, _d0)", "(B, S - _d0)", "(B, S)"]),
        ("f = Unsqueeze(p, at0) r = Sub(s, p) h = Unsqueeze(r, at0) w = Concat<axis=0>(f, h)"
         " a, b = Split<axis=1>(x, w)", "a b", ["(B, _d0)", "(B, S - _d0)"]),
        ("w = Concat<axis=0>(q, q) a, b = Split<axis=1>(x, w)", "a b", ["(B, _d0)", "(B, _d0)"]),
        ("r = Add(q, one) a = ConstantOfShape(q) b = ConstantOfShape(r)", "a b", ["(_d0)", "(_d0 + 1)"]),
        ("r = Add(q, one) b = ConstantOfShape(r) a = ConstantOfShape(q)", "a b", ["(_d0 - 1)", "(_d0)"]),
        ("h = Shape(x) w = Mul(h, q) a = Resize(x, , , w) b = ConstantOfShape(q) c = Flatten<axis=0>(a)", "a b c",
         ["(B*_d2, S*_d2)", "(_d2)", "(1, B*S*_d2**2)"]),
        ("n = Neg(q) w = Concat<axis=0>(at0, q, at0, n) a = Pad(x, w)", "a", ["(B, S)"]),
        ("w = Concat<axis=0>(q, v) y = Mul(w, ten) z = Gather(y, at0) a = ConstantOfShape(z) b = ConstantOfShape(q)",
         "a b", ["(10*_d1)", "(_d1)"]),
    ],
)  # fmt: skip
def test_sizes_of_the_same_elements(nodes: str, outputs: str, expected: list[str]) -> None:
    assert found(nodes, *outputs.split()) == expected


# -- random models against onnxruntime ---------------------------------------------------------------------------------


def random_model(rng: random.Random) -> onnx.ModelProto:
    """Integers computed of inputs and of elements of tensors; ranges between them, and tensors of these sizes."""
    scalars = ["p", "s", "zero", "one", "ten"]
    nodes = []
    for i, operator in enumerate(rng.choices(["Gather", "ReduceMax", "Add", "Sub", "Mul", "Max", "Cast", "Neg"], k=9)):
        a, b = rng.choices(scalars, k=2)
        nodes.append(
            {
                "Gather": f"n{i} = Gather({rng.choice('tuv')}, {rng.choice(['zero', 'one'])})",
                "ReduceMax": f"n{i} = ReduceMax<keepdims=0>({rng.choice('tu')})",
                "Mul": f"n{i} = Mul({a}, one)",
                "Cast": f"c{i} = Cast<to=6>({a}) n{i} = Cast<to=7>(c{i})",
                "Neg": f"n{i} = Neg({a})",
            }.get(operator, f"n{i} = {operator}({a}, {b})")
        )
        scalars.append(f"n{i}")
    for i in range(5):
        a, b = rng.choices(scalars, k=2)
        nodes.append(f"e{i} = Add({a}, {b}) r{i} = Range({rng.choice([a, b])}, e{i}, one)")
        nodes.append(f"m{i} = Max({a}, zero) f{i} = Unsqueeze(m{i}, at0) z{i} = ConstantOfShape(f{i})")
    nodes.append("w = Concat<axis=0>(s1, f0, f1) y = Add(w, f2) z = ConstantOfShape(y)")
    names = [f"{kind}{i}" for i in range(5) for kind in "rz"]
    return parsed(GRAPH.replace("NODES", " ".join(nodes)).replace("OUTPUTS", ", ".join([*names, "z"])))


def wrong_sizes(result: InferenceResult, actual: dict[str, Any], sizes: dict[str, int]) -> list[str]:
    """The sizes that a run contradicts; what one size is that only a run knows, the first tensor tells."""
    pairs = [(dim, n) for name, x in actual.items() for dim, n in zip(result.shapes[name], x.shape, strict=True)]
    known = dict(sizes)
    known.update((dim.name, n) for dim, n in reversed(pairs) if isinstance(dim, Var) and dim.name not in sizes)
    return [f"{dim} is {n} at {known}" for dim, n in pairs if isinstance(at(dim, known), int) and at(dim, known) != n]


def integers(rng: random.Random, *shape: int) -> np.ndarray[Any, Any]:
    return np.array([rng.randint(-6, 9) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)


def test_random_integers_against_onnxruntime() -> None:
    rng = random.Random(16)
    for _ in range(60):
        model = random_model(rng)
        result = infer(model)
        session = session_of(model)
        names = [output.name for output in session.get_outputs()]
        for _ in range(3):
            sizes = {"B": rng.randint(1, 3), "S": rng.randint(1, 5), "T": rng.randint(2, 4)}
            vectors = {name: integers(rng, sizes["T"]) for name in "tu"}
            others = {"p": integers(rng), "q": integers(rng, 1), "v": integers(rng, 2)}
            feeds = {"x": np.zeros((sizes["B"], sizes["S"]), np.float32), **vectors, **others}
            given = {i.name for i in session.get_inputs()}
            actual = dict(zip(names, session.run(None, {n: x for n, x in feeds.items() if n in given}), strict=True))
            assert wrong_sizes(result, actual, sizes) == [], model


@pytest.mark.parametrize("shape", ["1, N, 1", "1, 1, N", "N, M, 1", "N, 1, N", "1, 3, N, M"])
@pytest.mark.parametrize("operator", ["Squeeze", "Unsqueeze"])
def test_an_axis_of_a_run(shape: str, operator: str) -> None:
    """What is claimed holds for every axis; bounds hold, too."""
    model = parsed(f"g (float[{shape}] x, int64[1] k) => (y) {{ y = {operator} (x, k) }}")
    value, session, runs = infer(model).types["y"], session_of(model), 0
    for n, m in ((1, 1), (1, 4), (3, 1), (2, 5)):
        sizes = {"N": n, "M": m, "": 1, "1": 1, "3": 3}
        x = np.zeros([sizes[text] for text in shape.split(", ")], np.float32)
        for k in range(-x.ndim - 1, x.ndim + 1):
            found = run(session, {"x": x, "k": np.array([k])})
            if found is None:
                continue
            runs += 1
            assert not list(contradictions(value, found[0], sizes))
            for dim, size in zip(value.shape, found[0].shape, strict=True):
                most = getattr(dim, "at_most", None)
                assert most is None or size <= at(most, sizes), (dim, most, size)
    assert runs > 4


@pytest.mark.parametrize("index", range(-5, 5))
@pytest.mark.parametrize(
    ("inputs", "known"), [("c, x", [3, None, None, None, None]), ("x, c", [None, None, None, None, 3])]
)
def test_an_index_takes_its_own_element_of_a_vector_that_is_partly_known(
    inputs: str, known: list[int | None], index: int
) -> None:
    graph = f"""g (int64[4] x) => (y) <int64[1] c = {{3}}, int64 i = {{{index}}}> {{
        v = Concat<axis=0>({inputs}) y = Gather(v, i) }}"""
    value = infer(parsed(graph, '<ir_version: 8, opset_import: ["": 18]>')).types["y"]
    assert isinstance(value, SymTensor)
    assert (value.data or (None,))[0] == known[index]


TWO_MASKS = """g (float[B, S] x, float[B, S] y) => (rows, first, sum, other) {
    m = IsNaN(x) MASK
    a = NonZero(m) at = Transpose(a) first = GatherND(x, at)
    b = NonZero(m) bt = Transpose(b) second = GatherND(y, bt) rows = Concat<axis=0>(at, bt) sum = Add(first, second)
    c = NonZero(n) ct = Transpose(c) other = GatherND(x, ct) }"""


@pytest.mark.parametrize("mask", ["n = IsNaN(y)", "n = Not(m)", "r = Bernoulli(x) n = Cast<to=9>(r)"])
def test_sizes_that_the_data_decide_are_those_of_other_nodes_of_the_same_operands_only(mask):
    result = infer(parsed(TWO_MASKS.replace("MASK", mask)))
    assert [shape_text(result, name) for name in ("first", "sum", "other")] == ["(_d0)", "(_d0)", "(_d1)"]
    assert shape_text(result, "rows") == "(2*_d0, 2)"
    assert not result.guards


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("u, i, j, k = Unique(x)", "v = Unique(x)"),
        ("u = Unique<axis=0>(x)", "v = Unique<axis=1>(x)"),
        ("u = Compress(x, m)", "v = Compress(y, m)"),
        (
            "i = Constant<value_ints=[1, 0, 1]>() j = Cast<to=9>(i) u = Compress<axis=0>(x, j)",
            "v = Compress<axis=0>(x, m)",
        ),
        (
            "w = RandomUniform<shape=[9]>() e = Greater(w, h) u = NonZero(e)",
            "f = RandomUniform<shape=[9]>() k = Less(f, h) v = NonZero(k)",
        ),
    ],
)
def test_sizes_of_other_operands_attributes_or_outputs_are_not_taken_for_the_same(first, second):
    text = "g (float[B, S] x, float[B, S] y, bool[B] m, float h) => (u, v) { FIRST SECOND }"
    result = infer(parsed(text.replace("FIRST", first).replace("SECOND", second)))
    made = [{v for size in result.shapes[name] for v in getattr(size, "variables", tuple)()} for name in ("u", "v")]
    assert made[0].isdisjoint(v for v in made[1] if v.name.startswith("_d"))


def test_each_turn_of_a_loop_decides_its_own_sizes():
    result = infer(
        parsed("""g (float[B] x, int64 trips) => (n, last) {
        n = NonZero(x) go = Constant<value = bool {1}>()
        last = Loop(trips, go, n) <body = b (int64 i, bool c, int64[R, K] a) => (bool d, int64[R, L] k) {
            d = Identity(c) f = CastLike(i, x) y = Sub(x, f) k = NonZero(y) }> }""")
    )
    assert shape_text(result, "n") == "(1, _d0)"
    assert "_d0" not in shape_text(result, "last")


def test_the_value_of_a_size_that_is_expanded_to_an_element() -> None:
    size = Var("N")
    (expanded,) = infer(parsed("g (float[N] x, int64[1] t) => (y) { y = Expand(x, t) }")).shapes["y"]
    value = expanded.origin.size
    (asked,) = set(value.variables()) - {size}
    for n, element in [(1, 1), (1, 4), (3, 1), (3, 3)]:
        assert value.evaluate({size: n, asked: element}) == max(n, element)
