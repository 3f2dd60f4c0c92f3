"""Functions of sizes: interning, congruence, substitution, evaluation, texts, trees, proofs and constraints."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
from math import isqrt

import pytest

from symdim import (
    BoundsError,
    DivisionByZero,
    Facts,
    Rational,
    Reasoning,
    Shape,
    Store,
    SymdimError,
    UnboundName,
    Var,
    compile_shape,
    equal,
    explain,
    from_tree,
    function,
    guarantee_of,
    maximum,
    parse,
    simplify,
    sqrt,
    text_in,
    to_tree,
)
from symdim.algebra.application import Application, Function
from symdim.algebra.interning import live_nodes
from symdim.algebra.texts.tree import Product
from symdim.dialects.languages import LANGUAGES
from symdim.dialects.straight_code import StraightCode
from symdim.errors import UnboundFunction

N, M, K = Var("N"), Var("M"), Var("K")
f, g, ms = function("f"), function("g"), function("Sqrt", "com.microsoft")

TEXTS = [
    "f(N)", "f(16)", "f(N, M)", "com.microsoft.Sqrt(N) + 2", "2*g(M)**2*f(N)", "f(N)//2", "f(N) % 3", "g(f(N/2) + 1)",
    "f((N + 1)/2, M*N/(2*K))", "max(f(N), 3)", "f(max(M, N)//2) - f(M)", "f((-1)/K)", "f(-N)", "sqrt(N)", "5 - f(N)",
    "f((N//2)/3)", "f((N % 3)/K)", "f(`seq len`)", "M % f(N)", "M//f(N)", "f(g(f(g(f(g(N))))))",
]  # fmt: skip


def test_equal_arguments_give_one_object() -> None:
    assert f(N + 1) is f(1 + N) is function("f")(N + 1)
    assert f(Rational(2 * N, 4)) is f(Rational(N, 2)) is parse("f(N/2)")
    assert f(Rational(2 * N, 2)) is f(N)
    assert len({f(N), f(M), g(N), f(N, N), ms(N), function("f", low=0)(N), function("F")(N)}) == 7
    assert f(N) - f(M).substitute({"M": N}) == 0


@pytest.mark.parametrize("text", TEXTS)
def test_texts_trees_and_pickles_make_the_same_object(text: str) -> None:
    dim = parse(text)
    assert str(dim) == text
    assert parse(str(dim)) is dim
    assert from_tree(json.loads(json.dumps(to_tree(dim)))) is dim
    assert pickle.loads(pickle.dumps(dim)) is dim
    assert copy.deepcopy(dim) is dim
    for dialect in ("jax", "torch", "sympy"):
        assert parse(text_in(dim, dialect), dialect="exact") is dim


def test_functions_are_compared_by_all_that_is_given() -> None:
    assert function("f", low=0) == function("f", low=0) != function("f")
    assert Function("f", meaning=half_up) != function("f")
    assert Function("f", meaning=half_up)(K) is not function("f")(K) is f(K)
    assert pickle.loads(pickle.dumps(ms)) == ms


def test_dead_applications_are_freed() -> None:
    gc.collect()
    before = live_nodes()
    for i in range(500):
        f(N, i)
    gc.collect()
    assert live_nodes() <= before + 1


@pytest.mark.parametrize("name", ["", "a b", "1f", "a.b", "f("])
def test_a_name_that_no_text_can_have_is_refused(name: str) -> None:
    with pytest.raises(SymdimError, match="no name of a function"):
        function(name)


def test_a_name_with_a_meaning_is_refused_without_a_domain() -> None:
    with pytest.raises(SymdimError, match="'Max' has a meaning: give the function a domain"):
        function("Max")
    assert str(function("Max", "mine")(N)) == "mine.Max(N)"


def test_arguments_are_dimensions() -> None:
    with pytest.raises(TypeError):
        f("N")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        f(True)
    zero = Var("zero", 0)
    with pytest.raises(DivisionByZero):
        f(Rational(N, zero)).substitute({zero: 0})  # type: ignore[union-attr]


def test_walks_see_the_arguments() -> None:
    dim = 2 * f(N + 1, Rational(M, K)) + N
    assert set(dim.variables()) == {N, M, K}
    assert dim.free_symbols() == {"N", "M", "K"}
    application = f(N + 1, Rational(M, K))
    assert isinstance(application, Application)
    assert application.arguments == (N + 1, Rational(M, K))
    assert application.tree() is application
    assert (2 * application).tree() == Product(2, ((application, 1),))


def test_substitution_applies_anew() -> None:
    assert f(N).substitute({"N": 16}) is f(16) is parse("f(16)")
    assert (f(N) + N).substitute({N: 2 * M}) is f(2 * M) + 2 * M
    assert f(N, Rational(N, M)).substitute({"M": 2, "N": 4 * K}) is f(4 * K, 2 * K)
    assert (f(N) - f(M)).substitute({"M": N}) == 0
    assert (f(N) + 1).substitute({f: g}) is g(N) + 1
    assert f(N, M).substitute({f: lambda n, m: n * m, "N": 3}) is f(3, M)
    assert f(N, M).substitute({f: lambda n, m: n * m, "N": 3, "M": 4}) == 12
    assert maximum(f(N), g(N)).substitute({g: f}) is f(N)


def test_evaluation_asks_for_the_function() -> None:
    dim = f(f(N)) + ms(Rational(N, 2)) * 2
    calls = {f: lambda n: n + 1, ms: lambda x: int(x.numerator // x.denominator)}
    assert dim.evaluate(calls, N=5) == dim.to_int({**calls, "N": 5}) == 7 + 4
    with pytest.raises(UnboundFunction) as caught:
        f(N).evaluate(N=4)
    assert str(caught.value) == "no value for f(4): give the function, as in evaluate({symdim.function('f'): ...})"
    with pytest.raises(UnboundFunction, match=r"no value for com.microsoft.Sqrt\(4\): .*function\('Sqrt', 'com.mic"):
        ms(N).evaluate(N=4)
    assert isinstance(caught.value, UnboundName)
    assert pickle.loads(pickle.dumps(caught.value)).names == ("f(4)",)
    assert f(N, M).evaluate({f: lambda n, m: n}, N=3) is f(3, M)
    with pytest.raises(UnboundName):
        f(N).to_int({f: isqrt})


@pytest.mark.parametrize("value", [9, -1])
def test_a_value_outside_the_bounds_is_refused(value: int) -> None:
    h = function("h", low=0, high=8)
    assert h(N).bounds() == (0, 8)
    with pytest.raises(BoundsError, match=r"h\(3\) cannot be"):
        h(N).evaluate({h: lambda n: value}, N=3)
    with pytest.raises(TypeError):
        h(N).evaluate({h: lambda n: 0.5}, N=3)  # type: ignore[dict-item, return-value]


def test_bounds_are_those_of_the_function() -> None:
    assert f(N).bounds() == (None, None)
    assert maximum(function("h", low=3)(N), 2) is function("h", low=3)(N)
    assert maximum(f(N), 2) is not f(N)


def half_up(x: int | Rational) -> int | None:
    """A known function, of numbers alone."""
    return (x + 1) // 2 if isinstance(x, int) else None


def interval_of_half(x: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    return None if x[0] is None else (x[0] + 1) // 2, None


KNOWN = Function("half_up", "test", meaning=half_up, interval=interval_of_half)


def test_a_known_function_computes_what_it_can() -> None:
    assert KNOWN(7) == 4
    assert str(KNOWN(N) + 1) == "test.half_up(N) + 1"
    assert (KNOWN(N) + 1).substitute({"N": 7}) == (KNOWN(N) + 1).evaluate(N=7) == 5
    assert KNOWN(Var("S", 9)).bounds() == (5, None)
    assert compile_shape(Shape([KNOWN(N), 2 * N]), ["N"])(7) == (4, 14)
    assert pickle.loads(pickle.dumps(KNOWN(N))) is KNOWN(N)
    store = Store()
    store.bounds(N, 5, 9)
    assert store.interval(KNOWN(N))[0] == 3
    assert equal(KNOWN(N), KNOWN(M), Facts(["N == M"])) is True


def test_compiled_shapes_call_what_is_given() -> None:
    shape = Shape([f(N, Rational(M, 2)) + N, f(N, Rational(M, 2)) * M])
    with pytest.raises(UnboundName, match=r"f\(N, M/2\)"):
        compile_shape(shape, ["N", "M"])
    calls: list[object] = []

    def called(n: int, half: Rational | int) -> int:
        calls.append((n, half))
        return n

    assert compile_shape(shape, ["N", "M"], {f: called})(3, 5) == (6, 15)
    assert calls == [(3, Rational(5, 2))]


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=list(LANGUAGES))
def test_code_of_other_languages_refuses_functions(language: object) -> None:
    code = StraightCode(language, [N])  # type: ignore[arg-type]
    with pytest.raises(SymdimError, match=r"f\(N\) cannot be computed"):
        code.operand(f(N) + 1)


def test_only_congruence_is_proved() -> None:
    assert equal(f(N), f(N)) is True
    assert equal(f(N), f(M)) is None
    assert equal(f(N), f(M), Facts(["N == M"])) is True
    assert equal(f(2 * N), f(M), Facts(["M == N + N"])) is True
    assert equal(f(N), f(N + 1)) is None
    assert equal(f(N), g(N)) is None
    assert explain(f(N) * 2, "!=", 3).answer is True
    assert explain(f(N) + 1, ">=", f(N)).answer is True
    assert simplify(f(N) - f(M) + K, Facts(["N == M"])) is K


def test_the_store_learns_no_more_than_is_said() -> None:
    store = Store()
    store.eq(f(N), 5)
    store.eq(M, f(N) + 1)
    store.eq(K, f(M))
    assert store.value(K) is f(store.value(M))
    reasoning = Reasoning()
    reasoning.unify("a", "b")
    assert reasoning.prove("f(a) == f(b)") is True


def test_a_function_of_a_size_that_data_decide_has_no_bound() -> None:
    assert guarantee_of(f(N)).kind == "exact"
    assert guarantee_of(f(Var.fresh("found", at_most=N, origin="NonZero"))).kind == "unknown"


def test_nesting_costs_no_recursion() -> None:
    depth = 3000
    text = "f(" * depth + "N" + ")" * depth
    dim = parse(text)
    assert str(dim) == text
    assert dim.substitute({"N": M}).variables() == (M,)  # type: ignore[union-attr]
    assert dim.evaluate({f: lambda n: n + 1}, N=1) == depth + 1  # type: ignore[union-attr]
    assert pickle.loads(pickle.dumps(dim)) is dim
    assert text_in(dim, "sympy") == text
    with pytest.raises(SymdimError, match="nested deeper"):
        to_tree(dim)


PROGRAM = """
from symdim import Var, function, parse, Scope
names = "f g h k".split()
total = 0
for name in names:
    total = total + function(name)(Var("N")) * function(name)(3) + function(name, "a.b")(Scope().var("N"), Var("M"))
print(total, "|", parse("f(N)*g(N) + g(N)*f(M) + f(M)**2 + N//f(3) + f(16) + f(3)"))
"""


def test_the_order_is_the_same_in_every_process() -> None:
    found = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        found.add(run.stdout)
    assert len(found) == 1


def test_square_roots() -> None:
    assert sqrt(N) is parse("sqrt(N)") is parse("SQRT(N)")
    assert parse("sqrt(4*N**2 + 4*N + 1)") is 2 * N + 1
    assert (sqrt(N) + 1).evaluate(N=49) == 8
    with pytest.raises(UnboundFunction, match=r"sqrt\(3\)"):
        sqrt(N).evaluate(N=3)
