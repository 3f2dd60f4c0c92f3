"""Operator cases as text, one line each, and the reading of values from their text form.

    Concat-13(axis=-1): f32[N, 3], f32[N, H] -> f32[N, H + 3]
    Squeeze-13: f32[1, N, 1], i64[1]={0} -> f32[N, 1]
    com.microsoft::Gelu-1: f32[N] -> f32[N]
    Concat-13(axis=5): f32[N, 3] -> error: axis 5 is out of range for rank 2

The error of a node with three outputs is `-, -, error: ...`. If sizes are known despite an error, they come before it:
`f32[N, _d0], error: ...`. `?` is an unknown element, `[...]` an unknown rank, `-` an absent optional input or output.
Fresh sizes are `_d0`, `_d1`, ... in the order of their creation. Attributes are Python literals. A tensor attribute is
the text of a value in quotes: `value=tensor("i64[1]={3}")`.
"""

from __future__ import annotations

import ast
import re
from threading import Lock
from typing import TYPE_CHECKING, Any

from onnx_infer.elements.conditions import positive
from onnx_infer.elements.ratio import Ratio, Rounded, approximated
from onnx_infer.engine.apply import apply
from onnx_infer.engine.run_time import RunTimeValues
from onnx_infer.errors import OpUsageError, ShapeInferenceError
from onnx_infer.laws.statements import named
from onnx_infer.model.graph import Attributes
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.operator import bind
from onnx_infer.operators.schema import NEWEST
from onnx_infer.types.join import sequence_of
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor, Value, substitute
from symdim import parse
from symdim.algebra.application import Application
from symdim.algebra.dims import variables_of
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_CALL = re.compile(
    r"(?:(?P<domain>[\w.]+)::)?(?P<name>\w+)-(?P<version>\d+)(?:\((?P<attributes>.*?)\))?\s*(?::(?P<operands>.*))?$",
    re.DOTALL,
)
_CONDITION = re.compile(r"\((.*)\) > 0")
_RATIO = re.compile(r"\((.*)\)/\((.*)\)")
_ROUNDED = re.compile(r"\w+\[f\d\d\]")
_TENSOR = re.compile(r"(?P<dtype>[\w?]+)\[(?P<dims>.*?)\](?:=\{(?P<data>.*)\})?$", re.DOTALL)


