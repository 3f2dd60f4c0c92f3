"""The list of the mutants that no test can find, each below its reason."""

from __future__ import annotations

from pathlib import Path

LIST = Path(__file__).with_name("survivors.txt")


def justified(text: str | None = None) -> dict[str, str]:
    """The reason of each mutant of the list. A line that begins with # is the reason of the lines below it.

    >>> justified("# Saves time only.\\nm.py f: 1 -> 2\\n\\nm.py f: 1 -> 0")
    {'m.py f: 1 -> 2': 'Saves time only.', 'm.py f: 1 -> 0': 'Saves time only.'}
    """
    reason, reasons = "", {}
    for line in (LIST.read_text(encoding="utf-8") if text is None else text).splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif line:
            reasons[line] = reason
    return reasons
