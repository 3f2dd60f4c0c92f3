"""The shapes that inference in both directions finds, in the form in which a model declares them, and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.bidirectional.model_facts import Known, equal_to
from onnx_infer.engine.repeat import Shapes
from onnx_infer.engine.substitution import rename
from onnx_infer.laws.readable import is_unreadable
from onnx_infer.model.size_texts import AxisNames, Size
from onnx_infer.operators.element_types import LARGEST_SIZE
from onnx_infer.types.join import symbols_of
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor
from symdim import Expr, Var
from symdim.algebra.dims import at_least, substituted, variables_of
from symdim.algebra.origin import Declared
from symdim.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import FrontEnd


class Names:
    """Texts for sizes that the store leaves unknown: a name that the model declares for the size, or a new one."""

    def __init__(self, front: FrontEnd, record: Record, known: Known, given: set[str]) -> None:
        names, texts = front.dim_params()
        others = set(texts)
        self._axis_names = AxisNames((*names, *texts))
        self.given = given
        declared = (v for v in _declared(record) if v.name in others and v.name not in given)
        self._declared = equal_to(known.store, declared if record.setting.adopt else ())
        self._new: dict[tuple[str, int], str] = {}
        self.of: dict[Dim, str] = {}

    def new(self, value: str, axis: int) -> str:
        """A name for an axis of an input."""
        if (value, axis) not in self._new:
            self._new[value, axis] = self._axis_names.new(value, axis)
        return self._new[value, axis]

    def name(self, size: Dim, value: str, axis: int) -> str:
        """The text for the size of an axis of an input: its expression in named sizes, or a name."""
        found = self.text(size)
        if found is None:
            declared = self._declared.get(size) if isinstance(size, Expr) else None
            found = self.of[size] = self.new(value, axis) if declared is None else declared.name
        return found

    def text(self, size: Dim) -> str | None:
        """The text of a size as an expression of named sizes; None if there is none, or if it is too large to read."""
        if size in self.of or isinstance(size, int):
            return self.of.get(size)
        if is_unreadable(size):
            return None
        unknown = [v for v in size.variables() if v.name not in self.given]
        if not unknown:
            return str(size)
        if all(v in self.of for v in unknown):
            return str(size.substitute({v: Var.fresh(self.of[v]) for v in unknown}))
        return None


def _declared(record: Record) -> Iterator[Var]:
    """The names in the declared types of outputs and intermediate values."""
    declared = record.model.graph.declared
    for name in dict.fromkeys((*record.model.graph.outputs, *declared)):
        value = declared.get(name)
        for dim in (value.shape or ()) if isinstance(value, SymTensor) else ():
            if isinstance(dim, Var) and dim is not UNKNOWN_SIZE:
                yield dim


def found_shapes(
    record: Record, known: Known, written: Mapping[str, tuple[Size, ...]], names: Names, before: Shapes
) -> Shapes:
    """The shapes that the constraints force and that say more than the model declares."""
    shapes: dict[str, tuple[Dim, ...]] = {}
    for name, _ in record.model.graph.inputs:
        row, value = known.rows.get(name), record.scope[name]  # in the symbols of the first walk
        if row is None and isinstance(value, SymTensor) and value.shape is not None:
            row = Row(trail=value.shape)
        if row is not None and (solved := known.store.row(row)).rank is not None and _fit(solved.dims):
            shapes[name] = solved.dims
    for name, shape in shapes.items():  # plain sizes get names first, so expressions can use these names
        for axis, dim in enumerate(shape):
            if isinstance(dim, Var):
                names.name(dim, name, axis)
    inputs: dict[str, tuple[int | str, ...]] = {}
    for name, shape in shapes.items():
        old = written.get(name, ())
        if len(old) != len(shape):
            old = (None,) * len(shape)
        sizes = tuple(
            d if isinstance(d, int) else text if isinstance(text, str) else names.name(d, name, axis)
            for axis, (d, text) in enumerate(zip(shape, old, strict=True))
        )
        if name not in written or sizes != old:
            inputs[name] = sizes
    return Shapes(inputs, dict(_values(record, known, names, before)))


def _fit(dims: Iterable[Dim]) -> bool:
    """Whether a model can hold these sizes. No run has others; forward inference reports the node."""
    return not any(at_least(d, LARGEST_SIZE + 1) for d in dims)


def _values(record: Record, known: Known, names: Names, before: Shapes) -> Iterator[tuple[str, tuple[Size, ...]]]:
    """The shapes of values that say more than those of forward inference, including those found before.

    A value of whose node nothing is stated has a shape of sizes about which the store may know more.
    """
    inputs = {name for name, _ in record.model.graph.inputs}
    constants = record.model.graph.constants
    earlier = before.values
    solved_rows: dict[Row, Row] = {}
    symbols = symbols_of(record.scope[name] for name in inputs)
    numbers = {v: size for v in symbols if isinstance(size := known.store.value(v), int)}
    for name, value in record.scope.items():
        if name in inputs or name in constants or not isinstance(value, SymTensor):
            continue
        row = known.rows.get(name)
        if row is None:
            if value.shape is None or all(isinstance(size, int) for size in value.shape):
                continue
            row = Row(trail=value.shape)
        solved = solved_rows.get(row)
        if solved is None:
            solved = solved_rows[row] = known.store.row(row)
        if solved.rank is None or not _fit(solved.dims):
            continue
        sizes = tuple(d if isinstance(d, int) else names.text(d) for d in solved.dims)
        if name in earlier or value.shape is None or _says_more(sizes, value.shape, names, numbers):
            yield name, sizes


def _says_more(sizes: Iterable[Size], shape: tuple[Dim, ...], names: Names, numbers: Mapping[Var, int]) -> bool:
    """Whether a size is now a number, or an unknown size is now a named one.

    The sizes of inputs that are now `numbers` give a number without the shape found here.
    """
    for size, dim in zip(sizes, shape, strict=True):
        if not isinstance(dim, Expr) or size is None:
            continue
        if names.text(dim) is None or (isinstance(size, int) and not isinstance(substituted(dim, numbers), int)):
            return True
    return False


def substitute_solved(record: Record, known: Known, given: set[str]) -> None:
    """Replace sizes by what they equal, in all values. A declared name replaces only a known size."""
    inputs = symbols_of(record.scope[name] for name, _ in record.model.graph.inputs)
    ours = {**inputs, **symbols_of(record.scope.values())}
    first = equal_to(known.store, ours)
    solved: dict[Var, Dim] = {}
    for v in ours:
        if v in inputs or v.name in given:
            continue
        value = known.store.value(v)
        if isinstance(value, Expr):
            value = value.substitute({w: first.get(w, w) for w in value.variables()})
        if value is v or not _fit((value,)) or is_unreadable(value):
            continue
        if all(w in (inputs if isinstance(v.origin, Declared) else ours) for w in variables_of([value])):
            solved[v] = value
    if solved:
        rename(record, solved)
