"""The symbols of one model: how its dim_params are read, and names for what is fresh."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from onnx_infer.values.tensor import VARIES
from symdim import Scope, SymdimError, Var, parse, read_dim_param
from symdim.algebra.caches import clear_with_caches
from symdim.algebra.origin import Declared

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.values.tensor import Dim

Size: TypeAlias = "int | str | None"
"""A size as a model declares it: a number, a dim_param, or nothing."""

GENERATED = re.compile(r"\b_d\d+\b")
"""The names that inference gives to sizes."""


@lru_cache(maxsize=64)
def _scope(lo: int, hi: int | None) -> Scope:
    """The name space of the symbols with these bounds; kept, so that what is remembered serves the next inference."""
    return Scope()


clear_with_caches(_scope.cache_clear)


class Symbols:
    """Reads dims as sizes, and gives fresh names that collide with none of the model's.

    `declared` are the dim_params of the graph's inputs: a name among them is a symbol >= `min_dim`; a text over such
    names is read as the expression (`2*H`, `past + seq`), any other text is an opaque symbol that keeps its spelling.
    Names that only other values declare are sizes >= 0. `bounds` gives symbols other intervals (both ends inclusive).

    >>> symbols = Symbols(["N", "2*N", "seq len", "_d0"])
    >>> symbols.text("2*N"), symbols.text("seq len"), symbols.text("M").bounds(), symbols.name()
    (2*N, seq len, (0, None), '_d1')
    """

    def __init__(
        self,
        declared: Iterable[str],
        reserved: Iterable[str] = (),
        *,
        bounds: Mapping[str, tuple[int, int | None]] | None = None,
        min_dim: int = 1,
    ) -> None:
        declared = list(dict.fromkeys(declared))
        self._bounds = dict(bounds or {})
        self._min_dim = min_dim
        self._dims: dict[str, Dim] = {}
        self.count = 0
        texts = (*declared, *reserved)
        self.reserved = frozenset(texts).union(*map(GENERATED.findall, texts))
        self.names = frozenset(t for t in declared if _is_name(t))
        for text in declared:
            self._dims[text] = self._declared(text)

    def _declared(self, text: str) -> Dim:
        if text not in self.names:
            expression = self._expression(text)
            if expression is None:
                expression = self._sum_or_product(text)
            if expression is not None:
                return expression
        return self._variable(text)

    def _sum_or_product(self, text: str) -> Dim | None:
        """The declared text as an expression of one name that nothing declares, as in `2*N` and `N + N`; else None.

        Of two such names nothing says that they are sizes of their own.
        """
        found = read_dim_param(text, self.names)
        if isinstance(found, int) or (isinstance(found, Var) and found.name == text):
            return None
        new = found.free_symbols()
        if len(new) != 1 or new & self.names:
            return None
        (name,) = new
        return found.substitute({name: self._dims.setdefault(name, self._variable(name))})

    def _variable(self, name: str) -> Var:
        if name in self._bounds:
            return _scope(*self._bounds[name]).var(name, *self._bounds[name])
        return Var(name) if self._min_dim == 1 else Var.fresh(name, lo=self._min_dim)

    def _expression(self, text: str) -> Dim | None:
        """The text as an expression of declared names, and those that an earlier inference gave, only."""
        if not text:
            return None
        generated = frozenset(GENERATED.findall(text)) - self.names
        names = self.names | generated
        try:
            found = parse(text, names=names)
        except SymdimError:
            return None
        if isinstance(found, int):
            return None
        by_name = {}
        for v in found.variables():
            if v.name in names and v.name not in self._dims:
                ours = v.name in generated
                self._dims[v.name] = Var.fresh(v.name, origin=Declared(v.name)) if ours else self._variable(v.name)
            if v.name in names:
                by_name[v] = self._dims[v.name]
        return found.substitute(by_name) if len(by_name) == len(found.variables()) else None

    def text(self, text: str) -> Dim:
        """The size that a dim_param stands for."""
        found = self._dims.get(text)
        if found is None:
            expression = self._expression(text)
            if expression is None:
                expression = Var.fresh(text, *self._bounds.get(text, (0, None)), origin=Declared(text))
            found = self._dims[text] = expression
        return found

    def read(self, size: Size) -> Dim:
        """The size that is declared; one without a name, or a negative one, gets a fresh name."""
        if isinstance(size, int) and size >= 0:
            return size
        if isinstance(size, str) and size:
            return self.text(size)
        return Var.fresh(self.name(), lo=self._min_dim)

    def read_declared(self, size: Size) -> Dim:
        """As `read`, of a value that is no input.

        A dimension without a name says nothing, nor does a name that inference generates and that only a subgraph has.
        """
        if not size and size != 0:
            return VARIES
        if isinstance(size, str) and not self.reserved.issuperset(GENERATED.findall(size)):
            return VARIES
        return self.read(size)

    def name(self) -> str:
        """The next of `_d0`, `_d1`, ... that the model does not use itself."""
        while True:
            name = f"_d{self.count}"
            self.count += 1
            if name not in self.reserved:
                return name


def _is_name(text: str) -> bool:
    """Whether a declared text can only be a name: no operator or bracket in it."""
    return not any(c in "+*/%()^" for c in text) and " - " not in text
