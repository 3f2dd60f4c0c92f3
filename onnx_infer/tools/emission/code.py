"""The whole text of a file of code: the function of the sizes and, if it is asked for, that of the arena."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onnx_infer.errors import ArgumentError
from onnx_infer.tools.emission.arena_text import ArenaText
from onnx_infer.tools.emission.content import Content, content_of
from onnx_infer.tools.emission.source import C, JavaScript, SourceText
from symdim.dialects.languages import LANGUAGES, LanguageName

if TYPE_CHECKING:
    from onnx_infer.result import InferenceResult
    from onnx_infer.tools.arena.plan import ArenaPlan

_TEXTS: dict[LanguageName, type[SourceText]] = {"c": C, "js": JavaScript}


def source(
    result: InferenceResult, language: LanguageName, name: str, arena: ArenaPlan | Mapping[str, Any] | bool
) -> str:
    """The source text of the functions from the symbols of a result to its sizes and its arena; see docs/emit.md.

    `name` is the start of the public names in C, where files have no names of their own. `arena`: a plan of the result,
    or the options of one. Raises ArgumentError for another language, for a name that is no identifier, and for a plan
    of another result.
    """
    if language not in LANGUAGES:
        raise ArgumentError(f"no code is emitted in {language!r}; choose one of {', '.join(map(repr, LANGUAGES))}")
    if not (name.isidentifier() and name.isascii()):
        raise ArgumentError(f"the name {name!r} of the function is no identifier of C")
    if isinstance(arena, bool):
        plan = result.arena() if arena else None
    else:
        plan = result.arena(**arena) if isinstance(arena, Mapping) else arena
    return source_of(content_of(result, arena=plan), language, name)


def source_of(content: Content, language: LanguageName, name: str = "model") -> str:
    """The source text of the function for a content."""
    text = _TEXTS[language](content, LANGUAGES[language], name)
    return text.source() + ("" if content.arena is None else ArenaText(text, content.arena).text())
