"""The functions that emitted Python calls, which are also the definition for the other languages."""

from __future__ import annotations

from symdim.dialects.arithmetic import at_least, at_most, broadcast, broadcast_to, divides, equal, floordiv, mod
from symdim.dialects.languages import LANGUAGES


def test_divisions_round_down_and_have_no_value_by_zero() -> None:
    points = [(a, b) for a in range(-5, 6) for b in (-3, -1, 2)]
    assert all((floordiv(a, b), mod(a, b)) == divmod(a, b) for a, b in points)
    assert (floordiv(3, 0), mod(3, 0)) == (None, None)


def test_no_relation_holds_for_a_size_without_a_value() -> None:
    for relation in (equal, at_least, at_most, divides, broadcast, broadcast_to):
        assert not any(relation(a, b) for a, b in ((None, 3), (3, None), (None, None)))


def test_relations_of_sizes() -> None:
    pairs = [(2, 2), (2, 4), (4, 2), (1, 4), (4, 1), (0, 4)]
    assert [equal(*pair) for pair in pairs] == [True, False, False, False, False, False]
    assert [at_least(*pair) for pair in pairs] == [True, False, True, False, True, False]
    assert [at_most(*pair) for pair in pairs] == [True, True, False, True, False, True]
    assert [divides(*pair) for pair in pairs] == [True, True, False, True, False, False]
    assert [broadcast(*pair) for pair in pairs] == [True, False, False, True, True, False]
    assert [broadcast_to(*pair) for pair in pairs] == [True, False, False, True, False, False]


def test_each_language_brings_its_functions() -> None:
    for language in LANGUAGES.values():
        assert all(name in language.arithmetic() for name in ("floordiv", "at_least", "divides", "broadcast_to"))


def test_a_name_that_is_no_text_is_quoted_in_c() -> None:
    assert LANGUAGES["c"].quoted("a\udc80") == '"a\\200"'
    assert LANGUAGES["c"].quoted("a\ud800").isascii()
