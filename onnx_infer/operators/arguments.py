"""The arguments of a rule's functions, from the inputs and attributes of a node.

A parameter has the schema's name of an input or of an attribute, whichever this version has. Two kinds of parameters
collect several attributes or inputs; the rule chooses their names. The annotation selects the form:

    SymTensor         a tensor of known rank          AnyRank        a tensor whose shape may be None
    Variadic          the rest of the inputs, ranked  Variadic[AnyRank], Variadic[Value]   the same, unchecked
    Ints Floats       a vector: the attribute, or the data of the input (None for an unknown element)
    Sizes             likewise, for an input that must have rank 1
    FlatSizes         likewise, but the law is assumed: a runtime may take the elements at other ranks, too
    int float Dim     a scalar: the attribute, or the only element of the input
    str Strings       strings                          Value          any value: a tensor, a sequence, a map ...
    Elements          a tensor with its data, any rank Values         the rest of the inputs, with theirs
    Graph             a subgraph, as a function from input values to output values
    Windows           the attributes of a sliding window that the node has, as one value with their names
    Scales            the inputs that are scales and zero points, as far as they are present, by their names

`| None` allows an absent optional input or attribute. `| Unknown` allows a value that is present but not known; without
it, the rule is not called for such a node and the result is unknown. A data function gets an array of None instead.
Three names are not from the schema: `output_count`, `output_dtype` (of the first output; only if the schema has no
attribute of this name, and the parameter no default) and `since_version`.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import unwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.conditions import decided
from onnx_infer.errors import OpUsageError, ShapeInferenceError, Unknown, require
from onnx_infer.laws.statements import demand
from onnx_infer.operators.schema import COLLECTIONS, SCALES, SPECIAL, annotation_texts
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import MAX_DATA, SymTensor, is_small
from symdim.algebra.caches import clear_with_caches
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_infer.operators.schema import Schema
    from onnx_infer.values.tensor import Dim, Value


_VECTORS = {"Ints", "Sizes", "FlatSizes", "Floats", "Strings"}
_SCALARS = {"int", "float", "Dim", "bool", "str"}
PLAIN = _VECTORS | _SCALARS | {""}
"""What an attribute may be given for, also to a parameter without an annotation."""
TENSORS = {"SymTensor", "AnyRank", "Value", "Variadic", "AnyRanks", "Variadic[AnyRank]", "Variadic[Value]"}
NOT_GIVEN = object()


class Parameter(NamedTuple):
    """A parameter as the function declares it; bound to an operator, the source of its argument, too.

    `source` is input, variadic, attribute, attributes, scales or special. `at` is the index of the formal input.
    """

    name: str
    want: str
    admits_none: bool
    admits_unknown: bool
    default: Any
    source: str = ""
    at: int = -1


class Asked(NamedTuple):
    """Indices of actual inputs, by their use of elements.

    `wants`: the rule uses the elements. `needs`: the data function can do nothing without them. `reads`: the rule or
    the data function uses them, if all that it needs is known.
    """

    wants: tuple[int, ...]
    needs: tuple[int, ...]
    reads: tuple[int, ...]


class Bound(NamedTuple):
    """An operator with attributes: what its schema does not allow in them, and the arguments from them.

    The arguments are those of the rule's functions for shapes, for elements and for element types.
    """

    wrong: str | None
    shape: Mapping[str, Any] = {}
    data: Mapping[str, Any] = {}
    dtype: Mapping[str, Any] = {}


@lru_cache(maxsize=1 << 10)
def signature(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a plain Python function, or of the function that it wraps."""
    function = unwrap(function)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(positional) : code.co_argcount], positional, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    annotations = annotation_texts(function)
    out = []
    for name in names:
        words = [word.strip() for word in annotations.get(name, "").split("|")]
        out.append(Parameter(name, words[0], "None" in words, "Unknown" in words, defaults.get(name, NOT_GIVEN)))
    return tuple(out)


clear_with_caches(signature.cache_clear)


