"""The built documentation site: no link and no picture leads nowhere. It needs the dependency group `docs`."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]


class _Links(HTMLParser):
    """The links and pictures of a page, and the places in it that have a name."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src", "srcset"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.places.add(value)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, _Links]:
    """Every page of the site."""
    site = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(site)], cwd=ROOT, check=True)
    found = {}
    for path in site.rglob("*.html"):
        found[path] = _Links()
        found[path].feed(path.read_text("utf-8"))
    return found


def test_nothing_leads_nowhere(pages: dict[Path, _Links]) -> None:
    dead = []
    for page, found in pages.items():
        if page.name == "404.html":  # its links begin at the root of a server
            continue
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                dead.append(f"{page.name}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                dead.append(f"{page.name}: {link}, which has no such place")
    assert dead == []


def test_the_pictures_are_there(pages: dict[Path, _Links]) -> None:
    pictures = [link for found in pages.values() for link in found.links if "images/" in link]
    assert len(pictures) > 8


def test_the_playground_has_the_sources_of_symdim(pages: dict[Path, _Links]) -> None:
    site = next(page.parent for page in pages if page.parent.joinpath("first_hour.html") in pages)
    with ZipFile(site / "site" / "symdim.zip") as archive:
        assert "symdim/parsing.py" in archive.namelist()
        assert all(name.startswith("symdim/") for name in archive.namelist())
