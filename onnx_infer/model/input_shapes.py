"""Shapes that a caller gives for inputs of the graph, and what stands for the symbols of a model.

A size that replaces a symbol binds the symbol: it stands for the size wherever the model has it. A size that replaces a
number, or nothing, is the size of this axis only.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.errors import ArgumentError, InputValueError, UnknownSymbol
from onnx_infer.model.input_values import told_inputs
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from symdim import Expr, ParseError, Var, parse
from symdim.algebra.dims import at_most, variables_of
from symdim.algebra.named_tuple import NamedTuple
from symdim.relations.relation import Relation
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.model.graph import Graph, Model
    from onnx_infer.model.size_texts import Size

InputShape: TypeAlias = "Sequence[int | str | None]"
"""The sizes of an input: numbers, names, expressions, and None for what the model declares."""


class Bound(NamedTuple):
    """What a caller gives for symbols and shapes of inputs.

    `of` maps a symbol to what stands for it, `shapes` has the inputs whose axes the model declares otherwise, and
    `named` the names in all of this. With `is_other`, a number that the model declares is another one now. So the
    numbers that it declares for other values say nothing.
    """

    of: dict[str, int | str]
    shapes: dict[str, tuple[Size, ...]]
    named: tuple[str, ...]
    is_other: bool = False

    def inputs(self, written: Iterable[tuple[str, Sequence[Size]]]) -> set[str]:
        """The inputs of which a size changes, among those with these written sizes."""
        texts = ((name, size) for name, sizes in written for size in sizes if isinstance(size, str))
        return {*self.shapes, *(name for name, text in texts if any(symbol in text for symbol in self.of))}


def bound_sizes(
    kinds: Sequence[tuple[str, Value | None]],
    written: Iterable[tuple[str, Sequence[Size]]],
    symbols: Mapping[str, Var],
    bind: Mapping[str, int | str],
    shapes: Mapping[str, InputShape],
) -> Bound:
    """What stands for which symbol, if these inputs, with these written sizes, have the given shapes.

    Raises `UnknownSymbol` for a symbol in `bind` that the model does not have, `InputValueError` for a name that is not
    an input and for a shape that does not fit, `ArgumentError` for what is no size.

    >>> x = SymTensor(1, (1, 3, Var("H"), Var("W")))
    >>> names = {"H": Var("H"), "W": Var("W")}
    >>> bound = bound_sizes([("x", x)], [("x", (1, 3, "H", "W"))], names, {}, {"x": [8, 3, 224, "32*w"]})
    >>> bound.of, bound.shapes, bound.named, bound.is_other
    ({'H': 224, 'W': '32*w'}, {'x': (8, 3, 'H', 'W')}, ('w',), True)
    """
    reading = _Reading(symbols)
    if unknown := bind.keys() - symbols.keys():
        raise UnknownSymbol("bind", unknown, symbols)
    for name, size in bind.items():
        reading.bind(name, reading.size(size, f"bind: {name!r}"), "bind")
    inputs: dict[str, tuple[Size, ...]] = {}
    sizes = dict(reversed([*written]))  # the first of two inputs with the same name counts
    for name, shape in shapes.items():
        inputs[name] = reading.input(name, dict(kinds), sizes, shape)
    reading.finish()
    changed = {name: shape for name, shape in inputs.items() if shape != sizes[name] or not sizes[name]}
    return Bound(reading.texts(), changed, tuple(reading.named), reading.is_other)


def without_numbers(model: Model) -> Model:
    """The model whose values, but for inputs, have no numbers as declared sizes. Nothing of it is remembered."""
    graph, inner = model.graph, model.subgraph

    def declared(read: Graph) -> dict[str, Value]:
        return {name: opened for name, value in read.declared.items() if (opened := _open(value)) is not None}

    def subgraph(handle: object) -> Graph:
        read = inner(handle)
        return read._replace(declared=declared(read), inputs=[(name, _open(value)) for name, value in read.inputs])

    main = graph._replace(declared=declared(graph))
    return model._replace(graph=main, subgraph=subgraph)


def _open(value: Value | None) -> Value | None:
    """A tensor without numbers as sizes; other values stay."""
    if not isinstance(value, SymTensor) or value.shape is None:
        return value
    return SymTensor(value.dtype, [UNKNOWN_SIZE if isinstance(size, int) else size for size in value.shape])


class _Reading:
    """The sizes read so far: `of` are those that stand for symbols, `named` the names in them."""

    def __init__(self, symbols: Mapping[str, Var]) -> None:
        self._symbols = symbols
        self._open: list[tuple[Expr, int, str]] = []
        self._where: dict[str, str] = {}
        self.of: dict[str, Dim] = {}
        self.named: dict[str, None] = {}
        self.is_other = False

    def size(self, given: object, where: str) -> Dim:
        """A given size: a number, or the expression of a text."""
        size: Any = given
        if isinstance(given, str):
            try:
                size = parse(given, self._symbols)
            except ParseError as error:
                raise ArgumentError(f"{where}: {error}") from None
        elif isinstance(given, bool) or not hasattr(given, "__index__"):
            raise ArgumentError(f"{where}: {given!r} is not a valid size; write a number, a name or an expression")
        else:
            size = index(size)
        if at_most(size, -1):
            raise ArgumentError(f"{where}: {given} is negative")
        self.named.update(dict.fromkeys(v.name for v in variables_of([size])))
        return size  # type: ignore[no-any-return]

    def bind(self, name: str, size: Dim, where: str) -> None:
        """Let the size stand for a symbol. It must be the same wherever the symbol is."""
        if isinstance(size, Var) and size.name == name:
            return
        if name in self.of and self.of[name] != size:
            raise InputValueError(f"{where}: {name!r} is {size} here, and {self.of[name]} by {self._where[name]}")
        self.of[name], self._where[name] = size, where

    def input(
        self, name: str, kinds: Mapping[str, Value | None], written: Mapping[str, Sequence[Size]], given: InputShape
    ) -> tuple[Size, ...]:
        """The sizes of an input; those that stand for a symbol are written as the symbol."""
        if name not in kinds or name not in written:
            raise InputValueError(f"input_shapes: {name!r} is not an input of the graph{told_inputs(name, kinds)}")
        kind, where = kinds[name], f"input_shapes: {name!r}"
        if kind is not None and not isinstance(kind, SymTensor):
            raise InputValueError(f"{where} is not a tensor: {kind}")
        if isinstance(given, (str, int)):
            raise ArgumentError(f"{where}: {given!r} is not a list of sizes; write [1, 3, 'H', 'W']")
        old: Sequence[Size] = written[name]
        if kind is None or kind.shape is None:
            old = (None,) * len(given)
        elif len(old) != len(given):
            here, there = (", ".join("?" if s is None else str(s) for s in sizes) for sizes in (old, given))
            told = f"has the rank {len(old)} in the model, [{here}], and not {len(given)}: [{there}]"
            raise InputValueError(f"{where} {told}")
        return tuple(
            [self._axis(o, g, f"{where} at axis {i}") for i, (o, g) in enumerate(zip(old, given, strict=True))]
        )

    def _axis(self, old: Size, given: int | str | None, where: str) -> Size:
        """The size of an axis, of which the model says `old`."""
        if given is None or given == old:
            return old
        size = self.size(given, where)
        if isinstance(old, str):
            read = parse(old, self._symbols)
            if isinstance(read, Var):
                self.bind(read.name, size, where)
            elif read != size:
                if not isinstance(size, int) or not isinstance(read, Expr):
                    raise InputValueError(f"{where}: the model has {old} there, and not {size}; bind the symbols of it")
                self._open.append((read, size, where))
            return old
        self.is_other |= old is not None and old != size
        return size if isinstance(size, int) else str(size)

    def finish(self) -> None:
        """Solve the sizes that are numbers in place of expressions. No symbol may stand for what is bound itself."""
        for read, number, where in self._open:
            size = read.substitute({v: self.of[v.name] for v in read.variables() if v.name in self.of})
            solved = solve(Relation("equal", size, number))
            if solved is None:
                raise InputValueError(f"{where}: the model has {read} there, which is {size}, and not {number}")
            for relation, symbol, value, _ in solved:
                if relation != "equal" or not isinstance(symbol, Var) or not isinstance(value, int):
                    raise InputValueError(f"{where}: the model has {read} there; bind the symbols of it by their names")
                self.bind(symbol.name, value, where)
        for name, size in self.of.items():
            if chained := [v.name for v in variables_of([size]) if v.name in self.of]:
                other = chained[0]
                raise InputValueError(
                    f"{self._where[name]}: {name!r} is {size}, and {other!r} is itself {self.of[other]}; "
                    f"replace {other!r} in it by that size"
                )

    def texts(self) -> dict[str, int | str]:
        """The sizes in written form."""
        return {name: size if isinstance(size, int) else str(size) for name, size in self.of.items()}
