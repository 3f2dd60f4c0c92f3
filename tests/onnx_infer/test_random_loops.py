"""Random loops with conditions and loops in them: nothing that is said of them is wrong in a run.

Stacked outputs are left out: onnx's reference evaluator concatenates them.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from onnx_infer import infer, infer_shapes
from onnx_infer.values.tensor import Dim
from symdim import Expr

from .oracle import contradictions
from .texts import messages, parsed

SIZES = ({"N": 3, "M": 5, "T": 2, "n": 3}, {"N": 4, "M": 1, "T": 3, "n": 0}, {"N": 2, "M": 7, "T": 1, "n": 1})


def statement(r: random.Random, name: str, pool: list[str], depth: int) -> str:
    """One value from others: mostly of another length."""
    a, b, c = (r.choice(pool) for _ in range(3))
    match r.randrange(6 if depth < 2 else 5):
        case 0 | 1:
            return f"{name} = Concat<axis=0>({a}, {b})"
        case 2:
            return f"{name} = Neg({a})"
        case 3:
            low, high = r.randint(0, 1), r.choice([2, 100000])
            return (
                f"{name}l = Constant<value_ints=[{low}]>() {name}h = Constant<value_ints=[{high}]>()"
                f" {name}z = Constant<value_ints=[0]>() {name} = Slice({a}, {name}l, {name}h, {name}z)"
            )
        case 4:
            return (
                f"{name}f = Constant<value=float {{0.5}}>() {name}h = ReduceSum<keepdims=0>({a})"
                f" {name}c = Greater({name}h, {name}f) {name} = If({name}c)"
                f" <then_branch = {name}t () => ({name}o) {{ {name}o = Concat<axis=0>({a}, {b}) }},"
                f" else_branch = {name}e () => ({name}p) {{ {name}p = Identity({c}) }}>"
            )
        case _:
            carried = f"{name}v"
            body, last = statements(r, f"{name}i", [*pool, carried], depth + 1)
            trips = r.choice([f"Constant<value_int={r.randint(0, 3)}>()", "Identity(trips)"])
            return (
                f"{name}m = {trips} {name}y = Constant<value=bool {{1}}>() {name} = Loop({name}m, {name}y, {a}) <body ="
                f" {name}b (int64 {name}j, bool {name}w, float[{name}r, 2] {carried}) => (bool {name}k, {name}q)"
                f" {{ {name}k = Identity({name}w) {body} {name}q = Identity({last}) }}>"
            )


def statements(r: random.Random, prefix: str, pool: list[str], depth: int) -> tuple[str, str]:
    """Some statements and one of the values that are known after them."""
    pool, out = list(pool), []
    for i in range(r.randint(1, 3)):
        out.append(statement(r, f"{prefix}{i}", pool, depth))
        pool.append(f"{prefix}{i}")
    return " ".join(out), r.choice(pool)


def random_loop(seed: int) -> str:
    r = random.Random(seed)
    body, last = statements(r, "t", ["x", "w", "a", "b"], 0)
    trips = r.choice(["Gather(ts, zero)", f"Constant<value_int={r.randint(0, 4)}>()", "Identity(n)"])
    goes_on = r.choice(["Identity(ci)", "Identity(ci)", "Less(i, two)", "Less(i, n)"])
    return f"""g (float[N, 2] x, float[M, 2] w, int64[T] t, int64 n) => (y, z, both) {{
        zero = Constant<value_int=0>() ts = Shape(t) trips = {trips} yes = Constant<value=bool {{1}}>()
        y, z = Loop(trips, yes, {r.choice("xw")}, {r.choice("xw")}) <body = body
            (int64 i, bool ci, float[u, 2] a, float[v, 2] b) => (bool co, a1, b1) {{
            two = Constant<value_int=2>() co = {goes_on} {body}
            a1 = Identity({last}) b1 = Identity({r.choice("abxw")}) }}>
        both = Concat<axis=0>(y, z) }}"""


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_nothing_is_wrong(start: int) -> None:
    for seed in range(start, start + 20):
        model = parsed(random_loop(seed))
        result = infer(model)
        assert not messages(result), seed
        assert str(infer(model).types) == str(result.types), seed  # now it is met again
        evaluator = ReferenceEvaluator(infer_shapes(model))
        for sizes in SIZES:
            inputs = {
                "x": np.ones((sizes["N"], 2), np.float32),
                "w": np.ones((sizes["M"], 2), np.float32),
                "t": np.ones(sizes["T"], np.int64),
                "n": np.array(sizes["n"]),
            }
            fresh: dict[Dim, int] = {}
            for name, actual in zip(evaluator.output_names, evaluator.run(None, inputs), strict=True):
                value = result.types[name]
                assert not list(contradictions(value, actual, sizes)), (seed, sizes, name, value, actual.shape)
                for dim, size in zip(result.shapes.get(name, ()), actual.shape, strict=False):
                    if isinstance(dim, Expr) and not dim.free_symbols() <= sizes.keys():
                        assert fresh.setdefault(dim, size) == size, (seed, sizes, name, value, actual.shape)
