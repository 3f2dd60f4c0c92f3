"""The operators of one set of opset imports, each bound to its rule once per process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.operators.known_schemas import newest_known, schema_at
from onnx_infer.operators.operator import Operator
from onnx_infer.operators.registration import normal_domain, registry
from onnx_infer.operators.rule import NO_FACETS
from onnx_infer.operators.schema import NEWEST, opened, schema_of_rule
from symdim.algebra.caches import Cache

if TYPE_CHECKING:
    from collections.abc import Mapping

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
