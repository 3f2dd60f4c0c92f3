"""z3's opinion on a statement."""

from __future__ import annotations

import ast
from typing import Any

import z3

from tests.symdim.statements import Statement, names_of

MILLISECONDS = 300


def contradicts(statement: Statement, answer: bool | None) -> bool:
    """Whether z3 finds a violation of what is proved, or proves what is refuted."""
    if answer is None:
        return False
    found = z3_answer(statement)
    return found is not None and found is not answer


def z3_answer(statement: Statement) -> bool | None:
    """True where z3 proves the statement, False where it finds a violation, None where it gives up."""
    solver = z3.Solver()
    solver.set("timeout", MILLISECONDS)
    variables = {name: z3.Int(name) for name in names_of(statement)}
    for name, variable in variables.items():
        lo, hi = statement.bounds.get(name, (1, None))
        solver.add(*([variable >= lo] if lo is not None else []), *([variable <= hi] if hi is not None else []))
    reader = Reader(variables)
    for text in statement.assume:
        solver.add(reader.read(text))
    goal = reader.read(" ".join(statement[:3]))
    solver.add(*[divisor != 0 for divisor in reader.divisors])
    solver.add(z3.Not(goal))
    return {"unsat": True, "sat": False}.get(str(solver.check()))


class Reader:
    """Python expressions as z3 terms; z3's `div` is Euclid's, so a negative divisor is reflected first."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self.variables = variables
        self.divisors: list[Any] = []

    def read(self, text: str) -> Any:
        """The z3 term of an expression or relation."""
        return self._term(ast.parse(text, mode="eval").body)

    def _term(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value):
                return z3.IntVal(value)
            case ast.Name(name):
                return self.variables[name]
            case ast.UnaryOp(ast.USub(), operand):
                return -self._term(operand)
            case ast.BinOp(left, operator, right):
                return self._operation(operator, self._term(left), self._term(right))
            case ast.Call(ast.Name(name), [a, b]):
                a, b = self._term(a), self._term(b)
                return z3.If(a >= b, a, b) if name == "max" else z3.If(a <= b, a, b)
            case ast.Compare(left, [operator], [right]):
                return self._relation(operator, self._term(left), self._term(right))
        raise ValueError(ast.dump(node))

    def _operation(self, operator: ast.operator, a: Any, b: Any) -> Any:
        match operator:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
        self.divisors.append(b)
        quotient = z3.If(b > 0, a / b, (-a) / (-b))
        return quotient if isinstance(operator, ast.FloorDiv) else a - b * quotient

    def _relation(self, operator: ast.cmpop, a: Any, b: Any) -> Any:
        match operator:
            case ast.Eq():
                return a == b
            case ast.NotEq():
                return a != b
            case ast.LtE():
                return a <= b
            case ast.Lt():
                return a < b
            case ast.GtE():
                return a >= b
        return a > b
