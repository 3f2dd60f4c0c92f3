"""Random dimension expressions as raw trees, with their meaning in plain Python integers.

A tree is an int, a variable's name, or a tuple (operator, tree, tree). `build` makes the symdim expression of a
tree, `value` computes it without symdim, `text` writes it in a producer's dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import add, floordiv, mod, mul, sub
from random import Random
from typing import NamedTuple, TypeAlias

from hypothesis import strategies as st

from symdim import Expr, Scope, Var, ceildiv, maximum, minimum
from symdim.algebra.variable import make_variable
from symdim.parser.lexemes import Dialect

Tree: TypeAlias = "int | str | tuple[str, Tree, Tree]"
Dim: TypeAlias = int | Expr

BOUNDS: dict[str, tuple[int, int | None]] = {"N": (1, None), "M": (0, None), "K": (2, 9), "L": (0, 3)}
SCOPE = Scope()
VARIABLES: dict[str, Var] = {name: SCOPE.var(name, lo, hi) for name, (lo, hi) in BOUNDS.items()}

PYTHON: dict[str, Callable[[int, int], int]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "//": floordiv,
    "%": mod,
    "max": max,
    "min": min,
    "ceildiv": lambda a, b: -(-a // b),
}
SYMDIM: dict[str, Callable[..., Dim]] = {**PYTHON, "max": maximum, "min": minimum, "ceildiv": ceildiv}

OPERATORS = ("+", "-", "*", "//", "%", "max", "min")

# How each producer writes an operator that Python's notation spells otherwise.
DIALECTS: dict[str, dict[str, str]] = {
    "python": {"max": "max({}, {})", "min": "min({}, {})"},
    "sympy": {"//": "floor({}/{})", "%": "Mod({}, {})", "max": "Max({}, {})", "min": "Min({}, {})"},
    "torch": {"//": "(({}//{}))", "%": "PythonMod({}, {})", "max": "Max({}, {})", "min": "Min({}, {})"},
    "jax": {"//": "floordiv({}, {})", "%": "mod({}, {})", "max": "max({}, {})", "min": "min({}, {})"},
    "onnx-light": {"max": "({} ^ {})", "min": "({} & {})"},
}
READ_AS: dict[str, Dialect] = {"onnx-light": "onnx-light"}
"""The dialect of `symdim.parse`; the default reads all others."""


def build(tree: Tree, variables: Mapping[str, Var] = VARIABLES) -> Dim:
    """The symdim expression of a tree."""
    if isinstance(tree, tuple):
        operator, left, right = tree
        return SYMDIM[operator](build(left, variables), build(right, variables))
    return variables[tree] if isinstance(tree, str) else tree


def value(tree: Tree, bindings: Mapping[str, int]) -> int:
    """The value of a tree by Python's own integers; ZeroDivisionError where it has none."""
    if isinstance(tree, tuple):
        operator, left, right = tree
        return PYTHON[operator](value(left, bindings), value(right, bindings))
    return bindings[tree] if isinstance(tree, str) else tree


def text(tree: Tree, dialect: str = "python") -> str:
    """A tree as a producer writes it, every operation in parentheses."""
    if isinstance(tree, tuple):
        operator, left, right = tree
        form = DIALECTS[dialect].get(operator, "({} " + operator + " {})")
        return form.format(text(left, dialect), text(right, dialect))
    return tree if isinstance(tree, str) else str(tree) if tree >= 0 else f"({tree})"


def names_of(tree: Tree) -> set[str]:
    """The names in a tree."""
    if isinstance(tree, tuple):
        return names_of(tree[1]) | names_of(tree[2])
    return {tree} if isinstance(tree, str) else set()


def random_tree(random: Random, leaves: int) -> Tree:
    """A tree with the given number of leaves; half of the leaves are variables."""
    if leaves == 1:
        return random.choice(list(BOUNDS)) if random.random() < 0.5 else random.randint(-3, 12)
    left = random.randint(1, leaves - 1)
    operator = random.choice(OPERATORS)
    return operator, random_tree(random, left), random_tree(random, leaves - left)


def random_expressions(count: int, seed: int, leaves: int) -> list[Expr]:
    """So many random expressions of at most so many leaves. The same seed gives the same ones."""
    random = Random(seed)
    found: list[Expr] = []
    while len(found) < count:
        try:
            dim = build(random_tree(random, random.randint(2, leaves)))
        except ZeroDivisionError:
            continue
        if isinstance(dim, Expr):
            found.append(dim)
    return found


def random_bindings(random: Random) -> dict[str, int]:
    """A size for every variable, within its bounds and often at one of them."""
    return {
        name: random.choice([lo, lo + 1, random.randint(lo, 40 if hi is None else hi)])
        for name, (lo, hi) in BOUNDS.items()
    }


# -- families of random expressions ----------------------------------------------------------------------------------

Ends: TypeAlias = "tuple[int | None, int | None]"

