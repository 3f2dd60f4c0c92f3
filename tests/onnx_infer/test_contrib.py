"""onnxruntime's operators against its own schemas: every one has a rule whose names are the schema's."""

from __future__ import annotations

from functools import lru_cache
from inspect import unwrap
from types import FunctionType
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from onnx_infer import OpShapeInferenceRegistry, OpUsageError, registry
from onnx_infer.model.graph import Attributes
from onnx_infer.operators.operator import Operator, bind
from onnx_infer.operators.schema import COLLECTIONS, SCALES, schema_of_rule
from onnx_infer.testing import read_value

from .sessions import VERSION

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRanks, Shape, SymTensor

DOMAINS = ("com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc")
SPECIAL = {"output_count", "output_dtype", "since_version"}
ADDED = {
    "CausalConvWithState": "state_length state_channels_last input_channels input_channel_offset state_update_capacity",
    "DynamicSparseAttention": "committed_length key_scale value_scale output_bf16",
    "GatedAdd": "gate_weight",
    "GroupQueryAttention": "query_seqlens",
    "PackedSparseAttentionIndexer": "indexshare_mode merged_indices merged_counts merged_status max_output_entries",
    "VarlenCausalConvWithState": "kernel_delta previous_mask",
}
"""Inputs and attributes that onnxruntime 1.32 added to operators of its own."""


def added(name: str) -> set[str]:
    """The names that the installed onnxruntime does not have yet in an operator."""
    return set(ADDED.get(name, "").split()) if VERSION < (1, 32) else set()


@lru_cache
def schemas() -> dict[tuple[str, str, int], Any]:
    """onnxruntime's schemas of its own domains."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found = state.get_all_operator_schema()
    return {(s.domain, s.name, s.since_version): s for s in found if s.domain in DOMAINS}


def test_every_operator_has_a_rule() -> None:
    assert [key for key in schemas() if bind(*key) is None] == []


def option(formal: Any) -> str:
    return {"Optional": "?", "Variadic": "*"}.get(str(formal.option).rpartition(".")[2], "")


def test_the_inputs_are_the_schema_s() -> None:
    """The schemas of com.ms.internal.nhwc say of no input whether it is optional."""
    for (domain, name, version), schema in schemas().items():
        operator = bind(domain, name, version)
        assert operator is not None
        theirs = [formal.name + option(formal) for formal in schema.inputs]
        known = [f for f in operator.schema.inputs if f.name not in added(name)]
        ours = [f.name + "?" * f.optional + "*" * f.variadic for f in known]
        if domain == "com.ms.internal.nhwc":
            theirs, ours = [n.rstrip("?") for n in theirs], [n.rstrip("?") for n in ours]
        assert ours == theirs, (domain, name, version)


def test_the_parameters_of_rules_are_names_of_the_schemas_they_serve() -> None:
    names: dict[Any, set[str]] = {}
    functions: dict[Any, tuple[FunctionType, tuple[str, str, int]]] = {}
    for key, schema in schemas().items():
        operator = bind(*key)
        assert operator is not None
        for function in (operator.rule.shape, operator.rule.dtype):
            if function is not None:
                known = names.setdefault(unwrap(function), set())
                known |= {formal.name for formal in schema.inputs} | set(schema.attributes) | added(schema.name)
                functions[unwrap(function)] = (function, key)
    for plain, (_, key) in functions.items():
        count = plain.__code__.co_argcount + plain.__code__.co_kwonlyargcount
        collections = {name for name, want in plain.__annotations__.items() if want in {SCALES, *COLLECTIONS}}
        unknown = set(plain.__code__.co_varnames[:count]) - names[plain] - SPECIAL - collections
        # the rules of ONNX's operators have names of other versions too
        assert plain.__module__.startswith("onnx_infer.ops.contrib") <= (not unknown), (key, unknown)


def test_required_attributes_are_the_schema_s() -> None:
    for key, schema in schemas().items():
        operator = bind(*key)
        assert operator is not None
        theirs = {name for name, attribute in schema.attributes.items() if attribute.required}
        assert operator.schema.required <= theirs, key


def test_the_defaults_of_attributes_are_the_schema_s() -> None:
    """A rule's default is the schema's, or a value that stands for an absent attribute."""
    for key, schema in schemas().items():
        operator = bind(*key)
        assert operator is not None
        for parameter in operator.parameters:
            attribute = schema.attributes.get(parameter.name)
            if attribute is None or parameter.source != "attribute" or not attribute._default_value:
                continue
            given = onnx.AttributeProto.FromString(attribute._default_value)
            expected = onnx.helper.get_attribute_value(given)
            expected = expected.decode() if isinstance(expected, bytes) else expected
            assert parameter.default == expected, (key, parameter.name)


def test_a_rule_with_named_inputs_takes_those_it_uses() -> None:
    own = OpShapeInferenceRegistry()

    @own.op("Twice", domain="com.acme", inputs="X scale? rest*", dtype=lambda scale: scale.dtype)
    def twice(X: SymTensor, rest: AnyRanks, times: int, bias: int | None, axis: int = -1) -> Shape:
        return (*X.dims, times, len(rest), axis)

    rule = own.get("com.acme", "Twice", 1)
    assert rule is not None
    operator = Operator(rule, schema_of_rule(rule))
    assert operator.schema.required == {"times"}
    inputs = tuple(read_value(text) for text in ("f32[N]", "f16[]", "f32[...]", "f32[2]"))
    (value,), _, _ = operator.infer(inputs, Attributes({"times": 3, "axis": 7}), 1)
    assert str(value) == "f16[N, 3, 2, 7]"
    with pytest.raises(OpUsageError, match="required input X is missing"):
        operator.infer((None, *inputs[1:]), Attributes({"times": 3}), 1)
    with pytest.raises(OpUsageError, match="required attribute times is missing"):
        operator.infer(inputs, Attributes({}), 1)


def test_onnxruntime_s_layer_normalization_precedes_the_one_of_onnx() -> None:
    rules = [registry.get("", "LayerNormalization", version) for version in (1, 16, 17)]
    assert [rule and rule.since for rule in rules] == [1, 1, 17]
