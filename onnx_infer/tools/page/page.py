"""The page as one text. It loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from onnx_infer.tools.emission.content import Content, content_of
from onnx_infer.tools.emission.forms import JavaScript
from onnx_infer.tools.page.data import page_data
from onnx_infer.values.text import printable
from symdim.dialects.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.results.inferred import Inferred

MODULES = ("format", "model", "curve", "symbols", "rows", "details", "page")
"""The modules of the script, each after those that it imports."""

_MODULE_WORDS = re.compile(r'^(import .*? from ".*";\n|export (?=const|class|function))', re.MULTILINE)


def html(result: Inferred, title: str, sizes: Mapping[str, int]) -> str:
    """A page with all values of a result. `sizes` are those of symbols with which it opens.

    Raises UnknownSymbol for names that are no symbols, and BoundsError for sizes out of bounds.
    """
    content = content_of(result, values=False)
    data = page_data(result, content, sizes)
    return Template(asset("page.html")).substitute(
        title=escape(printable(title)),
        style=asset("page.css").rstrip(),
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        script=f"{_emitted(content)}\n{script()}",
    )


def _emitted(content: Content) -> str:
    """The emitted function and its tables, as the constant `emitted`."""
    code = JavaScript(content, LANGUAGES["js"])
    code.exports = "\nreturn { symbols, guards, sizes };\n"
    return f"const emitted = (() => {{\n{code.source()}}})();\n"


def script() -> str:
    """The modules of the script as one. No two modules define the same name, so imports and exports are left out."""
    return "\n".join([_MODULE_WORDS.sub("", asset(f"{name}.js")) for name in MODULES])


def asset(name: str) -> str:
    """The text of a file of the page."""
    return files("onnx_infer.tools.page").joinpath("assets", name).read_text("utf-8")
