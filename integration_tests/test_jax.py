"""JAX reads the texts of its dialect, and its own texts are read back with the same values."""

from __future__ import annotations

from random import Random

from jax import errors, export

from symdim import Expr, Var, parse
from symdim.dialects.texts import text_in
from tests.symdim import strategies


def test_both_ways() -> None:
    random, checked, refused = Random(3), 0, 0
    scope = export.symbolic_shape("N, M, K, L")[0].scope
    variables = {name: Var.fresh(name, 1) for name in "NMKL"}  # sizes of JAX are at least 1
    for _ in range(300):
        try:
            dim = parse(strategies.text(strategies.random_tree(random, random.randint(2, 9))), variables)
            (other,) = export.symbolic_shape(text_in(dim, "jax"), scope=scope)
        except (ValueError, ZeroDivisionError):
            continue
        except errors.InconclusiveDimensionOperation:  # JAX refuses a divisor that may be 0
            refused += 1
            continue
        back = parse(str(other), variables)
        for _ in range(4):
            sizes = {name: random.randint(1, 40) for name in variables}
            try:
                wanted = dim.to_int(sizes) if isinstance(dim, Expr) else dim
            except ZeroDivisionError:
                continue
            assert (other if isinstance(other, int) else other._evaluate(sizes)) == wanted, dim
            assert (back.to_int(sizes) if isinstance(back, Expr) else back) == wanted, other
            checked += 1
    assert checked > 500
    assert refused < 60
