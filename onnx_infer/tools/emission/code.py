"""The whole text of a file of code: the function of the sizes and, if it is asked for, that of the arena."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from onnx_infer.errors import ArgumentError
from onnx_infer.tools.emission.content import Content, content_of
from onnx_infer.tools.emission.source import C, JavaScript
from symdim.dialects.languages import LANGUAGES

if TYPE_CHECKING:
    from onnx_infer.result import InferenceResult
    from onnx_infer.tools.arena.plan import ArenaPlan


FileKind: TypeAlias = Literal["c", "h", "js"]
"""A file of C, its header, or a module of JavaScript."""


def source(
    result: InferenceResult, kind: FileKind, name: str, arena: ArenaPlan | Mapping[str, Any] | bool, names: bool
) -> str:
    """The source text of the functions from the symbols of a result to its sizes and its arena; see docs/emit.md.

    `name` is the start of all names in C, where files have no names of their own. `arena`: a plan of the result, or the
    options of one. `names`: whether the tables of C have the names of the model and the texts of guards. Raises
    ArgumentError for another kind of file, for a name that is no identifier, and for a plan of another result.
    """
    if kind not in get_args(FileKind):
        raise ArgumentError(f"no code is emitted in {kind!r}; choose one of {', '.join(map(repr, get_args(FileKind)))}")
    if not (name.isidentifier() and name.isascii()):
        raise ArgumentError(f"the name {name!r} of the function is not a valid C identifier")
    if not names and kind == "js":
        raise ArgumentError("emit: only the tables of C can leave the names out")
    if isinstance(arena, bool):
        plan = result.arena() if arena else None
    else:
        plan = result.arena(**arena) if isinstance(arena, Mapping) else arena
    return source_of(content_of(result, arena=plan), kind, name, names)


def source_of(content: Content, kind: FileKind, name: str = "model", names: bool = True) -> str:
    """The source text for a content. A file of C begins with the text of its header, so it compiles alone."""
    if kind == "js":
        return JavaScript(content, LANGUAGES["js"]).source()
    code = C(content, name, names)
    return code.header() if kind == "h" else code.header() + code.source()