def split(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators outside brackets and quotes.

    >>> split("f32[N, 3], i64[2]={1, 2}")
    ['f32[N, 3]', 'i64[2]={1, 2}']
    """
    parts, depth, start, quote = [], 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def read_value(text: str) -> Value | None:
    """The value for a text form; `-` is an absent value.

    >>> read_value("i64[2]={N, 2}"), read_value("seq(f32[...])"), read_value("-")
    (i64[2]={N, 2}, seq(f32[...]), None)
    """
    text = text.strip()
    if text.startswith("seq("):
        elem, *length = split(text[4:-1], ";")
        parts = split(text[4:-1])
        if len(parts) > 1 and not length:
            return sequence_of([item for part in parts if (item := read_value(part)) is not None])
        return Sequence(None if elem == "?" else read_value(elem), parse(length[0]) if length else None)
    if text.startswith("optional("):
        elem, *state = split(text[9:-1], ";")
        return Optional(None if elem == "?" else read_value(elem), state[0] == "full" if state else None)
    if text.startswith("sparse("):
        inner_value = read_value(text[7:-1])
        assert isinstance(inner_value, SymTensor)
        return Sparse(inner_value.dtype, inner_value.shape)
    if text.startswith("map("):
        key, value = split(text[4:-1])
        return Map(dt.NUMBERS[key], read_value(value))
    if text == "-":
        return None
    match = _TENSOR.match(text)
    if match is None:
        raise ValueError(f"not the text of a value: {text!r}")
    dtype = None if match["dtype"] == "?" else dt.NUMBERS[match["dtype"]]
    shape = (
        None if match["dims"] == "..." else tuple(UNKNOWN_SIZE if d == "?" else parse(d) for d in split(match["dims"]))
    )
    data = None if match["data"] is None else tuple(_element(x, dtype) for x in split(match["data"]))
    return SymTensor(dtype, shape, data)


_READING = Lock()
"""Threads read one after the other.

CPython counts the depth of all syntax trees that it makes at a time in one number. If a collection of garbage
interrupts one thread and another one makes a tree meanwhile, `ast.parse` raises SystemError ("recursion depth
mismatch", in all versions of Python 3.11).
"""


def _literal(text: str) -> Any:
    with _READING:
        tree = ast.parse(text.lstrip(" \t"), mode="eval")
    return ast.literal_eval(tree)


def _element(text: str, dtype: int | None) -> Any:
    if text == "?":
        return None
    if dtype == dt.BOOL:
        condition = _CONDITION.fullmatch(text)
        return positive(parse(condition[1])) if condition else {"True": True, "False": False}[text]
    if dtype == dt.STRING:
        return _literal(text)
    if dtype not in dt.FLOATS:
        return parse(text)
    if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?|-?inf", text):
        return float(text)
    if text.startswith("~"):
        return approximated(float(text[1:]), float(text[1:]))
    if _ROUNDED.match(text):
        size = parse(f"floor[f32]({text})")
        assert isinstance(size, Application)
        return Rounded(size.arguments[0])  # type: ignore[arg-type]
    match = _RATIO.fullmatch(text)
    return Ratio(parse(match[1]), parse(match[2])) if match else Ratio(parse(text), 1)


def read_attributes(text: str) -> dict[str, Any]:
    """Attributes from `axis=-1, pads=[0, 1]`; lists become tuples, `tensor("...")` a tensor, `type("...")` a type.

    >>> read_attributes('axis=-1, perm=[1, 0], to=1, value=tensor("i64[1]={3}")')
    {'axis': -1, 'perm': (1, 0), 'to': 1, 'value': i64[1]={3}}
    """
    out: dict[str, Any] = {}
    for part in split(text):
        name, _, value = part.partition("=")
        value = value.strip()
        if value.startswith(("tensor(", "type(")):
            out[name.strip()] = read_value(_literal(value[value.index("(") + 1 : -1]))
        else:
            literal = _literal(value)
            out[name.strip()] = tuple(literal) if isinstance(literal, list) else literal
    return out


def infer_node(
    op_type: str,
    inputs: list[Value | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    version: int,
    domain: str = "",
    output_count: int = 1,
) -> list[Value]:
    """The outputs of one node, with fresh sizes named `_d0`, `_d1`, ... Errors are raised.

    >>> infer_node("Add", [read_value("f32[N, 1]"), read_value("f32[5]")], version=14)
    [f32[N, 5]]
    """
    results, error = _infer(op_type, inputs, attributes or {}, version, domain, output_count)
    if error is not None:
        raise ShapeInferenceError(error)
    return results


def _infer(
    op_type: str,
    inputs: list[Value | None],
    attributes: Mapping[str, Any],
    version: int,
    domain: str,
    output_count: int,
) -> tuple[list[Value], str | None]:
    """The outputs of one node, and the message of its error."""
    operator = bind(domain, op_type, version)
    if operator is None:
        raise OpUsageError(f"no operator {domain}::{op_type} at version {version}")
    outcome = apply(operator, Attributes(dict(attributes)), tuple(inputs), output_count)
    severity, message = outcome.error or ("warning", None)
    assert severity != "defect", message
    names = named(outcome.fresh, RunTimeValues(Symbols(())).of_call)
    return [substitute(value, names) for value in outcome.values], None if severity == "warning" else message


def ts(dtype: int | None, shape: Iterable[int | str] | None = None) -> SymTensor:
    """A short way to write a tensor type. Dims are ints or texts; without a shape the rank is unknown.

    >>> ts(1, ["batch", 128]), ts(1, [3, "_d0"]), ts(1)
    (f32[batch, 128], f32[3, _d0], f32[...])
    """
    return SymTensor(dtype, None if shape is None else [parse(d) if isinstance(d, str) else d for d in shape])


def const_value(data: int | Iterable[int | str], name: str | int = "", dtype: int = dt.INT64) -> SymTensor:
    """A scalar or vector of known elements: ints, or texts of expressions.

    The `name` is for readers only. A number in its place is the element type.

    >>> const_value(3), const_value([0, -1, "2*N"], "shape"), const_value([2], dt.NUMBERS["i32"])
    (i64[]={3}, i64[3]={0, -1, 2*N}, i32[1]={2})
    """
    dtype = name if isinstance(name, int) else dtype
    if isinstance(data, int):
        return SymTensor(dtype, (), (data,))
    elements = [parse(x) if isinstance(x, str) else x for x in data]
    return SymTensor(dtype, (len(elements),), elements)


def run_shape_inference(
    domain: str,
    op_type: str,
    inputs: Iterable[Value | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    opset_version: int = NEWEST,
    num_outputs: int = 1,
) -> list[Value]:
    """The types of one node's outputs, without elements. Fresh sizes are `_d0`, `_d1`, ... in each call.

    >>> run_shape_inference("", "NonZero", [ts(1, [3, 4])]) == [ts(7, [2, "_d0"])]
    True
    >>> run_shape_inference("", "Reshape", [ts(1, ["N", 6]), const_value([-1, 3])])
    [f32[2*N, 3]]
    """
    results = run_shape_inference_with_values(
        domain, op_type, inputs, attributes, opset_version=opset_version, num_outputs=num_outputs
    )
    return [value.without_data() if isinstance(value, SymTensor) else value for value in results]


def run_shape_inference_with_values(
    domain: str,
    op_type: str,
    inputs: Iterable[Value | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    opset_version: int = NEWEST,
    num_outputs: int = 1,
) -> list[Value]:
    """As `run_shape_inference`, with known elements.

    >>> run_shape_inference_with_values("", "Shape", [ts(1, ["N", 3])])
    [i64[2]={N, 3}]
    """
    results = infer_node(
        op_type, list(inputs), attributes, version=opset_version, domain=domain, output_count=num_outputs
    )
    # tests name fresh sizes by text in expected types, so fresh sizes become the variables that `ts` reads
    shapes = [value.shape or () for value in results if isinstance(value, SymTensor)]
    variables = variables_of(d for shape in shapes for d in shape)
    names = {v: parse(v.name) for v in variables if v.origin is not None}
    return [substitute(value, names) for value in results]


class Call(NamedTuple):
    """The call of a case: an operator of a version, its attributes and its inputs."""

    domain: str
    name: str
    version: int
    attributes: dict[str, Any]
    inputs: list[Value | None]


def read_call(text: str) -> Call:
    """The call in a case, which is the text before `->`.

    >>> read_call("Concat-13(axis=-1): f32[N, 3], f32[N, H]")
    Call(domain='', name='Concat', version=13, attributes={'axis': -1}, inputs=[f32[N, 3], f32[N, H]])
    """
    match = _CALL.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not the head of a case, such as Concat-13(axis=-1): or com.acme::Widen-1:")
    inputs = [read_value(operand) for operand in split(match["operands"] or "")]
    attributes = read_attributes(match["attributes"] or "")
    return Call(match["domain"] or "", match["name"], int(match["version"]), attributes, inputs)


def run_case(line: str) -> tuple[str, str]:
    """Run one case; return the actual and the expected result as texts.

    >>> run_case("Add-14: f32[N, 1], f32[5] -> f32[N, 5]")
    ('f32[N, 5]', 'f32[N, 5]')
    """
    text, expected = line.rsplit("->", 1)
    domain, name, version, attributes, inputs = read_call(text)
    before, error_word, message = expected.strip().partition("error")
    wanted = split(before)
    only_error = bool(error_word) and all(want == "-" for want in wanted)
    count = len(wanted) + only_error
    results, error = _infer(name, inputs, attributes, version, domain, count)
    failed = [] if error is None else [f"error: {error}"]
    if only_error:
        return ", ".join(failed or map(str, results)), error_word + message
    shown = ["-" if want == "-" else str(value) for want, value in zip(wanted, results, strict=True)]
    normal = [want if want == "-" else str(read_value(want)) for want in wanted]
    return ", ".join(shown + failed), ", ".join(normal + ([error_word + message] if error_word else []))


__all__ = [
    "Call", "const_value", "infer_node", "read_attributes", "read_call", "read_value", "run_case",
    "run_shape_inference", "run_shape_inference_with_values", "split", "ts",
]  # fmt: skip
