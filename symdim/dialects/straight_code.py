"""Expressions as statements of a language. Each part is computed once, whatever reads it.

The parts are those of the display tree: `x % 4` and `min(x, y)` are one operation each. They are computed in structural
order, each after its own parts.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from symdim.algebra.application import Application
from symdim.algebra.dims import excludes, variables_of
from symdim.algebra.evaluate import children, parts_first
from symdim.algebra.evaluate import parts_of as parts_inside
from symdim.algebra.expr import Expr, Mul
from symdim.algebra.magnitude import MAX_BITS
from symdim.algebra.order import order
from symdim.algebra.polynomials import powers_of
from symdim.algebra.texts.display import tree_of
from symdim.algebra.texts.tree import Operation, dims_in, terms_in
from symdim.algebra.variable import Var
from symdim.dialects.floats import FloatFunction, is_float
from symdim.errors import SymdimError, UnboundName

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator, Sequence

    from symdim.algebra.expr import Dim
    from symdim.algebra.texts.tree import Operator, Part, Power, Tree
    from symdim.dialects.languages import Language

_OPERANDS = 16
"""The most operands of a statement: compilers recurse on them."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)


def in_order(dim: Expr, held: Container[Any], read: Callable[[Expr], Tree] = tree_of) -> Iterator[tuple[Expr, Tree]]:
    """The nodes that an expression needs and that are not held, with their trees: each after the nodes in its tree.

    The caller holds each node before it takes the next one, so every node comes once.
    """
    seen: dict[Expr, tuple[Tree, list[Expr]]] = {}

    def parts_of(node: Expr) -> list[Expr]:
        if node not in seen:
            tree = read(node)
            parts = [part for part in dims_in(tree) if isinstance(part, Expr)]
            seen[node] = tree, sorted(parts, key=order, reverse=True) if len(parts) > 1 else parts
        return seen[node][1]

    return ((node, seen[node][0]) for node, _ in parts_first(dim, held, parts_of))


def value_bits(root: Expr, known: dict[Expr, int]) -> int:
    """About the most bits of the values of an expression and its parts, where each variable has one bit.

    `known` has those of the expressions so far. A power has as many as its exponent, and a power of powers the product.
    """
    for node, _ in parts_first(root, known, parts_inside):
        if node._terms is not None:
            terms = [known[monomial] + k.bit_length() for monomial, k in node._terms.items()]
            known[node] = max(*terms, node._const.bit_length()) + len(terms).bit_length()
        elif type(node) is Mul:
            known[node] = sum([known[atom] * exponent for atom, exponent in powers_of(node).items()])
        else:
            parts = children(node)
            known[node] = max([1, *[part.bit_length() if isinstance(part, int) else known[part] for part in parts]])
    return known[root]


