"""The operators of one set of opset imports, each bound to its rule once per process.

An operator makes the arguments of its rule from a node, and values from the rule's results.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.arithmetic import SELECT, convert
from onnx_infer.elements.lifting import SAME, Lifted
from onnx_infer.elements.progressions import is_vector, repeated
from onnx_infer.elements.ratio import Rounding
from onnx_infer.elements.samples import moved, named_element, of_function
from onnx_infer.errors import OpUsageError, Unknown
from onnx_infer.laws.readable import is_unreadable
from onnx_infer.laws.statements import is_contradicted
from onnx_infer.model.graph import normal_domain
from onnx_infer.operators.arguments import TENSORS, Arguments, Asked, Bound
from onnx_infer.operators.element_types import ElementTypes, check_attributes, check_inputs, result_value
from onnx_infer.operators.known_schemas import newest_known, outdated, schema_at
from onnx_infer.operators.registration import registry
from onnx_infer.operators.rule import NO_TRAITS
from onnx_infer.operators.schema import NEWEST, opened, schema_of_rule
from onnx_infer.values.dtype import INT64, NAMES, SIGNIFICAND
from onnx_infer.values.tensor import MAX_DATA, SymTensor, Value, is_small
from symdim import Var
from symdim.algebra.caches import Cache

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.model.graph import Attributes
    from onnx_infer.operators.arguments import Parameter
    from onnx_infer.operators.rule import Rule, Traits
    from onnx_infer.operators.schema import Schema

# As loaded families do, operators stay when caches are emptied: they tell nothing of a model.
_operators = Cache(1 << 13)  # (rule, since_version, of a later opset) -> Operator
_tables = Cache(1 << 7)  # (generation of the registry, opset imports) -> Operators

_FAR = 2**62
_MOST_ROUNDED = 3
"""The most floats of a tensor that are functions of sizes: one for each axis of a volume. More are coordinates."""

_ONE = ((), (1,))
"""The shapes of one element."""


class Operator:
    """A rule bound to one version of an operator. `infer` applies it to input values and attributes.

    `wants` and `reads` say for each input whether the rule, or its data function, uses the elements. Only these
    elements are read from the model, and only they decide whether a remembered result applies.
    """

    def __init__(self, rule: Rule, schema: Schema) -> None:
        self.rule, self.schema = rule, schema
        by_name = rule.style == "schema"
        self._arguments = Arguments(rule.shape, schema) if by_name else None
        plain = rule.data is not None and hasattr(rule.data, "__code__")
        self._data_arguments = Arguments(rule.data, schema, arrays=True) if rule.data is not None and plain else None
        self._dtype_arguments = Arguments(rule.dtype, schema) if rule.dtype is not None else None
        self.types = ElementTypes(schema, by_default=rule.dtype is None)
        asked = (*self.parameters, *(self._dtype_arguments.parameters if self._dtype_arguments else ()))
        self.wants = frozenset(p.at for p in asked if p.source in ("input", "variadic") and p.want not in TENSORS)
        used = self._data_arguments.parameters if self._data_arguments else None
        if rule.data is None:
            # a function on the context may use any value
            self.reads: frozenset[int] = frozenset() if by_name else frozenset(range(MAX_DATA))
        elif used is None:
            self.reads = frozenset(range(1 if rule.data is SAME else len(schema.inputs)))
        else:
            self.reads = frozenset(p.at for p in used if p.source in ("input", "variadic"))
        self.follows = rule.moves or isinstance(rule.data, Lifted)
        self.selects = rule.data is SAME or rule.data is SELECT
        """Whether an element of the result may be one of two numbers, of which an element of an operand decides."""
        self.partial = frozenset(p.at for p in used or () if p.admits_unknown)
        self.asks = bool(self.wants or self.reads)
        self._asked = Cache(1 << 6)  # number of inputs -> Asked

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the rule's shape function; empty for a function on the context."""
        return self._arguments.parameters if self._arguments is not None else ()

    def asked(self, count: int) -> Asked:
        """The inputs that the rule and its data function ask for, for this number of actual inputs."""
        asked_of: Asked | None = self._asked.get(count)
        if asked_of is None:
            sets = self.wants, self.reads - self.partial, self.wants | self.reads
            at = [self.types.position(i) for i in range(count)]
            kinds = [tuple(i for i, formal in enumerate(at) if formal in asked) for asked in sets]
            asked_of = self._asked[count] = Asked(*kinds)
        return asked_of

    # -- one node -------------------------------------------------------------------------------------------------

    def infer(
        self, inputs: tuple[Value | None, ...], attributes: Attributes, output_count: int
    ) -> tuple[tuple[Value, ...], str | None, str | None]:
        """The values of the outputs, why something in them is unknown, and why the schema does not allow the node.

        Raises `OpUsageError` and `ShapeInferenceError` with only the law; the engine adds operator and node.
        """
        known = self.types.of_outputs(inputs, output_count)
        bound = attributes.made.get(self) or self.bind(attributes)
        dtypes, note = self._dtypes(known, bound, inputs), None
        if self._arguments is None:
            values = self._call_with_context(inputs, attributes, output_count)
            return values, None, bound.wrong or self.types.misuse(inputs, values)
        try:
            results = self.rule.shape(**self._arguments(inputs, bound.shape, dtypes))
        except Unknown as unknown:
            results, note = [None] * output_count, unknown.note
        if not isinstance(results, list):
            results = [results]
        outputs = []
        for i, dtype in enumerate(dtypes):
            result = results[i] if i < len(results) else None
            outputs.append(self.types.unknown(i, dtype, inputs) if result is None else result_value(result, dtype))
        if self.rule.data is not None and note is None and not is_contradicted():
            self._propagate(outputs, inputs, bound, dtypes)
            if self.follows:
                outputs[0] = self._follow(outputs[0], inputs)
        if not is_contradicted():
            for i, x in enumerate(outputs):
                if isinstance(x, SymTensor) and x.shape in _ONE:
                    outputs[i] = named_element(x, i)
        values = tuple(outputs)
        return values, note, bound.wrong or self.types.misuse(inputs, values)

    def bind(self, attributes: Attributes) -> Bound:
        """The operator with these attributes, which keep it; raises `OpUsageError` for attributes of a wrong kind."""
        wrong = check_attributes(self.schema, attributes.values)
        functions = self._arguments, self._data_arguments, self._dtype_arguments
        parts = [{} if each is None else each.of_attributes(attributes.values) for each in functions]
        bound = attributes.made[self] = Bound(wrong, *parts)
        return bound

    def _call_with_context(
        self, inputs: tuple[Value | None, ...], attributes: Attributes, output_count: int
    ) -> tuple[Value, ...]:
        from onnx_infer import Node, ShapeInferenceContext, ValueInfo  # few rules need it

        operands = [None if value is None else ValueInfo(f"input {i}", value) for i, value in enumerate(inputs)]
        outputs = [ValueInfo(f"output {i}") for i in range(output_count)]
        node = Node(self.schema.name, operands, outputs, attributes.values, domain=self.schema.domain)
        self.rule.shape(ShapeInferenceContext({self.schema.domain: self.schema.since_version}), node)
        return tuple(output.type for output in outputs)

    def misuse(
        self, inputs: tuple[Value | None, ...], attributes: Attributes, outputs: tuple[Value, ...]
    ) -> str | None:
        """Why the schema does not allow a node whose sizes are clear anyway, or None."""
        try:
            check_inputs(self.schema, inputs)
            return self.bind(attributes).wrong or self.types.misuse(inputs, outputs)
        except OpUsageError as e:
            return str(e)

    # -- element types --------------------------------------------------------------------------------------------

    def _dtypes(self, known: list[int | None], bound: Bound, inputs: tuple[Value | None, ...]) -> list[int | None]:
        """The element types of the outputs, for a node that the schema allows."""
        if self._dtype_arguments is None:
            return known
        assert self.rule.dtype is not None
        out = known.copy()
        try:
            said = self.rule.dtype(**self._dtype_arguments(inputs, bound.dtype, out))
        except Unknown:
            said = None
        for i, dtype in enumerate(said if isinstance(said, (list, tuple)) else [said]):
            if dtype is not None and i < len(out):
                if dtype not in NAMES:
                    raise OpUsageError(f"no such element type: {dtype}")
                out[i] = dtype
        return out

    def unknowns(
        self, inputs: tuple[Value | None, ...], attributes: Attributes, output_count: int
    ) -> tuple[Value, ...]:
        """The results of a node whose rule failed, as far as the schema determines them."""
        try:
            dtypes = self._dtypes(self.types.of_outputs(inputs, output_count), self.bind(attributes), inputs)
        except ValueError:
            dtypes = [None] * output_count
        return tuple([self.types.unknown(i, dtype, inputs) for i, dtype in enumerate(dtypes)])

    # -- data -----------------------------------------------------------------------------------------------------

    def _propagate(
        self, values: list[Value], inputs: tuple[Value | None, ...], bound: Bound, dtypes: list[int | None]
    ) -> None:
        """Compute the data of the outputs, if they are small and the data that they need are known."""
        for i in self.asked(len(inputs)).needs:
            value = inputs[i]
            if value is not None and value.data is None:
                return
        if not any(map(is_small, values)):
            return
        if self.partial:
            position = self.types.position
            unknown = [position(i) for i, value in enumerate(inputs) if value is not None and value.data is None]
            if len(unknown) == len(inputs) and not self.reads.isdisjoint(unknown):
                return
        try:
            results = self._data(values[0], inputs, bound, dtypes)
        except Unknown:
            return
        for i, result in enumerate(results[: len(values)]):
            value = values[i]
            if result is None or not is_small(value):
                continue
            assert isinstance(value, SymTensor)
            dtype = value.dtype
            flat = self._flat(result, value)
            if dtype in SIGNIFICAND and sum([isinstance(x, Rounding) for x in flat]) > _MOST_ROUNDED:
                flat = [None if isinstance(x, Rounding) else x for x in flat]
            elements = [_held(x, dtype) for x in flat]
            if not elements or elements.count(None) < len(elements):
                samples = value.samples if None in elements else ()
                values[i] = SymTensor(value.dtype, value.shape, elements, samples=samples)

    def _data(
        self, first: Value, inputs: tuple[Value | None, ...], bound: Bound, dtypes: list[int | None]
    ) -> list[Any]:
        """The results of the data function, one per output; raises `Unknown` if it cannot compute them."""
        data = self.rule.data
        assert data is not None
        if self._data_arguments is not None:
            results = data(**self._data_arguments(inputs, bound.data, dtypes))
        else:
            tensors = [x for x in inputs if isinstance(x, SymTensor)]
            if isinstance(data, Lifted) and isinstance(first, SymTensor) and is_small(first):
                return [data.of(first.dims, tensors)]
            results = data(*[x.array for x in tensors])
        return results if isinstance(results, list) else [results]

    def _follow(self, value: Value, inputs: tuple[Value | None, ...]) -> Value:
        """The value with `fill` or `samples`, if not all of its elements are known; see `elements/samples.py`."""
        if not isinstance(value, SymTensor) or value.shape is None or value.data is not None:
            return value
        operands = [x for x in inputs if x is not None]
        data = self.rule.data
        known = [isinstance(x, SymTensor) and x.has_elements for x in operands]
        if True not in known or (False in known and isinstance(data, Lifted) and data.is_strict):
            return value
        if data is SAME or self.rule.moves:
            if not isinstance(operands[0], SymTensor):
                return value
            same = self.rule.traits.same
            keeps_order = data is SAME or same == "alike" or (same is not None and is_vector(operands[0]))
            return moved(operands[0], repeated(operands[0], value) if keeps_order else value)
        assert isinstance(data, Lifted)
        return of_function(data.function, operands, value)

    def _flat(self, result: Any, tensor: SymTensor) -> list[Any]:
        """The elements of a data function's result. It must have the shape of the rule's tensor."""
        if isinstance(self.rule.data, Lifted) and type(result) is list:  # a list has no shape to compare
            shape, elements = (len(result),), result
            fits = len(result) == prod(tensor.dims)
        else:
            array = np.asarray(result, dtype=object)
            shape, elements = array.shape, array.ravel().tolist()
            fits = shape == tensor.shape
        if not fits:
            raise AssertionError(f"{self.schema.title}: the data have shape {shape}, the result {tensor.shape}")
        return elements


