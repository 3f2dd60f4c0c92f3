"""Answers to statements written as text, and to cases written as data."""

from __future__ import annotations

import ast
from threading import Lock

from symdim import prove
from symdim.algebra.dims import excludes
from symdim.algebra.expr import Expr
from symdim.algebra.variable import Scope, Var, make_variable
from symdim.facts import Facts
from symdim.parsing import parse
from symdim.relations.relation import Relation
from tests.symdim import einsum_cases, row_cases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from symdim.prover.budget import Budget


class Names:
    """Variables by name, with the given bounds; the default is 1..infinity."""

    def __init__(self, bounds: Mapping[str, tuple[int | None, int | None]]) -> None:
        self.bounds = bounds
        self.scope = Scope()
        self.variables: dict[str, Var] = {}

    def var(self, name: str, /) -> Var:
        """The variable of this name."""
        if name not in self.variables:
            lo, hi = self.bounds.get(name, (1, None))
            self.variables[name] = make_variable(self.scope, name, lo, hi)
        return self.variables[name]


def prove_text(
    lhs: str,
    relation: str,
    rhs: str,
    bounds: Mapping[str, tuple[int | None, int | None]] | None = None,
    assume: Iterable[str] = (),
) -> bool | None:
    """Whether `lhs relation rhs` holds for all integers that are within the bounds (default 1..) and satisfy `assume`.

    >>> prove_text("x//2", "<=", "x"), prove_text("x//y", "<=", "x", {"x": (None, None)})
    (True, False)
    """
    return explain_text(lhs, relation, rhs, bounds, assume).answer


def explain_text(
    lhs: str,
    relation: str,
    rhs: str,
    bounds: Mapping[str, tuple[int | None, int | None]] | None = None,
    assume: Iterable[str] = (),
    within: Budget | None = None,
) -> prove.Proof:
    """The answer of `prove_text` with its grounds. Its steps are also taken from the budget `within`.

    Values that make a divisor 0 do not count, even if the quotient has disappeared from the canonical form.
    """
    names = Names(bounds or {})
    facts = Facts()
    assume = tuple(assume)
    for text in assume:
        facts.assume(text, scope=names)
    a, b = parse(lhs, scope=names), parse(rhs, scope=names)
    for text in (*assume, lhs, rhs):
        for divisor in _divisors(text):
            d = parse(divisor, scope=names)
            if isinstance(d, Expr) and not excludes(d, 0) and d.bounds() != (0, 0):
                facts.assume(Relation.of(d, "!=", 0))
    return prove.explain(a, relation, b, facts, within=within)


def _divisors(text: str) -> list[str]:
    """The divisors in a text that is also Python; none in other texts."""
    try:
        with _READING:
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    quotients = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, _QUOTIENTS)]
    return [ast.unparse(node.right) for node in quotients]


_QUOTIENTS = (ast.FloorDiv, ast.Mod, ast.Div)
_READING = Lock()
"""Threads make syntax trees one after the other, as in `onnx_infer.testing`."""


def solve_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a case written as data (`format` symdim-row-cases/1), in the form of its `expect`.

    For shapes with rows the answer has two parts: `entailed`, and `closed` (after the store is closed). The part that
    `expect["when"]` asks for is repeated at the top level. Nothing else in `expect` is read.

    >>> transposition = {"op": "einsum", "spec": "ij=>ji", "args": ["A"], "out": "OUT"}
    >>> solve_case({"group": "einsum", "shapes": {"A": [3, 4], "OUT": None}, "ops": [transposition]})["shapes"]
    {'A': [3, 4], 'OUT': [4, 3]}
    """
    group = case.get("group")
    if group in ("parse", "projection", "injective", "discardable"):
        return einsum_cases.solve(case)
    if group == "order":
        return {"holds": row_cases.holds(case["result"], case["operand"])}
    answers = row_cases.solve(case)
    when = case.get("expect", {}).get("when")
    if when is None:  # a case about errors only, or about one state
        when = "closed" if "error" in answers["closed"] else "entailed"
    return {**answers[when], **answers}
