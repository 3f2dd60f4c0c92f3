"""What a schema says of a node: number and types of operands, kinds of attributes; the results of a rule as values.

Rules check the laws of sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from onnx import AttributeProto

from onnx_infer.errors import OpUsageError
from onnx_infer.laws.readable import is_unreadable, readable
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import conflicting, warn
from onnx_infer.operators.schema import Schema, fixed_dtype
from onnx_infer.types.join import kind_of
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import MAX_RANK, Dim, Shape, SymTensor, Value
from symdim import Expr
from symdim.algebra.caches import Cache, shared_cache
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.dims import bounds_of

if TYPE_CHECKING:
    from collections.abc import Mapping

Types: TypeAlias = tuple[Any, ...]
"""The values as schemas see them: the element types of tensors (0: unknown); other values unchanged."""


_CLASSES: dict[int, tuple[str, tuple[type, ...]]] = {
    AttributeProto.INT: ("an integer", (int,)),
    AttributeProto.FLOAT: ("a float", (float, int)),
    AttributeProto.STRING: ("a string", (str,)),
    AttributeProto.TENSOR: ("a tensor", (SymTensor,)),
    AttributeProto.SPARSE_TENSOR: ("a sparse tensor", (Sparse,)),
    AttributeProto.TYPE_PROTO: ("a type", (Value,)),
    AttributeProto.INTS: ("a list of integers", (int,)),
    AttributeProto.FLOATS: ("a list of floats", (float, int)),
    AttributeProto.STRINGS: ("a list of strings", (str,)),
}
"""Kind of attribute -> its name, and the classes of its value, or of the elements of a list."""

_LISTS = frozenset({AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS})

_USUAL: dict[int, type] = {AttributeProto.INT: int, AttributeProto.FLOAT: float, AttributeProto.STRING: str}
"""Kind of attribute -> the class of nearly every value."""

_GRAPH, _FLOAT, _TENSOR = map(int, (AttributeProto.GRAPH, AttributeProto.FLOAT, AttributeProto.TENSOR))
_NO_GRAPHS = (int, float, str, tuple, Value, type(None))
"""The classes of the values of all other kinds. A graph has the class that the engine gives it."""

_TENSOR_TEXTS = {number: f"tensor({word})" for word, number in dt.FROM_SCHEMA.items()}


class ElementTypes:
    """What one schema says of types. With `by_default` an operator that onnx does not know keeps the first input's.

    Answers for tensors are remembered for ever, because they depend on no model. Sequences may hold expressions.
    """

    def __init__(self, schema: Schema, by_default: bool) -> None:
        self._schema = schema
        self._by_default = by_default and not schema.known
        self._sources = [self._source(formal.type_str) for formal in schema.outputs]
        self._kinds = [kind(schema, formal.type_str) for formal in schema.outputs]
        variadic = [i for i, formal in enumerate(schema.inputs) if formal.variadic]
        self._variadic_from = variadic[0] if variadic else None
        self._known = Cache(1 << 8)  # number of outputs, types of operands -> element types of the outputs
        self._misuses = Cache(1 << 10)  # types of operands, of outputs -> why the schema does not allow them

    def position(self, index: int) -> int:
        """The index of the formal input of an actual input."""
        start = self._variadic_from
        return start if start is not None and index > start else index

    def _source(self, type_str: str) -> tuple[str, int] | None:
        """The source of an output's element type: ("input", index), ("fixed", dtype) or None."""
        fixed = fixed_dtype(self._schema, type_str)
        if fixed is not None:
            return "fixed", fixed
        for i, formal in enumerate(self._schema.inputs):
            if type_str and formal.type_str in (type_str, f"seq({type_str})"):
                return "input", i
        return None

    def of_outputs(self, inputs: tuple[Value | None, ...], count: int) -> list[int | None]:
        """The element types of the outputs. Raises `OpUsageError` for inputs that are too many, too few or missing."""
        key: Types = (count, *_types(inputs))
        dtypes: list[int | None] | None = self._known.get(key)
        if dtypes is None:
            check_inputs(self._schema, inputs)
            dtypes = [self._of_output(inputs, i) for i in range(count)]
            if _are_plain(key):
                self._known[key] = dtypes
        return dtypes

    def misuse(self, inputs: tuple[Value | None, ...], outputs: tuple[Value, ...]) -> str | None:
        """Why the schema does not allow the types of a node, or None."""
        key = _types(inputs), _types(outputs)
        wrong: str | None = self._misuses.get(key, "")
        if wrong == "":  # not asked yet
            wrong = check_types(self._schema, inputs, outputs)
            if all(map(_are_plain, key)):
                self._misuses[key] = wrong
        return wrong

    def _of_output(self, inputs: tuple[Value | None, ...], output: int) -> int | None:
        """The element type of an output according to the schema."""
        source = self._sources[min(output, len(self._sources) - 1)] if self._sources else None
        if source is None:
            return _dtype_of(inputs[0]) if self._by_default and inputs else None
        kind, value = source
        return value if kind == "fixed" else self._first_dtype(inputs, value)

    def _first_dtype(self, inputs: tuple[Value | None, ...], index: int) -> int | None:
        """The element type of a formal input: the first known one among all inputs with the same type variable."""
        formals = self._schema.inputs
        type_str = formals[index].type_str
        for i, value in enumerate(inputs):
            position = self.position(i)
            if position < len(formals) and formals[position].type_str == type_str:
                dtype = _dtype_of(value)
                if dtype is not None:
                    return dtype
        return None

    def unknown(self, index: int, dtype: int | None, inputs: tuple[Value | None, ...]) -> Value:
        """A result with only its type known. If the type variable allows all kinds, it has the kind of its input."""
        which = min(index, len(self._kinds) - 1)
        kind = self._kinds[which] if self._kinds else SymTensor
        if kind is Sequence:
            return Sequence(SymTensor(dtype))
        if kind is Optional:
            return Optional()
        source = self._sources[which] if kind is None else None
        operand = inputs[source[1]] if source is not None and source[1] < len(inputs) else None
        return SymTensor(dtype) if operand is None or isinstance(operand, SymTensor) else kind_of(operand)