def _held(x: Any, dtype: int | None) -> Any:
    """An element of a result as its element type holds it; None if it is not known or its expression is too large."""
    if dtype == INT64 and (isinstance(x, Var) or (type(x) is int and -_FAR < x < _FAR)):
        return x  # the usual ones, which need no conversion
    return None if is_unreadable(x) else convert(x, dtype)


def bind(domain: str, op_type: str, version: int) -> Operator | None:
    """The operator at an opset version with its rule, or None if it has no rule.

    It is the same object for all opset versions with the same schema and rule, so remembered outcomes stay valid.
    """
    domain = normal_domain(domain)
    rule = registry.get(domain, op_type, version)
    return None if rule is None else operator_of(rule, domain, op_type, version)


def operator_of(rule: Rule, domain: str, op_type: str, version: int) -> Operator:
    """The operator of this name at an opset version, bound to the rule."""
    schema = schema_at(domain, op_type, version) if rule.inputs is None else None
    known = newest_known(domain)
    is_later = known is not None and known < version != NEWEST
    key = rule, 0 if schema is None else schema.since_version, is_later
    operator: Operator | None = _operators.get(key)
    if operator is None:
        plain = schema or schema_of_rule(rule)
        operator = _operators.setdefault(key, Operator(rule, opened(plain) if is_later else plain))
    return operator


