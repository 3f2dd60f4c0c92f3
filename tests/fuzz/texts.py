"""Random dim_params: what the parser reads, what it refuses, and whether the printed text is read again.

`python -m tests.fuzz --texts 1000000 --seed 1` for many.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from symdim import Expr, ParseError, SymdimError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("N", "M", "H", "batch", "seq len", "s0", "_d1", "a.b", "16H", "é", "x:0")
NUMBERS = ("0", "1", "2", "3", "7", "16", "100", "0.5", "1.5e0", "9223372036854775807", "00", "1_000")
OPERATORS = ("+", "-", "*", "//", "%", "/", "**", "^", "//", "%")
FUNCTIONS = ("max", "min", "floor", "ceil", "trunc", "abs", "round", "Mod", "FloorDiv", "CeilToInt", "sign", "Max",
             "Min", "mod", "floordiv", "Abs", "ceiling", "PythonMod", "unknown")  # fmt: skip
NOISE = "NMH019 +-*/%^()[]{},.?_'\"`\\\t\n&|~<>=!:;@#$\x00é∞٣\ud800"
DECLARED = {"N", "M", "H", "seq len", "batch"}

LONGEST = 120
"""About the most characters of a text of the grammar."""


def grown(rng: Random, depth: int) -> str:
    """A text of the grammar, with a mistake now and then."""
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(NAMES if rng.random() < 0.6 else NUMBERS)
    kind = rng.random()
    if kind < 0.6:
        space = rng.choice(["", " "])
        return f"{grown(rng, depth - 1)}{space}{rng.choice(OPERATORS)}{space}{grown(rng, depth - 1)}"
    if kind < 0.75:
        return f"({grown(rng, depth - 1)})"
    if kind < 0.8:
        return f"-{grown(rng, depth - 1)}"
    arguments = ", ".join(grown(rng, depth - 1) for _ in range(rng.choice([1, 1, 2, 2, 3])))
    return f"{rng.choice(FUNCTIONS)}({arguments})"


def mutated(rng: Random, text: str) -> str:
    """The text with some characters left out, doubled, moved or replaced."""
    for _ in range(rng.randint(1, 3)):
        at, other = rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)
        text = rng.choice(
            [
                text[:at] + text[at + 1 :],
                text[:at] + rng.choice(NOISE) + text[at:],
                text[:at] + text[at : at + 3] + text[at:],
                text[: min(at, other)] + text[max(at, other) :],
            ]
        )
    return text


def texts(seed: int) -> Iterator[str]:
    """Random texts without end: texts of the grammar, changed ones, and noise."""
    rng = Random(seed)
    while True:
        kind = rng.random()
        if kind < 0.1:
            yield "".join(rng.choice(NOISE) for _ in range(rng.randrange(30)))
            continue
        text = grown(rng, rng.choice([1, 2, 2, 3, 3, 4]))[:LONGEST]
        yield text if kind < 0.6 else mutated(rng, text)


def fault(text: str) -> str | None:
    """What is wrong with the reading of a text; None if nothing is.

    A text is read or refused with a ParseError that shows its place. What is printed is read as the same object.
    """
    try:
        expression = parse(text, DECLARED)
    except ParseError as error:
        return None if "^" in str(error) or not text.strip() else f"no place is shown: {error}"
    except Exception as error:  # any other is the fault that is looked for
        return f"{type(error).__name__}: {error}"
    printed = str(expression)
    try:
        again = parse(printed, {v.name for v in expression.variables()} if isinstance(expression, Expr) else set())
    except SymdimError as error:
        return f"printed as {printed!r}, which is refused: {error}"
    return None if again is expression or again == expression else f"printed as {printed!r}, which is read as {again}"
