"""The sizes of the symbols of a model, from shapes of its inputs, and what does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.model.input_values import told_inputs
from onnx_infer.model.size_texts import is_name
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import DivisionByZero, Expr, SymdimError, Var
from symdim.algebra.bounds import bounds_of
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.evaluate import has_open_function, interval_text
from symdim.algebra.polynomials import powers_of
from symdim.errors import printable
from symdim.parsing import read_dim_param

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from onnx_infer.laws.statements import Kind
    from onnx_infer.values.tensor import Dim, Value

    Interval = tuple[int, int | None]
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


class Axis(NamedTuple):
    """An axis of an input: what the model says of it, and the size that is given."""

    input: str
    number: int
    dim: Expr
    size: int


class Sizes:
    """The sizes of symbols. `of` are those that are known, `broken` is what does not fit the inputs.

    An axis is solved for the one symbol in it that is not known, or compared. Of others, two axes of one expression
    must agree, and the size must be within the interval of the expression. Each of these is in `unchecked`, and so is
    an axis that has no size. Symbols may have 0 as their size.

    >>> N, H = Var("N", 0), Var("H", 0)
    >>> sizes = Sizes({"x": SymTensor(1, (N, 2 * H)), "y": SymTensor(1, (N, 3))})
    >>> sizes.read({"x": (4, 10), "y": (5, 3)}, {})
    >>> sizes.of, [str(broken) for broken in sizes.broken]
    ({'N': 4, 'H': 5}, ['y.shape[0] is N, so 4, and not 5'])
    >>> sizes = Sizes({"x": SymTensor(1, (H // 2,)), "y": SymTensor(1, (H // 2, N))})
    >>> sizes.read({"x": (3,), "y": (5, None)}, {})
    >>> [str(broken) for broken in sizes.broken]
    ['y.shape[0] is H//2, so 3 as in x, and not 5']
    >>> sizes.unchecked
    ['x.shape[0] is H//2: H is not known', 'y.shape[1] is N: N is not known']
    """

    def __init__(self, kinds: Mapping[str, Value | None]) -> None:
        self.kinds = kinds
        self.of: dict[str, int] = {}
        self.where: dict[str, str] = {}  # the input that gives a symbol its size
        self.broken: list[Broken] = []
        self.unchecked: list[str] = []

    def read(
        self,
        shapes: Mapping[str, Shape],
        given: Mapping[str, int],
        bounds: Mapping[str, Interval] = {},
        optional: Collection[str] = (),
    ) -> None:
        """Take these shapes of inputs, and sizes that are given by name.

        `bounds` are intervals of symbols. The axes of `optional` inputs need no size.
        """
        self.of.update(given)
        pending = list(self._given(shapes))
        before = len(pending) + 1
        while len(pending) < before:
            before, pending = len(pending), list(self._left(pending))
        self._judge(pending, bounds)
        for text in self.of:
            parts = [] if is_name(text) else [v.name for v in variables_of([read_dim_param(text)]) if v.name != text]
            if parts:
                told = f"what {', '.join(parts)} are is not known, so it is taken for one symbol"
                self.unchecked.append(f"the size {text!r}: {told}")
        for name, kind in self.kinds.items():
            if name not in optional and isinstance(kind, SymTensor) and kind.shape is not None:
                sizes = shapes.get(name, (None,) * len(kind.shape))
                for axis, (dim, size) in enumerate(zip(kind.shape, sizes, strict=False)):
                    if size is None and isinstance(dim, Expr) and self._unknown(dim):
                        self._leave(Axis(name, axis, dim, 0))

    def _given(self, shapes: Mapping[str, Shape]) -> Iterator[Axis]:
        """The axes that are more than a number, or a symbol for the first time. Others are judged here."""
        for name, shape in shapes.items():
            if name not in self.kinds:
                self.broken.append(Broken(f"{name!r} is not an input{told_inputs(name, self.kinds)}", inputs=(name,)))
                continue
            kind = self.kinds[name]
            if not isinstance(kind, SymTensor):
                self.unchecked += [] if kind is None else [f"{name} is {kind}, of which no part is looked at"]
            elif kind.shape is not None and kind.rank != len(shape):
                told = f"{name} has the rank {kind.rank}, {kind}, and not {len(shape)}"
                self.broken.append(Broken(told, inputs=(name,)))
            elif kind.shape is not None:
                for axis, (dim, size) in enumerate(zip(kind.shape, shape, strict=True)):
                    if size is not None and isinstance(dim, Var) and dim.name not in self.of:
                        self.of[dim.name] = size
                        self.where[dim.name] = name
                    elif size is not None and isinstance(dim, Expr):
                        yield Axis(name, axis, dim, size)
                    elif size is not None and dim != size:
                        self.broken.append(Broken(f"{name}.shape[{axis}] is {dim}, and not {size}", inputs=(name,)))

    def _left(self, pending: list[Axis]) -> Iterator[Axis]:
        """The axes that cannot be solved for a symbol, and not be compared."""
        for axis in pending:
            unknown = self._unknown(axis.dim)
            is_open = has_open_function((axis.dim,)) or len(unknown) > 1
            if is_open or (unknown and linear_in(axis.dim, unknown[0]) is None):
                yield axis
            elif unknown:
                self._solve(axis, unknown[0])
            elif (value := self._value(axis.dim)) != axis.size:
                self._break(axis, "which divides by 0" if value is None else f"so {value}, and not {axis.size}")

    def _judge(self, pending: list[Axis], bounds: Mapping[str, Interval]) -> None:
        """Compare axes that are not solved with each other, and with the intervals of their expressions."""
        first: dict[Expr, Axis] = {}
        for axis in pending:
            same = first.setdefault(axis.dim, axis)
            if same.size != axis.size:
                self._break(axis, f"so {same.size} as in {same.input}, and not {axis.size}")
                continue
            unknown = [(v, *bounds.get(v.name, (1, None))) for v in self._unknown(axis.dim)]
            sizes: dict[Any, Dim] = {**{v: Var.fresh(v.name, lo, hi) for v, lo, hi in unknown}, **self.of}
            try:
                low, high = bounds_of(substituted(axis.dim, sizes))
            except SymdimError:  # a divisor is 0
                low = high = None
            if (low is not None and axis.size < low) or (high is not None and axis.size > high):
                self._break(axis, f"which is {interval_text(low, high)}, and not {axis.size}")
            else:
                self._leave(axis)

    def _unknown(self, dim: Expr) -> list[Var]:
        return [v for v in dim.variables() if v.name not in self.of]

    def _leave(self, axis: Axis) -> None:
        """Say that an axis was not judged."""
        unknown = ", ".join(v.name for v in self._unknown(axis.dim))
        why = f"{unknown} is not known" if unknown else "its function has no value here"
        self.unchecked.append(f"{axis.input}.shape[{axis.number}] is {axis.dim}: {why}")

    def _solve(self, axis: Axis, unknown: Var) -> None:
        parts = linear_in(axis.dim, unknown)
        assert parts is not None
        factor, rest = map(self._value, parts)
        if factor is None or rest is None:
            self._break(axis, "which divides by 0")
        elif factor == 0:
            if rest != axis.size:
                self._break(axis, f"so {rest}, and not {axis.size}")
        elif (axis.size - rest) % factor or (axis.size - rest) // factor < 0:
            self._break(axis, f"which is never {axis.size}")
        else:
            self.of[unknown.name], self.where[unknown.name] = (axis.size - rest) // factor, axis.input

    def _value(self, dim: Dim) -> int | None:
        """The value of a size; None if a divisor in it is 0."""
        try:
            return dim.to_int(dict(self.of.items())) if isinstance(dim, Expr) else dim
        except DivisionByZero:
            return None

    def _break(self, axis: Axis, how: str) -> None:
        known = [v.name for v in axis.dim.variables() if v.name in self.of]
        inputs = dict.fromkeys([axis.input, *(self.where[symbol] for symbol in known if symbol in self.where)])
        sizes = {symbol: self.of[symbol] for symbol in known}
        told = f"{axis.input}.shape[{axis.number}] is {axis.dim}, {how}"
        self.broken.append(Broken(told, "required", sizes, tuple(inputs)))

    def check_dtype(self, name: str, word: str) -> None:
        """Compare the element type of an input with that of an array, whose name is `float32`, `int64`, `bool`, ..."""
        kind = self.kinds.get(name)
        number = dt.STRING if word.lstrip("<>|=").startswith("U") else _NUMPY_WORDS.get(word)
        if not isinstance(kind, SymTensor) or kind.dtype is None or number == kind.dtype:
            return
        if number is None:
            self.unchecked.append(f"{name} is {dt.text(kind.dtype)}: the element type {word!r} is not known here")
        else:
            self.broken.append(Broken(f"{name} is {dt.text(kind.dtype)}, and not {dt.text(number)}", inputs=(name,)))

    def check_complete(self, given: Collection[str], optional: Collection[str]) -> None:
        """Every input must be given, except those with a default."""
        for name in self.kinds:
            if name not in given and name not in optional:
                self.broken.append(Broken(f"the input {name!r} is missing", inputs=(name,)))


def linear_in(dim: Expr, unknown: Var) -> tuple[Dim, Dim] | None:
    """(factor, rest) with `dim == factor*unknown + rest`, both without the unknown; None if there are none.

    Neither are there where no value of a function is known.

    >>> N, H = Var("N"), Var("H")
    >>> linear_in(2 * N * H + N - 1, H), linear_in(H + H // 2, H)
    ((2*N, N - 1), None)
    """
    if has_open_function((dim,)):
        return None
    factor: Dim = 0
    rest: Dim = dim._const if dim._terms is not None else 0
    for unit, k in (dim._terms if dim._terms is not None else {dim: 1}).items():
        powers = powers_of(unit)
        others: Dim = k
        for atom, exponent in powers.items():
            if atom is not unknown:
                if unknown in atom.variables():
                    return None
                others = others * atom**exponent
        if unknown not in powers:
            rest = rest + others
        elif powers[unknown] == 1:
            factor = factor + others
        else:
            return None
    return factor, rest


_NUMPY_WORDS = {
    **{word: number for word, number in dt.FROM_SCHEMA.items() if word not in ("float", "double", "string")},
    "float32": dt.FLOAT,
    "float64": dt.DOUBLE,
    "object": dt.STRING,
    "str": dt.STRING,
}
"""The names of NumPy and torch for element types."""
