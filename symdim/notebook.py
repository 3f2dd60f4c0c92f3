"""Tables for notebooks: the HTML that `_repr_html_` of public objects returns."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_ROWS = 200
"""The most rows of a table; one more row counts those that are left out."""


def html_table(caption: object, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table. Every cell is text: markup in it is escaped. None is an empty cell.

    >>> html_table("a fact", ["fact"], [("a < b",)])
    '<table><caption>a fact</caption><tr><th>fact</th></tr><tr><td>a &lt; b</td></tr></table>'
    """
    from html import escape

    def line(kind: str, cells: Iterable[object]) -> str:
        texts = ["" if cell is None else escape(str(cell)) for cell in cells]
        return f"<tr>{''.join(f'<{kind}>{text}</{kind}>' for text in texts)}</tr>"

    listed = list(rows)
    lines = [line("th", headings), *(line("td", row) for row in listed[:MOST_ROWS])]
    if len(listed) > MOST_ROWS:
        lines.append(line("td", [f"... and {len(listed) - MOST_ROWS} more"]))
    head = f"<caption>{escape(str(caption))}</caption>" if str(caption) else ""
    return f"<table>{head}{''.join(lines)}</table>"
