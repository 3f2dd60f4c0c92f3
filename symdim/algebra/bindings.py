"""Sizes of variables, checked when the mapping is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from symdim.algebra.evaluate import checked_size
from symdim.algebra.expr import as_dim
from symdim.algebra.variable import Var
from symdim.errors import BoundsError, printable


class Bindings(Mapping[str | Var, int]):
    """An immutable mapping from variables, or names, to sizes; `evaluate` and `bind` take it.

    A variable stands for itself, a name for every variable of that name. A size outside the bounds of its variable
    raises BoundsError at once; the size of a name is checked when it is used for a variable. A variable and its name
    with different sizes raise BoundsError too.

    >>> n = Var.fresh("n", 1, 100)
    >>> five = Bindings({n: 5}, batch=2)
    >>> (2 * n + 1).evaluate(five), five | {n: 6}, five
    (11, Bindings(n=6, batch=2), Bindings(n=5, batch=2))
    """

    __slots__ = ("_sizes",)

    _sizes: dict[str | Var, int]

    def __init__(self, sizes: Mapping[Any, int] | None = None, /, **named: int) -> None:
        merged: dict[str | Var, int] = {}
        for key, given in {**(sizes or {}), **named}.items():
            size = as_dim(given)
            if not isinstance(key, (str, Var)) or not isinstance(size, int):
                raise TypeError(f"a binding is a variable or a name, and an int; not {key!r}: {given!r}")
            merged[key] = checked_size(key, size) if isinstance(key, Var) else size
        for key, size in merged.items():
            if isinstance(key, Var) and merged.get(key.name, size) != size:
                raise BoundsError(f"{key.name!r} is bound to {size} as a variable and to {merged[key.name]} by name")
        object.__setattr__(self, "_sizes", merged)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Bindings are immutable: {name}")

    def __getitem__(self, key: str | Var) -> int:
        return self._sizes[key]

    def __iter__(self) -> Iterator[str | Var]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __or__(self, other: Mapping[Any, int]) -> Bindings:
        return Bindings({**self._sizes, **other})

    def __hash__(self) -> int:
        return hash(frozenset(self._sizes.items()))

    def __reduce__(self) -> tuple[object, ...]:
        return Bindings, (self._sizes,)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{k.name if isinstance(k, Var) else k}={size}" for k, size in self._sizes.items())
        return f"Bindings({printable(sizes)})"
