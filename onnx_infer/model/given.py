"""Assumptions about the symbols of a model, as they are given before the walk. `engine/assumptions.py` uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.model.input_values import given_elements, given_sizes, named_elements, spelled
from onnx_infer.model.symbols import Symbols
from symdim import Var
from symdim.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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

    def __bool__(self) -> bool:
        return any(self)

    def names(self) -> tuple[str, ...]:
        """The names that are symbols beside those of the model."""
        return (*self.named, *self.elements)

    def intervals(self) -> dict[str, Interval]:
        """The intervals. The caller's intervals replace those of the model."""
        return {**dict.fromkeys(self.elements, _ELEMENT), **self.declared, **self.bounds}

    def with_least(self, symbols: Iterable[str], least: int) -> Given:
        """The same, with a least size of symbols for which no interval is given."""
        return self._replace(declared={**dict.fromkeys(symbols, (least, None)), **self.declared})

    def parts(self) -> Iterator[tuple[str, Given]]:
        """Each assumption alone, with its text."""
        alone = Given(named=self.named, elements=self.elements)
        for name, (low, high) in {**self.declared, **self.bounds}.items():
            yield interval_text(Var.fresh(name, low, high)), alone._replace(bounds={name: (low, high)})
        for name, size in self.bound.items():
            yield f"{name} == {size}", alone._replace(bound={name: size})
        for text in self.relations:
            yield text, alone._replace(relations=(text,))


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


KEY = "symdim.bounds"


def declared_bounds(entries: Iterable[str]) -> tuple[dict[str, tuple[int, int | None]], list[str]]:
    """The intervals by symbol, and what is wrong with the entries. If several entries bound a symbol, the first counts.

    >>> declared_bounds(['{"seq": [1, 2048], "batch": [4, 2]}'])
    ({'seq': (1, 2048)}, ["metadata symdim.bounds: [4, 2] are not bounds of 'batch'"])
    """
    found: dict[str, tuple[int, int | None]] = {}
    wrong: list[str] = []
    for entry in entries:
        _read(entry, found, wrong)
    return found, wrong


def _read(text: str, found: dict[str, tuple[int, int | None]], wrong: list[str]) -> None:
    import json

    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        wrong.append(f"metadata {KEY}: no JSON: {error}")
        return
    if not isinstance(entries, dict):
        wrong.append(f"metadata {KEY}: no JSON object of symbols: {text[:60]}")
        return
    for symbol, ends in entries.items():
        if _is_interval(ends):
            found.setdefault(symbol, (ends[0], ends[1]))
        else:
            wrong.append(f"metadata {KEY}: {ends} are not bounds of {symbol!r}")


def _is_interval(ends: Any) -> bool:
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    low, high = ends
    return type(low) is int and low >= 0 and (high is None or (type(high) is int and high >= low))


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
) -> tuple[Given, list[str]]:
    """What is given of the symbols, and what is wrong with the metadata of the model."""
    declared, wrong = front.bounds()
    names = front.dim_params()[0]
    elements = named_elements([name for name, _ in front.inputs()], (*bounds, *assume), names)
    intervals = {**declared, **given_sizes(front.inputs(), values), **given_elements(elements, values)}
    ours = dict(zip(map(spelled, bounds), bounds.values(), strict=True))
    given = Given(ours, intervals, tuple(map(spelled, assume)), elements=elements)
    if bound is None:
        return given, wrong
    # an interval of a symbol is one of the expression that stands for it
    ends = [(name, given.intervals()[name]) for name in bound.of if name in given.intervals()]
    stated = [interval_text(Var.fresh(name, low, high)) for name, (low, high) in ends]
    ours, intervals = ({n: e for n, e in of.items() if n not in bound.of} for of in (given.bounds, given.declared))
    return Given(ours, intervals, (*given.relations, *stated), bound.of, bound.named, elements), wrong
