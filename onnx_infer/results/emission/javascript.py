"""The emitted function in JavaScript, as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.statements import wrapped

if TYPE_CHECKING:
    from onnx_infer.results.emission.content import Symbol
    from onnx_infer.results.emission.statements import Statements

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
  const [{parameters}] = symbols.map((symbol, i) => checked(given[i], symbol));
{statements}  return {{
    sizes: [
{sizes}    ],
    holds: [
{holds}    ],
  }};
}}
"""

_EXPORTS = "\nexport { symbols, values, guards, sizes };\n"


def source(code: Statements, exports: str = _EXPORTS) -> str:
    """The text of the module."""
    quoted = code.quoted
    values = [
        f"{{ name: {quoted(name)}, dtype: {quoted(dtype)}, axes: [{', '.join(map(str, axes))}] }},"
        for name, dtype, axes in code.content.values
    ]
    guards = [
        f"{{ text: {quoted(guard.text)}, law: {quoted(guard.law)}, kind: {quoted(guard.kind)}, "
        f"node: {quoted(guard.node)}, lhs: {guard.lhs}, rhs: {guard.rhs} }},"
        for guard in code.content.guards
    ]
    text = _TEXT.format(
        heading=code.heading,
        arithmetic=code.language.arithmetic(),
        symbols=code.indented(_symbol(code, symbol) for symbol in code.symbols),
        values=code.indented(values),
        guards=code.indented(guards),
        parameters=", ".join(code.names),
        statements=code.indented(code.lines),
        sizes=wrapped(code.sizes, 6),
        holds=wrapped(code.guards, 6),
    )
    return text + exports


def _symbol(code: Statements, symbol: Symbol) -> str:
    low, high = ["null" if end is None else code.language.number(end) for end in symbol.variable.bounds()]
    optional = str(symbol.optional).lower()
    return f"{{ name: {code.quoted(symbol.name)}, low: {low}, high: {high}, optional: {optional} }},"
