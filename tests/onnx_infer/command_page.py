"""The page of the command: `docs/command_line.md`. `python -m tests.onnx_infer.command_page` writes it anew."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from onnx_infer.tools.cli.arguments import command_parser

PATH = Path(__file__).parents[2] / "docs" / "command_line.md"

EXAMPLES = {
    "FILE": "onnx-infer model.onnx",
    "--help": "onnx-infer --help",
    "--version": "onnx-infer --version",
    "--demo": "onnx-infer --demo",
    "--bind": "onnx-infer model.onnx --bind batch=1 --bind 'H=32*h'",
    "--input-shape": "onnx-infer model.onnx --input-shape images:1,3,224,224 --input-shape 'ids:batch,?'",
    "--rename": "onnx-infer model.onnx --rename s77=batch",
    "--bounds": "onnx-infer model.onnx --bounds seq=1..2048 --bounds past=0..",
    "--value": "onnx-infer model.onnx --value sr=16000 --value 'axes=[0, 1]'",
    "--assume": "onnx-infer model.onnx --assume 'H % 32 == 0' --assume 'W % 32 == 0'",
    "--import": "onnx-infer model.onnx --import acme_ops",
    "--bidirectional": "onnx-infer model.onnx --bidirectional",
    "--assume-declared": "onnx-infer model.onnx --assume-declared",
    "--initializers": "onnx-infer model.onnx --initializers constant",
    "--broadcast": "onnx-infer model.onnx --broadcast strict",
    "--policy": "onnx-infer model.onnx --policy override -o typed.onnx",
    "--output": "onnx-infer model.onnx -o typed.onnx",
    "--in-place": "onnx-infer model.onnx --in-place",
    "--fold": "onnx-infer model.onnx --fold -o small.onnx",
    "--keep-guards": "onnx-infer model.onnx --fold --keep-guards -o small.onnx",
    "--contract": "onnx-infer model.onnx -o typed.onnx --contract",
    "--check": "onnx-infer typed.onnx --check --bind batch=1 --bind seq=128",
    "--fail-on": "onnx-infer model.onnx --fail-on unknown",
    "--copy-data": "onnx-infer model.onnx -o elsewhere/model.onnx --copy-data",
    "--format": "onnx-infer models/ --format github",
    "--quiet": "onnx-infer models/ --quiet",
    "--explain": "onnx-infer model.onnx --explain scores",
    "--json": "onnx-infer model.onnx --json",
    "--all": "onnx-infer model.onnx --all",
    "--full": "onnx-infer model.onnx --all --full",
    "--costs": "onnx-infer model.onnx --costs --bind batch=1",
    "--memory": "onnx-infer model.onnx --memory --bind batch=8 --bind seq=128",
    "--max-memory": "onnx-infer model.onnx --max-memory 8GB --bind seq=128",
    "--diff": "onnx-infer model.onnx --diff other.onnx",
    "--arena": "onnx-infer model.onnx --arena --at batch=8,seq=512",
    "--align": "onnx-infer model.onnx --arena --align 16",
    "--order": "onnx-infer model.onnx --arena --order least",
    "--caller-owned": "onnx-infer model.onnx --arena --caller-owned inputs,outputs",
    "--at": "onnx-infer model.onnx --arena --at batch=1,seq=64 --at batch=8,seq=512",
    "--annotate-arena": "onnx-infer model.onnx -o planned.onnx --annotate-arena --order least",
    "--fits": "onnx-infer model.onnx --fits 64MB --bounds batch=1..8 --bounds seq=1..512",
    "--dynamic": "onnx-infer model.onnx --dynamic images:0=batch",
    "--apply": "onnx-infer model.onnx --dynamic images:0=batch --apply -o out.onnx",
    "--unfinished": "onnx-infer model.onnx --dynamic images:0=batch --apply --unfinished -o out.onnx",
    "--json-lines": "onnx-infer models/ --json-lines out.jsonl",
    "--force": "onnx-infer models/ --json-lines out.jsonl --force",
    "--jobs": "onnx-infer models/ --jobs 4",
    "--timeout": "onnx-infer models/ --timeout 60",
    "--max-worker-memory": "onnx-infer models/ --max-worker-memory 2GB",
    "--html": "onnx-infer model.onnx --html report.html",
    "--emit": "onnx-infer model.onnx --emit c > model.c",
    "--name": "onnx-infer model.onnx --emit c --name decoder > decoder.c",
    "--no-names": "onnx-infer model.onnx --emit c --no-names > model.c",
    "--lint": "onnx-infer model.onnx --lint",
    "--dialect": "onnx-infer model.onnx --dialect jax",
}
"""An example of each option, under its long name."""

HEAD = """# Command-line reference

Which options does `onnx-infer` have, and what are its exit codes? `onnx-infer [OPTION ...] FILE` infers a model and
prints a table: errors first, then inputs, outputs, intermediate values and guards. `python -m onnx_infer` is the same
command.

If a shape is unknown, the table gives the reason: the error of a node, an input without a declared rank, an unsupported
operator, or data. The consequences of an error are only counted.
"""

FOOT = """
## Files and pipes

FILE is a path, or `-` for standard input. With `-o -` the model goes to standard output, and all else to standard
error:

```sh
onnx-infer - -o - < model.onnx > typed.onnx
```

Weights beside the model are never read. onnx finds them only in the model's folder and below. If `-o` writes to a
folder from which they would not be found, nothing is written without `--copy-data`. A file is written completely or
not at all. `-o` may name the input, and the last line says so; no other file of the call, such as the weights, is
written over.

## Terminals

`pip install rich` adds colors on a terminal; `NO_COLOR` turns them off, `FORCE_COLOR` turns them on elsewhere.
`COLUMNS` sets the width of lines.

## Exit codes

| code | when |
|---|---|
"""

ORIGIN = """
<!-- Made from the options by `python -m tests.onnx_infer.command_page`; a test keeps it current. -->
"""


def page() -> str:
    """The text of the page."""
    parser = command_parser()
    parts = [HEAD]
    for group in parser._action_groups:
        if actions := [action for action in group._group_actions if action.help != argparse.SUPPRESS]:
            rows = ["| option | what it does | example |", "|---|---|---|", *map(_row, actions)]
            title = {"positional arguments": "The model", "options": "General"}.get(str(group.title), str(group.title))
            parts.append(f"\n## {title[:1].upper()}{title[1:]}\n\n" + "\n".join(rows) + "\n")
    assert parser.epilog is not None
    codes = re.sub(r"\n {7}", " ", parser.epilog.partition("exit codes:\n")[2])
    rows = [f"| {code} | {when.strip()} |" for code, _, when in (x.strip().partition("  ") for x in codes.splitlines())]
    return "".join(parts) + FOOT + "\n".join(rows) + "\n" + ORIGIN


def name_of(action: argparse.Action) -> str:
    """The long name of an option, or the word for the model.

    >>> [name_of(action) for action in command_parser()._actions][:2]
    ['--help', '--version']
    """
    return action.option_strings[-1] if action.option_strings else str(action.metavar)


def _row(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else f" {action.metavar or '|'.join(map(str, action.choices or ()))}"
    names = ", ".join(action.option_strings) + value if action.option_strings else name_of(action)
    help = (action.help or "").replace("%%", "%")
    cells = [f"`{names}`", help, f"`{EXAMPLES[name_of(action)]}`"]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8")
