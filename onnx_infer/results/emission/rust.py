"""The emitted function in Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.statements import wrapped

if TYPE_CHECKING:
    from onnx_infer.results.emission.statements import Statements

_TEXT = """\
{heading}
#![allow(dead_code, non_snake_case, unused_variables, clippy::all)]

{arithmetic}
/// A symbol, and the least and largest size that it may have. An optional one need not be given.
pub struct Symbol {{
    pub name: &'static str,
    pub low: i64,
    pub high: i64,
    pub optional: bool,
}}

/// A value: its element type, and the places of its sizes among the distinct sizes.
pub struct Value {{
    pub name: &'static str,
    pub dtype: &'static str,
    pub axes: &'static [usize],
}}

/// A guard: a condition, the law that demands it, its kind, the node that states it, the places of its two sides.
pub struct Guard {{
    pub text: &'static str,
    pub law: &'static str,
    pub kind: &'static str,
    pub node: &'static str,
    pub lhs: usize,
    pub rhs: usize,
}}

pub static SYMBOLS: [Symbol; {symbol_count}] = [
{symbols}];

pub static VALUES: [Value; {value_count}] = [
{values}];

pub static GUARDS: [Guard; {guard_count}] = [
{guards}];

/// The distinct sizes, and for each guard whether it holds.
pub struct Sizes {{
    pub sizes: Vec<Size>,
    pub holds: Vec<bool>,
}}

/// All sizes at these sizes of the symbols. The error is the place of the first symbol that is out of its bounds.
pub fn sizes(given: &[Option<i64>; {symbol_count}]) -> Result<Sizes, usize> {{
    for (i, symbol) in SYMBOLS.iter().enumerate() {{
        match given[i] {{
            Some(size) if size < symbol.low || size > symbol.high => return Err(i),
            None if !symbol.optional => return Err(i),
            _ => {{}}
        }}
    }}
{parameters}{statements}    Ok(Sizes {{
        sizes: vec![
{sizes}        ],
        holds: vec![
{holds}        ],
    }})
}}
"""


def source(code: Statements) -> str:
    """The text of the file."""
    quoted = code.quoted
    symbols = []
    for symbol in code.symbols:
        low, high = code.limits(symbol)
        optional = str(symbol.optional).lower()
        symbols.append(f"Symbol {{ name: {quoted(symbol.name)}, low: {low}, high: {high}, optional: {optional} }},")
    values = [
        f"Value {{ name: {quoted(name)}, dtype: {quoted(dtype)}, axes: &[{', '.join(map(str, axes))}] }},"
        for name, dtype, axes in code.content.values
    ]
    guards = [
        f"Guard {{ text: {quoted(guard.text)}, law: {quoted(guard.law)}, kind: {quoted(guard.kind)}, "
        f"node: {quoted(guard.node)}, lhs: {guard.lhs}, rhs: {guard.rhs} }},"
        for guard in code.content.guards
    ]
    parameters = [
        f"let {name}: Size = given[{i}].ok_or(Fault::NotGiven);{code.language.note(symbol.name)}"
        for i, (name, symbol) in enumerate(zip(code.names, code.symbols, strict=True))
    ]
    return _TEXT.format(
        heading=code.heading,
        arithmetic=code.language.arithmetic(),
        symbol_count=len(symbols),
        value_count=len(values),
        guard_count=len(guards),
        symbols=code.indented(symbols, 4),
        values=code.indented(values, 4),
        guards=code.indented(guards, 4),
        parameters=code.indented(parameters, 4),
        statements=code.indented(code.lines, 4),
        sizes=wrapped(code.sizes, 12),
        holds=wrapped(code.guards, 12),
    )
