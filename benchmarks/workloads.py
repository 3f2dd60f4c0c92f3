"""The expression workloads: what inference does to sizes, on symbols that no earlier run has seen.

A workload prepares one run for an engine under a fresh tag and returns what is to be timed. A workload that needs an
equality established checks it with the engine's own `same` and raises `CannotDo` where the engine does not see it.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from engines import Engine

    Run = Callable[[], object]


class CannotDo(Exception):  # noqa: N818  (a result, not an error)
    """The engine has no such operation, or does not establish the equality that the task needs."""


class Workload(NamedTuple):
    """A named task; `warm` ones repeat an operation on the same operands."""

    name: str
    prepare: Callable[[Engine, str], Run]


REPEATS = 200
"""How often a run of a one-operation workload repeats it; the table shows the time of one."""


def add_const_warm(e: Engine, tag: str) -> Run:
    """`x + 3`, seen before."""
    x = e.var(f"x{tag}")
    return lambda: [x + 3 for _ in range(REPEATS)]


def mul_vars_warm(e: Engine, tag: str) -> Run:
    """`x * y`, seen before."""
    x, y = e.var(f"x{tag}"), e.var(f"y{tag}")
    return lambda: [x * y for _ in range(REPEATS)]


def floordiv_warm(e: Engine, tag: str) -> Run:
    """`(x + 1) // 2`, seen before."""
    x = e.var(f"x{tag}") + 1
    return lambda: [e.floordiv(x, 2) for _ in range(REPEATS)]


def add_const_new(e: Engine, tag: str) -> Run:
    """`x + k` for constants not seen before."""
    x = e.var(f"x{tag}")
    return lambda: [x + k for k in range(1000, 1000 + REPEATS)]


def conv_chain(e: Engine, x: Any, depth: int = 50) -> Any:
    """`(x - 3)//2 + 1`, `depth` times: kernel 3, stride 2."""
    for _ in range(depth):
        x = e.floordiv(x - 3, 2) + 1
    return x


def conv_chain50_cold(e: Engine, tag: str) -> Run:
    """The chain on a new symbol."""
    x = e.var(f"H{tag}")
    return lambda: e.normal(conv_chain(e, x))


def conv_chain50_warm(e: Engine, tag: str) -> Run:
    """The chain once more."""
    x = e.var(f"H{tag}")
    e.normal(conv_chain(e, x))
    return lambda: e.normal(conv_chain(e, x))


def poly_product_cold(e: Engine, tag: str) -> Run:
    """`(a + b)(a - b) == a*a - b*b`."""
    a, b = e.var(f"a{tag}"), e.var(f"b{tag}")
    return lambda: _demand(e, (a + b) * (a - b), a * a - b * b)


def poly_pow8_cold(e: Engine, tag: str) -> Run:
    """`(a + b + 1)**8` multiplied out."""
    a, b = e.var(f"a{tag}"), e.var(f"b{tag}")
    _demand(e, (a + b + 1) * (a + b + 1), a * a + 2 * a * b + b * b + 2 * a + 2 * b + 1)

    def run() -> object:
        base = a + b + 1
        power = base
        for _ in range(7):
            power = e.expand(power * base)
        return power

    return run


def equal_sums_cold(e: Engine, tag: str) -> Run:
    """The same sum of ten products in two orders is equal, and hashes equally."""
    xs = [e.var(f"x{i}{tag}") for i in range(11)]
    products = [x * y for x, y in pairwise(xs)]

    def run() -> object:
        forward, backward = sum(products[1:], products[0]), sum(products[-2::-1], products[-1])
        if hash(forward) != hash(backward):
            raise CannotDo
        return _demand(e, forward, backward)

    return run


def sum_100_symbols_cold(e: Engine, tag: str) -> Run:
    """x0 + x1 + ... + x99, one after the other."""
    xs = [e.var(f"x{i}{tag}") for i in range(100)]
    return lambda: e.normal(sum(xs[1:], xs[0]))


def mixed_expression(e: Engine, tag: str) -> Any:
    """50 operations of all kinds on four symbols, the same ones for every engine."""
    random = Random(50)
    nodes = [e.var(f"{name}{tag}") for name in "abcd"]
    for _ in range(50):
        a, b = random.choice(nodes[-6:]), random.choice(nodes[-6:])
        k = random.randint(2, 9)
        match random.randrange(6):
            case 0:
                nodes.append(a + b)
            case 1:
                nodes.append(a + k)
            case 2:
                nodes.append(k * a)
            case 3:
                nodes.append(e.floordiv(a, k))
            case 4:
                nodes.append(e.mod(a, k) + b)
            case _:
                nodes.append(e.maximum(a, b))
    return nodes[-1]


def build_50node_cold(e: Engine, tag: str) -> Run:
    """The mixed expression on new symbols."""
    return lambda: e.normal(mixed_expression(e, tag))


def evaluate_50node(e: Engine, tag: str) -> Run:
    """The value of the mixed expression at known sizes."""
    expression = mixed_expression(e, tag)
    sizes = {f"{name}{tag}": size for name, size in zip("abcd", (7, 11, 13, 17), strict=True)}
    return lambda: e.evaluate(expression, sizes)


def reshape_cancel_cold(e: Engine, tag: str) -> Run:
    """`(B*S*D) // (B*S) == D`: a Reshape's -1."""
    b, s, d = (e.var(f"{name}{tag}") for name in "BSD")
    return lambda: _demand(e, e.floordiv(b * s * d, b * s), d)


def texts(e: Engine, tag: str, count: int = 100) -> list[str]:
    """Texts as exporters write them."""
    return [f"{e.quotient_text(f'H{tag}_{i} - {i % 7}', i % 5 + 2)} + {i + 1}*W{tag}_{i} + {i}" for i in range(count)]


def parse_100_cold(e: Engine, tag: str) -> Run:
    """100 texts read."""
    lines = texts(e, tag)
    return lambda: [e.parse(line) for line in lines]


def print_100_cold(e: Engine, tag: str) -> Run:
    """100 expressions made and written: some engines write the text of an expression when they make it."""
    h, w = e.var(f"H{tag}"), e.var(f"W{tag}")
    return lambda: [str(e.floordiv(h - i % 7, i % 5 + 2) + (i + 1) * w + i) for i in range(100)]


def _demand(e: Engine, a: Any, b: Any) -> bool:
    if not e.same(e.expand(a), e.expand(b)):
        raise CannotDo
    return True


WORKLOADS = [
    Workload(function.__name__, function)
    for function in (
        add_const_warm,
        mul_vars_warm,
        floordiv_warm,
        add_const_new,
        conv_chain50_cold,
        conv_chain50_warm,
        poly_product_cold,
        poly_pow8_cold,
        equal_sums_cold,
        sum_100_symbols_cold,
        build_50node_cold,
        evaluate_50node,
        reshape_cancel_cold,
        parse_100_cold,
        print_100_cold,
    )
]
ONE_OPERATION = {"add_const_warm", "mul_vars_warm", "floordiv_warm", "add_const_new"}
