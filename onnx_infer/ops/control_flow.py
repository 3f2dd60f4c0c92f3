"""If and SequenceMap, and what they share with Loop (`loop.py`) and Scan (`scan.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.elements.conditions import Positive, positive
from onnx_infer.errors import require
from onnx_infer.laws.limits import demand_at_least, demand_one_element
from onnx_infer.laws.sizes import normalize_axis
from onnx_infer.laws.statements import contradict, demand, fresh, state, warn
from onnx_infer.operators.registration import op
from onnx_infer.types.branches import demand_side, of_branches, of_different_rank
from onnx_infer.types.join import NOTHING, either, elements, sequence_of
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import CHUNK, Map, OneOf, Optional, Parts, Sequence, plain
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor, Value, is_small
from symdim import Expr
from symdim.algebra.polynomials import terms_of
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.elements.ratio import Element
    from onnx_infer.laws.statements import Statement
    from onnx_infer.ops.kinds import Dim, Elements, Graph, Values


def check_outputs(what: str, count: int, expected: int) -> None:
    """Check that a graph and its node have the same number of outputs."""
    require(count == expected, f"the number of outputs of {what} and of the node differ", count, expected)


def element_type(value: Value) -> int | None:
    """The element type of a tensor, a sequence or an optional.

    >>> element_type(Sequence(SymTensor(7, (3,)))), element_type(Sequence())
    (7, None)
    """
    return getattr(_innermost(value), "dtype", None)


def _innermost(value: Value) -> Value:
    while isinstance(value, (Sequence, Optional)):
        value = value.elem or NOTHING
    return value


def check_types(what: str, a: Value, b: Value) -> None:
    """Check that two values which replace each other have the same element type, and maps the same keys and values."""
    x, y = _innermost(a), _innermost(b)
    if isinstance(x, Map) and isinstance(y, Map):
        require(x.key == y.key, f"the key types of {what} differ", dt.text(x.key), dt.text(y.key))
        x, y = x.value or NOTHING, y.value or NOTHING
    one, other = getattr(x, "dtype", None), getattr(y, "dtype", None)
    known = one is not None and other is not None
    require(not known or one == other, f"the element types of {what} differ", dt.text(one), dt.text(other))


def condition(value: Value) -> bool | Positive | None:
    """The only element of a condition: a bool, a condition on sizes, or None."""
    data = value.data if isinstance(value, SymTensor) else None
    return data[0] if data is not None and len(data) == 1 and isinstance(data[0], (bool, Positive)) else None


@op("If")
def if_(cond: Elements, then_branch: Graph, else_branch: Graph, output_count: int) -> list[Value]:
    """The outputs of the branch that is taken; if that is unknown, values that cover both branches (If-1 to 25).

    A branch in which a node breaks its law is never taken.
    """
    for what, branch in (("then_branch", then_branch), ("else_branch", else_branch)):
        check_outputs(what, branch.output_count, output_count)
    demand_one_element(cond, "cond")
    taken = condition(cond)
    known = taken if isinstance(taken, bool) else None
    yes, no = then_branch(reached=known), else_branch(reached=None if known is None else not known)
    if not isinstance(taken, bool):
        taken = only_one(then_branch, else_branch, taken)
    if isinstance(taken, bool):
        return yes if taken else no
    state_again(of_both(then_branch.certain_demands(), else_branch.certain_demands()))
    unsure = either("the branches of If")
    source: Positive | Dim | None = taken
    if isinstance(cond, OneOf) and sorted(x.data or () for x in cond.choices) == [(False,), (True,)]:
        source = cond.source
        if cond.choices[1].data == (True,):
            yes, no = no, yes
    elif taken is None and any(map(of_different_rank, yes, no)):
        source = fresh("which branch is taken")
    for i, (a, b) in enumerate(zip(yes, no, strict=True)):
        check_types(f"output {i} of the branches", a, b)
    return [
        of_branches(a, b, source, unsure, elements=isinstance(source, Positive)) for a, b in zip(yes, no, strict=True)
    ]


def only_one(then_branch: Graph, else_branch: Graph, taken: Positive | None) -> bool | Positive | None:
    """The condition. It is decided if every run of one branch fails; then this branch is never taken."""
    first, second = then_branch.refusal, else_branch.refusal
    if first is not None and second is not None:
        contradict(f"neither branch runs: {first}")
    elif first is not None:
        never_runs("then_branch", then_branch, first, taken)
        return False
    elif second is not None:
        never_runs("else_branch", else_branch, second, taken, runs_if=False)
        return True
    return taken


def of_both(first: list[Statement], second: list[Statement]) -> list[Statement]:
    """The demands that hold wherever either all of the first ones or all of the second ones do.

    Of two bounds that differ by a constant this is the weaker one.

    >>> from onnx_infer.laws.statements import Statement
    >>> from symdim import Var
    >>> N, M = Var("N"), Var("M")
    >>> a = [Statement("at_least", N, 5, ""), Statement("equal", M, 8, ""), Statement("equal", N, M, "")]
    >>> [str(s.condition) for s in of_both(a, [Statement("at_least", N, 3, ""), Statement("equal", 2 * M, 16, "")])]
    ['N >= 3', 'M == 8']
    """
    ours, theirs = _by_size(first), _by_size(second)
    return [max(bound, theirs[key], key=lambda pair: pair[0])[1] for key, bound in ours.items() if key in theirs]


def _by_size(demands: Iterable[Statement]) -> dict[tuple[str, Dim], tuple[int, Statement]]:
    """The demands by kind and size, each with the constant beside the size: for bounds, the strongest one."""
    from symdim.relations.solving import solve  # few models need it

    strongest: dict[tuple[str, Dim], tuple[int, Statement]] = {}
    for statement in demands:
        for condition in solve(statement.condition) or ():
            kind, size, _, _ = condition.normal()
            constant = terms_of(size)[1] if kind == "at_least" else 0
            key = kind, size - constant
            if key not in strongest or constant < strongest[key][0]:
                stated = statement._replace(relation=condition.kind, lhs=condition.left, rhs=condition.right)
                strongest[key] = constant, stated
    return strongest


def never_runs(what: str, graph: Graph, broken: str, condition: Element, *, runs_if: bool = True) -> None:
    """Report that no run comes to a graph, because a node in it breaks this law. Its errors do not count.

    The graph would run where the condition is `runs_if`, so it is not. The condition is None if it is not known.
    """
    graph.forget()
    warn(f"{what} never runs: {broken}")
    demand_side(condition, first=not runs_if, law=f"{what} does not run: {broken}")


class BrokenLaws:
    """The first laws that nodes of a body break in single iterations, which certainly run if the node does.

    The walk over any iteration knows less of the values, so it may find none. See `refusal` and `breach` of a graph.
    """

    def __init__(self) -> None:
        self.refusal: str | None = None
        self.breach: str | None = None

    def take(self, body: Graph) -> None:
        """Take those of the last walk."""
        self.refusal = self.refusal or body.refusal
        self.breach = self.breach or body.breach

    def report(self, body: Graph) -> None:
        """Report what the last walk, over any iteration, did not find."""
        if self.refusal is not None and body.refusal is None:
            contradict(self.refusal)
        elif self.breach is not None and body.refusal is body.breach is None:
            contradict(self.breach, "assumed")


_BROKEN = {"at_least": "<", "at_most": ">", "divides": ","}
"""What stands between two numbers for which a relation does not hold, unless it is `!=`."""


def state_again(demands: Iterable[Statement]) -> None:
    """State what a body demands of the values outside. One of numbers alone holds, or is reported."""
    for statement in dict.fromkeys(demands):
        relation, lhs, rhs, law, kind, _ = statement
        if isinstance(lhs, Expr) or isinstance(rhs, Expr):
            state(*statement)
        elif kind == "required" and relation != "undecided":
            holds = Relation(relation, lhs, rhs).holds({})
            demand(holds, law, lhs, rhs, sign=_BROKEN.get(relation, "!="))


def stacked(value: Value, size: Dim, axis: Dim, elements: list[Any] | None = None) -> Value:
    """The values of all iterations, stacked along a new axis, with these elements if they are few.

    Iterations whose items differ in their number of elements do not run, so the stack has none then.
    """
    if not isinstance(value, SymTensor) or value.shape is None:
        return SymTensor(element_type(value))
    at = normalize_axis(axis, value.rank + 1)
    tensor = SymTensor(value.dtype, (*value.dims[:at], size, *value.dims[at:]))
    fits = elements is not None and is_small(tensor) and tensor.size == len(elements)
    return SymTensor(tensor.dtype, tensor.shape, elements) if fits else tensor


# -- SequenceMap ------------------------------------------------------------------------------------------------------

_MAX_MAPPED = 16
"""The most elements of a sequence for which the body is walked one by one."""


@op("SequenceMap")
def sequence_map(input_sequence: Value, additional_inputs: Values, body: Graph, output_count: int) -> list[Value]:
    """n elements, and the elements of other sequences at the same place -> sequences of n results (SequenceMap-17).

    By the specification all sequences have the same length. Its function body, and so every runtime, takes the first n
    elements of a longer one.
    """
    inputs = (input_sequence, *additional_inputs)
    require(isinstance(input_sequence, Sequence) or input_sequence is NOTHING, "the input is not a sequence")
    require(
        body.input_count == len(inputs), "the inputs of body and node differ in number", body.input_count, len(inputs)
    )
    check_outputs("body", body.output_count, output_count)
    sequences = [x for x in inputs if isinstance(x, Sequence)]
    length = input_sequence.length if isinstance(input_sequence, Sequence) else None
    for other in additional_inputs:
        if length is not None and isinstance(other, Sequence) and other.length is not None:
            demand_at_least(other.length, length, "the length of a sequence beside the input")
    runs = None if length is None else positive(length)
    demands: list[Statement] = []

    def mapped(values: list[Value]) -> list[Value]:
        """The results of the body for one element, or for any. What it demands of the values outside is kept."""
        results = body(*values, repeated=True, reached=True if runs is True else None)
        demands.extend(body.demands({}, list(inputs)))
        return results

    one_by_one: list[list[Value]] = []
    broken = BrokenLaws()
    if isinstance(length, int) and length <= _MAX_MAPPED and any(x.items for x in sequences):
        for i in range(length):
            if not body.may_repeat():
                one_by_one.clear()
                break
            one_by_one.append(mapped([item_at(x, i) for x in inputs]))
            broken.take(body)
            body.release(one_by_one[-1])
    cut = {x.parts[:2]: body.size("the elements of the sequence differ") for x in sequences if x.parts is not None}
    general = mapped([any_element(body, x, cut) for x in inputs])
    state_again(demands)
    if body.refusal is not None and runs is not True:
        never_runs("body", body, body.refusal, runs)
    else:
        broken.report(body)
    if one_by_one:
        return [sequence_of(list(results)) for results in zip(*one_by_one, strict=True)]
    inside = body.locals(general, list(inputs))
    return [Sequence(closed(x, inside), length, parts=_parts(x, cut, inside)) for x in general]


def item_at(value: Value, index: int) -> Value:
    """The element of a sequence: any, if its own length is not known or too small. Other values stay as they are."""
    if not isinstance(value, Sequence):
        return value
    items = elements(value) if isinstance(value.length, int) else ()
    return items[index] if index < len(items) else value.elem or NOTHING


def any_element(body: Graph, value: Value, cut: Mapping[tuple[Dim, Dim], Dim]) -> Value:
    """Any element of a sequence. Sizes that differ between elements become sizes of the body, `cut` for chunks."""
    if not isinstance(value, Sequence):
        return value
    elem = value.elem if value.parts is None else value.parts.each_of(cut[value.parts[:2]])
    if isinstance(elem, SymTensor) and elem.shape is not None:
        shape = [body.size("the elements of the sequence differ") if d is UNKNOWN_SIZE else d for d in elem.shape]
        return SymTensor(elem.dtype, shape)
    return NOTHING if elem is None else elem


def _parts(value: Value, cut: Mapping[tuple[Dim, Dim], Dim], inside: frozenset[object]) -> Parts | None:
    """How the result of a body depends on the chunk of one of the sequences, if it depends on nothing else inside."""
    if isinstance(value, SymTensor) and value.shape is not None:
        for (size, chunk), part in cut.items():
            shape = [d.substitute({part: CHUNK}) if isinstance(d, Expr) else d for d in value.shape]
            used = [v for d in shape if isinstance(d, Expr) for v in d.variables()]
            if CHUNK in used and inside.isdisjoint(used):
                return Parts(size, chunk, SymTensor(value.dtype, shape))
    return None


def closed(value: Value, inside: frozenset[object]) -> Value:
    """A value that covers the results of all calls. A size that depends on the inside of the body differs per call."""
    if not isinstance(value, SymTensor) or value.shape is None:
        return plain(value)
    shape = [d if isinstance(d, int) or inside.isdisjoint(d.variables()) else UNKNOWN_SIZE for d in value.shape]
    return SymTensor(value.dtype, shape)
