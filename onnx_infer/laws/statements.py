"""What a rule states beside its result: facts that a run of the model implies, and sizes that only the data decide.

Rules stay pure functions: `unify`, `broadcast` and `fresh` note what they find in the trace of the call, the engine
opens one trace per rule call, remembers it with the result and replays both for every equal node.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.errors import ShapeInferenceError, broken
from symdim import Expr, Scope, Var
from symdim.algebra.origin import Computed, ValueOf
from symdim.algebra.variable import make_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_infer.values.tensor import Dim


class Fact(NamedTuple):
    """One thing that holds in every run in which the node runs: `kind` of (lhs, rhs), and the law that says so.

    | kind         | fact                                                           |
    |--------------|----------------------------------------------------------------|
    | equal        | lhs == rhs                                                     |
    | at_least     | lhs >= rhs                                                     |
    | divides      | lhs divides rhs                                                |
    | broadcast    | lhs == rhs or lhs == 1 or rhs == 1                             |
    | broadcast_to | lhs == rhs or lhs == 1                                         |
    | undecided    | nothing: a result would be simpler if lhs >= rhs were known    |
    """

    kind: str
    lhs: Dim
    rhs: Dim
    law: str

    def __str__(self) -> str:
        if self.kind == "equal":
            return f"{self.lhs} == {self.rhs}"
        if self.kind == "at_least":
            return f"{self.lhs} >= {self.rhs}"
        if self.kind == "divides":
            whole, part = str(self.rhs), str(self.lhs)
            return f"{f'({whole})' if ' ' in whole else whole} % {part if part.isalnum() else f'({part})'} == 0"
        if self.kind == "broadcast_to":
            return f"{self.lhs} in ({self.rhs}, 1)"
        return f"{self.lhs} == {self.rhs} or 1 in ({self.lhs}, {self.rhs})"

    def substitute(self, variables: Mapping[Any, Dim]) -> Fact:
        """The fact with other sizes in place of variables."""
        return self._replace(lhs=_renamed(self.lhs, variables), rhs=_renamed(self.rhs, variables))


class Trace:
    """The facts, fresh sizes, notes, warnings and errors of one rule call."""

    __slots__ = ("errors", "facts", "fresh", "notes", "warnings")

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.fresh: list[Var] = []
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def __enter__(self) -> Trace:
        _STACK.traces.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _STACK.traces.pop()


class _Stack(local):
    """The open traces of a thread."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []


_STACK = _Stack()


def state(kind: str, lhs: Dim, rhs: Dim, law: str) -> None:
    """Note a fact in the open trace, if there is one."""
    if _STACK.traces:
        _STACK.traces[-1].facts.append(Fact(kind, lhs, rhs, law))


def warn(law: str) -> None:
    """Tell of elements for which the operator has no result, in the open trace, if there is one."""
    if _STACK.traces:
        _STACK.traces[-1].warnings.append(law)


def contradict(law: str) -> None:
    """Report that the node breaks a law, in the open trace; the rule goes on, since its other sizes are clear.

    Raises `ShapeInferenceError` where no trace is open.
    """
    if not _STACK.traces:
        raise ShapeInferenceError(law)
    _STACK.traces[-1].errors.append(law)


def demand(condition: object, law: str, *values: object) -> bool:
    """Whether the condition holds; otherwise the law is reported with the values that break it, and the rule goes on.

    `onnx_infer.errors.require` is for laws without which the sizes of the result are not clear.
    """
    if not condition:
        contradict(broken(law, *values))
    return bool(condition)


def conflicting(law: str) -> Var:
    """The size on which operands do not agree, which is reported: nothing is known of it."""
    contradict(law)
    return fresh(law)


def is_contradicted() -> bool:
    """Whether the node of the open trace breaks a law."""
    return bool(_STACK.traces and _STACK.traces[-1].errors)


class _Reported:
    """Reports a law that is broken in its block, and goes on: for laws on which no size of the result depends."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if not isinstance(error, ShapeInferenceError):
            return False
        contradict(str(error))
        return True


reported = _Reported()
"""`with reported:` before checks that decide no size of the result."""


def element(name: str, index: int = 0) -> Var:
    """An element of the input of this name that is not known, as a variable; for the `value` of a fresh size only.

    >>> element("ends", 1), element("ends", 1).bounds()
    (ends[1], (None, None))
    """
    return make_variable(Scope(), f"{name}[{index}]", None, None, origin=ValueOf(name, index))


def fresh(note: str, *, at_most: Dim | None = None, at_least: int = 0, value: Dim | None = None) -> Var:
    """A size that no input size determines; the note says what decides it, `at_most` bounds it where something does.

    `value` is the size as an expression of elements of integer inputs (see `element`) and of sizes, with the rounding
    and clamping of the operator: what the size will be once these are known.

    >>> fresh("the number of non-zero elements").lo
    0
    """
    hi = at_most if isinstance(at_most, int) else None
    origin = note if value is None else Computed(value, note)
    var = Var.fresh("_d", lo=at_least, hi=hi, at_most=at_most, origin=origin)
    if _STACK.traces:
        _STACK.traces[-1].fresh.append(var)
        _STACK.traces[-1].notes.append(note)
    return var


def named(
    fresh: tuple[Var, ...],
    name: Callable[[], str],
    computed: Callable[[Var, Dim | None, Computed], Var] | None = None,
) -> dict[Var, Dim]:
    """New variables for the fresh sizes of a remembered outcome, each with a name of its own.

    `computed` gives the variable for a size that is computed from elements: of its placeholder, bound and origin.

    >>> named((fresh("why"),), lambda: "_d7")
    {_d: _d7}
    """
    names: dict[Var, Dim] = {}
    for placeholder in fresh:
        limit, origin = _renamed(placeholder.at_most, names), placeholder.origin
        if isinstance(origin, Computed):
            origin = Computed(_renamed(origin.size, names), origin.why)
            if computed is not None:
                names[placeholder] = computed(placeholder, limit, origin)
                continue
        names[placeholder] = Var.fresh(name(), placeholder.lo or 0, placeholder.hi, limit, origin)
    return names


def _renamed(dim: Any, names: Mapping[Any, Dim]) -> Any:
    return dim.substitute(names) if isinstance(dim, Expr) else dim
