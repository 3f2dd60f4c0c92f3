"""Outputs that are no lines of a terminal: tables for notebooks, and files. Every file that both packages write is
written by `write_whole`."""

from __future__ import annotations

import os

from symdim.errors import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import BinaryIO

MOST_ROWS = 200
"""The most rows of a table; one more row counts those that are left out."""


def html_table(caption: object, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The HTML that `_repr_html_` of public objects returns: a table.

    Every cell is text: markup and control characters in it are escaped. None is an empty cell.

    >>> html_table("a fact", ["fact"], [("a < b",)])
    '<table><caption>a fact</caption><tr><th>fact</th></tr><tr><td>a &lt; b</td></tr></table>'
    """
    from html import escape

    def line(kind: str, cells: Iterable[object]) -> str:
        texts = ["" if cell is None else escape(printable(str(cell))) for cell in cells]
        return f"<tr>{''.join(f'<{kind}>{text}</{kind}>' for text in texts)}</tr>"

    listed = list(rows)
    lines = [line("th", headings), *(line("td", row) for row in listed[:MOST_ROWS])]
    if len(listed) > MOST_ROWS:
        lines.append(line("td", [f"... and {len(listed) - MOST_ROWS} more"]))
    head = f"<caption>{escape(printable(str(caption)))}</caption>" if str(caption) else ""
    return f"<table>{head}{''.join(lines)}</table>"


def write_whole(path: Path, save: Callable[[BinaryIO], object]) -> None:
    """Write a file by a function, completely or not at all. A device or a pipe is written as it is.

    The content goes to a new file in the same folder, which then replaces the other one, with its mode. Nobody
    can foretell the name of the new file, and it is opened only if there is nothing of this name. So no link is
    followed, and those who read or write the same path at the same time see whole files. (`tempfile` makes files that
    others may never read; these have the usual mode.) Raises OSError with the path that was asked for.
    """
    from secrets import token_hex

    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            save(file)
        return
    mode = path.stat().st_mode & 0o7777 if path.exists() else None
    new = path.with_name(f".{token_hex(16)}")
    try:
        file = open(new, "xb", opener=lambda name, flags: os.open(name, flags, 0o666 if mode is None else mode))  # noqa: SIM115
        try:
            with file:
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), mode)
                save(file)
            os.replace(new, path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.filename is not None and os.fsdecode(error.filename) == str(new):
            error.filename = str(path)  # nobody knows the other name
        raise
