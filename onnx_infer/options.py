"""What all calls share: checks of their arguments, and no collection of garbage while they run.

The error for a wrong argument says how to write it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from onnx_infer.errors import ArgumentError
from symdim.algebra.expr import as_dim
from symdim.errors import nearest

F = TypeVar("F", bound="Callable[..., Any]")
P = ParamSpec("P")
T = TypeVar("T")


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


def collecting_later(call: Callable[P, T]) -> Callable[P, T]:
    """The function, during which the collector does not run. It runs again as soon as a call has ended.

    An inference makes many objects that stay: sizes, types, outcomes. Whenever their number has grown by a quarter, the
    collector of cyclic garbage visits every object of the process: also those of a framework that is loaded, and there
    may be a million. It finds next to nothing, because these objects do not refer to each other in circles.

    Calls may be nested, or at the same time in several threads: the first one that ends turns the collector on. A call
    that finds the collector off leaves it as it is. A call that turns it off turns it on again. So it runs after all of
    them.

    >>> @collecting_later
    ... def is_collecting() -> bool:
    ...     return gc.isenabled()
    >>> is_collecting(), gc.isenabled()
    (False, True)
    """

    @wraps(call)
    def later(*args: P.args, **options: P.kwargs) -> T:
        was_enabled = gc.isenabled()
        try:
            if was_enabled:
                gc.disable()
            return call(*args, **options)
        finally:
            if was_enabled:
                gc.enable()

    return later


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


def no_model(model: object) -> ArgumentError:
    """The error for an object that is not a model.

    >>> print(no_model(3))
    a model is a ModelProto, its bytes or a path, not int
    """
    kind = type(model)
    name = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    cure = _CURES.get(name, "")
    return ArgumentError(f"a model is a ModelProto, its bytes or a path, not {kind.__name__}{cure}")


def no_path(path: object) -> ArgumentError:
    """The error for an object that is no path of a model.

    >>> print(no_path(3))
    the path of a model is a text or a PathLike, not int
    """
    cure = ": call infer_shapes for a model in memory" if type(path).__name__ == "ModelProto" else ""
    return ArgumentError(f"the path of a model is a text or a PathLike, not {type(path).__name__}{cure}")


_CURES = {
    "onnx_ir.Model": ": call onnx_infer.integrations.onnx_ir.infer(model), or infer_shapes of the same module",
    "onnx_ir.Node": ": call onnx_infer.integrations.onnx_ir_nodes.infer_node_outputs for a single node",
    "onnx.GraphProto": ": wrap it by onnx.helper.make_model(graph)",
    "onnx.NodeProto": ": call onnx_infer.infer_node_outputs for a single node",
    "torch.ONNXProgram": ": call onnx_infer.integrations.onnx_ir.infer(program.model), see docs/coming_from.md",
    "torch.ExportedProgram": ": export it by torch.onnx.export first, see docs/coming_from.md",
}
"""Class, with its package -> how to pass such an object."""


def _is_int(value: object) -> bool:
    return isinstance(as_dim(value), int)
