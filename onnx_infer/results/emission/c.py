"""The emitted function in C99."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.source_text import INT64_MAX, SourceText, wrapped

if TYPE_CHECKING:
    from onnx_infer.results.emission.content import Symbol

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


class C(SourceText):
    """All public names start with the name of the function, because files of C have no names of their own."""

    template = _TEXT
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
