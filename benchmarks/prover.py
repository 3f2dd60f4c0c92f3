"""What engines answer to statements about sizes: `python benchmarks/prover.py [--cases FILE]`.

The cases are those of `tests/symdim/equiv_cases.json`: 286 statements, 38 of them false. Every engine installed here is
asked through its public interface, in one process each. `UNSOUND` counts wrong answers; peers that only simplify
answer nothing where the simplified difference is not a number. Assumptions reach the engines that take some.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from operator import add, ge, gt, le, lt, mul, sub
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any, NamedTuple

from timing import shown, table

CASES = Path(__file__).parent.parent / "tests" / "symdim" / "equiv_cases.json"
NEGATION = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

Case = dict[str, Any]


def by_symdim(case: Case) -> bool | None:
    """This project's prover."""
    from tests.symdim.text_cases import prove_text

    bounds = {name: tuple(ends) for name, ends in case["bounds"].items()}
    return prove_text(case["lhs"], case["relation"], case["rhs"], bounds, case["assume"])


def by_sympy(case: Case) -> bool | None:
    """SymPy: `simplify` of the difference, and its assumptions about the sign."""
    import sympy

    def symbol(name: str) -> Any:
        lo = ends(case, name)[0]
        return sympy.Symbol(name, integer=True, **signs(lo))

    functions = {"floordiv": lambda a, b: sympy.floor(a / b), "mod": sympy.Mod, "max": sympy.Max, "min": sympy.Min}
    a, b = (read(case[side], symbol, functions, sympy.Integer) for side in ("lhs", "rhs"))
    difference = sympy.simplify(a - b)
    answers = {
        "==": difference.is_zero,
        "!=": None if difference.is_zero is None else not difference.is_zero,
        ">=": difference.is_nonnegative,
        ">": difference.is_positive,
        "<=": difference.is_nonpositive,
        "<": difference.is_negative,
    }
    return True if answers[case["relation"]] else None  # a False of SymPy's is about one sign, not a counterexample


def signs(lo: int | None) -> dict[str, bool]:
    """SymPy's assumptions for a lower bound."""
    return {} if lo is None or lo < 0 else {"positive": True} if lo > 0 else {"nonnegative": True}


def by_z3(case: Case) -> bool | None:
    """z3, for at most 2 seconds."""
    from tests.symdim import second_opinion
    from tests.symdim.statements import Statement

    second_opinion.MILLISECONDS = 2000
    bounds = {name: tuple(ends) for name, ends in case["bounds"].items()}
    statement = Statement(case["lhs"], case["relation"], case["rhs"], bounds, tuple(case["assume"]))
    return second_opinion.z3_answer(statement)


def by_jax(case: Case) -> bool | None:
    """JAX's shape polynomials, with assumptions as constraints; equality is its own `==`."""
    from jax import export
    from jax.core import max_dim, min_dim
    from jax.errors import InconclusiveDimensionOperation

    constraints = [re.sub(r"(\w+) % (\w+)", r"mod(\1, \2)", text) for text in case["assume"]]
    for name, (lo, hi) in case["bounds"].items():
        constraints += [f"{name} >= {lo}"] if lo is not None and lo > 1 else []
        constraints += [f"{name} <= {hi}"] if hi is not None else []
    if any(lo is None or lo < 1 for lo, _ in case["bounds"].values()):
        return None  # sizes are at least 1 there
    scope = export.SymbolicScope(constraints)

    def symbol(name: str) -> Any:
        return export.symbolic_shape(name, scope=scope)[0]

    functions = {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "max": max_dim, "min": min_dim}
    a, b = (read(case[side], symbol, functions, int) for side in ("lhs", "rhs"))
    if case["relation"] in ("==", "!="):  # unequal is also said when it is not known
        return True if case["relation"] == "==" and a == b else None
    try:
        return bool({"<": lt, "<=": le, ">": gt, ">=": ge}[case["relation"]](a, b))
    except InconclusiveDimensionOperation:
        return None


