"""Expressions as statements of a language. Each part is computed once, whatever reads it.

The parts are those that an expression is printed with. So `x % 4` and `min(x, y)` are one operation each. The order is
that of `symdim.compile`.
"""

from __future__ import annotations

import re
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from symdim.algebra.dims import excludes, variables_of
from symdim.algebra.expr import Add, FloorDiv, Max, Min, Mod, Mul
from symdim.algebra.texts.display import factors_of, operands_of, summands_of
from symdim.algebra.variable import Var
from symdim.compile import in_order
from symdim.errors import UnboundName

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from symdim.algebra.expr import Dim, Expr
    from symdim.dialects.languages import Language, Operation

    Power = tuple[Expr, int]

T = TypeVar("T")

_OPERANDS = 16
"""The most operands of a statement: compilers recurse on them."""

_OPERATIONS: dict[type[Expr], Operation] = {FloorDiv: "floordiv", Mod: "mod", Max: "max", Min: "min"}
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)


class StraightCode:
    """Statements that compute expressions of the variables `symbols`.

    `names` are their names in the code: `s_` and the name of the variable if that is an identifier, else a number. So
    no name is a word of the language or a name of its library. The `optional` ones may have no value.

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

    def __init__(self, language: Language, symbols: Sequence[Var], optional: Collection[Var] = ()) -> None:
        self.language = language
        self.statements: list[str] = []
        self.names: list[str] = []
        for index, symbol in enumerate(symbols):
            name = f"s_{symbol.name}"
            self.names.append(name if _PLAIN.fullmatch(symbol.name) and name not in self.names else f"s{index}")
        self._held: dict[Expr, str] = dict(zip(symbols, self.names, strict=True))
        self._products: dict[tuple[Power, ...], str] = {}
        self._doubtful = {self._held[symbol] for symbol in optional}
        self._count = 0

    def operand(self, dim: Dim) -> str:
        """The text that stands for a dimension; the statements that it needs are added.

        Raises UnboundName for variables that are not among the symbols.
        """
        if isinstance(dim, int):
            return self.language.number(dim)
        for node in in_order(dim, self._held, displayed_parts):
            if isinstance(node, Var):
                raise UnboundName(tuple(v.name for v in variables_of([dim]) if v not in self._held))
            self._held[node] = self._computed(node)
        return self._held[dim]

    def _computed(self, node: Expr) -> str:
        kind = type(node)
        if kind is Add:
            return self._total([(k, self._product(powers)) for k, powers in summands_of(node)])
        if kind is Mul:
            coefficient, powers = factors_of(node)
            return self._total([(coefficient, self._product(powers))])
        operands = operands_of(node)
        fails = kind in (FloorDiv, Mod) and not excludes(operands[1], 0)
        texts = list(map(self.operand, operands))
        return self._folded(texts, partial(self.language.call, _OPERATIONS[kind]), str, str, fails)

    def _total(self, terms: list[tuple[int, str]]) -> str:
        """A sum of multiples. The constant has the name ""."""
        if len(terms) == 1 and terms[0][0] == 1:
            return terms[0][1]
        return self._folded(terms, self._total_text, itemgetter(1), lambda name: (1, name))

    def _total_text(self, terms: Sequence[tuple[int, str]]) -> str:
        return self.language.total([(k < 0, self._multiple(abs(k), name)) for k, name in terms])

    def _multiple(self, k: int, name: str) -> str:
        if not name:
            return self.language.number(k)
        return name if k == 1 else self.language.product([(self.language.number(k), 1), (name, 1)])

    def _product(self, powers: Sequence[Power]) -> str:
        """The name of a product; the empty one has the name ""."""
        if len(powers) == 1 and powers[0][1] == 1:
            return self._held[powers[0][0]]
        key = tuple(powers)
        if key and key not in self._products:
            factors = [(self._held[base], exponent) for base, exponent in powers]
            self._products[key] = self._folded(factors, self.language.product, itemgetter(0), lambda name: (name, 1))
        return self._products[key] if key else ""

    def _folded(
        self,
        operands: list[T],
        text_of: Callable[[Sequence[T]], str],
        name_of: Callable[[T], str],
        named: Callable[[str], T],
        fails: bool = False,
    ) -> str:
        """The name of an operation on operands. If they are many, each further statement takes in some of them."""
        while True:
            first, operands = operands[:_OPERANDS], operands[_OPERANDS:]
            doubtful = list(dict.fromkeys(name for x in first if (name := name_of(x)) in self._doubtful))
            result = f"t{self._count}"
            self._count += 1
            self.statements.append(self.language.assignment(result, text_of(first), doubtful))
            if doubtful or fails:
                self._doubtful.add(result)
            if not operands:
                return result
            operands.insert(0, named(result))


def displayed_parts(node: Expr) -> Iterable[Dim]:
    """The parts that the text of a node is made of."""
    kind = type(node)
    if kind is Add:
        return [base for _, powers in summands_of(node) for base, _ in powers]
    return [base for base, _ in factors_of(node)[1]] if kind is Mul else operands_of(node)
