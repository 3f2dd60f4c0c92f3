"""Random dimension expressions as raw trees, with their meaning in plain Python integers.

A tree is an int, a variable's name, or a tuple (operator, tree, tree). `build` makes the symdim expression of a
tree, `value` computes it without symdim, `text` writes it in a producer's dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import add, floordiv, mod, mul, sub
from random import Random
from typing import TypeAlias

from hypothesis import strategies as st

from symdim import Expr, Scope, Var, maximum, minimum
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
}
SYMDIM: dict[str, Callable[..., Dim]] = {**PYTHON, "max": maximum, "min": minimum}

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


def build(tree: Tree) -> Dim:
    """The symdim expression of a tree."""
    if isinstance(tree, tuple):
        operator, left, right = tree
        return SYMDIM[operator](build(left), build(right))
    return VARIABLES[tree] if isinstance(tree, str) else tree


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
    operator = random.choice(list(PYTHON))
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


leaves = st.one_of(st.sampled_from(sorted(BOUNDS)), st.integers(-3, 12))
trees: st.SearchStrategy[Tree] = st.recursive(
    leaves, lambda parts: st.tuples(st.sampled_from(sorted(PYTHON)), parts, parts), max_leaves=12
)
bindings: st.SearchStrategy[dict[str, int]] = st.fixed_dictionaries(
    {name: st.integers(lo, 40 if hi is None else hi) for name, (lo, hi) in BOUNDS.items()}
)
names: st.SearchStrategy[str] = st.text(min_size=1, max_size=8)