def by_tinygrad(case: Case) -> bool | None:
    """tinygrad's UOps: the bounds of the simplified difference."""
    from tinygrad.uop.ops import UOp

    def symbol(name: str) -> Any:
        lo, hi = ends(case, name)
        return UOp.variable(name, -(1 << 20) if lo is None else lo, 1 << 20 if hi is None else hi)

    functions = {
        "floordiv": lambda a, b: a // b,
        "mod": lambda a, b: a % b,
        "max": lambda a, b: a.maximum(b) if isinstance(a, UOp) else b.maximum(a),
        "min": lambda a, b: a.minimum(b) if isinstance(a, UOp) else b.minimum(a),
    }
    a, b = (read(case[side], symbol, functions, int) for side in ("lhs", "rhs"))
    difference = a - b
    lo, hi = (difference, difference) if isinstance(difference, int) else bounds_of(difference.simplify())
    answers = {"==": lo == hi == 0, "!=": lo > 0 or hi < 0, ">=": lo >= 0, ">": lo > 0, "<=": hi <= 0, "<": hi < 0}
    return True if answers[case["relation"]] else None


def bounds_of(node: Any) -> tuple[int, int]:
    """tinygrad's interval of a node."""
    return node.vmin, node.vmax


def ends(case: Case, name: str) -> tuple[int | None, int | None]:
    """The bounds of a name."""
    lo, hi = case["bounds"].get(name, (1, None))
    return lo, hi


def read(text: str, symbol: Any, functions: dict[str, Any], number: Any) -> Any:
    """An expression in an engine's own objects."""
    import ast

    operators = {"Add": add, "Sub": sub, "Mult": mul, "FloorDiv": functions["floordiv"], "Mod": functions["mod"]}

    def term(node: ast.AST) -> Any:
        match node:
            case ast.Constant(value):
                return number(value)
            case ast.Name(name):
                return symbol(name)
            case ast.UnaryOp(ast.USub(), operand):
                return -term(operand)
            case ast.BinOp(left, operator, right):
                return operators[type(operator).__name__](term(left), term(right))
            case ast.Call(ast.Name(name), arguments):
                return functions[name](*map(term, arguments))
        raise ValueError(ast.dump(node))

    return term(ast.parse(text, mode="eval").body)


ENGINES = {
    "symdim": ("symdim", by_symdim),
    "sympy": ("sympy", by_sympy),
    "jax": ("jax", by_jax),
    "tinygrad": ("tinygrad", by_tinygrad),
    "z3": ("z3", by_z3),
}


def measured(engine: str, cases: list[Case]) -> tuple[Counter[str], list[float]]:
    """Verdicts and seconds per case; the engine is loaded and warmed up first."""
    module, ask = ENGINES[engine]
    import_module(module)
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    ask(cases[0])
    for case in cases:
        began = process_time()
        try:
            answer, failed = ask(case), False
        except (ArithmeticError, AssertionError, KeyError, NotImplementedError, RecursionError, TypeError, ValueError):
            answer, failed = None, True
        seconds.append(process_time() - began)
        if answer is None:
            counts["error" if failed else "unknown"] += 1
        else:
            counts["UNSOUND" if answer != case["expected"] else "proved" if answer else "refuted"] += 1
    return counts, seconds


VERDICTS = ("proved", "refuted", "unknown", "error", "UNSOUND")


class Verdicts(NamedTuple):
    """Counts of verdicts of an engine, and its seconds per case."""

    counts: dict[str, int]
    median: float
    mean: float


def measure(cases: list[Case]) -> dict[str, Verdicts]:
    """Verdicts of every engine that is installed, each in a process of its own."""
    found: dict[str, Verdicts] = {}
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for engine, (module, _) in ENGINES.items():
            if find_spec(module) is not None:
                counts, seconds = pool.apply(measured, (engine, cases))
                found[engine] = Verdicts(dict(counts), median(seconds), mean(seconds))
    return found


def tables(found: dict[str, Verdicts]) -> str:
    """The Markdown table."""
    rows = [
        [engine, *(str(v.counts.get(kind, 0)) for kind in VERDICTS), shown(v.median), shown(v.mean)]
        for engine, v in found.items()
    ]
    return table(["engine", *VERDICTS, "median", "mean"], rows)


def cases_of(path: Path) -> list[Case]:
    """The statements in a file."""
    return list(json.loads(path.read_text())["cases"])


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=Path, default=CASES)
    cases = cases_of(parser.parse_args().cases)
    true = sum(case["expected"] for case in cases)
    print(f"{true} true, {len(cases) - true} false\n")
    print(tables(measure(cases)))


if __name__ == "__main__":
    main()
