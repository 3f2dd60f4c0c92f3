"""Random statements under two remainders and a quotient, which are the dearest questions: each round of solving for a
variable puts multiples of the coefficients into all other assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.symdim.statements import Statement, bounds_for

_NAMES = "abc"
_CONCLUSIONS = (
    "{a} == {k}*{b}",
    "{a} == {b} + {m}",
    "{k}*{a} != {m}*{b} + 1",
    "{a} <= {k}*{b} + {m}",
    "{a} >= {b}",
    "{a} % {m} == {b} % {m}",
    "{a}//{b} <= {k}",
    "({k}*{a} + {b}) % {m} == 0",
    "{a} % {m} + {b} % {k} <= {m} + {k}",
    "({a} + {b})//{m} >= {a}//{m} + {b}//{m}",
)


def congruent_statements(seed: int, count: int) -> Iterator[Statement]:
    """Statements over two or three names whose assumptions hold two remainders and a quotient."""
    random = Random(seed)
    for _ in range(count):
        names = random.choice([_NAMES[:2], _NAMES[:2], _NAMES])
        text = random.choice(_CONCLUSIONS).format(a="a", b="b", k=random.randint(2, 7), m=random.choice([3, 4, 8, 12]))
        lhs, relation, rhs = _sides(text)
        yield Statement(lhs, relation, rhs, bounds_for(random, names), _assumptions(random, names))


def _sides(text: str) -> tuple[str, str, str]:
    relation = next(r for r in ("==", "!=", "<=", ">=") if r in text)
    lhs, rhs = text.split(relation)
    return lhs.strip(), relation, rhs.strip()


def _assumptions(random: Random, names: str) -> tuple[str, ...]:
    """One relation with all three, or several that share them out."""
    (first, second), quotient = (_remainder(random, names) for _ in range(2)), _quotient(random, names)
    relation = random.choice(["==", "==", "==", "<=", "!="])
    return random.choice(
        [
            (f"{first} {relation} {second} + {quotient}",),
            (f"{first} + {second} {relation} {quotient}",),
            (f"{first} == {random.randint(0, 3)}", f"{second} {relation} {quotient}"),
            (f"{first} == {second}", f"{quotient} {relation} {random.choice(names)} + {random.randint(-2, 2)}"),
        ]
    )


def _remainder(random: Random, names: str) -> str:
    divisor = random.choice(["3", "4", "5", "7", "8", "12", "16", "60", *names])
    return f"({_sum(random, names)}) % {divisor}"


def _quotient(random: Random, names: str) -> str:
    return f"({_sum(random, names)})//{random.choice([*names, *names, '3', '8', '10'])}"


def _sum(random: Random, names: str) -> str:
    x, y = random.choice(names), random.choice(names)
    k, c = random.randint(2, 9), random.randint(1, 9)
    return random.choice([x, f"{k}*{x}", f"{k}*{x} + {y}", f"{x} + {c}", f"{k}*{x} - {y} + {c}", f"{x}*{y}"])
