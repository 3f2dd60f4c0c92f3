"""The text of the emitted arena. `arena.*.txt` has the text around the parts that are made here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.tools.emission.source import template
from symdim.dialects.straight_code import StraightCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx_infer.tools.emission.arena_content import ArenaContent, PlaceEntry
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
