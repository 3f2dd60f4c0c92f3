"""z3's opinion on statements: `python -m tests.symdim.second_opinion --statements 20000 --seed 1` for many.

Exit status 1 where the prover and z3 contradict each other. What z3 decides and the prover does not is counted for each
kind of statement, and the shortest are printed. Both leave out assumptions that contradict each other: from them z3
proves everything, and the prover nothing. It may not see it, and answer for the sizes that are asked about.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from contextlib import suppress
from itertools import cycle, islice
from random import Random
from typing import TYPE_CHECKING, Any

import z3

from tests.symdim.deep_statements import deep_statements
from tests.symdim.statements import Statement, bounds_for, expression, names_of, statements
from tests.symdim.text_cases import prove_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MILLISECONDS = 300  # as long as z3 may take for one statement
_RELATIONS = ("==", "<=", ">=", "<", "!=")
_SHOWN = 40


def mixed_statements(seed: int, count: int) -> Iterator[Statement]:
    """Two random expressions under up to two assumptions about random expressions."""
    random = Random(seed)
    for _ in range(count):
        names = random.choice(["x", "xy", "xy", "xyz"])
        lhs, rhs = (expression(random, names, random.choice([1, 1, 2])) for _ in range(2))
        assume = [_relation(random, names) for _ in range(random.choice([0, 1, 1, 2]))]
        yield Statement(lhs, random.choice(_RELATIONS), rhs, bounds_for(random, names), tuple(dict.fromkeys(assume)))


def _relation(random: Random, names: str) -> str:
    lhs, rhs = (expression(random, names, depth) for depth in (random.choice([0, 1, 2]), random.choice([0, 1])))
    return f"{lhs} {random.choice(_RELATIONS)} {rhs}"


KINDS: dict[str, Callable[[int, int], Iterator[Statement]]] = {
    "plain": statements,
    "deep": deep_statements,
    "mixed": mixed_statements,
}


def main() -> int:
    """Ask both; print the contradictions, the counts, and what only z3 decides. An interrupt ends it earlier."""
    parser = argparse.ArgumentParser(prog="python -m tests.symdim.second_opinion", description=__doc__)
    parser.add_argument("--statements", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: Counter[tuple[str, bool | None, bool | None]] = Counter()
    only_z3: list[tuple[bool, Statement]] = []
    contradictions = 0
    made = {kind: kind_of(options.seed, options.statements) for kind, kind_of in KINDS.items()}
    with suppress(KeyboardInterrupt):
        for kind in islice(cycle(made), options.statements):
            statement = next(made[kind])
            ours, theirs = prove_text(*statement), z3_answer(statement)
            counts[kind, ours, theirs] += 1
            if theirs is None or ours is theirs or not is_possible(statement):
                continue
            if ours is None:
                only_z3.append((theirs, statement))
            else:
                contradictions += 1
                print("CONTRADICTION", ours, theirs, *statement, flush=True)
    print(f"of possible assumptions z3 alone decides {len(only_z3)}")
    for answer, statement in sorted(only_z3, key=lambda pair: len(str(pair)))[:_SHOWN]:
        print("only z3:", answer, *statement)
    for (kind, one, other), number in sorted(counts.items(), key=str):
        print(f"{kind}: symdim {one}, z3 {other}: {number}")
    return 1 if contradictions else 0


def contradicts(statement: Statement, answer: bool | None) -> bool:
    """Whether z3 finds a violation of what is proved, or proves what is refuted."""
    if answer is None:
        return False
    found = z3_answer(statement)
    return found is not None and found is not answer


def z3_answer(statement: Statement) -> bool | None:
    """True where z3 proves the statement, False where it finds a violation, None where it gives up."""
    return _is_excluded(statement, z3.Not)


def is_possible(statement: Statement) -> bool:
    """Whether the assumptions can hold together, as far as z3 knows."""
    return _is_excluded(statement, lambda _: True) is not True


def _is_excluded(statement: Statement, claim: Callable[[Any], Any]) -> bool | None:
    """Whether no sizes meet the assumptions and a claim about the statement; None where z3 gives up."""
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
    solver.add(claim(goal))
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
            case ast.Call(ast.Name(name), arguments):
                first, *others = map(self._term, arguments)
                for other in others:
                    first = z3.If(first >= other if name == "max" else first <= other, first, other)
                return first
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


if __name__ == "__main__":
    sys.exit(main())
