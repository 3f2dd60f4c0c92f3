"""What a walk knows before its first node, and what makes a second pass over the model worth its time.

The first pass ends early where a rule asks for the sign of a size and bounds that earlier nodes imply decide it. It
starts again with these bounds, because everything after that node would be inferred in vain, and with longer sizes: a
model with strided windows takes up to six times as long otherwise.

A second pass starts with three things that a node of the first one could not know, because later nodes say them:

- bounds of input sizes that statements imply, if they decide a sign that a rule asked for (`laws/bounds.py`);
- shapes with sizes that later nodes force: a product demands that a size which only the data decide is 5. A branch may
  then have another size, and a vector of that size other elements. A second inference reads these shapes in the file;
- what declared types say and no node forces: the number of a size that data decide or that is long, or the rank of one
  of two tensors. Only the second pass uses it.

Only statements that hold in every run (`demands.py`) imply bounds, because all that the second pass states depends on
these.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from onnx_infer.engine.declared import has_own_name, is_claimable
from onnx_infer.engine.record import CertainBounds
from onnx_infer.engine.substitution import shorter_sizes
from onnx_infer.laws.bounds import implied_bounds
from onnx_infer.laws.readable import has_many_names
from onnx_infer.operators.element_types import LARGEST_SIZE
from onnx_infer.types.merge import is_of_inputs, size_pairs
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.engine.record import Record
    from onnx_infer.engine.substitution import Shorter
    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.given import Interval
    from onnx_infer.model.graph import FrontEnd, Model, Node
    from onnx_infer.model.size_texts import Size
    from onnx_infer.model.symbols import Symbols
    from symdim import Var


class Shapes(NamedTuple):
    """Shapes that replace the declared ones: of inputs, and of other values of the main graph."""

    inputs: Mapping[str, tuple[int | str, ...]] = MappingProxyType({})
    values: Mapping[str, tuple[Size, ...]] = MappingProxyType({})

    def names(self, front: FrontEnd) -> list[str]:
        """The dim_params of the inputs, in order."""
        sizes = (s for name, written in front.inputs() for s in self.inputs.get(name, written))
        return [s for s in sizes if isinstance(s, str) and s]

    def put_into(self, model: Model, symbols: Symbols, uses_claims: bool) -> Model:
        """The model with these shapes. Where nothing is inferred, a name that only declared types have stays.

        So does a number, if the walk `uses_claims`.
        """

        def shaped(value: object, sizes: Sequence[Size]) -> SymTensor:
            dims = [UNKNOWN_SIZE if s is None else s if isinstance(s, int) else symbols.text(s) for s in sizes]
            if not isinstance(value, SymTensor):
                return SymTensor(None, dims)
            old = value.shape or ()
            if len(old) == len(dims):
                said = [o if has_own_name(o) or (isinstance(o, int) and uses_claims) else UNKNOWN_SIZE for o in old]
                dims = [o if d is UNKNOWN_SIZE else d for d, o in zip(dims, said, strict=True)]
            return SymTensor(value.dtype, dims)

        inputs = [(n, shaped(v, self.inputs[n]) if n in self.inputs else v) for n, v in model.graph.inputs]
        declared = dict(model.graph.declared)
        declared.update((n, shaped(declared.get(n), sizes)) for n, sizes in self.values.items())
        return model._replace(graph=model.graph._replace(inputs=inputs, declared=declared))


class Start(NamedTuple):
    """What a walk knows before its first node.

    It `uses_claims`: declared numbers of sizes that data decide or that are long, and declared ranks that select one of
    two tensors. `stated` are the statements of the first pass that imply the `bounds`; they belong to the result, too.
    """

    shapes: Shapes = Shapes()
    bounds: Mapping[str, Interval] = MappingProxyType({})
    uses_claims: bool = False
    stated: tuple[tuple[Statement, Node], ...] = ()

    def with_bounds(self, bounds: CertainBounds, record: Record, first: Symbols) -> Start:
        """This start of a walk, and the bounds that its record has given. `first` are the symbols of the first pass."""
        symbols = {record.symbols.text(name): first.text(name) for name in self.bounds}
        stated = [(statement.substitute(symbols), node) for statement, node in bounds.stated]
        return self._replace(bounds={**self.bounds, **bounds.of}, stated=(*self.stated, *stated))


def second_start(record: Record, start: Start, first: Symbols, uses_claims: bool) -> Start | None:
    """What a second pass should know after one with this start; None if it would find nothing more.

    It `uses_claims` only if the caller allows that.
    """
    shorter = shorter_sizes(record)
    bounds = certain_bounds(record)
    more = uses_claims and not start.uses_claims and bool(unconfirmed(record))
    if shorter and any(statement.kind == "assumed" for statement in record.statements.plain):
        from onnx_infer.engine.demands import certain  # few models need it

        shorter = shorter_sizes(record, [statement for statement, _ in certain(record)])
    shapes = _forced(record, start.shapes, shorter)
    if bounds is None and not more and shapes == start.shapes:
        return None
    start = start if bounds is None else start.with_bounds(bounds, record, first)
    return start._replace(shapes=shapes, uses_claims=uses_claims)


def certain_bounds(record: Record) -> CertainBounds | None:
    """The bounds that the statements so far imply, or None if they decide no sign for which a rule has asked."""

    def decided_by(statements: Iterable[Statement]) -> Mapping[Var, tuple[int | None, int | None]]:
        bounds = implied_bounds(statements)
        bounds.of = {v: ends for v, ends in bounds.of.items() if v.name in record.symbols.names}
        return bounds.of if any(map(bounds.decides, reversed(record.statements.undecided))) else {}

    bounds = decided_by(record.statements.plain) if record.statements.undecided else {}
    known: list[tuple[Statement, Node]] = []
    if bounds:
        from onnx_infer.engine.demands import certain  # few models need it

        known = certain(record)
    if len(known) < len(record.statements.plain):  # some rest on assumptions
        bounds = decided_by(statement for statement, _ in known) if known else {}
    if not bounds:
        return None
    stated = [pair for pair in known if any(v in bounds for v in implied_bounds([pair[0]]).of)]
    return CertainBounds({v.name: (low or 0, high) for v, (low, high) in bounds.items()}, tuple(stated))


def unconfirmed(record: Record) -> frozenset[tuple[str, int | None]]:
    """What declared types say and no node demands: values with a number, or with None for their rank.

    The number is that of a size that data decide, or of one with many names or a clamp.
    """
    ranks = [(name, None) for name in record.declared.unselected]
    if record.setting.policy == "skip" or not record.declared.claims:
        return frozenset(ranks)
    resolve = record.sizes.fresh.resolve
    claimed = [(c.value, c.declared, c.inferred) for c in record.declared.claims if isinstance(c.declared, int)]
    replaced = [(name, number, size) for name, number, size in claimed if size is not None and is_claimable(size)]
    numbers = [(name, number, known) for name, number, size in replaced if (known := resolve(size)) != number]
    demanded = shorter_sizes(record).of if numbers else {}
    return frozenset((*ranks, *((name, number) for name, number, size in numbers if demanded.get(size) != number)))


def _forced(record: Record, shapes: Shapes, shorter: Shorter) -> Shapes:
    """These shapes, those with sizes that the walk has solved, and those with numbers for sizes that are not long."""
    values = dict(shapes.values)
    declared = record.model.graph.declared
    for name, old in record.sizes.unsolved.items():
        new = record.scope[name]
        if not isinstance(old, SymTensor) or not isinstance(new, SymTensor) or new.shape is None:
            continue
        known = _written(new.dims)
        is_changed = old.shape is None or known != _written(old.shape)  # else only sizes that data decide have changed
        if is_changed and not _contradicts(declared.get(name), new):
            values[name] = known
    numbers = {size: n for size, n in shorter.of.items() if isinstance(n, int) and not has_many_names(size)}
    if numbers:
        inputs = {name for name, _ in record.model.graph.inputs}
        for name, value in record.scope.items():
            shape = value.shape or () if isinstance(value, SymTensor) else ()
            if not numbers.keys().isdisjoint(shape) and name not in inputs:
                values[name] = _written([numbers.get(size, size) for size in shape])
    return shapes._replace(values=values)


def _contradicts(declared: Value | None, inferred: Value) -> bool:
    """Whether a value has another number than its declared type. It keeps the declared one, and this is reported."""
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in size_pairs(declared, inferred))


def _written(shape: Sequence[Dim]) -> tuple[Size, ...]:
    """The sizes as a model writes them; None where data decide one."""
    written = [size if isinstance(size, int) else str(size) if is_of_inputs(size) else None for size in shape]
    return tuple([None if isinstance(size, int) and size > LARGEST_SIZE else size for size in written])
