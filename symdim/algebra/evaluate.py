"""Walks over expressions: variables, values and substitution. No walk recurses; shared parts are visited once."""

from __future__ import annotations

from symdim.algebra.application import Application, Function
from symdim.algebra.caches import remembered
from symdim.algebra.constructors.applications import applied
from symdim.algebra.constructors.arithmetic import checked, product, sum_of
from symdim.algebra.constructors.extrema import maximum, minimum
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max, Mul, as_dim
from symdim.algebra.intervals import disjoint
from symdim.algebra.magnitude import HUGE, in_limits, power_in_limits
from symdim.algebra.order import dim_order, sorted_units
from symdim.algebra.polynomials import accumulate, powers_of, terms_of
from symdim.algebra.variable import Var
from symdim.errors import BoundsError, DivisionByZero, UnboundFunction, UnboundName

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from symdim.algebra.expr import Dim, Terms

    T = TypeVar("T")


def children(node: Expr) -> Iterable[Dim]:
    """The children of a node: monomials of a sum, atoms of a product, parts of an atom."""
    if node._terms is not None:
        return node._terms
    if node._parts is None:
        return ()
    return node._parts  # type: ignore[return-value]


def parts_of(node: Expr) -> list[Expr]:
    """The children of a node that are expressions."""
    return [part for part in children(node) if isinstance(part, Expr)]


def parts_first(root: T, known: Container[T], parts_of: Callable[[T], list[T]]) -> Iterator[tuple[T, list[T]]]:
    """The root and its parts at all depths, except those in `known`: each one after its own parts, and with them.

    The caller must add each one to `known` before it takes the next one. Of missing parts the last one comes first.
    """
    pending = [root]
    while pending:
        node = pending[-1]
        if node not in known:
            parts = parts_of(node)
            missing = [part for part in parts if part not in known]
            if missing:
                pending += missing
                continue
            yield node, parts
        pending.pop()


@remembered(64)
def postorder(root: Expr) -> list[Expr]:
    """A node and all nodes below it, each once and after its children. Callers must not change the list.

    Sorted by height, and at equal height atoms before products before sums: that puts children first, because an atom
    is higher than its parts and a product or sum as high as its highest factor or monomial.
    """
    seen: dict[Expr, None] = {root: None}
    stack: list[Expr] = [root]
    while stack:
        node = stack.pop()
        for child in children(node):
            if child not in seen and not isinstance(child, int):
                seen[child] = None
                stack.append(child)
    return sorted(seen, key=_rank)


def _rank(node: Expr) -> int:
    return 3 * node._height + (2 if node._terms is not None else type(node) is Mul)


def variables_of(root: Expr) -> tuple[Var, ...]:
    """All variables, in the order of a walk that begins with the leading terms."""
    return (root,) if isinstance(root, Var) else _variables_within(root)


@remembered(1 << 13)
def _variables_within(root: Expr) -> tuple[Var, ...]:
    variables: dict[Var, None] = {}
    seen: set[Expr] = set()
    stack: list[Dim] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, int) or node in seen:
            continue
        seen.add(node)
        if isinstance(node, Var):
            variables[node] = None
        elif node._terms is not None:
            stack += reversed(sorted_units(node._terms))
        elif type(node) is Mul:
            stack += sorted(powers_of(node), key=dim_order, reverse=True)
        else:
            stack += reversed(tuple(children(node)))
    return tuple(variables)


def applications_in(dims: Iterable[Dim]) -> list[Application]:
    """All applications of functions in dimensions, also in arguments of others."""
    nodes = {node: None for dim in dims if isinstance(dim, Expr) and dim._height for node in postorder(dim)}
    return [node for node in nodes if isinstance(node, Application)]


def has_open_function(dims: Iterable[Dim]) -> bool:
    """Whether a function of which values are unknown stands in some dimensions, also in arguments of others."""
    return any(node.function.is_open for node in applications_in(dims))


def interval_text(low: int | None, high: int | None) -> str:
    """What the bounds of a size say.

    >>> interval_text(1, None), interval_text(2, 9)
    ('at least 1', 'from 2 to 9')
    """
    if high is None:
        return "any integer" if low is None else f"at least {low}"
    return f"at most {high}" if low is None else f"from {low} to {high}"


