"""The emitted function in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.statements import wrapped

if TYPE_CHECKING:
    from onnx_infer.results.emission.content import Symbol
    from onnx_infer.results.emission.statements import Statements

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


def source(code: Statements) -> str:
    """The text of the module."""
    quoted = code.quoted
    values = [f"({quoted(name)}, {quoted(dtype)}, {axes})," for name, dtype, axes in code.content.values]
    guards = [f"({', '.join(map(quoted, guard[:4]))}, {guard.lhs}, {guard.rhs})," for guard in code.content.guards]
    parameters = [
        f"{name} = given[{i}]{code.language.note(symbol.name)}"
        for i, (name, symbol) in enumerate(zip(code.names, code.symbols, strict=True))
    ]
    return _TEXT.format(
        heading=code.heading,
        arithmetic=code.language.arithmetic(),
        symbols=code.indented((_symbol(code, symbol) for symbol in code.symbols), 4),
        values=code.indented(values, 4),
        guards=code.indented(guards, 4),
        parameters=code.indented(parameters, 4),
        statements=code.indented(code.lines, 4),
        sizes=wrapped(code.sizes, 8),
        holds=wrapped(code.guards, 8),
    )


def _symbol(code: Statements, symbol: Symbol) -> str:
    return f"({code.quoted(symbol.name)}, {', '.join(map(str, symbol.variable.bounds()))}, {symbol.optional}),"
