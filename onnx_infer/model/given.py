"""Assumptions about the symbols of a model, as they are given before the walk. `engine/assumptions.py` uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onnx_infer.model.symbols import Symbols
from symdim import Var
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_infer.model.contract import Condition, Contract
    from onnx_infer.model.graph import FrontEnd
    from onnx_infer.model.input_shapes import Bound, InputShape
    from onnx_infer.model.input_values import InputValue

    Bounds = Mapping[str, tuple[int, int | None]]


Interval: TypeAlias = "tuple[int, int | None]"
"""Both ends are inclusive; None is no upper end."""


_ELEMENT: Interval = (0, None)
"""What an element counts or measures, if an assumption relates it to sizes, unless another interval is given."""


class Given(NamedTuple):
    """Assumptions about the symbols of a model: intervals by the caller and by the model's metadata, and relations.

    `bound` maps a symbol to what stands for it: a number, a name, or an expression of names. `named` are names that
    the caller gives besides those of the model. `elements` maps a name such as `k[0]` to the input and the index.
    """

    bounds: Mapping[str, Interval] = {}
    declared: Mapping[str, Interval] = {}
    relations: tuple[str, ...] = ()
    bound: Mapping[str, int | str] = {}
    named: tuple[str, ...] = ()
    elements: Mapping[str, tuple[str, int]] = {}

    def intervals(self) -> dict[str, Interval]:
        """The intervals. The caller's intervals replace those of the model."""
        return {**dict.fromkeys(self.elements, _ELEMENT), **self.declared, **self.bounds}

    def parts(self) -> Iterator[tuple[str, Given]]:
        """Each assumption alone, with its text."""
        alone = Given(named=self.named, elements=self.elements)
        for name, (low, high) in {**self.declared, **self.bounds}.items():
            yield interval_text(Var.fresh(name, low, high)), alone._replace(bounds={name: (low, high)})
        for name, size in self.bound.items():
            yield f"{name} == {size}", alone._replace(bound={name: size})
        for text in self.relations:
            yield text, alone._replace(relations=(text,))


NOTHING_GIVEN = Given()


class Narrowed(NamedTuple):
    """What assumptions say of symbols before the walk.

    `same` maps the name of a symbol to the first name of those that it equals, `bound` to an expression that stands for
    it. `related` are the names in relations that say more than this and the intervals.
    """

    bounds: dict[str, Interval]
    same: Mapping[str, str] = {}
    bound: Mapping[str, int | str] = {}
    related: frozenset[str] = frozenset()

    def fixed(self) -> dict[str, int | str]:
        """What stands for a symbol that needs no name: a number, the name of an equal symbol, or an expression."""
        numbers = {name: low for name, (low, high) in self.bounds.items() if low == high}
        return {**{name: numbers.get(first, first) for name, first in self.same.items()}, **numbers, **self.bound}


def interval_text(symbol: Var) -> str:
    """The bounds of a symbol as a condition.

    >>> interval_text(Var("N")), interval_text(Var.fresh("M", 2, 8))
    ('N >= 1', '2 <= M <= 8')
    """
    low, high = symbol.bounds()
    return f"{symbol} >= {low}" if high is None else f"{low} <= {symbol} <= {high}"


KEY = "symdim.contract"
"""The key of the contract in the metadata of a graph."""

RANGES = "pkg.torch.export.ExportedProgram.range_constraints"
_SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"
"""The keys under which torch's exporter leaves ranges of sizes, and the inputs of the program."""


class InFile(NamedTuple):
    """The contract in the metadata of a model, None if there is none, and what is wrong with the metadata.

    A contract that `is_own` was written by this library, and is renewed when the model is written.
    """

    contract: Contract | None = None
    wrong: tuple[str, ...] = ()
    is_own: bool = False

    @property
    def bounds(self) -> Mapping[str, Interval]:
        """The intervals of symbols."""
        return {} if self.contract is None else self.contract.bounds

    @property
    def guards(self) -> tuple[Condition, ...]:
        """The conditions."""
        return () if self.contract is None else self.contract.guards


def contract_in(front: FrontEnd) -> InFile:
    """What the metadata of a graph says of sizes. The ranges of torch count where there is no contract."""
    metadata = front.metadata()
    if metadata.keys().isdisjoint((KEY, RANGES)):
        return InFile()
    from onnx_infer.model.contract import read_contract  # few models need it

    wrong: tuple[str, ...] = ()
    if (text := metadata.get(KEY)) is not None:
        contract, faults = read_contract(text)
        wrong = tuple([f"metadata {KEY}: {fault}" for fault in faults])
        if contract is not None:
            return InFile(contract, wrong, is_own=True)
    if RANGES not in metadata:
        return InFile(wrong=wrong)
    from onnx_infer.model.torch_ranges import of_torch

    contract, faults = of_torch(metadata[RANGES], metadata.get(_SIGNATURE, ""), front.inputs())
    return InFile(contract or None, (*wrong, *(f"metadata {RANGES}: {fault}" for fault in faults)))


def given_bound(front: FrontEnd, bind: Mapping[str, int | str], shapes: Mapping[str, InputShape]) -> Bound:
    """What stands for the symbols and sizes of a model that the caller gives."""
    from onnx_infer.model.input_shapes import bound_sizes  # few calls need it

    symbols = Symbols(*front.dim_params())
    kinds = front.view(symbols).graph.inputs  # this names the axes of inputs
    return bound_sizes(kinds, front.inputs(), symbols.known(), bind, shapes)


def given_by(
    front: FrontEnd,
    bounds: Mapping[str, Interval],
    assume: Sequence[str],
    values: Mapping[str, InputValue],
    bound: Bound | None,
    in_file: InFile,
    trusts: bool = False,
) -> Given:
    """What is given of the symbols by the caller, and by the contract in the file.

    Its guards are among it if the caller `trusts` what is declared.
    """
    if not (bounds or assume or values or bound or trusts):
        return Given(declared=in_file.bounds)
    from onnx_infer.model.input_values import given_elements, given_sizes, named_elements, spelled  # few calls need it

    names = front.dim_params()[0]
    elements = named_elements([name for name, _ in front.inputs()], (*bounds, *assume), names)
    intervals = {**in_file.bounds, **given_sizes(front.inputs(), values), **given_elements(elements, values)}
    ours = dict(zip(map(spelled, bounds), bounds.values(), strict=True))
    relations = tuple(map(spelled, assume))
    if trusts and in_file.contract is not None:
        relations = tuple(dict.fromkeys((*relations, *in_file.contract.assumable(Symbols(names).known()))))
    given = Given(ours, intervals, relations, elements=elements)
    if bound is None:
        return given
    # an interval of a symbol is one of the expression that stands for it
    ends = [(name, given.intervals()[name]) for name in bound.of if name in given.intervals()]
    stated = [interval_text(Var.fresh(name, low, high)) for name, (low, high) in ends]
    ours, intervals = ({n: e for n, e in of.items() if n not in bound.of} for of in (given.bounds, given.declared))
    return Given(ours, intervals, (*given.relations, *stated), bound.of, bound.named, elements)