def checked_size(v: Var, value: object) -> int:
    """A size of a variable. Raises BoundsError for one outside its bounds, and TypeError for one that is no int."""
    size = as_dim(value)
    if not isinstance(size, int):
        raise TypeError(f"the size of {v.name!r} is an int, not {value!r}")
    if (v.lo is not None and size < v.lo) or (v.hi is not None and size > v.hi):
        raise BoundsError(f"{v.name!r} is {interval_text(v.lo, v.hi)}, not {size}")
    return size


def evaluate(root: Expr, bindings: Mapping[Any, Any]) -> Dim:
    """The value of an expression; an expression if some variables have no value.

    Raises `UnboundFunction` if all have one, but a function has no value for numbers.
    """
    _demand_mapping(bindings, "evaluate(H=4) or evaluate({'H': 4})")
    values: dict[Expr, int] = {}
    for node in postorder(root):
        if node._terms is not None:
            value = node._const
            for monomial, k in node._terms.items():
                value += k * values[monomial]
        elif isinstance(node, Var):
            given = bindings.get(node.name)
            if given is None:
                given = bindings.get(node)
                if given is None:
                    return substitute(root, bindings)
            value = checked_size(node, given)
        elif isinstance(node, FloorDiv):
            n, d = node._parts
            by = d if isinstance(d, int) else values[d]
            if by == 0:
                raise DivisionByZero(f"the divisor of {node!r} is zero")
            value = (n if isinstance(n, int) else values[n]) // by
        elif isinstance(node, Extremum):
            parts = [part if isinstance(part, int) else values[part] for part in node._parts]
            value = max(parts) if isinstance(node, Max) else min(parts)
        elif type(node) is Mul:
            value = 1
            for atom, exponent in powers_of(node).items():
                value *= power_in_limits(values[atom], exponent)  # type: ignore[assignment]
        else:
            assert isinstance(node, Application)
            parts = [part if isinstance(part, int) else values[part] for part in node._parts]
            value = applied_to_numbers(node.function, parts, bindings.get(node.function))
        values[node] = value if -HUGE < value < HUGE else in_limits(value)  # type: ignore[assignment]
    return values[root]


def _demand_mapping(given: object, example: str) -> None:
    """Raise `TypeError` for what maps no names."""
    if not hasattr(given, "get"):
        raise TypeError(f"sizes are given by name, as in {example}, not as {given!r:.60}")


def applied_to_numbers(function: Function, parts: Sequence[int], given: Callable[..., int] | None = None) -> int:
    """The value of a function, or of what is given for it. Raises `UnboundFunction` if there is none."""
    known = function.of_numbers(parts)
    if known is not None:
        return known  # type: ignore[return-value]  # what is no size stands only in functions
    value = _applied(function, parts, given)
    if isinstance(value, int):
        return value
    raise UnboundFunction(repr(value), str(function))


def _applied(function: Function, parts: Sequence[Dim], given: Callable[..., int] | None) -> Dim:
    """The application, where another function may be given, or what computes the values for numbers."""
    return applied(given, parts) if isinstance(given, Function) else applied(function, parts, given)


def evaluated(root: Expr, bindings: Mapping[Any, Any], sizes: Mapping[str, int]) -> Dim:
    """The value for sizes of both kinds. Raises `UnboundName` for a name that is probably misspelt."""
    given: Mapping[Any, Any] = {**bindings, **sizes} if sizes else bindings
    value = evaluate(root, given)
    if given and isinstance(value, Expr):
        demand_known_names(variables_of(root), given)
    return value


def to_int(root: Expr, bindings: Mapping[Any, Any]) -> int:
    """The value. Raises `UnboundName` if a variable has none."""
    value = evaluate(root, bindings)
    if isinstance(value, int):
        return value
    raise unbound(variables_of(root), bindings)


def unbound(variables: Iterable[Var], bindings: Mapping[str | Var, int]) -> UnboundName:
    """The error for the variables that have no value, with the names in the bindings that none of them has."""
    variables = tuple(variables)
    names = {v.name for v in variables}
    missing = dict.fromkeys(v.name for v in variables if bindings.get(v.name, bindings.get(v)) is None)
    return UnboundName(tuple(missing), tuple(key for key in bindings if isinstance(key, str) and key not in names))


