"""Random statements about sizes, of the kinds that shape code asks, with answers by brute force.

A statement is (lhs, relation, rhs, bounds, assumptions), all text, as `text_cases.prove_text` takes it. Some are true
by construction, some are perturbed true ones, some are arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import NamedTuple

_COMPLETIONS = 10_000  # assignments tried of the names that a counterexample leaves out
Bounds = dict[str, tuple[int | None, int | None]]


class Statement(NamedTuple):
    """`lhs relation rhs` under bounds and assumptions."""

    lhs: str
    relation: str
    rhs: str
    bounds: Bounds
    assume: tuple[str, ...] = ()


def expression(random: Random, names: str, depth: int) -> str:
    """A nested expression of + - * // % min max over the names, divisors being numbers or names."""
    if depth == 0 or random.random() < 0.15:
        return random.choice([*names, *names, str(random.randint(0, 9))])
    kind = random.randrange(8)
    inner = expression(random, names, depth - 1)
    if kind <= 1:
        return f"({inner} {random.choice('+-')} {expression(random, names, depth - 1)})"
    if kind == 2:
        return f"({random.randint(2, 4)}*{inner})"
    if kind == 3:
        return f"({inner}//{random.choice([2, 3, 4, 5, 8])})"
    if kind == 4:
        return f"({inner} % {random.choice([2, 3, 4, 6, 8])})"
    if kind == 5:
        return f"({inner}//{random.choice(names)})"
    return f"{random.choice(['min', 'max'])}({inner}, {expression(random, names, depth - 1)})"


def nested(random: Random) -> Statement:
    """Two spellings of one nested expression, or two near ones."""
    names = random.choice(["x", "xy", "xy", "xyz"])
    lhs = expression(random, names, random.choice([2, 2, 3]))
    relation = random.choice(["==", "==", "<=", ">=", "<", "!="])
    rhs = rewritten(random, lhs) if random.random() < 0.6 else expression(random, names, 2)
    if relation in ("<", "!="):
        rhs = f"{rhs} + {random.randint(1, 3)}"
    return Statement(lhs, relation, rhs, bounds_for(random, names))


def rewritten(random: Random, text: str) -> str:
    """The same value in other words, by a law that holds for all integers."""
    c = random.randint(2, 6)
    return random.choice(
        [
            f"({text} + {c}*7)//{c}*{c} + ({text} + {c}*7) % {c} - {7 * c}",
            f"max({text}, {text} - {c})",
            f"min({text}, {c}) + max({text}, {c}) - {c}",
            f"({c}*({text}) + {random.randrange(c)})//{c}",
            f"(({text}) + {c})//2 + (({text}) + {c} + 1)//2 - {c}",
            f"-((-({text})*{c})//{c})",
            f"max({text}, 0) + min({text}, 0)",
        ]
    )


def windows(random: Random) -> Statement:
    """Output sizes of chains of convolutions and pools, against the merged formula."""
    text, size, offset, stride = "H", "H", 0, 1
    for _ in range(random.randint(1, 4)):
        kernel, step, pad = random.randint(1, 5), random.randint(1, 3), random.randint(0, 2)
        text = f"({text} + {2 * pad} - {kernel})//{step} + 1"
        offset += (2 * pad - kernel + step) * stride
        stride *= step
    lo = random.choice([1, 40, 100])
    rhs = f"({size} + {offset})//{stride}"
    relation = random.choice(["==", "==", "<=", ">="])
    return Statement(text, relation, perturbed(random, rhs), {"H": (lo, None)})


def symbolic_windows(random: Random) -> Statement:
    """Ceiling and window counts with a symbolic stride."""
    c = random.randint(1, 5)
    return random.choice(
        [
            Statement("-((-H)//s)", "==", perturbed(random, "(H + s - 1)//s"), {}),
            Statement(f"(H + {c}*s - 1)//s", "==", perturbed(random, f"(H - 1)//s + {c}"), {}),
            Statement("((H + s - 1)//s + t - 1)//t", "==", perturbed(random, "(H + s*t - 1)//(s*t)"), {}),
            Statement("(H + s - 1)//s*s", ">=", perturbed(random, "H"), {}),
            Statement("(H + s - 1)//s", "<=", perturbed(random, "H"), {}),
            Statement("H + (s - H % s) % s", "==", perturbed(random, "(H + s - 1)//s*s"), {}),
            Statement("H % s", "<", perturbed(random, "s"), {}),
            Statement("H//s + W//s", "<=", perturbed(random, "(H + W)//s"), {}),
            Statement("(H - k)//s + 1", "<=", perturbed(random, "H"), {}, ("k <= H",)),
            Statement("((H - k)//s)*s + k", "<=", perturbed(random, "H"), {}, ("k <= H",)),
            Statement("(H*s)//(s*t)", "==", perturbed(random, "H//t"), {}),
            Statement("H//s", "<=", perturbed(random, "W//s"), {}, ("H <= W",)),
            Statement("H//t", "<=", perturbed(random, "H//s"), {}, ("s <= t",)),
            Statement("(H//s)*s + H % s", "==", perturbed(random, "H"), {}),
            Statement("min(H//s, W//s)", "==", perturbed(random, "min(H, W)//s"), {}),
        ]
    )