def kind(schema: Schema, type_str: str) -> type[Value] | None:
    """The class of the values that a type string or type variable allows; None if it allows several."""
    allowed = schema.constraints.get(type_str, {type_str})
    if all(text.startswith("tensor(") for text in allowed):
        return SymTensor
    classes = {"seq": Sequence, "optional": Optional}
    kinds = {classes.get(text.partition("(")[0], SymTensor) for text in allowed}
    return kinds.pop() if len(kinds) == 1 else None


def _types(values: tuple[Value | None, ...]) -> Types:
    return tuple([v.dtype or 0 if isinstance(v, SymTensor) else v for v in values])


def _are_plain(types: Types) -> bool:
    """Whether these are types of tensors, or of absent operands."""
    return all(x is None or isinstance(x, int) for x in types)


def _dtype_of(value: Value | None) -> int | None:
    while value is not None and not isinstance(value, SymTensor):
        value = getattr(value, "elem", None)
    return None if value is None else value.dtype


LARGEST_SIZE = 2**63 - 1
"""The largest size that a model can hold: dim_value is a 64-bit integer (onnx.proto)."""


def result_value(result: Any, dtype: int | None) -> Value:
    """The result of a rule as a value. A rule returns a shape or a value; `dtype` is the schema's element type."""
    if isinstance(result, Value):
        if not isinstance(result, SymTensor) or result.shape is None:
            return result
        dtype, shape = result.dtype or dtype, result.shape
    else:
        shape = tuple(result)
    if len(shape) > MAX_RANK:
        warn(too_many_axes("a result", len(shape)))
        return SymTensor(dtype)
    for size in shape:
        if not 0 <= size <= LARGEST_SIZE if isinstance(size, int) else _is_unusable(size):
            return SymTensor(dtype, [_possible(x, shape) for x in shape])
    if isinstance(result, SymTensor):
        known = result.data, result.fill, result.samples, result.progressions
        return result if result.dtype == dtype else SymTensor(dtype, shape, *known)
    return SymTensor(dtype, shape)


def too_many_axes(what: str, count: int) -> str:
    """What is told of a tensor whose rank is too large.

    >>> too_many_axes("input 'x'", 2000)
    "input 'x' has 2,000 axes; of more than 1,024 only the element type is inferred"
    """
    return f"{what} has {count:,} axes; of more than {MAX_RANK:,} only the element type is inferred"


_unusable = shared_cache(1 << 13)  # size -> the result of `_is_unusable`


def _is_unusable(size: Dim) -> bool:
    """Whether a size that is no int may not be written as it is."""
    unusable: bool | None = _unusable.get(size)
    if unusable is None:
        if not isinstance(size, Expr):
            return True
        unusable = _unusable[size] = is_unreadable(size) or at_least(size, LARGEST_SIZE + 1)
    return unusable


def _possible(size: Dim, shape: Shape) -> Dim:
    """The size, or an unknown size if it is impossible or its expression is too large to read."""
    size = checked(size)
    if at_least(size, LARGEST_SIZE + 1):
        return conflicting(f"a size of the result does not fit into 64 bits: ({', '.join(map(_text, shape))})")
    if isinstance(size, int) and size < 0:
        return conflicting(f"a size of the result is negative: ({', '.join(map(_text, shape))})")
    return readable(size)


def _text(size: Dim) -> str:
    """The size as text; a nearby power of two if it is too long to be printed."""
    low = bounds_of(size)[0] or 0
    return str(size) if abs(low) <= LARGEST_SIZE else f"at least {'-' if low < 0 else ''}2**{abs(low).bit_length() - 1}"


def check_inputs(schema: Schema, inputs: tuple[Value | str | None, ...]) -> None:
    """Raise `OpUsageError` for a wrong number of inputs (values or names), and for a missing required input: None."""
    if not schema.min_input <= len(inputs) <= schema.max_input:
        raise OpUsageError(f"takes {_number(schema.min_input, schema.max_input, 'input')}, not {len(inputs)}")
    for i, value in enumerate(inputs):
        if value is None and schema.inputs:
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            # operands of independent types (as in Loop) may be left out
            if not formal.optional and (formal.type_str or not formal.variadic):
                raise OpUsageError(f"required input {formal.name} is missing")


