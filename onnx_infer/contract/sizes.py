"""The sizes of the symbols of a model, from shapes of its inputs, and what does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.input_values import told_inputs
from onnx_infer.results.sources import linear_in
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, Var
from symdim.algebra.evaluate import has_open_function
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from onnx_infer.laws.statements import Kind
    from onnx_infer.values.tensor import Dim, Value

    Shape = Sequence[int | None]


class Broken(NamedTuple):
    """A statement that does not hold: its text with the values, the sizes of the symbols in it, and the inputs.

    The kinds are those of guards: if one is "required", the model does not run.
    """

    text: str
    kind: Kind = "required"
    sizes: Mapping[str, int] = {}
    inputs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return printable(self.text)


class Sizes:
    """The sizes of symbols. `of` are those that are known, `broken` is what does not fit the inputs.

    Inputs that are not given say nothing, and so do axes of which the size is None. Symbols may have 0 as their size.

    >>> N, H = Var("N", 0), Var("H", 0)
    >>> found = Sizes({"x": SymTensor(1, (N, 2 * H)), "y": SymTensor(1, (N, 3))})
    >>> found.read({"x": (4, 10), "y": (5, 3)}, {})
    >>> found.of, [str(broken) for broken in found.broken]
    ({'N': 4, 'H': 5}, ['y.shape[0] is N, so 4, and not 5'])
    """

    def __init__(self, kinds: Mapping[str, Value | None]) -> None:
        self.kinds = kinds
        self.of: dict[str, int] = {}
        self.where: dict[str, str] = {}  # the input that gives a symbol its size
        self.broken: list[Broken] = []

    def read(self, shapes: Mapping[str, Shape], given: Mapping[str, int]) -> None:
        """Take these shapes of inputs, and sizes that are given by name."""
        self.of.update(given)
        pending: list[tuple[str, int, Expr, int]] = []
        for name, shape in shapes.items():
            if name not in self.kinds:
                self.broken.append(Broken(f"{name!r} is not an input{told_inputs(name, self.kinds)}", inputs=(name,)))
                continue
            kind = self.kinds[name]
            declared = kind.shape if isinstance(kind, SymTensor) else None
            if declared is None:
                continue
            if len(declared) != len(shape):
                told = f"{name} has the rank {len(declared)}, {kind}, and not {len(shape)}"
                self.broken.append(Broken(told, inputs=(name,)))
                continue
            for axis, (dim, size) in enumerate(zip(declared, shape, strict=True)):
                if size is not None and isinstance(dim, Var) and dim.name not in self.of:
                    self.of[dim.name] = size
                    self.where[dim.name] = name
                elif size is not None and isinstance(dim, Expr):
                    pending.append((name, axis, dim, size))
                elif size is not None and dim != size:
                    self.broken.append(Broken(f"{name}.shape[{axis}] is {dim}, and not {size}", inputs=(name,)))
        before = len(pending) + 1
        while len(pending) < before:
            before, pending = len(pending), list(self._left(pending))

    def _left(self, pending: list[tuple[str, int, Expr, int]]) -> Iterator[tuple[str, int, Expr, int]]:
        """The axes of which more than one symbol is not known. Others are compared, or solved.

        Of one with a function of unknown values nothing can be said.
        """
        for name, axis, dim, size in pending:
            if has_open_function((dim,)):
                continue
            unknown = [v for v in dim.variables() if v.name not in self.of]
            if len(unknown) > 1 or (unknown and linear_in(dim, unknown[0]) is None):
                yield name, axis, dim, size
            elif unknown:
                self._solve(name, axis, dim, size, unknown[0])
            elif (value := self._value(dim)) != size:
                self._break(name, axis, dim, f"so {value}, and not {size}")

    def _solve(self, name: str, axis: int, dim: Expr, size: int, unknown: Var) -> None:
        parts = linear_in(dim, unknown)
        assert parts is not None
        factor, rest = map(self._value, parts)
        if factor == 0:
            if rest != size:
                self._break(name, axis, dim, f"so {rest}, and not {size}")
        elif (size - rest) % factor or (size - rest) // factor < 0:
            self._break(name, axis, dim, f"which is never {size}")
        else:
            self.of[unknown.name], self.where[unknown.name] = (size - rest) // factor, name

    def _value(self, dim: Dim) -> int:
        return dim.to_int(dict(self.of.items())) if isinstance(dim, Expr) else dim

    def _break(self, name: str, axis: int, dim: Expr, how: str) -> None:
        known = [v.name for v in dim.variables() if v.name in self.of]
        inputs = dict.fromkeys([name, *(self.where[symbol] for symbol in known if symbol in self.where)])
        sizes = {symbol: self.of[symbol] for symbol in known}
        self.broken.append(Broken(f"{name}.shape[{axis}] is {dim}, {how}", "required", sizes, tuple(inputs)))

    def check_dtype(self, name: str, word: str) -> None:
        """Compare the element type of an input with that of an array, whose name is `float32`, `int64`, `bool`, ..."""
        kind = self.kinds.get(name)
        number = _NUMPY_WORDS.get(word)
        if isinstance(kind, SymTensor) and kind.dtype is not None and number is not None and number != kind.dtype:
            self.broken.append(Broken(f"{name} is {dt.text(kind.dtype)}, and not {dt.text(number)}", inputs=(name,)))

    def check_complete(self, given: Collection[str], optional: Collection[str]) -> None:
        """Every input must be given, except those with a default."""
        for name in self.kinds:
            if name not in given and name not in optional:
                self.broken.append(Broken(f"the input {name!r} is missing", inputs=(name,)))


_NUMPY_WORDS = {
    **{word: number for word, number in dt.FROM_SCHEMA.items() if word not in ("float", "double", "string")},
    "float32": dt.FLOAT,
    "float64": dt.DOUBLE,
    "object": dt.STRING,
    "str": dt.STRING,
}
"""The names of NumPy and torch for element types."""
