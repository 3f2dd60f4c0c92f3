"""The blocks of code of a page, and its commands as a user runs them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # what pytest reads its own settings with there

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")])
"""All pages, from the root."""

COMMANDS = {"onnx-infer": [sys.executable, "-m", "onnx_infer"], "python": [sys.executable], "mkdir": ["mkdir"]}

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.S | re.M)
_FILE = re.compile(r"`([\w/.]+)`")


class Block(NamedTuple):
    """A fenced block: its language, its text, and the file that the page names last before it."""

    language: str
    text: str
    file: str

    @property
    def is_example(self) -> bool:
        """Whether it is an example of a Python session."""
        return self.language == "python" and self.text.startswith(">>>")


def toml_of(text: str) -> dict[str, Any]:
    """What a text in TOML says."""
    return tomllib.loads(text)


def text_of(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in its order."""
    text = text_of(page)
    found = []
    for match in _BLOCK.finditer(text):
        names = _FILE.findall(text[: match.start()])
        found.append(Block(match[2], match[3], names[-1] if names else ""))
    return found


def matches(expected: str, printed: str) -> bool:
    """Whether it was printed; `...` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), printed, re.S) is not None


def check_commands(text: str, folder: Path, columns: int = 160) -> None:
    """Run the commands after `$`, each with the lines that it prints below it, in a terminal of this width."""
    for part in filter(None, re.split(r"^\$ ", text, flags=re.M)):
        command, _, expected = part.partition("\n")
        program, *arguments = shlex.split(command)
        done = subprocess.run(
            [*COMMANDS[program], *arguments],
            cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(columns)},
        )  # fmt: skip
        printed = done.stdout + done.stderr
        assert matches(expected.rstrip(), printed.rstrip()), f"{command}\n{printed}"
