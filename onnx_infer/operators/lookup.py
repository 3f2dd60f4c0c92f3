"""The operators of one set of opset imports, each bound to its rule once per process; a rule as a function.

At the end: why an operator has no rule, and the cure.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import onnx

from onnx_infer.errors import OnnxInferError, OpUsageError
from onnx_infer.laws.statements import Trace
from onnx_infer.model.graph import Attributes, normal_domain
from onnx_infer.operators.known_schemas import exists, newest_known, outdated, schema_at
from onnx_infer.operators.operator import Operator
from onnx_infer.operators.registration import registry
from onnx_infer.operators.rule import NO_FACETS
from onnx_infer.operators.schema import NEWEST, opened, schema_of_rule
from symdim.algebra.caches import Cache
from symdim.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from onnx_infer.operators.context import Node, ShapeInferenceContext
    from onnx_infer.operators.rule import Facets, Rule

# As loaded families do, operators stay when caches are emptied: they tell nothing of a model.
_operators = Cache(1 << 13)  # (rule, since_version, of a later opset) -> Operator
_tables = Cache(1 << 7)  # (generation of the registry, opset imports) -> Operators


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
    found: Operator | None = _operators.get(key)
    if found is None:
        plain = schema or schema_of_rule(rule)
        found = _operators.setdefault(key, Operator(rule, opened(plain) if is_later else plain))
    return found


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

    def facets(self, op_type: str, domain: str) -> Facets:
        """What the rule of an operator says besides its types."""
        operator = self[domain, op_type]
        return NO_FACETS if operator is None else operator.rule.facets

    def __missing__(self, key: tuple[str, str]) -> Operator | None:
        operator = self[key] = bind(*key, self.version(key[0]))
        return operator


def operators_of(opsets: Mapping[str, int]) -> Operators:
    """The operators of these opset imports, the same table for all models with them."""
    key = registry.generation, frozenset(opsets.items())
    found: Operators | None = _tables.get(key)
    if found is None:
        found = _tables[key] = Operators(dict(opsets))
    return found


def cure_of_missing(domain: str, op_type: str, version: int, functions: Collection[tuple[str, str]] = ()) -> str:
    """What a user can do about an operator without a rule at an opset version.

    `functions` are the (domain, name) of the model's functions, which a node can call as it calls operators.

    >>> cure_of_missing("", "Gelu", 17)
    'it exists from opset 20, and the model imports 17: convert the model (onnx.version_converter)'
    >>> cure_of_missing("", "FusedMatMul", 17)
    'com.microsoft has an operator of this name: is the domain of the node right?'
    >>> cure_of_missing("com.microsoft", "FusedMatmul", 1)
    'do you mean FusedMatMul?'
    >>> cure_of_missing("com.acme", "Interleave", 1)
    'add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)'
    """
    domain = normal_domain(domain)
    since = _first_version(domain, op_type, version)
    if since is not None:
        imported = f"the model imports {version}: convert the model (onnx.version_converter)"
        return f"it exists from opset {since}, and {imported}"
    known = {(name_domain, name) for name_domain, name, _ in registry.supported()}.union(functions)
    others = sorted({d or "ai.onnx" for d, name in known if name == op_type and d != domain})
    if others:
        return f"{' and '.join(others)} has an operator of this name: is the domain of the node right?"
    if len(op_type) > 2 and (meant := nearest(op_type, (name for d, name in sorted(known) if d == domain))):
        return f"do you mean {meant}?"
    why = f"the model does not import {domain}; " if version == NEWEST else ""
    return f"{why}add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)"


def _first_version(domain: str, op_type: str, version: int) -> int | None:
    """The first opset version after this one at which the operator exists. None if onnx does not know one."""
    if exists(domain, op_type, version):
        return None
    newest = newest_known(domain) or onnx.defs.get_schema(op_type, domain=domain).since_version  # of a user's domain
    return next((v for v in range(max(version, 0) + 1, newest + 1) if exists(domain, op_type, v)), None)


def call_rule(rule: Rule, ctx: ShapeInferenceContext, node: Node) -> None:
    """Apply a rule to a node. The types of its outputs are merged into those of the node's values.

    Raises `OpUsageError` for a node that does not follow the operator's schema. Broken laws go to `ctx.record_error`.

    >>> from onnx_infer import Node, ShapeInferenceContext, ValueInfo, registry
    >>> from onnx_infer.testing import ts
    >>> ctx, y = ShapeInferenceContext({"": 20}), ValueInfo("y")
    >>> registry.get("", "Flatten", 20)(ctx, Node("Flatten", [ValueInfo("x", ts(1, ["N", 3, 4]))], [y], {"axis": 1}))
    >>> y
    y: f32[N, 12]
    """
    if rule.style == "context":
        rule.shape(ctx, node)
        return
    version = ctx.get_opset_version(rule.domain)
    operator = operator_of(rule, rule.domain, node.op_type, NEWEST if version is None else version)
    inputs = tuple([None if value is None else value.type for value in node.inputs])
    with Trace() as trace:
        try:
            values, _, wrong = operator.infer(inputs, Attributes(node.attributes), len(node.outputs))
        except OpUsageError:
            raise
        except OnnxInferError as error:
            ctx.record_error(node, str(error))
            return
    for output, value in zip(node.outputs, values, strict=True):
        ctx.set_type(output, value)
    for law in (*trace.errors, *([wrong] if wrong else ())):
        ctx.record_error(node, law)