def parameters(function: Callable[..., Any], schema: Schema) -> tuple[Parameter, ...]:
    """The parameters of a rule, bound to one version of the operator."""
    inputs = {formal.parameter or formal.name: i for i, formal in enumerate(schema.inputs)}
    out = []
    for p in signature(function):
        name, default, at = p.name, p.default, -1
        is_attribute = name in schema.defaults or (name == "output_dtype" and default is not NOT_GIVEN)
        if p.want in COLLECTIONS:
            source = "attributes"
        elif p.want == SCALES:
            source = "scales"
        elif name in SPECIAL and not is_attribute:
            source = "special"
        elif name in inputs:
            at = inputs[name]
            source = "variadic" if schema.inputs[at].variadic else "input"
        else:
            source = "attribute"
            if name in schema.defaults or name in schema.required or not schema.known or default is NOT_GIVEN:
                default = schema.defaults.get(name, default)
                if default is NOT_GIVEN and (p.admits_none or name not in schema.required):
                    default = None
        out.append(p._replace(default=default, source=source, at=at))
    return tuple(out)


def collected(p: Parameter, attributes: Mapping[str, Any]) -> Any:
    """The argument for a parameter that collects attributes of a node."""
    kind = COLLECTIONS[p.want]
    return kind._make(map(attributes.get, kind._fields, kind._field_defaults.values()))


def _vector(operand: Value, name: str) -> tuple[Any, ...] | Unknown:
    """The elements of an input. Unknown elements are None, provided that they are few and their number is known."""
    if isinstance(operand, SymTensor) and operand.data is not None:
        return operand.data if operand.dtype != dt.BOOL else tuple(map(decided, operand.data))
    count = _count(operand)
    if isinstance(count, int) and count <= MAX_DATA:
        return (None,) * count
    return Unknown(f"the value of {name} is not known", count)


def _count(operand: Value) -> Dim | None:
    """The number of elements of a vector or a scalar, if it is known."""
    ranked = isinstance(operand, SymTensor) and operand.shape is not None and len(operand.shape) <= 1
    return operand.size if ranked else None  # type: ignore[attr-defined]  # a tensor


def _sizes(operand: Value, name: str) -> tuple[Any, ...] | Unknown:
    if isinstance(operand, SymTensor) and operand.shape is not None:
        require(operand.rank == 1, f"rank of {name} is not 1", operand.rank)
    return _vector(operand, name)


def _flat_sizes(operand: Value, name: str) -> tuple[Any, ...] | Unknown:
    if isinstance(operand, SymTensor) and operand.shape is not None:
        demand(operand.rank == 1, f"rank of {name} is not 1", operand.rank, kind="assumed")
    return _vector(operand, name)


def _scalar(operand: Value, name: str) -> Any:
    data = operand.data if isinstance(operand, SymTensor) else None
    only = decided(data[0]) if data is not None and len(data) == 1 else None
    return Unknown(f"the value of {name} is not known", _count(operand)) if only is None else only


def _any(operand: Value, name: str) -> Value:
    return operand


def _tensor(operand: Value, name: str) -> SymTensor:
    if not isinstance(operand, SymTensor):
        raise ShapeInferenceError(f"{name} is not a tensor: {operand}")
    return operand


def _ranked(operand: Value, name: str) -> SymTensor:
    if isinstance(operand, SymTensor) and operand.shape is not None:
        return operand
    _tensor(operand, name)
    raise Unknown(f"the rank of {name} is not known")


def _array(operand: Value, name: str) -> np.ndarray[Any, Any] | None:
    return operand.array if isinstance(operand, SymTensor) else None


def _any_array(operand: Value, name: str) -> np.ndarray[Any, Any] | None:
    """The elements of an input as an array. If they are not known, all are None."""
    if not isinstance(operand, SymTensor) or operand.data is not None:
        return _array(operand, name)
    if not is_small(operand):
        raise Unknown(f"the size of {name} is not known")
    return np.full(operand.dims, None, dtype=object)


