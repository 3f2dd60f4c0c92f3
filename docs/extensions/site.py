"""What the documentation site changes in a page."""

from __future__ import annotations

import re
from typing import Any

_SESSION = re.compile(r"^( *)```python(?=\n *>>> )", re.M)


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Sessions as such: their prompts and results have a style of their own, which the copy button leaves out."""
    return _SESSION.sub(r"\1```pycon", markdown)
