"""Shapes as one Python function of the variables' sizes, for memory planners and kernels at run time."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from keyword import iskeyword
from typing import Any, overload

from symdim.algebra.evaluate import children, parts_first, variables_of
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max
from symdim.algebra.order import dim_order, order, sorted_units
from symdim.algebra.sums.monomial import powers_of
from symdim.algebra.variable import Var
from symdim.errors import SymdimError, UnboundName, refuse_text
from symdim.shape import Shape

_OPERANDS = 32
_DIGITS = 10**18
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_GENERATED = re.compile(r"[a-z]\d+|max|min|sizes")


@overload
def compile_shape(shapes: Shape, args: Sequence[str | Var]) -> Callable[..., tuple[int, ...]]: ...
@overload
def compile_shape(shapes: Iterable[Shape], args: Sequence[str | Var]) -> Callable[..., tuple[tuple[int, ...], ...]]: ...
def compile_shape(
    shapes: Shape | Iterable[Shape], args: Sequence[str | Var]
) -> Callable[..., tuple[int, ...] | tuple[tuple[int, ...], ...]]:
    """A function from the sizes of the variables `args`, by position, to the tuple(s) of sizes of the shape(s).

    Every expression is computed once, even if it occurs in many sizes. Nothing is checked at run time: sizes outside
    the variables' bounds are simply put into the expressions, and a divisor of 0 raises ZeroDivisionError. Raises
    UnboundName for variables that are not among `args`.

    >>> compile_shape(Shape(["N", "(N + 1)//2"]), ["N"])(7)
    (7, 4)
    """
    rows = [shapes] if isinstance(shapes, Shape) else list(shapes)
    code = StraightLine(args)
    if missing := tuple(v.name for v in dict.fromkeys(v for row in rows for v in row.variables()) if v not in code):
        raise UnboundName(missing)
    results = [tuple_text(map(code.operand, row)) for row in rows]
    return code.function(results[0] if isinstance(shapes, Shape) else tuple_text(results))


class StraightLine:
    """Python statements that compute expressions of the variables `args`, each expression once.

    The source contains only numbers, generated names, and names of variables that are plain identifiers. So it is safe
    to run, whatever the variables are called. A function may have any number of statements: compiling and running take
    linear time (measured up to 100,000).

    >>> from symdim import parse
    >>> code = StraightLine(["N", "seq len"])
    >>> total = code.assign(code.operand(parse("(N + 3)//4")) + " + " + code.operand(parse("`seq len`*((N + 3)//4)")))
    >>> print(code.source(total))
    def sizes(N, a1):
     t0 = N + 3
     t1 = t0//4
     t2 = t1*a1
     t3 = t1 + t2
     return t3
    """

    def __init__(self, args: Sequence[str | Var]) -> None:
        refuse_text(args, "arguments")
        if len(set(args)) < len(args):
            raise SymdimError(f"an argument is given twice: {', '.join(map(str, args))}")
        self._parameters: dict[str | Var, str] = {}
        for index, arg in enumerate(args):
            name = arg.name if isinstance(arg, Var) else arg
            taken = name in self._parameters.values()
            self._parameters[arg] = name if is_plain(name) and not taken else f"a{index}"
        self._held: dict[Expr, str] = {}
        self._count = 0
        self.statements: list[str] = []

    def __contains__(self, variable: Var) -> bool:
        """Whether the variable is among the arguments, itself or by name."""
        return variable in self._parameters or variable.name in self._parameters

    def operand(self, dim: int | Expr) -> str:
        """The text that stands for a dimension; statements that it needs are added.

        Raises UnboundName for variables that are not among the arguments.
        """
        if isinstance(dim, int):
            return literal(dim)
        for node in in_order(dim, self._held, children):
            self._held[node] = self._parameter(node, dim) if isinstance(node, Var) else self._computed(node)
        return self._held[dim]

    def assign(self, text: str, note: str = "") -> str:
        """The name of a new variable for the value of the text; the note becomes a comment."""
        name = f"t{self._count}"
        self._count += 1
        self.statements.append(f"{name} = {text}  # {note!a}" if note else f"{name} = {text}")
        return name

    def source(self, result: str) -> str:
        """The source of the function `sizes` that returns the value of the text."""
        head = f"def sizes({', '.join(self._parameters.values())}):"
        return "\n ".join([head, *self.statements, f"return {result}"])

    def function(self, result: str) -> Callable[..., Any]:
        """The function that returns the value of the text."""
        return function_of(self.source(result))

    def _parameter(self, variable: Var, root: Expr) -> str:
        name = self._parameters.get(variable) or self._parameters.get(variable.name)
        if name is None:
            raise UnboundName(tuple(v.name for v in variables_of(root) if v not in self))
        return name

    def _computed(self, node: Expr) -> str:
        """A statement has at most `_OPERANDS` operands: Python's compiler recurses on the operators of a sum."""
        held = self._held
        if node.terms is not None:
            # positive terms come first, so that a sum does not begin with a sign
            terms = node.terms
            units = sorted(sorted_units(terms), key=lambda unit: terms[unit] < 0)
            operands = [(terms[u] < 0, _product(abs(terms[u]), held[u])) for u in units]
            if node.const:
                operands.append((node.const < 0, literal(abs(node.const))))
            name = self.assign(sum_text(operands[:_OPERANDS]))
            for start in range(_OPERANDS, len(operands), _OPERANDS):
                self.statements.append(f"{name} += {sum_text([(False, '0'), *operands[start : start + _OPERANDS]])}")
            return name
        if isinstance(node, FloorDiv):
            numerator, divisor = (self._part(part) for part in node.parts)
            return self.assign(f"{numerator}//{divisor}")
        if isinstance(node, Extremum):
            function = "max" if isinstance(node, Max) else "min"
            return self.assign(f"{function}({', '.join(map(self._part, node.parts))})")
        powers = powers_of(node)
        factors = [
            held[x] if powers[x] == 1 else f"{held[x]}**{literal(powers[x])}" for x in sorted(powers, key=dim_order)
        ]
        name = self.assign("*".join(factors[:_OPERANDS]))
        for start in range(_OPERANDS, len(factors), _OPERANDS):
            self.statements.append(f"{name} *= {'*'.join(factors[start : start + _OPERANDS])}")
        return name

    def _part(self, part: int | Expr) -> str:
        return self._held[part] if isinstance(part, Expr) else literal(part)