def demand_known_names(variables: Iterable[Var], bindings: Mapping[str | Var, int]) -> None:
    """Raise `UnboundName` if a name in the bindings does not occur while a variable has no value: it may be misspelt.

    A variable with an origin may be left open, because nobody but the data knows its size.
    """
    variables = tuple(variables)
    error = unbound(variables, bindings)
    if error.unused and any(v.origin is None and v.name in error.names for v in variables):
        raise error


class Substitution(dict[object, "Dim"]):
    """Dimensions for variables, for use in many expressions. Parts that these share are rebuilt once.

    `wholes` are dimensions for whole expressions. It must not be changed after its first use.
    """

    __slots__ = ("rebuilt",)

    def __init__(self, mapping: Mapping[Any, Dim], wholes: Mapping[Dim, Dim] | None = None) -> None:
        super().__init__(mapping)
        self.rebuilt: dict[Dim, Dim] = dict(wholes or {})


def substitute(root: Expr, mapping: Mapping[Any, Any]) -> Dim:
    """The expression with dimensions in place of variables, all at once. Functions are applied anew.

    In place of a function another one may be given, or what computes its values for numbers.
    """
    _demand_mapping(mapping, "substitute(H=4) or substitute({'H': 4})")
    values = mapping.rebuilt if isinstance(mapping, Substitution) else {}
    if root not in values:
        for node in postorder(root):
            if node not in values:
                values[node] = _rebuilt(node, values, mapping)
    return values[root]


def replaced(
    dim: Dim, mapping: Mapping[Expr, Dim], values: dict[Dim, Dim], before: Callable[[Expr], None] | None = None
) -> Dim:
    """`dim` with every occurrence of the monomials in `mapping` replaced, all at once.

    `values` remembers the nodes done; pass the same dict for several dimensions. `before` is called with each node that
    is rebuilt, when the parts below it are done. The bounds of variables are not checked. Raises `DivisionByZero` where
    a divisor becomes 0: then `dim` has no value.
    """
    if isinstance(dim, int):
        return dim
    for node in postorder(dim):
        if node in values:
            continue
        if node in mapping:
            values[node] = mapping[node]
        else:
            values[node] = _rebuilt(node, values, {}, before)
    return values[dim]


def _rebuilt(
    node: Expr, values: dict[Dim, Dim], mapping: Mapping[Any, Any], before: Callable[[Expr], None] | None = None
) -> Dim:
    """A node with `values` in place of its parts; for a variable the dimension in `mapping`, if there is one."""
    if isinstance(node, Var):
        given = mapping.get(node.name, mapping.get(node))
        return node if given is None else _replacement(node, checked(given))
    if node._terms is not None:
        if all(values[monomial] is monomial for monomial in node._terms):
            return node
        if before is not None:
            before(node)
        terms: Terms = {}
        const = node._const
        for monomial, k in node._terms.items():
            added, offset = terms_of(values[monomial])
            accumulate(terms, added, k)
            const += k * offset
        return sum_of(terms, const)
    is_given = isinstance(node, Application) and node.function in mapping
    if not is_given and all(isinstance(c, int) or values[c] is c for c in children(node)):
        return node
    if before is not None:
        before(node)
    if isinstance(node, FloorDiv):
        n, d = node._parts
        by = values.get(d, d)
        if by == 0:
            raise DivisionByZero(f"the divisor of {node!r} is zero")
        return floordiv(values.get(n, n), by)
    if isinstance(node, Extremum):
        return (maximum if isinstance(node, Max) else minimum)(*[values.get(part, part) for part in node._parts])
    if isinstance(node, Application):
        return _applied(node.function, [values.get(part, part) for part in node._parts], mapping.get(node.function))
    return in_limits(product([power_in_limits(values[atom], exponent) for atom, exponent in powers_of(node).items()]))


def _replacement(v: Var, given: Dim) -> Dim:
    """The replacement. Raises BoundsError if it is provably outside the bounds of the variable."""
    if isinstance(given, int):
        return checked_size(v, given)
    if disjoint((v.lo, v.hi), given.bounds()):
        raise BoundsError(f"{v.name!r} is {interval_text(v.lo, v.hi)}, which {given!r} never is")
    return given
