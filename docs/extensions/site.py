"""What the documentation site changes in a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]

_SESSION = re.compile(r"^( *)```python(?=\n *>>> )", re.M)


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Sessions as such: their prompts and results have a style of their own, which the copy button leaves out."""
    return _SESSION.sub(r"\1```pycon", markdown)


def on_post_build(config: Any, **kwargs: Any) -> None:
    """The sources of symdim for the playground, which unpacks them in the browser."""
    with ZipFile(Path(config["site_dir"], "site", "symdim.zip"), "w") as archive:
        for path in sorted((ROOT / "symdim").rglob("*.py")):
            archive.write(path, path.relative_to(ROOT))
