"""Inference of a model of any front end: walks over it, until the bounds that they imply do not change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.engine.collecting import collecting_later
from onnx_infer.engine.engine import Engine
from onnx_infer.engine.learnt import Learnt
from onnx_infer.engine.overridable import name_overridable
from onnx_infer.engine.settling import settle
from onnx_infer.errors import ShapeInferenceError, StrictModeError, UnknownSymbol
from onnx_infer.laws.known import assuming
from onnx_infer.model.given import Given, Narrowed
from onnx_infer.model.input_values import given_sizes, put_values
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.known_schemas import outdated
from onnx_infer.operators.results import too_many_axes
from onnx_infer.operators.verification import input_errors
from onnx_infer.options import check_assume, check_bounds
from onnx_infer.types.merge import POLICIES, ShapeMergePolicy, size_pairs
from onnx_infer.values.tensor import MAX_RANK, UNKNOWN_SIZE, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.engine.claims import Belief
    from onnx_infer.engine.found import Found
    from onnx_infer.model.graph import FrontEnd, Model
    from onnx_infer.model.input_values import InputValue
    from onnx_infer.model.size_texts import Size

Initializers: TypeAlias = Literal["overridable", "constant"]
"""The treatment of initializers that are also inputs, from IR version 4 on. Up to version 3 they are constants."""


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
    is_cautious: bool = False,
) -> tuple[Engine, Mapping[str, tuple[Size, ...]]]:
    """The engine after its last walk, and the found shapes of inputs; see `onnx_infer.infer`.

    With `is_cautious` nothing is assumed, and a statement does not change the values before its node. So a value has
    its type in every run that computes the value.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r} is none of {', '.join(POLICIES)}")
    if initializers not in ("overridable", "constant"):
        raise ValueError(f"initializers {initializers!r} is none of overridable, constant")
    check_bounds(bounds)
    check_assume(assume)
    declared, wrong = front.bounds()
    lengths = given_sizes(front.inputs(), values or {})
    given = Given(bounds or {}, {**declared, **lengths}, tuple(assume))
    walks = partial(
        walk,
        front,
        policy=policy,
        min_dim=min_dim,
        adopt=adopt_declared_symbols and policy != "override",
        assume_declared=assume_declared,
        all_constant=initializers == "constant",
        values=values or {},
        is_cautious=is_cautious,
    )
    inputs: Mapping[str, tuple[Size, ...]] = {}
    if bidirectional or assume or assume_declared:
        from onnx_infer.bidirectional import infer_both_ways

        engine, inputs = infer_both_ways(front, walks, given, backwards=bidirectional)
    else:
        engine = walks(given=given)
    if given.bounds and (unknown := given.bounds.keys() - engine.symbols.known().keys()):
        raise UnknownSymbol("bounds", unknown, engine.symbols.known())
    if engine.assumed:
        given = given._replace(relations=tuple(dict.fromkeys((*given.relations, *engine.assumed))))
    if given:
        from onnx_infer.engine.assumptions import blamed

        engine.diagnostics[:] = blamed(engine.diagnostics, given, lambda part: walks(given=part).diagnostics)
    wrong += input_errors(engine.model, engine.scope)
    for name, sizes in front.inputs():
        if len(sizes) > MAX_RANK:
            engine.diagnostics.append(Diagnostic("warning", "", "", too_many_axes(f"input '{name}'", len(sizes))))
    inputs = {**_named_axes(front, engine), **inputs}
    name_overridable(engine)
    engine.diagnostics += [Diagnostic("error", "", "", message) for message in wrong]
    if told := outdated(engine.model.opsets):
        engine.diagnostics.append(Diagnostic("warning", "", "", told))
    if policy == "strict":
        errors = [d for d in engine.diagnostics if d.severity == "error"]
        if errors:
            raise ShapeInferenceError(str(errors[0]))
    return engine, inputs


def _named_axes(front: FrontEnd, engine: Engine) -> dict[str, tuple[Size, ...]]:
    """The shapes of the inputs with nameless axes, with the names that these axes have got."""
    if not engine.symbols.axes:
        return {}
    values = ((name, engine.scope[name]) for name, _ in engine.model.graph.inputs)
    shaped = {name: sizes for name, value in values if (sizes := sizes_of(value))}
    return {name: shaped[name] for name, sizes in front.inputs() if None in sizes and name in shaped}


def sizes_of(value: Value | None) -> tuple[Size, ...]:
    """The sizes of a tensor, or of the tensor in a sequence or optional, in written form."""
    return tuple(
        [None if d is UNKNOWN_SIZE else d if isinstance(d, int) else str(d) for d, _ in size_pairs(value, None)]
    )


def check(diagnostics: Sequence[Diagnostic], check_type: bool, strict_mode: bool) -> None:
    """Raise the errors among the diagnostics that the caller wants to have raised."""
    errors = [d for d in diagnostics if d.severity == "error"]
    if errors and (strict_mode or (check_type and any("element type" in d.message for d in errors))):
        raise StrictModeError("\n".join(map(str, errors)))


def log(diagnostics: Sequence[Diagnostic], warn_on_missing: bool) -> None:
    """Log the diagnostics; those about operators without a rule only if `warn_on_missing`."""
    import logging

    logger = logging.getLogger("onnx_infer")
    for diagnostic in diagnostics:
        if warn_on_missing or diagnostic.severity != "warning":
            logger.warning("%s", diagnostic)


_MOST_WALKS = 4


def _view(
    front: FrontEnd, all_constant: bool, values: Mapping[str, InputValue], learnt: Learnt, symbols: Symbols
) -> Model:
    """The model with the found types and the given elements."""
    view = front.view(symbols, all_constant)
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

    view_of, learnt = partial(_view, front, all_constant, values), Learnt(found, believed=believed)
    start = Narrowed(given.intervals())
    if given:
        from onnx_infer.engine.assumptions import Assumptions, narrowed, settled_facts
    if given.relations:
        symbols = Symbols(names, reserved, bounds=start.bounds, min_dim=min_dim)
        view_of(learnt, symbols)  # this names the axes of inputs
        start = narrowed(given, Assumptions(given.relations, symbols.known()))
    fixed, related = start.fixed(), start.related
    last = 0 if is_cautious else _MOST_WALKS - 1
    for count in range(last + 1):
        symbols = Symbols(
            names, reserved, bounds={**start.bounds, **learnt.bounds}, min_dim=min_dim, fixed=fixed,
            related=related, relations=given.relations,
        )  # fmt: skip
        view = view_of(learnt, symbols)
        known = Assumptions(given.relations, symbols.known()).known() if related else None
        engine = Engine(
            view, symbols, policy, adopt=adopt, assume_declared=assume_declared,
            impatient=count < last - 1,  # the walk before the last one finds all bounds, so none is lost
            trusted=() if learnt.found is None else learnt.found.values,
            believed=None if count == last and believes else learnt.believed, is_cautious=is_cautious,
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
        assuming(known, partial(settled_facts, engine))
    if to_first:
        engine.rename(to_first)
    if learnt.stated:
        engine.restate([*learnt.stated, *engine.stated()])
    if not is_cautious:
        engine.shorten_long_sizes()
        engine.scope.update({} if related else written)
    engine.claims[:0] = learnt.claims
    engine.assumed += settle(engine)
    return engine
