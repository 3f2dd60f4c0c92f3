"""Random statements that are harder than those of `statements`: deeper, with several facts, with chains of symbols.

Most are true by a law that the engine has to find through the canonical form; a third are perturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from tests.symdim.statements import Statement, bounds_for, expression, perturbed, rewritten

FACTS = (
    "x <= y",
    "x < z",
    "x % 4 == 0",
    "y % 3 == 1",
    "x == y + z",
    "z == 2*x",
    "x % y == 0",
    "x*y == z",
    "y//4 == z",
    "x >= 7",
    "max(x, y) <= z",
    "min(x, y) == z",
    "z % 2 == x % 2",
)


def deep(random: Random) -> Statement:
    """Two spellings of an expression of depth 3 or 4, or two expressions."""
    names = random.choice(["xy", "xyz", "xyzw"])
    lhs = expression(random, names, random.choice([3, 4]))
    relation = random.choice(["==", "==", "<=", ">=", "<", "!="])
    rhs = rewritten(random, lhs) if random.random() < 0.5 else expression(random, names, random.choice([2, 3]))
    return Statement(lhs, relation, rhs, bounds_for(random, names))


def with_facts(random: Random) -> Statement:
    """An expression under one or two assumptions, which may contradict each other."""
    assumed = tuple(dict.fromkeys(random.choice(FACTS) for _ in range(random.choice([1, 2]))))
    lhs = expression(random, "xyz", random.choice([2, 3]))
    rhs = rewritten(random, lhs) if random.random() < 0.5 else expression(random, "xyz", random.choice([1, 2]))
    return Statement(lhs, random.choice(["==", "<=", ">=", "!="]), rhs, {}, assumed)


def chains(random: Random) -> Statement:
    """Windows with up to three symbolic strides: order, extrema and shifts of the size pass through them."""
    size = "H"
    for stride in "stu"[: random.randint(1, 3)]:
        padding, kernel = random.choice(["2*p", "p", "1", "k"]), random.choice(["k", "1", "3"])
        forms = [f"({size} + {stride} - 1)//{stride}", f"({size} - 1)//{stride} + 1", f"-((-({size}))//{stride})"]
        size = random.choice([*forms, f"({size} + {padding} - {kernel})//{stride} + 1", f"({size})//{stride}"])
    other = size.replace("H", random.choice(["(H + 1)", "(H + s)", "W", "(H + H)", "max(H, W)", "min(H, W)"]))
    wide = size.replace("H", "W")
    relation = random.choice(["<=", ">=", "=="])
    return random.choice(
        [
            Statement(size, "<=", perturbed(random, other), {}, ("H <= W",)),
            Statement(f"max({size}, {wide})", "==", size.replace("H", "max(H, W)"), {}),
            Statement(f"({size})*{stride}", relation, perturbed(random, "H"), {}),
            Statement(size, relation, perturbed(random, size.replace("H", "(H + s*t*u)")), {}),
        ]
    )


def monotone(random: Random) -> Statement:
    """A function that never falls, of up to six steps, at sizes in known order or at an extremum of two."""
    f = "{}"
    for _ in range(random.randint(3, 6)):
        c = random.randint(1, 9)
        steps = [f"({f} + {c})", f"({f}//{c})", f"({f}*{c})", f"(({f} + z)//z)", f"(({f} + z - 1)//z)", f"({f}//z)"]
        steps += [f"max({f}, {c})", f"min({f}, {3 * c})", f"max({f}, z)", f"({f}*z)", f"min({f}, w)", f"({f} + w)"]
        f = random.choice(steps)
    x, y = f.replace("{}", "x"), f.replace("{}", "y")
    return random.choice(
        [
            Statement(x, "<=", perturbed(random, y), {}, ("x <= y",)),
            Statement(f"max({x}, {y})", "==", perturbed(random, f.replace("{}", "max(x, y)")), {}),
            Statement(f"min({x}, {y})", "==", perturbed(random, f.replace("{}", "min(x, y)")), {}),
            Statement(x, "<=", perturbed(random, f.replace("{}", "(x + v)")), {"v": (0, None)}),
        ]
    )


def padded(random: Random) -> Statement:
    """Two spellings of "the next multiple", divided, multiplied and compared."""
    k = random.choice(["k", "4", "7", "w", "(2*k)", "(k + 1)"])
    n = random.choice(["S", "(S + T)", "(S - 1)", "max(S, T)", "(B*S)", "(S//2)", "(S + 2*p)"])
    spellings = [f"(({n} + {k} - 1)//{k}*{k})", f"({n} + (-{n}) % {k})", f"({n} + ({k} - {n} % {k}) % {k})"]
    spellings.append(f"(-((-{n})//{k})*{k})")
    a, b = random.choice(spellings), random.choice(spellings)
    return random.choice(
        [
            Statement(a, "==", perturbed(random, b), {}),
            Statement(f"{a} % {k}", "==", perturbed(random, "0"), {}),
            Statement(f"{a}//{k}*{k}", "==", perturbed(random, b), {}),
            Statement(f"B*{a}*C", "==", f"C*{perturbed(random, b)}*B", {}),
            Statement(f"(B*{a}*C)//({k}*B)", "==", f"{b}//{k}*C", {}),
            Statement(a, "<", perturbed(random, f"{n} + {k}"), {}),
            Statement(f"({a})//{k} - ({n})//{k}", "<=", perturbed(random, "1"), {}),
            Statement(f"{a} - {n}", "==", perturbed(random, f"(-{n}) % {k}"), {}),
            Statement(f"min({a}, {n})", "==", perturbed(random, n), {}),
            Statement(f"({a} + {k})//{k}", "==", perturbed(random, f"{b}//{k} + 1"), {}),
        ]
    )


def slices(random: Random) -> Statement:
    """Lengths of slices with clamped ends and a step."""
    start = random.choice(["b", "3", "(S//2)", "0", "T"])
    end = random.choice(["e", "7", "(S//2 + 1)", "S", "(S - 1)", "(b + c)"])
    step = random.choice(["1", "2", "k"])
    low, high = f"min({start}, S)", f"min({end}, S)"
    length = f"max(-((-({high} - {low}))//{step}), 0)"
    pieces = f"{low} + max({high} - {low}, 0) + max(S - max({high}, {low}), 0)"
    return random.choice(
        [
            Statement(length, "<=", perturbed(random, "S"), {}),
            Statement(length, ">=", perturbed(random, "0"), {}),
            Statement(f"{length}*{step}", "<=", perturbed(random, f"S + {step} - 1"), {}),
            Statement(pieces, "==", perturbed(random, "S"), {}),
            Statement(f"max({high} - {low}, 0)", "==", perturbed(random, f"max({high}, {low}) - {low}"), {}),
            Statement(length, "<=", perturbed(random, f"max({end} - {start}, 0)"), {}),
        ]
    )


def lattice(random: Random) -> Statement:
    """Laws of min and max over three names."""

    def term(depth: int) -> str:
        if depth == 0:
            return random.choice("xyz")
        return f"{random.choice(['min', 'max'])}({term(depth - 1)}, {term(depth - 1)})"

    a, b, k = term(2), term(2), random.choice(["2", "k", "3"])
    return random.choice(
        [
            Statement(f"{a}//{k}", "<=", perturbed(random, f"max(x, y, z)//{k}"), {}),
            Statement(a, random.choice(["<=", "==", ">="]), b, {}),
            Statement(f"min({a}, {b}) + max({a}, {b})", "==", perturbed(random, f"{a} + {b}"), {}),
            Statement(f"{a}*{b}", "<=", perturbed(random, "max(x, y, z)*max(x, y, z)"), {}),
            Statement(f"max({a}, {b})", "==", perturbed(random, f"max({b}, min({a}, max(x, y, z)))"), {}),
        ]
    )


KINDS: tuple[Callable[[Random], Statement], ...] = (
    deep,
    with_facts,
    chains,
    monotone,
    padded,
    slices,
    lattice,
)


def deep_statements(seed: int, count: int) -> Iterator[Statement]:
    """Random statements of all kinds above."""
    random = Random(seed)
    for _ in range(count):
        yield random.choice(KINDS)(random)
