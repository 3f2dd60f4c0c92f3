"""Inference of a model of any front end: walks over it, until the bounds that they imply do not change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from onnx_infer.diagnostics import Diagnostic, is_raised
from onnx_infer.engine.claims import name_sizes
from onnx_infer.engine.record import Record, Setting
from onnx_infer.engine.repeat import Shapes, Start, second_start, unconfirmed
from onnx_infer.engine.substitution import computed_inputs, rename, shorten, shorter_sizes
from onnx_infer.engine.walk import walk
from onnx_infer.errors import ShapeInferenceError, UnknownSymbol
from onnx_infer.laws.known import Known, assuming
from onnx_infer.laws.statements import Mode
from onnx_infer.model.given import KEY, Given, Narrowed, contract_in, given_bound, given_by
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.element_types import too_many_axes
from onnx_infer.operators.verification import input_errors
from onnx_infer.options import check_given, collecting_later, relations_of
from onnx_infer.types.merge import ShapeMergePolicy, size_pairs
from onnx_infer.values.tensor import MAX_RANK, UNKNOWN_SIZE, Value
from onnx_infer.values.text import bounded
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from onnx_infer.model.graph import FrontEnd, Model
    from onnx_infer.model.input_shapes import Bound, InputShape
    from onnx_infer.model.input_values import InputValue
    from onnx_infer.model.size_texts import Size

Initializers: TypeAlias = Literal["overridable", "constant"]
"""The treatment of initializers that are also inputs, from IR version 4 on. Up to version 3 they are constants."""


Broadcast: TypeAlias = Literal["onnx", "strict"]
"""Whether a size that is not a number may broadcast to another one (it is 1 in some run), or only equals it."""


class Options(TypedDict, total=False):
    """The options of inference; see `onnx_infer.infer`."""

    policy: ShapeMergePolicy
    bounds: Mapping[str, tuple[int, int | None]] | None
    min_dim: int
    adopt_declared_symbols: bool
    bidirectional: bool
    assume: Sequence[str]
    assume_declared: bool
    initializers: Initializers
    values: Mapping[str, InputValue] | None
    bind: Mapping[str, int | str] | None
    input_shapes: Mapping[str, InputShape] | None
    broadcast: Broadcast


@collecting_later
def run(
    front: FrontEnd,
    *,
    policy: ShapeMergePolicy = "refine",
    bounds: Mapping[str, tuple[int, int | None]] | None = None,
    min_dim: int = 1,
    adopt_declared_symbols: bool = True,
    bidirectional: bool = False,
    assume: Sequence[str] = (),
    assume_declared: bool = False,
    initializers: Initializers = "overridable",
    values: Mapping[str, InputValue] | None = None,
    bind: Mapping[str, int | str] | None = None,
    input_shapes: Mapping[str, InputShape] | None = None,
    broadcast: Broadcast = "onnx",
    is_cautious: bool = False,
    first: Record | None = None,
) -> tuple[Record, Mapping[str, tuple[Size, ...]]]:
    """The record of the last walk, and the found shapes of inputs; see `onnx_infer.infer`.

    With `is_cautious` nothing is assumed, and a statement does not change the values before its node. So a value has
    its type in every run that computes the value. `first` is the ended record of the first walk, if it was begun with
    `begun` for this front end and these options.
    """
    check_given(policy=policy, initializers=initializers, broadcast=broadcast)
    check_given(bounds=bounds, values=values, bind=bind, input_shapes=input_shapes)
    assume, is_strict = relations_of(assume) if assume != () else ((), False)
    written = front
    bound = given_bound(front, bind or {}, input_shapes or {}) if bind or input_shapes else None
    if bound is not None and bound.shapes:
        front = front.reshaped(bound.shapes)
    in_file = contract_in(written)
    given = given_by(front, bounds or {}, assume, values or {}, bound, in_file, assume_declared)
    setting = Setting(
        policy,
        adopt=adopt_declared_symbols and policy != "override",
        assumes_declared=assume_declared,
        mode=Mode(is_cautious, is_strict or broadcast == "strict"),
    )
    view = partial(
        _view, front, initializers == "constant", values or {}, given.elements, bound is not None and bound.is_other
    )
    walks = partial(_walked, front, view, setting, min_dim)
    inputs: Mapping[str, tuple[Size, ...]] = {}
    if bidirectional or given.relations or assume_declared:
        from onnx_infer.bidirectional import infer_both_ways

        record, inputs = infer_both_ways(front, walks, given, backwards=bidirectional)
    else:
        record = walks(given=given, first=first)
    if given.bounds and (unknown := given.bounds.keys() - record.symbols.known().keys()):
        raise UnknownSymbol("bounds", unknown, record.symbols.known())
    if record.assumed:
        given = given._replace(relations=tuple(dict.fromkeys((*given.relations, *record.assumed))))
    if given and record.diagnostics:
        from onnx_infer.engine.messages import blamed  # few models need it

        record.diagnostics[:] = blamed(record.diagnostics, given, lambda part: walks(given=part).diagnostics)
    inputs = {**_named_axes(written, record, bound), **inputs}
    record.in_file, record.given = in_file, (given, values or {})
    _tell(record, front)
    if policy == "strict" and (raised := next(filter(is_raised, record.diagnostics), None)):
        raise ShapeInferenceError(str(raised))
    return record, inputs


def _tell(record: Record, front: FrontEnd) -> None:
    """Complete the diagnostics and notes of a record with what is wrong with the model as a whole."""
    for name, sizes in front.inputs():
        if len(sizes) > MAX_RANK:
            record.diagnostics.append(Diagnostic("warning", "", "", too_many_axes(f"input '{name}'", len(sizes))))
    graph = record.model.graph
    if graph.defaults or any(value is None for _, value in graph.inputs):
        errors = input_errors(record.model, record.scope)
        record.diagnostics += [Diagnostic("error", "", "", message) for message in errors]
    record.diagnostics += [Diagnostic("warning", "", "", message) for message in record.in_file.wrong]
    if foreign := sorted(record.in_file.bounds.keys() - record.symbols.known().keys()):
        unknown = f"metadata {KEY}: bounds of {', '.join(map(repr, foreign))}, which the model does not have"
        record.diagnostics.append(Diagnostic("warning", "", "", unknown))
    if told := record.scope.operators.outdated:
        record.diagnostics.append(Diagnostic("warning", "", "", told))
    if record.diagnostics:
        from onnx_infer.engine.messages import told_once  # few models need it

        record.diagnostics[:] = [d._replace(message=bounded(d.message)) for d in told_once(record)]
    if record.notes and record.model.graph.defaults:
        from onnx_infer.engine.messages import name_overridable  # few models need it

        name_overridable(record)


def begun(
    front: FrontEnd,
    *,
    policy: ShapeMergePolicy = "refine",
    bounds: Mapping[str, tuple[int, int | None]] | None = None,
    min_dim: int = 1,
    adopt_declared_symbols: bool = True,
    initializers: Initializers = "overridable",
    broadcast: Broadcast = "onnx",
) -> Record:
    """The record of the first walk of `run` with these options, before its first node."""
    check_given(policy=policy, broadcast=broadcast, bounds=bounds)
    setting = Setting(
        policy,
        adopt=adopt_declared_symbols and policy != "override",
        mode=Mode(is_strict=broadcast == "strict"),
    )
    given = given_by(front, bounds or {}, (), {}, None, contract_in(front))
    view = partial(_view, front, initializers == "constant", {}, given.elements, False)
    start = Start()
    symbols = _symbols(front, view, setting, min_dim, given, start)(start)
    return _new(view, setting, start, symbols)


def _named_axes(front: FrontEnd, record: Record, bound: Bound | None) -> dict[str, tuple[Size, ...]]:
    """The shapes of the inputs with nameless axes, with the names that these axes have got, and of those given."""
    if not record.symbols.axes and bound is None:
        return {}
    values = ((name, record.scope[name]) for name, _ in record.model.graph.inputs)
    shaped = {name: sizes for name, value in values if (sizes := sizes_of(value))}
    given: Container[str] = () if bound is None else bound.inputs(front.inputs())
    return {n: shaped[n] for n, sizes in front.inputs() if (None in sizes or n in given) and n in shaped}


def sizes_of(value: Value | None) -> tuple[Size, ...]:
    """The sizes of a tensor, or of the tensor in a sequence or optional, in written form."""
    return tuple(
        [None if d is UNKNOWN_SIZE else d if isinstance(d, int) else str(d) for d, _ in size_pairs(value, None)]
    )


def _view(
    front: FrontEnd,
    all_constant: bool,
    values: Mapping[str, InputValue],
    elements: Mapping[str, tuple[str, int]],
    is_other: bool,
    start: Start,
    symbols: Symbols,
) -> Model:
    """The model with the shapes that a walk knows from the start, and the given elements."""
    view = front.view(symbols, all_constant)
    if is_other:
        from onnx_infer.model.input_shapes import without_numbers

        view = without_numbers(view)
    if elements:
        from onnx_infer.model.input_values import put_elements  # few calls need it

        view = put_elements(view, elements, symbols.text)
    if start.shapes != Shapes():
        view = start.shapes.put_into(view, symbols, start.uses_claims)
    if values:
        from onnx_infer.model.input_values import put_values  # few calls need it

        view = put_values(view, values)
    return view


def _walked(
    front: FrontEnd,
    view: Callable[[Start, Symbols], Model],
    setting: Setting,
    min_dim: int,
    *,
    given: Given,
    start: Start = Start(),  # noqa: B008  (a constant)
    uses_claims: bool = True,
    first: Record | None = None,
) -> Record:
    """The record of the walk over a model, or of the second one, which knows what the first has found.

    The first walk knows the `start`; it may be done already. Unless it `uses_claims`, what declared types say of sizes
    that are long or that only the data decide is not used, but `left_open` of the record.

    The assumptions about symbols hold during the walk: intervals are the bounds of the symbols, and rules ask the other
    relations. The symbols of the result are those of the first walk.
    """
    is_cautious = setting.mode.is_cautious
    if is_cautious:
        start = start._replace(uses_claims=uses_claims)
    symbols_of = _symbols(front, view, setting, min_dim, given, start)
    record = first or _one_walk(view, setting._replace(ends_early=not is_cautious), given, start, symbols_of(start))
    own, written = record.symbols, computed_inputs(record)
    if record.known_early is not None:
        start = start.with_bounds(record.known_early, record, own)
        record = _one_walk(view, setting, given, start, symbols_of(start))
    if not record.says_more() and not start.stated:
        return record
    left_open = frozenset() if uses_claims else unconfirmed(record)
    is_open = not is_cautious and (record.is_open() or bool(shorter_sizes(record)))
    if is_open and (second := second_start(record, start, own, uses_claims)) is not None:
        start = second
        record = _one_walk(view, setting, given, start, symbols_of(start))
        left_open = left_open if uses_claims else left_open | unconfirmed(record)
    record.left_open = left_open
    if given:
        from onnx_infer.engine.assumptions import drop_implied

        assuming(_known(given, record.symbols), partial(drop_implied, record))
    related = record.symbols.related
    if start.bounds:
        renamed = [record.symbols.text(name) for name in (*start.bounds, *related)]
        rename(record, {v: own.text(v.name) for v in renamed if isinstance(v, Var)})
    if start.stated:
        record.restate([*start.stated, *record.stated()])
    if not is_cautious and record.stated():
        from onnx_infer.engine.demands import errors_of

        known = _known(given, own)
        record.contradictions = errors_of(record, () if known is None else known.facts)
        record.diagnostics += record.contradictions
    if not is_cautious:
        if shorter := shorter_sizes(record):
            shorten(record, shorter)
        record.scope.update({} if related else written)
    record.claims[:0] = start.claims
    if record.claims:
        record.assumed += name_sizes(record)
    return record


def _symbols(
    front: FrontEnd,
    view: Callable[[Start, Symbols], Model],
    setting: Setting,
    min_dim: int,
    given: Given,
    start: Start,
) -> Callable[[Start], Symbols]:
    """The function that makes the symbols of a walk, narrowed by the assumptions."""
    names, reserved = front.dim_params()
    if not setting.adopt:
        reserved = []  # sizes that an earlier inference named get new names
    if start.shapes.inputs:
        names = start.shapes.names(front)
    names = [*names, *given.named, *given.elements]
    symbols_with = partial(Symbols, names, reserved, min_dim=min_dim, elements=given.elements)
    narrow = Narrowed(given.intervals(), bound=given.bound)
    if given.relations:
        from onnx_infer.engine.assumptions import Assumptions, narrowed

        symbols = symbols_with(bounds=narrow.bounds, fixed=given.bound)
        view(start, symbols)  # this names the axes of inputs
        narrow = narrowed(given, Assumptions(given.relations, symbols.known(), symbols.bound))

    def symbols_of(start: Start) -> Symbols:
        return symbols_with(
            bounds={**narrow.bounds, **start.bounds},
            fixed=narrow.fixed(),
            related=narrow.related,
            relations=given.relations,
        )

    return symbols_of


def _one_walk(
    view: Callable[[Start, Symbols], Model], setting: Setting, given: Given, start: Start, symbols: Symbols
) -> Record:
    """The record of one walk with this start, under the assumptions."""
    return assuming(_known(given, symbols), partial(walk, _new(view, setting, start, symbols)))


def _new(view: Callable[[Start, Symbols], Model], setting: Setting, start: Start, symbols: Symbols) -> Record:
    """The record of a walk with this start, before its first node."""
    model = view(start, symbols)  # this names the axes of inputs
    return Record(model, symbols, setting._replace(trusted=start.shapes.values, uses_claims=start.uses_claims))


def _known(given: Given, symbols: Symbols) -> Known | None:
    """What the relations of the caller say beyond bounds, in the form that rules ask; None if they say no more."""
    if not symbols.related:
        return None
    from onnx_infer.engine.assumptions import Assumptions

    return Assumptions(given.relations, symbols.known(), symbols.bound).known()
