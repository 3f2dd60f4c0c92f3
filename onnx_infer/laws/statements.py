"""Statements of rules about the sizes in a run, and fresh sizes (those that only the data decide).

Rules stay pure functions: `unify`, `broadcast` and `fresh` record their findings in the trace of the call, which also
has the mode of the call. The engine opens one trace per rule call, remembers it with the result, and replays both for
every equal node that is inferred in the same mode.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from onnx_infer.errors import ShapeInferenceError, broken
from symdim import Expr, Scope, Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import substituted
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.origin import Computed, ValueOf
from symdim.algebra.variable import make_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_infer.values.tensor import Dim, Shape
    from symdim.relations.relation import Relation, RelationKind

Kind: TypeAlias = Literal["required", "assumed", "declared"]

StatedKind: TypeAlias = "RelationKind | Literal['undecided']"
"""A kind of `symdim.relations`, or "undecided": a result would be simpler if lhs >= rhs were known."""


class Statement(NamedTuple):
    """A `relation` of two sizes, the law that demands it, and its kind.

    | kind     | if the statement fails                                                                 |
    |----------|----------------------------------------------------------------------------------------|
    | required | the node does not run                                                                  |
    | assumed  | a runtime may run the node, but results have other sizes than inferred                 |
    | declared | the author of the model is wrong: only what a declared type says depends on it         |

    `filled`: sizes of tensors that a runtime skips if they are empty. Where none is 0, an assumed statement is
    required.
    """

    relation: StatedKind
    lhs: Dim
    rhs: Dim
    law: str
    kind: Kind = "required"
    filled: Shape = ()

    @property
    def condition(self) -> Relation:
        """What is stated, alone. An "undecided" statement has none."""
        from symdim.relations.relation import Relation  # few models need it

        assert self.relation != "undecided"
        return Relation(self.relation, self.lhs, self.rhs)

    def substitute(self, variables: Mapping[Any, Dim]) -> Statement:
        """The statement with other sizes in place of variables."""
        lhs, rhs, *filled = (substituted(size, variables) for size in (self.lhs, self.rhs, *self.filled))
        return self._replace(lhs=lhs, rhs=rhs, filled=tuple(filled))


class Mode(NamedTuple):
    """What rules may conclude in a call.

    If it `is_cautious`, rules assume nothing: a rule states no assumption and leaves open what rests on one, so sizes
    are right for every runtime. If it `is_strict`, two sizes that are not numbers broadcast only where they are equal,
    by the caller's word. If it `chooses`, the size that broadcasting chooses of two sizes is written as an expression
    of both; else it is a fresh size.
    """

    is_cautious: bool = False
    is_strict: bool = False
    chooses: bool = True

    @property
    def number(self) -> int:
        """A number for each mode: it is hashed and compared faster."""
        return self.is_cautious + 2 * self.is_strict + 4 * self.chooses


USUAL = Mode()


class Trace:
    """The statements, fresh sizes, notes, warnings and errors of one rule call in a mode.

    `refused`: no runtime runs the node.
    """

    __slots__ = ("_outer", "errors", "fresh", "mode", "notes", "refused", "statements", "warnings")

    def __init__(self, mode: Mode = USUAL) -> None:
        self.mode = mode
        self.statements: list[Statement] = []
        self.fresh: list[Var] = []
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.errors: list[str] = []
        self.refused = False

    def __enter__(self) -> Trace:
        self._outer = _OPEN.trace
        _OPEN.trace = self
        return self

    def __exit__(self, *_: object) -> None:
        _OPEN.trace = self._outer


class _Open(local):
    """The innermost open trace of a thread."""

    trace: Trace | None = None


_OPEN = _Open()


def state(
    relation: RelationKind | Literal["undecided"],
    lhs: Dim,
    rhs: Dim,
    law: str,
    kind: Kind = "required",
    filled: Shape = (),
) -> None:
    """Record a statement in the open trace, if there is one."""
    if _OPEN.trace is not None:
        _OPEN.trace.statements.append(Statement(relation, lhs, rhs, law, kind, filled))


def call_mode() -> Mode:
    """The mode of the call whose trace is open."""
    return USUAL if _OPEN.trace is None else _OPEN.trace.mode


def warn(law: str) -> None:
    """Record a warning (about elements for which the operator has no result) in the open trace, if there is one."""
    if _OPEN.trace is not None:
        _OPEN.trace.warnings.append(law)


def contradict(law: str, kind: Kind = "required") -> None:
    """Report in the open trace that the node breaks a law. The rule goes on, because its other sizes are clear.

    A runtime may run a node that breaks an assumed law. So this is an error, but no proof that the node is not reached.

    Raises `ShapeInferenceError` if no trace is open.
    """
    if _OPEN.trace is None:
        raise ShapeInferenceError(law)
    _OPEN.trace.errors.append(law)
    _OPEN.trace.refused |= kind != "assumed"


def demand(condition: object, law: str, *values: object, sign: str = "!=", kind: Kind = "required") -> bool:
    """Whether the condition holds. If not, the law is reported with the values that break it, and the rule goes on.

    Use `onnx_infer.errors.require` if the sizes of the result are not clear without the law.
    """
    if not condition:
        contradict(broken(law, *values, sign=sign), kind)
    return bool(condition)


def conflicting(law: str, kind: Kind = "required") -> Dim:
    """Report a size on which the operands disagree; return an unknown size."""
    contradict(law, kind)
    return fresh(law)


def is_contradicted() -> bool:
    """Whether the node of the open trace breaks a law."""
    trace = _OPEN.trace
    return trace is not None and bool(trace.errors)


class _Reported:
    """A context that reports a law that is broken in its block. For laws on which no size of the result depends."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if not isinstance(error, ShapeInferenceError):
            return False
        contradict(str(error))
        return True


