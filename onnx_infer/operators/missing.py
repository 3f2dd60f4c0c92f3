"""Why an operator has no rule, and the cure, as the end of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from onnx_infer.operators.known_schemas import exists, newest_known
from onnx_infer.operators.registration import normal_domain, registry
from onnx_infer.operators.schema import NEWEST
from symdim.algebra.caches import shared_cache
from symdim.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Collection

_cures = shared_cache(1 << 8)  # (generation of the registry, arguments) -> the result of `cure_of_missing`


def cure_of_missing(domain: str, op_type: str, version: int, functions: Collection[tuple[str, str]] = ()) -> str:
    """What a user can do about an operator without a rule at an opset version.

    `functions` are the (domain, name) of the model's functions, which a node can call as it calls operators.

    >>> cure_of_missing("", "Gelu", 17)
    'it exists since opset 20, and the model imports 17: convert the model (onnx.version_converter)'
    >>> cure_of_missing("", "FusedMatMul", 17)
    'com.microsoft has an operator of this name: is the domain of the node right?'
    >>> cure_of_missing("com.microsoft", "FusedMatmul", 1)
    'do you mean FusedMatMul?'
    >>> cure_of_missing("com.acme", "Interleave", 1)
    'register one with onnx_infer.rules.op'
    """
    key = registry.generation, domain, op_type, version, frozenset(functions)
    found: str | None = _cures.get(key)
    return _cures.setdefault(key, _cure(normal_domain(domain), *key[2:])) if found is None else found


def _cure(domain: str, op_type: str, version: int, functions: frozenset[tuple[str, str]]) -> str:
    since = _first_version(domain, op_type, version)
    if since is not None:
        imported = f"the model imports {version}: convert the model (onnx.version_converter)"
        return f"it exists since opset {since}, and {imported}"
    known = {(name_domain, name) for name_domain, name, _ in registry.supported()}.union(functions)
    others = sorted({d or "ai.onnx" for d, name in known if name == op_type and d != domain})
    if others:
        return f"{' and '.join(others)} has an operator of this name: is the domain of the node right?"
    if meant := nearest(op_type, (name for d, name in sorted(known) if d == domain), likeness=0.8):
        return f"do you mean {meant}?"
    why = f"the model does not import {domain}; " if version == NEWEST else ""
    return f"{why}register one with onnx_infer.rules.op"


def _first_version(domain: str, op_type: str, version: int) -> int | None:
    """The first opset version after this one at which the operator exists. None if onnx does not know one."""
    if exists(domain, op_type, version):
        return None
    newest = newest_known(domain) or onnx.defs.get_schema(op_type, domain=domain).since_version  # of a user's domain
    return next((v for v in range(max(version, 0) + 1, newest + 1) if exists(domain, op_type, v)), None)