def reshapes(random: Random) -> Statement:
    """Products of sizes and their quotients."""
    a, b, c = random.sample(["B", "S", "(S + 1)", "(S + T)", "H", "12", "64", "max(S, T)", "(S//4)"], 3)
    k = random.choice([1, 2, 3])
    return random.choice(
        [
            Statement(f"({k}*B*{a}*{b})//({k}*B*{a})", "==", perturbed(random, b), {"S": (4, None)}),
            Statement(f"({a}*{b}*{c})//{a}//{b}", "==", perturbed(random, c), {"S": (4, None)}),
            Statement(f"{a}*({b} + {c})", "==", perturbed(random, f"{a}*{b} + {c}*{a}"), {}),
            Statement(f"B*{a}*{b}", ">=", perturbed(random, f"{a}*{b}"), {}),
            Statement(f"B*{a}", ">=", perturbed(random, f"{a} - {k}"), {}),
        ]
    )


def pads(random: Random) -> Statement:
    """Padding, splitting and concatenating."""
    k, p = random.choice([2, 4, 7, 8, 16]), random.randint(1, 20)
    return random.choice(
        [
            Statement(f"S + (-S) % {k}", "==", perturbed(random, f"(S + {k - 1})//{k}*{k}"), {}),
            Statement(f"(S + ({k} - S % {k}) % {k}) % {k}", "==", perturbed(random, "0"), {}),
            Statement(f"min(S, {p}) + max(S - {p}, 0)", "==", perturbed(random, "S"), {}),
            Statement("min(S, T) + max(S - T, 0)", "==", perturbed(random, "S"), {}),
            Statement(f"S//{k} + (S - S//{k})", "==", perturbed(random, "S"), {}),
            Statement(" + ".join(f"(S + {i})//{k}" for i in range(k)), "==", perturbed(random, "S"), {}),
            Statement(f"max(S - {p}, 0)", "<=", perturbed(random, "S"), {}),
            Statement("max(S, T) + min(S, T)", "==", perturbed(random, "S + T"), {}),
            Statement("min(S, T)*max(S, T)", "==", perturbed(random, "S*T"), {}),
            Statement(f"max(S, T)//{k}", "==", perturbed(random, f"max(S//{k}, T//{k})"), {}),
            Statement("max(S, T) - min(S, T)", "==", perturbed(random, "max(S - T, T - S)"), {}),
            Statement(f"min(S//{k}*{k}, T)", "<=", perturbed(random, "S"), {}),
            Statement(f"(S + T) % {k}", "==", perturbed(random, f"(S % {k} + T % {k}) % {k}"), {}),
            Statement(f"(S*T) % {min(k, 8)}", "==", perturbed(random, f"((S % {min(k, 8)})*T) % {min(k, 8)}"), {}),
        ]
    )


def assumed(random: Random) -> Statement:
    """Statements that need assumptions: divisibility, sums, order."""
    a, b = random.choice([2, 4, 8]), random.choice([2, 3, 4])
    m = a * b
    return random.choice(
        [
            Statement(f"H//{a}*{a}", "==", perturbed(random, "H"), {}, (f"H % {m} == 0",)),
            Statement(f"(H//{a})//{b}*{m}", "==", perturbed(random, "H"), {}, (f"H % {m} == 0",)),
            Statement(f"H//{a}*(W//{b})*{m}", "==", perturbed(random, "H*W"), {}, (f"H % {a} == 0", f"W % {b} == 0")),
            Statement("H % 15", "==", perturbed(random, "0"), {}, ("H % 3 == 0", "H % 5 == 0")),
            Statement(f"(H + {a - 1})//{a}", "==", perturbed(random, f"H//{a}"), {}, (f"H % {a} == 0",)),
            Statement("H % 6", "==", perturbed(random, "5"), {}, ("H % 2 == 1", "H % 3 == 2")),
            Statement("T - P", "==", perturbed(random, "S"), {}, ("T == P + S",)),
            Statement("B*T", ">=", perturbed(random, "B*P"), {}, ("T == P + S",)),
            Statement("min(T, P)", "==", perturbed(random, "P"), {}, ("P <= T",)),
            Statement("x", "<=", perturbed(random, "z"), {}, ("x <= y", "y <= z")),
            Statement("x + 1", "<=", perturbed(random, "z - 1"), {}, ("x < y", "y < z")),
            Statement(f"x//{a}", "<=", perturbed(random, f"y//{a}"), {}, ("x <= y",)),
            Statement("x*z", "<=", perturbed(random, "y*z"), {}, ("x <= y",)),
            Statement("E//h*h", "==", perturbed(random, "E"), {}, ("E % h == 0",)),
            Statement("(B*S*E)//(B*h)", "==", perturbed(random, "S*d"), {}, ("E == h*d",)),
            Statement("E % k", "==", perturbed(random, "0"), {}, ("E % h == 0", "h % k == 0")),
            Statement("x", "==", perturbed(random, "y"), {}, ("3*x == 3*y",)),
            Statement(f"S//{a} + S//{a}", "==", perturbed(random, f"2*S//{a}"), {}, (f"S % {a} == 0",)),
            Statement("max(x, y)", "==", perturbed(random, "y"), {}, ("x <= y",)),
            Statement("x", "<=", perturbed(random, "19"), {}, ("x + y == 20",)),
        ]
    )


