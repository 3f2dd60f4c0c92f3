"""Where symbols can be read at run time: the axes of the inputs, solved for the symbols in them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from onnx_infer.errors import ShapeInferenceError
from onnx_infer.laws.sizes import at_least
from onnx_infer.results.sizes import Sizes, linear_in
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import Expr, Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.evaluate import parts_first
from symdim.algebra.origin import Computed, InputDim, ValueOf

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, MutableMapping, Sequence


class Sources:
    """Each symbol as an expression of readable sizes: those at the axes of the values.

    An axis that is a symbol gives this symbol. An axis that is linear in one unknown symbol is solved for it, which is
    exact in every run: `2*H` gives `X.shape[0]//2`. Divisions are not inverted.

    >>> N, H = Var("N"), Var("H")
    >>> sources = Sources({"X": SymTensor(1, (N, 2 * N * H + 3)), "Y": SymTensor(1, (H // 2,))})
    >>> sources.of
    {N: X.shape[0], H: (`X.shape[1]` - 3)//(2*`X.shape[0]`)}
    """

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values
        self.of: dict[Var, Dim] = {}
        self.axes: list[tuple[InputDim, Dim]] = []
        for name, value in values.items():
            if isinstance(value, SymTensor) and value.shape is not None:
                self.axes += [(InputDim(name, axis), dim) for axis, dim in enumerate(value.shape)]
        pending: list[tuple[Var, Expr]] = []
        for where, dim in self.axes:
            if isinstance(dim, Var):
                self.of.setdefault(dim, _read(where, dim))
            elif isinstance(dim, Expr):
                pending.append((_read(where, dim), dim))
        self._solve(pending)

    @cached_property
    def symbols(self) -> frozenset[Var]:
        """All symbols in the sizes of the values, even those that cannot be solved for."""
        return frozenset(variables_of(dim for _, dim in self.axes))

    def _solve(self, pending: list[tuple[Var, Expr]]) -> None:
        """Solve one equation after the other, as long as one has a single unknown."""
        while pending:
            rest = []
            for read, dim in pending:
                unknown = [v for v in dim.variables() if v not in self.of]
                if len(unknown) > 1:
                    rest.append((read, dim))
                elif unknown and (solution := self._solution(read, dim, unknown[0])) is not None:
                    self.of[unknown[0]] = solution
            if len(rest) == len(pending):
                break
            pending = rest

    def _solution(self, read: Var, dim: Expr, unknown: Var) -> Dim | None:
        """The unknown in `read == dim`, if dim is `factor*unknown + rest` with a factor that is not 0; else None."""
        parts = linear_in(dim, unknown)
        if parts is None:
            return None
        factor, rest = (self.over_sources(part) for part in parts)
        if isinstance(factor, int):
            return (read - rest) // factor if factor > 0 else (rest - read) // -factor
        return (read - rest) // factor if at_least(factor, 1) else None

    def over_sources(self, dim: Dim) -> Dim:
        """The dimension over readable sizes. Symbols that cannot be read stay."""
        dim = without_computed(dim)
        return substituted(dim, self.of)

    def bindings(self, shapes: Mapping[str, Sequence[int]]) -> dict[str | Var, int]:
        """The sizes of the symbols that can be solved for, if values have these shapes.

        Raises `ShapeInferenceError` for sizes that do not fit the declared ones (`Sizes`).

        >>> N = Var("N")
        >>> sources = Sources({"X": SymTensor(1, (N, 2 * N)), "Y": SymTensor(1, (N, 3))})
        >>> sources.bindings({"X": (4, 8), "Y": (4, 3)})
        {N: 4}
        >>> sources.bindings({"X": (4, 8), "Y": (5, 3)})
        Traceback (most recent call last):
        ...
        onnx_infer.errors.ShapeInferenceError: Y.shape[0] is N, so 4, and not 5

        A size that does not decide its symbol is compared with what the symbol allows, from 0 on:

        >>> Sources({"X": SymTensor(1, ((N + 1) // 2,))}).bindings({"X": (0,)})
        {}
        """
        sizes = Sizes(self.values)
        bounds = {symbol.name: (0, None) for symbol in self.symbols}  # a run may have empty inputs
        sizes.read({name: shape for name, shape in shapes.items() if name in self.values}, {}, bounds)
        if sizes.broken:
            raise ShapeInferenceError(str(sizes.broken[0]))
        return {symbol: sizes.of[symbol.name] for symbol in self.of if symbol.name in sizes.of}


def _read(where: InputDim, dim: Expr) -> Var:
    """The variable that stands for the size at an axis."""
    low, high = dim.bounds()
    return Var.fresh(f"{where.tensor}.shape[{where.axis}]", max(low or 0, 0), high, origin=where)


def element_of(variable: Var, tensors: Collection[str]) -> bool:
    """Whether a variable stands for an element of one of the tensors."""
    return isinstance(variable.origin, ValueOf) and variable.origin.tensor in tensors


def without_computed(dim: Dim) -> Dim:
    """The dimension with expressions in place of the sizes that operators compute from elements.

    >>> end = Var.fresh("end[0]")
    >>> without_computed(2 * Var.fresh("_d0", origin=Computed((end + 7) // 8, "a length")))
    2*((`end[0]` + 7)//8)
    """
    if isinstance(dim, int) or not (computed := _computed_in(dim)):
        return dim
    written: dict[Var, Dim] = {}

    def inner(v: Var) -> list[Var]:
        kept = _WRITTEN_OUT.get(v)
        if kept is not None:
            written[v] = kept
            return []
        return _computed_in(_size_of(v))

    for root in computed:
        for v, parts in parts_first(root, written, inner):
            if v not in written:  # each computed size once: chains of them are long
                written[v] = _WRITTEN_OUT[v] = substituted(_size_of(v), {w: written[w] for w in parts})
    return dim.substitute({v: written[v] for v in computed})


_WRITTEN_OUT: MutableMapping[Var, Dim] = shared_cache(1 << 12)  # a computed size -> `without_computed` of it


def _size_of(v: Var) -> Dim:
    assert isinstance(v.origin, Computed)
    return v.origin.size


def _computed_in(dim: Dim) -> list[Var]:
    return [] if isinstance(dim, int) else [v for v in dim.variables() if isinstance(v.origin, Computed)]
