"""The emitted function in C99."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.statements import INT64_MAX, wrapped

if TYPE_CHECKING:
    from onnx_infer.results.emission.content import Symbol
    from onnx_infer.results.emission.statements import Statements

_TEXT = """\
{heading}
{arithmetic}
/* A symbol, and the least and largest size that it may have. An optional one may be SIZE_NOT_GIVEN. */
struct symbol {{ const char *name; int64_t low, high; int optional; }};

/* A value: its element type, rank, and the places of its sizes among the distinct sizes. */
struct value {{ const char *name, *type; int rank; const int *axes; }};

/* A guard: a condition, the law that demands it, its kind, the node that states it, the places of its two sides. */
struct guard {{ const char *text, *law, *kind, *node; int lhs, rhs; }};

enum {{ SYMBOLS = {symbol_count}, SIZES = {size_count}, VALUES = {value_count}, GUARDS = {guard_count} }};

/* Each table ends with an entry without a name. */
const struct symbol {name}_symbols[] = {{
{symbols}  {{NULL, 0, 0, 0}},
}};

static const int axes[] = {{
{axes}  0,
}};

const struct value {name}_values[] = {{
{values}  {{NULL, NULL, 0, NULL}},
}};

const struct guard {name}_guards[] = {{
{guards}  {{NULL, NULL, NULL, NULL, 0, 0}},
}};

/* Computes the SIZES distinct sizes, and for each of the GUARDS whether it holds, at the sizes of the SYMBOLS.
   Returns 0, or the number of the first symbol (from 1) that is out of its bounds; then nothing is computed. */
int {name}_sizes(const int64_t *given, int64_t *sizes, unsigned char *holds) {{
  for (int i = 0; i < SYMBOLS; i++) {{
    if (given[i] == SIZE_NOT_GIVEN && {name}_symbols[i].optional) continue;
    if (given[i] < {name}_symbols[i].low || given[i] > {name}_symbols[i].high) return i + 1;
  }}
{parameters}{statements}{results}  return 0;
}}
"""


def source(code: Statements, name: str) -> str:
    """The text of the file, in which all public names start with `name`."""
    content, quoted = code.content, code.quoted
    values, place = [], 0
    for title, dtype, axes in content.values:
        values.append(f"{{{quoted(title)}, {quoted(dtype)}, {len(axes)}, axes + {place}}},")
        place += len(axes)
    guards = [f"{{{', '.join(map(quoted, guard[:4]))}, {guard.lhs}, {guard.rhs}}}," for guard in content.guards]
    parameters = [
        f"const int64_t {variable} = given[{i}];{code.language.note(symbol.name)}"
        for i, (variable, symbol) in enumerate(zip(code.names, code.symbols, strict=True))
    ]
    results = [f"sizes[{i}] = {text};" for i, text in enumerate(code.sizes)] or ["(void)sizes;"]
    results += [f"holds[{i}] = {text};" for i, text in enumerate(code.guards)] or ["(void)holds;"]
    return _TEXT.format(
        name=name,
        heading=code.heading,
        arithmetic=code.language.arithmetic(),
        symbol_count=len(code.symbols),
        size_count=len(code.sizes),
        value_count=len(values),
        guard_count=len(guards),
        symbols=code.indented(_symbol(code, symbol) for symbol in code.symbols),
        axes=wrapped((str(axis) for value in content.values for axis in value.axes), 2),
        values=code.indented(values),
        guards=code.indented(guards),
        parameters=code.indented(parameters),
        statements=code.indented(code.lines),
        results=code.indented(results),
    )


def _symbol(code: Statements, symbol: Symbol) -> str:
    low, high = code.limits(symbol)
    ends = ", ".join(["INT64_MAX" if end == INT64_MAX else code.language.number(end) for end in (low, high)])
    return f"{{{code.quoted(symbol.name)}, {ends}, {int(symbol.optional)}}},"
