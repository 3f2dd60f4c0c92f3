"""The whole text of a file of code: the function of the sizes and, if it is asked for, that of the arena.

For the arena, `arena.*.txt` has the text around the parts that are made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from onnx_infer.errors import ArgumentError
from onnx_infer.tools.emission.content import Content, content_of
from onnx_infer.tools.emission.source import C, JavaScript, template
from symdim.dialects.languages import LANGUAGES
from symdim.dialects.straight_code import StraightCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx_infer.result import InferenceResult
    from onnx_infer.tools.arena.plan import ArenaPlan
    from onnx_infer.tools.emission.content import ArenaContent, PlaceEntry
    from onnx_infer.tools.emission.source import SourceText


class ArenaForms(NamedTuple):
    """How a language writes the arena.

    `storage`: an entry of a table; `kind` writes a kind of storage. `start` moves a view to its first byte.
    `at_most`: bytes that are enough for all sizes; `no_bound` if none are.
    """

    kind: Callable[[str], str]
    storage: str
    start: str
    at_most: str
    no_bound: str


_FORMS = {
    "c": ArenaForms(
        kind=lambda kind: kind.upper().replace(" ", "_"),
        storage="{row}",
        start="offsets[{i}] = {prefix}add(offsets[{i}], {text});",
        at_most="\n/* The arena needs no more than this at any sizes within the bounds of the symbols. */\n"
        "#define {upper}_ARENA_AT_MOST INT64_C({bound})\n",
        no_bound="",
    ),
    "js": ArenaForms(
        kind=lambda kind: f'"{kind}"',
        storage="[{value}, [{below}]]",
        start="offsets[{i}] += sizeOf({i}, {text});",
        at_most="const ARENA_AT_MOST = {bound}n;\n",
        no_bound="const ARENA_AT_MOST = null;\n",
    ),
}


_TOO_LARGE = 1 << 63


def _row(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


class ArenaText:
    """The text of an arena, in the language of the text before it and with the same symbols."""

    def __init__(self, source: SourceText, arena: ArenaContent) -> None:
        self.source, self.arena, self.language = source, arena, source.language
        self.forms = _FORMS[source.language.suffix]
        optional = [symbol.variable for symbol in source.symbols if symbol.optional]
        self._code = StraightCode(self.language, [symbol.variable for symbol in source.symbols], optional)
        self._operand = self._code.operand

    def text(self) -> str:
        """The whole text."""
        return template(f"arena.{self.language.suffix}").substitute(self._parts())

    def header(self) -> str:
        """The declarations of the arena in C."""
        return template("arena.h").substitute(self._parts())

    def _parts(self) -> dict[str, object]:
        arena, source, number = self.arena, self.source, self.language.number
        storages = [
            self.forms.storage.format(value=value, below=_row(under), row=_row((value, len(under), *under)))
            for value, under in arena.layout
        ]
        sizes = [number(-1) if size is None else self._operand(size) for size in arena.bytes]
        distinct = {size: i for i, size in enumerate(dict.fromkeys(sizes))}
        starts = [
            self.forms.start.format(prefix=self.language.prefix, i=i, text=self._operand(start))
            for i, start in sorted(arena.starts.items())
        ]
        refusals = list(self._refusals())
        return {
            **source.fields(),
            "name": source.name,
            "symbol_count": len(source.symbols),
            "place_count": len(arena.places),
            "placed": arena.placed,
            "node_count": len(arena.order),
            "storage_count": len(storages),
            "change_count": len(arena.changes),
            "align": arena.align,
            "at_most": self._at_most(),
            "places": source.indented(map(self._place, arena.places)),
            "nodes": source.wrapped(map(str, arena.order)),
            "storages": source.wrapped(storages),
            "changes": source.wrapped(map(str, arena.changes)),
            "names": ", ".join(source.names),
            "parameters": source.indented(source.parameters(arena.variables())),
            "statements": source.indented(self._code.statements),
            "refusals": source.indented(refusals),
            "sizes": source.wrapped(sizes, source.result_indent),
            "distinct_sizes": source.wrapped(distinct or [number(-1)], source.result_indent),
            "size_numbers": source.wrapped(str(distinct[size]) for size in sizes),
            "starts": source.indented(starts),
        }

    def _place(self, place: PlaceEntry) -> str:
        texts = {"name": self.language.quoted(place.name), "kind": self.forms.kind(place.kind)}
        return self.source.place_entry.format(**{**place._asdict(), **texts})

    def _at_most(self) -> str:
        bound = self.arena.at_most
        if bound is None or bound >= _TOO_LARGE:
            return self.forms.no_bound
        return self.forms.at_most.format(bound=bound, upper=self.source.name.upper())

    def _refusals(self) -> Iterator[str]:
        """The statements that refuse sizes at which a guard fails."""
        for demand in self.arena.demands:
            holds = self.source.relation(demand.relation, self._operand(demand.lhs), self._operand(demand.rhs))
            yield self.source.refused(demand.guard, map(self._operand, demand.optional), holds)


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
        module = JavaScript(content, LANGUAGES["js"])
        return module.source() + ("" if content.arena is None else ArenaText(module, content.arena).text())
    code = C(content, name, names)
    arena = None if content.arena is None else ArenaText(code, content.arena)
    header = code.header("" if arena is None else arena.header())
    if kind == "h":
        return header
    return header + code.source() + ("" if arena is None else arena.text())
