"""Texts that grow when they are read: what is built of them is limited, and so are the work and the printed form."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import pytest

from symdim import Scope, Shape, Var, check, parse
from symdim.errors import ParseError
from symdim.parser import grammar
from symdim.parser.grammar import MAX_WORK
from tests.counting import calls_of

NESTS = {
    "abs": ("abs(", " - 1)"),
    "abs of a difference": ("abs(", " - M{i})"),
    "round": ("round(", "/2)"),
    "round of a fraction": ("round(", "/{i} + 1)"),
    "round by a name": ("round(", "/M)"),
    "trunc": ("trunc(", "/3 - M)"),
    "truncdiv": ("truncdiv(", " - M{i}, {j})"),
    "Mod": ("Mod(", " + K, M{i})"),
    "Mod of a multiple": ("Mod(3*", " + 1, {j}01)"),
    "remainder": ("(", " + M) % {j}77"),
    "maximum": ("max(", ", M) % {j}3"),
    "sign": ("(N - M{i}*sign(", "))"),
    "Heaviside": ("heaviside(", " - M{i}, 1)"),
    "square": ("(", " + 1)**2"),
    "pow": ("pow(", " + M, 2)"),
    "quotient": ("(3*", "//{j} + 1)"),
    "halves": ("((", " + M)//2*3 + 1)"),
    "product": ("(", " + 1)*M{i}"),
    "alternating": ("max(min(", ", a{i}), b{i})"),
    "remainders": ("", " % M{i}"),
    "divisors": ("", "//M{i}"),
    "clamps": ("trunc(", "/{i} - 1)"),
    "half of a product": ("((", " + 1)//2*N)"),
    "nothing grows": ("abs(round(", "))"),
}


def nest(name: str, length: int) -> str:
    """Calls or operators in each other, of about so many characters."""
    head, tail = NESTS[name]
    text = "N"
    for i in count(2):
        text = (head + "{0}" + tail).format(text, i=i, j=i % 7 + 2)
        if len(text) >= length:
            return text
    raise AssertionError


@pytest.mark.parametrize("name", NESTS)
def test_what_is_read_prints_in_a_text_in_proportion_and_reads_back(name: str) -> None:
    read = 0
    for length in (20, 60, 200):
        text = nest(name, length)
        error = check(text)
        if error is not None:
            assert "give a part of it a name" in error.message
            continue
        read += 1
        dim = parse(text)
        printed = str(dim)
        assert len(printed) < 40 * len(text) + 40_000
        assert parse(printed) is dim
    assert read


@pytest.mark.parametrize("name", NESTS)
def test_the_work_is_limited(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after the place of the refusal costs no more than to be split into lexemes."""
    monkeypatch.setattr(grammar, "MAX_WORK", 1 << 12)
    texts = [nest(name, 500), nest(name, 1000)]
    short, long = [calls_of(lambda text=text: check(text)) for text in texts]  # type: ignore[misc]
    assert long - short < 150 * (len(texts[1]) - len(texts[0]))
    assert long < 40 * grammar.MAX_WORK


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("abs(" * 400 + "N" + " - 1)" * 400, "written out this has "),
        ("N" + "".join(f" % M{i}" for i in range(1000)), f"reading this takes more than {MAX_WORK} steps"),
        ("N" + "".join(f" + (N + M{i})**9999" for i in range(600)), f"reading this takes more than {MAX_WORK} steps"),
        ("N//1" + "0" * 3000 + "//1" + "0" * 3000, "the number is too large"),
        ("N//9**4000//9**4000", "the number is too large"),
        ("rshift(rshift(N, 9999), 9999)", "the number is too large"),
        ("N//1e3000//1E3000", "the number is too large"),
        ("1.5e0**10000", "the number is too large"),
    ],
    ids=["length", "work", "powers", "numbers", "powers of numbers", "shifts", "exponents", "fractions"],
)
def test_a_refusal_names_its_place_and_the_cure(text: str, why: str) -> None:
    found = check(text)
    assert found is not None
    assert found.message.startswith(why)
    assert 0 < found.position < len(text)


def test_a_refusal_does_not_depend_on_what_was_read_before() -> None:
    text = nest("abs", 90)
    assert parse(text) is parse(text)
    longer = nest("abs", 400)
    assert str(check(longer)) == str(check(longer))


@pytest.mark.parametrize(
    "text",
    ["(N + 1)**14000", "2*(N - M)**999", "(-(N % M) - 1)**100", "(M % N % K)**256 + N", "(N + M)**30*(N + M)**600"],
)
def test_a_power_that_is_too_long_stays_as_written(text: str) -> None:
    dim = parse(text)
    assert parse(str(dim)) is dim
    assert dim.evaluate(N=7, M=4, K=3) == eval(text, {"N": 7, "M": 4, "K": 3})


def test_the_axes_of_a_shape_share_the_work() -> None:
    axes = [f"(N + M{i})**500" for i in range(40)]
    assert parse(axes[0]) is not None
    with pytest.raises(ParseError, match="reading this takes more than"):
        Shape.parse("[" + ", ".join(axes) + "]")


@pytest.mark.parametrize("divisor", [1, 2, 3, 4, 6, 7, 10, "d"])
def test_round_is_a_sum_of_two_divisions(divisor: int | str) -> None:
    scope = Scope()
    x, d = scope.var("x", 0), scope.var("d", 1)
    rounded = parse(f"round((x - 30)/{divisor})", {"x": x, "d": d})
    assert not isinstance(rounded, int)
    assert "min" not in str(rounded)
    for by in range(1, 9) if divisor == "d" else [int(divisor)]:
        for i in range(70):
            assert rounded.to_int(x=i, d=by) == round(Fraction(i - 30, by))


@pytest.mark.parametrize("text", ["N**1000000", "N**100*(N**100000 + 1)", "(N**10000)**10000", "M + N**(10**12)"])
def test_powers_that_make_long_numbers_are_refused(text: str) -> None:
    with pytest.raises(ParseError, match="the number is too large"):
        parse(text)


def test_powers_of_usual_sizes_are_read() -> None:
    assert parse("N**1000 * M**63") == Var("N") ** 1000 * Var("M") ** 63
