"""The emitted function in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.source_text import SourceText

if TYPE_CHECKING:
    from onnx_infer.results.emission.content import Symbol

_TEXT = """\
{heading}
{arithmetic}

SYMBOLS = [
{symbols}]
# A symbol: name, least and largest size, and whether it is optional. An optional one may be None.

VALUES = [
{values}]
# A value: name, element type, and the places of its sizes among the distinct sizes.

GUARDS = [
{guards}]
# A guard: condition, the law that demands it, its kind, the node that states it, the places of its two sides.


def sizes(given):
    \"\"\"The distinct sizes, and for each guard whether it holds, at these sizes of the symbols.\"\"\"
    if len(given) != len(SYMBOLS):
        raise ValueError(f"{{len(SYMBOLS)}} sizes are needed, not {{len(given)}}")
    for size, (name, low, high, optional) in zip(given, SYMBOLS):
        if not optional and size is None:
            raise ValueError(f"{{name}} is not given")
        if size is not None and ((low is not None and size < low) or (high is not None and size > high)):
            raise ValueError(f"{{name}} is in {{low}}..{{'' if high is None else high}}, not {{size}}")
{parameters}{statements}    return [
{sizes}    ], [
{holds}    ]
"""


class Python(SourceText):
    """A module without imports."""

    template = _TEXT
    symbol_entry = "({name}, {low}, {high}, {optional}),"
    value_entry = "({name}, {dtype}, {places}),"
    guard_entry = "({text}, {law}, {kind}, {node}, {lhs}, {rhs}),"
    parameter = "{name} = given[{i}]{note}"
    flags = "False", "True"
    indent, result_indent = 4, 8

    def ends(self, symbol: Symbol) -> list[str]:
        return list(map(str, symbol.variable.bounds()))