reported = _Reported()
"""Use `with reported:` around checks that decide no size of the result."""


def element(name: str, index: int = 0) -> Var:
    """An unknown element of the input of this name, as a variable. Use it only for the `value` of a fresh size.

    >>> element("ends", 1), element("ends", 1).bounds()
    (ends[1], (None, None))
    """
    return make_variable(Scope(), f"{name}[{index}]", None, None, origin=ValueOf(name, index))


def fresh(
    note: str, *, at_most: Dim | None = None, at_least: int = 0, value: Dim | None = None, name: str = "_d"
) -> Dim:
    """A size that no input size determines. The note says what decides it; `at_most` is an upper bound, or None.

    Where the bounds leave one number only, it is that number.

    `value` is the size as an expression of elements of integer inputs (see `element`) and of sizes, with the rounding
    and clamping of the operator. It gives the size once the elements are known.

    >>> fresh("the number of non-zero elements"), fresh("the number of non-zero elements", at_most=0)
    (_d, 0)
    """
    if isinstance(at_most, int) and at_most < at_least:
        contradict(f"{note}: at least {at_least} and at most {at_most}")
        at_most = None
    if at_most == at_least:
        return at_least
    hi = at_most if isinstance(at_most, int) else None
    origin = note if value is None else Computed(value, note)
    var = Var.fresh(name, at_least, hi, at_most=at_most, origin=origin)
    if _OPEN.trace is not None:
        _OPEN.trace.fresh.append(var)
        _OPEN.trace.notes.append(note)
    return var


def elements_of(size: object) -> list[Any]:
    """The variables of a size that stand for elements of tensors; one that an operator takes for a size is none.

    >>> elements_of(element("ends", 1) + 2), elements_of(3)
    ([ends[1]], [])
    """
    variables = size.variables() if isinstance(size, Expr) else ()
    return [v for v in variables if isinstance(v.origin, ValueOf) and not v.origin.semantics]


def unread(output: int) -> Var:
    """The only element of the integer output at this index, which a run decides: a variable without bounds.

    Sums and differences of such elements are told apart, and cancel, as expressions.

    >>> unread(1)
    element[1]
    """
    var = make_variable(Scope(), f"element[{output}]", None, None, origin=ValueOf("", output))
    if _OPEN.trace is not None:
        _OPEN.trace.fresh.append(var)
    return var


def named(fresh: tuple[Var, ...], variable: Callable[[Var, Dim | None, object], Var]) -> dict[Var, Dim]:
    """The variables of a node for the fresh sizes and the unread elements of a remembered outcome.

    `variable(placeholder, bound, origin)` makes each.

    >>> named((fresh("why"),), lambda placeholder, bound, origin: Var("_d7"))
    {_d: _d7}
    """
    names: dict[Var, Dim] = {}
    for placeholder in fresh:
        limit, origin = placeholder.at_most, placeholder.origin
        limit = None if limit is None else substituted(limit, names)
        if isinstance(origin, Computed):
            origin = Computed(substituted(origin.size, names), origin.why)
        names[placeholder] = variable(placeholder, limit, origin)
    return names


# -- variables that a walk makes --------------------------------------------------------------------------------

# Outcomes are remembered under the sizes in their inputs. So a walk takes its variables from a table: one variable for
# each name, bounds and origin. Then a second inference of the model finds the outcomes of the first one. Within a walk
# each name is given once, so different sizes have different variables. A result replaces them by variables of its own
# (`engine/fresh.py`).
_made = shared_cache(1 << 13)  # name, bounds, origin -> variable


def make_size(name: str, lo: int | None, hi: int | None, at_most: Dim | None, origin: object) -> Var:
    """The variable of this name, bounds and origin. A walk must not give a name twice.

    >>> a, b, c = (make_size("_d0", 0, None, None, why) for why in ("rows", "rows", "columns"))
    >>> a is b, a is c
    (True, False)
    """
    key = name, lo, hi, at_most, type(origin), origin
    var: Var | None = _made.get(key)
    if var is None:
        var = _made.setdefault(key, make_variable(Scope(), name, lo, hi, at_most, origin))
    return var
