"""What is given in place of a size, a text, a relation or facts: a TypeError that says what is expected."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from symdim import (
    DivisionByZero,
    Facts,
    ParseError,
    Reasoning,
    Shape,
    Var,
    ceildiv,
    equal,
    parse,
    read_dim_param,
    simplify,
    symbols,
)
from symdim.relations.relation import Relation

H, K = Var("H"), Var("K")


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: parse(3), "what is parsed is a text, not the int 3"),  # type: ignore[arg-type]
        (lambda: parse(H), "what is parsed is a text, not the Var H"),  # type: ignore[arg-type]
        (lambda: read_dim_param(None), "a dim_param is a text, not None"),  # type: ignore[arg-type]
        (lambda: Shape.parse(3), "what is parsed is a text, not the int 3"),  # type: ignore[arg-type]
        (lambda: Shape(3), "sizes are a sequence, not the int 3: write [3]"),  # type: ignore[arg-type]
        (lambda: symbols(3), "the names of symbols is a text, not the int 3, such as 'B S'"),  # type: ignore[arg-type]
        (lambda: Facts(3), "facts are a sequence, not the int 3"),  # type: ignore[arg-type]
        (lambda: Facts([4.5]), "a relation is a text, not the float 4.5, such as 'H >= 4', or a Relation"),  # type: ignore[list-item]
        (lambda: equal(H, H, ["H == 3"]), "facts are Facts, not the list ['H == 3']: write Facts([...])"),  # type: ignore[arg-type]
        (lambda: simplify(H, ["H == 3"]), "facts are Facts, not the list ['H == 3']: write Facts([...])"),  # type: ignore[arg-type]
        (lambda: equal("H", H), "a dimension is an int or an Expr, not 'H': write Var('H') or parse('H')"),  # type: ignore[arg-type]
        (lambda: H.evaluate(3), "sizes are given by name, as in evaluate(H=4) or evaluate({'H': 4}), not as 3"),  # type: ignore[arg-type]
        (lambda: H.to_int(3), "sizes are given by name, as in evaluate(H=4) or evaluate({'H': 4}), not as 3"),  # type: ignore[arg-type]
        (lambda: H.substitute(3), "sizes are given by name, as in substitute(H=4) or substitute({'H': 4}), not as 3"),  # type: ignore[arg-type]
        (
            lambda: Reasoning().prove(H),
            "a relation is a text, a Relation, or two sizes with a sign between them, as in prove('H >= 4') or"
            " prove(H, '>=', 4)",
        ),
        (
            lambda: Reasoning().assume(H, 4),
            "a relation is a text, a Relation, or two sizes with a sign between them, as in assume('H >= 4') or"
            " assume(H, '>=', 4)",
        ),
    ],
)
def test_the_message_says_what_is_expected(call: Callable[[], object], told: str) -> None:
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == told


def test_sizes_are_substituted_by_name() -> None:
    assert (H + K).substitute(H=4) == 4 + K
    assert (H + K).substitute(H=K, K=H) == H + K
    assert (H + K).substitute({"H": 1}, K=2) == 3
    assert (H + K).substitute() is H + K


def test_a_size_is_simplified_without_facts() -> None:
    assert simplify(H // 8 * 8 + H % 8) is H
    assert simplify(7) == 7


def test_reasoning_takes_expressions_and_texts() -> None:
    reasoning = Reasoning()
    reasoning.assume(H, ">=", 4, origin="the cache")
    assert (reasoning.prove(H, ">=", "4"), reasoning.prove("H", "<", 4)) == (True, False)
    assert reasoning.prove("H >= 4") is True
    assert reasoning.prove(Relation("at_least", H, 3)) is True
    assert reasoning.explain(H + 1, ">", 4).facts == ("H >= 4 (the cache)",)
    with pytest.raises(ValueError, match="a relation is one of == != >= > <= <, not '='"):
        reasoning.prove(H, "=", 4)


@pytest.mark.parametrize(
    "text, sign",
    [("H ==", None), ("== H", "=="), ("1 <= H + * 2 < K", "*"), ("H % 8 == 2 * (K", "("), ("1 <= < K", "< K")],
)
def test_a_position_in_a_relation_points_into_the_whole_text(text: str, sign: str | None) -> None:
    with pytest.raises(ParseError) as error:
        Facts([text])
    assert error.value.text == text
    assert error.value.position == (len(text) if sign is None else text.index(sign))
    _, line, caret = str(error.value).splitlines()
    assert (line, caret) == (f"    {text}", f"    {' ' * error.value.position}^")


def test_an_empty_text_is_called_empty() -> None:
    for text in ("", "  "):
        with pytest.raises(ParseError, match=r"expected an operand \(the text is empty\)"):
            parse(text)


def test_a_single_equals_sign_is_no_relation() -> None:
    with pytest.raises(ValueError, match=r"no relation .* in 'H % 8 = 0'; write == for equal sizes"):
        Facts(["H % 8 = 0"])


def test_a_division_by_zero_names_the_call() -> None:
    with pytest.raises(DivisionByZero, match=r"the divisor of ceildiv\(H, 0\) is zero"):
        ceildiv(H, 0)