def monotone(random: Random) -> Statement:
    """A function that never falls, at two sizes in known order, or at the ends of an interval."""
    f = "{}"
    for _ in range(random.randint(1, 4)):
        c = random.randint(1, 9)
        steps = [f"({f} + {c})", f"({f} - {c})", f"({f}*{c})", f"({f}//{c})", f"({f}//{c})", f"(({f} + z)//z)"]
        steps += [f"max({f}, {c})", f"min({f}, {3 * c})", f"max({f}, z)", f"({f}*z)", f"({f} + {f})"]
        f = random.choice(steps)
    if f.count("{}") > 4:
        return reshapes(random)
    x, y = f.replace("{}", "x"), f.replace("{}", "y")
    lo, hi = random.randint(1, 9), random.randint(9, 99)
    return random.choice(
        [
            Statement(x, "<=", perturbed(random, y), {}, ("x <= y",)),
            Statement(x, "<=", perturbed(random, f.replace("{}", "(x + w)")), {"w": (0, None)}),
            Statement(x, "<=", perturbed(random, f.replace("{}", str(hi))), {"x": (lo, hi)}),
            Statement(x, ">=", perturbed(random, f.replace("{}", str(lo))), {"x": (lo, hi)}),
            Statement(f"max({x}, {y})", "==", perturbed(random, f.replace("{}", "max(x, y)")), {}),
            Statement(f"{x} + {y}", ">=", perturbed(random, f.replace("{}", "min(x, y)") + " + " + x), {}, ("x <= y",)),
        ]
    )


def ordered(random: Random) -> Statement:
    """Sums of sizes that assumptions order."""
    names = "xyzw"
    a, b, c, d = random.sample(names, 4)
    k, m = random.randint(2, 5), random.randint(1, 9)
    return random.choice(
        [
            Statement(f"{k}*{a} + {b}", "<=", perturbed(random, f"{k}*{c} + {d}"), {}, (f"{a} <= {c}", f"{b} <= {d}")),
            Statement(f"{a}//{k} + {b}//{k}", "<=", perturbed(random, f"{c}//{k}"), {}, (f"{a} + {b} <= {c}",)),
            Statement(f"({a} - {b})//{k}", ">=", perturbed(random, "0"), {}, (f"{b} <= {a}",)),
            Statement(f"({a} - {b} + {c})//{c}", ">=", perturbed(random, "1"), {}, (f"{b} <= {a}",)),
            Statement(f"{a}*{b}", "<=", perturbed(random, f"{c}*{d}"), {}, (f"{a} <= {c}", f"{b} <= {d}")),
            Statement(f"{a}", "<", perturbed(random, f"{b} + {m}"), {}, (f"{a} < {c}", f"{c} <= {b}")),
            Statement(f"max({a} - {b}, 0) + {b}", "==", perturbed(random, a), {}, (f"{b} <= {a}",)),
            Statement(f"min({a}, {b} + {m})", "==", perturbed(random, a), {}, (f"{a} <= {b}",)),
            Statement(f"{a} % {b}", "==", perturbed(random, a), {}, (f"{a} < {b}",)),
            Statement(f"{a}//{b}", "==", perturbed(random, "1"), {}, (f"{b} <= {a}", f"{a} < 2*{b}")),
            Statement(f"{a}//{b}", ">=", perturbed(random, str(k)), {}, (f"{k}*{b} <= {a}",)),
            Statement(f"({a} + {b} - 1)//{b}", "==", perturbed(random, "1"), {}, (f"{a} <= {b}",)),
            Statement(f"{a}", "==", perturbed(random, b), {}, (f"{a} <= {b}", f"{b} <= {a}")),
            Statement(f"{a}*{a}", ">=", perturbed(random, f"{b}*{b}"), {}, (f"{b} <= {a}",)),
            Statement(f"{a} - {a} % {k}", "==", perturbed(random, f"{a}//{k}*{k}"), {}, (f"{a} >= {k}",)),
            Statement(f"{a} % {k * m}", "==", perturbed(random, f"{k}*{b} % {k * m}"), {}, (f"{a} == {k}*{b}",)),
            Statement(f"({a} + {b}) % {k}", "==", perturbed(random, f"{b} % {k}"), {}, (f"{a} % {k} == 0",)),
            Statement(f"({a}*{b}) % {k}", "==", perturbed(random, "0"), {}, (f"{a} % {k} == 0",)),
            Statement(f"{a} % {2 * k}", "==", perturbed(random, f"{a} % {k}"), {}, (f"{a} % {2 * k} < {k}",)),
        ]
    )


