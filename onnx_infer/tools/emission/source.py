"""The text of the emitted function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import ArgumentError
from onnx_infer.tools.emission.content import Content, content_of
from onnx_infer.tools.emission.forms import C, JavaScript, Python, Rust
from symdim.dialects.languages import LANGUAGES, LanguageName

if TYPE_CHECKING:
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.emission.source_text import SourceText

_TEXTS: dict[LanguageName, type[SourceText]] = {"c": C, "rust": Rust, "js": JavaScript, "python": Python}


def source(result: Inferred, language: LanguageName, name: str = "model") -> str:
    """The source text of one function from the symbols of a result to all its sizes; see docs/emit.md.

    `name` is the start of the public names in C, where files have no names of their own. Raises ArgumentError for
    another language, and for a name that is no identifier.
    """
    if language not in LANGUAGES:
        raise ArgumentError(f"no code is emitted in {language!r}; choose one of {', '.join(map(repr, LANGUAGES))}")
    if not (name.isidentifier() and name.isascii()):
        raise ArgumentError(f"the name {name!r} of the function is no identifier of C")
    return source_of(content_of(result), language, name)


def source_of(content: Content, language: LanguageName, name: str = "model") -> str:
    """The source text of the function for a content."""
    return _TEXTS[language](content, LANGUAGES[language], name).source()
