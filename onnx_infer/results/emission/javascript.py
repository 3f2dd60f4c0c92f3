"""The emitted function in JavaScript, as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.source_text import SourceText

if TYPE_CHECKING:
    from onnx_infer.results.emission.content import Symbol

_TEXT = """\
{heading}

{arithmetic}
// The symbols, each with the least and largest size that it may have. An optional one may be null.
const symbols = [
{symbols}];

// The values: element types, and the places of their sizes among the distinct sizes.
const values = [
{values}];

// The guards: a condition, the law that demands it, its kind, the node that states it, the places of its two sides.
const guards = [
{guards}];

function checked(given, {{ name, low, high, optional }}) {{
  if (given === null || given === undefined) {{
    if (!optional) throw new RangeError(`${{name}} is not given`);
    return null;
  }}
  const size = BigInt(given);
  if ((low !== null && size < low) || (high !== null && size > high)) {{
    throw new RangeError(`${{name}} is in ${{low}}..${{high ?? ""}}, not ${{size}}`);
  }}
  return size;
}}

/** The distinct sizes, and for each guard whether it holds, at these sizes of the symbols. Throws RangeError. */
function sizes(given) {{
  const [{names}] = symbols.map((symbol, i) => checked(given[i], symbol));
{statements}  return {{
    sizes: [
{sizes}    ],
    holds: [
{holds}    ],
  }};
}}
"""


class JavaScript(SourceText):
    """`exports` is the end of the text."""

    template = _TEXT
    symbol_entry = "{{ name: {name}, low: {low}, high: {high}, optional: {optional} }},"
    value_entry = "{{ name: {name}, dtype: {dtype}, axes: [{axes}] }},"
    guard_entry = "{{ text: {text}, law: {law}, kind: {kind}, node: {node}, lhs: {lhs}, rhs: {rhs} }},"
    result_indent = 6
    exports = "\nexport { symbols, values, guards, sizes };\n"

    def ends(self, symbol: Symbol) -> list[str]:
        return ["null" if end is None else self.language.number(end) for end in symbol.variable.bounds()]

    def source(self) -> str:
        return super().source() + self.exports