class StraightCode:
    """Statements that compute expressions of the variables `symbols`; `read` gives the trees of the expressions.

    `names` are the names of the variables in the code: `s_` and the name of the variable if that is an identifier, else
    a number. So no name is a word of the language or a name of its library. The `optional` ones may have no value.

    >>> from symdim import Var, minimum
    >>> from symdim.dialects.languages import LANGUAGES
    >>> N, S = Var("N"), Var("seq len")
    >>> code = StraightCode(LANGUAGES["c"], [N, S])
    >>> code.operand(2 * (N % 4) + minimum(N, S)), code.operand((N % 4) * S)
    ('t2', 't3')
    >>> print("\\n".join(code.statements))
    const int64_t t0 = mod(s_N, 4);
    const int64_t t1 = min(s_N, s1);
    const int64_t t2 = add(mul(2, t0), t1);
    const int64_t t3 = mul(s1, t0);
    """

    def __init__(
        self,
        language: Language,
        symbols: Sequence[Var],
        optional: Collection[Var] = (),
        read: Callable[[Expr], Tree] = tree_of,
    ) -> None:
        self.language, self._read = language, read
        self.statements: list[str] = []
        self.names: list[str] = []
        for index, symbol in enumerate(symbols):
            name = f"s_{symbol.name}"
            self.names.append(name if _PLAIN.fullmatch(symbol.name) and name not in self.names else f"s{index}")
        self._held: dict[Part | tuple[Power, ...], str] = dict(zip(symbols, self.names, strict=True))
        self._doubtful = {self._held[symbol] for symbol in optional}
        self._count = 0
        self._bits: dict[Expr, int] = {}

    def operand(self, dim: Dim) -> str:
        """The text that stands for a dimension; the statements that it needs are added.

        Raises UnboundName for variables that are not among the symbols, and SymdimError for functions without code.
        """
        if isinstance(dim, int):
            return self.language.number(dim)
        if dim not in self._held:
            if self.language.nothing and value_bits(dim, self._bits) > MAX_BITS:
                self._held[dim] = self._too_large(dim)
                return self._held[dim]
            for node, tree in in_order(dim, self._held, self._read):
                self._held[node] = self._symbol(node, dim) if isinstance(node, Var) else self._computed(tree)
        return self._held[dim]

    def assign(self, text: str, note: str = "", doubtful: Sequence[str] = (), as_float: bool = False) -> str:
        """The name of a new variable for the value of the text; the note becomes a comment."""
        name = f"t{self._count}"
        self._count += 1
        statement = self.language.assignment(name, text, doubtful, as_float)
        self.statements.append(statement + self.language.note(note) if note else statement)
        return name

    def _too_large(self, dim: Expr) -> str:
        """The name of a size whose numbers may be huge: it has no value."""
        name = self.assign(self.language.nothing)
        self._doubtful.add(name)
        return name

    def _symbol(self, variable: Var, root: Expr) -> str:
        """The name of a variable that is not held yet."""
        raise UnboundName(tuple(v.name for v in variables_of([root]) if v not in self._held))

    def _computed(self, tree: Tree) -> str:
        if isinstance(tree, Operation):
            return self._operation(tree)
        if isinstance(tree, Application):
            return self._application(tree)
        return self._total([(self._product(powers), k) for k, powers in terms_in(tree)])

    def _application(self, node: Application) -> str:
        """The name of the value of a function. Raises SymdimError if the language has none."""
        if isinstance(node.function, FloatFunction):
            return self._of_floats(node.function, node._parts)
        raise SymdimError(f"{node!r} cannot be computed in {self.language.suffix}: the function has no code there")

    def _of_floats(self, function: FloatFunction, parts: Sequence[Dim]) -> str:
        """The name of the value of a function of floats. An integer may have no value."""
        operands = [self._float(function, n, d) for n, d in zip(parts[::2], parts[1::2], strict=True)]
        text = self.language.of_floats(function.type, function.operation_name, operands)
        name = self.assign(text, as_float=not function.is_size)
        if function.is_size:
            self._doubtful.add(name)
        return name

    def _float(self, function: FloatFunction, numerator: Dim, divisor: Dim) -> str:
        """The text of an operand as a float of the function's type."""
        if isinstance(numerator, int):
            assert isinstance(divisor, int)
            value = repr(function.rounded(numerator, divisor))
            return f"({value})" if numerator < 0 else value
        name = self._held[numerator]
        if not is_float(numerator):
            return f"{self.language.prefix}{function.type}_of({name})"
        return (
            f"{self.language.prefix}f32({name})"
            if function.type == "f32" and numerator.function.type == "f64"
            else name
        )

    def _operation(self, operation: Operation) -> str:
        if operation not in self._held:
            operator, operands = operation
            fails = self.language.has_gaps and operator in ("//", "%") and not excludes(operands[1], 0)
            texts = [(self.operand(part), 1) for part in operands]
            self._held[operation] = self._folded(texts, partial(self._call_text, operator), fails)
        return self._held[operation]

    def _call_text(self, operator: Operator, operands: Sequence[tuple[str, int]]) -> str:
        return self.language.call(operator, [text for text, _ in operands])

    def _total(self, terms: list[tuple[str, int]]) -> str:
        """A sum of multiples. The constant has the name ""."""
        return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 else self._folded(terms, self._total_text)

    def _total_text(self, terms: Sequence[tuple[str, int]]) -> str:
        return self.language.total([(k < 0, self._multiple(abs(k), name)) for name, k in terms])

    def _multiple(self, k: int, name: str) -> str:
        if not name:
            return self.language.number(k)
        return name if k == 1 else self.language.product([(self.language.number(k), 1), (name, 1)])

    def _product(self, powers: tuple[Power, ...]) -> str:
        """The name of a product; the empty one has the name ""."""
        if len(powers) == 1 and powers[0][1] == 1:
            return self._base(powers[0][0])
        if powers and powers not in self._held:
            factors = [(self._base(base), exponent) for base, exponent in powers]
            self._held[powers] = self._folded(factors, self.language.product)
        return self._held[powers] if powers else ""

    def _base(self, base: Expr | Operation) -> str:
        return self._operation(base) if isinstance(base, Operation) else self._held[base]

    def _folded(
        self,
        operands: list[tuple[str, int]],
        text_of: Callable[[Sequence[tuple[str, int]]], str],
        fails: bool = False,
    ) -> str:
        """The name of an operation on operands, each with its coefficient or exponent.

        If they are many, each further statement takes in some of them.
        """
        while True:
            first, operands = operands[:_OPERANDS], operands[_OPERANDS:]
            doubtful = [name for name in dict.fromkeys([name for name, _ in first]) if name in self._doubtful]
            result = self.assign(text_of(first), doubtful=doubtful)
            if doubtful or fails:
                self._doubtful.add(result)
            if not operands:
                return result
            operands.insert(0, (result, 1))
