"""The operators of one set of opset imports, each bound to its rule once per process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .binding import Operator
from .registration import normal_domain, registry
from .schema import find_schema, read_schema, schema_of_rule

if TYPE_CHECKING:
    from collections.abc import Mapping

_bound: dict[tuple[str, str, int, int], Operator | None] = {}


def bind(domain: str, op_type: str, version: int) -> Operator | None:
    """The operator at an opset version with its rule, or None where there is no rule for it."""
    domain = normal_domain(domain)
    rule = registry.get(domain, op_type, version)
    key = (domain, op_type, version, registry.generation)
    if key not in _bound:
        _bound[key] = None
        if rule is not None:
            found = find_schema(domain, op_type, version) if rule.inputs is None else None
            _bound[key] = Operator(rule, read_schema(found) if found else schema_of_rule(rule))
    return _bound[key]


class Operators(dict[tuple[str, str], "Operator | None"]):
    """(domain, op_type) -> the operator at the imported version; filled when first asked for.

    A domain that is not imported is read at its newest version.
    """

    def __init__(self, opsets: Mapping[str, int]) -> None:
        super().__init__()
        self._opsets = opsets

    def version(self, domain: str) -> int:
        """The imported version of a domain."""
        return self._opsets.get(normal_domain(domain), NEWEST)

    def __missing__(self, key: tuple[str, str]) -> Operator | None:
        operator = self[key] = bind(*key, self.version(key[0]))
        return operator


NEWEST = 1 << 30
"""The version asked for where a domain is not imported: whatever is newest."""
