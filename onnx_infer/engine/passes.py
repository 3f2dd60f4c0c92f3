"""Inference from the inputs to the outputs: a pass over the nodes, and a second one if later nodes teach earlier ones.

    forward     visits every node once and records types, elements, statements and diagnostics
    refined     a second forward pass, if the first one has learned what an earlier node asked for
    finished    names, shorter texts and contradictions; no node is visited

Each pass makes a record of its own. What it knows before its first node is its `Start`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from onnx_infer.engine.claims import name_sizes
from onnx_infer.engine.record import Record, Setting
from onnx_infer.engine.repeat import Shapes, Start, second_start, unconfirmed
from onnx_infer.engine.substitution import computed_inputs, rename, shorten, shorter_sizes
from onnx_infer.engine.walk import walk
from onnx_infer.laws.bounds import Known, assuming
from onnx_infer.model.given import NOTHING_GIVEN, Given, Narrowed
from onnx_infer.model.symbols import Symbols
from symdim import Var
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.model.graph import FrontEnd, Model
    from onnx_infer.model.input_values import InputValue


class Passes(NamedTuple):
    """What all passes of one inference share: the model, the settings, and what the caller gives.

    With `all_constant` every initializer is a constant, also one that is an input. `is_reshaped`: the caller gives
    other shapes of inputs, so declared numbers of other values do not hold.
    """

    front: FrontEnd
    setting: Setting
    given: Given
    values: Mapping[str, InputValue] = {}
    min_dim: int = 1
    all_constant: bool = False
    is_reshaped: bool = False

    def assuming(self, relations: Iterable[str]) -> Passes:
        """The same with more relations of symbols."""
        known = dict.fromkeys((*self.given.relations, *relations))
        return self._replace(given=self.given._replace(relations=tuple(known)))

    def record(self, start: Start = Start(), *, ends_early: bool = False) -> Record:  # noqa: B008  (a constant)
        """The record of a pass before its first node."""
        symbols = self._symbols(start)
        model = self._view(start, symbols)  # this names the axes of inputs
        trusted, uses_claims = start.shapes.values, start.uses_claims
        setting = self.setting._replace(trusted=trusted, uses_claims=uses_claims, ends_early=ends_early)
        return Record(model, symbols, setting)

    def forward(self, start: Start = Start(), *, ends_early: bool = False) -> Record:  # noqa: B008  (a constant)
        """The record of a pass over all nodes. The assumptions hold during it: rules ask the relations among them."""
        record = self.record(start, ends_early=ends_early)
        return assuming(self.known(record.symbols), partial(walk, record))

    def known(self, symbols: Symbols) -> Known | None:
        """What the relations of the caller say beyond bounds, in the form that rules ask; None if they say no more."""
        if not symbols.related:
            return None
        from onnx_infer.engine.assumptions import Assumptions

        return Assumptions(self.given.relations, symbols.known(), symbols.bound).known()

    def _view(self, start: Start, symbols: Symbols) -> Model:
        """The model with the shapes that a pass knows from its start, and the given elements."""
        view = self.front.view(symbols, self.all_constant)
        if self.is_reshaped:
            from onnx_infer.model.input_shapes import without_numbers

            view = without_numbers(view)
        if self.given.elements:
            from onnx_infer.model.input_values import put_elements  # few calls need it

            view = put_elements(view, self.given.elements, symbols.text)
        if start.shapes != Shapes():
            view = start.shapes.put_into(view, symbols, start.uses_claims)
        if self.values:
            from onnx_infer.model.input_values import put_values  # few calls need it

            view = put_values(view, self.values)
        return view

    def _symbols(self, start: Start) -> Symbols:
        """The symbols of a pass, in the bounds that the assumptions and the start give."""
        given = self.given
        names, reserved = self.front.dim_params()
        if not self.setting.adopt:
            reserved = []  # sizes that an earlier inference named get new names
        if start.shapes.inputs:
            names = start.shapes.names(self.front)
        names = [*names, *given.named, *given.elements]
        symbols_with = partial(Symbols, names, reserved, min_dim=self.min_dim, elements=given.elements)
        if given == NOTHING_GIVEN:
            return symbols_with(bounds=start.bounds)
        narrow = Narrowed(given.intervals(), bound=given.bound)
        if given.relations:
            from onnx_infer.engine.assumptions import Assumptions, narrowed

            symbols = symbols_with(bounds=narrow.bounds, fixed=given.bound)
            self._view(start, symbols)  # this names the axes of inputs
            narrow = narrowed(given, Assumptions(given.relations, symbols.known(), symbols.bound))
        return symbols_with(
            bounds={**narrow.bounds, **start.bounds},
            fixed=narrow.fixed(),
            related=narrow.related,
            relations=given.relations,
        )


def infer_forward(
    passes: Passes,
    start: Start = Start(),  # noqa: B008  (a constant)
    *,
    uses_claims: bool = True,
    first: Record | None = None,
) -> Record:
    """The record of the inference from the inputs to the outputs.

    Unless it `uses_claims`, what declared types say of sizes that are long or that only the data decide is not used,
    but `left_open`. `first` is the record of the first pass, if that is done already.
    """
    if passes.setting.mode.is_cautious:
        start = start._replace(uses_claims=uses_claims)
        record = passes.forward(start)
    else:
        record = first or passes.forward(start, ends_early=True)
    symbols, early = record.symbols, record.statements.known_early
    if early is None and not record.says_more() and not start.stated:
        return record
    inputs = computed_inputs(record)
    if early is not None:
        start = start.with_bounds(early, record, symbols)
        record = passes.forward(start)
    if record.says_more() or start.stated:
        record, start = refined(passes, record, start, symbols, uses_claims=uses_claims)
        finish(passes, record, start, symbols)
        if not (passes.setting.mode.is_cautious or record.symbols.related):
            record.scope.update(inputs)  # sizes of inputs stay as the model writes them
        if record.declared.claims:
            record.declared.assumed += name_sizes(record)
    return record


def refined(
    passes: Passes, record: Record, start: Start, symbols: Symbols, *, uses_claims: bool
) -> tuple[Record, Start]:
    """The record of a second pass and its start, or this record if a second pass would find nothing more.

    `symbols` are those of the first pass, in which the result is written.
    """
    left_open = frozenset() if uses_claims else unconfirmed(record)
    if not passes.setting.mode.is_cautious and (record.is_open() or shorter_sizes(record)):
        second = second_start(record, start, symbols, uses_claims)
        if second is not None:
            record, start = passes.forward(second), second
            left_open = left_open if uses_claims else left_open | unconfirmed(record)
    record.declared.left_open = left_open
    return record, start


def finish(passes: Passes, record: Record, start: Start, symbols: Symbols) -> None:
    """Drop what the assumptions imply, write sizes in the symbols of the first pass, find contradictory demands."""
    if passes.given != NOTHING_GIVEN:
        from onnx_infer.engine.assumptions import drop_implied

        assuming(passes.known(record.symbols), partial(drop_implied, record))
    if start.bounds:
        renamed = [record.symbols.text(name) for name in (*start.bounds, *record.symbols.related)]
        rename(record, {v: symbols.text(v.name) for v in renamed if isinstance(v, Var)})
    if start.stated:
        record.statements.put([*start.stated, *record.statements.pairs])
    if passes.setting.mode.is_cautious:
        return
    if record.statements.pairs:
        from onnx_infer.engine.demands import errors_of

        known = passes.known(symbols)
        record.statements.contradictions = errors_of(record, () if known is None else known.facts)
        record.diagnostics += record.statements.contradictions
    if shorter := shorter_sizes(record):
        shorten(record, shorter)
