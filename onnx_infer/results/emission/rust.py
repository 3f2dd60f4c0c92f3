"""The emitted function in Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.results.emission.source_text import SourceText

if TYPE_CHECKING:
    from onnx_infer.results.emission.content import Symbol

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


class Rust(SourceText):
    """A module of its own crate or file."""

    template = _TEXT
    symbol_entry = "Symbol {{ name: {name}, low: {low}, high: {high}, optional: {optional} }},"
    value_entry = "Value {{ name: {name}, dtype: {dtype}, axes: &[{axes}] }},"
    guard_entry = "Guard {{ text: {text}, law: {law}, kind: {kind}, node: {node}, lhs: {lhs}, rhs: {rhs} }},"
    parameter = "let {name}: Size = given[{i}].ok_or(Fault::NotGiven);{note}"
    indent, result_indent = 4, 12

    def ends(self, symbol: Symbol) -> list[str]:
        return list(map(str, self.limits(symbol)))
