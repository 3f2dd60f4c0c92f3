"""The prover against brute force, for as long as wanted: `python -m tests.symdim.fuzz_prover --seconds 60 --seed 1`.

Exit status 1 where an answer is wrong. A mismatch prints the statement and the assignment that shows it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from symdim.prove import Proof
from tests.symdim.deep_statements import deep_statements
from tests.symdim.statements import Statement, statements, violates, violation
from tests.symdim.text_cases import explain_text


def wrong(statement: Statement, proof: Proof, found: dict[str, int] | None) -> bool:
    """Whether a True is violated by an assignment that brute force found, or a counterexample is none."""
    if proof.answer is True:
        return found is not None
    if proof.answer is None:
        return False
    assert proof.counterexample is not None
    values = {v.name: size for v, size in proof.counterexample.items()}
    return not violates(statement, values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--deep", action="store_true", help="the harder statements")
    parser.add_argument("--open", action="store_true", help="print what stays open")
    options = parser.parse_args()
    made = deep_statements if options.deep else statements
    stop = time.monotonic() + options.seconds
    seen: Counter[str] = Counter()
    spent, spent_open = [0.0], [0.0]
    seed = options.seed
    while time.monotonic() < stop:
        for statement in made(seed, 50):
            began = time.perf_counter()
            proof = explain_text(*statement)
            spent.append(time.perf_counter() - began)
            if proof.answer is None:
                spent_open.append(spent[-1])
            found = violation(statement, options.points)
            truth = "false" if found is not None or proof.answer is False else "true"
            seen[f"{truth}: {proof.answer}"] += 1
            if wrong(statement, proof, found):
                print("WRONG", proof, statement, found)
                seen["wrong"] += 1
            elif proof.answer is None and options.open:
                print("open ", truth, *statement, sep="  ")
        seed += 1
    spent.sort()
    print(dict(sorted(seen.items())), f"seeds {options.seed}..{seed - 1}")
    print(f"median {1e3 * spent[len(spent) // 2]:.2f} ms, mean {1e3 * sum(spent) / len(spent):.2f} ms, ", end="")
    print(f"p99 {1e3 * spent[len(spent) * 99 // 100]:.1f} ms, worst {1e3 * spent[-1]:.0f} ms")
    print(f"not decided: {len(spent_open) - 1}, median {1e3 * sorted(spent_open)[len(spent_open) // 2]:.1f} ms")
    return 1 if seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
