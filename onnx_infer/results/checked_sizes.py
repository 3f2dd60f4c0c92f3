"""Sizes of symbols as a caller gives them, checked in one way by every call that takes some."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from onnx_infer.errors import UnknownSymbol
from onnx_infer.types.join import variables_in
from symdim import UnboundName, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import checked_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.results.inferred import Inferred

Key = TypeVar("Key", str, Var, "str | Var")


def checked_sizes(
    given: Mapping[Key, int], needed: Iterable[Var], others: Mapping[str, Var] | None = None, option: str = "sizes"
) -> dict[Key, int]:
    """The given sizes, by symbol or name. All `needed` symbols must have one; `others` by name may have one.

    Raises UnboundName for needed symbols without a size, UnknownSymbol for names that are neither, BoundsError for
    sizes outside the bounds of their symbols, and TypeError for what is no int.

    >>> N, H = Var("N"), Var("H")
    >>> checked_sizes({N: 2, "H": 3}, [N, H])
    {N: 2, 'H': 3}
    >>> checked_sizes({"N": 2, "h": 3}, [N], {"H": H})
    Traceback (most recent call last):
    ...
    onnx_infer.errors.UnknownSymbol: sizes: the model has no symbol 'h'; its symbols are 'H', 'N'; do you mean 'H'?
    """
    needed = tuple(needed)
    known = {**(others or {}), **{v.name: v for v in needed}}
    names = [key.name if isinstance(key, Var) else key for key in given]
    if unknown := [name for name in names if name not in known]:
        raise UnknownSymbol(option, unknown, known)
    if missing := sorted(v.name for v in needed if v not in given and v.name not in given):
        raise UnboundName(tuple(missing))
    for key, name in zip(given, names, strict=True):
        checked_size(key if isinstance(key, Var) else known[name], given[key])
    return dict(given)


def nameable(result: Inferred) -> dict[str, Var]:
    """All that may have a size in a call, by name: symbols of the model, data-dependent sizes, elements of inputs."""
    kept: dict[str, Var] | None = vars(result._engine).get("nameable")
    if kept is not None:  # a result from a pickle has no model
        return kept
    found = [v for value in dict.fromkeys(result.types.values()) for v in variables_in(value)]
    found += [v for guard in (*result.guards, *result.data_guards) for v in guard.variables()]
    found += variables_of(dim for _, dim in result.sources.axes)
    return {**result._engine.symbols.known(), **{v.name: v for v in found}}