_READERS: dict[str, Callable[[Value, str], Any]] = {
    **dict.fromkeys(_SCALARS, _scalar),
    **dict.fromkeys(_VECTORS, _vector),
    **dict.fromkeys(("Value", "Values", "Variadic[Value]"), _any),
    **dict.fromkeys(("SymTensor", "Variadic"), _ranked),
    "Sizes": _sizes,
    "FlatSizes": _flat_sizes,
}
"""Form of an argument -> the function that makes it from a value and the name of the parameter."""


def _known(read: Callable[[Value, str], Any]) -> Callable[[Value, str], Any]:
    """The function that raises where another one returns an `Unknown`."""

    def known(operand: Value, name: str) -> Any:
        value = read(operand, name)
        if isinstance(value, Unknown):
            raise value
        return value

    return known


def reader(p: Parameter, arrays: bool = False) -> Callable[[Value, str], Any]:
    """The function that makes the argument from an input that is present and the parameter's name.

    With `arrays` it is for a data function. It raises `Unknown` if the input must be known.
    """
    read = _READERS.get(p.want, _tensor)
    if p.want in _VECTORS or p.want in _SCALARS:
        return read if p.admits_unknown else _known(read)
    if arrays:
        return _any_array if p.admits_unknown else _array
    return read


class Arguments:
    """The arguments of one function of a rule, bound to one version of an operator. Data functions take `arrays`."""

    __slots__ = ("_absent", "_collections", "_given", "_inputs", "_scales", "_specials", "_variadic", "parameters")

    def __init__(self, function: Callable[..., Any], schema: Schema, arrays: bool = False) -> None:
        self.parameters = parameters(function, schema)
        fixed = [p for p in self.parameters if p.source in ("attribute", "input")]
        self._absent: dict[str, Any] = {p.name: p.default for p in fixed}
        for p in fixed:
            if p.source == "input" and p.default is NOT_GIVEN:
                self._absent[p.name] = None
        # Split-1 has `split` as an optional input and as an attribute
        self._given = frozenset(p.name for p in fixed if p.source == "attribute" or p.want in PLAIN)
        self._collections = [p for p in self.parameters if p.source == "attributes"]
        self._inputs, self._variadic = (
            tuple((p.name, p.at, reader(p, arrays)) for p in self.parameters if p.source == source)
            for source in ("input", "variadic")
        )
        scales = [(f.name, at) for at, f in enumerate(schema.inputs) if f.name.endswith(("scale", "zero_point"))]
        self._scales = tuple((p.name, scales) for p in self.parameters if p.source == "scales")
        self._specials = frozenset(p.name for p in self.parameters if p.source == "special")
        if "since_version" in self._specials:
            self._absent["since_version"] = schema.since_version

    def __call__(
        self, inputs: tuple[Value | None, ...], fixed: Mapping[str, Any], dtypes: list[int | None]
    ) -> dict[str, Any]:
        """The arguments by name. `fixed` are those of the attributes, `dtypes` the element types of the outputs.

        Raises `Unknown` if the function asks for an unknown value.
        """
        out = {**fixed}
        count = len(inputs)
        for name, at, read in self._inputs:
            if at < count and (operand := inputs[at]) is not None:
                out[name] = read(operand, name)
        for name, at, read in self._variadic:
            out[name] = tuple([x and read(x, name) for x in inputs[at:]])
        for name, formals in self._scales:
            present = {formal: inputs[at] for formal, at in formals if at < count}
            out[name] = {formal: _tensor(operand, formal) for formal, operand in present.items() if operand is not None}
        if self._specials:
            if "output_count" in self._specials:
                out["output_count"] = len(dtypes)
            if "output_dtype" in self._specials:
                out["output_dtype"] = dtypes[0] if dtypes else None
        return out

    def of_attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments from attributes, and those from inputs that are left out.

        Raises `OpUsageError` for a missing attribute.
        """
        out = {**self._absent, **{name: value for name, value in values.items() if name in self._given}}
        for p in self._collections:
            out[p.name] = collected(p, values)
        for name, value in out.items():
            if value is NOT_GIVEN:
                raise OpUsageError(f"required attribute {name} is missing")
        return out
