"""What texts print as: the promise of docs/dim_param.md, held by `forms.txt`.

A line reads `text -> form`, or `text for NAME in LO..HI, ... -> form`. No form may change by accident. After a change
that the promise allows, `python -m tests.symdim.test_forms` prints the forms that are new, and writes the file anew;
CHANGELOG.md says what changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from symdim import Expr, parse
from symdim.algebra.variable import Scope, Var, make_variable
from tests.symdim.test_second_reader import PROBES, names, read, value

FILE = Path(__file__).with_name("forms.txt")
LINE = re.compile(r"(?P<text>.+?)(?: for (?P<bounds>\w+ in .+))? -> (?P<form>.+)")


def sections() -> dict[str, list[re.Match[str]]]:
    """The lines below each heading."""
    found: dict[str, list[re.Match[str]]] = {}
    heading = ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.removeprefix("# ").partition(":")[0]
        elif line:
            match = LINE.fullmatch(line)
            assert match is not None, line
            found.setdefault(heading, []).append(match)
    return found


def variables(bounds: str | None) -> dict[str, Var]:
    """Variables with bounds, by name; `bounds` reads `x in 0.., y in 1..7`, or is None."""
    scope, found = Scope(), {}
    for name, ends in (entry.split(" in ") for entry in bounds.split(", ")) if bounds else ():
        lo, hi = (int(end) if end else None for end in ends.split(".."))
        found[name] = make_variable(scope, name, lo, hi)
    return found


def printed(line: re.Match[str]) -> int | Expr:
    """What the text of a line is read as."""
    return parse(line["text"], variables(line["bounds"]))


def test_no_form_changes() -> None:
    changed = [
        f"{line['text']}: {dim}, not {line['form']}"
        for lines in sections().values()
        for line in lines
        if str(dim := printed(line)) != line["form"]
    ]
    assert changed == []


def test_there_are_300_texts_of_real_models() -> None:
    polynomials, others, bounded = sections().values()
    assert len({line["text"] for line in polynomials + others}) == 300
    assert all(line["bounds"] is None for line in polynomials + others)
    assert all(line["bounds"] for line in bounded)
    assert not any(re.search("//|%|max|min", line["form"]) for line in polynomials)


def test_forms_are_read_back_and_mean_the_same() -> None:
    """The values are those of the second reader, which knows only the specification."""
    polynomials, others, _ = sections().values()
    for line in polynomials + others:
        assert parse(line["form"]) == printed(line)
        (_, given), (_, written) = read(line["text"]), read(line["form"])
        for probe in PROBES:
            sizes = dict(zip(sorted(names(given)), probe * 2, strict=False))
            assert value(given, sizes, None) == value(written, sizes, None), line["text"]


def main() -> None:
    """Print the forms that are new, and write them."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(lines):
        if (match := LINE.fullmatch(line)) and not line.startswith("#"):
            lines[place] = f"{line.removesuffix(match['form'])}{printed(match)}"
            if lines[place] != line:
                print(lines[place])
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
