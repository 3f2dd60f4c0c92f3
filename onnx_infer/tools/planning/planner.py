"""All sizes of a model as one compiled function of its input sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from onnx_infer.results.inferred import Inferred, checked_sizes
from onnx_infer.results.sources import without_computed
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value
from symdim import Expr, SymdimError, UnboundName, Var, ceildiv, product
from symdim.algebra.dims import variables_of
from symdim.compile import StraightLine, function_of, tuple_text
from symdim.dialects.languages import literal
from symdim.errors import printable, refuse_text
from symdim.guarantee import UpperBounds, guarantee_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


T = TypeVar("T")


class Named(Mapping[str, T]):
    """Results by the names of values. Many values share a result: `places` has the index of each in `results`."""

    __slots__ = ("_places", "_results")

    def __init__(self, places: Mapping[str, int], results: tuple[T, ...]) -> None:
        self._places, self._results = places, results

    def __getitem__(self, name: str) -> T:
        return self._results[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return repr(dict(self))


class PlannedSizes(NamedTuple):
    """The shapes of values, and their sizes in bytes (None for strings and unknown element types)."""

    shapes: Named[tuple[int, ...]]
    bytes: Named[int | None]

    def __repr__(self) -> str:
        return f"<PlannedSizes of {len(self.shapes)} values>"


class Planner:
    """A function from the sizes of `args` to the shapes and byte sizes of values.

    `function` is this function in plain Python, without checks, and `source` its text. It returns two tuples: the
    distinct shapes and the distinct byte sizes. `shape_places` and `byte_places` have the index of each value in them.
    A call of the planner checks the sizes and returns the results by name. `missing` has the values that are left out,
    each with the reason.
    """

    def __init__(
        self, types: dict[str, Value], args: Sequence[Var], *, upper: bool = False, chosen: Iterable[str] | None = None
    ) -> None:
        self.args = tuple(args)
        self.missing: dict[str, str] = {}
        self.shape_places: dict[str, int] = {}
        self.byte_places: dict[str, int] = {}
        code = StraightLine(self.args)
        rows: dict[Shape, int] = {}
        counts: dict[tuple[int, int], int] = {}
        row_texts: list[str] = []
        count_texts: list[str] = []
        bounds = UpperBounds() if upper else None
        for name in types if chosen is None else chosen:
            value = types.get(name)
            if value is None:
                raise SymdimError(f"value {name!r} cannot be planned: the model has no such value")
            shape = _planned(value, bounds)
            free = () if shape is None else code.unbound(shape)
            if shape is None or free:
                self._leave_out(name, value, free, is_chosen=chosen is not None)
                continue
            place = rows.setdefault(shape, len(rows))
            if place == len(row_texts):
                text = tuple_text(map(code.operand, shape))
                row_texts.append(code.assign(text, note=name) if variables_of(shape) else text)
            assert isinstance(value, SymTensor)
            bits = dt.BITS.get(value.dtype or 0, 0)
            count = counts.setdefault((place, bits), len(counts))
            if count == len(count_texts):
                count_texts.append(_bytes_text(code, shape, bits))
            self.shape_places[name], self.byte_places[name] = place, count
        self._shapes = tuple(rows)
        self._functions = code.functions
        self.source = code.source(f"{tuple_text(row_texts)}, {tuple_text(count_texts)}")
        self.function: Callable[..., tuple[tuple[tuple[int, ...], ...], tuple[int | None, ...]]] = function_of(
            self.source, self._functions
        )

    def _leave_out(self, name: str, value: Value, free: tuple[str, ...], is_chosen: bool) -> None:
        """Note why a value is not planned; raise it as an error if the caller has chosen the value."""
        if free and is_chosen:
            raise UnboundName(free)
        reason = f"it depends on {', '.join(free)}" if free else f"its sizes are not known: {value}"
        if is_chosen:
            raise SymdimError(f"value {name!r} cannot be planned: {reason}")
        self.missing[name] = reason

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} left out" if self.missing else ""
        return (
            f"Planner({', '.join(printable(arg.name) for arg in self.args)}: {len(self.shape_places)} values{missing})"
        )

    def _repr_html_(self) -> str:
        from symdim.outputs import html_table

        rows = [(name, f"[{', '.join(map(str, self._shapes[place]))}]") for name, place in self.shape_places.items()]
        return html_table(self, ["value", "shape"], rows + list(self.missing.items()))

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in vars(self).items() if key != "function"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.function = function_of(self.source, self._functions)

    @property
    def names(self) -> tuple[str, ...]:
        """The values, in the order of the model."""
        return tuple(self.shape_places)

    def __call__(self, *sizes: int, **named: int) -> PlannedSizes:
        """The shapes and byte sizes at sizes of `args`, by position or name.

        Raises BoundsError for sizes outside the bounds of their symbols, UnboundName for missing sizes, and
        UnknownSymbol for names of no argument.
        """
        shapes, counts = self.function(*self._arguments(sizes, named))
        return PlannedSizes(Named(self.shape_places, shapes), Named(self.byte_places, counts))

    def _arguments(self, sizes: tuple[int, ...], named: dict[str, int]) -> list[int]:
        first = {arg.name: size for arg, size in zip(self.args, sizes, strict=False)}
        if len(sizes) > len(self.args) or first.keys() & named:
            raise SymdimError(f"the arguments are {', '.join(arg.name for arg in self.args)}, each once")
        given = checked_sizes({**first, **named}, self.args, option="planner")
        return [given[arg.name] for arg in self.args]


def planner(result: Inferred, args: Sequence[str | Var] | None, values: Iterable[str] | None, upper: bool) -> Planner:
    """The planner of a result; see `Inferred.planner`."""
    refuse_text(args, "args")
    refuse_text(values, "values")
    types = dict(result.types)
    if args is None:
        return Planner(types, result._input_symbols, upper=upper, chosen=values)
    bounds = UpperBounds() if upper else None
    shapes = (_planned(value, bounds) for value in types.values())
    symbols = {v.name: v for shape in dict.fromkeys(shapes) if shape is not None for v in variables_of(shape)}
    chosen = [symbols.get(arg) if isinstance(arg, str) else arg for arg in args]
    variables = [v for v in chosen if isinstance(v, Var)]
    if len(variables) < len(chosen):
        raise UnboundName(tuple(str(arg) for arg, v in zip(args, chosen, strict=True) if v is None))
    return Planner(types, variables, upper=upper, chosen=values)


def _planned(value: Value, bounds: UpperBounds | None) -> Shape | None:
    """The shape to plan for; None if there is none."""
    if not isinstance(value, SymTensor) or value.shape is None:
        return None
    return tuple(map(without_computed, bounding_shape(value.shape, bounds)))


def bounding_shape(shape: Shape, bounds: UpperBounds | None) -> Shape:
    """The sizes; with `bounds`, upper bounds (if there are any) stand in place of data-dependent sizes."""
    if bounds is None:
        return shape
    sized = [guarantee_of(dim, bounds=bounds).size for dim in shape]
    return tuple([dim if bound is None else bound for dim, bound in zip(shape, sized, strict=True)])


def byte_size(value: Value, bounds: UpperBounds | None = None) -> Dim | None:
    """The bytes of a tensor; None for strings, for other values, and for an unknown rank or element type.

    With `bounds`, which share their work for all values, data-dependent sizes count with their upper bounds.

    Elements of less than a byte are packed, as in ONNX; the last byte may be partly used.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> byte_size(SymTensor(dt.FLOAT, (N, 3))), byte_size(SymTensor(dt.STRING, (N,)))
    (12*N, None)
    >>> byte_size(SymTensor(dt.NUMBERS["i4"], (N,)))
    (N + 1)//2
    """
    if not isinstance(value, SymTensor) or value.shape is None or not dt.BITS.get(value.dtype or 0):
        return None
    shape = bounding_shape(value.shape, bounds)
    bits = dt.BITS[value.dtype or 0]
    count = product(shape)
    return count * (bits // 8) if bits % 8 == 0 else ceildiv(count * bits, 8)


def compiled(symbols: Sequence[Var], sizes: Iterable[Dim]) -> Callable[..., tuple[int, ...]]:
    """The function from the sizes of symbols to these sizes."""
    code = StraightLine(symbols)
    return code.function(tuple_text([code.operand(size) for size in sizes]))


def _bytes_text(code: StraightLine, shape: Shape, bits: int) -> str:
    """The source of the byte size of a tensor."""
    if not bits:
        return "None"
    known = product([dim for dim in shape if isinstance(dim, int)])
    assert isinstance(known, int)
    packed = bits % 8 != 0
    factor = known * (bits if packed else bits // 8)
    symbolic = [code.operand(dim) for dim in shape if isinstance(dim, Expr)]
    if not symbolic or not factor:
        return literal(-(-factor // 8) if packed else factor)
    text = "*".join([literal(factor), *symbolic] if factor != 1 else symbolic)
    return code.assign(f"({text} + 7)//8" if packed else text)
