"""A second writer of `dim_param` texts, written from section 6 of docs/dim_param.md: it uses nothing of symdim."""

from __future__ import annotations

import re
from collections import Counter
from functools import reduce
from itertools import product
from typing import Any

import pytest

from tests.symdim.test_second_reader import FLOATS, ROUNDS, VECTORS, Parser, names, read, value

WRITTEN = [vector for vector in VECTORS if vector["reads"] == "expression" and "canonical" in vector]
TEXT, TERM, OPERAND, FACTOR, BASE = range(5)


def factors_of(tree: Any) -> list[Any]:
    return [*factors_of(tree[1]), tree[2]] if tree[0] == "*" else [tree]


def spelled(tree: Any, place: int = TEXT) -> str:
    """The text of a tree: rules 1 to 4."""
    kind, *parts = tree
    if kind == "number":
        return str(parts[0])
    if kind == "name":
        name = parts[0]
        return name if re.fullmatch(r"[^\W\d][\w.]*", name) else "`" + name.replace("`", "``") + "`"
    if kind in ("max", "min", "sqrt", "call", *FLOATS, *ROUNDS):
        name, arguments = (parts[0], parts[1:]) if kind == "call" else (kind, parts)
        return f"{name}({', '.join(map(spelled, arguments))})"
    first, *others = factors_of(tree)
    if first[0] == "negate":
        inner, lowest = "-" + "*".join(spelled(x, FACTOR) for x in (first[1], *others)), TEXT
    elif kind in ("+", "-"):
        inner, lowest = f"{spelled(parts[0])} {kind} {spelled(parts[1], TERM)}", TEXT
    elif kind == "*":
        inner, lowest = "*".join(spelled(x, FACTOR) for x in (first, *others)), OPERAND
    elif kind == "**":
        inner, lowest = f"{spelled(parts[0], BASE)}**{spelled(parts[1], BASE)}", FACTOR
    else:
        assert kind in ("//", "%", "/"), f"{kind} is not written"
        sign = " % " if kind == "%" else kind
        inner, lowest = spelled(parts[0], OPERAND) + sign + spelled(parts[1], FACTOR), TERM
    return inner if place <= lowest else f"({inner})"


def polynomial(tree: Any) -> Counter[tuple[str, ...]]:
    """Products of names, each with its coefficient; a KeyError for any other operation."""
    kind, *parts = tree
    if kind == "number":
        return Counter({(): parts[0]})
    if kind == "name":
        return Counter({(parts[0],): 1})
    if kind in ("*", "**"):
        count = int(value(parts[1], {}, None) or 0) if kind == "**" else 1
        factors = [polynomial(parts[0])] * count + [polynomial(part) for part in parts[1:] if kind == "*"]
        return reduce(_times, factors, Counter({(): 1}))
    result: Counter[tuple[str, ...]] = Counter()
    for sign, part in zip({"+": (1, 1), "-": (1, -1), "negate": (-1,)}[kind], parts, strict=True):
        for names_of, coefficient in polynomial(part).items():
            result[names_of] += sign * coefficient
    return result


def _times(left: Counter[tuple[str, ...]], right: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    result: Counter[tuple[str, ...]] = Counter()
    for (a, x), (b, y) in product(left.items(), right.items()):
        result[tuple(sorted(a + b))] += x * y
    return result


def expanded(terms: Counter[tuple[str, ...]]) -> str:
    """The text of a sum of products of names: rule 5."""
    powers = {factors: Counter(factors) for factors, k in terms.items() if k}
    order = sorted(powers, key=lambda p: (-len(p), sorted((name, -k) for name, k in powers[p].items())))
    if not order:
        return "0"
    first = next((p for p in order if terms[p] > 0), order[0])
    text = ""
    for factors in [first, *(p for p in order if p != first)]:
        k = terms[factors]
        number = [str(abs(k))] if abs(k) != 1 or not factors else []
        written = [spelled(("name", x)) + (f"**{n}" if n > 1 else "") for x, n in sorted(powers[factors].items())]
        sign = (" + " if k > 0 else " - ") if text else ("" if k > 0 else "-")
        text += sign + "*".join(number + written)
    return text


@pytest.mark.parametrize("vector", WRITTEN, ids=lambda vector: f"{vector['group']}: {vector['text']}")
def test_the_canonical_text_is_spelled_as_the_document_says(vector: Any) -> None:
    _, tree = read(vector["text"], vector.get("declared"), vector.get("dialect"))
    canonical = vector["canonical"]
    if canonical in names(tree):  # a name alone
        return
    written = Parser(canonical).sum()
    assert spelled(written) == canonical
    assert names(written) <= names(tree)
    for sizes, expected in vector["values"]:
        assert expected in (None, value(written, sizes, None))
    try:
        terms = polynomial(tree)
    except KeyError:
        return
    assert polynomial(written) == terms
    assert "(" in canonical or expanded(terms) == canonical


@pytest.mark.parametrize("text", ["N+1", "(N + 1)", "N//(2)", "max(N,3)", "-H//2 - 1", "(N*M)//3", "N - 02"])
def test_another_spelling_is_told(text: str) -> None:
    assert spelled(Parser(text).sum()) != text
