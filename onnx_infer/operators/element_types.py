"""What an operator's schema says of types: those of the outputs, and whether it allows those of a node."""

from __future__ import annotations

from typing import Any, TypeAlias

from onnx_infer.operators.schema import Schema, fixed_dtype
from onnx_infer.operators.verification import check_inputs, check_types
from onnx_infer.types.join import kind_of
from onnx_infer.values.tensor import Optional, Sequence, SymTensor, Value
from symdim.algebra.caches import Cache

Types: TypeAlias = tuple[Any, ...]
"""The values as schemas see them: the element types of tensors (0: unknown); other values unchanged."""


def types_of(values: tuple[Value | None, ...]) -> Types:
    """The values as schemas see them."""
    return tuple([v.dtype or 0 if isinstance(v, SymTensor) else v for v in values])


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
        self._outputs = Cache(1 << 8)  # types of operands, number of outputs -> element types of outputs
        self._misuse = Cache(1 << 8)  # types of operands, of outputs -> why the schema does not allow them

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

    def of_outputs(self, types: Types, inputs: tuple[Value | None, ...], count: int) -> list[int | None]:
        """The element types of the outputs. Raises `OpUsageError` for inputs that are too many, too few or missing."""
        key = types, count
        found: list[int | None] | None = self._outputs.get(key)
        if found is None:
            check_inputs(self._schema, inputs)
            found = [self._of_output(inputs, i) for i in range(count)]
            if _are_plain(types):
                self._outputs[key] = found
        return found

    def misuse(self, types: Types, inputs: tuple[Value | None, ...], outputs: tuple[Value, ...]) -> str | None:
        """Why the schema does not allow the types of a node, or None; `types` are those of its inputs."""
        made = types_of(outputs)
        key = types, made
        found: str | None = self._misuse.get(key, "unread")
        if found == "unread":
            found = check_types(self._schema, inputs, outputs)
            if _are_plain(types) and _are_plain(made):
                self._misuse[key] = found
        return found

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
    while value is not None and not hasattr(value, "dtype"):
        value = getattr(value, "elem", None)
    return getattr(value, "dtype", None)
