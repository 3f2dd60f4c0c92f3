"""How the work of inference grows: counted in calls, never in time. `benchmarks/growth.py` measures times."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from onnx_infer import infer
from onnx_infer.laws.readable import MOST_SYMBOLS_OF_A_CHOICE
from onnx_infer.results.derived_guards import guards_of
from tests.counting import calls_of

from .texts import messages, parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import ModelProto


def graph(inputs: list[str], outputs: list[str], nodes: list[str]) -> ModelProto:
    return parsed(f"g ({', '.join(inputs)}) => ({', '.join(outputs)}) {{ {' '.join(nodes)} }}")


def names(n: int, stem: str) -> list[str]:
    return [f"{stem}{i}" for i in range(n)]


def split_by_unknown_sizes(n: int) -> ModelProto:
    return graph(["float[N] x", f"int64[{n}] s"], ["y0"], [f"{', '.join(names(n, 'y'))} = Split<axis=0>(x, s)"])


def forced_equal(n: int) -> ModelProto:
    """Each size that the data decide equals the next one, the first pair first."""
    nodes = [f"i{i} = NonZero(x{i}) z{i} = Cast<to=1>(i{i}) t{i} = Transpose(z{i})" for i in range(n)]
    nodes += [f"m{i} = MatMul(z{i}, t{i + 1})" for i in range(n - 1)]
    return graph([f"float[N{n}x{i}] x{i}" for i in range(n)], names(n, "z"), nodes)


def sum_of_symbols(n: int) -> ModelProto:
    return graph([f"float[N{n}x{i}] x{i}" for i in range(n)], ["y"], [f"y = Sum({', '.join(names(n, 'x'))})"])


def sum_of_data_dependent_sizes(n: int) -> ModelProto:
    nodes = [f"z{i} = NonZero(x{i})" for i in range(n)]
    return graph([f"float[N{n}x{i}] x{i}" for i in range(n)], ["y"], [*nodes, f"y = Sum({', '.join(names(n, 'z'))})"])


def clamps_and_bounds(n: int) -> ModelProto:
    """Slices to other ends, and windows of other sizes that bound another symbol."""
    nodes = [f"e{i} = Constant<value_ints=[{i + 2}]>() s{i} = Slice(x, z, e{i}, z)" for i in range(n)]
    mixed = [text for i in range(n) for text in (nodes[i], f"c{i} = MaxPool<kernel_shape=[{n + i}]>(y)")]
    return graph(["float[N] x", "float[1, 1, M] y"], ["s0"], ["z = Constant<value_ints=[0]>()", *mixed])


def branches_that_differ(n: int) -> ModelProto:
    yes = " ".join(f"a{i} = Neg(x{i})" for i in range(n))
    no = " ".join(f"b{i} = Neg(x{(i + 1) % n})" for i in range(n))
    then_branch = f"a () => ({', '.join(names(n, 'a'))}) {{ {yes} }}"
    else_branch = f"b () => ({', '.join(names(n, 'b'))}) {{ {no} }}"
    node = f"{', '.join(names(n, 'y'))} = If(c) <then_branch = {then_branch}, else_branch = {else_branch}>"
    return graph(["bool c", *(f"float[N{n}x{i}] x{i}" for i in range(n))], names(n, "y"), [node])


def chain_of_symbols(n: int) -> ModelProto:
    nodes = [f"y{i + 1} = Add(y{i}, x{i})" for i in range(n)]
    return graph(["float[N] y0", *(f"float[N{n}x{i}] x{i}" for i in range(n))], [f"y{n}"], nodes)


def last_node_first(n: int) -> ModelProto:
    return graph(["float[N] v0"], [f"v{n}"], [f"v{i} = Neg(v{i - 1})" for i in range(n, 0, -1)])


@pytest.mark.parametrize(
    ("make", "n"),
    [
        (split_by_unknown_sizes, 100),
        (forced_equal, 40),
        (sum_of_symbols, 350),
        (sum_of_data_dependent_sizes, 60),
        (branches_that_differ, 50),
        (clamps_and_bounds, 70),
        (last_node_first, 200),
    ],
)
def test_twice_the_size_is_twice_the_work(make: Callable[[int], ModelProto], n: int) -> None:
    assert work(make, 2 * n) < 2.7 * work(make, n)


def work(make: Callable[[int], ModelProto], n: int) -> int:
    """The calls of an inference after a small one, which reads what operators are made of."""
    model, small = make(n), make(2)
    return calls_of(lambda: infer(model), first=lambda: infer(small))


def test_a_symbol_in_a_chain_of_broadcasts_costs_one_maximum() -> None:
    """Sizes of at least 1 need no minimum with 1, also after a fresh size has replaced a long maximum."""
    n = 70
    assert work(chain_of_symbols, 2 * n) < 2.7 * work(chain_of_symbols, n)
    (size,) = infer(chain_of_symbols(n)).types[f"y{n}"].shape
    assert size.bounds() == (1, None)
    assert len(size.variables()) <= MOST_SYMBOLS_OF_A_CHOICE


def test_the_guards_of_many_axes_are_compared_with_few_others() -> None:
    def guards(n: int) -> int:
        sizes = [", ".join(f"{stem}{n}x{i}" for i in range(n)) for stem in "AB"]
        model = graph(
            [f"float[{sizes[0]}] x", f"float[{sizes[1]}] y"],
            ["z"],
            ["z = Add(x, y)"],
        )
        result = infer(model)
        return calls_of(lambda: guards_of(result._record))

    assert guards(200) < 2.4 * guards(100)


def test_work_does_not_depend_on_what_ran_before() -> None:
    alone = work(last_node_first, 100)
    infer(last_node_first(150))
    held = infer(last_node_first(70))
    assert work(last_node_first, 100) == alone
    assert held.types


# -- long vectors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["<int64[{n}] s = {{{sizes}}}> {{", "{{ s = Constant<value_ints=[{sizes}]>()"])
def test_more_sizes_of_split_than_are_propagated_are_known(where: str) -> None:
    n = 1100
    head = where.format(n=n, sizes=", ".join(map(str, range(n))))
    result = infer(parsed(f"g (float[N] x) => (y0) {head} {', '.join(names(n, 'y'))} = Split<axis=0>(x, s) }}"))
    assert [str(result.types[f"y{i}"]) for i in (0, 7, n - 1)] == ["f32[0]", "f32[7]", f"f32[{n - 1}]"]
    assert [str(guard) for guard in result.guards] == [f"N == {n * (n - 1) // 2}"]


def test_two_calls_with_long_vectors_of_one_length() -> None:
    n = 1030
    constants = [f"int64[{n}] {s} = {{{', '.join([k] * n)}}}" for s, k in (("s", "2"), ("t", "3"))]
    made = parsed(
        f"""g (float[N] x) => (a, b) <{", ".join(constants)}> {{ a = f.First(x, s) b = f.First(x, t) }}
        <domain: "f", opset_import: ["": 18]> First (x, s) => (y0)
        {{ {", ".join(names(n, "y"))} = Split<axis=0>(x, s) }}""",
        '<ir_version: 10, opset_import: ["": 18, "f": 1]>',
    )
    assert [str(infer(made).types[y]) for y in "ab"] == ["f32[2]", "f32[3]"]


def test_a_wrong_number_of_outputs_costs_no_list_of_parts() -> None:
    result = infer(parsed("g (float[3000000] x) => (y, z) { y, z = Split<num_outputs=1000000>(x) }"))
    assert messages(result) == ["num_outputs is not the number of outputs: 1000000 != 2"]


@pytest.mark.parametrize("inputs", ["float[{size}] x", "float[N] x"])
def test_the_work_of_a_split_follows_its_outputs_and_not_what_an_attribute_says(inputs: str) -> None:
    def work(parts: int, outputs: int) -> int:
        made = ", ".join(names(outputs, "y"))
        text = f"g ({inputs.format(size=3 * parts)}) => (y0) {{ {made} = Split<num_outputs={parts}>(x) }}"
        model = parsed(text)
        return calls_of(lambda: infer(model))

    assert work(10**6, 2) <= work(3, 2) + 20
    assert work(400, 400) <= 4.4 * work(100, 100)


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ("y = Slice(x, v, v)", "axis 1 is out of range for rank 1"),
        ("c = Unsqueeze(x, k) y = Col2Im(c, v, v)", "1,099,511,627,776 spatial axes are more than any tensor has"),
    ],
)
def test_as_many_axes_as_a_vector_has_elements_are_not_built(node: str, told: str) -> None:
    model = parsed(f"g (float[N] x, int64[{2**40}] v) => (y) <int64[2] k = {{0, 1}}> {{ {node} }}")
    result = infer(model, bidirectional=True)
    assert told in (*messages(result), *result.notes.values())


# -- sizes that are forced equal --------------------------------------------------------------------------------------


def test_a_size_in_a_divisor_that_must_be_0() -> None:
    text = """g (float[N] x, float[0] e) => (y, m) {
        i = NonZero(x) n = Shape<start=1>(i) k = Constant<value_ints=[12]>() q = Div(k, n) y = ConstantOfShape(q)
        f = Cast<to=1>(i) m = MatMul(f, e) }"""
    result = infer(parsed(text))
    assert str(result.types["i"]) == "i64[1, 0]"
    assert str(result.types["y"]) == "f32[_d1]"  # no run divides by 0


def test_many_sizes_broadcast_as_few_do() -> None:
    """The law for many sizes: the largest one, each is it or 1; a size that is not 1 decides; one of them may be 0."""
    few = [f"float[N{i}] x{i}" for i in range(20)]
    all_of = ", ".join(names(20, "x"))
    result = infer(graph(few, ["y"], [f"y = Sum({all_of})"]))
    guards = result.guards
    (size,) = result.types["y"].shape  # type: ignore[attr-defined]
    for sizes in ([4] * 20, [1] * 19 + [3], [1] * 20, [2] * 19 + [1]):
        bound: dict[Any, int] = {f"N{i}": n for i, n in enumerate(sizes)}
        assert size.evaluate(**bound) == max(sizes)
        assert not result.check(**bound)
    assert result.check(**{f"N{i}": 2 + i % 2 for i in range(20)})
    assert len(guards) == 20
    decided = infer(graph([*few, "float[5] w"], ["y"], [f"y = Sum({all_of}, w)"]))
    assert str(decided.types["y"]) == "f32[5]"
    maybe_empty = [f"z{i} = NonZero(x{i})" for i in range(20)]
    unsure = infer(graph(few, ["y"], [*maybe_empty, f"y = Sum({', '.join(names(20, 'z'))})"]))
    rank_and_size = unsure.types["y"].shape  # type: ignore[attr-defined]
    assert rank_and_size[0] == 1
    assert rank_and_size[1].bounds() == (0, None)


def test_which_inputs_decide_a_value_takes_no_list_for_each_value() -> None:
    """A list of up to n inputs for each of n values would be 16 MB here."""
    n = 2_000
    nodes = [f"y{i + 1} = Add(y{i}, x{i})" for i in range(n)]
    result = infer(graph(["float[N] y0", *(f"float[N] x{i}" for i in range(n))], [f"y{n}"], nodes))
    tracemalloc.start()
    try:
        assert result.data_laws == []
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