class Operators(Cache):
    """(domain, op_type) -> the operator at the imported version, or None; filled at the first look-up.

    A domain that is not imported is read at its newest version.
    """

    def __init__(self, opsets: Mapping[str, int]) -> None:
        super().__init__(1 << 12)
        self._opsets = opsets
        self.imports = tuple(sorted(opsets.items()))

    @cached_property
    def outdated(self) -> str | None:
        """The warning about imports that are newer than the known schemas; None if all are known."""
        return outdated(self._opsets)

    def version(self, domain: str) -> int:
        """The imported version of a domain."""
        return self._opsets.get(normal_domain(domain), NEWEST)

    def traits(self, op_type: str, domain: str) -> Traits:
        """What the rule of an operator says besides its types."""
        operator = self[domain, op_type]
        return NO_TRAITS if operator is None else operator.rule.traits

    def __missing__(self, key: tuple[str, str]) -> Operator | None:
        operator = self[key] = bind(*key, self.version(key[0]))
        return operator


def operators_of(opsets: Mapping[str, int]) -> Operators:
    """The operators of these opset imports, the same table for all models with them."""
    key = registry.generation, frozenset(opsets.items())
    operators: Operators | None = _tables.get(key)
    if operators is None:
        operators = _tables[key] = Operators(dict(opsets))
    return operators
