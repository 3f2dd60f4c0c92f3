"""What a schema says of element types, and the results of a rule as values."""

from __future__ import annotations

from typing import Any, TypeAlias

from onnx_infer.laws.readable import is_unreadable, readable
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import conflicting, warn
from onnx_infer.operators.schema import Schema, fixed_dtype
from onnx_infer.operators.verification import check_inputs, check_types
from onnx_infer.types.join import kind_of
from onnx_infer.values.tensor import MAX_RANK, Dim, Optional, Sequence, Shape, SymTensor, Value
from symdim import Expr
from symdim.algebra.caches import Cache, shared_cache
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.dims import bounds_of

Types: TypeAlias = tuple[Any, ...]
"""The values as schemas see them: the element types of tensors (0: unknown); other values unchanged."""


class KnownTypes:
    """What a schema says of operands of some types: the element types of the outputs, and what it does not allow.

    `misuses` has, for the types of outputs, why it does not allow them, or None. It is used if all are tensors.
    """

    __slots__ = ("are_plain", "misuses", "outputs")

    def __init__(self, outputs: list[int | None], are_plain: bool) -> None:
        self.outputs, self.are_plain = outputs, are_plain
        self.misuses = Cache(1 << 6)  # types of outputs -> why the schema does not allow them


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
        self._known = Cache(1 << 8)  # number of outputs, types of operands -> KnownTypes

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

    def known(self, inputs: tuple[Value | None, ...], count: int) -> KnownTypes:
        """What the schema says of a node. Raises `OpUsageError` for inputs that are too many, too few or missing."""
        key: Types = (count, *[v.dtype or 0 if isinstance(v, SymTensor) else v for v in inputs])
        found: KnownTypes | None = self._known.get(key)
        if found is None:
            check_inputs(self._schema, inputs)
            found = KnownTypes([self._of_output(inputs, i) for i in range(count)], _are_plain(key))
            if found.are_plain:
                self._known[key] = found
        return found

    def misuse(self, known: KnownTypes, inputs: tuple[Value | None, ...], outputs: tuple[Value, ...]) -> str | None:
        """Why the schema does not allow the types of a node, or None; `known` is what it says of the inputs."""
        made: Types = tuple([v.dtype or 0 if isinstance(v, SymTensor) else v for v in outputs])
        try:
            told: str | None = known.misuses[made]
            return told
        except KeyError:
            wrong = check_types(self._schema, inputs, outputs)
            if known.are_plain and _are_plain(made):
                known.misuses[made] = wrong
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
        given = inputs[source[1]] if source is not None and source[1] < len(inputs) else None
        return SymTensor(dtype) if given is None or isinstance(given, SymTensor) else kind_of(given)


def kind(schema: Schema, type_str: str) -> type[Value] | None:
    """The class of the values that a type string or type variable allows; None if it allows several."""
    allowed = schema.constraints.get(type_str, {type_str})
    if all(text.startswith("tensor(") for text in allowed):
        return SymTensor
    classes = {"seq": Sequence, "optional": Optional}
    found = {classes.get(text.partition("(")[0], SymTensor) for text in allowed}
    return found.pop() if len(found) == 1 else None


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
    found: bool | None = _unusable.get(size)
    if found is None:
        if not isinstance(size, Expr):
            return True
        found = _unusable[size] = is_unreadable(size) or at_least(size, LARGEST_SIZE + 1)
    return found


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
