"""Shapes that follow from a whole walk. The next walk knows them from the start.

A node behind a value may force its sizes: a product demands that a size which only the data decide is 5. The nodes
between them were inferred without this. A branch may then have another size, and a vector of that size other elements.
So the model is walked again. A second inference reads the written shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.engine.claims import has_own_name
from onnx_infer.laws.readable import has_many_names
from onnx_infer.operators.element_types import LARGEST_SIZE
from onnx_infer.types.merge import is_of_inputs
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx_infer.engine.claims import Belief
    from onnx_infer.model.graph import FrontEnd, Model
    from onnx_infer.model.size_texts import Size
    from onnx_infer.model.symbols import Symbols


class Found(NamedTuple):
    """Shapes that replace the declared ones: of inputs, and of other values of the main graph."""

    inputs: dict[str, tuple[int | str, ...]]
    values: dict[str, tuple[Size, ...]]

    def names(self, front: FrontEnd) -> list[str]:
        """The dim_params of the inputs, in order."""
        sizes = (s for name, written in front.inputs() for s in self.inputs.get(name, written))
        return [s for s in sizes if isinstance(s, str) and s]

    def put_into(self, model: Model, symbols: Symbols, believed: frozenset[Belief] = frozenset()) -> Model:
        """The model with these shapes. Where nothing is found, a name that only declared types have stays.

        So does a number that is `believed` of a value.

        What the inputs have for a name that no input has any more is `replaced` of the symbols.
        """

        def shaped(name: str, value: object, sizes: Sequence[Size]) -> SymTensor:
            dims = [UNKNOWN_SIZE if s is None else s if isinstance(s, int) else symbols.text(s) for s in sizes]
            if not isinstance(value, SymTensor):
                return SymTensor(None, dims)
            old = value.shape or ()
            if len(old) == len(dims):
                said = [o if has_own_name(o) or (isinstance(o, int) and (name, o) in believed) else None for o in old]
                dims = [d if d is not UNKNOWN_SIZE or o is None else o for d, o in zip(dims, said, strict=True)]
            return SymTensor(value.dtype, dims)

        inputs = [(n, shaped(n, v, self.inputs[n]) if n in self.inputs else v) for n, v in model.graph.inputs]
        for (_, old), (_, new) in zip(model.graph.inputs, inputs, strict=True):
            if old is not new and isinstance(old, SymTensor) and isinstance(new, SymTensor):
                pairs = zip(old.shape or (), new.shape or (), strict=False)
                symbols.replaced.update(
                    (o, n) for o, n in pairs if isinstance(o, Var) and has_own_name(o) and o is not n
                )
        declared = dict(model.graph.declared)
        declared.update((n, shaped(n, declared.get(n), sizes)) for n, sizes in self.values.items())
        return model._replace(graph=model.graph._replace(inputs=inputs, declared=declared))

    def with_solved(self, before: Mapping[str, Value], after: Mapping[str, Value]) -> Found:
        """These shapes and those that the solved sizes of a walk changed, as far as the symbols of inputs tell them."""
        values = dict(self.values)
        for name, value in after.items():
            old = before.get(name)
            if old is value or not isinstance(old, SymTensor) or not isinstance(value, SymTensor):
                continue
            if value.shape is None:
                continue
            known = tuple(map(_written, value.shape))
            former = None if old.shape is None else tuple(map(_written, old.shape))
            if known != former:  # else only sizes that data decide have changed
                values[name] = known
        return self._replace(values=values)

    def with_numbers(self, values: Mapping[str, Value], put: Callable[[Value], Value]) -> Found:
        """These shapes and those in which `put` makes a number of a size that is not long."""
        found = dict(self.values)
        for name, value in values.items():
            if not isinstance(value, SymTensor) or not value.shape:
                continue
            new = put(value)
            if new is value or not isinstance(new, SymTensor):
                continue
            dims = [
                n if isinstance(n, int) and not has_many_names(o) else o
                for o, n in zip(value.shape, new.dims, strict=True)
            ]
            if dims != list(value.shape):
                found[name] = tuple(map(_written, dims))
        return self._replace(values=found)


NOTHING_FOUND = Found({}, {})


def _written(size: Dim) -> Size:
    """The size as a model writes it; None if data decide it."""
    if isinstance(size, int):
        return size if size <= LARGEST_SIZE else None
    return str(size) if is_of_inputs(size) else None
