"""Inference of a model of any front end: `run` lists the passes. At the end, the checks of its options.

The error for a wrong option says how to write it.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar

from onnx_infer.diagnostics import Diagnostic, is_raised
from onnx_infer.engine.passes import Passes, infer_forward
from onnx_infer.engine.record import Record, Setting
from onnx_infer.errors import ArgumentError, ShapeInferenceError, UnknownSymbol
from onnx_infer.laws.statements import Mode
from onnx_infer.model.given import KEY, NOTHING_GIVEN, Given, InFile, contract_in, given_bound, given_by
from onnx_infer.operators.element_types import too_many_axes
from onnx_infer.types.merge import ShapeMergePolicy, size_pairs
from onnx_infer.values.tensor import MAX_RANK, UNKNOWN_SIZE, Value
from onnx_infer.values.text import bounded
from symdim.algebra.expr import as_dim
from symdim.algebra.named_tuple import NamedTuple
from symdim.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable

    from onnx_infer.model.graph import FrontEnd
    from onnx_infer.model.input_shapes import Bound, InputShape
    from onnx_infer.model.input_values import InputValue
    from onnx_infer.model.size_texts import Size

F = TypeVar("F", bound="Callable[..., Any]")

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


class Request(NamedTuple):
    """A model and the options of its inference; see `onnx_infer.infer`.

    If it `is_cautious`, nothing is assumed, and a statement does not change the values before its node. So a value has
    its type in every run that computes the value.
    """

    front: FrontEnd
    policy: ShapeMergePolicy = "refine"
    bounds: Mapping[str, tuple[int, int | None]] | None = None
    min_dim: int = 1
    adopt_declared_symbols: bool = True
    bidirectional: bool = False
    assume: Sequence[str] = ()
    assume_declared: bool = False
    initializers: Initializers = "overridable"
    values: Mapping[str, InputValue] | None = None
    bind: Mapping[str, int | str] | None = None
    input_shapes: Mapping[str, InputShape] | None = None
    broadcast: Broadcast = "onnx"
    is_cautious: bool = False

    def passes(self) -> tuple[Passes, InFile, Bound | None]:
        """What the passes share, the contract in the file, and the shapes that the caller gives; checks the options."""
        check_given(policy=self.policy, initializers=self.initializers, broadcast=self.broadcast)
        check_given(bounds=self.bounds, values=self.values, bind=self.bind, input_shapes=self.input_shapes)
        assume, is_strict = relations_of(self.assume) if self.assume != () else ((), False)
        front, values = self.front, self.values or {}
        bound = given_bound(front, self.bind or {}, self.input_shapes or {}) if self.bind or self.input_shapes else None
        if bound is not None and bound.shapes:
            front = front.reshaped(bound.shapes)
        in_file = contract_in(self.front) if self.front.metadata() else InFile()
        given = NOTHING_GIVEN
        if self.bounds or assume or values or bound or in_file.contract is not None:
            given = given_by(front, self.bounds or {}, assume, values, bound, in_file, self.assume_declared)
        setting = Setting(
            self.policy,
            adopt=self.adopt_declared_symbols and self.policy != "override",
            assumes_declared=self.assume_declared,
            mode=Mode(self.is_cautious, is_strict or self.broadcast == "strict"),
        )
        is_reshaped = bound is not None and bound.is_other
        all_constant = self.initializers == "constant"
        return Passes(front, setting, given, values, self.min_dim, all_constant, is_reshaped), in_file, bound


class Run(NamedTuple):
    """A finished inference: the record of its last pass, and what else the result is made of.

    `inputs`: the shapes of inputs that say more than the model. `in_file`: the contract in the file. `given` and
    `values`: what the caller has assumed.
    """

    record: Record
    inputs: Mapping[str, tuple[Size, ...]] = {}
    in_file: InFile = InFile()
    given: Given = NOTHING_GIVEN
    values: Mapping[str, InputValue] = {}


def run(request: Request, first: Record | None = None) -> Run:
    """Infer a model, without collections of garbage; see `_run`.

    An inference makes many objects that stay: sizes, types, outcomes. Whenever their number has grown by a quarter, the
    collector of cyclic garbage visits every object of the process: also those of a framework that is loaded, and there
    may be a million. It finds next to nothing, because these objects do not refer to each other in circles.

    Of calls at the same time in several threads the first one that ends turns the collector on. A call that finds it
    off leaves it as it is.
    """
    was_enabled = gc.isenabled()
    try:
        if was_enabled:
            gc.disable()
        return _run(request, first)
    finally:
        if was_enabled:
            gc.enable()


def _run(request: Request, first: Record | None) -> Run:
    """Infer a model. Each pass makes a new record, or changes the last one as its line says.

    `first` is the ended record of the first forward pass, if that was made node by node for this request.

        forward      from the inputs to the outputs, twice if later nodes teach earlier ones: all types and statements
        assume       relations of the caller: sizes in their simplest form; only with `assume` or `assume_declared`
        backward     constraints solved for inputs, and forward again, in turn; only with `bidirectional`
        report       diagnostics name the assumption that causes them, and what is wrong with the model as a whole
    """
    passes, in_file, bound = request.passes()
    record = infer_forward(passes, uses_claims=not request.bidirectional, first=first)
    inputs: Mapping[str, tuple[Size, ...]] = {}
    if record.declared.assumed:  # declared types that are assumed say more of the symbols: forward, once more
        passes = passes.assuming(record.declared.assumed)
        record = infer_forward(passes, uses_claims=not request.bidirectional)
    if request.bidirectional or passes.given.relations:
        from onnx_infer.engine.assumptions import assumptions_of, settle  # few calls need it

        met, wrong = record.symbols.known(), assumptions_of(record, passes.given.relations).contradiction()
        if request.bidirectional and not wrong:
            from onnx_infer.bidirectional import infer_backward

            record, inputs = infer_backward(passes, record)
        settle(record, passes.given.relations, met, wrong)
    if passes.given.bounds and (unknown := passes.given.bounds.keys() - record.symbols.known().keys()):
        raise UnknownSymbol("bounds", unknown, record.symbols.known())
    if record.declared.assumed:
        passes = passes.assuming(record.declared.assumed)
    report(record, passes, in_file)
    if request.policy == "strict" and (raised := next(filter(is_raised, record.diagnostics), None)):
        raise ShapeInferenceError(str(raised))
    named = _named_axes(request.front, record, bound)
    return Run(record, {**named, **inputs}, in_file, passes.given, passes.values)


def report(record: Record, passes: Passes, in_file: InFile) -> None:
    """Complete the diagnostics and notes of a record with what is wrong with the model as a whole."""
    if passes.given != NOTHING_GIVEN and record.diagnostics:
        from onnx_infer.engine.messages import blamed  # few models need it

        record.diagnostics[:] = blamed(
            record.diagnostics, passes.given, lambda part: infer_forward(passes._replace(given=part)).diagnostics
        )
    for name, sizes in passes.front.inputs():
        if len(sizes) > MAX_RANK:
            record.diagnostics.append(Diagnostic("warning", "", "", too_many_axes(f"input '{name}'", len(sizes))))
    graph = record.model.graph
    if graph.defaults or any(value is None for _, value in graph.inputs):
        from onnx_infer.engine.messages import input_errors  # few models need it

        record.diagnostics += [Diagnostic("error", "", "", message) for message in input_errors(record.model)]
    warnings = [*in_file.wrong]
    if in_file.contract is not None and (foreign := sorted(in_file.bounds.keys() - record.symbols.known().keys())):
        warnings.append(f"metadata {KEY}: bounds of {', '.join(map(repr, foreign))}, which the model does not have")
    if outdated := record.scope.operators.outdated:
        warnings.append(outdated)
    record.diagnostics += [Diagnostic("warning", "", "", message) for message in warnings]
    if record.diagnostics:
        from onnx_infer.engine.messages import reported_once  # few models need it

        record.diagnostics[:] = [d._replace(message=bounded(d.message)) for d in reported_once(record)]
    if record.notes and (record.model.graph.defaults or record.scope.unreadable):
        from onnx_infer.engine.messages import name_causes  # few models need it

        name_causes(record)


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


# -- options ----------------------------------------------------------------------------------------------------------


def with_options(options: type) -> Callable[[F], F]:
    """Decorator: a keyword that is neither a parameter nor one of the `options` is an error before anything is done.

    >>> from typing import TypedDict
    >>> Options = TypedDict("Options", {"assume": list, "bounds": dict})
    >>> call = with_options(Options)(lambda model, **options: options)
    >>> call(None, assum=[])
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ArgumentError: there is no option 'assum': do you mean 'assume'?
    """

    def register(function: F) -> F:
        code = function.__code__
        known = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *options.__annotations__} - {"self"}

        @wraps(function)
        def call(*args: Any, **given: Any) -> Any:
            if not known.issuperset(given):
                check_options(given, known)
            return function(*args, **given)

        return call  # type: ignore[return-value]  # the same but for the check

    return register


def check_options(given: Iterable[str], known: Collection[str]) -> None:
    """Raise `ArgumentError` for a name that is no option."""
    for name in given:
        if name not in known:
            meant = nearest(name, known)
            said = f"do you mean {meant!r}?" if meant else f"the options are {', '.join(sorted(known))}"
            raise ArgumentError(f"there is no option {name!r}: {said}")


CHOICES = {
    "policy": ("skip", "override", "refine", "strict"),
    "initializers": ("overridable", "constant"),
    "broadcast": ("onnx", "strict"),
}
"""Option -> the words of which it is one."""


def check_given(**options: Any) -> None:
    """Raise `ValueError` for an option of `CHOICES` that is none of its words, or another one that is no mapping.

    >>> check_given(broadcast="strikt")
    Traceback (most recent call last):
    ...
    ValueError: broadcast 'strikt' is none of onnx, strict
    >>> check_given(bind="N=3")
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ArgumentError: bind='N=3': this option is a dict from names, write bind={...}
    """
    for name, given in options.items():
        if name in CHOICES:
            if given not in CHOICES[name]:
                raise ValueError(f"{name} {given!r} is none of {', '.join(CHOICES[name])}")
        elif given is not None and name == "bounds":
            check_bounds(given)
        elif given is not None and not isinstance(given, Mapping):
            raise ArgumentError(f"{name}={given!r:.60}: this option is a dict from names, write {name}={{...}}")


def check_bounds(bounds: Any) -> None:
    """Raise `ArgumentError` unless `bounds` gives symbols intervals.

    >>> check_bounds({"N": 4})
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ArgumentError: bounds={'N': 4}: the bounds of a symbol are a pair, write bounds={'N': (4, 4)}
    """
    if not isinstance(bounds, Mapping):
        raise ArgumentError(
            f"bounds={bounds!r}: bounds are a dict from symbols to pairs, write bounds={{'N': (1, 64)}}"
        )
    for symbol, ends in bounds.items():
        if not isinstance(symbol, str):
            raise ArgumentError(f"bounds={{{symbol!r}: ...}}: a symbol is given by its name, write {str(symbol)!r}")
        if _is_int(ends):
            cure = f"write bounds={{{symbol!r}: ({ends}, {ends})}}"
            raise ArgumentError(f"bounds={{{symbol!r}: {ends}}}: the bounds of a symbol are a pair, {cure}")
        pair = isinstance(ends, (tuple, list)) and len(ends) == 2
        if not (pair and _is_int(ends[0]) and (ends[1] is None or _is_int(ends[1]))):
            cure = "write (1, 64), or (1, None) for no upper end"
            raise ArgumentError(f"bounds={{{symbol!r}: {ends!r}}}: the bounds of a symbol are two integers, {cure}")


NO_ACCIDENT = "no accidental broadcast"
"""The assumption that `broadcast="strict"` states, in words."""


def relations_of(assume: Any) -> tuple[tuple[str, ...], bool]:
    """The relations, and whether no symbols broadcast by accident. Raises `ArgumentError` for what is no list of texts.

    >>> relations_of(["H % 2 == 0", "no accidental broadcast"]), relations_of("no accidental broadcast")
    ((('H % 2 == 0',), True), ((), True))
    >>> relations_of("H % 2 == 0")
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ArgumentError: assume='H % 2 == 0': relations are a list, write assume=['H % 2 == 0']
    """
    if assume == NO_ACCIDENT:
        assume = [assume]
    if isinstance(assume, str):
        raise ArgumentError(f"assume={assume!r}: relations are a list, write assume=[{assume!r}]")
    if not isinstance(assume, (list, tuple, Sequence)) or not all(isinstance(relation, str) for relation in assume):
        raise ArgumentError(f"assume={assume!r}: relations are a list of texts, write assume=['H % 2 == 0']")
    return tuple(relation for relation in assume if relation != NO_ACCIDENT), NO_ACCIDENT in assume


def _is_int(value: object) -> bool:
    return isinstance(as_dim(value), int)
