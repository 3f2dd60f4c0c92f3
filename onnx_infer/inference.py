"""Inference of a model of any front end: walks over it, until the bounds that they imply do not change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from onnx_infer.diagnostics import Diagnostic, is_raised
from onnx_infer.engine.collecting import collecting_later
from onnx_infer.engine.contradictions import errors_of
from onnx_infer.engine.engine import Engine
from onnx_infer.engine.learnt import Learnt
from onnx_infer.engine.messages import blamed, told_once
from onnx_infer.engine.overridable import name_overridable
from onnx_infer.engine.settling import settle
from onnx_infer.errors import ShapeInferenceError, StrictModeError, UnknownSymbol
from onnx_infer.laws.known import assuming
from onnx_infer.model.given import Given, Interval, Narrowed, interval_text
from onnx_infer.model.input_values import given_elements, given_sizes, named_elements, put_elements, put_values, spelled
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.element_types import too_many_axes
from onnx_infer.operators.known_schemas import outdated
from onnx_infer.operators.verification import input_errors
from onnx_infer.options import check_bounds, check_choice, check_mappings, relations_of
from onnx_infer.types.merge import POLICIES, ShapeMergePolicy, size_pairs
from onnx_infer.values.tensor import MAX_RANK, UNKNOWN_SIZE, Value
from onnx_infer.values.text import bounded
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from onnx_infer.engine.claims import Belief
    from onnx_infer.engine.found import Found
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
) -> tuple[Engine, Mapping[str, tuple[Size, ...]]]:
    """The engine after its last walk, and the found shapes of inputs; see `onnx_infer.infer`.

    With `is_cautious` nothing is assumed, and a statement does not change the values before its node. So a value has
    its type in every run that computes the value.
    """
    check_choice("policy", policy, POLICIES)
    check_choice("initializers", initializers, ("overridable", "constant"))
    check_choice("broadcast", broadcast, ("onnx", "strict"))
    check_bounds(bounds)
    check_mappings(values=values, bind=bind, input_shapes=input_shapes)
    assume, is_strict = relations_of(assume)
    written = front
    bound = given_bound(front, bind or {}, input_shapes or {}) if bind or input_shapes else None
    if bound is not None and bound.shapes:
        front = front.reshaped(bound.shapes)
    given, wrong = _given(front, bounds or {}, assume, values or {}, bound)
    walks = partial(
        _with_empty_vectors,
        partial(walk, front),
        policy=policy,
        min_dim=min_dim,
        adopt=adopt_declared_symbols and policy != "override",
        assume_declared=assume_declared,
        all_constant=initializers == "constant",
        values=values or {},
        is_other=bound is not None and bound.is_other,
        is_strict=is_strict or broadcast == "strict",
        is_cautious=is_cautious,
    )
    inputs: Mapping[str, tuple[Size, ...]] = {}
    if bidirectional or given.relations or assume_declared:
        from onnx_infer.bidirectional import infer_both_ways

        engine, inputs = infer_both_ways(front, walks, given, backwards=bidirectional)
    else:
        engine = walks(given=given)
    if given.bounds and (unknown := given.bounds.keys() - engine.symbols.known().keys()):
        raise UnknownSymbol("bounds", unknown, engine.symbols.known())
    if engine.assumed:
        given = given._replace(relations=tuple(dict.fromkeys((*given.relations, *engine.assumed))))
    if given:
        engine.diagnostics[:] = blamed(engine.diagnostics, given, lambda part: walks(given=part).diagnostics)
    wrong += input_errors(engine.model, engine.scope)
    for name, sizes in front.inputs():
        if len(sizes) > MAX_RANK:
            engine.diagnostics.append(Diagnostic("warning", "", "", too_many_axes(f"input '{name}'", len(sizes))))
    inputs = {**_named_axes(written, engine, bound), **inputs}
    name_overridable(engine)
    engine.diagnostics += [Diagnostic("error", "", "", message) for message in wrong]
    if told := outdated(engine.model.opsets):
        engine.diagnostics.append(Diagnostic("warning", "", "", told))
    engine.diagnostics[:] = [d._replace(message=bounded(d.message)) for d in told_once(engine)]
    engine.notes = {name: bounded(note) for name, note in engine.notes.items()}
    if policy == "strict" and (raised := next(filter(is_raised, engine.diagnostics), None)):
        raise ShapeInferenceError(str(raised))
    return engine, inputs


def _with_empty_vectors(walks: Callable[..., Engine], *, given: Given, **options: Any) -> Engine:
    """The engine after its walks. They start again if a declared rank says that a vector is empty."""
    engine = walks(given=given, **options)
    return walks(given=given.with_least(engine.emptied, 0), **options) if engine.emptied else engine


def given_bound(front: FrontEnd, bind: Mapping[str, int | str], shapes: Mapping[str, InputShape]) -> Bound:
    """What stands for the symbols and sizes of a model that the caller gives."""
    from onnx_infer.model.input_shapes import bound_sizes  # few calls need it

    symbols = Symbols(*front.dim_params())
    kinds = front.view(symbols).graph.inputs  # this names the axes of inputs
    return bound_sizes(kinds, front.inputs(), symbols.known(), bind, shapes)


def _given(
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


def _named_axes(front: FrontEnd, engine: Engine, bound: Bound | None) -> dict[str, tuple[Size, ...]]:
    """The shapes of the inputs with nameless axes, with the names that these axes have got, and of those given."""
    if not engine.symbols.axes and bound is None:
        return {}
    values = ((name, engine.scope[name]) for name, _ in engine.model.graph.inputs)
    shaped = {name: sizes for name, value in values if (sizes := sizes_of(value))}
    given: Container[str] = () if bound is None else bound.inputs(front.inputs())
    return {n: shaped[n] for n, sizes in front.inputs() if (None in sizes or n in given) and n in shaped}


def sizes_of(value: Value | None) -> tuple[Size, ...]:
    """The sizes of a tensor, or of the tensor in a sequence or optional, in written form."""
    return tuple(
        [None if d is UNKNOWN_SIZE else d if isinstance(d, int) else str(d) for d, _ in size_pairs(value, None)]
    )


def check(diagnostics: Sequence[Diagnostic], check_type: bool, strict_mode: bool) -> None:
    """Raise the errors among the diagnostics that the caller wants to have raised."""
    errors = list(filter(is_raised, diagnostics))
    if errors and (strict_mode or (check_type and any("element type" in d.message for d in errors))):
        raise StrictModeError("\n".join(map(str, errors)))


def log(diagnostics: Sequence[Diagnostic], warn_on_missing: bool) -> None:
    """Log the diagnostics; those about operators without a rule only if `warn_on_missing`."""
    import logging

    logger = logging.getLogger("onnx_infer")
    for diagnostic in diagnostics:
        if warn_on_missing or diagnostic.severity != "warning" or is_raised(diagnostic):
            logger.warning("%s", diagnostic)


_MOST_WALKS = 4


def _view(
    front: FrontEnd,
    all_constant: bool,
    values: Mapping[str, InputValue],
    elements: Mapping[str, tuple[str, int]],
    is_other: bool,
    learnt: Learnt,
    symbols: Symbols,
) -> Model:
    """The model with the found types and the given elements."""
    view = front.view(symbols, all_constant)
    if is_other:
        from onnx_infer.model.input_shapes import without_numbers

        view = without_numbers(view)
    if elements:
        view = put_elements(view, elements, symbols.text)
    if learnt.found is not None:
        view = learnt.found.put_into(view, symbols, learnt.believed)
    return put_values(view, values)


def walk(
    front: FrontEnd,
    *,
    given: Given,
    policy: ShapeMergePolicy,
    min_dim: int,
    adopt: bool,
    assume_declared: bool,
    all_constant: bool,
    values: Mapping[str, InputValue],
    is_other: bool = False,
    is_strict: bool = False,
    found: Found | None = None,
    is_cautious: bool = False,
    believes: bool = True,
    believed: frozenset[Belief] = frozenset(),
) -> Engine:
    """The engine after its walk over the model. The `found` types replace declared ones.

    Unless it `believes`, declared numbers of sizes that are long or that only the data decide are not used, but are
    `left_open` of the engine. Those that are `believed` are used from the start.

    The assumptions about symbols hold during the walk: intervals are the bounds of the symbols, and rules ask the other
    relations. The walk is repeated while it learns what an earlier node could have known (`engine/learnt.py`).
    The symbols of the result are those of the first walk.
    """
    names, reserved = front.dim_params()
    if not adopt:
        reserved = []  # sizes that an earlier inference named get new names
    if found is not None:
        names = found.names(front)
    names = [*names, *given.names()] if given else names

    view_of = partial(_view, front, all_constant, values, given.elements, is_other)
    learnt = Learnt(found, believed=believed)
    start = Narrowed(given.intervals(), bound=given.bound)
    if given:
        from onnx_infer.engine.assumptions import Assumptions, drop_implied, narrowed
    if given.relations:
        symbols = Symbols(
            names, reserved, bounds=start.bounds, min_dim=min_dim, fixed=given.bound, elements=given.elements
        )
        view_of(learnt, symbols)  # this names the axes of inputs
        start = narrowed(given, Assumptions(given.relations, symbols.known(), symbols.bound))
    fixed, related = start.fixed(), start.related
    last = 0 if is_cautious else _MOST_WALKS - 1
    for count in range(last + 1):
        symbols = Symbols(
            names, reserved, bounds={**start.bounds, **learnt.bounds}, min_dim=min_dim, fixed=fixed,
            related=related, relations=given.relations, elements=given.elements,
        )  # fmt: skip
        view = view_of(learnt, symbols)
        known = Assumptions(given.relations, symbols.known(), symbols.bound).known() if related else None
        engine = Engine(
            view, symbols, policy, adopt=adopt, assume_declared=assume_declared,
            trusted=() if learnt.found is None else learnt.found.values,
            believed=None if count == last and believes else learnt.believed, is_cautious=is_cautious,
            is_strict=is_strict,
        )  # fmt: skip
        assuming(known, engine.run)
        if count == 0:
            first, written = symbols, engine.computed_inputs()
        renamed = (*learnt.bounds, *related - fixed.keys()) if learnt.bounds else ()
        to_first = {symbols.text(name): first.text(name) for name in renamed}
        more = learnt if count == last else learnt.after(engine, to_first, believes)
        if more is learnt:
            break
        learnt = more
    engine.left_open = frozenset() if believes else learnt.left_open | engine.unconfirmed()
    if given:
        assuming(known, partial(drop_implied, engine))
    if to_first:
        engine.rename(to_first)
    if learnt.stated:
        engine.restate([*learnt.stated, *engine.stated()])
    if not is_cautious:
        facts = Assumptions(given.relations, first.known()).facts if related else ()
        engine.contradictions = errors_of(engine, facts)
        engine.diagnostics += engine.contradictions
        engine.shorten_long_sizes()
        engine.scope.update({} if related else written)
    engine.claims[:0] = learnt.claims
    engine.assumed += settle(engine)
    return engine
