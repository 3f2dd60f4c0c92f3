"""The worst cases of docs/limits.md and their cost: `python benchmarks/limits.py [WORD ...]`.

Each case runs in a process of its own, after the imports. Printed are processor time, the memory that it takes beyond
what was loaded, and what comes out. Words choose cases.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from random import Random
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import TYPE_CHECKING

import large_models as make
from timing import shown, table

from onnx_infer import infer
from symdim import Expr, Facts, ParseError, Var, parse, prove, simplify, total
from symdim.algebra.texts.written import leaf_count

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 10_000
"""Characters of a long text."""

PATIENCE = 60
"""Seconds until a case is given up."""


def text(start: str, repeated: str, end: str = "") -> str:
    """A text of about `LONG` characters, in which one part and its end are repeated."""
    count = LONG // len(repeated + end)
    return start.join([repeated * count, end * count]) if end else start + repeated * count


def read(written: str) -> str:
    """What comes of reading a text."""
    try:
        dim = parse(written)
    except ParseError as error:
        return f"refused: {error.message[:40]}"
    return size_of(dim)


def size_of(dim: int | Expr) -> str:
    """How large an expression is; it is not written out, because some would be exponentially long."""
    names = leaf_count(dim)
    return f"{names:,} name{'s' * (names > 1)}" if names < 10**9 else "more than 10**9 names"


def noise() -> str:
    """Random characters of the grammar."""
    random = Random(0)
    return "".join(random.choice("NM12+-*/%()., ") for _ in range(LONG))


def polynomial(names: int, factors: int) -> Expr:
    """A product of sums of many names, too large to be written out."""
    product: int | Expr = 1
    for i in range(factors):
        product = product * total([Var(f"x{i}_{j}") for j in range(names)])
    assert isinstance(product, Expr)
    return product


def hard_question() -> str:
    """A statement that uses up the budget: of the means of three products, which no witness refutes."""
    x, y, z = Var("x"), Var("y"), Var("z")
    left = (x**2 * y + y**2 * z + z**2 * x) // (x + y // 2)
    return str(prove.at_least(left, 3 * x * y * z // (x + y // 2)))


def hard_simplification() -> str:
    """The same with all proofs of `simplify`."""
    names = [Var(f"x{i}") for i in range(40)]
    parts = total([(x * y + 3) // (2 * x + y + 1) for x, y in pairwise(names)])
    assert isinstance(parts, Expr)
    found = simplify(parts, Facts([f"x{i} >= x{i + 1}" for i in range(39)]))
    return "as it was" if found is parts else "simpler"


def inferred(model: Callable[[int], object], size: int, *, bidirectional: bool = False) -> str:
    """What comes of inferring a model."""
    result = infer(model(size), bidirectional=bidirectional)  # type: ignore[arg-type]
    return f"{len(result.types):,} values, {len(result.diagnostics):,} diagnostics"


CASES: dict[str, Callable[[], str]] = {
    "text: noise": lambda: read(noise()),
    "text: nested parentheses": lambda: read(text("N", "(", ")")),
    "text: `N%2%3...`": lambda: read(text("N", "%2%3")),
    "text: `N//2//3...`": lambda: read(text("N", "//M//3")),
    "text: nested floor(N/2)": lambda: read(text("N", "floor(", "/2)")),
    "text: max and min in turn": lambda: read(text("N", "max(min(", ",M),3)")),
    "text: nested abs": lambda: read(text("N", "abs(", "-3)")),
    "text: nested round": lambda: read(text("N", "round(", "/4)")),
    "text: a power of a sum": lambda: read("(" + "+".join(f"x{i}" for i in range(LONG // 10)) + ")**9"),
    "text: a product of sums": lambda: read("*".join(f"(a{i}+b{i})" for i in range(LONG // 12))),
    "text: large numbers": lambda: read("*".join(["9" * 3999] * (LONG // 4000))),
    "product of 20 sums of 50 names": lambda: size_of(polynomial(50, 20)),
    "a question that uses up the budget": hard_question,
    "`simplify` that uses up its budget": hard_simplification,
    "Concat of 100,000 symbols": lambda: inferred(make.concat_of_symbols, 100_000),
    "Split by 100,000 sizes": lambda: inferred(make.split_by_sizes, 100_000),
    "Split by 30,000 unknown sizes": lambda: inferred(make.split_of_unknown, 30_000),
    "2,000 symbols joined, in both directions": lambda: inferred(make.joined_symbols, 2_000, bidirectional=True),
    "20,000 nodes in a chain, in both directions": lambda: inferred(make.ordered_nodes, 20_000, bidirectional=True),
    "a tensor of 1,000 axes": lambda: inferred(make.high_rank, 1_000),
    "a constant of 1,000,000 integers": lambda: inferred(make.constant_vector, 1_000_000),
}


def peak() -> float:
    """The largest memory of this process so far, in MB (Linux counts in KB)."""
    return getrusage(RUSAGE_SELF).ru_maxrss / 1024


def run(name: str) -> None:
    """One case: its time, memory and outcome, in one line."""
    infer(make.concat_of_symbols(2))  # loads the operators
    loaded, begin = peak(), process_time()
    outcome = CASES[name]()
    print(process_time() - begin, peak() - loaded, outcome, sep="\t")


def main(words: list[str]) -> None:
    rows = []
    for name in CASES:
        if all(word in name for word in words):
            command = [sys.executable, __file__, "--case", name]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
            except subprocess.TimeoutExpired:
                rows.append([name, f"more than {PATIENCE} s", "-", "-"])
                continue
            if done.returncode:
                rows.append([name, "-", "-", done.stderr.strip().rpartition("\n")[2]])
                continue
            seconds, megabytes, outcome = done.stdout.strip().split("\t")
            rows.append([name, shown(float(seconds)), f"{float(megabytes):.0f} MB", outcome])
    print(table(["case", "time", "memory", "what comes out"], rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        run(sys.argv[2])
    else:
        main(sys.argv[1:])