SIGNED: list[Ends] = [
    (None, None), (1, None), (0, None), (1, 7), (0, 5), (None, 4), (3, 3), (-3, 3), (-6, -1)
]  # fmt: skip
DIVIDED: dict[str, Ends] = {
    "x": (None, None), "y": (None, None), "z": (None, None), "w": (None, -1), "N": (1, None), "M": (0, None),
    "i": (0, 3), "j": (-2, 5), "s": (0, 31),
}  # fmt: skip


class Made(NamedTuple):
    """A random expression: its tree, its dimension, its variables by name, and their bounds."""

    tree: Tree
    dim: Dim
    variables: dict[str, Var]
    bounds: Mapping[str, Ends]

    def point(self, random: Random) -> dict[str, int]:
        """Values of the variables within their bounds."""
        return {name: between(random, *ends) for name, ends in self.bounds.items()}

    def at(self, point: Mapping[str, int]) -> int:
        """The value of the dimension."""
        return (
            self.dim.to_int({self.variables[n]: x for n, x in point.items()})
            if isinstance(self.dim, Expr)
            else self.dim
        )


def between(random: Random, lo: int | None, hi: int | None) -> int:
    """A value within bounds, often at or near the lower one."""
    low = (10 if hi is None else hi) - random.choice([3, 20, 1000]) if lo is None else lo
    high = low + random.choice([4, 30, 1000]) if hi is None else hi
    return random.choice([low, min(low + 1, high), random.randint(low, high)])


def nested_tree(random: Random, depth: int) -> Tree:
    """A tree over x, y and z of at most this depth, with divisors of either sign."""
    if depth == 0 or random.random() < 0.15:
        return random.choice("xyz") if random.random() < 0.7 else random.randint(-6, 9)
    operator = random.choice(["+", "-", "*", "//", "//", "%", "%", "max", "min", "ceildiv"])
    if operator in ("//", "%", "ceildiv") and random.random() < 0.7:
        return operator, nested_tree(random, depth - 1), random.choice([-4, -3, -2, 2, 2, 3, 4, 5, 6, 8])
    return operator, nested_tree(random, depth - 1), nested_tree(random, depth - 1)


def extrema_tree(random: Random, leaves: int) -> Tree:
    """A tree of sums, multiples, minima, maxima, and divisions by numbers."""
    if leaves == 1:
        return random.choice(list(BOUNDS)) if random.random() < 0.6 else random.randint(-6, 9)
    operator = random.choice(["+", "-", "*", "//", "//", "%", "max", "max", "min", "min"])
    if operator in ("//", "%"):
        return operator, extrema_tree(random, leaves - 1), random.choice([2, 2, 3, 4, 5, 8])
    if operator == "*":
        return operator, extrema_tree(random, leaves - 1), random.choice([-3, -2, -1, 2, "M", "N"])
    left = random.randint(1, leaves - 1)
    return operator, extrema_tree(random, left), extrema_tree(random, leaves - left)


def divided_tree(random: Random, leaves: int) -> Tree:
    """A tree of sums, products and divisions, by divisors of any sign."""
    if leaves == 1:
        numbers = (-6, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 16, 32, 64)
        return random.choice(list(DIVIDED)) if random.random() < 0.7 else random.choice(numbers)
    left = random.randrange(1, leaves)
    operator = random.choice(["+", "+", "-", "*", "*", "//", "//", "//", "%", "%"])
    return operator, divided_tree(random, left), divided_tree(random, leaves - left)


FAMILIES: dict[str, tuple[Callable[[Random], Mapping[str, Ends]], Callable[[Random], Tree]]] = {
    "sizes": (lambda _: BOUNDS, lambda random: random_tree(random, random.randint(2, 9))),
    "extrema": (lambda _: BOUNDS, lambda random: extrema_tree(random, random.randint(1, 4))),
    "signs": (
        lambda random: {name: random.choice(SIGNED) for name in "xyz"},
        lambda random: nested_tree(random, random.randint(1, 5)),
    ),
    "divisions": (lambda _: DIVIDED, lambda random: divided_tree(random, random.randint(2, 8))),
}


def expressions(family: str, seed: int, count: int) -> Iterator[Made]:
    """So many random expressions of a family. Trees that divide by a known 0 are left out."""
    random = Random(seed)
    bounds_of, tree_of = FAMILIES[family]
    while count:
        bounds, scope = bounds_of(random), Scope()
        variables = {name: make_variable(scope, name, lo, hi) for name, (lo, hi) in bounds.items()}
        tree = tree_of(random)
        try:
            dim = build(tree, variables)
        except ZeroDivisionError:
            continue
        count -= 1
        yield Made(tree, dim, variables, bounds)


leaves = st.one_of(st.sampled_from(sorted(BOUNDS)), st.integers(-3, 12))
trees: st.SearchStrategy[Tree] = st.recursive(
    leaves, lambda parts: st.tuples(st.sampled_from(sorted(OPERATORS)), parts, parts), max_leaves=12
)
bindings: st.SearchStrategy[dict[str, int]] = st.fixed_dictionaries(
    {name: st.integers(lo, 40 if hi is None else hi) for name, (lo, hi) in BOUNDS.items()}
)
names: st.SearchStrategy[str] = st.text(min_size=1, max_size=8)
