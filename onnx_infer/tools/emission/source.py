"""The text of the emitted functions: what all languages share, and how each writes the entries of its tables.

`function.*.txt` and `arena.*.txt` have the text around them. Each `$name` in it is a part by this name
(`SourceText.parts`, `SourceText.arena_parts`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from symdim import Var, __version__
from symdim.algebra.dims import variables_of
from symdim.dialects.languages import C as LanguageOfC
from symdim.dialects.straight_code import StraightCode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from onnx_infer.tools.emission.content import Content, GuardEntry, PlaceEntry, Symbol, ValueEntry
    from onnx_infer.values.tensor import Dim
    from symdim.dialects.languages import Language
    from symdim.relations.relation import RelationKind

_LINE = 110
_INDENT = "  "

INT64_MAX = (1 << 63) - 1
SMALLEST = 2 - INT64_MAX
"""The smallest size in C, where smaller integers stand for sizes without a value."""


def _row(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def template(name: str) -> Template:
    """The text of a file, with `$name` for its parts."""
    return Template(files("onnx_infer.tools.emission").joinpath(f"{name}.txt").read_text("utf-8"))


class SourceText(ABC):
    """The text of the function for a content. A language is a subclass with the forms of its entries.

    `names`: the names of the symbols in the code. `sizes`: the texts of the distinct sizes. `guards`: the texts of the
    conditions. `refusal`: the form of what happens if a guard fails that must hold, under a `condition`; `is_given` and
    `held` are parts of conditions. The function of the sizes `refuses` such sizes, too, but in the page. `exports` is
    the end of its text. Of the arena, `start` moves a view to its first byte, and `at_most` has the bytes that are
    enough for all sizes, `no_bound` if none are.
    """

    symbol_entry: str
    value_entry: str
    guard_entry: str
    place_entry: str
    storage_entry: str
    start: str
    at_most: str
    no_bound = ""
    exports = ""
    parameter = ""
    flags = "false", "true"
    result_indent = 2
    refusal: str
    is_given: str
    held: str
    refuses = True

    def __init__(self, content: Content, language: Language, name: str = "") -> None:
        self.content, self.language, self.name = content, language, name
        self.symbols = content.symbols
        optional = [symbol.variable for symbol in self.symbols if symbol.optional]
        code = StraightCode(language, [symbol.variable for symbol in self.symbols], optional)
        self.names = code.names
        self._dims = content.sizes
        self.sizes = list(map(code.operand, self._dims))
        self.guards = [self.relation(g.relation, self.sizes[g.lhs], self.sizes[g.rhs]) for g in content.guards]
        self._statements = code.statements

    def source(self) -> str:
        """The whole text: the function of the sizes and, if the content has one, that of the arena."""
        function = template(f"function.{self.language.suffix}").substitute(self.parts()) + self.exports
        if self.content.arena is None:
            return function
        return function + template(f"arena.{self.language.suffix}").substitute(self.arena_parts)

    def parts(self) -> dict[str, object]:
        """The parts of the text by name."""
        values, first = [], 0
        for value in self.content.values:
            axes, rank = ", ".join(map(str, value.axes)), len(value.axes)
            values.append(self._filled(self.value_entry, value, axes=axes, places=value.axes, rank=rank, first=first))
            first += rank
        guards = [self._filled(self.guard_entry, guard) for guard in self.content.guards]
        kinds = enumerate(guard.kind for guard in self.content.guards)
        required = {i: self.held.format(i=i) for i, kind in kinds if kind == "required"}
        return {
            "name": self.name,
            "heading": self._heading(),
            "arithmetic": self.language.arithmetic(),
            "symbol_count": len(self.symbols),
            "size_count": len(self.sizes),
            "value_count": len(values),
            "guard_count": len(guards),
            "symbols": self.indented(map(self._symbol, self.symbols)),
            "values": self.indented(values),
            "guards": self.indented(guards),
            "names": ", ".join(self.names),
            "parameters": self.indented(self.parameters()),
            "statements": self.indented(self._statements),
            "sizes": self.wrapped(self.sizes, self.result_indent),
            "holds": self.wrapped(self.guards, self.result_indent),
            "refusals": self.indented(self._refusals(required) if self.refuses else ()),
        }

    @cached_property
    def arena_parts(self) -> dict[str, object]:
        """The parts of the text of the arena by name."""
        arena, number = self.content.arena, self.language.number
        assert arena is not None
        variables = [symbol.variable for symbol in self.symbols]
        code = StraightCode(self.language, variables, [s.variable for s in self.symbols if s.optional])
        storages = [
            self.storage_entry.format(value=value, below=_row(under), row=_row((value, len(under), *under)))
            for value, under in arena.layout
        ]
        sizes = [number(-1) if size is None else code.operand(size) for size in arena.bytes]
        distinct = {size: i for i, size in enumerate(dict.fromkeys(sizes))}
        starts = [
            self.start.format(prefix=self.language.prefix, i=i, text=code.operand(start))
            for i, start in sorted(arena.starts.items())
        ]
        # what the model only declares of its values changes no size
        sides = {i: self._sides(guard) for i, guard in enumerate(self.content.guards) if guard.kind != "declared"}
        relations = {i: self.content.guards[i].relation for i in sides}
        holds = {i: self.relation(relations[i], *map(code.operand, both)) for i, both in sides.items()}
        demanded = {*arena.variables(), *variables_of(size for both in sides.values() for size in both)}
        bound = None if arena.at_most is None or arena.at_most > INT64_MAX else arena.at_most
        at_most = self.no_bound if bound is None else self.at_most.format(bound=bound, upper=self.name.upper())
        return {
            **self.fields(),
            "name": self.name,
            "symbol_count": len(self.symbols),
            "place_count": len(arena.places),
            "placed": arena.placed,
            "node_count": len(arena.order),
            "storage_count": len(storages),
            "change_count": len(arena.changes),
            "align": arena.align,
            "at_most": at_most,
            "places": self.indented(map(self._place, arena.places)),
            "nodes": self.wrapped(map(str, arena.order)),
            "storages": self.wrapped(storages),
            "changes": self.wrapped(map(str, arena.changes)),
            "names": ", ".join(self.names),
            "parameters": self.indented(self.parameters(demanded)),
            "statements": self.indented(code.statements),
            "refusals": self.indented(self._refusals(holds)),
            "sizes": self.wrapped(sizes, self.result_indent),
            "distinct_sizes": self.wrapped(distinct or [number(-1)], self.result_indent),
            "size_numbers": self.wrapped(str(distinct[size]) for size in sizes),
            "starts": self.indented(starts),
        }

    def _place(self, place: PlaceEntry) -> str:
        return self._filled(self.place_entry, place, word=place.kind.upper().replace(" ", "_"))

    def fields(self) -> dict[str, str]:
        """The parts of the text that name things in C; other languages have none."""
        return {}

    def _sides(self, guard: GuardEntry) -> tuple[Dim, Dim]:
        return self._dims[guard.lhs], self._dims[guard.rhs]

    def _refusals(self, holds: Mapping[int, str]) -> Iterator[str]:
        """The statements that refuse sizes at which guards fail. `holds`: number of a guard -> whether it holds."""
        optional = {s.variable: name for s, name in zip(self.symbols, self.names, strict=True) if s.optional}
        for i, text in holds.items():
            sides = self._sides(self.content.guards[i])
            yield self.refused(i, [optional[v] for v in variables_of(sides) if v in optional], text)

    def relation(self, relation: RelationKind, lhs: str, rhs: str) -> str:
        """The text of a condition on two sizes."""
        return f"{self.language.prefix}{relation}({lhs}, {rhs})"

    def refused(self, guard: int, given: Iterable[str], holds: str) -> str:
        """The statement that refuses sizes at which a guard does not hold, if the symbols of some names are given."""
        known = [self.is_given.format(name=name) for name in given]
        condition = " && ".join([*known, f"!{holds}"])
        return self.refusal.format(condition=condition, guard=guard, number=guard + 1)

    def parameters(self, used: Collection[Var] | None = None) -> list[str]:
        """The lines that name the sizes of the symbols, by default of all."""
        return [
            self.parameter.format(name=name, i=i, note=self.language.note(symbol.name))
            for i, (name, symbol) in enumerate(zip(self.names, self.symbols, strict=True))
            if used is None or symbol.variable in used
        ]

    @abstractmethod
    def ends(self, symbol: Symbol) -> list[str]:
        """The texts of both bounds of a symbol."""

    def limits(self, symbol: Symbol) -> list[int]:
        """The bounds of a symbol, in 64 bits."""
        low, high = symbol.variable.bounds()
        ends = SMALLEST if low is None else low, INT64_MAX if high is None else high
        return [max(SMALLEST, min(end, INT64_MAX)) for end in ends]

    def indented(self, lines: Iterable[str]) -> str:
        """Lines under an indent; each ends with a line break."""
        return "".join([f"{_INDENT}{line}\n" for line in lines])

    @staticmethod
    def wrapped(items: Iterable[str], indent: int = len(_INDENT)) -> str:
        """Items with commas between them, in lines of some width.

        >>> SourceText.wrapped(["t1", "t2"], 4)
        '    t1, t2,\\n'
        """
        lines: list[str] = []
        for item in items:
            if lines and len(lines[-1]) + len(item) + 2 <= _LINE:
                lines[-1] += f" {item},"
            else:
                lines.append(f"{' ' * indent}{item},")
        return "".join(f"{line}\n" for line in lines)

    def _symbol(self, symbol: Symbol) -> str:
        low, high = self.ends(symbol)
        return self._filled(self.symbol_entry, symbol, low=low, high=high, optional=self.flags[symbol.optional])

    def _filled(self, form: str, entry: Symbol | ValueEntry | GuardEntry | PlaceEntry, **others: object) -> str:
        """A form with the fields of an entry, texts as string literals, and with other fields."""
        fields = entry._asdict().items()
        texts = {name: self.language.quoted(field) if isinstance(field, str) else field for name, field in fields}
        return form.format(**{**texts, **others})

    def _heading(self) -> str:
        mark = self.language.comment
        return (
            f"{mark} The sizes of all values of a model, and its guards, as functions of its symbols.\n"
            f"{mark} Written by onnx-infer {__version__}; do not edit. Self-contained: standard headers only."
        )


class C(SourceText):
    """All names begin with that of the function, because files of C have no names of their own.

    `has_names`: whether the tables have the names of the model and the texts of guards. If not, these are comments.
    """

    parameter = "const int64_t {name} = given[{i}];{note}"
    held = "holds[{i}]"
    flags = "0", "1"
    storage_entry = "{row}"
    start = "offsets[{i}] = {prefix}add(offsets[{i}], {text});"
    at_most = (
        "\n/* The arena needs no more than this at any sizes within the bounds of the symbols. */\n"
        "#define {upper}_ARENA_AT_MOST INT64_C({bound})\n"
    )

    def __init__(self, content: Content, name: str, has_names: bool) -> None:
        self.language: LanguageOfC = LanguageOfC(f"{name}_")
        self.has_names = has_names
        self.symbol_entry = self.entry(["name"], "{low}, {high}, {optional}")
        self.value_entry = self.entry(["name"], f"{{dtype}}, {{rank}}, {name}_axes + {{first}}")
        self.guard_entry = self.entry(["text", "law", "node"], "{kind}, {lhs}, {rhs}")
        self.place_entry = self.entry(["name"], f"{name.upper()}_{{word}}, {{root}}, {{first}}, {{last}}")
        self.refusal = f"if ({{condition}}) return {name.upper()}_SYMBOLS + {{number}};"
        self.is_given = f"{name}_has_value({{name}})"
        super().__init__(content, self.language, name)

    def entry(self, texts: Sequence[str], rest: str) -> str:
        """The form of an entry of a table that begins with texts."""
        if self.has_names:
            return f"{{{{{', '.join([f'{{{text}}}' for text in texts])}, {rest}}}}},"
        return f"{{{{{rest}}}}},  // {{{texts[0]}}}"

    def ends(self, symbol: Symbol) -> list[str]:
        return ["INT64_MAX" if end == INT64_MAX else self.language.number(end) for end in self.limits(symbol)]

    def parts(self) -> dict[str, object]:
        results = [f"sizes[{i}] = {text};" for i, text in enumerate(self.sizes)] or ["(void)sizes;"]
        results += [f"holds[{i}] = {text};" for i, text in enumerate(self.guards)] or ["(void)holds;"]
        axes = (str(axis) for value in self.content.values for axis in value.axes)
        return {**super().parts(), **self.fields(), "axes": self.wrapped(axes), "results": self.indented(results)}

    def fields(self) -> dict[str, str]:
        """The parts of the text that name things."""
        return {
            "upper": self.name.upper(),
            "text_of_name": "const char *name; " if self.has_names else "",
            "texts_of_guard": "const char *text, *law, *node; " if self.has_names else "",
            "texts_told": "a condition, the law that demands it, the node that states it, " if self.has_names else "",
            "no_name": "NULL, " if self.has_names else "",
            "no_texts": "NULL, NULL, NULL, " if self.has_names else "",
        }

    def header(self) -> str:
        """The text of the header."""
        arena = "" if self.content.arena is None else template("arena.h").substitute(self.arena_parts)
        parts = {**self.parts(), "declarations": self.language.declarations(), "arena": arena}
        return template("function.h").substitute(parts)


class JavaScript(SourceText):
    """A module of JavaScript."""

    symbol_entry = "{{ name: {name}, low: {low}, high: {high}, optional: {optional} }},"
    value_entry = "{{ name: {name}, dtype: {dtype}, axes: [{axes}] }},"
    guard_entry = "{{ text: {text}, law: {law}, kind: {kind}, node: {node}, lhs: {lhs}, rhs: {rhs} }},"
    place_entry = "{{ name: {name}, kind: {kind}, root: {root}, first: {first}, last: {last} }},"
    refusal = "if ({condition}) throw refusal({guard});"
    is_given = "{name} !== null"
    held = "found.holds[{i}]"
    storage_entry = "[{value}, [{below}]]"
    start = "offsets[{i}] += sizeOf({i}, {text});"
    at_most = "const ARENA_AT_MOST = {bound}n;\n"
    no_bound = "const ARENA_AT_MOST = null;\n"
    result_indent = 6
    exports = "\nexport { symbols, values, guards, sizes };\n"

    def ends(self, symbol: Symbol) -> list[str]:
        return ["null" if end is None else self.language.number(end) for end in symbol.variable.bounds()]