def perturbed(random: Random, text: str) -> str:
    """The text, or in a third of the cases something near it: a false look-alike more often than not."""
    if random.random() < 0.67:
        return text
    return f"{text} {random.choice(['+ 1', '- 1', '+ 2', '- 2'])}"


def bounds_for(random: Random, names: str) -> Bounds:
    """Mostly 1..infinity; some finite, some with 0, some unbounded below."""
    choices: list[tuple[int | None, int | None]] = [(1, None)] * 6 + [(0, None), (1, 20), (3, 9), (None, None)]
    return {name: random.choice(choices) for name in names}


KINDS: tuple[Callable[[Random], Statement], ...] = (
    nested,
    nested,
    windows,
    symbolic_windows,
    reshapes,
    pads,
    assumed,
    monotone,
    ordered,
)


def statements(seed: int, count: int) -> Iterator[Statement]:
    """Random statements of all kinds."""
    random = Random(seed)
    for _ in range(count):
        yield random.choice(KINDS)(random)


def names_of(statement: Statement) -> list[str]:
    """The names in a statement, in alphabetical order."""
    words = "".join(c if c.isalnum() else " " for c in " ".join([*statement[:3], *statement.assume])).split()
    return sorted({w for w in words if not w.isdigit()} - {"min", "max"})


def violation(statement: Statement, points: int, seed: int = 0) -> dict[str, int] | None:
    """An assignment that violates a statement, by brute force over a box and over random far points."""
    names = names_of(statement)
    violated = _violated(statement, names)
    random = Random(seed)
    ranges = [_range(statement.bounds.get(n, (1, None)), int(points ** (1 / max(1, len(names))))) for n in names]
    box = product(*ranges)
    far = ([_far(random, statement.bounds.get(n, (1, None))) for n in names] for _ in range(points))
    for point in (*box, *far):
        if violated(*point):
            return dict(zip(names, point, strict=True))
    return None


def violates(statement: Statement, values: dict[str, int]) -> bool:
    """Whether an assignment is within the bounds, meets the assumptions, and violates the statement.

    Names it lacks take small values: a name may be lacking where what is asked does not depend on it, nor do the
    assumptions about what is asked.
    """
    names = names_of(statement)
    size = int(_COMPLETIONS ** (1 / max(1, len(set(names) - set(values)))))
    choices = []
    for name in names:
        lo, hi = statement.bounds.get(name, (1, None))
        sizes = [values[name]] if name in values else _range((lo, hi), size)
        choices.append([size for size in sizes if (lo is None or size >= lo) and (hi is None or size <= hi)])
    violated = _violated(statement, names)
    return any(violated(*point) for point in product(*choices))


def _violated(statement: Statement, names: list[str]) -> Callable[..., bool]:
    """A function of the names' values, computed by Python; what divides by 0 is not violated."""
    meets = " and ".join(statement.assume) or "True"
    source = f"lambda {', '.join(names)}: ({meets}) and not ({' '.join(statement[:3])})"
    function = eval(source, {"min": min, "max": max})

    def violated(*point: int) -> bool:
        try:
            return bool(function(*point))
        except ZeroDivisionError:
            return False

    return violated


def _range(bounds: tuple[int | None, int | None], size: int) -> range:
    lo, hi = bounds
    start = lo if lo is not None else -(size // 2)
    return range(start, start + size if hi is None else min(start + size, hi + 1))


def _far(random: Random, bounds: tuple[int | None, int | None]) -> int:
    lo, hi = bounds
    low = lo if lo is not None else -5000
    return random.randint(low, hi if hi is not None else low + random.choice([30, 300, 5000]))
