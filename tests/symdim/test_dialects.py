"""Expressions in other dialects and languages mean what they mean here."""

from __future__ import annotations

from random import Random
from typing import Any, get_args

import pytest

from symdim import SymdimError, UnboundName, Var, maximum, minimum, parse, total
from symdim.dialects.languages import LANGUAGES, LanguageName, Python
from symdim.dialects.straight_code import StraightCode
from symdim.dialects.texts import Dialect, text_in
from tests.symdim import strategies

N, M, H = Var("N"), Var("M"), Var("H")
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


@pytest.mark.parametrize(
    ("dim", "jax", "torch", "sympy"),
    [
        (7, "7", "7", "7"),
        (Var("seq len"), "seq len", "seq len", "seq len"),
        (Var("seq len") + 1, "`seq len` + 1", "`seq len` + 1", "`seq len` + 1"),
        (-N, "-N", "-N", "-N"),
        (5 - 3 * N, "5 - 3*N", "5 - 3*N", "5 - 3*N"),
        (2 * N * M**2, "2*M^2*N", "2*M**2*N", "2*M**2*N"),
        (H // 2, "floordiv(H, 2)", "FloorDiv(H, 2)", "floor(H/2)"),
        ((H - 1) // (2 * N), "floordiv(H - 1, 2*N)", "FloorDiv(H - 1, 2*N)", "floor((H - 1)/(2*N))"),
        (H // N**2, "floordiv(H, N^2)", "FloorDiv(H, N**2)", "floor(H/N**2)"),
        ((H // 4) ** 2, "floordiv(H, 4)^2", "FloorDiv(H, 4)**2", "floor(H/4)**2"),
        (minimum(N, M, 9), "min(min(M, N), 9)", "Min(M, N, 9)", "Min(9, M, N)"),
        (N * (H % 3 + 1), "N*mod(H, 3) + N", "N*PythonMod(H, 3) + N", "N*(Mod(H, 3)) + N"),
    ],
    ids=str,
)
def test_texts(dim: Any, jax: str, torch: str, sympy: str) -> None:
    assert [text_in(dim, dialect) for dialect in ("jax", "torch", "sympy")] == [jax, torch, sympy]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_texts_are_read_back_as_the_same_expression(dialect: Dialect) -> None:
    for dim in strategies.random_expressions(300, seed=5, leaves=12):
        assert parse(text_in(dim, dialect), strategies.VARIABLES) is dim


def test_variables_of_one_name_stay_apart() -> None:
    assert text_in(Var("x") - Var.fresh("x"), "jax") == "x - `x#2`"


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(SymdimError, match="'jax', 'torch', 'sympy'"):
        text_in(N, "pascal")  # type: ignore[arg-type]


def test_deep_expressions_have_texts() -> None:
    deep: Any = N
    for _ in range(30):
        deep = maximum(deep // N + M, 7)
    assert parse(text_in(deep, "torch")) is deep
    for _ in range(2_000):
        deep = maximum(deep // N + M, 7)
    assert text_in(deep, "torch").count("Max(") > 2_000


# -- statements -------------------------------------------------------------------------------------------------------


def lines(language: LanguageName, *dims: Any, optional: tuple[Var, ...] = ()) -> list[str]:
    """The statements that compute dimensions of N, M and H, and then the texts of the results."""
    code = StraightCode(LANGUAGES[language], [N, M, H], optional)
    operands = [code.operand(dim) for dim in dims]
    return [*code.statements, ", ".join(operands)]


def test_each_part_is_computed_once_in_the_order_of_compile() -> None:
    part = (N + 3) // 4
    assert lines("c", part * M + H % 2, part * M, 5) == [
        "const int64_t t0 = mod(s_H, 2);",
        "const int64_t t1 = add(s_N, 3);",
        "const int64_t t2 = floordiv(t1, 4);",
        "const int64_t t3 = mul(s_M, t2);",
        "const int64_t t4 = add(t3, t0);",
        "t4, t3, 5",
    ]


@pytest.mark.parametrize(
    ("language", "statements"),
    [
        ("c", ["const int64_t t0 = floordiv(s_H, s_M);", "const int64_t t1 = sub(t0, mul(2, s_N));", "t1"]),
        ("js", ["const t0 = floordiv(s_H, s_M);", "const t1 = t0 - 2n*s_N;", "t1"]),
    ],
)
def test_statements_of_each_language(language: LanguageName, statements: list[str]) -> None:
    assert lines(language, H // M - 2 * N) == statements


def test_only_operands_that_may_have_no_value_are_asked_for() -> None:
    zero = Var("zero", 0)
    code = StraightCode(LANGUAGES["js"], [N, zero])
    code.operand(N // zero + N // 2)
    assert code.statements == [
        "const t0 = floordiv(s_N, 2n);",
        "const t1 = floordiv(s_N, s_zero);",
        "const t2 = t1 === null ? null : t0 + t1;",
    ]
    assert lines("js", N * M + 1, optional=(M,)) == [
        "const t0 = s_M === null ? null : s_M*s_N;",
        "const t1 = t0 === null ? null : t0 + 1n;",
        "t1",
    ]


HOSTILE = ["seq len", "int", "linux", "t0", "add", "*/ #error", '"', "??/", "</script>", "x\n//", "\udc80", "ﬁ", "9"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_no_words_of_a_language(name: str, language: LanguageName) -> None:
    code = StraightCode(LANGUAGES[language], [Var(name), Var.fresh(name), Var("s")])
    assert len(set(code.names)) == 3
    assert all(name.isidentifier() and name.isascii() and name.startswith("s") for name in code.names)
    note = LANGUAGES[language].note(name)
    assert note.isascii()
    assert "\n" not in note
    assert not note.endswith("\\")
    assert {"c": "??", "js": "</"}.get(language, "\n") not in note


def test_numbers_beyond_64_bits() -> None:
    big = 1 << 64
    assert [LANGUAGES[language].number(big) for language in LANGUAGES] == [
        "SIZE_OVERFLOW",
        "0x10000000000000000n",
    ]
    assert LANGUAGES["c"].number((1 << 63) - 1) == f"INT64_C({(1 << 63) - 1})"
    assert LANGUAGES["c"].number(2 - (1 << 63)) == "SIZE_OVERFLOW"
    assert LANGUAGES["c"].number(-(1 << 40)) == "INT64_C(-1099511627776)"
    assert lines("c", N ** (1 << 70)) == [f"const int64_t t0 = power(s_N, {1 << 62});", "t0"]


def test_each_language_brings_its_functions() -> None:
    for language in LANGUAGES.values():
        assert all(name in language.arithmetic() for name in ("floordiv", "at_least", "divides", "broadcast_to"))


def test_a_name_that_is_no_text_is_quoted_in_c() -> None:
    assert LANGUAGES["c"].quoted("a\udc80") == '"a\\200"'
    assert LANGUAGES["c"].quoted("a\ud800").isascii()


def test_a_variable_that_is_no_symbol_is_an_error() -> None:
    with pytest.raises(UnboundName, match="'K'"):
        lines("c", N + Var("K"))


def test_long_sums_are_several_statements() -> None:
    variables = [Var(f"x{i}") for i in range(1_000)]
    code = StraightCode(Python(), variables)
    result = code.operand(total(variables) - 2 * variables[0] ** 3)
    namespace = dict(zip(code.names, range(1_000), strict=True))
    for statement in code.statements:
        exec(statement, namespace)
    assert namespace[result] == sum(range(1_000))
    assert max(map(len, code.statements)) < 200


def test_python_statements_agree_with_evaluation() -> None:
    random = Random(3)
    for dim in strategies.random_expressions(300, seed=9, leaves=12):
        symbols = list(strategies.VARIABLES.values())
        code = StraightCode(Python(), symbols)
        result = code.operand(dim)
        bindings = strategies.random_bindings(random)
        namespace: dict[str, Any] = {n: bindings[s.name] for n, s in zip(code.names, symbols, strict=True)}
        try:
            expected = dim.to_int(bindings)
        except ZeroDivisionError:
            continue
        for statement in code.statements:
            exec(statement, namespace)
        assert namespace[result] == expected, dim
