"""The texts of sizes in a model: numbers, names, expressions, and the names that inference gives."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Size: TypeAlias = "int | str | None"
"""A size as a model declares it: a number, a dim_param, or None."""

GENERATED = re.compile(r"\b_d\d+\b")
"""The names that inference gives to data-dependent sizes."""


_OPERATORS = re.compile(r"[+*/%()^]| - ")


def is_name(text: str) -> bool:
    """Whether a declared text can only be a name: it has no operator and no bracket."""
    return _OPERATORS.search(text) is None


def generated(text: str) -> list[str]:
    """The names in a text that inference gives.

    >>> generated("2*_d10 + N"), generated("N")
    (['_d10'], [])
    """
    return GENERATED.findall(text) if "_d" in text else []


_NEGATIVE = re.compile(r"\s*-\s*\d+\s*")


def said(size: Size) -> Size:
    """The size as a model writes it; None if it says nothing: a negative number, or a text without letters and digits.

    >>> said("N"), said(4), said("?"), said("-1"), said(-1), said("")
    ('N', 4, None, None, None, None)
    """
    if isinstance(size, int):
        return size if size >= 0 else None
    if not size or size[0].isalpha():
        return size or None
    return size if any(map(str.isalnum, size)) and not _NEGATIVE.fullmatch(size) else None


def axis_name(value: str, axis: int) -> str:
    """The name for an axis of an input without a name: an identifier.

    >>> axis_name("x", 0), axis_name("ids:0", 1), axis_name("12", 0)
    ('x_dim_0', 'ids_0_dim_1', '_12_dim_0')
    """
    word = "".join([c if f"a{c}".isidentifier() else "_" for c in value])
    return f"{'' if word.isidentifier() else '_'}{word}_dim_{axis}"


_WORDS = re.compile(r"[\w.]+")


class AxisNames:
    """New names for axes of inputs that none of these texts contains.

    >>> names = AxisNames(["2*x_dim_0"])
    >>> names.new("x", 0), names.new("x", 0), names.new("x", 1)
    ('x_dim_0_1', 'x_dim_0_2', 'x_dim_1')
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._words: set[str] | None = None

    def new(self, value: str, axis: int) -> str:
        """A name like `x_dim_0`."""
        if self._words is None:
            self._words = {word for text in self._texts for word in (text, *_WORDS.findall(text))}
        first = name = axis_name(value, axis)
        for n in count(1):
            if name not in self._words:
                self._words.add(name)
                return name
            name = f"{first}_{n}"
        raise AssertionError
