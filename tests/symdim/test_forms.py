"""The canonical forms of random expressions are those of `forms.txt`; a line reads `form <- names: expression`.

CHANGELOG.md lists every change of a printed form, so none may happen by accident. After a change that is meant,
`python -m tests.symdim.test_forms` prints the forms that are new, and writes the file anew. That each form has the
right value is tested in `test_canonical.py`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from symdim import Scope, ceildiv, maximum, minimum
from symdim.algebra.variable import make_variable
from tests.symdim.test_canonical import BOUNDS, tree

FILE = Path(__file__).with_name("forms.txt")
ROWS = 400
FUNCTIONS = {"min": minimum, "max": maximum, "ceildiv": ceildiv}


def source(raw: object) -> str:
    """An expression tree as Python."""
    if not isinstance(raw, tuple):
        return str(raw)
    operator, *operands = raw
    parts = [source(operand) for operand in operands]
    if operator in FUNCTIONS:
        return f"{operator}({', '.join(parts)})"
    return f"({f' {operator} '.join(parts)})"


def form(names: str, expression: str) -> str:
    """The printed form; `names` reads `x in lo..hi`, several joined by commas."""
    scope, variables = Scope(), {}
    for name, ends in (entry.split(" in ") for entry in names.split(", ")):
        lo, hi = (int(end) if end else None for end in ends.split(".."))
        variables[name] = make_variable(scope, name, lo, hi)
    return str(eval(expression, {**FUNCTIONS, **variables}))


def rows() -> list[tuple[str, str, str]]:
    """(form, names, expression) of each line."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        text, _, question = line.partition(" <- ")
        names, _, expression = question.partition(": ")
        found.append((text, names, expression))
    return found


def test_forms_stay() -> None:
    changed = [
        f"{expression} for {names}: {new}, not {old}"
        for old, names, expression in rows()
        if (new := form(names, expression)) != old
    ]
    assert changed == []


def main() -> None:
    """Print the forms that are new, and write those of today."""
    former = {(names, expression): old for old, names, expression in rows()} if FILE.exists() else {}
    random, lines = Random("forms"), []
    while len(lines) < ROWS:
        ends = {name: random.choice(BOUNDS) for name in "xyz"}
        expression = source(tree(random, random.randint(2, 4)))
        used = [name for name in ends if name in expression.replace("max", "")]
        names = ", ".join(f"{n} in {'' if ends[n][0] is None else ends[n][0]}..{ends[n][1] or ''}" for n in used)
        try:
            text = form(names, expression) if used else ""
        except ZeroDivisionError:
            continue
        if len(expression) < 8 or not any(name in text for name in "xyz") or len(text) > 70:
            continue
        lines.append(f"{text} <- {names}: {expression}\n")
        if former.get((names, expression), text) != text:
            print(lines[-1], end="")
    FILE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
