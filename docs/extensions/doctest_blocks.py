"""Examples and grammars in docstrings as blocks of code on the documentation site.

Markdown would read `>>>` as quotations, and the lines of a grammar as one.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_PRODUCTION = re.compile(r"\w+ += \S")


def fenced(text: str) -> str:
    """The docstring with a fence around each example and grammar: from `>>>` or `name = ...` to the next blank line."""
    lines: list[str] = []
    inside = False
    for line in [*text.splitlines(), ""]:
        if not inside and (line.startswith(">>>") or _PRODUCTION.match(line)):
            lines += ["", "```pycon" if line.startswith(">>>") else "```text"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines).rstrip()


class DoctestBlocks(griffe.Extension):
    """Fences the examples of every object."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
