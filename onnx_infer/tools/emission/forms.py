"""The forms of the emitted text in each language: its entries of tables, its bounds of symbols.

`function.*.txt` has the text around them. Each `$name` in it is a part by this name (`SourceText.parts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.tools.emission.source_text import INT64_MAX, SourceText, wrapped

if TYPE_CHECKING:
    from onnx_infer.tools.emission.content import Symbol


class C(SourceText):
    """All public names start with the name of the function, because files of C have no names of their own."""

    symbol_entry = "{{{name}, {low}, {high}, {optional}}},"
    value_entry = "{{{name}, {dtype}, {rank}, axes + {first}}},"
    guard_entry = "{{{text}, {law}, {kind}, {node}, {lhs}, {rhs}}},"
    parameter = "const int64_t {name} = given[{i}];{note}"
    flags = "0", "1"

    def ends(self, symbol: Symbol) -> list[str]:
        return ["INT64_MAX" if end == INT64_MAX else self.language.number(end) for end in self.limits(symbol)]

    def parts(self) -> dict[str, object]:
        results = [f"sizes[{i}] = {text};" for i, text in enumerate(self.sizes)] or ["(void)sizes;"]
        results += [f"holds[{i}] = {text};" for i, text in enumerate(self.guards)] or ["(void)holds;"]
        axes = (str(axis) for value in self.content.values for axis in value.axes)
        return {**super().parts(), "axes": wrapped(axes, 2), "results": self.indented(results)}


class Rust(SourceText):
    """A module of its own crate or file."""

    symbol_entry = "Symbol {{ name: {name}, low: {low}, high: {high}, optional: {optional} }},"
    value_entry = "Value {{ name: {name}, dtype: {dtype}, axes: &[{axes}] }},"
    guard_entry = "Guard {{ text: {text}, law: {law}, kind: {kind}, node: {node}, lhs: {lhs}, rhs: {rhs} }},"
    parameter = "let {name}: Size = given[{i}].ok_or(Fault::NotGiven);{note}"
    indent, result_indent = 4, 12

    def ends(self, symbol: Symbol) -> list[str]:
        return list(map(str, self.limits(symbol)))


class JavaScript(SourceText):
    """`exports` is the end of the text."""

    symbol_entry = "{{ name: {name}, low: {low}, high: {high}, optional: {optional} }},"
    value_entry = "{{ name: {name}, dtype: {dtype}, axes: [{axes}] }},"
    guard_entry = "{{ text: {text}, law: {law}, kind: {kind}, node: {node}, lhs: {lhs}, rhs: {rhs} }},"
    result_indent = 6
    exports = "\nexport { symbols, values, guards, sizes };\n"

    def ends(self, symbol: Symbol) -> list[str]:
        return ["null" if end is None else self.language.number(end) for end in symbol.variable.bounds()]

    def source(self) -> str:
        return super().source() + self.exports


class Python(SourceText):
    """A module without imports."""

    symbol_entry = "({name}, {low}, {high}, {optional}),"
    value_entry = "({name}, {dtype}, {places}),"
    guard_entry = "({text}, {law}, {kind}, {node}, {lhs}, {rhs}),"
    parameter = "{name} = given[{i}]{note}"
    flags = "False", "True"
    indent, result_indent = 4, 8

    def ends(self, symbol: Symbol) -> list[str]:
        return list(map(str, symbol.variable.bounds()))