def check_attributes(schema: Schema, attributes: Mapping[str, Any]) -> str | None:
    """Why the schema does not allow attributes whose values are clear anyway, or None.

    These are attributes that the operator does not have, integers in place of floats, and tensors with broken sizes.
    Raises `OpUsageError` for a missing required attribute, and for a value of a wrong kind.
    """
    for name in schema.required:
        if name not in attributes:
            raise OpUsageError(f"required attribute {name} is missing")
    misuse = None
    for name, value in attributes.items():
        kind = schema.attributes.get(name)
        if kind is not None:
            if type(value) is _USUAL.get(kind):
                continue
            wrong = _check_attribute(name, kind, value)
            misuse = misuse or (wrong if schema.known else None)
        elif schema.known:
            misuse = misuse or f"the operator has no attribute {name}"
    return misuse


def _check_attribute(name: str, kind: int, value: Any) -> str | None:
    """As `check_attributes`, for the value of one attribute of this kind."""
    if kind == _GRAPH and isinstance(value, _NO_GRAPHS):
        raise OpUsageError(f"attribute {name} is not a graph: {value}")
    if kind not in _CLASSES:
        return None
    word, classes = _CLASSES[kind]
    if kind in _LISTS:
        fits = isinstance(value, tuple) and all(issubclass(t, classes) for t in set(map(type, value)))
    else:
        fits = isinstance(value, classes)
    if not fits:
        raise OpUsageError(f"attribute {name} is not {word}: {value}")
    if kind == _FLOAT and type(value) is int:
        return f"attribute {name} is an integer and not a float: {value}"
    if kind == _TENSOR and isinstance(value, SymTensor) and value.shape is None:
        return f"attribute {name} is a tensor with a negative size, or with too many axes: {value}"
    return None


def wrong_number(schema: Schema, outputs: int) -> str | None:
    """Why the schema does not allow so many outputs, or None."""
    if not schema.known or schema.min_output <= outputs <= schema.max_output:
        return None
    return f"gives {_number(schema.min_output, schema.max_output, 'output')}, not {outputs}"


def _number(least: int, most: int, what: str) -> str:
    """A number of inputs or outputs.

    >>> _number(1, 1, "input"), _number(3, 5, "input"), _number(1, 2**31 - 1, "output")
    ('1 input', '3 to 5 inputs', '1 or more outputs')
    """
    count = f"{least} or more" if most >= 2**31 - 1 else f"{least} to {most}" if least != most else f"{least}"
    return f"{count} {what}{'s' * (count != '1')}"


def check_types(schema: Schema, inputs: tuple[Value | None, ...], outputs: tuple[Value, ...]) -> str | None:
    """Why the schema does not allow a node whose sizes are clear anyway, or None.

    The reasons are outputs that the operator does not have, element types that it does not allow, and different types
    for one type variable.
    """
    if not schema.known:
        return None
    if wrong := wrong_number(schema, len(outputs)):
        return wrong
    bound: dict[str, str] = {}
    for formals, values in ((schema.inputs, inputs), (schema.outputs, outputs)):
        last = len(formals) - 1
        for i, value in enumerate(values):
            text = type_text(value)
            formal = formals[min(i, last)]
            type_str = formal.type_str or formal.each
            if text is None or not type_str:
                continue
            if text not in schema.constraints.get(type_str, (type_str,)):
                return f"{formal.name} has element type {text}, which the operator does not admit"
            if formal.type_str and bound.setdefault(type_str, text) != text:
                return f"element types of {type_str} differ: {formal.name} has {text} != {bound[type_str]}"
    return None


def type_text(value: Value | None) -> str | None:
    """The type in the spelling of operator schemas, `seq(tensor(float))`; None for unknown types.

    >>> type_text(SymTensor(1, (2,))), type_text(Sequence(SymTensor(7))), type_text(Map(7, SymTensor(8)))
    ('tensor(float)', 'seq(tensor(int64))', 'map(int64, string)')
    """
    if isinstance(value, SymTensor):
        return _TENSOR_TEXTS.get(value.dtype or 0)
    if isinstance(value, Sparse):
        inner = _TENSOR_TEXTS.get(value.dtype or 0)
        return inner and f"sparse_{inner}"
    if isinstance(value, (Sequence, Optional)):
        inner = type_text(value.elem)
        return inner and f"{'seq' if isinstance(value, Sequence) else 'optional'}({inner})"
    if isinstance(value, Map):
        key, inner = _TENSOR_TEXTS.get(value.key), type_text(value.value)
        return inner and key and f"map({_element(key)}, {_element(inner)})"
    return None


def _element(text: str) -> str:
    # schemas write the elements of maps without `tensor`
    return text.removeprefix("tensor(").removesuffix(")") if text.startswith("tensor(") else text