def in_order(dim: Expr, held: Container[Expr], parts: Callable[[Expr], Iterable[int | Expr]]) -> Iterator[Expr]:
    """The nodes that an expression needs and that are not held: each after its parts in structural order.

    The caller holds each node before it takes the next one, so every node comes once.
    """

    def ordered(node: Expr) -> list[Expr]:
        return sorted([part for part in parts(node) if isinstance(part, Expr)], key=order, reverse=True)

    return (node for node, _ in parts_first(dim, held, ordered))


def is_plain(name: str) -> bool:
    """Whether a variable's name may stand in the source: an identifier, but not a keyword or a generated name.

    >>> is_plain("seq_len"), is_plain("seq len"), is_plain("lambda"), is_plain("t0")
    (True, False, False, False)
    """
    return bool(_PLAIN.fullmatch(name)) and not iskeyword(name) and not _GENERATED.fullmatch(name)


def function_of(source: str) -> Callable[..., Any]:
    """The function `sizes` that a source of `StraightLine` defines. It can use no global but `max` and `min`."""
    namespace: dict[str, Any] = {"__builtins__": {}, "max": max, "min": min}
    exec(source, namespace)
    found: Callable[..., Any] = namespace["sizes"]
    return found


def tuple_text(items: Iterable[str]) -> str:
    """The source of a tuple.

    >>> tuple_text(["N"]), tuple_text(["N", "3"]), tuple_text([])
    ('(N,)', '(N, 3)', '()')
    """
    texts = list(items)
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def literal(value: int) -> str:
    """A number as source: in parentheses if negative; in hexadecimal if long, because Python limits decimal literals.

    >>> literal(12), literal(-3), literal(10**18)
    ('12', '(-3)', '0xde0b6b3a7640000')
    """
    text = str(value) if abs(value) < _DIGITS else f"{value:#x}"
    return text if value >= 0 else f"({text})"


def _product(k: int, name: str) -> str:
    return name if k == 1 else f"{literal(k)}*{name}"


def sum_text(terms: Sequence[tuple[bool, str]]) -> str:
    """The source of a sum of terms, some of them subtracted."""
    (negative, first), *rest = terms
    return ("-" if negative else "") + first + "".join(f" {'-' if minus else '+'} {text}" for minus, text in rest)
