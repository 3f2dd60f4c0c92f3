"""Shapes as one Python function of the variables' sizes, for memory planners and kernels at run time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from keyword import iskeyword
from typing import Any, TypeAlias, overload

from symdim.algebra.application import Application, Function
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import applications_in, applied_to_numbers
from symdim.algebra.expr import Expr
from symdim.algebra.magnitude import MAX_BITS
from symdim.algebra.texts.tree import stored_tree
from symdim.algebra.variable import Var
from symdim.dialects.languages import Python
from symdim.dialects.straight_code import StraightCode, value_bits
from symdim.errors import SizeOverflow, SymdimError, UnboundFunction, UnboundName, refuse_text
from symdim.shape import Dim, Shape

Functions: TypeAlias = Mapping[Function, Callable[..., int]]

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_GENERATED = re.compile(r"[a-z]\d+|max|min|sizes")


@overload
def compile_shape(
    shapes: Shape, args: Sequence[str | Var], functions: Functions | None = None
) -> Callable[..., tuple[int, ...]]: ...
@overload
def compile_shape(
    shapes: Iterable[Shape], args: Sequence[str | Var], functions: Functions | None = None
) -> Callable[..., tuple[tuple[int, ...], ...]]: ...
def compile_shape(
    shapes: Shape | Iterable[Shape], args: Sequence[str | Var], functions: Functions | None = None
) -> Callable[..., tuple[int, ...] | tuple[tuple[int, ...], ...]]:
    """A function from the sizes of the variables `args`, by position, to the tuple(s) of sizes of the shape(s).

    Every expression is computed once, even if it occurs in many sizes. Nothing is checked at run time: sizes outside
    the variables' bounds are simply put into the expressions, and a divisor of 0 raises ZeroDivisionError. `functions`
    computes the values of functions for numbers. Raises UnboundName for variables that are not among `args`, and for
    functions that are not given and have no meaning.

    >>> compile_shape(Shape(["N", "(N + 1)//2"]), ["N"])(7)
    (7, 4)
    """
    rows = [shapes] if isinstance(shapes, Shape) else list(shapes)
    code = StraightLine(args, functions)
    if missing := code.unbound(dim for row in rows for dim in row):
        raise UnboundName(missing)
    results = [tuple_text(map(code.operand, row)) for row in rows]
    return code.function(results[0] if isinstance(shapes, Shape) else tuple_text(results))


class StraightLine(StraightCode):
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

    def __init__(self, args: Sequence[str | Var], functions: Functions | None = None) -> None:
        super().__init__(Python(), [], read=stored_tree)
        self._given = functions or {}
        self.functions: dict[str, Callable[..., int]] = {}  # what the statements call
        refuse_text(args, "arguments")
        if len(set(args)) < len(args):
            raise SymdimError(f"an argument is given twice: {', '.join(map(str, args))}")
        self._parameters: dict[str | Var, str] = {}
        for index, arg in enumerate(args):
            name = arg.name if isinstance(arg, Var) else arg
            taken = name in self._parameters.values()
            self._parameters[arg] = name if is_plain(name) and not taken else f"a{index}"

    def __contains__(self, variable: Var) -> bool:
        """Whether the variable is among the arguments, itself or by name."""
        return variable in self._parameters or variable.name in self._parameters

    def unbound(self, dims: Iterable[Dim]) -> tuple[str, ...]:
        """What has no value: variables that are not among the arguments, functions, and sizes with huge numbers."""
        dims = list(dims)
        functions = [node for node in applications_in(dims) if not self._has_values(node.function)]
        huge = [dim for dim in dims if isinstance(dim, Expr) and value_bits(dim, self._bits) > MAX_BITS]
        return *[v.name for v in variables_of(dims) if v not in self], *map(repr, [*functions, *huge])

    def _has_values(self, function: Function) -> bool:
        return function.meaning is not None or function in self._given

    def source(self, result: str) -> str:
        """The source of the function `sizes` that returns the value of the text."""
        head = f"def sizes({', '.join(self._parameters.values())}):"
        return "\n ".join([head, *self.statements, f"return {result}"])

    def function(self, result: str) -> Callable[..., Any]:
        """The function that returns the value of the text."""
        return function_of(self.source(result), self.functions)

    def _application(self, node: Application) -> str:
        function, given = node.function, self._given.get(node.function)
        if not self._has_values(function):
            raise UnboundFunction(repr(node), str(function))
        name = f"f{len(self.functions)}"
        self.functions[name] = partial(_value_of, function, given)
        return self.assign(f"{name}({', '.join(map(self.operand, node._parts))})")

    def _too_large(self, dim: Expr) -> str:
        raise SizeOverflow(f"{dim!r} may have numbers of more than {MAX_BITS} bits")

    def _symbol(self, variable: Var, root: Expr) -> str:
        name = self._parameters.get(variable) or self._parameters.get(variable.name)
        if name is None:
            raise UnboundName(tuple(v.name for v in root.variables() if v not in self))
        return name


def _value_of(function: Function, given: Callable[..., int] | None, *parts: int) -> int:
    return applied_to_numbers(function, parts, given)


def is_plain(name: str) -> bool:
    """Whether a variable's name may stand in the source: an identifier, but not a keyword or a generated name.

    >>> is_plain("seq_len"), is_plain("seq len"), is_plain("lambda"), is_plain("t0")
    (True, False, False, False)
    """
    return bool(_PLAIN.fullmatch(name)) and not iskeyword(name) and not _GENERATED.fullmatch(name)


def function_of(source: str, functions: Mapping[str, Callable[..., int]]) -> Callable[..., Any]:
    """The function `sizes` that a source of `StraightLine` defines. It can use only `max`, `min` and `functions`."""
    namespace: dict[str, Any] = {"__builtins__": {}, "max": max, "min": min, **functions}
    exec(source, namespace)
    sizes: Callable[..., Any] = namespace["sizes"]
    return sizes


def tuple_text(items: Iterable[str]) -> str:
    """The source of a tuple.

    >>> tuple_text(["N"]), tuple_text(["N", "3"]), tuple_text([])
    ('(N,)', '(N, 3)', '()')
    """
    texts = list(items)
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
