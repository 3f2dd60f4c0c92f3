"""The names that an earlier inference gave to the sizes inside of a graph: inferring again changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.laws.sizes import is_fresh
from onnx_infer.model.symbols import GENERATED
from onnx_infer.types.join import sizes
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import Var
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.symbols import Size
    from onnx_infer.values.tensor import Dim, Value


def with_former_names(declared: Iterable[tuple[str, Sequence[Size]]], scope: Scope) -> dict[str, Value]:
    """The values of a graph, its fresh sizes under the names that the shapes declared for its tensors have for them.

    Only names that inference generates are taken over, one for each size, and only where no other size has them.
    """
    names: dict[Var, str] = {}
    for name, dims in declared:
        value = scope.get(name)
        if isinstance(value, SymTensor) and value.shape is not None and len(value.shape) == len(dims):
            for old, new in zip(dims, value.shape, strict=True):
                if not isinstance(old, str) or not GENERATED.fullmatch(old):
                    continue
                if not isinstance(new, Var) or not is_fresh(new):
                    continue
                if names.setdefault(new, old) != old:
                    return dict(scope)
    variables = set(variables_of(d for x in scope.values() for d in sizes(x)))
    others = {v.name for v in variables if v not in names}
    given = set(names.values())
    if len(given) < len(names) or not others.isdisjoint(given):
        return dict(scope)
    renamed: dict[Var, Dim] = {
        v: Var.fresh(name, v.lo or 0, v.hi, v.at_most, v.origin) for v, name in names.items() if v.name != name
    }
    return {name: substitute(value, renamed) for name, value in scope.items()} if renamed else dict(scope)
