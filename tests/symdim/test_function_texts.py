"""Functions of sizes: in the texts of models, with random interpretations, and as trees."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdim import (
    Rational,
    Shape,
    SymdimError,
    Var,
    compile_shape,
    equal,
    from_tree,
    function,
    parse,
    read_dim_param,
    to_tree,
)
from tests.symdim.dim_param_vectors import load

N, M, K = Var("N"), Var("M"), Var("K")
f, g, ms = function("f"), function("g"), function("Sqrt", "com.microsoft")


# -- texts of models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["f(N)", "2*f(N, M) + 1", "f(N/2)", "f(N//2 % 3)", "max(f(N), 3)", "sqrt(N)", "g(f(N))"]
)
def test_a_function_of_declared_names_is_an_expression(text: str) -> None:
    assert read_dim_param(text, {"N", "M"}) is parse(text)


@pytest.mark.parametrize(
    "text",
    ["f(P)", "N + f(P)", "f(N)//2", "f(N)/2", "f(N) % 2", "N//f(N)", "floor(log(N))", "FloorToInt(log(N)*N)",
     "ceil(2*sqrt(N))", "sign(f(N))", "max(f(N), 2)//3", "N*Div(f(N), 2)", "f()", "f(N"],
)  # fmt: skip
def test_what_might_be_believed_wrongly_stays_a_name(text: str) -> None:
    """A function may have fractions as values to who wrote the text: 2*floor(x) and floor(2*x) are not equal then."""
    assert read_dim_param(text, {"N", "M"}) is Var(text)


# -- random interpretations -------------------------------------------------------------------------------------------

ATOMS = st.sampled_from(["N", "M", "3", "0"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("{}({})".format, st.sampled_from(["f", "g"]), inner),
        st.builds("h({}, ({})/2)".format, inner, inner),
        st.builds("(({}) {} ({}))".format, inner, st.sampled_from(["+", "-", "*"]), inner),
        st.builds("(({}) {} {})".format, inner, st.sampled_from(["//", "%"]), st.sampled_from(["2", "3"])),
        st.builds("{}({}, {})".format, st.sampled_from(["max", "min"]), inner, inner),
    ),
    max_leaves=8,
)


class Interpretation:
    """A random function with integers of both signs as values."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, *arguments: object) -> int:
        text = f"{self.seed}" + ",".join(map(str, arguments))
        return sum((i + 3) * ord(c) * ord(c) for i, c in enumerate(text)) % 23 - 11


def python_value(text: str, functions: dict[str, Interpretation], sizes: dict[str, int]) -> int:
    """The value by Python's own arithmetic."""

    def halved(a: int, b: Fraction) -> int:
        return functions["h"](a, b.numerator if b.denominator == 1 else Rational(b.numerator, b.denominator))

    source = text.replace(")/2)", ")*Half)")
    names = {"f": functions["f"], "g": functions["g"], "h": halved, "Half": Fraction(1, 2), "max": max, "min": min}
    return int(eval(source, {"__builtins__": {}}, {**names, **sizes}))


@given(EXPRESSIONS, st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9))
def test_values_agree_with_any_interpretation(text: str, seed: int, n: int, m: int) -> None:
    functions = {name: Interpretation(seed + i) for i, name in enumerate("fgh")}
    sizes = {"N": n, "M": m}
    expected = python_value(text, functions, sizes)
    dim = parse(text)
    given_functions = {function(name): functions[name] for name in "fgh"}
    value = dim if isinstance(dim, int) else dim.evaluate({**given_functions, **sizes})
    assert value == expected
    assert parse(str(dim)) is dim or isinstance(dim, int)
    assert from_tree(to_tree(dim)) is dim or isinstance(dim, int)
    if not isinstance(dim, int):
        low, high = dim.bounds()
        assert low is None or low <= value
        assert high is None or value <= high
        half = dim.substitute({"N": n})
        assert (half if isinstance(half, int) else half.evaluate({**given_functions, "M": m})) == expected
        pack = Shape([dim])
        assert compile_shape(pack, ["N", "M"], given_functions)(n, m) == (expected,)


@given(EXPRESSIONS, EXPRESSIONS, st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9))
def test_no_claim_fails_for_any_interpretation(left: str, right: str, seed: int, n: int, m: int) -> None:
    functions = {function(name): Interpretation(seed + i) for i, name in enumerate("fgh")}
    a, b = parse(left), parse(right)
    answer = equal(a, b)
    values = [x if isinstance(x, int) else x.evaluate({**functions, "N": n, "M": m}) for x in (a, b)]
    assert answer is not True or values[0] == values[1]


# -- trees ------------------------------------------------------------------------------------------------------------

VECTORS = [v for v in load()["vectors"] if v["reads"] in ("expression", "name")]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['group']}: {vector['text']}")
def test_the_tree_of_each_vector_is_read_back(vector: dict[str, object]) -> None:
    text, dialect = vector["text"], vector.get("dialect")
    declared = vector.get("declared")
    read = parse if declared is None else read_dim_param
    dim = read(text, declared or (), dialect=dialect)  # type: ignore[arg-type]
    found = from_tree(json.loads(json.dumps(to_tree(dim))))
    assert found is dim or found == dim


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "in the tree: an int, a name or a dict is expected, not None"),
        (3.5, "in the tree: an int, a name or a dict is expected, not 3.5"),
        ({}, "in the tree: a name and arguments are expected, not {}"),
        ({"name": "Add", "arguments": []}, "in the tree: a name and arguments are expected"),
        ({"name": "Add", "arguments": ["N", True]}, r"in .arguments\[1\]: an int, a name or a dict"),
        ({"name": "f", "arguments": [{"name": "Mod", "arguments": ["N"]}]}, r"in .arguments\[0\]: this function"),
        ({"name": "f", "arguments": ["N", {"name": "Pow", "arguments": [2, -1]}]}, r"in .arguments\[1\]: an exponent"),
        ({"name": "a b", "arguments": [1]}, "in the tree: 'a b' is not a function name"),
        ({"name": "Div", "arguments": ["N", 2]}, "need not be an integer"),
        ("", "the name of a variable is empty"),
    ],
)
def test_bad_trees_are_refused_with_the_place(data: object, message: str) -> None:
    with pytest.raises(SymdimError, match=message):
        from_tree(data)


def test_trees_do_not_grow_without_bound() -> None:
    dim = N
    for _ in range(60):
        dim = dim + function("f")(dim, dim)  # type: ignore[assignment]
    with pytest.raises(SymdimError, match="too long for a tree"):
        to_tree(dim)
    cyclic: dict[str, object] = {"name": "f"}
    cyclic["arguments"] = [cyclic]
    with pytest.raises(SymdimError, match="characters as a text"):
        from_tree(cyclic)
